//! The faults of a schedule, drawn from its seed before the run.

use std::time::Duration;

use crate::support::fault_proxy::{End, Protocol, Weather};

/// One schedule. A failure prints it.
#[derive(Clone, Debug)]
pub struct Schedule {
    pub seed: u64,
    /// The protocol at the proxy: TLS with HTTP/2, or HTTP/1.1 that the proxy can read.
    pub protocol: Protocol,
    /// The control plane that it uses.
    pub plane: Plane,
    /// The source of the program's token.
    pub credential: Credential,
    pub steps: Vec<Step>,
}

/// Whether a schedule shares its control plane.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Plane {
    /// The control plane of all schedules that leave the servers running.
    Shared,
    /// A control plane of its own, which it kills, freezes, compacts and restores.
    Own,
}

/// The source of the program's token.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Credential {
    Kubeconfig,
    File,
    Plugin,
}

/// One fault, the writes during it, and the next action.
#[derive(Clone, Copy, Debug)]
pub struct Step {
    pub fault: Fault,
    pub writes: u32,
    pub then: Then,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Fault {
    /// The proxy has this weather.
    Weather(Weather),
    /// All connections end once, between the writes.
    End(End),
    /// The reader's rights are revoked and granted again, before the program reports it or after.
    Revoke(Believed),
    /// The custom kind is deleted with all its objects, and created again.
    Undefine,
    /// The API server is killed and started again.
    Kill,
    /// The API server is killed and started again, and etcd is compacted in between.
    Forget,
    /// The API server is frozen.
    Freeze,
    /// etcd is compacted.
    Compact,
    /// etcd is restored to its data at the beginning of the step.
    Restore,
    /// The token is replaced, and the API server is restarted.
    Rotate,
}

/// Whether the rights stay revoked until the program reports it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Believed {
    No,
    Yes,
}

/// The action after a step.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Then {
    /// The next step starts at once.
    GoOn,
    /// All connections end first.
    End(End),
    /// The program must catch up first.
    CatchUp,
}

/// The number of steps in a schedule.
const STEPS: usize = 8;

impl Schedule {
    /// The schedule of a seed.
    pub fn of(seed: u64) -> Schedule {
        let mut rng = fastrand::Rng::with_seed(seed);
        let protocol = if seed.is_multiple_of(2) {
            Protocol::Bytes
        } else {
            Protocol::Http
        };
        let plane = if seed % 5 < 3 {
            Plane::Shared
        } else {
            Plane::Own
        };
        let all = [Credential::Kubeconfig, Credential::File, Credential::Plugin];
        let mut schedule = Schedule {
            seed,
            protocol,
            plane,
            credential: all[rng.usize(..all.len())],
            steps: Vec::new(),
        };
        while schedule.steps.len() < STEPS {
            let fault = schedule.fault(&mut rng);
            let is_again = schedule.steps.iter().any(|step| step.fault == fault);
            if !is_again || matches!(fault, Fault::Weather(_) | Fault::End(_)) {
                let (writes, then) = (rng.u32(5..60), then(&mut rng));
                schedule.steps.push(Step {
                    fault,
                    writes,
                    then,
                });
            }
        }
        schedule
    }

    fn fault(&self, rng: &mut fastrand::Rng) -> Fault {
        match (self.plane, rng.u32(..12)) {
            (_, 0..3) => Fault::End(end(rng)),
            (Plane::Shared, 10) => Fault::Revoke(if rng.u32(..4) == 0 {
                Believed::Yes
            } else {
                Believed::No
            }),
            (Plane::Shared, 11) => Fault::Undefine,
            (Plane::Own, 6) => Fault::Kill,
            (Plane::Own, 7) => Fault::Forget,
            (Plane::Own, 8) => Fault::Freeze,
            (Plane::Own, 9) => Fault::Compact,
            (Plane::Own, 10) => Fault::Restore,
            (Plane::Own, 11) => Fault::Rotate,
            _ => Fault::Weather(weather(self.protocol, rng)),
        }
    }
}

fn end(rng: &mut fastrand::Rng) -> End {
    if rng.bool() { End::Closed } else { End::Reset }
}

fn then(rng: &mut fastrand::Rng) -> Then {
    match rng.u32(..4) {
        0 => Then::GoOn,
        1 => Then::End(end(rng)),
        _ => Then::CatchUp,
    }
}

/// Random bad weather that the proxy supports for this protocol.
pub fn weather(protocol: Protocol, rng: &mut fastrand::Rng) -> Weather {
    let kinds = match protocol {
        Protocol::Bytes => 5,
        Protocol::Http => 8,
    };
    match rng.u32(..kinds) {
        0 => Weather::Stalled,
        1 => Weather::Throttled(rng.u32(2_000..40_000)),
        2 => Weather::Delayed(Duration::from_millis(rng.u64(5..200))),
        3 => Weather::Refusing,
        4 => Weather::Leaky(rng.usize(500..30_000)),
        5 => Weather::Failing(rng.u32(2..8)),
        6 => Weather::Repeating(rng.u32(1..5)),
        _ => Weather::Garbling(rng.u32(2..20)),
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;

    #[test]
    fn the_first_schedules_have_every_kind_of_fault() {
        let schedules: Vec<Schedule> = (0..20).map(Schedule::of).collect();
        let steps = schedules.iter().flat_map(|schedule| &schedule.steps);
        let name = |step: &Step| {
            let fault = format!("{:?}", step.fault);
            let names = fault.split(|at: char| !at.is_alphanumeric());
            names.take(2).collect::<Vec<_>>().join(" ")
        };
        let kinds: BTreeSet<String> = steps.map(name).collect();
        let weather = [
            "Delayed",
            "Failing",
            "Garbling",
            "Leaky",
            "Refusing",
            "Repeating",
            "Stalled",
            "Throttled",
        ];
        let others = [
            "Compact",
            "End Closed",
            "End Reset",
            "Forget",
            "Freeze",
            "Kill",
            "Restore",
            "Revoke No",
            "Revoke Yes",
            "Rotate",
            "Undefine",
        ];
        let all = others.map(str::to_owned).into_iter();
        let all = all.chain(weather.map(|weather| format!("Weather {weather}")));
        assert_eq!(kinds, all.collect());
    }
}
