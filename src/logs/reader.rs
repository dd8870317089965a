//! `LogReader`: reads the log of one container, instance after instance. It decides which request is next.
//!
//! An instance ends by the status of its Pod, never by its stream: when the connection between the API server and the node
//! breaks, the answer ends as if it were complete. After an end, the log is read on from a second before the newest line,
//! and must repeat the known lines (see `logs::resume`). The end of an instance is read once more without `follow`.

use std::sync::Arc;
use std::time::Duration;

use super::answer_end;
use super::chain::{ChainStart, LogChain};
use super::container_reading::ContainerReading;
use super::end_check::NewestLine;
use super::instances::{ContainerLogs, LogPlace};
use super::read_step::{Flow, ReadInstances, ReadOptions, ReadStep, StreamEnd};
use super::reading::{Doubt, InstanceReading};
use super::splitter::LinePart;
use crate::source::log::{LogContainer, LogEnd, LogEvent, LogInstance};

/// How long to wait for a status that explains an answer about something else.
const DOUBT: Duration = Duration::from_millis(1500);

/// Reads the log of one container.
#[derive(Debug)]
pub struct LogReader {
    container: ContainerReading,
    current: Option<InstanceReading>,
    /// Whether the first instance existed at the start, so that `options.start` is about it.
    is_first: bool,
    /// How many of the next instances existed at the start: the options choose their lines.
    existing: usize,
}

impl LogReader {
    /// A reader for a container whose status is this.
    pub fn new(
        container: Arc<LogContainer>,
        status: ContainerLogs,
        options: ReadOptions,
    ) -> LogReader {
        let is_first = !options.is_new || options.instances == ReadInstances::Previous;
        let start = match options.instances {
            ReadInstances::Present if !options.is_new => ChainStart::Present,
            ReadInstances::Previous => ChainStart::Previous,
            ReadInstances::Present | ReadInstances::Both => ChainStart::Oldest,
        };
        let chain = LogChain::new(container, status, start);
        LogReader {
            current: None,
            is_first,
            existing: if is_first { chain.waiting() } else { 0 },
            container: ContainerReading::new(options, chain, !is_first),
        }
    }

