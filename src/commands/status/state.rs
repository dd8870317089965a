//! `StatusState`: the requested objects, and the live model of them and their dependents.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use jiff::{SignedDuration, Timestamp};
use rustc_hash::FxHashSet;

use crate::commands::live::sources::named;
use crate::commands::{CommandError, FailureLogs, LastChanges, Need};
use crate::graph::Node;
use crate::model::{
    Absence, Collapsed, MemberGap, Model, Rank, Reading, Retention, Root, RootPlace,
};
use crate::object::{ObjectRef, PodCounts, Uid};
use crate::render::count::thousands;
use crate::render::text::Text;
use crate::source::{Event, SourceKey, Why};
use crate::status::Assessment;

use super::sort_by::{SortKey, Sorting};

/// How long the row of a deleted object stays.
pub(in crate::commands) const RETENTION: Retention = Retention::For(SignedDuration::from_secs(5));

/// The requested objects and their dependents.
#[derive(Debug)]
pub(in crate::commands) struct StatusState {
    pub(in crate::commands) model: Model,
    pub(super) recent: RecentChanges,
    /// When an object last changed. The first listing does not count.
    pub(in crate::commands) last: Option<Timestamp>,
    pub(super) not_found: Arc<Assessment>,
    pub(super) unread: Arc<Assessment>,
    pub(super) absent_members: AbsentMembers,
    /// The field that orders the requested objects; `None`: the worst come first.
    pub(super) sorting: Option<Sorting>,
    /// What changed before requested objects failed; `None` without a look-back.
    pub(super) last_changes: Option<LastChanges>,
    /// What failed containers printed last; `None` if no log is read.
    pub(in crate::commands) failure_logs: Option<FailureLogs>,
}

impl StatusState {
    /// The state before any event.
    pub(in crate::commands) fn new(model: Model, requested: Vec<SourceKey>) -> StatusState {
        let mut model = model;
        model.request(requested);
        StatusState {
            model,
            recent: RecentChanges::default(),
            last: None,
            not_found: Arc::new(Assessment::not_found()),
            unread: Arc::new(Assessment::unread()),
            absent_members: AbsentMembers::default(),
            sorting: None,
            last_changes: None,
            failure_logs: None,
        }
    }

    /// The same state, which also looks up what changed before an object failed.
    pub(in crate::commands) fn looking_back(self, last_changes: LastChanges) -> StatusState {
        StatusState {
            last_changes: Some(last_changes),
            ..self
        }
    }

    /// Looks up what changed before requested objects failed. Returns whether look-ups are on their way.
    pub(in crate::commands) fn look_back(&mut self, now: Timestamp) -> bool {
        let Some(last_changes) = &mut self.last_changes else {
            return false;
        };
        // A change of a dependent is its owner's, or its controller's. What a custom resource owns may have changes of its own.
        let graph = self.model.graph();
        let roots = self.model.roots();
        let is_named = |uid: &Uid| roots.get(uid).is_some_and(Root::is_named);
        let is_well = |uid: &Uid| {
            let object = self.model.object(uid);
            object.is_some_and(|object| object.assessment.is_well())
        };
        let objects = roots.named_or_unwell();
        let is_free = |uid: &Uid| graph.owners(uid).all(Node::is_custom);
        let objects = objects.filter(|uid| is_named(uid) || is_free(uid));
        let is_listed = |uid: &Uid| roots.get(uid).is_some_and(|root| !root.is_named());
        let sets = graph.of_kind("DaemonSet").map(|set| set.uid.clone());
        let objects = objects.chain(sets.filter(|uid| is_listed(uid) && is_well(uid)));
        last_changes.look_up(&self.model, objects, now);
        last_changes.is_busy()
    }

    /// Reads what the failed containers of the requested objects printed last. Returns whether requests are on their way.
    pub(in crate::commands) fn read_logs(&mut self) -> bool {
        let Some(failure_logs) = &mut self.failure_logs else {
            return false;
        };
        failure_logs.look_up(&self.model, self.model.roots().named_or_unwell());
        failure_logs.is_busy()
    }

    /// Waits for the result of a look-up. The caller may drop the future at any point.
    pub(in crate::commands) async fn wait_for_lookups(&mut self) {
        let StatusState {
            last_changes,
            failure_logs,
            ..
        } = self;
        let changes = async {
            match last_changes {
                Some(last_changes) => last_changes.next().await,
                None => std::future::pending().await,
            }
        };
        let lines = async {
            match failure_logs {
                Some(failure_logs) => failure_logs.next().await,
                None => std::future::pending().await,
            }
        };
        tokio::select! {
            () = changes => {}
            () = lines => {}
        }
    }

