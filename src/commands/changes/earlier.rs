//! What `changes` tells before anything else: what happened before it came.

use jiff::SignedDuration;

use super::formats::Reader;
use super::lookback::divider::{Changed, Seam};
use super::lookback::reach::{Reach, shifted};
use super::lookback::skipped::Unread;
use super::lookback::timeline;
use super::lookback::{LookBack, Start};
use super::run::{Changes, Span};
use super::state::{Occurrence, TimelineEntry};
use super::view::clock;
use crate::commands::sources::{describe, named};
use crate::commands::{CommandError, EveryKind, Session, Terminal};
use crate::object::SourceState;
use crate::render::age;
use crate::render::diff::ChangeType;
use crate::watch::{Event, SourceKey, Why};

impl Changes {
    pub(super) fn look_back(&mut self, session: &Session, reach: Option<Reach>, every: &EveryKind) {
        let shown = self.view.shown.clone();
        let past = reach.map(|reach| LookBack::new(session.mux.clone(), reach, &self.keys, shown));
        self.past = past.filter(LookBack::is_wanted);
        if let Some(past) = &mut self.past {
            let unwatched = every.unwatched.iter().map(Unread::unwatched);
            let silent = every.silent.iter().map(|group| Unread::silent(group));
            past.unread = unwatched.chain(silent).collect();
        }
    }

    /// Tells the look-back what there is to begin with.
    pub(super) fn begin(&mut self, key: &SourceKey, event: &Event) {
        let Some(past) = &mut self.past else { return };
        let is_named = named(key).is_some();
        match event {
            Event::Object { now, .. } if is_named => past.start(key, Start::Version(now.clone())),
            Event::Object {
                why: Why::Listed,
                now,
                ..
            } => past.list(key, now),
            Event::Synced { version, .. } => past.start_listed(key, version),
            Event::State(
                SourceState::Forbidden { cause }
                | SourceState::Unserved { cause }
                | SourceState::Failed { cause }
                // The others need not wait for a server that does not answer.
                | SourceState::Retrying {
                    attempt: 3..,
                    cause,
                    ..
                },
            ) => past.skip(key, cause),
            Event::Object { .. } | Event::State(_) | Event::Gap(_) | Event::Undecodable { .. } => {}
        }
    }

    /// Prints the past, once it is all there; says whether what is live may follow.
    pub(super) fn tell_past(&mut self, terminal: &mut Terminal<'_>) -> Result<bool, CommandError> {
        if self.holds_past() {
            return Ok(false);
        }
        let Some(mut past) = self.past.take_if(|past| past.is_over()) else {
            return Ok(self.past.is_none());
        };
        past.found.sort_by_cached_key(|found| describe(&found.key));
        past.unread.sort_by(|a, b| a.source.cmp(&b.source));
        self.view.skew = past.skew();
        let now = shifted(terminal.env().now(), past.skew());
        let told = timeline::timeline(&past.found, past.since(), now);
        let events = told.iter().filter_map(TimelineEntry::version);
        for event in events.filter(|event| event.change == ChangeType::Deleted) {
            self.state.remember_deleted(&event.now.object);
        }
        self.earlier = told.len() as u64;
        let has_past = |key: &SourceKey| told.iter().any(|entry| *entry.key == *key);
        self.absent
            .retain(|key| self.span == Span::On || !has_past(key));
        let hidden = self.state.hidden;
        let mut page = self.page(&told, terminal);
        // The footer counts what is live.
        self.state.hidden = hidden;
        // Only the end interrupts it.
        let is_cut = past.found.iter().any(|found| found.is_cut);
        let seam = Seam {
            found: &past.found,
            unread: &past.unread,
            shown: page.shown,
            first: page.first,
            hidden: page.hidden,
            changed: Changed::by(&told),
            is_asked: past.is_asked(),
            since: past.since(),
            live: (self.span == Span::On && !is_cut).then_some(now),
        };
        self.unread.extend(seam.unknown());
        let look = terminal.look();
        match self.view.format.reader() {
            Reader::Person => {
                self.pending.retain(|entry| {
                    let is_repeated = entry.is_baseline() && has_past(&entry.key);
                    !is_repeated && !matches!(entry.what, Occurrence::Synced { .. })
                });
                let seam = seam.lines(look.width, |time| clock(time, look, terminal.env()));
                let seam = seam.iter().map(|line| look.styles.dim(line));
                page.lines.extend(seam);
            }
            Reader::Records => page.lines.extend(seam.records(&self.view, now, told.len())),
            Reader::Documents => page.asides.extend(seam.interruption()),
        }
        page.asides.extend(skewed(past.skew()));
        page.print(terminal)?;
        Ok(true)
    }
}

/// What is said of clocks that differ.
fn skewed(skew: SignedDuration) -> Option<String> {
    let by = age::human(skew.abs());
    let way = match skew.signum() {
        0 => return None,
        1 => "behind",
        _ => "ahead of",
    };
    Some(format!(
        "this machine's clock is {by} {way} the server's: the times of earlier versions are the server's"
    ))
}
