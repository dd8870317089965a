//! What `changes` prints of what has happened, for people: lines of text.

use std::collections::BTreeSet;
use std::sync::Arc;

use jiff::{SignedDuration, Timestamp};

use super::body::Read;
use super::by::By;
use super::formats::Format;
use super::state::{Happened, PastTime, Step};
use super::story::ago;
use super::told::Told;
use crate::commands::Terminal;
use crate::commands::sources::{describe, describe_counted, named};
use crate::diff::{Diff, Filter, Noise, Redactor};
use crate::env::Env;
use crate::object::list_keys::KindKeys;
use crate::object::managed_fields::Writers;
use crate::object::{Doc, ObjectRef, ResourceVersion};
use crate::render::age;
use crate::render::diff::{self, Counts, Fold, Header, Verb, counts, header};
use crate::render::style::Look;
use crate::render::text::escape_line;
use crate::watch::{Gap, GapCause, Version};

/// How changes are shown; the redactor in it numbers the values of Secrets for as long as the program
/// runs.
pub(super) struct View {
    /// What records call the cluster.
    pub(super) cluster: String,
    /// What values are read through.
    pub(super) redactor: Redactor,
    /// Which changes are asked for.
    pub(super) filter: Filter,
    /// Whose changes are asked for.
    pub(super) by: By,
    /// How they are written.
    pub(super) format: Format,
    /// What is told of new objects.
    pub(super) creation: Creation,
    /// Which sorts of noise are shown.
    pub(super) noise: BTreeSet<Noise>,
    /// Whether much is counted.
    pub(super) fold: Fold,
    /// What tells the items of lists apart, by kind.
    pub(super) keys: KindKeys,
    /// The namespace that need not be named; `None` if all are looked at.
    pub(super) namespace: Option<Arc<str>>,
}

/// What is told of an object that is new.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Creation {
    /// Its parts, folded to the width.
    Summary,
    /// All of it.
    Whole,
}

/// How one thing that has happened is headed.
#[derive(Clone, Copy)]
pub(super) struct Headed<'h> {
    verb: Verb,
    seen: Timestamp,
    since: Option<SignedDuration>,
    notes: &'h [String],
    past: Option<PastTime>,
}

impl<'h> Headed<'h> {
    pub(super) fn new(verb: Verb, happened: &Happened) -> Headed<'h> {
        Headed {
            verb,
            seen: happened.time(),
            since: None,
            notes: &[],
            past: happened.past,
        }
    }

    pub(super) fn noting(self, since: Option<SignedDuration>, notes: &'h [String]) -> Headed<'h> {
        Headed {
            since,
            notes,
            ..self
        }
    }
}

impl View {
    /// The lines of everything but a version.
    pub(super) fn lines(&self, happened: &Happened, terminal: &Terminal<'_>) -> Vec<String> {
        let draw = self.drawing(happened, terminal);
        let headed = |verb| Headed::new(verb, happened);
        match &happened.step {
            Step::Baseline(now) => draw.object(now, headed(Verb::Baseline)),
            Step::State(_) | Step::Modified { .. } => Vec::new(),
            Step::Synced { .. } => {
                let text = notice(happened).into_iter();
                text.map(|text| draw.look.styles.dim(&escape_line(&text)))
                    .collect()
            }
            Step::Created { now, again: false } => draw.object(now, headed(Verb::Created)),
            Step::Created { now, again: true } => draw.object(now, headed(Verb::Recreated)),
            Step::Deleted { old, last, unseen } => {
                let notes = missing(*unseen, "while disconnected");
                draw.deletion(
                    old.as_deref(),
                    last,
                    headed(Verb::Deleted).noting(None, &notes),
                )
            }
            Step::Left { last } => draw.object(last, headed(Verb::Left)),
            Step::Gap(_) | Step::Undecodable { .. } => {
                let text = notice(happened).into_iter();
                text.map(|text| draw.warning(&text)).collect()
            }
        }
    }
}

/// What is said of what has happened to no object.
pub(super) fn notice(happened: &Happened) -> Option<String> {
    match &happened.step {
        Step::Synced { count } if named(&happened.key).is_none() => {
            let what = describe_counted(&happened.key, *count);
            Some(format!("watching {what}"))
        }
        Step::Gap(gap) => Some(gap_text(gap)),
        Step::Undecodable { detail } => {
            let source = describe(&happened.key);
            Some(format!("a line of {source} could not be read: {detail}"))
        }
        Step::Synced { .. }
        | Step::State(_)
        | Step::Baseline(_)
        | Step::Created { .. }
        | Step::Modified { .. }
        | Step::Deleted { .. }
        | Step::Left { .. } => None,
    }
}

pub(super) fn missing(is: bool, note: &str) -> Vec<String> {
    is.then(|| note.to_owned()).into_iter().collect()
}

/// A gap in a sentence.
pub(super) fn gap_text(gap: &Gap) -> String {
    let cause = match gap.cause {
        GapCause::Expired => "the server has forgotten them".to_owned(),
        GapCause::Undecodable => "a line could not be read".to_owned(),
        GapCause::Polled => "the server does not let us watch".to_owned(),
        GapCause::Unseen => "objects that came and went in between".to_owned(),
        GapCause::SlowSubscriber { dropped } => format!("{dropped} were not read in time"),
    };
    let interval = match (gap.after.as_str(), gap.upto.as_str()) {
        ("", "") => "versions".to_owned(),
        ("", upto) => format!("versions up to {upto}"),
        (after, "") => format!("versions after {after}"),
        (after, upto) => format!("versions after {after} up to {upto}"),
    };
    format!("-- {interval} may be missing: {cause} --")
}

