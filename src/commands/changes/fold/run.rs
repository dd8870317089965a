//! `FoldedRun`: what controllers did about one object, as one line.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Duration;

use jiff::Timestamp;
use tokio::time::Instant;

use super::part::TimelinePart;
use crate::commands::changes::line_style::LineStyle;
use crate::commands::versions::{Compared, TimelineEntry};
use crate::object::ObjectRef;
use crate::render::count::plural;
use crate::render::diff::ChangeType;
use crate::render::style::Role;
use crate::render::text::Text;
use crate::status::{Assessment, Rules, Status};

/// The flag that shows the folded versions.
const SHOW: &str = "(show: --owned)";

/// Which open runs end with a page.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum RunsEnd {
    /// All of them.
    All,
    /// Those of which nothing came for a while.
    Settled,
    /// Those of them that follow a printed version of their owner. The footer has the others.
    SettledChanges,
}

/// The folded versions about one object, since its last printed version.
pub(super) struct FoldedRun {
    /// The object, without its uid.
    pub(super) owner: ObjectRef,
    /// The number of lines of the current page above the run's line; `None` if an earlier page has that place.
    pub(super) at: Option<usize>,
    /// Whether the line is below the owner's own version.
    pub(super) is_below_owner: bool,
    first: Timestamp,
    pub(super) last: Timestamp,
    /// The owned objects.
    objects: FoldedObjects,
    /// The number of their versions.
    versions: usize,
    /// The number of versions in which controllers report about the owner.
    reports: usize,
    pub(super) events: usize,
    /// The number of Warnings that repeat one with a line of its own.
    pub(super) warnings: usize,
    /// Whether a version of the owner was printed before it.
    pub(super) follows_change: bool,
    /// When the last version was added, for the end of the run.
    pub(super) touched: Instant,
}

/// A run of which nothing came for this long is complete.
const SETTLED: Duration = Duration::from_secs(10);

impl FoldedRun {
    pub(super) fn new(owner: ObjectRef, first: Timestamp) -> FoldedRun {
        FoldedRun {
            owner,
            at: None,
            is_below_owner: false,
            first,
            last: first,
            objects: FoldedObjects::default(),
            versions: 0,
            reports: 0,
            events: 0,
            warnings: 0,
            follows_change: false,
            touched: Instant::now(),
        }
    }

    /// Adds a version.
    pub(super) fn add(
        &mut self,
        part: TimelinePart,
        entry: &TimelineEntry,
        compared: &Compared<'_>,
    ) {
        self.last = self.last.max(entry.latest());
        if part == TimelinePart::Report
            && compared.read.event.now.object.without_uid() == self.owner
        {
            self.reports += 1;
            return;
        }
        self.versions += 1;
        let (event, plural) = (compared.read.event, entry.key.resource.plural.clone());
        let object = &event.now.object;
        if event.change == ChangeType::Deleted {
            return self.objects.add_deletion(object, plural);
        }
        let assessed = (!event.is_end())
            .then(|| Assessment::of(compared.read.doc.root(), self.last, Rules::Spy));
        let failing = assessed.filter(Assessment::is_failing);
        let failing = failing.map(|failing| failing.row.word);
        self.objects
            .add(object.clone(), FoldedObject { plural, failing });
    }

    /// Whether it is complete if nothing comes for a while. The footer of a terminal has runs that follow no change.
    pub(super) fn can_settle(&self, ends: RunsEnd) -> bool {
        match ends {
            RunsEnd::All | RunsEnd::Settled => true,
            RunsEnd::SettledChanges => self.follows_change,
        }
    }

    /// When the run is complete, if nothing comes until then.
    pub(super) fn settles_at(&self) -> Instant {
        self.touched + SETTLED
    }

    /// `  12 versions of 6 pods and 1 replicaset, 5 status reports, 2 failing (CrashLoopBackOff) (show: --owned)`. If that is too
    /// long for the line, it has only the number of objects, or only the sum. At last, the middle of the owner's name goes.
    pub(super) fn line(&self, style: &LineStyle<'_>) -> Text {
        let [start, name] = self.head(style).map(Text::from);
        let failing = self.objects.failing();
        let (reported, evented) = (self.reported(), self.evented());
        let sum = self.versions + self.reports + self.events + self.warnings;
        let others = [reported, evented, self.warned(), failing.clone()];
        let with = |owned: Option<String>| [&[owned][..], &others].concat();
        let (whole, brief) = (
            with(self.owned(&self.objects.by_kind())),
            with(self.owned(&plural(self.objects.count(), "object"))),
        );
        let least = vec![Some(plural(sum, "version")), failing];
        let end = |parts: Vec<Option<String>>| {
            let parts: Vec<String> = parts.into_iter().flatten().collect();
            Text::from(format!("{} {SHOW}", parts.join(", ")))
        };
        let [whole, brief, least] = [whole, brief, least].map(end);
        let columns = style.look.width.unwrap_or(usize::MAX);
        let head = start.width() + name.width();
        let mut ends = [whole, brief].into_iter();
        let fitting = ends.find(|end| head + end.width() <= columns);
        let end = fitting.unwrap_or(least);
        let name = name.fit_name(start.width() + end.width(), style.look);
        let line = start + name + end;
        line.in_role(Role::Dim).fit_to(style.look)
    }

