//! How `changes` draws a version for people: its heading, and below it what the format says.

use std::collections::BTreeSet;

use jiff::Timestamp;

use super::body::Read;
use super::formats::Format;
use super::lookback::reach::shifted;
use super::lookback::timeline::ago;
use super::shown::Compared;
use super::told::Told;
use super::view::{Headed, View, clock, known};
use crate::diff::Noise;
use crate::env::Env;
use crate::object::managed_fields::Writers;
use crate::object::{Doc, ObjectRef};
use crate::render::age;
use crate::render::diff::{self, Counts, Header, Verb, header};
use crate::render::style::Look;
use crate::render::text::escape_line;
use crate::watch::{SourceKey, Version};

/// A view on one screen.
pub(super) struct Draw<'d> {
    pub(super) view: &'d View,
    pub(super) look: Look,
    pub(super) env: &'d Env,
    /// The source of what is drawn.
    pub(super) key: &'d SourceKey,
}

impl Draw<'_> {
    /// An object that is there, or came, or left: a header, and what it is.
    pub(super) fn object(&self, now: &Version, headed: Headed<'_>) -> Vec<String> {
        let Some(doc) = read(now) else {
            return vec![self.unreadable(now)];
        };
        let writers = Writers::of(None, Some(doc.root()));
        let who = matches!(headed.verb, Verb::Created | Verb::Recreated)
            .then(|| diff::writer(&writers))
            .flatten();
        let mut lines = vec![self.header(now, None, (headed, who.as_deref(), None))];
        lines.extend(self.whole(headed.verb, read_as(now, &doc)));
        lines
    }

    /// A version: a header and its changes, or nothing if all of them are hidden.
    pub(super) fn change(&self, old: &Version, now: &Version, headed: Headed<'_>) -> Told {
        let Some((before, doc)) = self.view.held.both(old, now) else {
            return Told::lines(self.uncompared(old, now, headed));
        };
        let shown = &self.view.shown;
        let keys = shown.keys.of(&now.object.group_kind());
        let compared = shown.compare(self.key, [before.root(), doc.root()], &keys);
        if !compared.is_shown() {
            return Told::quiet(compared.counts);
        }
        let Compared {
            diff,
            writers,
            counts,
        } = compared;
        let who = self.with_view(|view| diff::who(&diff, &writers, view));
        let mut lines = vec![self.header(now, Some(old), (headed, who.as_deref(), Some(&counts)))];
        let sides = (read_as(old, &before), read_as(now, &doc));
        lines.extend(self.body((&diff, &writers), sides));
        Told {
            shown: counts.shown,
            hidden: counts.hidden(),
            ..Told::lines(lines)
        }
    }

    /// A deletion: how long the object lived, and what changed last.
    pub(super) fn deletion(
        &self,
        old: Option<&Version>,
        last: &Version,
        headed: Headed<'_>,
    ) -> Vec<String> {
        let Some(doc) = read(last) else {
            return vec![self.unreadable(last)];
        };
        let lived = diff::lifetime(self.view.redactor.shown(doc.root()), headed.seen);
        let lived = lived.map(|lived| format!("after {}", age::human(lived)));
        let notes: Vec<String> = lived
            .into_iter()
            .chain(headed.notes.iter().cloned())
            .collect();
        let mut lines = vec![self.header(
            last,
            None,
            (
                Headed {
                    notes: &notes,
                    ..headed
                },
                None,
                None,
            ),
        )];
        let now = read_as(last, &doc);
        if self.view.format == Format::Diff {
            lines.extend(self.unified(Some(now), None));
        } else if let Some((old, before)) = old.and_then(|old| Some((old, read(old)?))) {
            let shown = &self.view.shown;
            let keys = shown.keys.of(&last.object.group_kind());
            let compared = shown.compare(self.key, [before.root(), doc.root()], &keys);
            if compared.is_shown() {
                let changes = (&compared.diff, &compared.writers);
                lines.extend(self.body(changes, (read_as(old, &before), now)));
            }
        }
        lines
    }

    /// A version of which one side cannot be read.
    pub(super) fn uncompared(
        &self,
        old: &Version,
        now: &Version,
        headed: Headed<'_>,
    ) -> Vec<String> {
        if read(now).is_none() {
            return vec![self.unreadable(now)];
        }
        let mut notes = headed.notes.to_vec();
        notes.push("the version before could not be read".to_owned());
        let headed = headed.noting(headed.since, &notes);
        vec![self.header(now, Some(old), (headed, None, None))]
    }

    pub(super) fn unreadable(&self, version: &Version) -> String {
        let object = &version.object;
        self.warning(&match known(&version.version) {
            Some(version) => format!("{object} {version} could not be read"),
            None => format!("{object} could not be read"),
        })
    }

    pub(super) fn warning(&self, text: &str) -> String {
        self.look.styles.warning(&escape_line(text))
    }

    pub(super) fn header(
        &self,
        now: &Version,
        old: Option<&Version>,
        (headed, who, counts): (Headed<'_>, Option<&str>, Option<&Counts>),
    ) -> String {
        let mut time = self.time(headed.seen);
        if let Some(until) = headed.past.and_then(|past| past.until) {
            time = format!("{time}–{}", self.time(until));
        }
        let place = self.place(&now.object);
        let today = shifted(self.env.now(), self.view.skew);
        let earlier = headed.past.map(|past| ago(past, today));
        let notes: Vec<String> = place
            .into_iter()
            .chain(headed.notes.iter().cloned())
            .collect();
        let parts = Header {
            time: &time,
            verb: headed.verb,
            object: &now.object,
            from: old.and_then(|old| known(&old.version)),
            to: known(&now.version),
            since: headed.since,
            ago: earlier.as_deref(),
            notes: &notes,
            who,
            counts,
        };
        header(&parts, self.look)
    }

    fn time(&self, time: Timestamp) -> String {
        clock(time, (self.look, self.env))
    }

    /// The flag that leads to an object elsewhere than where names are looked up by default.
    fn place(&self, object: &ObjectRef) -> Option<String> {
        let namespace = object.namespace.as_ref()?;
        (Some(namespace) != self.view.namespace.as_ref()).then(|| format!("-n {namespace}"))
    }

    pub(super) fn noise(&self) -> BTreeSet<Noise> {
        self.view.shown.noise_of(self.key)
    }

    pub(super) fn with_view<T>(&self, lines: impl FnOnce(&diff::View<'_>) -> T) -> T {
        lines(&diff::View {
            look: self.look,
            redactor: &self.view.redactor,
            filter: &self.view.shown.filter,
            noise: &self.noise(),
            zone: &self.env.zone,
            fold: self.view.fold,
        })
    }
}

fn read_as<'r>(version: &'r Version, doc: &'r Doc) -> Read<'r> {
    Read { version, doc }
}

fn read(version: &Version) -> Option<Doc> {
    version.doc().ok()
}
