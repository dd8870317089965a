//! `EventLine`: an Event as one line.

use std::borrow::Cow;
use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use jiff::Timestamp;

use crate::commands::changes::line_style::LineStyle;
use crate::commands::versions::{Compared, TimelineEntry};
use crate::object::{EventFacts, ObjectRef, Uid};
use crate::render::style::Role;
use crate::render::text::Text;
use crate::status::short_refusal;

/// In fewer columns, a message and its colon say nothing.
const LEAST: usize = 12;

/// An Event, or several that differ only in their object.
pub(crate) struct EventLine {
    /// The number of lines of the page above it.
    pub(super) at: usize,
    /// The top of the chain of controllers above the object.
    pub(super) owner: ObjectRef,
    /// When the first Event was written. If only an interval is known, also its end.
    first: (Timestamp, Option<Timestamp>),
    /// The first Event, with the newest message about its object.
    pub(super) event: EventFacts,
    /// The names of all such objects.
    names: BTreeSet<Arc<str>>,
    /// How often it happened, by Event.
    counts: BTreeMap<Uid, i64>,
}

/// What Events with one line have in common.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(super) struct WarningKey {
    /// The top of the chain of controllers above their objects.
    pub(super) owner: ObjectRef,
    /// The kind of their objects.
    kind: Arc<str>,
    /// Their type and their reason.
    sort: [String; 2],
}

impl WarningKey {}

impl EventLine {
    /// Reads an Event of either group; `None` if it is about nothing.
    pub(crate) fn of(compared: &Compared<'_>, entry: &TimelineEntry) -> Option<EventLine> {
        let event = EventFacts::of(compared.read.doc.root())?;
        let object = &compared.read.event.now.object;
        Some(EventLine {
            at: 0,
            owner: event.about.clone(),
            first: compared.moment(entry),
            names: [event.about.name.clone()].into(),
            counts: [(object.identity(), event.count)].into(),
            event,
        })
    }

    /// Whether another Event is about the same thing: it has the same reason, and its object the same owner.
    pub(super) fn repeats(&self, other: &EventLine) -> bool {
        self.key() == other.key()
    }

    /// What the Event is about.
    pub(super) fn key(&self) -> WarningKey {
        WarningKey {
            owner: self.owner.without_uid(),
            kind: self.event.about.kind.clone(),
            sort: [&self.event.type_, &self.event.reason].map(ToString::to_string),
        }
    }

    /// Takes in a later Event about the same thing. The line keeps the newest message about its first object.
    pub(super) fn join(&mut self, other: EventLine) {
        if self.event.about.name == other.event.about.name {
            self.event.message = other.event.message;
        }
        self.names.extend(other.names);
        self.counts.extend(other.counts);
    }

    /// `21:39:42 Warning FailedScheduling pod/web-1 and 2 more: 0/2 nodes are available ×3`. On a narrow terminal, the end of
    /// the message goes first, then the whole message, then the middle of the object's name.
    pub(crate) fn line(&self, style: &LineStyle<'_>) -> Text {
        let role = if self.event.is_warning() {
            Role::Warning
        } else {
            Role::Dim
        };
        let (from, until) = self.first;
        let start = Text::dim(style.interval(from, until)) + " ";
        let start = start + Text::new(role, format!("{} {}", self.event.type_, self.event.reason));
        let (others, count) = (Text::from(self.others(style)), Text::dim(self.count()));
        let about = Text::new(Role::Name, self.event.about.to_string());
        let message = Text::from(format!(": {}", in_brief(&self.event.message)));
        let ellipsis = style.look.symbols.ellipsis;
        let fixed = start.width() + 1 + others.width() + count.width();
        let columns = style.look.width.unwrap_or(usize::MAX).saturating_sub(fixed);
        let left = columns.saturating_sub(about.width());
        let (about, message) = if left < message.width().min(LEAST) {
            (about.fit_middle(columns, ellipsis), Text::default())
        } else {
            (about, message.fit(left, ellipsis))
        };
        (start + " " + about + others + message + count).fit_to(style.look)
    }

    /// ` and 2 more  -n shop`: the other objects, and the namespace if lines must name it.
    fn others(&self, style: &LineStyle<'_>) -> String {
        let others = match self.names.len() - 1 {
            0 => String::new(),
            others => format!(" and {others} more"),
        };
        match style.place(&self.event.about) {
            Some(place) => format!("{others}  {place}"),
            None => others,
        }
    }

    /// ` ×3`, if it happened more than once.
    fn count(&self) -> String {
        let counts = self.counts.values().copied();
        match counts.fold(0, i64::saturating_add) {
            ..2 => String::new(),
            count => format!(" ×{count}"),
        }
    }
}

/// A message, without the words of the API server around the reason of a refusal.
fn in_brief(message: &str) -> Cow<'_, str> {
    let refusal = message.split_once(" is forbidden: ");
    let cut = || refusal.map_or(message, |(_, reason)| reason).into();
    short_refusal(message).map_or_else(cut, Cow::Owned)
}
