//! What `changes -o json` prints: a record a line.

use std::collections::BTreeMap;

use jiff::Timestamp;
use serde_json::{Value, json};

use super::state::{Happened, PastTime, Step};
use super::view::View;
use crate::commands::Note;
use crate::commands::sources::describe;
use crate::diff::Diff;
use crate::object::Doc;
use crate::object::managed_fields::Writers;
use crate::render::age::rfc3339_millis;
use crate::render::diff::{Verb, counts};
use crate::render::json::changes::{ChangeRecord, actors, entries, raw, time};
use crate::render::json::line::line;
use crate::render::json::{RefRecord, VERSION};
use crate::watch::{Gap, GapCause, Version};

impl View {
    /// The record of what has happened.
    pub(super) fn record(&self, happened: &Happened) -> Option<String> {
        let when = (happened.seen, happened.past);
        let record = match &happened.step {
            Step::Baseline(now) => self.version(Verb::Baseline, (None, now), when)?,
            Step::Created { now, again: false } => {
                self.version(Verb::Created, (None, now), when)?
            }
            Step::Created { now, again: true } => {
                self.version(Verb::Recreated, (None, now), when)?
            }
            Step::Modified { old, now, .. } => {
                self.version(Verb::Modified, (Some(old), now), when)?
            }
            Step::Deleted { old, last, .. } => {
                self.version(Verb::Deleted, (old.as_deref(), last), when)?
            }
            Step::Left { last } => self.version(Verb::Left, (None, last), when)?,
            Step::Synced { count } => self.plain("synced", happened, json!({ "count": count })),
            Step::Gap(gap) => self.plain("gap", happened, gap_fields(gap)),
            Step::Undecodable { detail } => {
                self.plain("undecodable", happened, json!({ "cause": &**detail }))
            }
            Step::State(note) => self.plain("state", happened, state_fields(note)),
        };
        Some(record)
    }

    fn version(
        &self,
        verb: Verb,
        (old, now): (Option<&Version>, &Version),
        (seen, past): (Timestamp, Option<PastTime>),
    ) -> Option<String> {
        let before = old.and_then(|old| old.doc().ok());
        let doc = match &before {
            Some(before) => Doc::parse_after(now.body.clone(), before),
            None => now.doc(),
        };
        let doc = doc.ok()?;
        let shown = self.redactor.shown(doc.root());
        let writers = Writers::of(before.as_ref().map(Doc::root), Some(doc.root()));
        let diff = before
            .as_ref()
            .map(|before| Diff::of(Some(before.root()), Some(doc.root())));
        let whole = matches!(verb, Verb::Created | Verb::Recreated | Verb::Deleted);
        let record = ChangeRecord {
            v: VERSION,
            verb,
            past: past.is_some(),
            time: past
                .map(|past| past.time)
                .or_else(|| time(&writers, shown))
                .map(rfc3339_millis),
            time_until: past.and_then(|past| past.until).map(rfc3339_millis),
            seen: past.is_none().then(|| rfc3339_millis(seen)),
            object_ref: RefRecord::new(self.cluster.clone(), &now.object),
            from: old.map(|old| old.version.to_string()),
            to: Some(now.version.to_string()),
            actors: if verb == Verb::Baseline {
                Vec::new()
            } else {
                actors(&writers)
            },
            changes: diff.as_ref().map_or_else(Vec::new, |diff| {
                entries(diff, &writers, &self.redactor, (&self.filter, &self.noise))
            }),
            hidden: diff.as_ref().map_or_else(BTreeMap::new, |diff| {
                counts(diff, &self.filter, &self.noise).noise
            }),
            object: whole.then(|| raw(shown)),
        };
        Some(line(&record))
    }

    fn plain(&self, kind: &str, happened: &Happened, fields: Value) -> String {
        let mut record = json!({
            "v": VERSION,
            "type": kind,
            "seen": rfc3339_millis(happened.seen),
            "cluster": self.cluster,
            "source": describe(&happened.key),
        });
        if let (Value::Object(record), Value::Object(fields)) = (&mut record, fields) {
            record.extend(fields);
        }
        line(&record)
    }
}

fn state_fields(note: &Note) -> Value {
    match &note.cause {
        Some(cause) => json!({ "state": note.state, "cause": &**cause }),
        None => json!({ "state": note.state }),
    }
}

fn gap_fields(gap: &Gap) -> Value {
    let cause = match gap.cause {
        GapCause::Expired => "expired",
        GapCause::Undecodable => "undecodable",
        GapCause::Polled => "polled",
        GapCause::Unseen => "unseen",
        GapCause::SlowSubscriber { .. } => "slowSubscriber",
    };
    json!({ "after": gap.after.as_str(), "upto": gap.upto.as_str(), "cause": cause })
}