    /// The times, and the name of the owner, unless its own version is above the line.
    fn head(&self, style: &LineStyle<'_>) -> [String; 2] {
        if self.is_below_owner {
            return ["  ".to_owned(), String::new()];
        }
        let mut times = vec![style.clock(self.first), style.clock(self.last)];
        times.dedup();
        let dot = style.look.symbols.dot;
        let times = style.in_cluster(times.join("-"));
        let name = format!("{}: ", style.name(&self.owner));
        [format!("{dot}  {times} "), name]
    }

    /// `12 versions of 6 pods and 1 replicaset`, or of `7 objects`
    fn owned(&self, objects: &str) -> Option<String> {
        let versions = plural(self.versions, "version");
        (self.versions > 0).then(|| format!("{versions} of {objects}"))
    }

    fn reported(&self) -> Option<String> {
        (self.reports > 0).then(|| plural(self.reports, "status report"))
    }

    fn warned(&self) -> Option<String> {
        (self.warnings > 0).then(|| plural(self.warnings, "more warning"))
    }

    fn evented(&self) -> Option<String> {
        (self.events > 0).then(|| plural(self.events, "event"))
    }
}

/// The owned objects in a run, and which of them fail. A run can last for days, so it forgets a deleted object and keeps
/// only the number.
#[derive(Default)]
struct FoldedObjects {
    there: BTreeMap<Arc<ObjectRef>, FoldedObject>,
    /// The number of deleted objects of each kind.
    deleted: BTreeMap<FoldedKind, usize>,
}

/// The newest version of an owned object.
struct FoldedObject {
    /// The plural of its kind.
    pub(super) plural: Arc<str>,
    /// The word for its state, if it fails.
    pub(super) failing: Option<String>,
}

/// The kind of owned objects.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
struct FoldedKind {
    plural: Arc<str>,
    kind: Arc<str>,
}

impl FoldedObjects {
    /// Adds the newest version of an object.
    fn add(&mut self, object: Arc<ObjectRef>, newest: FoldedObject) {
        self.there.insert(object, newest);
    }

    /// Adds the deletion of an object. Nothing follows it, because another object of this name has another uid.
    fn add_deletion(&mut self, object: &ObjectRef, plural: Arc<str>) {
        self.there.remove(object);
        let kind = object.kind.clone();
        *self.deleted.entry(FoldedKind { plural, kind }).or_default() += 1;
    }

    pub(super) fn count(&self) -> usize {
        self.there.len() + self.deleted.values().sum::<usize>()
    }

    /// `6 pods and 1 replicaset`
    pub(super) fn by_kind(&self) -> String {
        let mut kinds = self.deleted.clone();
        for (object, newest) in &self.there {
            let plural = newest.plural.clone();
            let kind = object.kind.clone();
            *kinds.entry(FoldedKind { plural, kind }).or_default() += 1;
        }
        let kinds = kinds.into_iter().map(|(kind, count)| match count {
            1 => format!("1 {}", kind.kind.to_lowercase()),
            _ => format!("{count} {}", kind.plural),
        });
        listed(&kinds.collect::<Vec<_>>())
    }

    /// `2 failing (CrashLoopBackOff)`: the objects that fail in their newest version.
    pub(super) fn failing(&self) -> Option<String> {
        let words = self.there.values();
        let mut words: Vec<&str> = words
            .filter_map(|newest| newest.failing.as_deref())
            .collect();
        let count = words.len();
        words.sort_unstable();
        words.dedup();
        words.retain(|word| *word != Status::Failed.as_str());
        let words = match &words.join(", ")[..] {
            "" => String::new(),
            words => format!(" ({words})"),
        };
        (count > 0).then(|| format!("{count} failing{words}"))
    }
}

/// `a, b and c`
fn listed(parts: &[String]) -> String {
    match parts {
        [] => String::new(),
        [one] => one.clone(),
        [first @ .., last] => format!("{} and {last}", first.join(", ")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::object::Uid;

    fn object(kind: &str, name: &str) -> Arc<ObjectRef> {
        Arc::new(ObjectRef {
            api_version: "v1".into(),
            kind: kind.into(),
            namespace: Some("shop".into()),
            name: name.into(),
            uid: Some(Uid::new(name)),
        })
    }

    fn newest(plural: &str, failing: Option<&str>) -> FoldedObject {
        FoldedObject {
            plural: plural.into(),
            failing: failing.map(str::to_owned),
        }
    }

    #[test]
    fn a_deleted_object_is_counted_and_forgotten() {
        let mut objects = FoldedObjects::default();
        for _ in 0..2 {
            objects.add(object("Pod", "a"), newest("pods", Some("CrashLoopBackOff")));
            objects.add(object("Pod", "b"), newest("pods", Some("Failed")));
            objects.add(object("Job", "c"), newest("jobs", None));
        }
        assert_eq!(objects.by_kind(), "1 job and 2 pods");
        assert_eq!(
            objects.failing().as_deref(),
            Some("2 failing (CrashLoopBackOff)")
        );
        for name in ["a", "b"] {
            objects.add_deletion(&object("Pod", name), "pods".into());
        }
        assert_eq!(objects.by_kind(), "1 job and 2 pods");
        assert_eq!(objects.count(), 3);
        assert_eq!((objects.failing(), objects.there.len()), (None, 1));
    }
}
