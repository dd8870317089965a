//! Lives of a container, read by [`LogReader`] from a node that is played here: restarts, cuts, rotations, refusals.

use std::collections::VecDeque;
use std::sync::Arc;
use std::time::Duration;

use bytes::Bytes;
use jiff::Timestamp;
use proptest::prelude::*;

use super::instances::{ContainerLogs, LogContainerRole, SeenInstance};
use super::read_step::{Flow, ReadInstances, ReadOptions, ReadStep, StreamEnd};
use super::reader::LogReader;
use super::splitter::LinePart;
use crate::object::ObjectRef;
use crate::source::ClusterId;
use crate::source::log::{
    LogContainer, LogEvent, LogExit, LogLine, LogRefusal, LogRequest, LogSince, LogStart,
};

/// A run of the container on the node.
#[derive(Clone, Debug)]
struct Run {
    /// Each line with its time.
    lines: Vec<(i64, String)>,
    /// The lines before this one are in a rotated file.
    first: usize,
    exit: Option<i64>,
}

/// A container and its reader.
struct Life {
    container: Arc<LogContainer>,
    runs: Vec<Run>,
    /// Whether the container waits for its next run.
    waits: bool,
    now: i64,
    written: usize,
    reader: LogReader,
    open: Option<Stream>,
    /// How many requests the node refuses, and the answers that it sends in place of logs.
    refusals: u32,
    refusal_code: u16,
    node_errors: VecDeque<&'static str>,
    /// The next answers end as if they were complete after this many lines and a half.
    cuts: VecDeque<usize>,
    /// How many lines are written before each answer.
    growth: usize,
    /// What the node sends after each log that it does not follow.
    error_after: Option<&'static str>,
    /// After how many waits of the reader a status reaches it. 0: at once.
    delay: u32,
    requests: u32,
    shown: Vec<String>,
    said: Vec<String>,
}

/// An answer that goes on.
struct Stream {
    run: usize,
    next: usize,
}

const NO_PREVIOUS: &str = "previous terminated container \"app\" in pod \"p\" not found";

const FOLLOW: ReadOptions = ReadOptions {
    follow: true,
    instances: ReadInstances::Present,
    start: LogStart {
        tail: None,
        since: None,
    },
    since_time: None,
    unchecked: false,
    limit: None,
    is_new: false,
};

impl Life {
    fn with(options: ReadOptions, runs: usize) -> Life {
        let pod = ObjectRef {
            api_version: "v1".into(),
            kind: "Pod".into(),
            namespace: Some("shop".into()),
            name: "p".into(),
            uid: None,
        };
        let container = LogContainer {
            cluster: ClusterId("test".into()),
            pod: Arc::new(pod),
            name: "app".into(),
        };
        let run = Run {
            lines: Vec::new(),
            first: 0,
            exit: None,
        };
        let runs = vec![run; runs];
        let status = status(&runs, false);
        let container = Arc::new(container);
        Life {
            reader: LogReader::new(container.clone(), status, options),
            container,
            runs,
            waits: false,
            now: 1_000_000,
            written: 0,
            open: None,
            refusals: 0,
            refusal_code: 500,
            node_errors: VecDeque::new(),
            cuts: VecDeque::new(),
            growth: 0,
            error_after: None,
            delay: 0,
            requests: 0,
            shown: Vec::new(),
            said: Vec::new(),
        }
    }

    /// A container that runs and has two lines, which are shown.
    fn begun() -> Life {
        let mut life = Life::with(FOLLOW, 1);
        life.lines(2);
        life.pump();
        life
    }

    fn lines(&mut self, count: usize) {
        for _ in 0..count {
            self.line_at(7);
        }
    }

    /// Writes a line this many milliseconds after the one before.
    fn line_at(&mut self, step: i64) {
        self.now += step;
        let line = (self.now, format!("L{}", self.written));
        self.written += 1;
        self.runs.last_mut().expect("a run").lines.push(line);
    }

    fn exit(&mut self, code: i64) {
        self.runs.last_mut().expect("a run").exit = Some(code);
        self.report();
    }

    fn wait_for_restart(&mut self) {
        self.waits = true;
        self.report();
    }

    fn run(&mut self) {
        self.waits = false;
        if let Some(last) = self.runs.last_mut() {
            last.exit.get_or_insert(1);
        }
        self.runs.push(Run {
            lines: Vec::new(),
            first: 0,
            exit: None,
        });
        self.report();
    }

    fn rotate(&mut self) {
        let run = self.runs.last_mut().expect("a run");
        run.first = run.lines.len();
    }

    /// The present answer ends as if it were complete.
    fn cut(&mut self) {
        if self.open.take().is_some() {
            self.reader.ended(StreamEnd::Clean(Bytes::new()));
        }
    }

    fn report(&mut self) {
        if self.delay == 0 {
            self.deliver();
        }
    }

