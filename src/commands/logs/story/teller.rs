//! `StoryTeller`: what a version of an object tells.

use std::collections::HashMap;
use std::sync::Arc;

use jiff::tz::TimeZone;
use jiff::{SignedDuration, Timestamp};

use super::StoryParts;
use super::item::{StoryItem, StoryKind};
use crate::commands::logs::selected_pods::SelectedPods;
use crate::commands::versions::{
    Compared, ControlledObject, DocCache, ManagerFilter, Occurrence, PastTime, ReadVersions,
    ShownVersions, TimelineEntry, VersionEvent, When, is_event, is_report,
};
use crate::diff::Redactor;
use crate::env::Clock;
use crate::object::{EventFacts, ObjectRef, ResourceVersion, Uid, Value};
use crate::render::diff::{
    ChangeType, DiffView, Fold, ShownChanges, VersionWriter, images_in_line, secret_keys_in_line,
    writer,
};
use crate::render::style::Look;
use crate::render::text::escape_line;
use crate::source::{SourceKey, Version};
use crate::status::{Assessment, Rules, transition};

/// What a version of an object tells, once.
pub(in crate::commands::logs) struct StoryTeller {
    pub(super) parts: StoryParts,
    /// Every version of an object that no other one controls.
    pub(super) shown: Arc<ShownVersions>,
    /// Of what controllers make, only what others write.
    of_controlled: ShownVersions,
    redactor: Redactor,
    look: Look,
    zone: TimeZone,
    docs: DocCache,
    told: HashMap<Uid, Told>,
}

/// What was told of an object last.
struct Told {
    /// Its newest version. Several sources may have it.
    version: ResourceVersion,
    state: Option<Assessment>,
}

impl StoryTeller {
    /// A teller by the server's clock. Lines are not cut.
    pub(in crate::commands::logs) fn new(
        parts: StoryParts,
        look: Look,
        zone: TimeZone,
        clock: &Clock,
    ) -> StoryTeller {
        let shown = |by| ShownVersions {
            by,
            clock: Some(clock.clone()),
            ..ShownVersions::default()
        };
        StoryTeller {
            parts,
            shown: Arc::new(shown(ManagerFilter::Everyone)),
            of_controlled: shown(ManagerFilter::People),
            redactor: Redactor::new(),
            look: Look {
                width: None,
                ..look
            },
            zone,
            docs: DocCache::default(),
            told: HashMap::new(),
        }
    }

    /// The entry of a warning that was there at the start; `None` if it has no time.
    pub(super) fn listed_event(
        source: &Arc<SourceKey>,
        version: Arc<Version>,
    ) -> Option<TimelineEntry> {
        let doc = version.doc().ok()?;
        let time = EventFacts::of(doc.root())?.last?;
        let event = VersionEvent::new(ChangeType::Created, None, version);
        Some(TimelineEntry {
            seen: time,
            key: source.clone(),
            what: Occurrence::Version(event),
            when: When::Past(PastTime { time, until: None }),
        })
    }

    /// What an entry tells, once.
    pub(super) fn tell(
        &mut self,
        entry: &TimelineEntry,
        selection: &SelectedPods,
    ) -> Vec<StoryItem> {
        let Some(event) = entry.version() else {
            return Vec::new();
        };
        let uid = event.now.object.identity();
        let before = self.told.remove(&uid);
        let version = event.now.version.clone();
        let is_told = before.as_ref().is_some_and(|told| told.version == version);
        let mut told = Told {
            version,
            state: before.and_then(|told| told.state),
        };
        let items = if is_told && !event.is_end() {
            Vec::new()
        } else {
            self.items(entry, &mut told, selection)
        };
        self.told.insert(uid, told);
        items
    }

    fn items(
        &mut self,
        entry: &TimelineEntry,
        told: &mut Told,
        selection: &SelectedPods,
    ) -> Vec<StoryItem> {
        let all = self.shown.clone();
        let event = entry.version();
        let read = event.map(|event| event.read(&mut self.docs, |kind| all.keys.of(kind)));
        let Some(Ok(read)) = read else {
            return Vec::new();
        };
        let object = &read.event.now.object;
        if is_event(object) {
            let facts = EventFacts::of(read.doc.root()).filter(|_| self.parts.events);
            let facts = facts.filter(|facts| self.is_about(&facts.about, selection));
            let item = facts.map(|facts| warning(facts, entry));
            return item.into_iter().collect();
        }
        let shown = match ControlledObject::of(&read) {
            Some(_) => &self.of_controlled,
            None => &*all,
        };
        let compared = shown.compare(&entry.key, &read);
        let when = StoryTime::of(entry, &compared);
        let mut items = Vec::new();
        if self.parts.changes && is_decision(&compared) {
            let (who, text) = self.change(&compared);
            let item = when.item(StoryKind::Change, object, text);
            items.push(StoryItem { who, ..item });
        }
        let is_said = read.event.is_end() && !items.is_empty();
        if self.parts.status && !is_said && selection.has_state(&entry.key, object) {
            let state = told.state(&read, when.time);
            items.extend(state.map(|(text, is_bad)| {
                let when = when.until_its_end(is_bad);
                let item = when.item(StoryKind::Status, object, text);
                StoryItem { is_bad, ..item }
            }));
        }
        items
    }

