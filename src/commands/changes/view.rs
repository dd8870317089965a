//! What `changes` prints of what has happened: lines of text.

use std::collections::BTreeSet;
use std::sync::Arc;

use jiff::{SignedDuration, Timestamp};

use super::state::{Happened, PastTime, Step};
use super::story::ago;
use crate::commands::Terminal;
use crate::commands::sources::{describe, named};
use crate::diff::{Diff, Filter, Noise, Redactor};
use crate::env::Env;
use crate::object::managed_fields::Writers;
use crate::object::{Doc, ObjectRef};
use crate::render::age;
use crate::render::diff::{
    self, Counts, Header, Verb, change_lines, counts, created_lines, header,
};
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
    /// Which sorts of noise are shown.
    pub(super) noise: BTreeSet<Noise>,
    /// The namespace that need not be named; `None` if all are looked at.
    pub(super) namespace: Option<Arc<str>>,
}

/// How one thing that has happened is headed.
#[derive(Clone, Copy)]
struct Headed<'h> {
    verb: Verb,
    seen: Timestamp,
    since: Option<SignedDuration>,
    notes: &'h [String],
    past: Option<PastTime>,
}

impl<'h> Headed<'h> {
    fn new(verb: Verb, happened: &Happened) -> Headed<'h> {
        Headed {
            verb,
            seen: happened.past.map_or(happened.seen, |past| past.time),
            since: None,
            notes: &[],
            past: happened.past,
        }
    }

    fn noting(self, since: Option<SignedDuration>, notes: &'h [String]) -> Headed<'h> {
        Headed {
            since,
            notes,
            ..self
        }
    }
}

impl View {
    /// The lines of text; none for what is hidden.
    pub(super) fn lines(&self, happened: &Happened, terminal: &Terminal<'_>) -> Vec<String> {
        let draw = Draw {
            view: self,
            look: terminal.look(),
            env: terminal.env(),
        };
        let headed = |verb| Headed::new(verb, happened);
        match &happened.step {
            Step::Baseline(now) => draw.object(now, headed(Verb::Baseline)),
            Step::State(_) => Vec::new(),
            Step::Synced { .. } if named(&happened.key).is_some() => Vec::new(),
            Step::Synced { count } => {
                let text = format!("watching {count} {}", describe(&happened.key));
                vec![draw.look.styles.dim(&escape_line(&text))]
            }
            Step::Created { now, again: false } => draw.object(now, headed(Verb::Created)),
            Step::Created { now, again: true } => draw.object(now, headed(Verb::Recreated)),
            Step::Modified {
                old,
                now,
                skipped,
                since,
            } => {
                let notes = missing(*skipped, "versions may be missing");
                let since = since.map(|since| happened.seen.duration_since(since));
                draw.change(old, now, headed(Verb::Modified).noting(since, &notes))
            }
            Step::Deleted { old, last, unseen } => {
                let notes = missing(*unseen, "while disconnected");
                draw.deletion(
                    old.as_deref(),
                    last,
                    headed(Verb::Deleted).noting(None, &notes),
                )
            }
            Step::Left { last } => draw.object(last, headed(Verb::Left)),
            Step::Gap(gap) => vec![draw.warning(&gap_text(gap))],
            Step::Undecodable { detail } => {
                let source = describe(&happened.key);
                vec![draw.warning(&format!("a line of {source} could not be read: {detail}"))]
            }
        }
    }
}

fn missing(is: bool, note: &str) -> Vec<String> {
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
    format!(
        "-- versions after {} up to {} may be missing: {cause} --",
        gap.after, gap.upto
    )
}

/// A view on one screen.
struct Draw<'d> {
    view: &'d View,
    look: Look,
    env: &'d Env,
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
        if who.is_some() || matches!(headed.verb, Verb::Created | Verb::Recreated) {
            lines.extend(
                self.with_view(|view| created_lines(self.view.redactor.shown(doc.root()), view)),
            );
        }
        lines
    }

    /// A version: a header and its changes, or nothing if all of them are hidden.
    fn change(&self, old: &Version, now: &Version, headed: Headed<'_>) -> Vec<String> {
        let Some((before, doc)) = read_both(old, now) else {
            return vec![self.unreadable(now)];
        };
        let diff = Diff::of(Some(before.root()), Some(doc.root()));
        let counts = counts(&diff, &self.view.filter, &self.view.noise);
        if counts.shown == 0 {
            return Vec::new();
        }
        let writers = Writers::of(Some(before.root()), Some(doc.root()));
        let who = diff::who(&writers);
        let mut lines = vec![self.header(now, Some(old), (headed, who.as_deref(), Some(&counts)))];
        lines.extend(self.with_view(|view| change_lines(&diff, &writers, view)));
        lines
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
        if let Some((before, _)) = old.and_then(|old| read_both(old, last)) {
            let diff = Diff::of(Some(before.root()), Some(doc.root()));
            let writers = Writers::of(Some(before.root()), Some(doc.root()));
            lines.extend(self.with_view(|view| change_lines(&diff, &writers, view)));
        }
        lines
    }

    fn unreadable(&self, version: &Version) -> String {
        self.warning(&format!(
            "{} {} could not be read",
            version.object, version.version
        ))
    }

    fn warning(&self, text: &str) -> String {
        self.look.styles.warning(&escape_line(text))
    }

    fn header(
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
            from: old.map(|old| &old.version),
            to: Some(&now.version),
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

    fn with_view<T>(&self, lines: impl FnOnce(&diff::View<'_>) -> T) -> T {
        lines(&diff::View {
            look: self.look,
            redactor: &self.view.redactor,
            filter: &self.view.filter,
            noise: &self.view.noise,
            zone: &self.env.zone,
        })
    }
}

/// A time as it is shown.
pub(super) fn clock(time: Timestamp, (look, env): (Look, &Env)) -> String {
    match look.width {
        Some(_) => age::clock(time, &env.zone),
        None => age::rfc3339_millis(time),
    }
}

fn read(version: &Version) -> Option<Doc> {
    version.doc().ok()
}

fn read_both(old: &Version, now: &Version) -> Option<(Doc, Doc)> {
    let before = old.doc().ok()?;
    let doc = Doc::parse_after(now.body.clone(), &before).ok()?;
    Some((before, doc))
}