    fn deliver(&mut self) {
        let status = status(&self.runs, self.waits);
        if self.reader.status(&status) == Flow::Stop {
            self.open = None;
        }
    }

    /// Lets the reader go on until it waits for something that only another action brings.
    fn pump(&mut self) {
        for _ in 0..100 {
            self.send();
            self.note();
            if self.open.is_some() {
                return;
            }
            match self.reader.step() {
                ReadStep::Open(request) => self.answer(&request),
                ReadStep::Pause(_) => {}
                ReadStep::Wait(wait) if self.delay == 1 || (self.delay > 0 && wait.is_none()) => {
                    self.delay = 0;
                    self.deliver();
                }
                ReadStep::Wait(Some(_)) => {
                    self.delay = self.delay.saturating_sub(1);
                    self.reader.waited();
                }
                ReadStep::Wait(None) | ReadStep::WaitTurn | ReadStep::Done => return self.note(),
            }
        }
        panic!("the reader asks for ever: {:?}", self.said);
    }

    /// Sends the lines of the open answer that were written since, and ends it with its run.
    fn send(&mut self) {
        while let Some(stream) = &mut self.open {
            let run = &self.runs[stream.run];
            if let Some((time, text)) = run.lines.get(stream.next) {
                stream.next += 1;
                let line = format!("{} {text}", at(*time));
                if self.reader.line(LinePart::last(line)) == Flow::Stop {
                    self.open = None;
                }
            } else if run.exit.is_some() {
                self.cut();
            } else {
                if self.reader.quiet() == Flow::Stop {
                    self.open = None;
                }
                return;
            }
        }
    }

    fn refuse(&mut self, code: u16, text: &str) {
        let text = text.into();
        let refusal = LogRefusal { code, text };
        self.reader.ended(StreamEnd::Refused(refusal));
    }

    fn answer(&mut self, request: &LogRequest) {
        self.requests += 1;
        self.lines(self.growth);
        if self.refusals > 0 {
            self.refusals -= 1;
            let text = "dial tcp: connection refused";
            return self.refuse(self.refusal_code, text);
        }
        let present = self.runs.len() - 1;
        let Some(index) = (if request.previous {
            present.checked_sub(usize::from(!self.waits))
        } else {
            Some(present)
        }) else {
            return self.refuse(400, NO_PREVIOUS);
        };
        self.reader.opened();
        if let Some(text) = self.node_errors.pop_front() {
            return self
                .reader
                .ended(StreamEnd::Clean(Bytes::from_static(text.as_bytes())));
        }
        let run = &self.runs[index];
        let since = match request.start.since {
            Some(LogSince::Second(second)) => second * 1000,
            Some(LogSince::Ago(_)) | None => i64::MIN,
        };
        let rest = self.error_after.unwrap_or_default();
        // A line without its line feed is one of the last lines.
        let half = usize::from(rest.starts_with("1970"));
        let tail = request.start.tail.map_or(0, |tail| {
            let tail = usize::try_from(tail).expect("small");
            run.lines.len().saturating_sub(tail.saturating_sub(half))
        });
        let is_running = run.exit.is_none();
        let (first, end) = (run.first.max(tail), run.lines.len());
        let lines: Vec<(i64, String)> = run.lines[first..].to_vec();
        if self.send_lines(&lines, since) == Flow::Stop {
            return;
        }
        if request.follow && is_running {
            self.open = Some(Stream {
                run: index,
                next: end,
            });
        } else {
            self.reader.ended(StreamEnd::Clean(rest.into()));
        }
    }

    /// Sends the lines from a time on. Returns whether the answer goes on.
    fn send_lines(&mut self, lines: &[(i64, String)], since: i64) -> Flow {
        let cut = self.cuts.pop_front();
        let lines = lines.iter().filter(|(time, _)| *time >= since);
        for (number, (time, text)) in lines.enumerate() {
            if cut == Some(number) {
                // No two answers are cut at the same byte.
                let half = "L".repeat(usize::try_from(self.requests).expect("few"));
                let half = format!("{} {half}", at(*time));
                self.reader.ended(StreamEnd::Clean(half.into()));
                return Flow::Stop;
            }
            let line = LinePart::last(format!("{} {text}", at(*time)));
            if self.reader.line(line) == Flow::Stop {
                return Flow::Stop;
            }
        }
        Flow::Continue
    }

    /// Answers the next request, and sends nothing.
    fn answer_next(&mut self) {
        loop {
            match self.reader.step() {
                ReadStep::Open(request) => return self.answer(&request),
                ReadStep::Pause(_) => {}
                other => panic!("no request: {other:?}"),
            }
        }
    }

