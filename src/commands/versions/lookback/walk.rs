//! `Walker`: the look-back of one source.

use std::collections::{BTreeMap, HashSet};
use std::sync::Arc;

use futures::{StreamExt, stream};
use jiff::Timestamp;
use tokio::sync::OnceCell;

use super::progress::LookBackProgress;
use super::reach::{PATIENCE, Reach};
use super::source_past::{
    CompactedWrite, DatedRevision, PastVersion, RecordedSpan, SourcePast, WriteTimes,
};
use super::stop_rule::{Interrupt, StopRule};
use crate::commands::versions::compared::ShownVersions;
use crate::commands::versions::read_versions::DocCache;
use crate::object::{NamespacedName, ObjectRef, ResourceVersion, Value, newest_time};
use crate::source::{Version, Why};
use crate::watch::{
    Between, Changed, Dates, End, History, Missing, ObjectsAt, PastEvent, Presence, Revision,
    Storage, Walk, WalkLimits, in_order, is_surely_before,
};

/// How many objects it walks at once.
const AT_ONCE: usize = 8;

/// The state of a source at the start of its look-back.
pub(crate) enum LookBackStart {
    /// The named object exists, in this version.
    Version(Arc<Version>),
    /// The listing has this version and these objects.
    Listing(ResourceVersion, Vec<Arc<Version>>),
}

/// The look-back of one source.
pub(super) struct Walker {
    pub(super) history: History,
    pub(super) dates: Option<Arc<Dates>>,
    /// How far back it reads. Its time is by the server's clock.
    pub(super) reach: Reach,
    pub(super) shown: Arc<ShownVersions>,
    pub(super) interrupt: Interrupt,
    /// The progress of all walks of the run.
    pub(super) progress: Arc<LookBackProgress>,
    /// Whether `dates` apply to this source, if already known.
    pub(super) is_dated: OnceCell<bool>,
    /// A source of each resource of the run. Their revisions may not be comparable.
    pub(super) run: Arc<[History]>,
}

/// The result of a walk, the oldest event first.
#[derive(Default)]
struct Walked {
    events: Vec<PastEvent>,
    written: WriteTimes,
    end: Option<End>,
    /// After this revision, no earlier object with this name can be missing.
    sure: Option<Revision>,
}

impl Walker {
    pub(super) async fn run(mut self, start: LookBackStart) -> SourcePast {
        let mut found = SourcePast::new(self.history.key().clone());
        let elsewhere = self.interrupt.unless_stopped(self.elsewhere()).await;
        self.reach = elsewhere.unwrap_or(self.reach);
        let walked = match start {
            LookBackStart::Version(version) => self.before(version, &mut found).await,
            LookBackStart::Listing(version, objects) => {
                self.from(&version, objects, &mut found).await
            }
        };
        if let Err(end) = walked {
            found = found.refused(end);
        }
        found.storage = self.storage().await;
        found.recorded = self.recorded().await;
        if self.interrupt.has_cut() {
            return found.cut();
        }
        found
    }

    async fn before(&mut self, version: Arc<Version>, found: &mut SourcePast) -> Result<(), End> {
        if Revision::parse(&version.version).is_some_and(|own| self.reach.revision > own) {
            let newest = self.history.newest();
            if let Some(Ok(newest)) = self.interrupt.unless_stopped(newest).await {
                self.check_begin(newest)?;
            }
        }
        self.begin_recorded().await;
        let walk = self.history.before(&version, self.limits());
        let walk = walk.ok_or_else(unversioned)?;
        let walked = self.back(Some(version), walk.beside_watch_cache()).await;
        self.named(walked, found).await;
        Ok(())
    }

    async fn from(
        &mut self,
        version: &ResourceVersion,
        objects: Vec<Arc<Version>>,
        found: &mut SourcePast,
    ) -> Result<(), End> {
        let newest = Revision::parse(version).ok_or_else(unversioned)?;
        self.check_begin(newest)?;
        self.begin(newest).await;
        let Some(object) = self.history.key().named_object() else {
            let at = newest;
            return self.wide(ObjectsAt { at, objects }, found).await;
        };
        let walk = self.history.absent(&object, newest, self.limits());
        let walked = self.back(None, walk.beside_watch_cache()).await;
        self.named(walked, found).await;
        Ok(())
    }

