//! `ItemBuilder`: makes the items of a timeline of the versions of objects.

use std::collections::{HashMap, VecDeque};
use std::sync::Arc;

use jiff::tz::TimeZone;
use jiff::{SignedDuration, Timestamp};

use crate::commands::container_lines::{TimelineItem, TimelineKind};
use crate::commands::logs::selected_pods::SelectedPods;
use crate::commands::versions::{
    Compared, ControlledObject, DocCache, ManagerFilter, Occurrence, PastTime, ReadVersions,
    ShownVersions, TimelineEntry, VersionEvent, When, is_event, is_report, unreadable,
};
use crate::diff::{Redactor, VersionWriter, writer};
use crate::env::Clock;
use crate::object::{EventFacts, ObjectRef, ResourceVersion, Uid, Value};
use crate::render::diff::{
    ChangeType, DiffView, Fold, ShownChanges, images_in_line, secret_keys_in_line,
};
use crate::render::style::Look;
use crate::render::text::Text;
use crate::source::{SourceKey, Version};
use crate::status::{Assessment, Rules};

/// What stands between the lines.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(in crate::commands::logs) struct TimelineParts {
    /// The versions of objects, with their writers.
    pub(in crate::commands::logs) changes: bool,
    /// The warnings about objects.
    pub(in crate::commands::logs) events: bool,
    /// The states of objects.
    pub(in crate::commands::logs) status: bool,
}

impl TimelineParts {
    /// Whether nothing stands between the lines.
    pub(in crate::commands::logs) fn is_empty(self) -> bool {
        self == TimelineParts::default()
    }
}

/// Makes the items of versions, each once.
pub(in crate::commands::logs) struct ItemBuilder {
    pub(super) parts: TimelineParts,
    /// Every version of an object that no other one controls.
    pub(super) shown: Arc<ShownVersions>,
    /// Of what controllers make, only what others write.
    of_controlled: ShownVersions,
    redactor: Redactor,
    look: Look,
    zone: TimeZone,
    docs: DocCache,
    /// The objects that are there.
    known: HashMap<Uid, KnownObject>,
    /// Some of those that are gone, the newest last.
    gone: VecDeque<Uid>,
    /// The messages about versions that cannot be read.
    unreadable: Vec<String>,
}

/// How many objects that are gone it remembers.
const GONE: usize = 1024;

/// What is known of an object.
struct KnownObject {
    /// Its newest version. Several sources may have it.
    version: ResourceVersion,
    state: Option<Assessment>,
}

impl ItemBuilder {
    /// A builder by the server's clock. Lines are not cut.
    pub(in crate::commands::logs) fn new(
        parts: TimelineParts,
        look: Look,
        zone: TimeZone,
        clock: &Clock,
    ) -> ItemBuilder {
        let shown = |by| ShownVersions {
            by,
            clock: Some(clock.clone()),
            ..ShownVersions::default()
        };
        ItemBuilder {
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
            known: HashMap::new(),
            gone: VecDeque::new(),
            unreadable: Vec::new(),
        }
    }

