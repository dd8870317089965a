//! `FailureLogs`: what containers printed before they failed.
//!
//! A few failed containers have their last lines read, in the background: one request for each instance, and no more than
//! three instances at a time, however many have failed. Of Pods of one owner that failed in the same way, one is read.

mod args;
mod before_error;
mod last_lines;
mod tail_reader;
#[cfg(test)]
mod tests;
mod unwell_instance;

use std::cmp::Reverse;
use std::collections::btree_map::Entry;
use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;
use std::time::Duration;

use tokio::time::{Instant, sleep_until};

use crate::commands::Ending;
use crate::logs::LogPlace;
use crate::model::Model;
use crate::object::Uid;
use crate::source::log::LogLine;
use crate::status::Status;
use crate::watch::logs::LogFeeds;

use args::LineCount;
pub(crate) use args::{LogLineArgs, StreamedPods};
pub(crate) use before_error::{ShownPart, lines_before_error};
pub(crate) use last_lines::LastLines;
use tail_reader::{ReadTail, TailReader};
pub(crate) use unwell_instance::JudgedObject;
use unwell_instance::{LineOrigin, UnwellInstance, UnwellInstanceKey};

/// Below how many objects failed containers are looked for.
const MOST_OBJECTS: usize = 24;

/// How many of the last lines are searched for the one that says why.
const SEARCHED: usize = 20;

/// How long a request may take: for a view that goes on, and for one that waits for it.
const PATIENCE: Duration = Duration::from_secs(10);
const PATIENCE_ONCE: Duration = Duration::from_millis(1500);

/// After how long a status that has not changed shows that no other instance has answered.
const SETTLING: Duration = Duration::from_secs(1);

/// The code of an answer to a user without the right.
const FORBIDDEN: u16 = 403;

/// The last lines of failed containers, and the requests for more.
#[derive(Debug)]
pub(crate) struct FailureLogs {
    reader: TailReader,
    count: LineCount,
    ending: Ending,
    known: BTreeMap<UnwellInstanceKey, KnownTail>,
    /// The lines of each Pod.
    shown: BTreeMap<Uid, Vec<LastLines>>,
    /// The namespaces whose logs the user may not read, with the words of the server. Nothing more is read of them.
    lacks: BTreeMap<Option<Arc<str>>, String>,
    /// Whether lines were read since the last call of `take_news`.
    has_news: bool,
}

/// What is known of the last lines of an instance.
#[derive(Debug)]
enum KnownTail {
    /// They are being read.
    Asked,
    /// They were read.
    Read(KnownLines),
}

#[derive(Debug)]
struct KnownLines {
    lines: Vec<LogLine>,
    /// Where the log of the instance was when they were requested.
    place: LogPlace,
    /// When they were read.
    read: Instant,
    /// Whether they are shown. They are not while they may be those of another instance.
    is_sure: bool,
}

impl KnownLines {
    /// Judges the lines by the newest status of their instance. Returns whether another one has answered, perhaps.
    fn judge(&mut self, unwell: &UnwellInstance, ending: Ending) -> bool {
        if self.is_sure {
            return false;
        }
        let asked = unwell.clone().at(self.place);
        // A restart would have changed the status by now. The list of `--once` does not change.
        let is_settled = ending == Ending::Never
            && unwell.place == self.place
            && self.read.elapsed() >= SETTLING;
        self.is_sure = is_settled || asked.origin(&self.lines) == LineOrigin::This;
        !self.is_sure && unwell.place != self.place
    }
}

impl FailureLogs {
    /// Of how many instances the last lines are shown.
    pub(crate) const MOST: usize = 3;

    /// Reads with these requests, for a view that ends then.
    pub(crate) fn new(feeds: LogFeeds, args: LogLineArgs, ending: Ending) -> FailureLogs {
        FailureLogs {
            reader: TailReader::new(feeds),
            count: args.below_cause(),
            ending,
            known: BTreeMap::new(),
            shown: BTreeMap::new(),
            lacks: BTreeMap::new(),
            has_news: false,
        }
    }

    /// Reads the last lines of the failed containers below these objects, and forgets the others.
    pub(crate) fn look_up(&mut self, model: &Model, objects: impl Iterator<Item = Uid>) {
        let mut failed = UnwellInstance::failed(model, worst(model, objects));
        // Their causes end with the message.
        failed.retain(|it| !it.instance.has_message || self.count != LineCount::Telling);
        failed.retain(|it| !self.lacks.contains_key(&it.container.pod.namespace));
        let present: BTreeSet<UnwellInstanceKey> = failed.iter().map(UnwellInstance::key).collect();
        self.known.retain(|key, _| present.contains(key));
        self.reader.keep(|key| present.contains(key));
        for unwell in &failed {
            self.reader.update(&unwell.key(), &unwell.status);
            self.judge(unwell);
        }
        let chosen = self.choose(failed);
        self.show(&chosen);
        let wanted = self.searched();
        let patience = match self.ending {
            Ending::Once => PATIENCE_ONCE,
            Ending::Never => PATIENCE,
        };
        for unwell in chosen {
            if let Entry::Vacant(unknown) = self.known.entry(unwell.key()) {
                unknown.insert(KnownTail::Asked);
                self.reader.open(unwell, wanted, patience);
            }
        }
    }

