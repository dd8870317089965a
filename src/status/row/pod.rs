//! The cells of a Pod, as the API server's `printPod` computes them.

use std::borrow::Cow;

use crate::object::{Value, conditions, is_sidecar};
use crate::status::read;
use crate::status::state::Status;

use super::{Restarts, Row, is_deleted, is_true};

/// Reads a Pod's cells: the progress of its init containers first, then the state of its containers.
pub(super) fn row(pod: Value<'_>, status: Status) -> Row {
    let mut init = Init::of(pod);
    let mut word = init.word.take().unwrap_or_else(|| phase_word(pod));
    let mut ready = init.sidecars_ready;
    let mut restarts = init.restarts;
    if init.done || is_true(pod, "Initialized") {
        let containers = Containers::of(pod);
        ready += containers.ready;
        restarts = init.sidecar_restarts;
        restarts.add(containers.restarts);
        word = containers.word(pod).unwrap_or(word);
    }
    word = deletion_word(pod).map_or(word, str::to_owned);
    if word.is_empty() {
        status.as_str().clone_into(&mut word);
    }
    if restarts.count == 0 {
        restarts.last = None;
    }
    let wanted = pod.items_at(&["spec", "containers"]).count() + sidecars(pod).count();
    Row {
        ready: Some(format!("{ready}/{wanted}")),
        word,
        restarts: Some(restarts),
    }
}

/// The Pod's own reason (for example `Evicted`), else its phase. A scheduling gate comes before both.
fn phase_word(pod: Value<'_>) -> String {
    let gated = conditions(pod)
        .any(|condition| condition.kind == "PodScheduled" && condition.reason == "SchedulingGated");
    if gated {
        return "SchedulingGated".to_owned();
    }
    let text = |key| read::text_or(pod, &["status", key], "");
    match text("reason") {
        reason if reason.is_empty() => text("phase").into_owned(),
        reason => reason.into_owned(),
    }
}

/// The word for a Pod that is being deleted and has not ended. A Pod on a lost node may be in any state:
/// `Unknown`.
fn deletion_word(pod: Value<'_>) -> Option<&'static str> {
    if !is_deleted(pod) {
        None
    } else if read::text_or(pod, &["status", "reason"], "") == "NodeLost" {
        Some("Unknown")
    } else {
        let phase = read::text_or(pod, &["status", "phase"], "");
        (phase != "Failed" && phase != "Succeeded").then_some("Terminating")
    }
}

/// The names of the sidecars: init containers that keep running beside the other containers.
fn sidecars(pod: Value<'_>) -> impl Iterator<Item = Cow<'_, str>> {
    pod.items_at(&["spec", "initContainers"])
        .filter(|container| is_sidecar(*container))
        .map(|container| read::text_or(container, &["name"], ""))
}

/// The state of the init containers, up to the first that is in progress.
#[derive(Default)]
struct Init {
    /// Whether no init container is in progress.
    done: bool,
    /// `Init:0/2` or `Init:CrashLoopBackOff`, while an init container is in progress.
    word: Option<String>,
    restarts: Restarts,
    sidecar_restarts: Restarts,
    sidecars_ready: usize,
}

impl Init {
    fn of(pod: Value<'_>) -> Init {
        let mut init = Init::default();
        let sidecars: Vec<_> = sidecars(pod).collect();
        for (index, status) in pod
            .items_at(&["status", "initContainerStatuses"])
            .enumerate()
        {
            let restarts = Restarts::of(status);
            init.restarts.add(restarts);
            let is_sidecar = sidecars.contains(&read::text_or(status, &["name"], ""));
            if is_sidecar {
                init.sidecar_restarts.add(restarts);
            }
            let ended = read::object_at(status, &["state", "terminated"]);
            if ended.is_some_and(|ended| read::int_or(ended, &["exitCode"], 0) == 0) {
                continue;
            }
            if is_sidecar && read::flag(status, &["started"]) {
                init.sidecars_ready += usize::from(read::flag(status, &["ready"]));
                continue;
            }
            init.word = Some(init_word(pod, status, index));
            return init;
        }
        init.done = true;
        init
    }
}

/// The word for the init container that is in progress.
fn init_word(pod: Value<'_>, status: Value<'_>, index: usize) -> String {
    if let Some(ended) = read::object_at(status, &["state", "terminated"]) {
        return format!("Init:{}", end_word(ended));
    }
    let waiting = read::text_or(status, &["state", "waiting", "reason"], "");
    if waiting.is_empty() || waiting == "PodInitializing" {
        let count = pod.items_at(&["spec", "initContainers"]).count();
        return format!("Init:{index}/{count}");
    }
    format!("Init:{waiting}")
}

/// The state of the containers.
#[derive(Default)]
struct Containers {
    /// The word of the first container that has one.
    first: Option<String>,
    /// The word of the first container that failed.
    failure: Option<String>,
    ready: usize,
    restarts: Restarts,
}

impl Containers {
    fn of(pod: Value<'_>) -> Containers {
        let mut all = Containers::default();
        for status in pod.items_at(&["status", "containerStatuses"]) {
            all.restarts.add(Restarts::of(status));
            let waiting = read::text_or(status, &["state", "waiting", "reason"], "");
            let word = if !waiting.is_empty() {
                waiting.into_owned()
            } else if let Some(ended) = read::object_at(status, &["state", "terminated"]) {
                let word = end_word(ended);
                if read::int_or(ended, &["exitCode"], 0) != 0 {
                    all.failure.get_or_insert_with(|| word.clone());
                }
                word
            } else {
                let running = read::flag(status, &["ready"])
                    && read::object_at(status, &["state", "running"]).is_some();
                all.ready += usize::from(running);
                continue;
            };
            all.first.get_or_insert(word);
        }
        all
    }

    /// The word for all containers. `Completed` is the word only if no other container runs or failed.
    fn word(self, pod: Value<'_>) -> Option<String> {
        if self.first.as_deref() != Some("Completed") {
            return self.first;
        }
        let running = self.ready > 0;
        if running && is_true(pod, "Ready") {
            Some("Running".to_owned())
        } else if self.failure.is_some() {
            self.failure
        } else if running {
            Some("NotReady".to_owned())
        } else {
            self.first
        }
    }
}

/// How a container ended: its reason, else the signal or the exit code.
fn end_word(ended: Value<'_>) -> String {
    let reason = read::text_or(ended, &["reason"], "");
    if !reason.is_empty() {
        return reason.into_owned();
    }
    match read::int_or(ended, &["signal"], 0) {
        0 => format!("ExitCode:{}", read::int_or(ended, &["exitCode"], 0)),
        signal => format!("Signal:{signal}"),
    }
}

impl Restarts {
    fn of(status: Value<'_>) -> Restarts {
        Restarts {
            count: read::int_or(status, &["restartCount"], 0),
            last: status.time_at(&["lastState", "terminated", "finishedAt"]),
        }
    }

    fn add(&mut self, other: Restarts) {
        self.count = self.count.saturating_add(other.count);
        self.last = self.last.max(other.last);
    }
}