    /// Fails if the window begins after the newest revision. A list of its beginning would wait for it, and nothing is complete
    /// since then.
    fn check_begin(&self, newest: Revision) -> Result<(), End> {
        if self.reach.revision > newest {
            let cause = format!("the newest resourceVersion is {newest}");
            return Err(End::NotOffered(cause.into()));
        }
        Ok(())
    }

    /// Finds the revision at the start of the window, if Lease renewals date it.
    async fn begin(&mut self, newest: Revision) {
        let Some(time) = self.reach.time else { return };
        if self.begin_recorded().await {
            return;
        }
        let find = async { self.dates().await?.before(time, newest).await };
        if let Some(before) = self.interrupt.unless_stopped(find).await.flatten() {
            self.reach.revision = before;
        }
    }

    /// Finds that revision in the record: a window of days must not read months. Returns whether it is recorded.
    async fn begin_recorded(&mut self) -> bool {
        let Some((time, recorded)) = self.reach.time.zip(self.history.recorded()) else {
            return false;
        };
        let begin = recorded.before(self.history.key(), time).await;
        begin.map(|begin| self.reach.revision = begin).is_some()
    }

    async fn named(&self, walked: Walked, found: &mut SourcePast) {
        let (versions, left_out) = self.settle(walked.events, &walked.written).await;
        let from = match walked.end {
            Some(End::Forgotten(at)) => Some(at),
            Some(End::Limit) if self.is_bounded() => Some(self.reach.revision),
            Some(End::Spent | End::OutOfTime(_)) => None,
            _ => {
                let oldest = versions.first().and_then(|version| version.event.at);
                oldest.or(walked
                    .sure
                    .filter(|sure| *sure == WalkLimits::default().floor))
            }
        };
        let is_cut = matches!(walked.end, Some(End::Spent | End::OutOfTime(_)));
        let sure = walked.sure.filter(|_| !is_cut);
        let complete = sure.map(|sure| from.map_or(sure, |from| sure.max(from)));
        found.from = from.map(DatedRevision::undated);
        found.complete = complete.map(DatedRevision::undated);
        if matches!(walked.end, Some(End::Forgotten(_))) {
            let first = versions.first().filter(|first| is_first_known(first));
            let compacted = first.and_then(|first| self.compacted(&first.event.now));
            found.compacted.extend(compacted);
        }
        (found.versions, found.end) = (versions, walked.end);
        if found.refusal().is_some() {
            found.complete = None;
        }
        self.date_bounds(found, left_out).await;
    }

    /// Finds the changed objects, and walks back the versions that the watch cache no longer has.
    async fn wide(&self, now: ObjectsAt, found: &mut SourcePast) -> Result<(), End> {
        let (floor, listed, newest) = (self.reach.revision, now.objects.clone(), now.at);
        let compare = self.history.compare(now, floor);
        let Some(compared) = self.interrupt.unless_stopped(compare).await else {
            return Ok(());
        };
        let compared = compared?;
        found.missing = compared.missing;
        let mut walked = WalkedObjects::after(compared.then);
        self.walk(compared.changed, &mut walked, found).await?;
        // What existed when the window begins belongs to it, whatever there was at `then`.
        let (mut told, upto) = (compared.then, compared.complete.unwrap_or(newest));
        while let Some(begin) = walked.left_out.filter(|left_out| *left_out > told)
            && begin < upto
        {
            let known = known_since(&listed, &found.versions);
            let ended = self.history.ended(begin, upto, &known);
            let Some(ended) = self.interrupt.unless_stopped(ended).await else {
                return Ok(());
            };
            let (oldest, walks) = ended?;
            if oldest > begin {
                walked.then = walked.then.max(oldest);
            }
            told = oldest;
            let ended = walks.into_iter().map(Changed::ended).collect();
            self.walk(ended, &mut walked, found).await?;
        }
        let then = walked.then;
        found.objects = Some(listed.len());
        if then > floor {
            found.compacted = self.compacted_writes(&found.versions, &listed);
        }
        found.from = Some(DatedRevision::undated(then));
        let is_whole = found.missing.is_empty() && walked.short.is_none();
        let complete = compared.complete.filter(|_| is_whole);
        found.complete = complete.map(|complete| DatedRevision::undated(complete.max(then)));
        found.end = walked.short.or(Some(if then > floor {
            End::Forgotten(then)
        } else {
            End::Limit
        }));
        self.date_bounds(found, walked.left_out).await;
        Ok(())
    }