    /// Gives up all look-ups. Returns whether there were any.
    pub(in crate::commands) fn give_up_lookups(&mut self) -> bool {
        let last_changes = self.last_changes.as_mut();
        let failure_logs = self.failure_logs.as_mut();
        let has_changes = last_changes.is_some_and(LastChanges::give_up);
        failure_logs.is_some_and(FailureLogs::give_up) | has_changes
    }

    /// Applies the changes since the last call, and the results of look-ups. Returns whether anything has changed.
    pub(in crate::commands) fn take_news(&mut self, now: Timestamp) -> bool {
        self.refresh(now) | self.take_look_ups()
    }

    /// Takes the results of look-ups. Returns whether there are any.
    pub(in crate::commands) fn take_look_ups(&mut self) -> bool {
        let last_changes = self.last_changes.as_mut();
        let has_changes = last_changes.is_some_and(LastChanges::take_news);
        let failure_logs = self.failure_logs.as_mut();
        failure_logs.is_some_and(FailureLogs::take_news) | has_changes
    }

    /// How much the states depend on a source.
    pub(in crate::commands) fn need_of(&self, key: &SourceKey) -> Need {
        let plan = self.model.judgement();
        match () {
            () if self.model.searches(key) => Need::Spare,
            () if plan.decides(key) => Need::Decisive,
            () if plan.contains(key) => Need::Useful,
            () if self.requested().contains(key) => Need::Vital,
            // The dependents of what is requested.
            () => Need::Decisive,
        }
    }

    /// The error if objects exist and none has the field to sort by.
    pub(super) fn sort_error(&self) -> Option<CommandError> {
        self.sorting.as_ref()?.error(&self.model)
    }

    /// Applies one event.
    pub(in crate::commands) fn apply(
        &mut self,
        source: &Arc<SourceKey>,
        event: &Event,
        now: Timestamp,
    ) {
        self.model.apply(source, event, now);
        if let Event::Object { why, seen, .. } = event
            && *why != Why::Listed
        {
            self.last = Some(*seen);
        }
    }

    /// Applies the changes since the last call. Returns whether anything has changed.
    pub(in crate::commands) fn refresh(&mut self, now: Timestamp) -> bool {
        let touched = self.model.step(now, &[]);
        let roots = self.model.roots();
        if let Some(sorting) = &mut self.sorting {
            let roots = touched.iter().filter(|uid| roots.get(uid).is_some());
            sorting.update(roots, &self.model);
        }
        let is_news = |uid: &&Uid| {
            let object = self.model.object(uid);
            object.is_some_and(|object| object.changed == Some(now))
        };
        let news = touched.iter().filter(is_news).cloned();
        self.recent.add(news, now);
        !touched.is_empty()
    }
}

impl StatusState {
    /// The requested sources.
    pub(in crate::commands) fn requested(&self) -> &[SourceKey] {
        self.model.requested()
    }

    /// The requested objects that have been there.
    pub(super) fn roots(&self) -> impl Iterator<Item = (&Uid, &Root)> {
        self.model.roots().iter()
    }

    /// The requested object with this uid; `None` if the object was not requested.
    pub(super) fn root(&self, uid: &Uid) -> Option<&Root> {
        self.model.roots().get(uid)
    }

    /// The objects whose dependents are hidden.
    pub(super) fn collapsed(&self) -> Collapsed {
        self.model.roots().collapsed
    }

    /// The progress of the rollout of an object; `None` for kinds without rollouts.
    pub(super) fn rollout(&self, uid: &Uid) -> Option<PodCounts> {
        let doc = self.model.doc(uid)?;
        let object = doc.root();
        let kind = object.str_at(&["kind"])?;
        let has_rollouts = matches!(&*kind, "DaemonSet" | "Deployment" | "StatefulSet");
        has_rollouts.then(|| PodCounts::of(object))?
    }

    /// Whether every source has been read or cannot be read, and the search for dependents is over.
    pub(in crate::commands) fn is_settled(&self) -> bool {
        let model = &self.model;
        model.is_fresh() && model.coverage().is_settled() && model.is_searched()
    }

    /// Whether no objects of the requested types exist. One absent object that was requested by name does not
    /// show that its type has no objects.
    pub(super) fn is_empty(&self) -> bool {
        let is_read = |requested: &SourceKey| self.is_read(requested) && named(requested).is_none();
        self.model.objects().next().is_none() && self.requested().iter().all(is_read)
    }

    /// The objects that were requested by name and never existed, each with its index. Their sources have
    /// been read.
    pub(super) fn absent(&self) -> impl Iterator<Item = (usize, &SourceKey)> {
        let nameless = self.without_object();
        nameless.filter(|(_, requested)| self.is_read(requested))
    }

