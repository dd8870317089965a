//! What follows from the end of an answer, or of a wait: another request, or the end of the instance.

use std::time::Duration;

use bytes::Bytes;

use super::container_reading::ContainerReading;
use super::end_check::EndVerdict;
use super::instances::LogPlace;
use super::read_step::{Flow, ReadInstances, ReadStep, StreamEnd};
use super::reading::{Doubt, InstanceReading, TailPause};
use super::splitter::LinePart;
use super::timed_line::timed_line;
use crate::source::log::{LogContainer, LogEnd, LogEvent, LogGapCause, LogRefusal};

/// How long to wait for a status, if the server does not have the log yet. The status arrives first, as a rule.
const NOT_READY: Duration = Duration::from_secs(2);
/// The code of an answer about a Pod without a node.
const NO_CONTENT: u16 = 204;
/// How often a log is requested again without `--follow`, and that of an ended instance.
const TRIES: u32 = 3;
/// How often the last line of a log is requested, as long as other answers bring new lines.
const MOST_ASKS: u32 = 10;

/// The answer is over. Returns how the instance ended, if it did.
pub(super) fn ended(
    reading: &mut InstanceReading,
    container: &mut ContainerReading,
    end: StreamEnd,
) -> Option<LogEnd> {
    match end {
        StreamEnd::Clean(_) | StreamEnd::Unscheduled if reading.doubt == Some(Doubt::Trial) => {
            end_trial(reading);
            None
        }
        StreamEnd::Clean(rest) => complete(reading, container, rest),
        StreamEnd::Broken(_) | StreamEnd::Refused(_) | StreamEnd::Unscheduled
            if reading.break_tail(container) == Flow::Stop =>
        {
            None
        }
        StreamEnd::Broken(text) => {
            failed(reading, container, LogRefusal { code: 0, text });
            None
        }
        StreamEnd::Refused(refusal) => refused(reading, container, refusal),
        StreamEnd::Unscheduled => {
            unscheduled(reading, container);
            None
        }
    }
}

/// The time of a wait is over. Returns how the instance ended, if it did.
pub(super) fn waited(
    reading: &mut InstanceReading,
    container: &mut ContainerReading,
) -> Option<LogEnd> {
    if reading.doubt != Some(Doubt::Unexplained) {
        return None;
    }
    reading.doubt = None;
    match reading.asked {
        LogPlace::Running | LogPlace::Ended if !container.options.follow => {
            incomplete(reading, container, LogGapCause::Changed)
        }
        LogPlace::Running | LogPlace::Ended => {
            reading.doubt = Some(Doubt::Trial);
            None
        }
        // The container restarted while its log was opened: the lines were of the next instance.
        LogPlace::Previous if !reading.is_reread && reading.window.is_from_first_line() => {
            reading.note_missing(LogGapCause::Changed, container);
            reading.read_again(container);
            None
        }
        LogPlace::Previous | LogPlace::Gone => lost(reading, container),
    }
}

/// The answer about the instance before is over, and did not show that the container has restarted.
fn end_trial(reading: &mut InstanceReading) {
    // The node may have gone before its first byte.
    let is_unanswered = reading.is_empty || reading.node_error.is_some();
    if is_unanswered && reading.failures + 1 < TRIES {
        reading.pause();
    } else {
        reading.rotated();
    }
}

/// The node has nothing more of the instance. Returns its end; `None` if the limit of bytes is reached before.
pub(super) fn lost(
    reading: &mut InstanceReading,
    container: &mut ContainerReading,
) -> Option<LogEnd> {
    if reading.break_tail(container) == Flow::Stop {
        return None;
    }
    if container.chain.is_pod_gone {
        return Some(LogEnd::PodGone);
    }
    reading.note_missing(LogGapCause::Replaced, container);
    Some(LogEnd::Lost("its log cannot be read any more".into()))
}

