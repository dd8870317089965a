//! The faults of a schedule, drawn before the run.

use std::time::Duration;

use kubectl_spy::sandbox::{BadLine, Effect, End, ErrorBody, Expiry, Fault, Framing, Place, Verb};

use super::check::Summary;

/// The faults of one schedule, and the losses that its readers may have.
pub struct Script {
    /// Whether the server sends every version that it should.
    pub honest: bool,
    pub faults: Vec<Fault>,
    /// How many times a watch may get the error that its version is too old.
    pub expiries: usize,
    bad_lines: usize,
    polls: bool,
}

/// The numbers of watches and listings that may have a fault.
const WATCHES: u32 = 30;
const LISTS: u32 = 12;

impl Script {
    pub fn random(rng: &mut fastrand::Rng, honest: bool) -> Script {
        let mut script = Script {
            honest,
            faults: Vec::new(),
            expiries: 0,
            bad_lines: 0,
            polls: false,
        };
        for nth in 1..=WATCHES {
            if rng.u32(..10) < 3 {
                let effect = manner(rng);
                script.watch(nth..=nth, effect);
            }
            if rng.u32(..10) < 8 {
                script.end_of_watch(rng, nth);
            }
            if !honest && rng.bool() {
                script.watch(nth..=nth, Effect::Skip(rng.usize(1..3)));
            }
        }
        for nth in 1..=LISTS {
            if rng.u32(..10) < 4 {
                let fault = Fault::on(Verb::List, "configmaps", of_list(rng));
                script.faults.push(fault.nth(nth));
            }
        }
        script
    }

    /// The fault that ends the nth watch.
    fn end_of_watch(&mut self, rng: &mut fastrand::Rng, nth: u32) {
        let after = rng.usize(..4);
        let effect = match rng.u32(..24) {
            0..7 => Effect::Cut {
                at: place(rng),
                end: [End::Clean, End::Dropped, End::Reset][rng.usize(..3)],
            },
            7..9 => Effect::Stall { at: place(rng) },
            9..14 => {
                let last = nth + rng.u32(..2);
                let line = bad_line(rng);
                self.bad_lines += (last - nth + 1) as usize;
                let after = after.min(1);
                return self.watch(nth..=last, Effect::BadLine { after, line });
            }
            14..17 => {
                self.expiries += 1;
                if rng.bool() {
                    Effect::Expire(Expiry::HttpStatus)
                } else {
                    Effect::Expire(Expiry::InStream(after))
                }
            }
            17..19 => Effect::ErrorEvent {
                after,
                code: [500, 429, 0][rng.usize(..3)],
            },
            19 => {
                self.polls = true;
                return self.watch(nth..=nth, status(405));
            }
            20 => {
                self.polls = true;
                return self.watch(nth..=nth + 3, status(403));
            }
            21 => status(404),
            _ => failure(rng),
        };
        self.watch(nth..=nth, effect);
    }

    fn watch(&mut self, nth: std::ops::RangeInclusive<u32>, effect: Effect) {
        let fault = Fault::on(Verb::Watch, "configmaps", effect);
        self.faults.push(fault.range(nth));
    }

    /// Checks that no reader missed more than the script allows.
    pub fn check(&self, label: &str, summary: &Summary) {
        assert!(summary.expired <= self.expiries, "{label}: {summary:?}");
        assert!(summary.bad <= self.bad_lines, "{label}: {summary:?}");
        assert!(summary.polled == 0 || self.polls, "{label}: {summary:?}");
    }
}

/// A fault of a watch that continues.
fn manner(rng: &mut fastrand::Rng) -> Effect {
    match rng.u32(..9) {
        0 => Effect::Framing(Framing::Crlf),
        1 => Effect::Framing(Framing::BlankLines),
        2 => Effect::Framing(Framing::ObjectFirst),
        3 => Effect::Framing(Framing::Together),
        4 => Effect::Framing(Framing::Split(rng.usize(1..200))),
        5 => Effect::Framing(Framing::Gzip),
        6 => Effect::NoBookmarks,
        7 => Effect::Slow(Duration::from_millis(rng.u64(..20))),
        _ => Effect::Replay(rng.usize(..20)),
    }
}

fn place(rng: &mut fastrand::Rng) -> Place {
    match rng.u32(..6) {
        0 => Place::BeforeHeaders,
        1 => Place::AfterHeaders,
        2 | 3 => Place::AfterEvents(rng.usize(..4)),
        _ => Place::MidLine(rng.usize(..4)),
    }
}

fn bad_line(rng: &mut fastrand::Rng) -> BadLine {
    match rng.u32(..30) {
        0 => BadLine::Long(17 << 20),
        1..8 => BadLine::Garbage,
        8..15 => BadLine::Truncated,
        15..22 => BadLine::NotUtf8,
        _ => BadLine::UnknownType,
    }
}

fn of_list(rng: &mut fastrand::Rng) -> Effect {
    match rng.u32(..12) {
        0..3 => Effect::Cut {
            at: place(rng),
            end: [End::Clean, End::Dropped, End::Reset][rng.usize(..3)],
        },
        3 => Effect::Stall { at: place(rng) },
        4..6 => Effect::Expire(Expiry::SecondPage),
        6..8 => Effect::RepeatAcrossPages,
        8 => status(403),
        9 => status(404),
        _ => failure(rng),
    }
}

fn status(code: u16) -> Effect {
    Effect::Status {
        code,
        retry_after: None,
        body: ErrorBody::Status,
    }
}

/// An error status that is not a refusal of access.
fn failure(rng: &mut fastrand::Rng) -> Effect {
    let (code, retry_after) = match rng.u32(..10) {
        0..2 => (429, Some(0)),
        2 => (429, Some(1)),
        3 => (503, Some(1)),
        4..6 => (503, None),
        6 => (504, None),
        _ => (500, None),
    };
    Effect::Status {
        code,
        retry_after,
        body: [ErrorBody::Status, ErrorBody::PrettyStatus, ErrorBody::Html][rng.usize(..3)],
    }
}
