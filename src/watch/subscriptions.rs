//! `Subscriptions`: one stream of the events of many sources.

use std::sync::Arc;

use tokio::sync::Notify;

use super::mux::{LosslessSubscription, Source, Taken};
use super::queue::SubscribeOptions;
use crate::object::ResourceVersion;
use crate::source::{Event, SourceKey};

/// How many events one source may give in a row before the other sources have their turn.
const TURN: u32 = 64;

/// A set of lossless subscriptions. Sources can be added and removed between two events. Each source keeps its
/// order; across sources there is no order.
pub struct Subscriptions {
    members: Vec<Member>,
    signal: Arc<Notify>,
    at: usize,
    given: u32,
}

struct Member {
    every: LosslessSubscription,
    /// Whether its events must wait in its queue.
    is_held: bool,
}

impl Member {
    fn key(&self) -> &Arc<SourceKey> {
        self.every.key()
    }
}

impl Default for Subscriptions {
    fn default() -> Subscriptions {
        Subscriptions::new()
    }
}

impl Subscriptions {
    /// Creates an empty set.
    pub fn new() -> Subscriptions {
        Subscriptions {
            members: Vec::new(),
            signal: Arc::new(Notify::new()),
            at: 0,
            given: 0,
        }
    }

    /// Subscribes to a source. It starts with its snapshot, as [`Source::subscribe`] says. A source that is already
    /// here continues unchanged.
    pub fn add(&mut self, source: &Source, options: impl Into<SubscribeOptions>) {
        if !self.contains(source.key()) {
            self.members.push(Member {
                every: source.subscribe(options.into(), self.signal.clone()),
                is_held: false,
            });
            self.signal.notify_one();
        }
    }

    /// Ends the subscription of a source, so that none of its events follow. Returns whether there was one.
    pub fn remove(&mut self, key: &SourceKey) -> bool {
        let before = self.members.len();
        self.members.retain(|member| **member.key() != *key);
        self.members.len() < before
    }

    /// Chooses the sources whose events wait in their queues, which are bounded. The events of all other sources
    /// are delivered.
    pub fn hold(&mut self, holds: impl Fn(&SourceKey) -> bool) {
        for member in &mut self.members {
            let was_held = std::mem::replace(&mut member.is_held, holds(member.every.key()));
            if was_held && !member.is_held {
                self.signal.notify_one();
            }
        }
    }

    /// Whether the set contains a source.
    pub fn contains(&self, key: &SourceKey) -> bool {
        self.members.iter().any(|member| **member.key() == *key)
    }

    /// The sources, in the order in which they were added.
    pub fn keys(&self) -> impl Iterator<Item = &Arc<SourceKey>> {
        self.members.iter().map(Member::key)
    }

    /// The sources whose events have all been taken, with the version up to which that is.
    pub fn reached(&self) -> impl Iterator<Item = (&Arc<SourceKey>, ResourceVersion)> {
        let members = self.members.iter();
        members.filter_map(|member| Some((member.key(), member.every.reached()?)))
    }

    /// The next event of any source; `None` if there is no source, or if all have ended. It is cancel safe, so a
    /// `select!` may use it.
    pub async fn next(&mut self) -> Option<(Arc<SourceKey>, Event)> {
        loop {
            if self.members.is_empty() {
                return None;
            }
            if let Some(event) = self.take() {
                return Some(event);
            }
            if !self.members.is_empty() {
                self.signal.notified().await;
            }
        }
    }

    /// Checks each source once, and begins with the one whose turn it is.
    fn take(&mut self) -> Option<(Arc<SourceKey>, Event)> {
        if self.given >= TURN {
            self.turn();
        }
        let mut left = self.members.len();
        while left > 0 {
            left -= 1;
            if self.at >= self.members.len() {
                self.turn();
            }
            let member = self.members.get_mut(self.at)?;
            if member.is_held {
                self.turn();
                continue;
            }
            match member.every.take() {
                Taken::Event(event) => {
                    self.given += 1;
                    return Some((member.key().clone(), event));
                }
                Taken::Empty => self.turn(),
                Taken::Done => {
                    self.members.remove(self.at);
                    self.given = 0;
                }
            }
        }
        None
    }

    fn turn(&mut self) {
        self.given = 0;
        self.at = match self.members.len() {
            0 => 0,
            members => (self.at + 1) % members,
        };
    }
}