/// The answer is over, as far as the connection shows. The rest follows its last line feed.
fn complete(
    reading: &mut InstanceReading,
    container: &mut ContainerReading,
    rest: Bytes,
) -> Option<LogEnd> {
    if reading.check.is_asked() {
        return conclude_check(reading, container, &rest);
    }
    let is_message = !reading.long.is_within() && timed_line(&rest).is_none();
    if is_message && !rest.is_empty() {
        reading.line(LinePart::last(rest), container);
    } else {
        reading.is_rest_known = reading.rest == rest;
        reading.rest = rest;
    }
    let is_growing = container.options.follow && reading.asked == LogPlace::Running;
    if reading.doubt.is_some()
        || (is_growing && reading.end_tail(TailPause::AnswerOver, container) == Flow::Stop)
    {
        return None;
    }
    if reading.window.is_unproven() && reading.node_error.is_none() {
        return unproven(reading, container);
    }
    if !is_growing {
        return conclude(reading, container);
    }
    // More of the instance is read.
    if container.is_polled {
        reading.wait = Some(ReadStep::WaitTurn);
    } else {
        reading.pause();
    }
    None
}

/// The end of an answer about an instance that has ended, or of one that is read once.
fn conclude(reading: &mut InstanceReading, container: &mut ContainerReading) -> Option<LogEnd> {
    if let Some(text) = reading.node_error.clone() {
        reading.node_errors += 1;
        if reading.node_errors < TRIES {
            reading.pause();
            return None;
        }
        reading.break_tail(container);
        return Some(LogEnd::Lost(text));
    }
    reading.node_errors = 0;
    if reading.tail.as_ref().is_some_and(|tail| !tail.is_short())
        && reading.end_tail(TailPause::Full, container) == Flow::Stop
    {
        return None;
    }
    let most_asks = if reading.has_news { MOST_ASKS } else { TRIES };
    if reading.is_read_to_end() || container.options.unchecked {
        return whole(reading, container);
    } else if reading.check.is_unknown() && reading.check.asks < most_asks {
        reading.check.ask();
    } else if reading.tail.is_some() && !reading.check.is_passed() {
        ask_tail_again(reading, container);
    } else if reading.check.is_unknown() && reading.has_news {
        // A log that grows has something new for ever.
        return incomplete(reading, container, LogGapCause::Cut);
    } else if reading.has_news || reading.failures + 1 < TRIES {
        reading.pause();
    } else if reading.check.is_passed() {
        // The rest is another one each time: it is of a line after the end.
        reading.rest = Bytes::new();
        return whole(reading, container);
    } else {
        return incomplete(reading, container, LogGapCause::Cut);
    }
    None
}

/// The answer with the last line is over.
fn conclude_check(
    reading: &mut InstanceReading,
    container: &mut ContainerReading,
    rest: &[u8],
) -> Option<LogEnd> {
    match reading.conclude_check(rest) {
        EndVerdict::Whole if reading.rest.is_empty() => return whole(reading, container),
        // Two answers end within the same line, so it has no line feed.
        EndVerdict::Incomplete
            if reading.tail.is_some() && !rest.is_empty() && reading.rest == rest =>
        {
            return whole(reading, container);
        }
        EndVerdict::Incomplete if reading.tail.is_some() => ask_tail_again(reading, container),
        EndVerdict::Whole | EndVerdict::Incomplete => {}
        EndVerdict::Unanswered if reading.failures + 1 < TRIES => reading.pause(),
        EndVerdict::Unanswered => return incomplete(reading, container, LogGapCause::Cut),
    }
    None
}

/// Requests the tail again, whose answer was cut. After some attempts, its lines are shown, and the log is read on.
fn ask_tail_again(reading: &mut InstanceReading, container: &mut ContainerReading) {
    reading.check.cut_tails += 1;
    if reading.check.cut_tails < TRIES {
        reading.tail = None;
        reading.ask_again_for(reading.asked_parts);
    } else {
        reading.end_tail(TailPause::AnswerOver, container);
    }
}

/// The answer showed none of the lines that it had to repeat: another attempt follows, or a doubt.
fn unproven(reading: &mut InstanceReading, container: &mut ContainerReading) -> Option<LogEnd> {
    // The node may have gone before its first byte.
    if reading.is_empty && reading.failures + 1 < TRIES {
        reading.pause();
    } else if reading.is_empty && !container.options.follow {
        return incomplete(reading, container, LogGapCause::Cut);
    } else {
        reading.question(&container.chain);
    }
    None
}

