//! Blocks: one for each cause. Of the objects that are not well, some only repeat the problem of another one. A short screen
//! shows them last, and `--unhealthy` counts them in the row of that one.

use std::collections::{BTreeMap, HashMap, HashSet};

use super::options::HealthFilter;
use super::rows::{HiddenObject, Repetition, StatusRow, StatusRows};
use crate::commands::LastLines;
use crate::graph::Node;
use crate::model::{Model, repeated};
use crate::object::Uid;

/// How far up the owners of an object are looked for. They may be a circle.
const MAX_OWNERS: usize = 8;

/// Marks the rows that only repeat others. Of the unhealthy ones alone, these are left out and counted.
pub(super) fn blocks<'a>(
    rows: StatusRows<'a>,
    model: &Model,
    health: HealthFilter,
) -> StatusRows<'a> {
    let fates = Fates::of(&rows.shown, model).collect();
    match health {
        HealthFilter::Any => mark(rows, &fates),
        HealthFilter::Unhealthy => leave_out(rows, &fates),
    }
}

/// What becomes of a row.
#[derive(Clone, Debug, PartialEq, Eq)]
enum Fate {
    Shown,
    /// It says nothing that the row above it does not say.
    Silent,
    /// The row at this place is of another Pod of the same owner, and has the same causes.
    Alike(usize),
    /// It only repeats the problem of the row at this place, which is the first of its tree.
    Repeats(usize),
}

fn mark<'a>(mut rows: StatusRows<'a>, fates: &[Fate]) -> StatusRows<'a> {
    for (row, fate) in rows.shown.iter_mut().zip(fates) {
        // The outline counts the rows with the same lines in the first of them.
        let is_merged = matches!(fate, Fate::Alike(_)) && row.assessment.lines().next().is_some();
        let is_shown = *fate == Fate::Shown || is_merged;
        row.repetition.is_repeating = !is_shown && !row.assessment.is_well();
    }
    rows
}

fn leave_out<'a>(rows: StatusRows<'a>, fates: &[Fate]) -> StatusRows<'a> {
    let tops = tops(&rows.shown);
    let mut counted: BTreeMap<usize, Repetition> = BTreeMap::new();
    let mut quotes: BTreeMap<usize, &'a [LastLines]> = BTreeMap::new();
    for (place, (row, fate)) in rows.shown.iter().zip(fates).enumerate() {
        let (at, is_below) = match fate {
            _ if row.assessment.is_well() => continue,
            Fate::Shown => continue,
            Fate::Alike(first) if row.assessment.lines().next().is_some() => {
                counted.entry(*first).or_default().alike += 1;
                if !row.last_lines.is_empty() {
                    quotes.entry(*first).or_insert(row.last_lines);
                }
                continue;
            }
            Fate::Silent | Fate::Alike(_) => (tops[place], true),
            Fate::Repeats(head) => (*head, false),
        };
        let object = row.object.clone();
        let left_out = HiddenObject { object, is_below };
        counted.entry(at).or_default().left_out.push(left_out);
    }
    let mut shown = Vec::new();
    // The depths of the rows above the next one that are left out.
    let mut gaps: Vec<usize> = Vec::new();
    for (place, (mut row, fate)) in rows.shown.into_iter().zip(fates).enumerate() {
        gaps.retain(|gap| *gap < row.depth);
        if *fate != Fate::Shown {
            gaps.push(row.depth);
            continue;
        }
        row.depth -= gaps.len();
        row.repetition = counted.remove(&place).unwrap_or_default();
        if row.last_lines.is_empty() {
            row.last_lines = quotes.remove(&place).unwrap_or_default();
        }
        shown.push(row);
    }
    shown.into()
}

/// The place of the first row of the tree of each row.
fn tops(rows: &[StatusRow<'_>]) -> Vec<usize> {
    let mut top = 0;
    let top_of = |(place, row): (usize, &StatusRow<'_>)| {
        if row.depth == 0 {
            top = place;
        }
        top
    };
    rows.iter().enumerate().map(top_of).collect()
}

/// The owner, the word and the lines of a Pod.
type Said<'r> = (&'r Uid, &'r str, Vec<&'r str>);

/// Decides what becomes of each row.
struct Fates<'r, 'a> {
    rows: &'r [StatusRow<'a>],
    model: &'r Model,
    tops: Vec<usize>,
    /// The places of the rows that are not well.
    places: HashMap<Uid, usize>,
    /// The first rows of the trees that say why an object is not well; `None` if its own does.
    heads: HashMap<Uid, Option<usize>>,
    /// The objects whose heads are being looked for.
    open: HashSet<Uid>,
}

