//! What `changes -o json` prints: a record a line.

use std::collections::BTreeMap;

use super::lookback::stop_rule::Written;
use super::state::{Happened, Step};
use super::view::{View, known};
use crate::commands::sources::describe;
use crate::object::managed_fields::Writers;
use crate::object::{Doc, ResourceVersion};
use crate::render::age::rfc3339_millis;
use crate::render::diff::Verb;
use crate::render::json::changes::{ChangeRecord, actors, entries, raw};
use crate::render::json::line::line;
use crate::render::json::notice::Said;
use crate::render::json::{RefRecord, VERSION};
use crate::watch::{Gap, GapCause, Version};

impl View {
    /// The record of what has happened.
    pub(super) fn record(&self, happened: &Happened) -> String {
        match &happened.step {
            Step::Baseline(now) => self.version(Verb::Baseline, (None, now), happened),
            Step::Created { now, again: false } => {
                self.version(Verb::Created, (None, now), happened)
            }
            Step::Created { now, again: true } => {
                self.version(Verb::Recreated, (None, now), happened)
            }
            Step::Modified { old, now, .. } => {
                self.version(Verb::Modified, (Some(old), now), happened)
            }
            Step::Deleted { old, last, .. } => {
                self.version(Verb::Deleted, (old.as_deref(), last), happened)
            }
            Step::Left { last } => self.version(Verb::Left, (None, last), happened),
            Step::Synced { count } => self.notice(Said::Synced { count: *count }, happened),
            Step::Gap(gap) => self.notice(said_of_gap(gap), happened),
            Step::Undecodable { detail } => self.notice(Said::Line { cause: detail }, happened),
            Step::State(note) => {
                let (state, cause) = (note.state, note.cause.as_deref());
                self.notice(Said::State { state, cause }, happened)
            }
        }
    }

    /// The record of a version; that it is there, if it cannot be read.
    fn version(
        &self,
        verb: Verb,
        (old, now): (Option<&Version>, &Version),
        happened: &Happened,
    ) -> String {
        let (before, doc) = self.held.after(old, now);
        let is_unknown = old.is_some() && before.is_none();
        let before = old.zip(before.as_ref());
        match doc {
            Ok(doc) => {
                let mut record = self.change(verb, (before, (now, &doc)), happened);
                if is_unknown {
                    // There is nothing to compare it with.
                    record.object = Some(raw(self.redactor.shown(doc.root())));
                }
                line(&record)
            }
            Err(error) => {
                let said = Said::Version {
                    cause: &error.to_string(),
                    event: verb,
                    object_ref: RefRecord::new(self.cluster.clone(), &now.object),
                    from: old
                        .and_then(|old| known(&old.version))
                        .map(ResourceVersion::as_str),
                    to: known(&now.version).map(ResourceVersion::as_str),
                };
                self.notice(said, happened)
            }
        }
    }

    fn change(
        &self,
        verb: Verb,
        (before, (now, doc)): (Option<(&Version, &Doc)>, (&Version, &Doc)),
        happened: &Happened,
    ) -> ChangeRecord {
        let (seen, past) = (happened.seen, happened.past);
        let (from, before) = before.unzip();
        let shown = self.redactor.shown(doc.root());
        let writers = Writers::of(before.map(Doc::root), Some(doc.root()));
        // What has no version before it must not settle how the lists of its kind are read.
        let keys = before
            .is_some()
            .then(|| self.shown.keys.of(&now.object.group_kind()));
        let compared = before.zip(keys.as_ref()).map(|(before, keys)| {
            let sides = [before.root(), doc.root()];
            self.shown.compare(&happened.key, sides, keys)
        });
        let noise = self.shown.noise_of(&happened.key);
        let whole = matches!(verb, Verb::Created | Verb::Recreated | Verb::Deleted);
        // That it is gone is not written in an object.
        let is_end = before.is_none() && matches!(verb, Verb::Deleted | Verb::Left);
        let written = || {
            let roots = (before.map(Doc::root), doc.root());
            Written::by(&writers, roots).filter(|_| !is_end)?.time()
        };
        ChangeRecord {
            v: VERSION,
            verb,
            past: past.is_some(),
            time: past
                .map(|past| past.time)
                .or_else(written)
                .map(rfc3339_millis),
            time_until: past.and_then(|past| past.until).map(rfc3339_millis),
            seen: past.is_none().then(|| rfc3339_millis(seen)),
            object_ref: RefRecord::new(self.cluster.clone(), &now.object),
            from: from
                .and_then(|from| known(&from.version))
                .map(|version| version.as_str().to_owned()),
            to: known(&now.version).map(|version| version.as_str().to_owned()),
            actors: if verb == Verb::Baseline {
                Vec::new()
            } else {
                actors(&writers)
            },
            changes: compared.as_ref().map_or_else(Vec::new, |compared| {
                let asked = (&self.shown.filter, &noise);
                entries(&compared.diff, &writers, &self.redactor, asked)
            }),
            hidden: compared.map_or_else(BTreeMap::new, |compared| compared.counts.noise),
            object: whole.then(|| raw(shown)),
        }
    }

