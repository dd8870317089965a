//! `--since`: what was different at a time in the past, object by object.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use jiff::Timestamp;

use super::cluster_views::ClusterView;
use super::options::{HealthFilter, Idle, RowOptions};
use super::rows::StatusRow;
use super::state::StatusState;
use super::table::is_idle;
use super::view::are_spread;
use crate::model::{Model, Rank, Reading};
use crate::object::{GroupKind, ObjectRef, Uid, counted};
use crate::render::json::status::{StatusRecord, WasRecord};
use crate::render::json::{RefRecord, line};
use crate::render::style::Symbols;
use crate::render::text::Text;
use crate::source::ClusterId;
use crate::status::{Assessment, Status};

/// Whether the states of two times are compared.
#[derive(Debug, Default)]
pub(super) enum TimeComparison {
    /// They are not.
    #[default]
    None,
    /// Nothing is printed of the earlier time. Its states are kept, for each cluster that could be read.
    Before(Vec<PastStates>),
    /// What differs from the earlier time is printed.
    Since(Vec<PastStates>),
}

/// The states of the objects of a cluster at a time in the past.
#[derive(Debug)]
pub(super) struct PastStates {
    /// The name of the cluster, if there are several.
    cluster: Option<Arc<str>>,
    objects: BTreeMap<Uid, PastObject>,
    unread: UnreadKinds,
}

#[derive(Debug)]
struct PastObject {
    /// The place of its row.
    place: usize,
    object: Arc<ObjectRef>,
    assessment: Arc<Assessment>,
    is_idle: bool,
}

/// The states of a cluster at both times.
pub(super) struct ComparedStates<'a> {
    past: &'a PastStates,
    view: ClusterView<'a>,
    rows: Vec<StatusRow<'a>>,
}

/// What became of an object.
enum Difference<'a> {
    /// It has another state.
    Changed(&'a StatusRow<'a>, &'a Assessment),
    /// It did not exist then.
    New(&'a StatusRow<'a>),
    /// It does not exist any more.
    Gone(&'a PastObject),
}

impl PastStates {
    /// The states of the objects of a cluster.
    pub(super) fn of(view: ClusterView<'_>) -> PastStates {
        let state = view.state;
        let rows = state.rows();
        let known = rows.iter().enumerate();
        let known = known.filter(|(_, row)| row.known.is_some());
        let objects = known.map(|(place, row)| {
            let past = PastObject {
                place,
                object: row.object.clone(),
                assessment: row.assessment.clone(),
                is_idle: is_idle(&rows, place),
            };
            (row.object.identity(), past)
        });
        PastStates {
            cluster: view.cluster.map(|cluster| cluster.name.into()),
            objects: objects.collect(),
            unread: UnreadKinds::of(&state.model),
        }
    }

    /// Whether they are the states of this context.
    pub(super) fn are_of(&self, context: &str) -> bool {
        self.cluster.as_ref().is_none_or(|name| **name == *context)
    }

    /// Whether an object with this type, namespace and name existed then.
    pub(super) fn has(&self, object: &ObjectRef) -> bool {
        let mut objects = self.objects.values();
        objects.any(|past| past.object.without_uid() == object.without_uid())
    }

    /// The differences, in the order of the rows, and then what is gone, in the order of the earlier rows. What was not read at one of the two times is not compared.
    fn differences<'a>(
        &'a self,
        state: &StatusState,
        rows: &'a [StatusRow<'a>],
        options: RowOptions,
    ) -> Vec<Difference<'a>> {
        let mut found = Vec::new();
        let there: BTreeSet<Uid> = rows.iter().map(|row| row.object.identity()).collect();
        for row in shown(rows, options) {
            match self.objects.get(&row.object.identity()) {
                Some(past) => {
                    let was = &past.assessment;
                    let is_same = row.assessment.is_like(was);
                    if !is_same && includes(options, [row.assessment, was]) {
                        found.push(Difference::Changed(row, was));
                    }
                }
                None if self.unread.has(&row.object) => {}
                None if includes(options, [row.assessment]) => found.push(Difference::New(row)),
                None => {}
            }
        }
        let unread = UnreadKinds::of(&state.model);
        let gone = self.objects.iter().filter(|(uid, past)| {
            let is_left_out = past.is_idle && options.idle == Idle::Counted;
            !there.contains(*uid) && !unread.has(&past.object) && !is_left_out
        });
        let gone = gone.filter(|(_, past)| includes(options, [&past.assessment]));
        let mut gone: Vec<&PastObject> = gone.map(|(_, past)| past).collect();
        gone.sort_by_key(|past| past.place);
        found.extend(gone.into_iter().map(Difference::Gone));
        found
    }
}

