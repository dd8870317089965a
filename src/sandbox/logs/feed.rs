//! `LogFeed`: sends a log line by line, and follows it until its instance has ended.

use std::io;
use std::sync::Arc;

use bytes::Bytes;
use futures::Stream;
use futures::stream::unfold;
use tokio::sync::watch;

use super::{LogOptions, container_of, instance_of};
use crate::sandbox::fault::{Effect, End, Place};
use crate::sandbox::state::ServerState;
use crate::sandbox::store::StoreKey;
use crate::sandbox::wire::Switch;

/// The log that a request names.
pub(in crate::sandbox) struct RequestedLog {
    /// The Pod of the container.
    pub(in crate::sandbox) pod: StoreKey,
    /// The ID of the instance of the container.
    pub(in crate::sandbox) id: String,
    /// What the query demands.
    pub(in crate::sandbox) options: LogOptions,
}

/// The answer to a request for a log.
pub(in crate::sandbox) struct LogFeed {
    shared: Arc<ServerState>,
    requested: RequestedLog,
    effects: Vec<Effect>,
    switch: Arc<Switch>,
    /// The next line.
    next: usize,
    sent: usize,
    cuts: u64,
    logs: watch::Receiver<u64>,
    objects: watch::Receiver<u64>,
    is_over: bool,
}

impl LogFeed {
    pub(in crate::sandbox) fn open(
        shared: &Arc<ServerState>,
        requested: RequestedLog,
        effects: Vec<Effect>,
        switch: Arc<Switch>,
    ) -> LogFeed {
        let (logs, objects) = (shared.logs.changed.subscribe(), shared.store.subscribe());
        let stored = shared.logs.lock();
        let log = stored.by_id.get(&requested.id);
        let (first, count) = log.map_or((0, 0), |log| (log.first, log.lines.len()));
        let tail = requested
            .options
            .tail
            .map_or(0, |tail| count.saturating_sub(tail));
        let cuts = stored.cuts;
        drop(stored);
        LogFeed {
            shared: shared.clone(),
            requested,
            effects,
            switch,
            next: first.max(tail),
            sent: 0,
            cuts,
            logs,
            objects,
            is_over: false,
        }
    }

    pub(in crate::sandbox) fn into_stream(self) -> impl Stream<Item = io::Result<Bytes>> + Send {
        unfold(self, |mut feed| async move {
            let item = feed.next().await?;
            Some((item, feed))
        })
    }

    async fn next(&mut self) -> Option<io::Result<Bytes>> {
        loop {
            if self.is_over || self.is_cut() {
                return None;
            }
            match self.fault() {
                Some(End::Clean) => return None,
                Some(end) => {
                    self.switch.throw(end);
                    self.is_over = true;
                    // What was sent so far must reach the client first.
                    tokio::task::yield_now().await;
                    return Some(Err(io::ErrorKind::ConnectionReset.into()));
                }
                None => {}
            }
            if let Some(line) = self.line() {
                self.sent += 1;
                return Some(Ok(line.into()));
            }
            if !self.requested.options.follow || !self.is_running() {
                return None;
            }
            tokio::select! {
                _ = self.logs.changed() => {}
                _ = self.objects.changed() => {}
            }
        }
    }

    /// The end that a fault causes here.
    fn fault(&self) -> Option<End> {
        self.effects.iter().find_map(|effect| match effect {
            Effect::Cut {
                at: Place::AfterHeaders,
                end,
            } if self.sent == 0 => Some(*end),
            Effect::Cut {
                at: Place::AfterEvents(after),
                end,
            } if self.sent == *after => Some(*end),
            _ => None,
        })
    }

    fn line(&mut self) -> Option<Vec<u8>> {
        let stored = self.shared.logs.lock();
        let log = stored.by_id.get(&self.requested.id)?;
        while let Some(line) = log.lines.get(self.next) {
            self.next += 1;
            if self
                .requested
                .options
                .since
                .is_none_or(|since| line.time >= since)
            {
                return Some(line.wire(&self.requested.options));
            }
        }
        None
    }

    fn is_cut(&self) -> bool {
        self.shared.logs.lock().cuts != self.cuts
    }

    /// Whether the instance still runs, by the status of its Pod.
    fn is_running(&self) -> bool {
        let pod = self.shared.store.lock().get(&self.requested.pod).cloned();
        let Some(pod) = pod else { return false };
        let pod = pod.whole(&self.shared.store.kinds[self.requested.pod.kind]);
        let Ok(container) = container_of(&pod, &self.requested.options) else {
            return false;
        };
        let is_present =
            instance_of(&pod, &container, false).is_ok_and(|id| id == self.requested.id);
        let statuses = pod["status"]
            .as_object()
            .into_iter()
            .flat_map(|status| status.values());
        let mut statuses = statuses.filter_map(|list| list.as_array()).flatten();
        is_present
            && statuses.any(|status| {
                status["name"] == container.as_str() && status["state"]["running"].is_object()
            })
    }
}
