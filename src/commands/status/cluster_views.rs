//! `ClusterViews`: the states that a view shows, one for each cluster. The rows of several are merged, worst first.

use jiff::{SignedDuration, Timestamp};

use super::blocks::blocks;
use super::options::HealthFilter;
use super::rows::{RowOrigin, StatusRow, StatusRows};
use super::sort_by::SortKey;
use super::state::StatusState;
use crate::model::Rank;
use crate::object::ObjectRef;
use crate::render::text::Text;
use crate::source::SourceKey;

/// The state of one cluster.
#[derive(Clone, Copy, Debug)]
pub(super) struct ClusterView<'a> {
    pub(super) state: &'a StatusState,
    /// The cluster, if there are several.
    pub(super) cluster: Option<ShownCluster<'a>>,
}

/// A cluster of several, as a view names it.
#[derive(Clone, Copy, Debug)]
pub(super) struct ShownCluster<'a> {
    /// The name of the context.
    pub(super) name: &'a str,
    /// Its short name.
    pub(super) label: &'a str,
    /// How far its clock is ahead of the clock of the view.
    pub(super) ahead: SignedDuration,
}

/// The states of all clusters, in the order of the request.
#[derive(Clone, Debug)]
pub(super) struct ClusterViews<'a> {
    all: Vec<ClusterView<'a>>,
}

impl<'a> From<&'a StatusState> for ClusterViews<'a> {
    fn from(state: &'a StatusState) -> ClusterViews<'a> {
        let cluster = None;
        ClusterViews {
            all: vec![ClusterView { state, cluster }],
        }
    }
}

impl<'a> FromIterator<ClusterView<'a>> for ClusterViews<'a> {
    fn from_iter<I: IntoIterator<Item = ClusterView<'a>>>(states: I) -> ClusterViews<'a> {
        ClusterViews {
            all: states.into_iter().collect(),
        }
    }
}

impl<'a> ClusterViews<'a> {
    pub(super) fn iter(&self) -> impl Iterator<Item = &'a StatusState> {
        self.all.iter().map(|shown| shown.state)
    }

    /// The requested sources of all clusters.
    pub(super) fn requested(&self) -> impl Iterator<Item = &'a SourceKey> {
        self.iter().flat_map(StatusState::requested)
    }

    /// Whether rows name their clusters.
    pub(super) fn are_of_several(&self) -> bool {
        self.all.iter().any(|shown| shown.cluster.is_some())
    }

    /// Whether every source has been read or cannot be read.
    pub(super) fn are_settled(&self) -> bool {
        self.iter().all(StatusState::is_settled)
    }

    /// When an object last changed.
    pub(super) fn last_change(&self) -> Option<Timestamp> {
        self.iter().filter_map(|state| state.last).max()
    }

    /// The rows of each cluster that a frame with `room` lines can show; all rows without a limit.
    pub(super) fn rows(&self, room: Option<usize>) -> Vec<StatusRows<'a>> {
        let rows = self.all.iter().map(|shown| {
            let mut rows = shown.state.rows_within(room);
            if let Some(cluster) = shown.cluster {
                let mut tree = 0;
                for (place, row) in rows.shown.iter_mut().enumerate() {
                    tree += usize::from(place > 0 && row.depth == 0);
                    row.origin = RowOrigin {
                        cluster: Some(cluster.label),
                        ahead: cluster.ahead,
                        tree,
                    };
                }
            }
            rows
        });
        rows.collect()
    }

    /// The rows of all clusters that are shown for their own sake, without those that only repeat others. The requested objects
    /// that are worst come first.
    pub(super) fn merged(&self, rows: Vec<StatusRows<'a>>, health: HealthFilter) -> StatusRows<'a> {
        let mut beyond = 0;
        let mut trees: Vec<(TreeKey<'a>, usize, Vec<StatusRow<'a>>)> = Vec::new();
        for (place, (rows, view)) in rows.into_iter().zip(&self.all).enumerate() {
            let roots = rows.shown.iter().filter(|row| row.depth == 0);
            let keys: Vec<TreeKey<'a>> = roots.map(|row| tree_key(row, view.state)).collect();
            let rows = blocks(health.select(rows), &view.state.model, health);
            beyond += rows.beyond;
            let is_one =
                |one: &StatusRow<'_>, other: &StatusRow<'_>| one.origin.tree == other.origin.tree;
            let by_tree = rows.shown.chunk_by(is_one);
            trees.extend(by_tree.filter_map(|tree| {
                let key = keys.get(tree.first()?.origin.tree)?;
                Some((key.clone(), place, tree.to_vec()))
            }));
        }
        trees.sort_by(|(one, at, _), (other, other_at, _)| {
            let by_field = one.field.compare(other.field);
            let by_place = || (&one.place, at).cmp(&(&other.place, other_at));
            by_field.then_with(by_place)
        });
        let shown = trees.into_iter().flat_map(|(_, _, tree)| tree);
        StatusRows {
            shown: shown.collect(),
            beyond,
        }
    }

    /// The lines about each cluster. Of several, each line begins with the name.
    pub(super) fn lines_about(&self, lines: impl Fn(&'a StatusState) -> Vec<Text>) -> Vec<Text> {
        let of_all = self.all.iter().flat_map(|shown| {
            let lead = shown.cluster.map(|cluster| format!("{}: ", cluster.name));
            let lead = Text::from(lead.unwrap_or_default());
            let lines = lines(shown.state).into_iter();
            lines.map(move |line| lead.clone() + line)
        });
        of_all.collect()
    }
}

/// The sort key of a requested object and what is below it.
#[derive(Clone, Debug)]
struct TreeKey<'a> {
    /// What it has in the field of `--sort-by`.
    field: &'a SortKey,
    place: RootOrder<'a>,
}

/// The place without `--sort-by`: objects that were requested by name come first, then the worst.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
struct RootOrder<'a> {
    is_listed: bool,
    rank: Rank,
    namespace: Option<&'a str>,
    requested: usize,
    /// The kind and the name of the object.
    object: (String, String),
}

fn tree_key<'a>(row: &StatusRow<'a>, state: &'a StatusState) -> TreeKey<'a> {
    let uid = row.object.identity();
    let root = state.root(&uid);
    let by_status = Rank::of(row.assessment.status(), false);
    let sorting = state.sorting.as_ref();
    let object: &ObjectRef = &row.object;
    TreeKey {
        field: sorting.map_or(&SortKey::NONE, |sorting| sorting.key(&uid)),
        place: RootOrder {
            is_listed: !row.is_named,
            rank: match root {
                Some(root) if !row.is_named => root.place.rank,
                Some(_) | None => by_status,
            },
            namespace: root.and_then(|root| root.place.namespace.as_deref()),
            requested: root.map_or(usize::MAX, |root| root.place.requested),
            object: (object.kind.to_string(), object.name.to_string()),
        },
    }
}