/// A view on one screen.
pub(super) struct Draw<'d> {
    pub(super) view: &'d View,
    pub(super) look: Look,
    pub(super) env: &'d Env,
    /// Noise that is shown as well.
    pub(super) heartbeats: Option<Noise>,
}

impl Draw<'_> {
    /// An object that is there, or came, or left: a header, and what it is.
    fn object(&self, now: &Version, headed: Headed<'_>) -> Vec<String> {
        let Some(doc) = read(now) else {
            return vec![self.unreadable(now)];
        };
        let writers = Writers::of(None, Some(doc.root()));
        let who = matches!(headed.verb, Verb::Created | Verb::Recreated)
            .then(|| diff::who(&writers))
            .flatten();
        let mut lines = vec![self.header(now, None, (headed, who.as_deref(), None))];
        lines.extend(self.whole(headed.verb, read_as(now, &doc)));
        lines
    }

    /// A version: a header and its changes, or nothing if all of them are hidden.
    pub(super) fn change(&self, old: &Version, now: &Version, headed: Headed<'_>) -> Told {
        let Some((before, doc)) = read_both(old, now) else {
            return Told::lines(self.uncompared(old, now, headed));
        };
        let keys = self.view.keys.of(&now.object.group_kind());
        let writers = Writers::of(Some(before.root()), Some(doc.root()));
        let mut diff = Diff::keyed(Some(before.root()), Some(doc.root()), &keys);
        let others = self.view.by.narrow(&mut diff, &writers);
        let mut counts = counts(&diff, &self.view.filter, &self.noise());
        counts.filtered += others;
        if counts.shown == 0 {
            return Told::quiet(counts);
        }
        let who = diff::who(&writers);
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
    fn deletion(&self, old: Option<&Version>, last: &Version, headed: Headed<'_>) -> Vec<String> {
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
            let keys = self.view.keys.of(&last.object.group_kind());
            let writers = Writers::of(Some(before.root()), Some(doc.root()));
            let mut diff = Diff::keyed(Some(before.root()), Some(doc.root()), &keys);
            self.view.by.narrow(&mut diff, &writers);
            if counts(&diff, &self.view.filter, &self.noise()).shown > 0 {
                lines.extend(self.body((&diff, &writers), (read_as(old, &before), now)));
            }
        }
        lines
    }

    /// A version of which one side cannot be read.
    fn uncompared(&self, old: &Version, now: &Version, headed: Headed<'_>) -> Vec<String> {
        if read(now).is_none() {
            return vec![self.unreadable(now)];
        }
        let mut notes = headed.notes.to_vec();
        notes.push("the version before could not be read".to_owned());
        let headed = headed.noting(headed.since, &notes);
        vec![self.header(now, Some(old), (headed, None, None))]
    }

    fn unreadable(&self, version: &Version) -> String {
        let object = &version.object;
        self.warning(&match known(&version.version) {
            Some(version) => format!("{object} {version} could not be read"),
            None => format!("{object} could not be read"),
        })
    }

    fn warning(&self, text: &str) -> String {
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
        let earlier = headed.past.map(|past| ago(past, self.env.now()));
        let notes: Vec<String> = place
            .into_iter()
            .chain(earlier)
            .chain(headed.notes.iter().cloned())
            .collect();
        let parts = Header {
            time: &time,
            verb: headed.verb,
            object: &now.object,
            from: old.and_then(|old| known(&old.version)),
            to: known(&now.version),
            since: headed.since,
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
        let asked = self.view.noise.iter().copied();
        asked.chain(self.heartbeats).collect()
    }

    pub(super) fn with_view<T>(&self, lines: impl FnOnce(&diff::View<'_>) -> T) -> T {
        lines(&diff::View {
            look: self.look,
            redactor: &self.view.redactor,
            filter: &self.view.filter,
            noise: &self.noise(),
            zone: &self.env.zone,
            fold: self.view.fold,
        })
    }
}

/// A version, where there is one: manifests have none.
pub(super) fn known(version: &ResourceVersion) -> Option<&ResourceVersion> {
    Some(version).filter(|version| !version.as_str().is_empty())
}

/// A time as it is shown.
pub(super) fn clock(time: Timestamp, (look, env): (Look, &Env)) -> String {
    match look.width {
        Some(_) => age::clock(time, &env.zone),
        None => age::rfc3339_millis(time),
    }
}

fn read_as<'r>(version: &'r Version, doc: &'r Doc) -> Read<'r> {
    Read { version, doc }
}

fn read(version: &Version) -> Option<Doc> {
    version.doc().ok()
}

fn read_both(old: &Version, now: &Version) -> Option<(Doc, Doc)> {
    let before = old.doc().ok()?;
    let doc = Doc::parse_after(now.body.clone(), &before).ok()?;
    Some((before, doc))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_gap_names_the_versions_that_there_are() {
        let check = |after: &str, upto: &str, expect: &str| {
            let gap = Gap {
                after: ResourceVersion::new(after),
                upto: ResourceVersion::new(upto),
                cause: GapCause::Polled,
            };
            let rest = " may be missing: the server does not let us watch --";
            assert_eq!(gap_text(&gap), format!("-- {expect}{rest}"));
        };
        check("4", "7", "versions after 4 up to 7");
        check("", "7", "versions up to 7");
        check("4", "", "versions after 4");
        check("", "", "versions");
    }
}
