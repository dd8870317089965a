//! The past as it is told: one timeline of all objects.

use std::collections::HashMap;
use std::sync::Arc;

use jiff::{SignedDuration, Timestamp};

use super::Found;
use super::stop_rule::Written;
use crate::commands::changes::state::{Happened, PastTime, Step};
use crate::object::ObjectRef;
use crate::render::age;
use crate::watch::{Between, PastEvent, SourceKey, Why, is_surely_before};

/// What was found, in the order of the cluster's revisions. What is known to have been before `since` is
/// left out.
pub(in crate::commands::changes) fn timeline(
    found: &[Found],
    since: Option<Timestamp>,
    now: Timestamp,
) -> Vec<Happened> {
    let mut all: Vec<(&Found, &PastEvent)> = found
        .iter()
        .flat_map(|found| found.told.iter().map(move |told| (found, told)))
        .collect();
    all.sort_by_key(|(_, told)| told.at);
    let mut teller = Teller::default();
    for (found, told) in all {
        let dated = told.at.and_then(|at| found.dated.get(&at));
        teller.tell(&found.key, (told, dated), now);
    }
    let mut told = teller.told;
    told.retain(|told| {
        let until = told.past.and_then(|past| past.until);
        !until
            .zip(since)
            .is_some_and(|(until, since)| is_surely_before(until, since))
    });
    for past in told.iter_mut().filter_map(|told| told.past.as_mut()) {
        // Times have seconds: in one second is known as well as any.
        past.until = past.until.filter(|until| *until > past.time);
    }
    told
}

/// Puts what is told in words, one after the other.
#[derive(Default)]
struct Teller {
    told: Vec<Happened>,
    last: HashMap<ObjectRef, Last>,
    /// When the newest of it was written: what follows by revision is not older.
    latest: Option<Timestamp>,
    /// What has no time of its own, and was before the next that has one.
    open: Vec<usize>,
}

/// What was told last of a name.
#[derive(Clone, Copy, Default)]
struct Last {
    time: Option<Timestamp>,
    /// It was then, or later.
    is_vague: bool,
    is_gone: bool,
}

impl Teller {
    fn tell(
        &mut self,
        key: &Arc<SourceKey>,
        (told, dated): (&PastEvent, Option<&Between>),
        now: Timestamp,
    ) {
        let name = ObjectRef {
            uid: None,
            ..told.now.object.clone()
        };
        let last = self.last.get(&name).copied().unwrap_or_default();
        let is_gone = told.is_end();
        let written = Written::of(told.prev.as_deref(), &told.now).filter(|_| !is_gone);
        let own = written.and_then(Written::time);
        if let (Some(own), false) = (own, told.why == Why::Listed) {
            self.close(own);
        }
        let is_vague = is_gone || matches!(written, Some(Written::After(_)));
        let dated = dated.filter(|_| is_vague);
        let bound = self
            .latest
            .max(last.time)
            .max(written.map(Written::earliest))
            .max(dated.map(|dated| dated.from));
        let time = own.or(bound).unwrap_or(now);
        let until = dated.and_then(|dated| dated.until).unwrap_or(now);
        let is_known = is_gone || !(is_vague || last.is_vague);
        let since = last.time.filter(|_| is_known);
        let since = since.map(|last| time.duration_since(last));
        let step = step(told, last, since, time);
        self.last.insert(
            name,
            Last {
                time: Some(time),
                is_vague,
                is_gone,
            },
        );
        let Some(step) = step else { return };
        if is_vague {
            self.open.push(self.told.len());
        }
        self.told.push(Happened {
            seen: time,
            key: key.clone(),
            step,
            past: Some(PastTime {
                time,
                until: is_vague.then_some(until.max(time)),
            }),
        });
    }

    /// What was before it by revision was so by time.
    fn close(&mut self, time: Timestamp) {
        for at in self.open.drain(..) {
            if let Some(past) = self.told.get_mut(at).and_then(|told| told.past.as_mut()) {
                let until = past.until.map_or(time, |until| until.min(time));
                past.until = Some(until.max(past.time));
            }
        }
        self.latest = self.latest.max(Some(time));
    }
}

fn step(
    told: &PastEvent,
    last: Last,
    since: Option<SignedDuration>,
    time: Timestamp,
) -> Option<Step> {
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

/// What is said of when something in the past happened: `5m ago`.
pub(in crate::commands::changes) fn ago(past: PastTime, now: Timestamp) -> String {
    let span = now.duration_since(past.time);
    format!("{} ago", age::human(span.max(SignedDuration::ZERO)))
}