/// The log was read to its end.
fn whole(reading: &mut InstanceReading, container: &mut ContainerReading) -> Option<LogEnd> {
    let rest = std::mem::take(&mut reading.rest);
    if !rest.is_empty() {
        reading.line(LinePart::last(rest), container);
    }
    if reading.end_tail(TailPause::AnswerOver, container) == Flow::Stop {
        return None;
    }
    Some(read(reading, container))
}

/// The end of an instance of which nothing more is read.
fn read(reading: &InstanceReading, container: &ContainerReading) -> LogEnd {
    if reading.asked == LogPlace::Running {
        LogEnd::Read
    } else {
        LogEnd::Exited(container.chain.exit(&reading.instance))
    }
}

/// Lines up to the end of the log are missing, or may be.
fn incomplete(
    reading: &mut InstanceReading,
    container: &mut ContainerReading,
    cause: LogGapCause,
) -> Option<LogEnd> {
    if reading.break_tail(container) == Flow::Stop {
        return None;
    }
    Some(if reading.note_missing(cause, container) {
        read(reading, container)
    } else {
        LogEnd::Lost("its log cannot be read".into())
    })
}

fn refused(
    reading: &mut InstanceReading,
    container: &mut ContainerReading,
    refusal: LogRefusal,
) -> Option<LogEnd> {
    let options = container.options;
    let is_transient = matches!(refusal.code, 0 | 408 | 429 | 500..);
    let is_hopeless = matches!(refusal.code, 401 | 403 | 422);
    match refusal.code {
        _ if is_transient => failed(reading, container, refusal),
        400 | 404 if reading.doubt == Some(Doubt::Trial) => reading.rotated(),
        // The node has removed the instance before.
        400 if reading.asked == LogPlace::Previous
            && (reading.is_opened || options.instances == ReadInstances::Both) =>
        {
            return Some(LogEnd::Lost(refusal.text));
        }
        401 | 403 if options.follow && container.may_return => {
            if reading.wait_for_right() {
                container.push(LogEvent::Refused(refusal));
            }
        }
        _ if is_hopeless || !options.follow => {
            container.push(LogEvent::Refused(refusal));
            container.is_off = true;
        }
        _ if reading.failures >= TRIES && reading.asked != LogPlace::Running => {
            return Some(LogEnd::Lost(refusal.text));
        }
        _ => wait_until_ready(reading),
    }
    None
}

/// The Pod has no node. The server answers without content, which is no log: nothing has printed it.
fn unscheduled(reading: &mut InstanceReading, container: &mut ContainerReading) {
    if container.options.follow {
        return wait_until_ready(reading);
    }
    let LogContainer { pod, name, .. } = &*container.chain.container;
    let text = format!(
        "error: container \"{name}\" in pod \"{}\" has not started: the pod has no node",
        pod.name
    );
    container.push(LogEvent::Refused(LogRefusal {
        code: NO_CONTENT,
        text: text.into(),
    }));
    container.is_off = true;
}

/// The server has no log of the instance yet: another status may come.
fn wait_until_ready(reading: &mut InstanceReading) {
    reading.failures += 1;
    reading.wait = Some(ReadStep::Wait(Some(NOT_READY)));
}

/// An attempt failed that may succeed later.
fn failed(reading: &mut InstanceReading, container: &mut ContainerReading, refusal: LogRefusal) {
    if !container.options.follow && reading.failures + 1 >= TRIES {
        reading.note_missing(LogGapCause::Cut, container);
        container.push(LogEvent::Refused(refusal));
        container.is_off = true;
        return;
    }
    // A connection that breaks is opened again without a word.
    let is_news = refusal.code > 0 || reading.failures > 0;
    if is_news && !std::mem::replace(&mut reading.is_reported, true) {
        container.push(LogEvent::Retrying(refusal.text));
    }
    reading.pause();
}
