//! `ChangedFields`: what differs between two versions of a workload's spec, with old and new values.

use std::collections::BTreeSet;

use jiff::Timestamp;
use jiff::tz::TimeZone;

use crate::diff::{Change, Diff, Filter, Op, Redactor};
use crate::object::{Doc, restarted_at};
use crate::render::diff::{DiffView, Fold, ShownChanges, VersionWriter, selected, writer_of};
use crate::render::style::{Look, Styles, Symbols};

/// Two versions of a spec.
#[derive(Clone)]
pub(super) struct ChangedFields {
    old: Doc,
    new: Doc,
    /// The part of the objects that is compared.
    part: &'static str,
}

/// The part of a spec whose changes start a rollout.
const TEMPLATE: &str = "spec.template";

/// Fields that controllers add to the templates of their revisions.
const ADDED: [&str; 3] = [
    "spec.template.metadata.labels.pod-template-hash",
    "spec.template.metadata.creationTimestamp",
    "spec.template[\"$patch\"]",
];

/// How many lines of changes are shown.
const LINES_SHOWN: usize = 5;

impl ChangedFields {
    /// The differences between two versions of a workload; `None` if their specs are equal.
    pub(super) fn of_spec(old: &Doc, new: &Doc) -> Option<ChangedFields> {
        ChangedFields::of(old, new, "spec")
    }

    /// The differences between the Pod templates of a revision and of its workload.
    pub(super) fn of_template(old: &Doc, new: &Doc) -> Option<ChangedFields> {
        ChangedFields::of(old, new, TEMPLATE)
    }

    fn of(old: &Doc, new: &Doc, part: &'static str) -> Option<ChangedFields> {
        let changed = ChangedFields {
            old: old.clone(),
            new: new.clone(),
            part,
        };
        changed.differs_in(part).then_some(changed)
    }

    /// Whether the Pod template differs.
    pub(super) fn has_template(&self) -> bool {
        self.differs_in(TEMPLATE)
    }

    /// Whether the change is a restart by `kubectl rollout restart`.
    pub(super) fn is_restart(&self) -> bool {
        restarted_at(self.old.root()) != restarted_at(self.new.root())
    }

    /// The changes, in the notation of `changes`: `~ .spec.replicas: 3 → 5`. Display text.
    pub(super) fn lines(&self, look: Look) -> Vec<String> {
        let diff = self.diff();
        let (redactor, filter) = (Redactor::new(), filter(self.part));
        let view = DiffView {
            look,
            redactor: &redactor,
            filter: &filter,
            noise: &BTreeSet::new(),
            zone: &TimeZone::UTC,
            fold: Fold::Many,
        };
        let mut lines = ShownChanges::unattributed(&diff, &view).lines();
        let more = lines.len().saturating_sub(LINES_SHOWN);
        lines.truncate(LINES_SHOWN);
        lines.extend((more > 0).then(|| format!("  {more} more")));
        lines
    }

    /// The changes without styles and without a limit of width.
    pub(super) fn plain_lines(&self) -> Vec<String> {
        self.lines(Look {
            width: None,
            styles: Styles::PLAIN,
            symbols: &Symbols::ASCII,
        })
    }

    /// The field manager that wrote the newer version. If none is recorded, the one that owns all values that were set.
    /// The version arrived at `seen`, if it arrived live.
    pub(super) fn writer(&self, seen: Option<Timestamp>) -> Option<VersionWriter> {
        let (old, new) = (self.old.root(), self.new.root());
        let diff = self.diff();
        let writers = diff.writers(Some(old), Some(new));
        let writers = writers.up_to(seen.unwrap_or(Timestamp::MAX));
        writer_of(&diff, &writers, &Self::changes(&diff, self.part))
    }

    /// Whether the change only removes fields.
    pub(super) fn are_only_removed(&self) -> bool {
        let diff = self.diff();
        let mut changes = Self::changes(&diff, self.part).into_iter();
        changes.all(|change| change.op == Op::Remove)
    }

    fn differs_in(&self, part: &str) -> bool {
        let diff = self.diff();
        !Self::changes(&diff, part).is_empty()
    }

    /// The changes in a part of the objects.
    fn changes<'d>(diff: &'d Diff<'_>, part: &str) -> Vec<&'d Change> {
        selected(diff, &filter(part), &BTreeSet::new()).collect()
    }

    fn diff(&self) -> Diff<'_> {
        Diff::of(Some(self.old.root()), Some(self.new.root()))
    }
}

fn filter(part: &str) -> Filter {
    let pattern = |text: &str| text.parse().ok();
    Filter {
        only: pattern(part).into_iter().collect(),
        ignore: ADDED.into_iter().filter_map(pattern).collect(),
    }
}