    /// Whether the subject of an Event is selected, or was while it was there.
    fn is_about(&self, about: &ObjectRef, selection: &SelectedPods) -> bool {
        selection.has_subject(about) || self.told.contains_key(&about.identity())
    }

    /// Who has made a version, and what it changes.
    fn change(&self, compared: &Compared<'_>) -> (Option<String>, String) {
        let view = DiffView {
            look: self.look,
            redactor: &self.redactor,
            filter: &self.shown.filter,
            noise: &compared.noise,
            zone: &self.zone,
            fold: Fold::Many,
        };
        let change = compared.change();
        let name = |who: VersionWriter| {
            let mut forms = who.shorter_forms(self.look.symbols.ellipsis).into_iter();
            forms.next().unwrap_or_default()
        };
        if let Some(diff) = compared
            .diff
            .as_ref()
            .filter(|_| change == ChangeType::Modified)
        {
            let shown = ShownChanges::of(diff, &compared.writers, &view);
            let who = shown.who().or_else(|| shown.former_owner());
            return (who.map(name), shown.in_line(None));
        }
        let object = self.redactor.shown(compared.read.doc.root());
        let word = change.word().to_lowercase();
        let more = images_in_line(object).or_else(|| secret_keys_in_line(object));
        let more = more.filter(|_| change.is_creation());
        let text = more.map_or(word.clone(), |more| format!("{word}: {more}"));
        let who = writer(&compared.writers).filter(|_| change.is_creation());
        (who.map(name), text)
    }
}

/// Whether a version is a decision about an object, and not a report of a controller.
fn is_decision(compared: &Compared<'_>) -> bool {
    let change = compared.change();
    let diff = compared.diff.as_ref();
    let is_report = diff.is_some_and(|diff| is_report(change, diff, &compared.writers));
    compared.is_shown() && !is_report && change != ChangeType::Joined
}

/// When a version was written.
#[derive(Clone, Copy)]
struct StoryTime {
    /// Its place among lines, whose times are finer.
    order: Timestamp,
    time: Timestamp,
    until: Option<Timestamp>,
}

impl StoryTime {
    fn of(entry: &TimelineEntry, compared: &Compared<'_>) -> StoryTime {
        let (time, until) = compared.moment(entry);
        StoryTime {
            order: time,
            time,
            until,
        }
    }

    /// The same moment, at the end of its second for what follows from the lines of that second. What arrived just now
    /// has a fine time.
    fn until_its_end(self, is_effect: bool) -> StoryTime {
        let is_whole = self.time.subsec_nanosecond() == 0;
        let end = self.time.checked_add(WITHIN_A_SECOND).ok();
        let order = end.filter(|_| is_whole && is_effect).unwrap_or(self.order);
        StoryTime { order, ..self }
    }

    fn item(self, kind: StoryKind, object: &Arc<ObjectRef>, text: String) -> StoryItem {
        StoryItem {
            order: self.order,
            time: self.time,
            until: self.until,
            kind,
            object: object.clone(),
            who: None,
            text,
            is_bad: false,
        }
    }
}

/// The rest of a second. Servers write whole seconds.
const WITHIN_A_SECOND: SignedDuration = SignedDuration::from_millis(999);

impl Told {
    /// The new state of an object, and whether it is bad; `None` if it is the old one, or if its controller has not looked
    /// at this version yet.
    fn state(&mut self, read: &ReadVersions<'_>, now: Timestamp) -> Option<(String, bool)> {
        let event = read.event;
        if event.is_end() {
            return (event.change == ChangeType::Deleted).then(|| ("deleted".to_owned(), false));
        }
        let (old, new) = read.roots();
        let assess = |object| Assessment::of(object, now, Rules::Spy);
        let old = old.filter(|old| is_observed(*old));
        let was = self.state.take().or_else(|| old.map(assess));
        if !is_observed(new) {
            self.state = was;
            return None;
        }
        let is = assess(new);
        let text = transition(was.as_ref(), &is);
        let is_bad = !is.is_well() && !is.causes.is_empty();
        self.state = Some(is);
        Some((escape_line(&text?).into_owned(), is_bad))
    }
}

/// Whether the status of an object is about its present generation.
fn is_observed(object: Value<'_>) -> bool {
    let observed = object.i64_at(&["status", "observedGeneration"]);
    observed.is_none() || observed == object.i64_at(&["metadata", "generation"])
}

/// A warning, at the time of its last occurrence.
fn warning(facts: EventFacts, entry: &TimelineEntry) -> StoryItem {
    let is_past = entry.when != When::Live;
    let time = facts.last.filter(|_| is_past).unwrap_or(entry.seen);
    let when = StoryTime {
        order: time,
        time,
        until: None,
    };
    let count = match facts.count {
        ..2 => String::new(),
        count => format!(" ×{count}"),
    };
    let text = format!("{}: {}{count}", facts.reason, facts.message);
    let text = escape_line(&text).into_owned();
    let about = Arc::new(facts.about);
    let item = when
        .until_its_end(true)
        .item(StoryKind::Event, &about, text);
    StoryItem {
        is_bad: true,
        ..item
    }
}
