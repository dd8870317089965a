//! `logs -f` on the lives of a container: whatever ends a stream, each line is printed once. Lines that nobody can read any
//! more are named as a gap.

use std::collections::BTreeMap;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Mutex;
use std::thread::{self, sleep};
use std::time::{Duration, Instant};

use jiff::{SignedDuration, Timestamp};

use super::controlplane::ControlPlane;
use super::hand_node::{HandNode, HandPod, Protocol, cri};
use super::support::{Running, Spy};

/// One life, and the lines that cannot be read any more.
struct Script {
    name: &'static str,
    what: &'static str,
    play: fn(&mut Life<'_>),
    lost: &'static [usize],
}

const SCRIPTS: [Script; 18] = [
    Script {
        name: "restart",
        what: "it exits, and 0.3 s later there is a new instance",
        lost: &[],
        play: |life| {
            life.begin();
            life.watch();
            life.print(2);
            life.exit(1);
            sleep(ms(300));
            life.start();
            life.print(2);
        },
    },
    Script {
        name: "short",
        what: "an instance is born and dead within 0.2 s, then the next",
        lost: &[],
        play: |life| {
            life.begin();
            life.watch();
            life.exit(1);
            life.start();
            life.print(2);
            sleep(ms(100));
            life.exit(1);
            life.start();
            life.print(2);
        },
    },
    Script {
        name: "unseen",
        what: "no version shows the end of an instance, only the next one",
        lost: &[],
        play: |life| {
            life.begin();
            life.watch();
            life.print(2);
            life.start();
            life.print(2);
        },
    },
    Script {
        name: "clean-end",
        what: "the stream ends cleanly while the container runs",
        lost: &[],
        play: |life| {
            life.begin();
            life.watch();
            life.ask("/end?");
            sleep(ms(200));
            life.print(2);
            sleep(ms(1000));
            life.print(2);
        },
    },
    Script {
        name: "cut",
        what: "the connection from the API server to the kubelet breaks",
        lost: &[],
        play: |life| {
            life.begin();
            life.watch();
            life.ask("/cut?");
            sleep(ms(200));
            life.print(2);
            sleep(ms(1000));
            life.print(2);
        },
    },
    Script {
        name: "rotation",
        what: "the log is rotated while it is followed",
        lost: &[],
        play: |life| {
            life.begin();
            life.watch();
            life.print(2);
            sleep(ms(300));
            life.pod().rotate(APP);
            life.print(2);
        },
    },
    Script {
        name: "api-server",
        what: "the API server is killed and comes back",
        lost: &[],
        play: |life| {
            life.begin();
            life.watch();
            life.plane.kill_api_server();
            life.print(2);
            sleep(ms(2000));
            life.plane.start_api_server();
            life.print(2);
        },
    },
    Script {
        name: "refused",
        what: "the node answers the first three requests with 500",
        lost: &[],
        play: |life| {
            life.begin();
            life.ask("/fault?status=500&text=refused&times=3&");
            life.watch();
            life.print(2);
        },
    },
    Script {
        name: "early",
        what: "the wait begins before the container does",
        lost: &[],
        play: |life| {
            life.create();
            life.pod().wait(APP, "ContainerCreating");
            life.watch_unopened();
            life.start();
            life.print(2);
        },
    },
    Script {
        name: "recreated",
        what: "the Pod is deleted and created again with the same name",
        lost: &[],
        play: |life| {
            life.begin();
            life.watch();
            life.pod.take().unwrap().delete();
            sleep(ms(300));
            life.create();
            life.start();
            life.print(2);
        },
    },
    Script {
        name: "fast-job",
        what: "the Pod has succeeded in the first version that shows an instance",
        lost: &[],
        play: |life| {
            life.create();
            life.pod().wait(APP, "ContainerCreating");
            life.watch_unopened();
            let lines = life.next_lines(2);
            life.pod().start_and_exit(APP, 0, &words(&lines));
        },
    },
    Script {
        name: "crash-loop",
        what: "the last instance is dead at the start, then another one dies",
        lost: &[],
        play: |life| {
            life.begin();
            life.exit(1);
            life.pod().wait(APP, "CrashLoopBackOff");
            life.watch();
            life.start();
            life.print(2);
            life.exit(1);
            life.pod().wait(APP, "CrashLoopBackOff");
        },
    },
    Script {
        name: "removed",
        what: "the runtime does not know the container once, then there is a new instance",
        lost: &[],
        play: |life| {
            life.begin();
            life.ask("/fault?gone=true&times=1&");
            life.watch();
            life.exit(1);
            life.start();
            life.print(2);
        },
    },
    Script {
        name: "cut-and-rotated",
        what: "two lines are only in the rotated file when the stream opens again",
        lost: &[2, 3],
        play: |life| {
            life.begin();
            life.watch();
            life.ask("/fault?status=500&text=away&");
            life.ask("/cut?");
            life.print(2);
            life.pod().rotate(APP);
            life.ask("/clear?");
            sleep(ms(1200));
            life.print(2);
        },
    },
    Script {
        name: "cut-and-two-restarts",
        what: "the end of an instance that is no longer the last one",
        lost: &[2, 3],
        play: |life| {
            life.begin();
            life.watch();
            life.ask("/fault?status=500&text=away&");
            life.ask("/cut?");
            for _ in 0..2 {
                life.print(2);
                life.exit(1);
                life.start();
            }
            life.ask("/clear?");
            sleep(ms(2000));
            life.print(2);
        },
    },
    Script {
        name: "cuts",
        what: "1000 lines a second, and a cut every 0.4 s",
        lost: &[],
        play: |life| {
            life.begin();
            life.watch();
            let begun = Instant::now();
            let mut cuts = 0;
            while begun.elapsed() < ms(4000) {
                life.print(10);
                sleep(ms(10));
                if begun.elapsed() > ms(400) * (cuts + 1) {
                    life.ask("/cut?");
                    cuts += 1;
                }
            }
        },
    },
    Script {
        name: "jitter",
        what: "the times of stdout and stderr are out of order at the turn of a second",
        lost: &[],
        play: |life| {
            life.begin();
            life.watch();
            let turn = Timestamp::from_second(Timestamp::now().as_second() + 1).unwrap();
            for nanos in [-3, 2, -1, 1, 0, 2, 2, 2] {
                life.print_at(turn, nanos);
            }
            sleep(ms(400));
            life.ask("/cut?");
            sleep(ms(200));
            for nanos in [1, 3, -2, 4, 1_000_000_001] {
                life.print_at(turn, nanos);
            }
        },
    },
    Script {
        name: "last-words",
        what: "a cut, then the last lines, the exit and the next instance before the node answers",
        lost: &[],
        play: |life| {
            life.begin();
            life.watch();
            life.ask("/fault?status=500&text=away&");
            life.ask("/cut?");
            life.print(2);
            life.exit(1);
            life.start();
            sleep(ms(300));
            life.ask("/clear?");
            life.print(2);
            sleep(ms(2000));
        },
    },
];

const APP: &str = "app";

const fn ms(millis: u64) -> Duration {
    Duration::from_millis(millis)
}

/// How long a line may take that comes twice.
const LATE: Duration = ms(1500);

/// A Pod, the program that follows its log, and the number of lines printed so far.
struct Life<'p> {
    plane: &'p ControlPlane,
    node: &'p HandNode<'p>,
    name: String,
    pod: Option<HandPod<'p>>,
    spy: Option<Running>,
    lines: usize,
}

