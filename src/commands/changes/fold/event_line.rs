//! `EventLine`: an Event as one line.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use jiff::Timestamp;

use crate::commands::changes::compared::Compared;
use crate::commands::changes::line_style::LineStyle;
use crate::object::{ObjectRef, Uid, Value};
use crate::render::style::Role;
use crate::render::text::{cut_end, escape_line, width};

/// Below this many columns, a message says nothing.
const LEAST: usize = 12;

/// An Event, or several that differ only in their object.
pub(crate) struct EventLine {
    /// The number of lines of the page above it.
    pub(super) at: usize,
    /// The top of the chain of controllers above the object.
    pub(super) owner: ObjectRef,
    first: Timestamp,
    type_: Arc<str>,
    reason: Arc<str>,
    message: Arc<str>,
    /// The object that the first Event is about.
    about: ObjectRef,
    /// The names of all such objects.
    names: BTreeSet<Arc<str>>,
    /// How often it happened, by Event.
    counts: BTreeMap<Uid, i64>,
}

impl EventLine {
    /// Reads an Event of either group; `None` if it is about nothing.
    pub(crate) fn of(compared: &Compared<'_>, first: Timestamp) -> Option<EventLine> {
        let root = compared.read.doc.root();
        let about = about(root)?;
        let either = |paths: [&[&str]; 2]| paths.iter().find_map(|path| root.text_at(path));
        let counts: [&[&str]; 3] = [&["series", "count"], &["count"], &["deprecatedCount"]];
        let count = counts.iter().find_map(|path| root.i64_at(path));
        let object = &compared.read.event.now.object;
        Some(EventLine {
            at: 0,
            owner: about.clone(),
            first,
            type_: root.text_at(&["type"]).unwrap_or_default(),
            reason: root.text_at(&["reason"]).unwrap_or_default(),
            message: either([&["message"], &["note"]]).unwrap_or_default(),
            names: [about.name.clone()].into(),
            about,
            counts: [(object.identity(), count.unwrap_or(1).max(1))].into(),
        })
    }

    /// The object that the Event is about.
    pub(super) fn about(&self) -> &ObjectRef {
        &self.about
    }

    /// Whether something is wrong.
    pub(super) fn is_warning(&self) -> bool {
        &*self.type_ == "Warning"
    }

    /// Whether another Event is about the same thing: it has the same reason, and its object the same owner.
    pub(super) fn repeats(&self, other: &EventLine) -> bool {
        let is_same_object = self.about.kind == other.about.kind && self.owner == other.owner;
        is_same_object && (&self.type_, &self.reason) == (&other.type_, &other.reason)
    }

    /// Takes in a later Event about the same thing. The line keeps the newest message about its first object.
    pub(super) fn join(&mut self, other: EventLine) {
        if self.about.name == other.about.name {
            self.message = other.message;
        }
        self.names.extend(other.names);
        self.counts.extend(other.counts);
    }

    /// `21:39:42 Warning FailedScheduling pod/web-1 and 2 more: 0/2 nodes are available ×3`. The end of the message gives
    /// way to the count.
    pub(crate) fn line(&self, style: &LineStyle<'_>) -> String {
        let styles = style.look.styles;
        let role = if self.is_warning() {
            Role::Warning
        } else {
            Role::Dim
        };
        let time = style.clock(self.first);
        let what = escape_line(&format!("{} {}", self.type_, self.reason)).into_owned();
        let others = match self.names.len() - 1 {
            0 => String::new(),
            others => format!(" and {others} more"),
        };
        let about = escape_line(&self.about.to_string()).into_owned();
        let place = style.place(&self.about).map(|place| format!("  {place}"));
        let others = others + &place.unwrap_or_default();
        let counts = self.counts.values().copied();
        let count = match counts.fold(0, i64::saturating_add) {
            ..2 => String::new(),
            count => format!(" ×{count}"),
        };
        let head = format!("{time} {what} {about}{others}: ");
        let message = escape_line(in_brief(&self.message));
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

/// A message without what client-go puts before it if it stands for several Events, and without the words of the API
/// server before the reason of a refusal.
fn in_brief(message: &str) -> &str {
    const COMBINED: &str = "(combined from similar events): ";
    const REFUSED: &str = " is forbidden: ";
    let message = message.strip_prefix(COMBINED).unwrap_or(message);
    let refusal = message.split_once(REFUSED);
    refusal.map_or(message, |(_, reason)| reason)
}

/// The object that an Event is about.
fn about(event: Value<'_>) -> Option<ObjectRef> {
    let about = event
        .at(&["involvedObject"])
        .or_else(|| event.at(&["regarding"]))?;
    Some(ObjectRef {
        api_version: about.text_at(&["apiVersion"]).unwrap_or_default(),
        kind: about.text_at(&["kind"])?,
        namespace: about.text_at(&["namespace"]),
        name: about.text_at(&["name"])?,
        uid: about.text_at(&["uid"]).map(Uid::new),
    })
}