    /// Walks objects back, and adds what it finds.
    async fn walk(
        &self,
        changed: Vec<Changed>,
        walked: &mut WalkedObjects,
        found: &mut SourcePast,
    ) -> Result<(), End> {
        self.progress.expect(changed.len());
        let walks = changed.into_iter().map(|changed| self.changed(changed));
        let walks: Vec<_> = walks.collect();
        let mut walks = stream::iter(walks).buffered(AT_ONCE);
        while let Some(object) = walks.next().await {
            self.progress.done();
            found.versions.extend(object.versions);
            walked.left_out = walked.left_out.max(object.left_out);
            match object.end {
                // The server can compact versions during the walk.
                Some(End::Forgotten(at)) => walked.then = walked.then.max(at),
                Some(End::Failed(cause)) => {
                    let object = object.name.ok_or_else(unversioned)?;
                    found.missing.push(Missing { object, cause });
                }
                Some(end @ End::NotOffered(_)) => return Err(end),
                Some(end @ (End::Spent | End::OutOfTime(_))) => walked.short = Some(end),
                Some(End::Limit) | None => {}
            }
        }
        drop(walks);
        found.versions.sort_by_key(|version| version.event.at);
        Ok(())
    }

    /// The versions of one object: first those of a walk, then those of the watch cache.
    async fn changed(&self, changed: Changed) -> ObjectPast {
        let mut name = None;
        let mut walked = Walked::default();
        if let Some((there, walk)) = changed.earlier {
            name = Some(walk.object.clone());
            walked = self.back(there, walk).await;
        }
        walked.events.extend(changed.later);
        let (versions, left_out) = self.settle(walked.events, &walked.written).await;
        ObjectPast {
            name,
            versions,
            left_out,
            end: walked.end,
        }
    }

    fn limits(&self) -> WalkLimits {
        WalkLimits {
            floor: self.reach.revision,
            requests: self.reach.requests,
            shared: None,
        }
    }

    /// From when on the source is recorded, and the holes; `None` if it is read from a server.
    async fn recorded(&self) -> Option<RecordedSpan> {
        let recorded = self.history.recorded()?;
        let key = self.history.key();
        let window = self.reach.time.unwrap_or(Timestamp::MIN);
        let holes = recorded.holes(key).await.into_iter();
        Some(RecordedSpan {
            begin: recorded.begin(key).await?,
            holes: holes.filter(|hole| hole.until > window).collect(),
        })
    }

    /// Whether a revision marks the start of the window.
    fn is_bounded(&self) -> bool {
        self.reach.revision > WalkLimits::default().floor
    }

    /// Why a walk did not end in time: the error of the requests that it repeats, if they fail.
    fn late(&self) -> End {
        let failed = self.history.trouble().map(End::Failed);
        failed.unwrap_or(End::OutOfTime(PATIENCE))
    }

    /// Walks back as far as the rule allows.
    async fn back(&self, there: Presence, mut walk: Walk) -> Walked {
        // If a revision marks the start of the window, a version with an older time must not end the walk.
        let since = self.reach.time.filter(|_| !self.is_bounded());
        let mut rule = StopRule::new(there.clone(), &self.shown, self.history.key());
        (rule.since, rule.limit) = (since, self.reach.shown);
        let (mut found, mut late) = (Vec::new(), None);
        while rule.goes_on() {
            let next = self.interrupt.in_time(walk.next()).await;
            late = next.is_none().then(|| self.late());
            match next.flatten() {
                Some(past) if rule.takes(&past) => found.push(past),
                Some(_) | None => break,
            }
        }
        Walked {
            events: in_order(there, found),
            written: rule.written,
            end: late.or_else(|| walk.end().cloned()),
            sure: walk.sure(),
        }
    }

    /// Completes events with their cause and time, and drops those that are too old. Returns the rest, and the revision
    /// of the newest one that it dropped.
    pub(super) async fn settle(
        &self,
        mut events: Vec<PastEvent>,
        known: &WriteTimes,
    ) -> (Vec<PastVersion>, Option<Revision>) {
        self.history.mark_holes(&mut events).await;
        let why = self.history.tell_matching(&mut events);
        self.interrupt.unless_stopped(why).await;
        let mut docs = DocCache::default();
        let mut versions = Vec::with_capacity(events.len());
        for event in events {
            let mut version = PastVersion::new(event, known, &mut docs);
            if let (None, Some(at), true) = (version.time(), version.event.at, version.is_change())
            {
                version.dated = self.date(at).await;
            }
            versions.push(version);
        }
        let since = self.reach.time;
        let left_out = since.and_then(|since| leave_out(&mut versions, since));
        (versions, left_out)
    }