    /// The events since the last call.
    pub fn take_events(&mut self) -> std::vec::Drain<'_, LogEvent> {
        self.container.events.drain(..)
    }

    /// How far it has read the present instance; `None` before its first line.
    pub fn newest(&self) -> Option<NewestLine> {
        let reading = self.current.as_ref()?;
        NewestLine::of(&reading.window, &reading.newest)
    }

    /// Reads the log in turns from now on, or follows it.
    pub fn set_polled(&mut self, is_polled: bool) {
        self.container.is_polled = is_polled;
    }

    /// Whether the log is read in turns.
    pub fn is_polled(&self) -> bool {
        self.container.is_polled
    }

    /// The next step.
    pub fn step(&mut self) -> ReadStep {
        while !self.container.is_off {
            if self.current.is_none() && !self.begin_next() {
                let container = &self.container;
                let is_over = container.chain.is_complete() || !container.options.follow;
                return if is_over {
                    ReadStep::Done
                } else {
                    ReadStep::Wait(None)
                };
            }
            let Some(reading) = &mut self.current else {
                continue;
            };
            match reading.doubt {
                Some(Doubt::Unexplained) => return ReadStep::Wait(Some(DOUBT)),
                Some(Doubt::Restarted) => return ReadStep::Wait(None),
                Some(Doubt::Trial) | None => {}
            }
            if let Some(wait) = reading.wait.take() {
                return wait;
            }
            let place = reading.place(&self.container.chain);
            if place == LogPlace::Gone {
                self.end_by(answer_end::lost);
                continue;
            }
            if place != reading.asked {
                reading.check.reset();
                reading.asked = place;
            }
            let (options, is_polled) = (self.container.options, self.container.is_polled);
            return ReadStep::Open(reading.request(options, is_polled));
        }
        ReadStep::Done
    }

    /// Begins with the next instance. Without `follow`, a container that has none is asked for its log all the same: the
    /// server knows why there is none.
    fn begin_next(&mut self) -> bool {
        let options = self.container.options;
        let chain = &mut self.container.chain;
        // An instance that appears later on is shown from its first line.
        let is_first = std::mem::take(&mut self.is_first);
        let next = match chain.pop() {
            None if is_first && !options.follow => Some(Arc::new(LogInstance {
                container: chain.container.clone(),
                id: "".into(),
                attempt: 0,
            })),
            next => next,
        };
        let Some(instance) = next else { return false };
        let existed = is_first || self.existing > 0;
        self.existing = self.existing.saturating_sub(1);
        self.current = Some(InstanceReading::new(instance, existed.then_some(options)));
        true
    }

    /// The server has answered, and lines follow.
    pub fn opened(&mut self) {
        if let Some(reading) = &mut self.current {
            reading.opened(&mut self.container);
        }
    }

    /// Takes a line of the answer, or the next part of a long one.
    pub fn line(&mut self, part: LinePart) -> Flow {
        self.flow_by(|reading, container| reading.line(part, container))
    }

    /// The container whose log it reads.
    pub fn container(&self) -> &Arc<LogContainer> {
        &self.container.chain.container
    }

    /// Nothing has arrived for a while.
    pub fn quiet(&mut self) -> Flow {
        self.flow_by(InstanceReading::quiet)
    }

    /// The answer is over.
    pub fn ended(&mut self, end: StreamEnd) {
        self.end_by(|reading, container| answer_end::ended(reading, container, end));
    }

    /// Takes the next status of the container. Returns whether the answer that arrives is still of use.
    pub fn status(&mut self, status: &ContainerLogs) -> Flow {
        self.container.chain.update(status);
        self.moved()
    }

    /// The Pod is gone.
    pub fn pod_gone(&mut self) -> Flow {
        self.container.chain.is_pod_gone = true;
        self.moved()
    }

    /// The phase of the Pod is Succeeded or Failed.
    pub fn pod_finished(&mut self) {
        self.container.chain.is_pod_finished = true;
    }

    fn moved(&mut self) -> Flow {
        let chain = &self.container.chain;
        let moved = |reading: &mut InstanceReading| reading.moved(chain);
        self.current.as_mut().map_or(Flow::Continue, moved)
    }

    /// Whether it waits for a status that explains an answer about something else.
    pub fn is_in_doubt(&self) -> bool {
        self.current
            .as_ref()
            .is_some_and(|reading| reading.doubt.is_some())
    }

    /// The time of a [`ReadStep::Wait`] is over.
    pub fn waited(&mut self) {
        self.end_by(answer_end::waited);
    }

    /// Lets the present instance take something from an answer.
    fn flow_by(
        &mut self,
        take: impl FnOnce(&mut InstanceReading, &mut ContainerReading) -> Flow,
    ) -> Flow {
        let Some(reading) = &mut self.current else {
            return Flow::Stop;
        };
        let flow = take(reading, &mut self.container);
        if self.container.is_at_limit() {
            self.finish(LogEnd::Limited);
        }
        flow
    }

    /// Lets the present instance take the end of an answer or of a wait, which may be its own end.
    fn end_by(
        &mut self,
        take: impl FnOnce(&mut InstanceReading, &mut ContainerReading) -> Option<LogEnd>,
    ) {
        let Some(reading) = &mut self.current else {
            return;
        };
        let end = take(reading, &mut self.container);
        if self.container.is_at_limit() {
            self.finish(LogEnd::Limited);
        } else if let Some(end) = end {
            self.finish(end);
        }
    }

    /// Ends the present instance.
    fn finish(&mut self, end: LogEnd) {
        let Some(mut reading) = self.current.take() else {
            return;
        };
        let container = &mut self.container;
        // The last line that the limit allows is shown as complete.
        let rest = reading.long.close().filter(|_| end != LogEnd::Limited);
        container.events.extend(rest.map(LogEvent::Line));
        container.strays.add(&reading.window);
        container.strays.is_reread = reading.is_reread;
        container.push(LogEvent::Ended(reading.instance, end));
        container.is_off |= match container.options.instances {
            ReadInstances::Present => !container.options.follow,
            ReadInstances::Previous => true,
            ReadInstances::Both => false,
        };
    }
}