    fn note(&mut self) {
        for event in self.reader.take_events() {
            match event {
                LogEvent::Line(line) => self
                    .shown
                    .push(String::from_utf8_lossy(&line.text).into_owned()),
                LogEvent::Opened(instance) => self.said.push(format!("+ {}", instance.id)),
                LogEvent::Ended(instance, end) => {
                    self.said.push(format!("- {} {end:?}", instance.id));
                }
                LogEvent::Gap(gap) => self.said.push(format!("! {}", gap.cause.words())),
                LogEvent::Notice(text) | LogEvent::Retrying(text) => {
                    self.said.push(format!("? {text}"));
                }
                LogEvent::Refused(refusal) => self.said.push(format!("x {}", refusal.text)),
                LogEvent::Polled => self.said.push("polled".to_owned()),
                LogEvent::Quiet => {}
            }
        }
    }

    /// Checks that exactly these lines are lost, that none is doubled and that the order is right; returns what was said.
    fn check(mut self, lost: &[usize]) -> String {
        self.pump();
        let expect = (0..self.written).filter(|number| !lost.contains(number));
        let expect: Vec<String> = expect.map(|number| format!("L{number}")).collect();
        assert_eq!(self.shown, expect, "{:?}", self.said);
        let gaps = self
            .said
            .iter()
            .filter(|line| line.starts_with(['!', '?', 'x', 'p']));
        gaps.cloned().collect::<Vec<_>>().join("; ")
    }
}

fn status(runs: &[Run], waits: bool) -> ContainerLogs {
    let seen = |index: usize| {
        let run = runs.get(index)?;
        let exit = run.exit.map(|code| LogExit {
            code,
            reason: "".into(),
        });
        Some(SeenInstance {
            id: format!("c{index}").into(),
            attempt: u32::try_from(index).expect("small"),
            exit,
            ..SeenInstance::default()
        })
    };
    let present = runs.len().checked_sub(1);
    let last = present.and_then(|present| present.checked_sub(usize::from(!waits)));
    ContainerLogs {
        name: "app".into(),
        role: LogContainerRole::Main,
        present: present.and_then(seen),
        is_running: runs.last().is_some_and(|run| run.exit.is_none()),
        is_ready: false,
        last: last.and_then(seen),
        waiting: None,
    }
}

fn at(millisecond: i64) -> Timestamp {
    Timestamp::from_millisecond(millisecond).expect("a time")
}

/// The API server has no error about a Pod without a node, and sends nothing.
#[test]
fn the_log_of_a_pod_without_a_node_is_no_empty_log() {
    for instances in [ReadInstances::Present, ReadInstances::Previous] {
        let options = ReadOptions {
            follow: false,
            instances,
            ..FOLLOW
        };
        let mut life = Life::with(options, 0);
        assert!(matches!(life.reader.step(), ReadStep::Open(_)));
        life.reader.ended(StreamEnd::Unscheduled);
        life.note();
        let expect = "x error: container \"app\" in pod \"p\" has not started: the pod has no node";
        assert_eq!(life.said, [expect], "{instances:?}");
        assert_eq!(life.reader.step(), ReadStep::Done);
    }
}

#[test]
fn a_restart_loses_nothing() {
    let mut life = Life::begun();
    life.lines(2);
    life.exit(1);
    life.pump();
    life.run();
    life.lines(2);
    life.pump();
    assert_eq!(life.requests, 3, "a check and a new stream");
    assert_eq!(life.check(&[]), "");
}

#[test]
fn an_instance_between_two_statuses_is_read() {
    let mut life = Life::begun();
    life.exit(1);
    life.run();
    life.lines(2);
    life.exit(1);
    life.run();
    life.lines(2);
    // That the first answer was not cut before the end of its instance cannot be shown any more.
    assert_eq!(life.check(&[]), "! restarted more than once");
}

#[test]
fn the_last_lines_of_an_instance_whose_end_was_not_seen_are_read() {
    let mut life = Life::begun();
    life.lines(2);
    life.run();
    life.lines(2);
    assert_eq!(life.check(&[]), "");
}

#[test]
fn a_clean_end_under_a_running_container_is_no_end() {
    let mut life = Life::begun();
    life.cut();
    life.lines(2);
    life.pump();
    life.cut();
    life.pump();
    life.lines(2);
    assert_eq!(life.check(&[]), "");
}

#[test]
fn rotation_while_following_loses_nothing() {
    let mut life = Life::begun();
    life.lines(2);
    life.pump();
    life.rotate();
    life.lines(2);
    assert_eq!(life.check(&[]), "");
}

#[test]
fn a_node_that_does_not_answer_is_asked_again_and_named_once() {
    let mut life = Life::with(FOLLOW, 1);
    life.refusals = 3;
    life.lines(2);
    life.pump();
    life.lines(2);
    assert_eq!(life.check(&[]), "? dial tcp: connection refused");
}

#[test]
fn a_right_that_is_lost_and_comes_back_is_named_once() {
    let mut life = Life::begun();
    life.refusal_code = 403;
    for _ in 0..2 {
        life.refusals = 7;
        life.cut();
        life.lines(2);
        life.pump();
    }
    let refused = "x dial tcp: connection refused";
    let said = ["+ c0", refused, "+ c0", refused, "+ c0"];
    assert_eq!(life.said, said);
    life.check(&[]);
}