impl<'r, 'a> Fates<'r, 'a> {
    fn of(rows: &'r [StatusRow<'a>], model: &'r Model) -> Fates<'r, 'a> {
        let unwell = rows.iter().enumerate();
        let unwell = unwell.filter(|(_, row)| !row.assessment.is_well());
        Fates {
            rows,
            model,
            tops: tops(rows),
            places: unwell
                .map(|(place, row)| (row.object.identity(), place))
                .collect(),
            heads: HashMap::new(),
            open: HashSet::new(),
        }
    }

    fn collect(mut self) -> Vec<Fate> {
        let places = 0..self.rows.len();
        let heads = places.map(|place| {
            let row = &self.rows[place];
            let is_unwell = !row.assessment.is_well();
            let head = is_unwell.then(|| row.object.identity());
            let head = head.and_then(|uid| self.head(&uid));
            head.filter(|head| *head != self.tops[place])
        });
        let heads: Vec<Option<usize>> = heads.collect();
        let is_whole = self.whole_trees(&heads);
        let mut alike: HashMap<Said<'_>, usize> = HashMap::new();
        let places = self.rows.iter().enumerate();
        let fate = places.map(|(place, row)| {
            let top = self.tops[place];
            match (heads[top], heads[place]) {
                (Some(head), _) if is_whole[top] => Fate::Repeats(head),
                _ if !self.is_free(place) => Fate::Shown,
                (_, Some(head)) if self.is_leaf(place) => Fate::Repeats(head),
                _ if self.is_silent(place) => Fate::Silent,
                _ if !self.is_leaf(place) => Fate::Shown,
                _ => {
                    let lines = row.assessment.lines().collect();
                    let word = row.assessment.row.word.as_str();
                    let owner = row.node.and_then(Node::pod_owner);
                    let said = owner.map(|owner| (owner, word, lines));
                    let first = said.map(|said| *alike.entry(said).or_insert(place));
                    let first = first.filter(|first| *first != place);
                    first.map_or(Fate::Shown, Fate::Alike)
                }
            }
        });
        fate.collect()
    }

    /// Which trees, by the places of their first rows, may be left out as a whole: those in which no row has something of its
    /// own to say.
    fn whole_trees(&self, heads: &[Option<usize>]) -> Vec<bool> {
        let mut is_whole = vec![true; self.rows.len()];
        for (place, row) in self.rows.iter().enumerate() {
            let has_head = row.assessment.is_well() || heads[place].is_some();
            let is_mute = has_head || says_nothing_below(row, []);
            if !is_mute || row.is_named || !row.last_changes.is_empty() {
                is_whole[self.tops[place]] = false;
            }
        }
        is_whole
    }

    /// Whether a row below another one may be left out: its object is not well, and neither named nor changed.
    fn is_free(&self, place: usize) -> bool {
        let row = &self.rows[place];
        let is_of_interest = row.is_named || !row.last_changes.is_empty();
        row.depth > 0 && !is_of_interest && !row.assessment.is_well()
    }

    /// Whether no row is below this one.
    fn is_leaf(&self, place: usize) -> bool {
        let next = self.rows.get(place + 1);
        next.is_none_or(|next| next.depth <= self.rows[place].depth)
    }

    /// Whether a row above this one is not well and says all that this one says.
    fn is_silent(&self, place: usize) -> bool {
        let says_nothing = says_nothing_below(&self.rows[place], self.above(place));
        says_nothing && self.above(place).any(|row| !row.assessment.is_well())
    }

    /// The rows above this one, the nearest first.
    fn above(&self, place: usize) -> impl Iterator<Item = &'r StatusRow<'a>> {
        let rows = &self.rows[self.tops[place]..place];
        let mut depth = self.rows[place].depth;
        rows.iter().rev().filter(move |row| {
            let is_above = row.depth < depth;
            depth = depth.min(row.depth);
            is_above
        })
    }

    /// The first row of the tree that says why an object is not well, if that is another tree.
    fn head(&mut self, uid: &Uid) -> Option<usize> {
        if let Some(known) = self.heads.get(uid) {
            return *known;
        }
        if !self.open.insert(uid.clone()) {
            return None;
        }
        let head = self.find_head(uid);
        self.open.remove(uid);
        self.heads.insert(uid.clone(), head);
        head
    }

    /// The place of an object, or of the nearest owner that has a row.
    fn place(&self, uid: &Uid) -> Option<usize> {
        let above = |uid: &Uid| {
            self.model
                .graph()
                .owners(uid)
                .next()
                .map(|owner| &owner.uid)
        };
        let mut up = std::iter::successors(Some(uid), |uid| above(uid)).take(MAX_OWNERS);
        up.find_map(|uid| self.places.get(uid).copied())
    }

    fn find_head(&mut self, uid: &Uid) -> Option<usize> {
        let own = self.places.get(uid).map(|place| self.tops[*place]);
        let mut head = None;
        for origin in repeated(self.model.around(), uid) {
            let top = self.tops[self.place(&origin)?];
            let elsewhere = self.head(&origin);
            let found = elsewhere.or_else(|| (Some(top) != own).then_some(top))?;
            head.get_or_insert(found);
        }
        // The tree of another object may itself repeat a third one.
        let top = self.rows[head?].object.identity();
        self.head(&top).or(head)
    }
}

/// Whether the cells of a row say no more than the symbol of its state, and each of its lines is one of a row above.
fn says_nothing_below<'r, 'a: 'r>(
    row: &StatusRow<'_>,
    above: impl IntoIterator<Item = &'r StatusRow<'a>>,
) -> bool {
    let assessment = row.assessment;
    let said = above.into_iter().flat_map(|row| row.assessment.lines());
    let said: HashSet<&str> = said.collect();
    let is_bare = assessment.row.word == assessment.status().as_str();
    is_bare && assessment.lines().all(|line| said.contains(line))
}