    fn notice(&self, said: Said<'_>, happened: &Happened) -> String {
        let (seen, source) = (rfc3339_millis(happened.seen), describe(&happened.key));
        line(&said.record((&seen, &self.cluster), Some(&source)))
    }
}

fn said_of_gap(gap: &Gap) -> Said<'_> {
    let cause = match gap.cause {
        GapCause::Expired => "expired",
        GapCause::Undecodable => "undecodable",
        GapCause::Polled => "polled",
        GapCause::Unseen => "unseen",
        GapCause::Restored => "restored",
        GapCause::Refused => "refused",
        GapCause::Unanswered => "unanswered",
        GapCause::SlowSubscriber { .. } => "slowSubscriber",
    };
    let version = |version| known(version).map(ResourceVersion::as_str);
    Said::Gap {
        after: version(&gap.after),
        upto: version(&gap.upto),
        cause,
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use jiff::Timestamp;

    use super::*;
    use crate::commands::changes::formats::Format;
    use crate::commands::changes::held::Held;
    use crate::commands::changes::view::Creation;
    use crate::diff::Redactor;
    use crate::object::list_keys::Schema;
    use crate::object::{ObjectRef, Resource};
    use crate::render::diff::Fold;
    use crate::watch::{ClusterId, Form, Scope, Select, SourceKey};

    const SCHEMA: &str = r#"{"components":{"schemas":{"R":{"x-kubernetes-group-version-kind":[
        {"group":"example.com","version":"v1","kind":"Route"}]}}}}"#;

    fn view() -> View {
        View {
            held: Held::default(),
            cluster: "test".to_owned(),
            is_of_file: false,
            redactor: Redactor::new(),
            shown: Arc::default(),
            format: Format::Json,
            creation: Creation::Summary,
            fold: Fold::Many,
            skew: jiff::SignedDuration::ZERO,
            namespace: None,
        }
    }

    fn route(number: u32) -> Arc<Version> {
        let body = format!(r#"{{"apiVersion":"example.com/v1","kind":"Route","spec":{number}}}"#);
        let doc = Doc::parse(body.as_str()).expect("JSON");
        Arc::new(Version {
            object: ObjectRef::of(doc.root()),
            version: ResourceVersion::new(number.to_string()),
            body: body.into(),
        })
    }

    fn happened(step: Step) -> Happened {
        let resource = Resource {
            group: "example.com".into(),
            version: "v1".into(),
            plural: "routes".into(),
            kind: "Route".into(),
            namespaced: true,
        };
        Happened {
            seen: Timestamp::UNIX_EPOCH,
            key: Arc::new(SourceKey {
                cluster: ClusterId("test".into()),
                resource,
                scope: Scope::Cluster,
                select: Select::All,
                form: Form::Full,
            }),
            step,
            past: None,
        }
    }

    /// Whether a schema that comes after the record of this still counts.
    fn leaves_open(step: Step) -> bool {
        let (view, happened) = (view(), happened(step));
        view.record(&happened);
        let schema = Schema::read(Doc::parse(SCHEMA).expect("JSON").root());
        view.shown
            .keys
            .learn(&route(1).object.group_kind(), Arc::new(schema))
    }

    #[test]
    fn only_what_is_compared_settles_how_lists_are_read() {
        assert!(leaves_open(Step::Baseline(route(1))));
        assert!(leaves_open(Step::Created {
            now: route(1),
            again: false
        }));
        assert!(!leaves_open(Step::Modified {
            old: route(1),
            now: route(2),
            skipped: false,
            since: None
        }));
    }
}