impl<'p> Life<'p> {
    fn create(&mut self) {
        self.pod = Some(self.node.pod(&self.name, &[APP]));
    }

    /// A running container that has printed two lines.
    fn begin(&mut self) {
        self.create();
        self.start();
        self.print(2);
        let log = format!("{}/log", self.name);
        let deadline = Instant::now() + ms(10_000);
        while self.node.log(&log).text.is_empty() && Instant::now() < deadline {}
    }

    /// Starts the program, and waits until it has asked for the log.
    fn watch(&mut self) {
        let before = self.node.streams(&self.key()).requests;
        self.run();
        let deadline = Instant::now() + ms(10_000);
        while self.node.streams(&self.key()).requests == before {
            assert!(Instant::now() < deadline, "no request");
            sleep(ms(20));
        }
        sleep(ms(500));
    }

    /// Starts the program before there is a log.
    fn watch_unopened(&mut self) {
        self.run();
        sleep(ms(1000));
    }

    fn run(&mut self) {
        let pod = format!("pod/{}", self.name);
        let args = ["logs", &pod, "-n", "default", "-f", "--tail=-1"];
        self.spy = Some(Spy::with_kubeconfig(self.plane.admin()).start(&args));
    }

    fn pod(&mut self) -> &mut HandPod<'p> {
        self.pod.as_mut().unwrap()
    }

    fn start(&mut self) {
        self.pod().start(APP);
    }

    fn exit(&mut self, code: i64) {
        self.pod().exit(APP, code);
    }

    fn print(&mut self, count: usize) {
        let lines = self.next_lines(count);
        self.pod().print(APP, &words(&lines));
    }

    fn print_at(&mut self, turn: Timestamp, nanos: i64) {
        let lines = self.next_lines(1);
        let line = cri(turn + SignedDuration::from_nanos(nanos), 'F', &lines[0]);
        self.pod().append(APP, &line);
    }

    fn next_lines(&mut self, count: usize) -> Vec<String> {
        let first = self.lines;
        self.lines += count;
        (first..self.lines)
            .map(|number| format!("L{number}"))
            .collect()
    }

    /// Asks for a fault of this Pod.
    fn ask(&self, request: &str) {
        self.node.ask(&format!("{request}match={}", self.key()));
    }

    fn key(&self) -> String {
        format!("default/{}/", self.name)
    }

    /// Compares what the program has printed with what was printed.
    fn verdict(mut self, lost: &[usize]) -> Result<(), String> {
        let mut spy = self.spy.take().unwrap();
        let end = self.lines - 1;
        spy.until_where(&format!("L{end}"), |line| number(line) == Some(end));
        sleep(LATE);
        let ran = spy.interrupt();
        let mut counts: BTreeMap<usize, usize> = (0..self.lines).map(|at| (at, 0)).collect();
        let numbers: Vec<usize> = ran.stdout.lines().filter_map(number).collect();
        for number in &numbers {
            *counts.entry(*number).or_default() += 1;
        }
        let of = |wanted: fn(usize) -> bool| {
            let found = counts.iter().filter(move |(_, count)| wanted(**count));
            found.map(|(number, _)| *number).collect::<Vec<_>>()
        };
        let (missing, doubled) = (of(|count| count == 0), of(|count| count > 1));
        let is_ordered = numbers.is_sorted();
        let is_said = ["gap", "may be missing", "cannot be read"]
            .iter()
            .any(|words| ran.stderr.contains(words));
        let may_be_unsure = ENDS_UNCHECKED.iter().any(|it| self.name.starts_with(it));
        let is_word_right = is_said != lost.is_empty() || (lost.is_empty() && may_be_unsure);
        if missing == lost && doubled.is_empty() && is_ordered && is_word_right {
            return Ok(());
        }
        Err(format!(
            "lost {missing:?}, doubled {doubled:?}, in order: {is_ordered}, gap said: {is_said}\n{}",
            ran.transcript()
        ))
    }
}