    /// The objects that were requested by name and have not appeared, each with its index.
    pub(super) fn without_object(&self) -> impl Iterator<Item = (usize, &SourceKey)> {
        let is_there = |index| self.roots().any(|(_, root)| root.place.requested == index);
        let requested = self.requested().iter().enumerate();
        requested.filter(move |(index, requested)| named(requested).is_some() && !is_there(*index))
    }

    /// Whether all requested sources are read, and all requested objects exist and are Current. An object that has left
    /// a source without a name does not count.
    pub(super) fn is_well(&self) -> bool {
        let is_well = |uid: &Uid, root: &Root| {
            self.model.object(uid).is_none_or(|object| {
                let is_over = object.departure.is_some() && !root.is_named();
                is_over || object.assessment.is_well()
            })
        };
        self.requested()
            .iter()
            .all(|requested| self.is_read(requested))
            && self.absent().next().is_none()
            && self.roots().all(|(uid, root)| is_well(uid, root))
    }

    /// Whether a source has been read.
    pub(super) fn is_read(&self, source: &SourceKey) -> bool {
        self.model.coverage().is_read(source)
    }
}

/// One assessment for each reason.
#[derive(Debug)]
pub(super) struct AbsentMembers {
    missing: Arc<Assessment>,
    refused: Arc<Assessment>,
    unserved: Arc<Assessment>,
    unread: Arc<Assessment>,
    beyond: Arc<Assessment>,
}

impl Default for AbsentMembers {
    fn default() -> AbsentMembers {
        let unread = |why| Arc::new(Assessment::unread_member(why));
        AbsentMembers {
            missing: Arc::new(Assessment::missing()),
            refused: unread(Absence::Refused.words()),
            unserved: unread(Absence::Unserved.words()),
            unread: unread(Absence::Unread.words()),
            beyond: unread("not read: too many members"),
        }
    }
}

impl AbsentMembers {
    /// The assessment of a member without an object, for this reason.
    pub(super) fn of(&self, why: MemberGap) -> &Arc<Assessment> {
        match why {
            MemberGap::Absent(Absence::Missing) => &self.missing,
            MemberGap::Absent(Absence::Refused) => &self.refused,
            MemberGap::Absent(Absence::Unserved) => &self.unserved,
            MemberGap::Absent(Absence::NotInFile | Absence::Unread) => &self.unread,
            MemberGap::Beyond => &self.beyond,
        }
    }
}

/// How long a changed object counts as recent.
pub(super) const RECENT: SignedDuration = SignedDuration::from_secs(10);

/// The objects that have changed lately.
#[derive(Debug, Default)]
pub(super) struct RecentChanges(BTreeSet<(Timestamp, Uid)>);

impl RecentChanges {
    /// The objects, the oldest change first.
    pub(super) fn uids(&self) -> impl Iterator<Item = &Uid> {
        self.0.iter().map(|(_, uid)| uid)
    }

    /// Adds objects that have changed now, and forgets the old ones.
    pub(super) fn add(&mut self, changed: impl Iterator<Item = Uid>, now: Timestamp) {
        self.0.extend(changed.map(|uid| (now, uid)));
        while let Some(oldest) = self.0.pop_first() {
            if now.duration_since(oldest.0) < RECENT {
                self.0.insert(oldest);
                break;
            }
        }
    }
}

/// The most objects that a line about rights names.
const MAX_NAMED: usize = 3;

/// `judged without pods, which you may not read: deployment/api, deployment/web`: which states the missing rights affect.
pub(super) fn judged_without(state: &StatusState) -> Vec<Text> {
    let by_type = state.judged_without().into_iter();
    let lines = by_type.map(|(of_type, objects)| {
        let names = objects.iter().take(MAX_NAMED);
        let names: Vec<String> = names.map(ToString::to_string).collect();
        let more = match objects.len().saturating_sub(MAX_NAMED) {
            0 => String::new(),
            more => format!(" and {} more", thousands(more)),
        };
        Text::dim(format!(
            "judged without {of_type}, which you may not read: {}{more}",
            names.join(", ")
        ))
    });
    lines.collect()
}