#[test]
fn a_log_that_was_never_allowed_is_given_up_unless_its_container_is_new() {
    for (is_new, step) in [
        (false, ReadStep::Done),
        (true, ReadStep::Wait(Some(Duration::from_secs(1)))),
    ] {
        let mut life = Life::with(FOLLOW, 1);
        let (container, status) = (life.container.clone(), status(&life.runs, false));
        life.reader = LogReader::new(container, status, ReadOptions { is_new, ..FOLLOW });
        (life.refusals, life.refusal_code) = (1, 403);
        life.answer_next();
        assert_eq!(life.reader.step(), step, "{is_new}");
    }
}

#[test]
fn a_container_that_starts_later_is_shown_from_its_first_line() {
    let mut life = Life::with(tail(0), 0);
    life.pump();
    life.run();
    life.lines(2);
    assert_eq!(life.check(&[]), "");
}

#[test]
fn a_crash_loop_shows_the_dead_instance_once() {
    let mut life = Life::with(FOLLOW, 1);
    life.lines(2);
    life.exit(1);
    life.wait_for_restart();
    life.pump();
    life.run();
    life.lines(2);
    life.exit(1);
    life.wait_for_restart();
    life.pump();
    life.run();
    life.lines(1);
    assert_eq!(life.check(&[]), "");
}

#[test]
fn an_instance_that_the_runtime_has_removed_for_a_moment_is_read() {
    let error = "unable to retrieve container logs for containerd://c0";
    let mut life = Life::with(FOLLOW, 1);
    life.lines(2);
    life.node_errors.push_back(error);
    life.pump();
    life.exit(1);
    life.run();
    life.lines(2);
    assert_eq!(life.check(&[]), format!("? {error}"));
}

#[test]
fn a_rotation_after_a_cut_is_named() {
    let mut life = Life::begun();
    life.cut();
    life.lines(2);
    life.rotate();
    life.lines(2);
    assert_eq!(life.check(&[2, 3]), "! log rotated");
}

#[test]
fn two_restarts_after_a_cut_are_named() {
    let mut life = Life::begun();
    life.cut();
    life.refusals = 4;
    life.lines(2);
    life.run();
    life.lines(2);
    life.run();
    life.pump();
    life.lines(2);
    let said = life.check(&[2, 3]);
    assert!(said.contains("! restarted more than once"), "{said}");
}

#[test]
fn two_restarts_before_the_end_of_a_cut_answer_arrives_are_named() {
    let mut life = Life::begun();
    life.lines(2);
    life.run();
    life.lines(2);
    life.run();
    life.cut();
    life.pump();
    life.lines(2);
    let said = life.check(&[2, 3]);
    assert!(said.contains("! restarted more than once"), "{said}");
}

#[test]
fn times_that_go_back_near_the_turn_of_a_second_lose_nothing() {
    let mut life = Life::begun();
    for step in [990, 5, -3, 2, -1, 1, 0, 2] {
        life.line_at(step);
    }
    life.pump();
    life.cut();
    for step in [1, 3, -5, 4, 1001] {
        life.line_at(step);
    }
    assert_eq!(life.check(&[]), "");
}

#[test]
fn the_end_of_an_instance_is_read_after_the_next_has_begun() {
    let mut life = Life::begun();
    life.cut();
    life.refusals = 3;
    life.lines(2);
    life.exit(1);
    life.run();
    life.lines(2);
    assert_eq!(life.check(&[]), "? dial tcp: connection refused");
}

#[test]
fn a_status_behind_the_node_shows_no_line_under_the_wrong_instance() {
    let mut life = Life::begun();
    life.cut();
    life.lines(1);
    life.delay = 1;
    life.run();
    life.lines(2);
    life.pump();
    assert_eq!(
        life.said,
        [
            "+ c0",
            "- c0 Exited(Some(LogExit { code: 1, reason: \"\" }))",
            "+ c1"
        ]
    );
    assert_eq!(life.check(&[]), "");
}

#[test]
fn a_status_long_behind_the_node_is_no_gap() {
    for delay in 1..20 {
        let mut life = Life::begun();
        life.cut();
        life.lines(1);
        life.delay = delay;
        life.run();
        life.lines(2);
        life.pump();
        life.lines(1);
        assert_eq!(life.check(&[]), "", "after {delay} waits");
    }
}

#[test]
fn a_rotation_is_no_restart() {
    let mut life = Life::begun();
    life.run();
    life.lines(2);
    life.pump();
    life.cut();
    life.lines(2);
    life.rotate();
    life.lines(2);
    life.pump();
    assert_eq!(life.said.last().expect("a gap"), "! log rotated");
    assert_eq!(life.shown, ["L0", "L1", "L2", "L3", "L6", "L7"]);
}