/// The number of a line `L7`, with any prefix.
fn number(line: &str) -> Option<usize> {
    let word = line.split_whitespace().next_back()?;
    word.strip_prefix('L')?.parse().ok()
}

fn words(lines: &[String]) -> Vec<&str> {
    lines.iter().map(String::as_str).collect()
}

/// The lives in which an instance is gone a moment after its end. A busy machine cannot check then that it has every line, and
/// says so.
const ENDS_UNCHECKED: [&str; 1] = ["short-"];

/// How many lives run at the same time.
const AT_ONCE: usize = 3;

#[test]
fn every_line_of_a_life_is_printed_once() {
    let plane = ControlPlane::to_break("logs");
    let only = std::env::var("SPY_LIFE").ok();
    let asked = |script: &&Script| only.as_ref().is_none_or(|name| name == script.name);
    let (shared, alone): (Vec<&Script>, Vec<&Script>) = SCRIPTS
        .iter()
        .filter(asked)
        .partition(|script| script.name != "api-server");
    let left = Mutex::new(shared.into_iter());
    let failed = Mutex::new(Vec::new());
    let attempt = |script: &Script, protocol| {
        if let Err(wrong) = play(&plane, script, protocol) {
            let text = format!(
                "{} over {protocol:?} ({}): {wrong}",
                script.name, script.what
            );
            failed.lock().unwrap().push(text);
        }
    };
    thread::scope(|scope| {
        for _ in 0..AT_ONCE {
            scope.spawn(|| {
                loop {
                    let next = left.lock().unwrap().next();
                    let Some(script) = next else { break };
                    attempt(script, Protocol::Http2);
                    attempt(script, Protocol::Http1);
                }
            });
        }
    });
    for script in alone {
        attempt(script, Protocol::Http2);
    }
    let failed = failed.into_inner().unwrap();
    assert!(failed.is_empty(), "{}", failed.join("\n\n"));
}

/// Plays one life.
fn play(plane: &ControlPlane, script: &Script, protocol: Protocol) -> Result<(), String> {
    let name = format!("{}-{protocol:?}", script.name).to_lowercase();
    let lived = catch_unwind(AssertUnwindSafe(|| {
        let node = HandNode::new(plane, &format!("node-{name}"), protocol);
        let mut life = Life {
            plane,
            node: &node,
            name,
            pod: None,
            spy: None,
            lines: 0,
        };
        (script.play)(&mut life);
        life.verdict(script.lost)
    }));
    lived.unwrap_or_else(|panic| {
        let text = panic.downcast_ref::<String>();
        Err(text.cloned().unwrap_or_else(|| "it panicked".to_owned()))
    })
}
