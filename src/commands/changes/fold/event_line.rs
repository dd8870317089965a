//! `EventLine`: an Event as one line.

use std::borrow::Cow;
use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use jiff::Timestamp;

use crate::commands::changes::compared::Compared;
use crate::commands::changes::line_style::LineStyle;
use crate::object::{EventFacts, ObjectRef, Uid};
use crate::render::style::Role;
use crate::render::text::{cut_end, escape_line, width};
use crate::status::short_refusal;

/// Below this many columns, a message says nothing.
const LEAST: usize = 12;

/// An Event, or several that differ only in their object.
pub(crate) struct EventLine {
    /// The number of lines of the page above it.
    pub(super) at: usize,
    /// The top of the chain of controllers above the object.
    pub(super) owner: ObjectRef,
    first: Timestamp,
    /// The first Event, with the newest message about its object.
    pub(super) event: EventFacts,
    /// The names of all such objects.
    names: BTreeSet<Arc<str>>,
    /// How often it happened, by Event.
    counts: BTreeMap<Uid, i64>,
}

impl EventLine {
    /// Reads an Event of either group; `None` if it is about nothing.
    pub(crate) fn of(compared: &Compared<'_>, first: Timestamp) -> Option<EventLine> {
        let event = EventFacts::of(compared.read.doc.root())?;
        let object = &compared.read.event.now.object;
        Some(EventLine {
            at: 0,
            owner: event.about.clone(),
            first,
            names: [event.about.name.clone()].into(),
            counts: [(object.identity(), event.count)].into(),
            event,
        })
    }

    /// Whether another Event is about the same thing: it has the same reason, and its object the same owner.
    pub(super) fn repeats(&self, other: &EventLine) -> bool {
        let (own, event) = (&self.event, &other.event);
        let is_same_object = own.about.kind == event.about.kind && self.owner == other.owner;
        is_same_object && (&own.type_, &own.reason) == (&event.type_, &event.reason)
    }

    /// Takes in a later Event about the same thing. The line keeps the newest message about its first object.
    pub(super) fn join(&mut self, other: EventLine) {
        if self.event.about.name == other.event.about.name {
            self.event.message = other.event.message;
        }
        self.names.extend(other.names);
        self.counts.extend(other.counts);
    }

    /// `21:39:42 Warning FailedScheduling pod/web-1 and 2 more: 0/2 nodes are available ×3`. The end of the message gives
    /// way to the count.
    pub(crate) fn line(&self, style: &LineStyle<'_>) -> String {
        let styles = style.look.styles;
        let role = if self.event.is_warning() {
            Role::Warning
        } else {
            Role::Dim
        };
        let time = style.clock(self.first);
        let what = escape_line(&format!("{} {}", self.event.type_, self.event.reason)).into_owned();
        let others = match self.names.len() - 1 {
            0 => String::new(),
            others => format!(" and {others} more"),
        };
        let about = escape_line(&self.event.about.to_string()).into_owned();
        let place = style
            .place(&self.event.about)
            .map(|place| format!("  {place}"));
        let others = others + &place.unwrap_or_default();
        let counts = self.counts.values().copied();
        let count = match counts.fold(0, i64::saturating_add) {
            ..2 => String::new(),
            count => format!(" ×{count}"),
        };
        let head = format!("{time} {what} {about}{others}: ");
        let message = in_brief(&self.event.message);
        let message = escape_line(&message);
        let message = match style.look.width {
            None => message,
            Some(columns) => {
                let room = columns.saturating_sub(width(&head) + width(&count));
                let cut = cut_end(&message, room.max(LEAST), style.look.symbols.ellipsis);
                cut.into_owned().into()
            }
        };
        format!(
            "{} {} {}{others}: {message}{}",
            styles.dim(&time),
            styles.paint(role, &what),
            styles.name(&about),
            styles.dim(&count)
        )
    }
}

/// A message, without the words of the API server around the reason of a refusal.
fn in_brief(message: &str) -> Cow<'_, str> {
    let refusal = message.split_once(" is forbidden: ");
    let cut = || refusal.map_or(message, |(_, reason)| reason).into();
    short_refusal(message).map_or_else(cut, Cow::Owned)
}