#[test]
fn a_status_that_comes_while_another_instance_answers_is_no_gap() {
    let mut life = Life::begun();
    life.cut();
    life.lines(1);
    life.delay = 1;
    life.run();
    // The reader follows the new instance, and takes it for the one before.
    life.answer_next();
    life.deliver();
    life.lines(2);
    assert_eq!(life.check(&[]), "");
}

/// Checks that each line is shown once, in any order; returns what was said.
fn check_each_once(mut life: Life) -> Vec<String> {
    life.delay = 0;
    life.deliver();
    life.lines(1);
    life.pump();
    let mut shown = life.shown.clone();
    shown.sort();
    let expect: Vec<String> = (0..life.written)
        .map(|number| format!("L{number}"))
        .collect();
    assert_eq!(shown, expect, "{:?} {:?}", life.shown, life.said);
    life.said
}

const STRAY: &str = "? these lines were shown before, under the instance before";

#[test]
fn a_restart_while_a_log_is_opened_shows_each_line_once() {
    let mut life = Life::with(FOLLOW, 1);
    life.lines(2);
    // The status shows the first instance, and the node has the second.
    life.delay = 1;
    life.run();
    life.lines(2);
    life.answer_next();
    let said = check_each_once(life);
    let may = "! log rotated, or container restarted";
    let exit = "- c0 Exited(Some(LogExit { code: 1, reason: \"\" }))";
    assert_eq!(said, ["+ c0", may, exit, "+ c1", STRAY]);
}

#[test]
fn a_restart_while_a_dead_instance_is_read_shows_no_line_twice() {
    let mut life = Life::with(FOLLOW, 1);
    life.exit(1);
    life.wait_for_restart();
    // The status shows the dead instance, and the node has the next one.
    life.delay = 1;
    life.run();
    life.lines(2);
    for _ in 0..2 {
        life.answer_next();
    }
    assert_eq!(
        life.reader.step(),
        ReadStep::Wait(None),
        "it is read to its end"
    );
    let said = check_each_once(life);
    let stray = format!("{STRAY}, whose own lines may be missing");
    assert_eq!(said[2..], ["+ c1", &stray]);
}

#[test]
fn a_restart_while_the_last_instance_is_read_shows_no_line_twice() {
    let mut life = Life::with(FOLLOW, 0);
    life.pump();
    life.delay = 1;
    life.run();
    life.run();
    life.deliver();
    // The status shows the first instance as the last one. On the node, that is the second one.
    life.lines(2);
    life.run();
    for _ in 0..3 {
        life.answer_next();
    }
    let said = check_each_once(life);
    let stray = format!("{STRAY}, whose own lines may be missing");
    assert_eq!(
        said.iter().filter(|line| **line == stray).count(),
        1,
        "{said:?}"
    );
}

#[test]
fn a_node_without_watchers_is_read_in_turns() {
    let mut life = Life::begun();
    life.cut();
    life.node_errors
        .push_back("failed to create fsnotify watcher: too many open files");
    life.lines(2);
    life.pump();
    assert!(life.reader.is_polled());
    for _ in 0..3 {
        life.lines(2);
        life.pump();
    }
    life.exit(0);
    assert_eq!(life.check(&[]), "polled");
}

#[test]
fn a_pod_that_is_gone_ends_its_logs() {
    let mut life = Life::begun();
    life.lines(1);
    life.reader.pod_gone();
    life.send();
    life.pump();
    assert_eq!(life.reader.step(), ReadStep::Done);
    assert_eq!(life.said.last().map(String::as_str), Some("- c0 PodGone"));
    assert_eq!(life.shown, ["L0", "L1", "L2"]);
}

#[test]
fn a_thousand_restarts_keep_little() {
    let mut life = Life::begun();
    for _ in 0..1000 {
        life.exit(1);
        life.pump();
        life.run();
        life.lines(1);
        life.pump();
    }
    assert_eq!(life.requests, 1 + 2 * 1000);
    assert_eq!(life.check(&[]), "");
}

/// What a reader without `follow` shows of a log of six lines, and what it says.
fn once(options: ReadOptions) -> String {
    let mut life = Life::with(
        ReadOptions {
            follow: false,
            ..options
        },
        1,
    );
    life.lines(6);
    life.pump();
    assert_eq!(life.reader.step(), ReadStep::Done);
    format!("{}: {}", life.shown.join(" "), life.said.join(" "))
}

/// The options of a tail of this many lines.
fn tail(lines: u64) -> ReadOptions {
    let start = LogStart {
        tail: Some(lines),
        since: None,
    };
    ReadOptions { start, ..FOLLOW }
}

