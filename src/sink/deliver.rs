//! `SinkDeliveries`: sends the messages of one sink, one at a time and in order.

use std::sync::Arc;
use std::time::Duration;

use jiff::Timestamp;
use tokio::sync::mpsc;
use tokio::time::sleep;

use super::attempt::{Attempt, RetryWaits, ToldOutage};
use super::outbox::OutboxError;
use super::queue::SinkQueue;
use super::transition::Delivery;
use super::webhook::Sink;
use crate::serve::SinkCounts;

/// The longest time between two looks at the outbox. The clock may have been set.
const LOOK: Duration = Duration::from_secs(5);

/// News of a sink, for the user.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SinkNote {
    /// The name of the sink.
    pub sink: String,
    /// What happened.
    pub text: String,
}

/// The deliveries to one sink.
pub struct SinkDeliveries {
    sink: Arc<Sink>,
    queue: Arc<SinkQueue>,
    clock: Arc<dyn Fn() -> Timestamp + Send + Sync>,
    notes: mpsc::Sender<SinkNote>,
    waits: RetryWaits,
    outage: ToldOutage,
}

impl SinkDeliveries {
    /// The deliveries from this queue. News of them goes to `notes`.
    pub fn new(
        sink: Arc<Sink>,
        queue: Arc<SinkQueue>,
        clock: Arc<dyn Fn() -> Timestamp + Send + Sync>,
        notes: mpsc::Sender<SinkNote>,
    ) -> SinkDeliveries {
        SinkDeliveries {
            sink,
            queue,
            clock,
            notes,
            waits: RetryWaits::default(),
            outage: ToldOutage::default(),
        }
    }

    /// Sends messages for as long as it is polled. A message that is on its way when the future is dropped is sent again.
    pub async fn run(mut self) {
        let queue = self.queue.clone();
        loop {
            let changed = queue.changed();
            match self.step().await {
                Ok(Some(wait)) => sleep(wait).await,
                Ok(None) => {
                    let wait = self.until_release().await.unwrap_or(LOOK);
                    tokio::select! {
                        () = changed => {}
                        () = sleep(wait) => {}
                    }
                }
                Err(error) => {
                    let cause = error.to_string();
                    if self.outage.is_news(&cause) {
                        self.note(cause);
                    }
                    sleep(self.waits.after_failure(fastrand::f64())).await;
                }
            }
        }
    }

    /// Sends the next message once. Returns how long to wait before the next step; `None` if no message can be sent now.
    async fn step(&mut self) -> Result<Option<Duration>, OutboxError> {
        let now = (self.clock)();
        let sink = self.sink.clone();
        let next = self
            .queue
            .on_thread(move |queue| queue.next(&sink.name, now));
        let Some(delivery) = next.await? else {
            return Ok(None);
        };
        let sink = self.sink.clone();
        match sink.webhook.send(&delivery, now).await {
            Attempt::Delivered => {
                self.settle(&delivery, |counts| counts.delivered += 1)
                    .await?;
                self.waits.reset();
                if self.outage.end() {
                    self.note("messages are delivered again".to_owned());
                }
                Ok(Some(Duration::ZERO))
            }
            Attempt::Refused(code) => {
                self.settle(&delivery, |counts| counts.refused += 1).await?;
                self.waits.reset();
                self.outage.end();
                self.note(format!(
                    "{code}: the receiver refuses message {}, which is skipped",
                    delivery.id
                ));
                Ok(Some(Duration::ZERO))
            }
            Attempt::Failed { cause, after } => Ok(Some(self.failed(&delivery, &cause, after))),
        }
    }

    /// Removes a message that was taken, or that is skipped, and counts it.
    async fn settle(
        &self,
        delivery: &Delivery,
        count: fn(&mut SinkCounts),
    ) -> Result<(), OutboxError> {
        let (sink, seq) = (self.sink.clone(), delivery.seq);
        let settled = self.queue.on_thread(move |queue| {
            queue.remove(seq)?;
            queue.count(&sink.name, count);
            Ok(())
        });
        settled.await
    }

    /// A failed attempt. Returns the wait before the next one.
    fn failed(&mut self, delivery: &Delivery, cause: &str, after: Option<Duration>) -> Duration {
        self.queue
            .count(&self.sink.name, |counts| counts.failed += 1);
        if self.outage.is_news(cause) {
            self.note(format!(
                "{cause}: message {} waits and is sent again",
                delivery.id
            ));
        }
        let wait = self.waits.after_failure(fastrand::f64());
        after.map_or(wait, |after| after.max(wait))
    }

    /// The time until a held message is released.
    async fn until_release(&self) -> Option<Duration> {
        let due = self.queue.on_thread(SinkQueue::next_release).await;
        let due = due.ok().flatten()?;
        let wait = due.duration_since((self.clock)());
        // A held message that is due now is released at the next step.
        let wait = Duration::try_from(wait).unwrap_or_default();
        Some(wait.min(LOOK).max(Duration::from_millis(1)))
    }

    fn note(&self, text: String) {
        let sink = self.sink.name.clone();
        // With more news than anyone reads, the rest is in the metrics.
        let _full = self.notes.try_send(SinkNote { sink, text });
    }
}
