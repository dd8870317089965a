//! Sinks: who is told of changes of state, with webhooks.
//!
//! [`KnownStates`] compares each snapshot with the last known states, also with those of the run before. [`Outbox`] keeps what is
//! to be sent in a file, and each message stays there until its receiver has taken it. So an outage of a receiver costs disk
//! alone, and no restart loses a message. [`SinkQueue`] connects both, and [`SinkDeliveries`] sends the messages of
//! one sink in order.

mod attempt;
mod deliver;
mod known_states;
mod message;
mod outbox;
mod queue;
mod template;
#[cfg(test)]
mod tests;
mod transition;
mod webhook;

pub use attempt::{RetryWaits, ToldOutage};
pub use deliver::{SinkDeliveries, SinkNote};
pub use known_states::{
    ClusterRows, KnownStates, ObjectState, RowAbsence, RowCluster, StateChange, StateUpdate,
};
pub use message::SigningKey;
pub use outbox::{Outbox, OutboxError};
pub use queue::{NewStates, SinkQueue, on_thread};
pub use template::{TemplateError, TextTemplate};
pub use transition::{Delivery, TransitionFilter};
pub use webhook::{Sink, Webhook, WebhookError, client_tls};