#[test]
fn a_log_is_read_once() {
    let since = LogStart {
        tail: None,
        since: Some(LogSince::Second(1_000)),
    };
    let since = ReadOptions {
        start: since,
        since_time: Some(at(1_000_000 + 4 * 7)),
        ..FOLLOW
    };
    let limit = ReadOptions {
        limit: Some(7),
        ..FOLLOW
    };
    let previous = ReadOptions {
        instances: ReadInstances::Previous,
        ..FOLLOW
    };
    for (options, expect) in [
        (FOLLOW, "L0 L1 L2 L3 L4 L5: + c0 - c0 Read"),
        (tail(2), "L4 L5: + c0 - c0 Read"),
        (tail(0), ": + c0 - c0 Read"),
        (tail(9), "L0 L1 L2 L3 L4 L5: + c0 - c0 Read"),
        (since, "L3 L4 L5: + c0 - c0 Read"),
        (limit, "L0 L1 L: + c0 - c0 Limited"),
        (
            previous,
            ": x previous terminated container \"app\" in pod \"p\" not found",
        ),
    ] {
        assert_eq!(once(options), expect);
    }
}

/// What a reader without `follow` shows of a log of six lines whose answers are cut, how many requests it sends, and what
/// it says.
fn cut_once(options: ReadOptions, cuts: &[usize]) -> String {
    let follow = false;
    let mut life = Life::with(ReadOptions { follow, ..options }, 1);
    life.lines(6);
    life.cuts.extend(cuts);
    life.pump();
    assert_eq!(life.reader.step(), ReadStep::Done);
    let said = life.said.join(" ");
    format!("{} ({}): {said}", life.shown.join(" "), life.requests)
}

#[test]
fn without_follow_an_answer_that_is_cut_is_read_on() {
    const ALL: &str = "L0 L1 L2 L3 L4 L5";
    let limit = ReadOptions {
        limit: Some(15),
        ..FOLLOW
    };
    for (options, cuts, expect) in [
        (FOLLOW, &[][..], format!("{ALL} (2): + c0 - c0 Read")),
        (FOLLOW, &[3], format!("{ALL} (3): + c0 - c0 Read")),
        (FOLLOW, &[0], format!("{ALL} (3): + c0 - c0 Read")),
        (FOLLOW, &[1, 9, 2, 4], format!("{ALL} (5): + c0 - c0 Read")),
        // The answer with the last line is cut, too.
        (FOLLOW, &[3, 0], format!("{ALL} (4): + c0 - c0 Read")),
        (FOLLOW, &[3, 0, 9, 2], format!("{ALL} (4): + c0 - c0 Read")),
        (
            FOLLOW,
            &[3, 9, 2, 2, 2],
            "L0 L1 L2 (5): + c0 ! the answers ended early - c0 Read".to_owned(),
        ),
        (
            FOLLOW,
            &[3, 9, 0, 0, 0],
            "L0 L1 L2 (5): + c0 ! the answers ended early - c0 Read".to_owned(),
        ),
        (
            FOLLOW,
            &[0, 9, 0, 0, 0, 0],
            " (5): + c0 - c0 Lost(\"its log cannot be read\")".to_owned(),
        ),
        (tail(2), &[], "L4 L5 (1): + c0 - c0 Read".to_owned()),
        (tail(2), &[1], "L4 L5 (3): + c0 - c0 Read".to_owned()),
        (tail(2), &[4, 9, 3], "L4 L5 (4): + c0 - c0 Read".to_owned()),
        (tail(9), &[], format!("{ALL} (2): + c0 - c0 Read")),
        (tail(9), &[4], format!("{ALL} (3): + c0 - c0 Read")),
        (
            limit,
            &[4],
            "L0 L1 L2 L3 L4 (3): + c0 - c0 Limited".to_owned(),
        ),
    ] {
        assert_eq!(cut_once(options, cuts), expect, "{options:?} {cuts:?}");
    }
}

#[test]
fn without_follow_a_node_that_sends_only_messages_is_given_up() {
    for text in [
        "failed to create fsnotify watcher: too many open files",
        "1970-01-01T00:16:40Z half",
        "",
    ] {
        for options in [FOLLOW, tail(2)] {
            let follow = false;
            let mut life = Life::with(ReadOptions { follow, ..options }, 1);
            life.lines(3);
            life.node_errors.extend([text; 20]);
            life.pump();
            assert_eq!(life.reader.step(), ReadStep::Done, "{text}");
            assert!(life.requests < 9, "{text}: {}", life.requests);
        }
    }
}

#[test]
fn without_follow_a_node_whose_answers_all_end_with_an_error_is_given_up() {
    let follow = false;
    let mut life = Life::with(ReadOptions { follow, ..FOLLOW }, 1);
    life.growth = 2;
    life.error_after = Some("rpc error: code = Unavailable");
    life.pump();
    assert_eq!(life.reader.step(), ReadStep::Done);
    let lost = "- c0 Lost(\"rpc error: code = Unavailable\")";
    assert_eq!(life.said.last().map(String::as_str), Some(lost));
    assert_eq!(life.shown, ["L0", "L1", "L2", "L3", "L4", "L5"]);
}

