//! The past as it is told: one timeline of all objects, and the line between it and what is live.

use std::collections::HashMap;
use std::sync::Arc;

use jiff::{SignedDuration, Timestamp};

use super::judge::written;
use super::past::Found;
use super::state::{Happened, PastTime, Step};
use crate::commands::sources::describe;
use crate::object::ObjectRef;
use crate::render::age;
use crate::render::text::escape_line;
use crate::watch::{End, SourceKey, Told, Why};

/// What was found, in the order of the cluster's revisions.
pub(super) fn timeline(found: &[Found], now: Timestamp) -> Vec<Happened> {
    let mut all: Vec<(&Arc<SourceKey>, &Told)> = found
        .iter()
        .flat_map(|found| found.told.iter().map(|told| (&found.key, told)))
        .collect();
    all.sort_by_key(|(_, told)| told.at);
    let mut teller = Teller::default();
    for (key, told) in all {
        teller.tell(key, told, now);
    }
    teller.told
}

/// Puts what is told in words, one after the other.
#[derive(Default)]
struct Teller {
    told: Vec<Happened>,
    last: HashMap<ObjectRef, Last>,
    /// When the newest of it was written: what follows by revision is not older.
    latest: Option<Timestamp>,
    /// The deletions of which it is not known yet when they were over.
    open: Vec<usize>,
}

/// What was told last of a name.
#[derive(Clone, Copy, Default)]
struct Last {
    time: Option<Timestamp>,
    is_gone: bool,
}

impl Teller {
    fn tell(&mut self, key: &Arc<SourceKey>, told: &Told, now: Timestamp) {
        let name = ObjectRef {
            uid: None,
            ..told.now.object.clone()
        };
        let last = self.last.get(&name).copied().unwrap_or_default();
        let is_gone = matches!(told.why, Why::Deleted | Why::LeftSelector);
        let own = written(told.prev.as_deref(), &told.now).filter(|_| !is_gone);
        if let (Some(own), false) = (own, told.why == Why::Listed) {
            self.close(own);
        }
        let bound = self.latest.max(last.time);
        let time = own.or(bound).unwrap_or(now);
        let since = last.time.map(|last| time.duration_since(last));
        let step = step(told, last, since, time);
        self.last.insert(
            name,
            Last {
                time: Some(time),
                is_gone,
            },
        );
        let Some(step) = step else { return };
        if is_gone {
            self.open.push(self.told.len());
        }
        self.told.push(Happened {
            seen: time,
            key: key.clone(),
            step,
            past: Some(PastTime {
                time,
                until: is_gone.then_some(now),
            }),
        });
    }

    /// What was deleted before was so by this time.
    fn close(&mut self, time: Timestamp) {
        for at in self.open.drain(..) {
            if let Some(past) = self.told.get_mut(at).and_then(|told| told.past.as_mut()) {
                past.until = Some(time.max(past.time));
            }
        }
        self.latest = self.latest.max(Some(time));
    }
}

fn step(told: &Told, last: Last, since: Option<SignedDuration>, time: Timestamp) -> Option<Step> {
    let now = told.now.clone();
    Some(match (told.why, told.prev.clone()) {
        // Where the past begins; the first change says from which version.
        (Why::Listed, None) => return None,
        (Why::Deleted | Why::Vanished, old) => Step::Deleted {
            old,
            last: now,
            unseen: false,
        },
        (Why::LeftSelector, _) => Step::Left { last: now },
        (_, Some(old)) => Step::Modified {
            old,
            now,
            skipped: false,
            since: since.and_then(|since| time.checked_sub(since).ok()),
        },
        (_, None) => Step::Created {
            now,
            again: last.is_gone,
        },
    })
}

/// What stands between the past and what is live.
pub(super) struct Seam<'s> {
    pub(super) found: &'s [Found],
    /// How many versions are shown above it, and when the first was written.
    pub(super) shown: usize,
    pub(super) first: Option<Timestamp>,
    /// Since when it is live; `None` if it ends here.
    pub(super) live: Option<Timestamp>,
}

impl Seam<'_> {
    /// The line, and what could not be looked back at, each once.
    pub(super) fn lines(&self, time: impl Fn(Timestamp) -> String) -> Vec<String> {
        let mut parts: Vec<String> = self
            .live
            .map(|live| format!("live since {}", time(live)))
            .into_iter()
            .collect();
        let mut lines = self.refusals();
        if lines.len() < self.found.len() {
            let back = self
                .first
                .map_or(String::new(), |first| format!(", back to {}", time(first)));
            parts.push(format!("{}{back}", self.count()));
            parts.extend(self.end());
            lines.push(format!("── {} ──", parts.join(" · ")));
        }
        lines
    }

    fn count(&self) -> String {
        let wide = self.found.iter().filter_map(|found| found.objects);
        let (mut kinds, mut objects, mut changed) = (0, 0, 0);
        for (count, own) in wide {
            kinds += usize::from(own > 0);
            objects += count;
            changed += own;
        }
        if self.found.iter().any(|found| found.objects.is_some()) {
            let (objects, kinds) = (plural(objects, "object"), plural(kinds, "kind"));
            return format!("{changed} of {objects} changed in {kinds}");
        }
        match self.shown {
            0 => "no earlier version".to_owned(),
            shown => plural(shown, "earlier version"),
        }
    }

    fn end(&self) -> Option<String> {
        let ends = |is: fn(&End) -> bool| {
            let mut ends = self.found.iter().filter_map(|found| found.end.as_ref());
            ends.any(is)
        };
        let forgotten = ends(|end| matches!(end, End::Forgotten(_)));
        let wide = self.found.iter().any(|found| found.objects.is_some());
        let forgotten = forgotten.then_some("the server has forgotten what was before");
        let wide = wide.then_some("objects that lived only in between may be missing");
        let parts: Vec<&str> = forgotten.into_iter().chain(wide).collect();
        (!parts.is_empty()).then(|| parts.join(" · "))
    }

    fn refusals(&self) -> Vec<String> {
        let refusal = |found: &Found| {
            let cause = match found.end.as_ref()? {
                End::NotOffered(cause) => cause.to_string(),
                End::Failed(error) => error.to_string(),
                End::Limit | End::Forgotten(_) => return None,
            };
            let source = describe(&found.key);
            Some(escape_line(&format!("no look-back for {source}: {cause}")).into_owned())
        };
        self.found.iter().filter_map(refusal).collect()
    }
}

/// What is said of when something in the past happened: `5m ago`.
pub(super) fn ago(past: PastTime, now: Timestamp) -> String {
    let span = now.duration_since(past.time);
    format!("{} ago", age::human(span.max(SignedDuration::ZERO)))
}

fn plural(count: usize, unit: &str) -> String {
    match count {
        1 => format!("1 {unit}"),
        count => format!("{count} {unit}s"),
    }
}
