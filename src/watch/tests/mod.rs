//! The multiplexer against a scripted server, under a paused clock.

mod check;
mod driver;
pub(super) mod fake;
mod fill;
mod parts;
mod past;
mod restore;
mod schedule;
mod states;
mod subscribers;
mod window;

use std::sync::Arc;
use std::time::Duration;

use jiff::{SignedDuration, Timestamp};
use tokio::sync::Notify;
use tokio::time::{Instant, timeout};

use super::mux::{LosslessSubscription, Mux, Source, Taken};
use super::options::MuxOptions;
use super::queue::Patience;
use super::source::SharedSource;
use super::transport::Transport;
use crate::cluster::Clock;
use crate::source::{
    ClusterId, Event, Gap, GapCause, Select, SourceKey, SourceState, Version, Why,
};
use fake::{Did, Fake, pods};

/// One subscription, and the signal that wakes its reader.
pub(super) struct Reading {
    every: LosslessSubscription,
    signal: Arc<Notify>,
}

impl Reading {
    /// The next event; `None` after the end of a file.
    pub(super) async fn next(&mut self) -> Option<Event> {
        loop {
            match self.every.take() {
                Taken::Event(event) => return Some(event),
                Taken::Done => return None,
                // A signal that arrived since `take` stays until somebody waits for it.
                Taken::Empty => self.signal.notified().await,
            }
        }
    }
}

impl Mux {
    /// Opens a source that reads at once.
    pub(super) fn open(&self, key: SourceKey) -> Source {
        let source = self.open_idle(key);
        source.start();
        source
    }
}

impl Source {
    /// Subscribes to every event.
    pub(super) fn every(&self, patience: Patience) -> Reading {
        let signal = Arc::new(Notify::new());
        let every = self.subscribe(patience.into(), signal.clone());
        Reading { every, signal }
    }

    pub(super) fn shared(&self) -> &SharedSource {
        &self.lease.shared
    }
}

/// A clock that follows tokio's.
pub(super) fn clock() -> Clock {
    let start = Instant::now();
    Arc::new(move || {
        let elapsed = SignedDuration::try_from(start.elapsed()).expect("short");
        Timestamp::UNIX_EPOCH + elapsed
    })
}

pub(super) fn mux_with(fake: &Fake, options: MuxOptions) -> Mux {
    let transport: Arc<dyn Transport> = Arc::new(fake.clone());
    Mux::with_options([(ClusterId("test".into()), transport)], clock(), options)
}

fn mux(fake: &Fake) -> Mux {
    let options = MuxOptions {
        seed: 7,
        ..MuxOptions::default()
    };
    mux_with(fake, options)
}

fn open(fake: &Fake) -> Source {
    mux(fake).open(pods())
}

/// The newest version of each object in the store, by namespace and name.
fn held(source: &Source) -> Vec<Arc<Version>> {
    let inner = source.shared().lock();
    let held = inner.store.iter();
    held.map(|entry| entry.version.clone()).collect()
}

/// The state of the source.
fn state(source: &Source) -> SourceState {
    source.shared().state().borrow().clone()
}

fn labelled(labels: &str) -> SourceKey {
    SourceKey {
        select: Select::labelled(labels),
        ..pods()
    }
}

/// An event in one or two words: `+a@101`, `state Live`.
pub(super) fn brief(event: &Event) -> String {
    match event {
        Event::Object {
            why,
            now,
            prev,
            past,
            ..
        } => {
            let past = if *past { " read back" } else { "" };
            let why = match why {
                Why::Listed => "listed",
                Why::Added => "added",
                Why::Modified => "modified",
                Why::Deleted => "deleted",
                Why::LeftSelector => "left",
                Why::Vanished => "vanished",
                Why::Skipped => "skipped",
            };
            let prev = prev.as_ref().map(|prev| format!("{}>", prev.version));
            let prev = prev.unwrap_or_default();
            format!("{why} {} {prev}{}{past}", now.object.name, now.version)
        }
        Event::Synced { epoch, count, .. } => format!("synced {epoch} ({count})"),
        Event::State(state) => match state {
            SourceState::Connecting => "connecting".to_owned(),
            SourceState::Live => "live".to_owned(),
            SourceState::Retrying { attempt, cause, .. } => format!("retrying {attempt}: {cause}"),
            SourceState::Forbidden { .. } => "forbidden".to_owned(),
            SourceState::Unserved { .. } => "unserved".to_owned(),
            SourceState::Polling { .. } => "polling".to_owned(),
            SourceState::Failed { cause } => format!("failed: {cause}"),
            SourceState::Ended => "ended".to_owned(),
        },
        Event::Gap(Gap { after, upto, cause }) => match cause {
            GapCause::SlowSubscriber { dropped } => format!("gap {after}-{upto} slow {dropped}"),
            cause => format!("gap {after}-{upto} {cause:?}"),
        },
        Event::Undecodable { .. } => "undecodable".to_owned(),
    }
}

/// All events, until none arrives for this long.
pub(super) async fn drain_for(every: &mut Reading, quiet: Duration) -> Vec<String> {
    let mut events = Vec::new();
    while let Ok(Some(event)) = timeout(quiet, every.next()).await {
        events.push(brief(&event));
    }
    events
}

async fn drain(every: &mut Reading) -> Vec<String> {
    drain_for(every, Duration::from_secs(2)).await
}

/// A live source with these pods, and its subscription, read up to now.
async fn live(fake: &Fake, names: &[&str]) -> (Source, Reading) {
    for name in names {
        fake.apply(name);
    }
    let source = open(fake);
    let mut every = source.every(Patience::Screen);
    let events = drain(&mut every).await;
    assert_eq!(
        events.last().map(String::as_str),
        Some("live"),
        "{events:?}"
    );
    (source, every)
}