impl<'a> ComparedStates<'a> {
    /// A cluster now, and at the earlier time.
    pub(super) fn new(view: ClusterView<'a>, past: &'a PastStates) -> ComparedStates<'a> {
        let rows = view.state.rows();
        ComparedStates { past, view, rows }
    }

    /// A line for each difference, and one that counts them. With several clusters, each line begins with its cluster, and the
    /// worst states come first.
    pub(super) fn lines(
        all: &[ComparedStates<'_>],
        options: RowOptions,
        symbols: &Symbols,
    ) -> Vec<Text> {
        let rows: Vec<&StatusRow<'_>> = all.iter().flat_map(|it| &it.rows).collect();
        let has_namespaces = are_spread(&rows);
        let labels = all.iter().filter_map(ComparedStates::label);
        let width = labels.map(|label| Text::from(label).width()).max();
        let (mut lines, mut objects, mut idle) = (Vec::new(), 0, 0);
        let with_idle = RowOptions {
            idle: Idle::Shown,
            ..options
        };
        for compared in all {
            let differences = compared.differences(options);
            objects += shown(&compared.rows, options).count();
            idle += compared.differences(with_idle).len() - differences.len();
            for difference in &differences {
                let is_gone = matches!(difference, Difference::Gone(_));
                objects += usize::from(is_gone);
                let (object, status, text) = difference.text();
                let namespace = object.namespace.as_ref().filter(|_| has_namespaces);
                let namespace = namespace.map(|name| format!(" -n {name}"));
                let namespace = namespace.unwrap_or_default();
                let text = format!(" {object}{namespace}  {text}");
                let line = compared.lead(width) + (Text::symbol(status, symbols) + text);
                lines.push((is_gone, Rank::of(status, false), line));
            }
        }
        if width.is_some() {
            lines.sort_by_key(|(is_gone, rank, _)| (*is_gone, *rank));
        }
        let number = lines.len();
        let mut lines: Vec<Text> = lines.into_iter().map(|(_, _, line)| line).collect();
        let all = counted(objects, "object", "objects");
        match number {
            _ if objects == 0 => {}
            0 => lines.push(format!("{all}, all in the same state").into()),
            number => lines.push(format!("{number} of {all} in another state").into()),
        }
        if idle > 0 {
            let idle = counted(idle, "idle replicaset", "idle replicasets");
            lines.push(Text::dim(format!(
                "+ {idle} in another state (--show-idle)"
            )));
        }
        lines
    }

    /// A record for each difference.
    pub(super) fn records(&self, options: RowOptions, now: Timestamp) -> Vec<Text> {
        let cluster = self.view.state.requested().first();
        let cluster = cluster.map(|key| key.cluster.clone());
        let cluster = cluster.unwrap_or_else(|| ClusterId("".into()));
        let gone = Assessment::not_found();
        let differences = self.differences(options).into_iter();
        let records = differences.map(|difference| {
            let (record, was) = match difference {
                Difference::Changed(row, was) => (row.record(&cluster.0, now), Some(was)),
                Difference::New(row) => (row.record(&cluster.0, now), None),
                Difference::Gone(past) => {
                    let record = StatusRecord::new(
                        RefRecord::new(cluster.0.clone(), &past.object),
                        &gone,
                        now,
                    );
                    (record, Some(&*past.assessment))
                }
            };
            let was = Some(was.map(WasRecord::of));
            line(&StatusRecord { was, ..record }).into()
        });
        records.collect()
    }

    fn differences(&self, options: RowOptions) -> Vec<Difference<'_>> {
        self.past.differences(self.view.state, &self.rows, options)
    }

    fn label(&self) -> Option<&'a str> {
        self.view.cluster.map(|cluster| cluster.label)
    }

    /// The name of the cluster in a column of this width; empty if there is only one.
    fn lead(&self, width: Option<usize>) -> Text {
        let Some((label, width)) = self.label().zip(width) else {
            return Text::default();
        };
        let label = Text::from(label);
        let room = (width + 1).saturating_sub(label.width());
        label + " ".repeat(room)
    }
}

/// The objects that a view shows.
fn shown<'a>(
    rows: &'a [StatusRow<'a>],
    options: RowOptions,
) -> impl Iterator<Item = &'a StatusRow<'a>> {
    let rows_by_place = rows.iter().enumerate();
    let shown = rows_by_place.filter(move |(place, row)| {
        let is_left_out = options.idle == Idle::Counted && is_idle(rows, *place);
        row.known.is_some() && !is_left_out
    });
    shown.map(|(_, row)| row)
}

/// Whether one of these states of an object is of interest.
fn includes<'a>(
    options: RowOptions,
    states: impl IntoIterator<Item = &'a Arc<Assessment>>,
) -> bool {
    let mut states = states.into_iter();
    options.health == HealthFilter::Any || states.any(|state| !state.is_well())
}

impl Difference<'_> {
    /// The object, its present state, and the words about it.
    fn text(&self) -> (&ObjectRef, Status, String) {
        match self {
            Difference::Changed(row, was) => {
                let text = row.assessment.transition_from(Some(was));
                (
                    &row.object,
                    row.assessment.status(),
                    text.unwrap_or_default(),
                )
            }
            Difference::New(row) => {
                let text = row.assessment.arrival();
                (&row.object, row.assessment.status(), text)
            }
            Difference::Gone(past) => {
                let text = format!("gone (was {})", past.assessment.summary());
                (&past.object, Status::NotFound, text)
            }
        }
    }
}

/// The kinds of which a source was not read.
#[derive(Debug, Default)]
struct UnreadKinds(BTreeSet<GroupKind>);

impl UnreadKinds {
    fn of(model: &Model) -> UnreadKinds {
        let coverage = model.coverage();
        let readings = coverage.sources().zip(coverage.readings());
        let unread = readings.filter(|(_, reading)| **reading != Reading::All);
        UnreadKinds(unread.map(|(key, _)| key.resource.group_kind()).collect())
    }

    fn has(&self, object: &ObjectRef) -> bool {
        self.0.contains(&object.group_kind())
    }
}