    fn searched(&self) -> usize {
        match self.count {
            LineCount::Telling => SEARCHED,
            LineCount::Last(count) => count.max(SEARCHED),
        }
    }

    /// Judges the lines of an instance by its newest status, and forgets those that are perhaps of another one.
    fn judge(&mut self, unwell: &UnwellInstance) {
        let key = unwell.key();
        let is_doubtful = match self.known.get_mut(&key) {
            Some(KnownTail::Read(known)) => known.judge(unwell, self.ending),
            Some(KnownTail::Asked) | None => false,
        };
        if is_doubtful {
            self.known.remove(&key);
        }
    }

    /// A few instances, one of each kind. One that was read comes before one that was not.
    fn choose(&self, failed: Vec<UnwellInstance>) -> Vec<UnwellInstance> {
        let mut chosen: Vec<UnwellInstance> = Vec::new();
        for unwell in failed {
            let is_known = |unwell: &UnwellInstance| self.known.contains_key(&unwell.key());
            let mut alike = chosen.iter_mut();
            match alike.find(|other| other.kind == unwell.kind) {
                Some(other) if is_known(&unwell) && !is_known(other) => *other = unwell,
                Some(_) => {}
                None => chosen.push(unwell),
            }
        }
        chosen.truncate(FailureLogs::MOST);
        chosen
    }

    fn show(&mut self, chosen: &[UnwellInstance]) {
        self.shown.clear();
        for unwell in chosen {
            let known = self.known.get(&unwell.key());
            if let Some(KnownTail::Read(known)) = known
                && known.is_sure
            {
                let of_pod = self.shown.entry(unwell.container.pod_uid()).or_default();
                of_pod.extend(LastLines::of(unwell, &known.lines, self.count));
            }
        }
    }

    /// Whether requests are on their way.
    pub(crate) fn is_busy(&self) -> bool {
        self.reader.is_busy()
    }

    /// Waits for the answer to a request, or until an earlier answer is known to be about its instance. It is cancel safe.
    pub(crate) async fn next(&mut self) {
        let settled = self.next_settled();
        let is_settled = async {
            match settled {
                Some(settled) => sleep_until(settled).await,
                None => std::future::pending().await,
            }
        };
        tokio::select! {
            tail = self.reader.next() => self.take(tail),
            () = is_settled => self.has_news = true,
        }
    }

    /// When the next lines are sure, unless a status shows another instance before.
    fn next_settled(&self) -> Option<Instant> {
        let unsure = self.known.values().filter_map(|known| match known {
            KnownTail::Read(known) if !known.is_sure && !known.lines.is_empty() => Some(known.read),
            KnownTail::Read(_) | KnownTail::Asked => None,
        });
        let first = unsure.min().filter(|_| self.ending == Ending::Never)?;
        Some(first + SETTLING)
    }

    fn take(&mut self, tail: ReadTail) {
        let ReadTail {
            unwell,
            lines,
            problem,
        } = tail;
        if let Some(lack) = problem.filter(|problem| problem.code == FORBIDDEN) {
            let namespace = unwell.container.pod.namespace.clone();
            let words = self.lacks.entry(namespace);
            let words = words.or_insert_with(|| lack.text.to_string());
            // Of several answers, the same one is shown each time.
            if **words > *lack.text {
                *words = lack.text.to_string();
            }
            self.has_news = true;
        }
        self.has_news |= !lines.is_empty();
        let mut read = KnownLines {
            lines,
            place: unwell.place,
            read: Instant::now(),
            is_sure: false,
        };
        read.judge(&unwell, self.ending);
        self.known.insert(unwell.key(), KnownTail::Read(read));
    }

    /// Whether lines were read since the last call.
    pub(crate) fn take_news(&mut self) -> bool {
        std::mem::take(&mut self.has_news)
    }

    /// Gives up all requests. Returns whether there were any.
    pub(crate) fn give_up(&mut self) -> bool {
        let was_busy = self.is_busy();
        self.reader.keep(|_| false);
        was_busy
    }

    /// The last lines of the failed containers of a Pod.
    pub(crate) fn of(&self, pod: &Uid) -> &[LastLines] {
        self.shown.get(pod).map_or(&[], |lines| lines)
    }

    /// `logs of failed containers are not shown: pods "web-1" is forbidden: …`; `None` if they can be read.
    pub(crate) fn shortfall(&self) -> Option<String> {
        let lack = self.lacks.values().next()?;
        Some(format!("logs of failed containers are not shown: {lack}"))
    }
}

/// A few of these objects: the worst ones, by their own states and those of their dependents, in their order.
fn worst(model: &Model, objects: impl Iterator<Item = Uid>) -> Vec<Uid> {
    let mut worst: Vec<Uid> = objects.collect();
    worst.sort_by_key(|uid| Reverse(worst_state(model, uid)));
    worst.truncate(MOST_OBJECTS);
    worst
}

/// The worst state of an object and its dependents.
fn worst_state(model: &Model, object: &Uid) -> Option<Status> {
    let object = model.object(object)?;
    object.worst.max(Some(object.assessment.status()))
}