    /// Dates the revisions from which versions are known. They are not older than the versions that were left out.
    async fn date_bounds(&self, found: &mut SourcePast, left_out: Option<Revision>) {
        for bound in [&mut found.from, &mut found.complete].into_iter().flatten() {
            if let Some(left_out) = left_out.filter(|left_out| *left_out >= bound.at) {
                // What was left out is older than the window.
                (bound.at, bound.dated) = (left_out, self.reach.time.map(exactly));
                continue;
            }
            let version =
                (found.versions.iter()).find(|version| version.event.at == Some(bound.at));
            // The default look-back spends its second on versions. Their times suffice, unless the server has no more.
            let is_dated = !self.reach.brief || matches!(found.end, Some(End::Forgotten(_)));
            bound.dated = match version {
                Some(version) if version.is_change() => {
                    version.time().map(exactly).or(version.dated)
                }
                Some(_) if !is_dated => None,
                Some(_) | None => self.date(bound.at).await,
            };
        }
    }

    /// When a revision was written; `None` if unknown.
    async fn date(&self, at: Revision) -> Option<Between> {
        if let Some(since) = self
            .reach
            .time
            .filter(|_| self.is_bounded() && at == self.reach.revision)
        {
            return Some(exactly(since));
        }
        if let Some(recorded) = self.history.recorded()
            && let Some(time) = recorded.time_of(self.history.key(), at).await
        {
            return Some(time);
        }
        let dating = async { self.dates().await?.of(at).await };
        self.interrupt.in_time(dating).await.flatten()
    }

    /// The same reach in the storage of this source. The revision of a run over several storages is one of the storage
    /// with the Leases, if that is one of them. In the others its time counts; if that is unknown, so is its place.
    pub(super) async fn elsewhere(&self) -> Reach {
        let revision = self.reach.revision;
        if self.history.is_kept() {
            return self.reach;
        }
        let Some(dates) = self.dates.as_ref() else {
            return self.reach;
        };
        if !self.is_one_of_many() || !self.is_bounded() || dates.covers(&self.history).await {
            return self.reach;
        }
        for other in self.run.iter() {
            if dates.covers(other).await {
                let written = dates.of(revision).await;
                return self.reach.since(written.map(|written| written.from));
            }
        }
        self.reach
    }

    fn is_one_of_many(&self) -> bool {
        self.run.len() > 1
    }

    /// The storage of this source. Sources of one resource share it.
    pub(super) async fn storage(&self) -> Storage {
        if self.history.is_kept() {
            return Storage::default();
        }
        let Some(dates) = self.dates.as_ref().filter(|_| self.is_one_of_many()) else {
            return Storage::default();
        };
        let storage = self.interrupt.in_time(dates.storage(&self.history)).await;
        storage.unwrap_or_else(|| dates.unknown_storage())
    }

    /// The Lease times that date this source's revisions; `None` if they do not apply to it.
    pub(super) async fn dates(&self) -> Option<&Arc<Dates>> {
        let dates = self.dates.as_ref()?;
        let is_dated = self.is_dated.get_or_init(|| dates.covers(&self.history));
        is_dated.await.then_some(dates)
    }

    /// The compacted writes of a whole kind: its first known versions are among those that were found, and in the listing.
    /// An object whose later changes are shown has only a creation.
    fn compacted_writes(
        &self,
        versions: &[PastVersion],
        listed: &[Arc<Version>],
    ) -> Vec<CompactedWrite> {
        if self.reach.time.is_none() && !self.is_bounded() {
            return Vec::new(); // the window has no start
        }
        let name = |version: &Version| version.object.namespaced_name();
        let changed = versions.iter().filter(|version| version.is_change());
        let changed: HashSet<NamespacedName> =
            changed.map(|version| name(&version.event.now)).collect();
        let found = versions.iter().filter(|version| is_first_known(version));
        let found: Vec<&Arc<Version>> = found.map(|version| &version.event.now).collect();
        let known: HashSet<NamespacedName> = found.iter().map(|version| name(version)).collect();
        let is_new = |version: &&Arc<Version>| {
            let name = name(version);
            !known.contains(&name) && !changed.contains(&name)
        };
        let first = found.into_iter().chain(listed.iter().filter(is_new));
        let writes = first.filter_map(|version| self.compacted(version));
        let is_told = |write: &CompactedWrite| {
            write.is_creation || !changed.contains(&write.object.namespaced_name())
        };
        writes.filter(is_told).collect()
    }

