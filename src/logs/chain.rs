//! `LogChain`: the instances of one container, one after the other.

use std::collections::VecDeque;
use std::sync::Arc;

use super::instances::{ContainerLogs, LogPlace, SeenInstance};
use crate::source::log::{LogContainer, LogExit, LogInstance};

/// How many IDs are remembered. A status names two.
const REMEMBERED: usize = 8;

/// The instances of a container that are to be read, in their order. The next one is read when the one before has ended.
#[derive(Clone, Debug)]
pub(super) struct LogChain {
    pub(super) container: Arc<LogContainer>,
    status: ContainerLogs,
    pub(super) is_pod_gone: bool,
    /// Whether the phase of the Pod is Succeeded or Failed, so that none of its containers runs again.
    pub(super) is_pod_finished: bool,
    waiting: VecDeque<Arc<LogInstance>>,
    /// The IDs that the last statuses named.
    known: VecDeque<Arc<str>>,
}

/// With which instance a chain begins.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum ChainStart {
    /// With the one whose log a request gets.
    Present,
    /// With the oldest one that the node has: the container is new to the reader.
    Oldest,
    /// With the one before the present one, which is the only one.
    Previous,
}

impl LogChain {
    /// The chain of a container with this status.
    pub(super) fn new(
        container: Arc<LogContainer>,
        status: ContainerLogs,
        start: ChainStart,
    ) -> LogChain {
        let mut chain = LogChain {
            container,
            is_pod_gone: false,
            is_pod_finished: false,
            waiting: VecDeque::new(),
            known: VecDeque::new(),
            status,
        };
        match start {
            ChainStart::Oldest => chain.add_seen(),
            ChainStart::Present => {
                let last = chain.status.last.clone();
                let present = chain.status.present.clone();
                chain.known.extend(
                    last.map(|last| last.id)
                        .filter(|id| present.as_ref().is_none_or(|present| present.id != *id)),
                );
                chain.add_seen();
            }
            ChainStart::Previous => {
                if let Some(last) = chain.status.last.clone() {
                    chain.add(&last);
                }
            }
        }
        chain
    }

    /// Takes the next status of the container.
    pub(super) fn update(&mut self, status: &ContainerLogs) {
        self.status = status.clone();
        self.add_seen();
    }

    /// Whether no further instance comes.
    pub(super) fn is_complete(&self) -> bool {
        self.is_pod_gone || self.is_pod_finished
    }

    /// How many instances are to be read.
    pub(super) fn waiting(&self) -> usize {
        self.waiting.len()
    }

    /// The next instance to read.
    pub(super) fn pop(&mut self) -> Option<Arc<LogInstance>> {
        self.waiting.pop_front()
    }

    /// Where the log of an instance is.
    pub(super) fn place(&self, instance: &LogInstance) -> LogPlace {
        if self.is_pod_gone {
            LogPlace::Gone
        } else {
            self.status.place(&instance.id)
        }
    }

    /// How an instance ended, if the status has it.
    pub(super) fn exit(&self, instance: &LogInstance) -> Option<LogExit> {
        self.status.exit(&instance.id)
    }

    /// Adds the instances of the status. One that is only in the last state has lived between two statuses.
    fn add_seen(&mut self) {
        let seen = [self.status.last.clone(), self.status.present.clone()];
        for instance in seen.into_iter().flatten() {
            self.add(&instance);
        }
    }

    fn add(&mut self, seen: &SeenInstance) {
        if self.known.contains(&seen.id) {
            return;
        }
        self.known.push_back(seen.id.clone());
        if self.known.len() > REMEMBERED {
            self.known.pop_front();
        }
        self.waiting.push_back(Arc::new(LogInstance {
            container: self.container.clone(),
            id: seen.id.clone(),
            attempt: seen.attempt,
        }));
    }
}