#[test]
fn without_follow_a_log_that_grows_is_read_to_the_end_it_had() {
    let mut life = Life::with(
        ReadOptions {
            follow: false,
            ..FOLLOW
        },
        1,
    );
    life.lines(3);
    life.growth = 2;
    life.cuts.push_back(4);
    life.pump();
    assert_eq!(life.reader.step(), ReadStep::Done);
    // The first answer, the last line at that time, and the answer that reaches it.
    assert_eq!(life.requests, 3);
    let read: Vec<String> = (0..9).map(|number| format!("L{number}")).collect();
    assert_eq!(life.shown, read);
    assert_eq!(life.said, ["+ c0", "- c0 Read"]);
}

#[test]
fn the_log_of_a_dead_instance_is_read_to_its_end() {
    for cuts in [&[2][..], &[0, 0], &[1, 9, 2, 3]] {
        let mut life = Life::with(FOLLOW, 1);
        life.lines(5);
        life.exit(1);
        life.wait_for_restart();
        life.cuts.extend(cuts);
        life.pump();
        life.run();
        life.lines(2);
        assert_eq!(life.check(&[]), "", "{cuts:?}");
    }
}

#[test]
fn the_last_instance_is_read_before_the_present_one() {
    let shown = |options: ReadOptions, runs: usize| {
        let mut life = Life::with(
            ReadOptions {
                instances: ReadInstances::Both,
                ..options
            },
            runs,
        );
        life.lines(6);
        if runs > 1 {
            let lines = life.runs[1].lines.drain(..3).collect();
            life.runs[0].lines = lines;
        }
        life.pump();
        format!("{}: {}", life.shown.join(" "), life.said.join(" "))
    };
    let once = ReadOptions {
        follow: false,
        ..FOLLOW
    };
    let newest = ReadOptions {
        follow: false,
        ..tail(1)
    };
    for (options, runs, expect) in [
        (once, 1, "L0 L1 L2 L3 L4 L5: + c0 - c0 Read"),
        (
            once,
            2,
            "L0 L1 L2 L3 L4 L5: + c0 - c0 Exited(None) + c1 - c1 Read",
        ),
        // The options are about both.
        (newest, 2, "L2 L5: + c0 - c0 Exited(None) + c1 - c1 Read"),
        (FOLLOW, 2, "L0 L1 L2 L3 L4 L5: + c0 - c0 Exited(None) + c1"),
    ] {
        assert_eq!(shown(options, runs), expect);
    }
}

#[test]
fn a_tail_is_followed_across_a_cut() {
    for lines in 0..4 {
        let mut life = Life::with(tail(lines), 1);
        life.lines(6);
        life.pump();
        life.cut();
        life.lines(2);
        let skipped: Vec<usize> = (0..6 - usize::try_from(lines).expect("small")).collect();
        assert_eq!(life.check(&skipped), "", "{lines}");
    }
}

#[test]
fn a_tail_counts_a_last_line_without_its_line_feed() {
    for (lines, expect) in [(0, ""), (1, "half"), (2, "L2 half"), (9, "L0 L1 L2 half")] {
        for follow in [true, false] {
            let options = ReadOptions {
                follow,
                ..tail(lines)
            };
            let mut life = Life::with(options, 1);
            life.lines(3);
            life.error_after = Some("1970-01-01T00:20:00Z half");
            life.exit(0);
            life.pump();
            assert_eq!(life.shown.join(" "), expect, "{lines} {follow}");
        }
    }
}

/// What a reader shows of a log with one long line, whose parts come in these answers. `.` ends a line, `;` an answer.
fn long_line(options: ReadOptions, script: &str) -> String {
    let mut life = Life::with(options, 1);
    'answers: for answer in script.split(';') {
        loop {
            match life.reader.step() {
                ReadStep::Open(request) if request.previous => life.refuse(400, NO_PREVIOUS),
                ReadStep::Open(_) => break,
                _ => life.reader.waited(),
            }
        }
        life.reader.opened();
        let mut time = "1970-01-01T00:16:40Z ";
        for text in answer.split_inclusive(['.', '|']) {
            let (text, is_last) = (&text[..text.len() - 1], text.ends_with('.'));
            let bytes = format!("{time}{text}").into();
            time = if is_last { "1970-01-01T00:16:40Z " } else { "" };
            if life.reader.line(LinePart { bytes, is_last }) == Flow::Stop {
                continue 'answers;
            }
        }
        let rest = format!("{time}half").into();
        life.reader.ended(StreamEnd::Clean(rest));
    }
    let events = life.reader.take_events();
    let shown = events.map(|event| match event {
        LogEvent::Line(LogLine { text, ends, .. }) => {
            let end = if ends { "." } else { "|" };
            String::from_utf8_lossy(&text).into_owned() + end
        }
        LogEvent::Opened(_) => String::new(),
        LogEvent::Gap(_) => " gap ".to_owned(),
        other => format!(" {other:?} "),
    });
    shown.collect()
}