    /// The entry of a warning that was there at the start; `None` if it has no time.
    pub(super) fn listed_warning(
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

    /// The items of an entry, the first time that it comes.
    pub(super) fn items(
        &mut self,
        entry: &TimelineEntry,
        selection: &SelectedPods,
    ) -> Vec<TimelineItem> {
        let Some(event) = entry.version() else {
            return Vec::new();
        };
        let uid = event.now.object.identity();
        let (before, version) = (self.known.remove(&uid), &event.now.version);
        let is_repeated = match &before {
            Some(known) => !event.is_end() && known.version == *version,
            None => event.is_end() && self.gone.contains(&uid),
        };
        let mut known = KnownObject {
            version: version.clone(),
            state: before.and_then(|known| known.state),
        };
        let items = if is_repeated {
            Vec::new()
        } else {
            self.new_items(entry, &mut known, selection)
        };
        if event.is_end() {
            self.gone.push_back(uid);
            self.gone.drain(..self.gone.len().saturating_sub(GONE));
        } else {
            self.known.insert(uid, known);
        }
        items
    }

    /// The messages about versions that could not be read, since the last call.
    pub(super) fn take_unreadable(&mut self) -> Vec<String> {
        std::mem::take(&mut self.unreadable)
    }

    fn new_items(
        &mut self,
        entry: &TimelineEntry,
        known: &mut KnownObject,
        selection: &SelectedPods,
    ) -> Vec<TimelineItem> {
        let all = self.shown.clone();
        let Some(event) = entry.version() else {
            return Vec::new();
        };
        let Ok(read) = event.read(&mut self.docs, |kind| all.keys.of(kind)) else {
            self.unreadable.push(unreadable(&event.now));
            return Vec::new();
        };
        let object = &read.event.now.object;
        if is_event(object) {
            // The server forgets Events after a while: that is no news.
            let is_news = self.parts.events && !event.is_end();
            let facts = EventFacts::of(read.doc.root()).filter(|_| is_news);
            let facts = facts.filter(|facts| self.is_about(&facts.about, selection));
            let item = facts.map(|facts| warning(facts, entry));
            return item.into_iter().collect();
        }
        let shown = match ControlledObject::of(&read) {
            Some(_) => &self.of_controlled,
            None => &*all,
        };
        let compared = shown.compare(&entry.key, &read);
        let when = ItemTime::of(entry, &compared);
        let mut items = Vec::new();
        if self.parts.changes && is_decision(&compared) {
            let (who, text) = self.change(&compared);
            let item = when.item(TimelineKind::Change, object, text);
            items.push(TimelineItem { who, ..item });
        }
        let is_said = read.event.is_end() && !items.is_empty();
        if self.parts.status && !is_said && selection.has_state(&entry.key, object) {
            let state = known.state(&read, when.time);
            items.extend(state.map(|(text, is_bad)| {
                let when = when.until_its_end(is_bad);
                let item = when.item(TimelineKind::Status, object, text);
                TimelineItem { is_bad, ..item }
            }));
        }
        items
    }

    /// Whether the subject of an Event is selected, or was while it was there.
    fn is_about(&self, about: &ObjectRef, selection: &SelectedPods) -> bool {
        let uid = about.identity();
        selection.has_subject(about) || self.known.contains_key(&uid) || self.gone.contains(&uid)
    }

    /// Who has made a version, and what it changes.
    fn change(&self, compared: &Compared<'_>) -> (Option<String>, Text) {
        let view = DiffView {
            look: self.look,
            redactor: &self.redactor,
            filter: &self.shown.filter,
            noise: &compared.noise,
            zone: &self.zone,
            fold: Fold::Many,
        };
        let change = compared.change();
        if let Some(diff) = compared
            .diff
            .as_ref()
            .filter(|_| change == ChangeType::Modified)
        {
            let shown = ShownChanges::of(diff, &compared.writers, &view);
            let who = shown.who().or_else(|| shown.former_owner());
            return (who.as_ref().map(VersionWriter::short), shown.in_line(None));
        }
        let object = self.redactor.shown(compared.read.doc.root());
        let word = change.word().to_lowercase();
        let more = images_in_line(object, view.filter)
            .or_else(|| secret_keys_in_line(object, view.filter));
        let more = more.filter(|_| change.is_creation());
        let text = match more {
            Some(more) => Text::from(word) + ": " + more,
            None => Text::from(word),
        };
        let who = writer(&compared.writers).filter(|_| change.is_creation());
        (who.as_ref().map(VersionWriter::short), text)
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
struct ItemTime {
    /// Its place among lines, whose times are finer.
    order: Timestamp,
    time: Timestamp,
    until: Option<Timestamp>,
    is_live: bool,
}

impl ItemTime {
    fn of(entry: &TimelineEntry, compared: &Compared<'_>) -> ItemTime {
        let (time, until) = compared.moment(entry);
        ItemTime {
            order: time,
            time,
            until,
            is_live: entry.when == When::Live,
        }
    }

    /// The same moment, at the end of its second for what follows from the lines of that second. What arrived just now
    /// has a fine time.
    fn until_its_end(self, is_effect: bool) -> ItemTime {
        let is_whole = self.time.subsec_nanosecond() == 0;
        let end = self.time.checked_add(WITHIN_A_SECOND).ok();
        let order = end.filter(|_| is_whole && is_effect).unwrap_or(self.order);
        ItemTime { order, ..self }
    }

    fn item(self, kind: TimelineKind, object: &Arc<ObjectRef>, text: Text) -> TimelineItem {
        TimelineItem {
            order: self.order,
            time: self.time,
            until: self.until,
            kind,
            object: object.clone(),
            who: None,
            text,
            is_bad: false,
            is_live: self.is_live,
        }
    }
}

/// The rest of a second. Servers write whole seconds.
const WITHIN_A_SECOND: SignedDuration = SignedDuration::from_millis(999);

impl KnownObject {
    /// The new state of an object, and whether it is bad; `None` if it is the old one, or if its controller has not looked
    /// at this version yet.
    fn state(&mut self, read: &ReadVersions<'_>, now: Timestamp) -> Option<(Text, bool)> {
        let event = read.event;
        if event.is_end() {
            return (event.change == ChangeType::Deleted).then(|| ("deleted".into(), false));
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
        let text = is.transition_from(was.as_ref());
        let is_bad = !is.is_well() && !is.causes.is_empty();
        self.state = Some(is);
        Some((text?.into(), is_bad))
    }
}

/// Whether the status of an object is about its present generation.
fn is_observed(object: Value<'_>) -> bool {
    let observed = object.i64_at(&["status", "observedGeneration"]);
    observed.is_none() || observed == object.i64_at(&["metadata", "generation"])
}

/// A warning, at the time of its last occurrence.
fn warning(facts: EventFacts, entry: &TimelineEntry) -> TimelineItem {
    let is_live = entry.when == When::Live;
    let time = facts.last.filter(|_| !is_live).unwrap_or(entry.seen);
    let when = ItemTime {
        order: time,
        time,
        until: None,
        is_live,
    };
    let count = match facts.count {
        ..2 => String::new(),
        count => format!(" ×{count}"),
    };
    let text = format!("{}: {}{count}", facts.reason, facts.message);
    let about = Arc::new(facts.about);
    let item = when
        .until_its_end(true)
        .item(TimelineKind::Event, &about, text.into());
    TimelineItem {
        is_bad: true,
        ..item
    }
}
