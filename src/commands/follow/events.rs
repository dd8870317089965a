//! `Events`: the events of the subscriptions of a live verb. None passes while the server's clock is unclear.

use std::sync::Arc;

use futures::FutureExt;
use futures::future::LocalBoxFuture;

use crate::commands::Session;
use crate::source::{Event, SourceKey};
use crate::watch::Subscriptions;

/// An event, and its source.
pub(super) type SourceEvent = (Arc<SourceKey>, Event);

/// The events of the followed sources.
pub(super) struct Events<'a> {
    session: &'a Session,
    pub(super) subscriptions: Subscriptions,
    held: Option<HeldEvent<'a>>,
}

/// An event that waits until the clocks are compared: the view judges it by the server's.
struct HeldEvent<'a> {
    event: SourceEvent,
    comparing: LocalBoxFuture<'a, ()>,
}

impl<'a> Events<'a> {
    pub(super) fn of(session: &'a Session) -> Events<'a> {
        Events {
            session,
            subscriptions: Subscriptions::default(),
            held: None,
        }
    }

    /// The next event; `None` if there is no source, or if all have ended. It is cancel safe.
    pub(super) async fn next(&mut self) -> Option<SourceEvent> {
        if self.held.is_none() {
            let event = self.subscriptions.next().await?;
            let Some(clock) = self.session.unclear_clock() else {
                return Some(event);
            };
            let comparing = async move { clock.compare().await }.boxed_local();
            self.held = Some(HeldEvent { event, comparing });
        }
        if let Some(held) = &mut self.held {
            (&mut held.comparing).await;
        }
        self.held.take().map(|held| held.event)
    }

    /// The next event, if there is one now.
    pub(super) fn next_now(&mut self) -> Option<SourceEvent> {
        self.next().now_or_never().flatten()
    }
}
