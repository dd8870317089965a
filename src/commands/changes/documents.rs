//! The formats that programs read versions in: `yaml`, `name`, and patches. Nothing else goes to standard
//! output there; what there is to say is said beside it.

use serde_json::value::RawValue;

use super::body::left_out;
use super::draw::Draw;
use super::formats::Format;
use super::shown::Compared;
use super::state::{Happened, Step};
use super::told::Told;
use super::view::{Headed, View, known, notice};
use crate::commands::Terminal;
use crate::diff::json_patch::{Patch, json_patch, step_by_step};
use crate::diff::{Diff, MergePatch, Noise, merge_patch};
use crate::object::managed_fields::Writers;
use crate::object::{Doc, ObjectRef, Value};
use crate::render::diff::{Verb, writer};
use crate::render::json::line::line;
use crate::render::style::Styles;
use crate::render::text::escape_line;
use crate::render::yaml::yaml;
use crate::watch::Version;

/// Two versions of an object, the older one if it is known.
struct Pair<'p> {
    old: Option<&'p Version>,
    now: &'p Version,
    before: Option<&'p Doc>,
    doc: &'p Doc,
}

impl View {
    /// What a program is told of what has happened.
    pub(super) fn document(&self, happened: &Happened, terminal: &Terminal<'_>) -> Told {
        let Some((verb, old, now)) = version(&happened.step) else {
            return Told::aside(notice(happened));
        };
        let (before, doc) = self.held.after(old, now);
        let Ok(doc) = doc else {
            return Told::aside(Some(format!("{} could not be read", name(old, now))));
        };
        let pair = Pair {
            old,
            now,
            before: before.as_ref(),
            doc: &doc,
        };
        let mut draw = self.drawing(happened, terminal);
        draw.look.styles = Styles::PLAIN;
        match self.format {
            Format::JsonPatch | Format::MergePatch if verb == Verb::Modified => {
                self.patch(&draw, &pair)
            }
            // Patches lead from one version to the next. What comes, goes or is there has no other.
            Format::JsonPatch | Format::MergePatch => Told::default(),
            _ => self.shown_document(&draw, (verb, happened), &pair),
        }
    }

    /// A patch of what is asked for in a version, noise or not.
    fn patch(&self, draw: &Draw<'_>, pair: &Pair<'_>) -> Told {
        let Some(before) = pair.before else {
            let name = name(pair.old, pair.now);
            let said = format!("{name}: no patch, the version before could not be read");
            return Told::aside(Some(said));
        };
        let keys = self.shown.keys.of(&pair.now.object.group_kind());
        let (old, new) = (before.root(), pair.doc.root());
        let Compared { diff, counts, .. } = self.shown.compare(draw.key, [old, new], &keys);
        if counts.shown + counts.hidden() == 0 {
            return Told::quiet(counts);
        }
        if self.shown.filter.is_everything() && self.shown.by.is_everyone() {
            let patch = || json_patch(&diff, &self.redactor);
            return self.patch_of(patch, (pair, old, new));
        }
        let partly = diff.partly(|change| self.shown.filter.keeps(&diff, change));
        let diff = Diff::keyed(Some(old), Some(partly.root()), &keys);
        if diff.is_empty() {
            return Told::quiet(counts);
        }
        // The whole of the object is not what was asked for, be it shorter or not.
        let patch = || step_by_step(&diff, &self.redactor);
        self.patch_of(patch, (pair, old, partly.root()))
    }

