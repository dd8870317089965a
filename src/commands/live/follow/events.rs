//! `Events`: the events of the followed sources, which wait until the clocks are compared.

use std::sync::Arc;

use futures::FutureExt;
use futures::future::LocalBoxFuture;

use crate::commands::Session;
use crate::commands::live::clusters::Clusters;
use crate::source::{Event, SourceKey};
use crate::watch::Subscriptions;

/// An event, and its source.
pub(super) type SourceEvent = (Arc<SourceKey>, Event);

/// The events of the followed sources.
pub(super) struct Events<'a> {
    clusters: Clusters<'a>,
    pub(super) subscriptions: Subscriptions,
    held: Option<HeldEvent<'a>>,
}

/// An event that waits until the clocks are compared: the view judges it by the server's.
struct HeldEvent<'a> {
    event: SourceEvent,
    comparing: LocalBoxFuture<'a, ()>,
}

impl<'a> Events<'a> {
    pub(super) fn of(clusters: Clusters<'a>) -> Events<'a> {
        Events {
            clusters,
            subscriptions: Subscriptions::default(),
            held: None,
        }
    }

    /// The next event; `None` if there is no source, or if all have ended. It is cancel safe.
    pub(super) async fn next(&mut self) -> Option<SourceEvent> {
        if self.held.is_none() {
            let event = self.subscriptions.next().await?;
            let session = self.clusters.session(&event.0.cluster);
            let Some(clock) = session.and_then(Session::unclear_clock) else {
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

    /// Whether an event waits until the clocks are compared.
    pub(super) fn holds_one(&self) -> bool {
        self.held.is_some()
    }

    /// The next event, if there is one now.
    pub(super) fn next_now(&mut self) -> Option<SourceEvent> {
        self.next().now_or_never().flatten()
    }
}