impl StatusState {
    /// The requested objects whose dependents may not be read, by the type of the dependents.
    fn judged_without(&self) -> BTreeMap<String, Vec<&ObjectRef>> {
        let mut by_type: BTreeMap<String, Vec<&ObjectRef>> = BTreeMap::new();
        let coverage = self.model.coverage();
        let readings = coverage.sources().zip(coverage.readings());
        let refused = readings.filter(|(_, reading)| **reading == Reading::Refused);
        let refused: BTreeSet<String> = refused
            .map(|(key, _)| key.resource.group_resource())
            .collect();
        for of_type in refused {
            let is_other = |key: &SourceKey| {
                coverage.reading(key) != Some(&Reading::Refused)
                    || key.resource.group_resource() != of_type
            };
            let owners = self
                .model
                .owners_of_sources(self.model.roots().iter().map(|(uid, _)| uid), is_other);
            let places = self
                .model
                .roots()
                .in_order()
                .map(|place| place.object.identity());
            let owners = places.filter(|uid| owners.contains(uid));
            let objects = owners.filter_map(|uid| self.model.object(&uid));
            let objects: Vec<&ObjectRef> = objects.map(|object| &*object.object).collect();
            if !objects.is_empty() {
                by_type.insert(of_type, objects);
            }
        }
        by_type
    }
}

/// A requested object.
pub(super) enum RequestedObject<'a> {
    /// An object that has been seen.
    There(Uid),
    /// The name of an object that has not been seen, and the source that selects it.
    Absent(&'a SourceKey, Arc<ObjectRef>),
}

/// The requested objects that have rows.
pub(super) struct RootSelection<'a> {
    /// In the order of their rows.
    pub(super) shown: Vec<RequestedObject<'a>>,
    /// The number of the others.
    pub(super) beyond: usize,
}

impl StatusState {
    /// The requested objects. Those that were requested by name come first, then the others, the worst first. With
    /// `--sort-by`, a field decides the order. `room` limits the Current objects, and keeps the recently changed ones. An
    /// object below another requested object comes last, because it already has a row below that one.
    pub(super) fn select_roots(&self, room: Option<usize>) -> RootSelection<'_> {
        let graph = self.model.graph();
        let places = self.places_within(room);
        let uids: Vec<Uid> = places.iter().map(|place| place.object.identity()).collect();
        // The objects of most long lists own nothing.
        let tops = graph.has_dependents().then(|| graph.tops(&uids));
        let tops: Option<FxHashSet<&Uid>> = tops.map(|tops| tops.into_iter().collect());
        let is_below = |uid: &Uid| tops.as_ref().is_some_and(|tops| !tops.contains(uid));
        let mut absent = self.absent_places().into_iter().peekable();
        let (mut shown, mut last) = (Vec::new(), Vec::new());
        let beyond = self.model.roots().count() - places.len();
        for (place, uid) in places.into_iter().zip(&uids) {
            while let Some((_, object)) = absent.next_if(|(absent, _)| absent < place) {
                shown.push(object);
            }
            if is_below(uid) {
                last.push(RequestedObject::There(uid.clone()));
            } else {
                shown.push(RequestedObject::There(uid.clone()));
            }
        }
        shown.extend(absent.map(|(_, object)| object));
        if let Some(sorting) = &self.sorting {
            let key = |object: &RequestedObject<'_>| match object {
                RequestedObject::There(uid) => sorting.key(uid),
                RequestedObject::Absent(..) => &SortKey::NONE,
            };
            shown.sort_by(|one, other| key(one).compare(key(other)));
        }
        shown.extend(last);
        RootSelection { shown, beyond }
    }

    /// The objects that were requested by name and have not been seen, in their order.
    fn absent_places(&self) -> Vec<(RootPlace, RequestedObject<'_>)> {
        let named = self.without_object().filter_map(|(requested, source)| {
            let object = source.named_object()?;
            let object = Arc::new(object);
            let place = RootPlace {
                rank: Rank::Named,
                namespace: None,
                requested,
                object: object.clone(),
            };
            Some((place, RequestedObject::Absent(source, object)))
        });
        let mut absent: Vec<_> = named.collect();
        absent.sort_by(|(place, _), (other, _)| place.cmp(other));
        absent
    }

    /// The places of the seen objects, in their order. With `room`, of the Current ones only that many of the recently
    /// changed, and as many of all.
    fn places_within(&self, room: Option<usize>) -> Vec<&RootPlace> {
        let places = self.model.roots().in_order();
        let Some(room) = room else {
            return places.collect();
        };
        let mut current = 0;
        let is_within = |place: &&RootPlace| {
            current += usize::from(place.rank == Rank::Well);
            current <= room
        };
        let mut shown: BTreeSet<&RootPlace> = places.take_while(is_within).collect();
        let recent = self.recent.uids();
        let recent = recent.filter_map(|uid| self.model.roots().place(uid));
        let recent: BTreeSet<&RootPlace> = recent.collect();
        shown.extend(recent.into_iter().take(room));
        shown.into_iter().collect()
    }
}