#[test]
fn a_long_line_that_is_cut_in_the_middle_is_read_on() {
    let limit = ReadOptions {
        limit: Some(3),
        ..FOLLOW
    };
    for (options, script, expect) in [
        (FOLLOW, "a.bb|cc|d.e.", "a.bb|cc|d.e."),
        (
            FOLLOW,
            "a.bb|cc|;a.bb|cc|dd|;a.bb|cc|dd|e.f.",
            "a.bb|cc|dd|e.f.",
        ),
        (FOLLOW, "bb|;bb|", "bb|"),
        (
            FOLLOW,
            "a.bb|cc|;a.x.y.",
            "a.bb|cc|. Notice(\"the rest of a long line cannot be read any more\") x.y.",
        ),
        // The log was rotated, and the status does not change.
        (FOLLOW, "a.bb|;x.y.;x.y.", "a.bb|. gap x.y."),
        (tail(1), "a.bb|cc|d.;a.bb|cc|d.e.", "bb|cc|d.e."),
        (limit, "bb|cc|d.e.", "bb|c. Ended(LogInstance"),
    ] {
        let shown = long_line(options, script);
        let start = &shown[..expect.len().min(shown.len())];
        assert_eq!(start, expect, "{script}");
        assert!(
            shown.len() == expect.len() || options.limit.is_some(),
            "{shown}"
        );
    }
}

/// What happens to a container.
#[derive(Clone, Debug)]
enum Act {
    Lines(usize, i64),
    Cut,
    Restart,
    Refuse(u32),
    Pump,
}

fn act() -> impl Strategy<Value = Act> {
    prop_oneof![
        4 => (0_usize..4, -5_i64..400).prop_map(|(count, step)| Act::Lines(count, step)),
        3 => Just(Act::Cut),
        1 => Just(Act::Restart),
        1 => (0_u32..3).prop_map(Act::Refuse),
        3 => Just(Act::Pump),
    ]
}

proptest! {
    #[test]
    fn without_follow_every_line_is_shown_or_named(cuts in prop::collection::vec(0_usize..8, 0..8), growth in 0_usize..2) {
        let mut life = Life::with(ReadOptions { follow: false, ..FOLLOW }, 1);
        life.lines(6);
        life.growth = growth;
        life.cuts.extend(cuts);
        life.pump();
        prop_assert_eq!(life.reader.step(), ReadStep::Done);
        let shown: Vec<String> = (0..life.shown.len()).map(|number| format!("L{number}")).collect();
        prop_assert_eq!(&life.shown, &shown);
        let is_said = life.said.iter().any(|line| line.contains("ended early") || line.contains("Lost"));
        prop_assert!(shown.len() >= 6 || is_said, "{:?} {:?}", shown, life.said);
    }

    #[test]
    fn a_restart_that_the_status_shows_late_loses_and_doubles_no_line(
        before in 0_usize..3, after in 0_usize..3, requests in 0_u32..4, step in 1_i64..300, is_dead in any::<bool>(),
    ) {
        let mut life = Life::with(FOLLOW, 1);
        life.lines(before);
        if is_dead {
            life.exit(1);
            life.wait_for_restart();
        }
        // The status comes within a second.
        life.delay = 1;
        life.run();
        for _ in 0..after {
            life.line_at(step);
        }
        for _ in 0..requests {
            if life.open.is_none() && life.reader.step() != ReadStep::Wait(None) {
                life.answer_next();
            }
        }
        life.delay = 0;
        life.deliver();
        life.lines(1);
        life.pump();
        let is_named = life.said.iter().any(|line| line.contains("own lines may be missing"));
        let mut counts = vec![0; life.written];
        for line in &life.shown {
            counts[line[1..].parse::<usize>().expect("a number")] += 1;
        }
        let lost = counts.iter().filter(|count| **count == 0).count();
        prop_assert!(counts.iter().all(|count| *count <= 1), "{:?} {:?}", life.shown, life.said);
        // The log of a dead instance that is empty cannot be told from that of the next one before its first line.
        prop_assert!(lost == 0 || is_named || (is_dead && after == 0), "{:?} {:?}", life.shown, life.said);
    }

    #[test]
    fn no_life_loses_or_doubles_a_line(acts in prop::collection::vec(act(), 0..40)) {
        let mut life = Life::begun();
        for act in acts {
            match act {
                Act::Lines(count, step) => {
                    for _ in 0..count {
                        life.line_at(step);
                    }
                }
                Act::Cut => life.cut(),
                // The node keeps one instance, so a restart waits until the reader has caught up.
                Act::Restart => {
                    life.pump();
                    life.exit(1);
                    life.run();
                }
                Act::Refuse(count) => life.refusals = count,
                Act::Pump => life.pump(),
            }
        }
        life.refusals = 0;
        let said = life.check(&[]);
        prop_assert!(!said.contains('!'), "{}", said);
    }
}