    /// The write that a first known version shows, if it lies in the window.
    fn compacted(&self, version: &Version) -> Option<CompactedWrite> {
        let doc = version.doc().ok()?;
        let created = doc.root().time_at(&["metadata", "creationTimestamp"]);
        let is_inside = |time: Timestamp| self.reach.time.is_some_and(|since| time >= since);
        let is_creation = created.is_some_and(is_inside);
        let is_after = match self.reach.time {
            Some(_) => self.written(doc.root()).is_some_and(is_inside),
            None => {
                self.is_bounded() && Revision::parse(&version.version) > Some(self.reach.revision)
            }
        };
        (is_creation || is_after).then(|| CompactedWrite {
            object: version.object.clone(),
            is_creation,
        })
    }

    /// The time of the last write that an object records. A time in the future is a client's.
    fn written(&self, object: Value<'_>) -> Option<Timestamp> {
        let now = self.shown.clock.as_ref().map(|clock| clock());
        let is_forged = |time| now.is_some_and(|now| is_surely_before(now, time));
        newest_time(object).filter(|time| !is_forged(*time))
    }
}

/// The versions of one object of a wide source.
struct ObjectPast {
    /// The object, if it was walked back.
    name: Option<ObjectRef>,
    versions: Vec<PastVersion>,
    /// The newest version that is too old.
    left_out: Option<Revision>,
    /// Why the walk found no more.
    end: Option<End>,
}

/// The state of the walks of a wide source.
struct WalkedObjects {
    /// The revision from which they have every version.
    then: Revision,
    /// The newest version that is too old.
    left_out: Option<Revision>,
    /// Why one of them found no more.
    short: Option<End>,
}

impl WalkedObjects {
    fn after(then: Revision) -> WalkedObjects {
        WalkedObjects {
            then,
            left_out: None,
            short: None,
        }
    }
}

/// The names of the current objects and of the found versions. Those that are known only from their creation have its
/// revision.
fn known_since(
    now: &[Arc<Version>],
    versions: &[PastVersion],
) -> BTreeMap<NamespacedName, Option<Revision>> {
    let current = now
        .iter()
        .map(|there| (there.object.namespaced_name(), None));
    let mut known: BTreeMap<NamespacedName, Option<Revision>> = current.collect();
    // The last one written counts: the oldest version of each name.
    known.extend(versions.iter().rev().map(|version| {
        let PastEvent { why, at, now, .. } = &version.event;
        let created = at.filter(|_| *why == Why::Added);
        (now.object.namespaced_name(), created)
    }));
    known
}

fn unversioned() -> End {
    End::NotOffered("its resourceVersions are not numbers".into())
}

fn exactly(time: Timestamp) -> Between {
    Between {
        from: time,
        until: Some(time),
    }
}

/// Drops versions from before `since`. The last of them stays as a listed state, because the next version is compared
/// with it. What is older than a version from before `since` is so, too. Returns the revision of the newest one.
fn leave_out(versions: &mut Vec<PastVersion>, since: Timestamp) -> Option<Revision> {
    let is_old = |version: &PastVersion| match version.time() {
        Some(time) => time < since,
        None => (version.dated.and_then(|dated| dated.until))
            .is_some_and(|until| is_surely_before(until, since)),
    };
    let newest = versions.iter().rposition(is_old)?;
    let left_out = versions[newest].event.at;
    if versions[newest].event.is_end() {
        versions.drain(..=newest);
    } else {
        versions.drain(..newest);
        versions[0].event.why = Why::Listed;
        versions[0].event.prev = None;
    }
    left_out
}

/// Whether the version before this one is not known.
fn is_first_known(version: &PastVersion) -> bool {
    version.event.why == Why::Listed && version.event.prev.is_none()
}