    /// The patch from one version to the other, with what makes one of JSON Patch's form.
    fn patch_of(
        &self,
        json_patch: impl FnOnce() -> Patch,
        (pair, old, new): (&Pair<'_>, Value<'_>, Value<'_>),
    ) -> Told {
        let (patch, redacted) = if self.format == Format::JsonPatch {
            let patch = json_patch();
            (line(&patch), patch.is_redacted())
        } else {
            match merge_patch(self.redactor.shown(old), self.redactor.shown(new)) {
                Ok(MergePatch { json, is_redacted }) => {
                    let json = RawValue::from_string(json).expect("merge_patch writes JSON");
                    (line(&json), is_redacted)
                }
                Err(error) => {
                    return Told::aside(Some(format!("{}: {error}", name(pair.old, pair.now))));
                }
            }
        };
        Told {
            redacted,
            ..Told::lines(vec![patch])
        }
    }

    /// A version as YAML or by its name, if it is shown.
    fn shown_document(
        &self,
        draw: &Draw<'_>,
        (verb, happened): (Verb, &Happened),
        pair: &Pair<'_>,
    ) -> Told {
        let (old, new) = (pair.before.map(Doc::root), Some(pair.doc.root()));
        let before = old.filter(|_| verb == Verb::Modified);
        let compared = before.map(|before| {
            let keys = self.shown.keys.of(&pair.now.object.group_kind());
            let sides = [before, pair.doc.root()];
            self.shown.compare(draw.key, sides, &keys).counts
        });
        if let Some(counts) = compared.clone().filter(|counts| counts.shown == 0) {
            return Told::quiet(counts);
        }
        if self.format == Format::Name {
            return Told::lines(vec![resource_name(&pair.now.object)]);
        }
        let writers = Writers::of(old, new);
        let is_written = matches!(verb, Verb::Created | Verb::Recreated | Verb::Modified);
        let who = is_written.then(|| writer(&writers)).flatten();
        let heading = draw.header(
            pair.now,
            pair.old.filter(|_| verb == Verb::Modified),
            (
                Headed::new(verb, happened),
                who.as_deref(),
                compared.as_ref(),
            ),
        );
        let object = self.redactor.shown(pair.doc.root());
        let left_out = left_out(&self.shown.filter.with_identity(), object)
            .and_metadata(object, &self.hidden_metadata());
        let mut lines = vec![format!("# {heading}")];
        lines.extend(yaml(object, &left_out));
        Told {
            redacted: left_out.holds_secret(object),
            starts_document: true,
            ..Told::lines(lines)
        }
    }

    /// The fields of `metadata` with which an object could not be created again, and those of which
    /// nobody asks.
    fn hidden_metadata(&self) -> Vec<&'static str> {
        let noise = [
            (Noise::ManagedFields, "managedFields"),
            (Noise::Version, "resourceVersion"),
        ];
        let hidden = noise
            .into_iter()
            .filter(|(noise, _)| !self.shown.noise.contains(noise));
        hidden.map(|(_, field)| field).collect()
    }
}

/// What has happened to which version; `None` where it is about no object.
fn version(step: &Step) -> Option<(Verb, Option<&Version>, &Version)> {
    match step {
        Step::Baseline(now) => Some((Verb::Baseline, None, now)),
        Step::Created { now, again: false } => Some((Verb::Created, None, now)),
        Step::Created { now, again: true } => Some((Verb::Recreated, None, now)),
        Step::Modified { old, now, .. } => Some((Verb::Modified, Some(old), now)),
        Step::Deleted { last, .. } => Some((Verb::Deleted, None, last)),
        Step::Left { last } => Some((Verb::Left, None, last)),
        Step::Synced { .. } | Step::Gap(_) | Step::Undecodable { .. } | Step::State(_) => None,
    }
}

/// `deployment/web 5→6`
fn name(old: Option<&Version>, now: &Version) -> String {
    let versions = [old, Some(now)].into_iter().flatten();
    let versions: Vec<String> = versions
        .filter_map(|version| Some(known(&version.version)?.to_string()))
        .collect();
    format!("{} {}", now.object, versions.join("→"))
        .trim_end()
        .to_owned()
}

/// `deployment.apps/web`, as `kubectl get -o name` prints it.
fn resource_name(object: &ObjectRef) -> String {
    let kind = object.kind.to_lowercase();
    let name = match object.group() {
        "" => format!("{kind}/{}", object.name),
        group => format!("{kind}.{group}/{}", object.name),
    };
    escape_line(&name).into_owned()
}
