//! Why one container of a Pod is not ready.

use std::borrow::Cow;

use jiff::{SignedDuration, Timestamp};

use crate::object::Value;
use crate::status::cause::{Cause, CauseRule, sentence};
use crate::status::read;

use super::container_end::{exit_code, how, liveness_kill, rule_of};
use super::probe;

/// How long a restart remains a cause. The kubelet, too, resets a container's back-off after it has run for
/// ten minutes (<https://kubernetes.io/docs/concepts/workloads/pods/pod-lifecycle/#restart-policy>).
pub(in crate::status) const RECENT: SignedDuration = SignedDuration::from_mins(10);

/// The role of a container in its Pod.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum ContainerRole {
    /// Runs to completion before the others start.
    Init,
    /// Starts before the others and keeps running: an init container that is always restarted.
    Sidecar,
    /// A regular container.
    Main,
    /// A container that `kubectl debug` has added. The Pod does not depend on it.
    Ephemeral,
}

/// The spec and the status of a container.
pub(super) struct Container<'a> {
    pub(super) role: ContainerRole,
    /// Its entry in the Pod's spec, if it has one.
    pub(super) spec: Option<Value<'a>>,
    pub(super) status: Value<'a>,
}

/// The state of a container. A container in none of the three states counts as waiting without a reason.
enum ContainerState<'a> {
    Waiting {
        reason: Cow<'a, str>,
        message: Cow<'a, str>,
    },
    Running,
    Ended(Value<'a>),
}

/// Why a container waits, by the kubelet's reason.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::status) enum WaitReason {
    /// The kubelet prepares it, or other containers come first.
    Preparing,
    /// It crashes again and again.
    CrashLoop,
    /// Its image cannot be pulled.
    Image,
    /// It cannot be created or started.
    Start,
    /// Any other reason.
    Other,
}

impl WaitReason {
    /// Classifies the kubelet's reason.
    pub(in crate::status) fn of(reason: &str) -> WaitReason {
        match reason {
            "" | "ContainerCreating" | "PodInitializing" => WaitReason::Preparing,
            "CrashLoopBackOff" => WaitReason::CrashLoop,
            "ImagePullBackOff"
            | "ErrImagePull"
            | "ErrImageNeverPull"
            | "InvalidImageName"
            | "ImageInspectError"
            | "RegistryUnavailable"
            | "SignatureValidationFailed" => WaitReason::Image,
            "CreateContainerConfigError"
            | "CreateContainerError"
            | "RunContainerError"
            | "PreCreateHookError"
            | "PreStartHookError"
            | "PostStartHookError" => WaitReason::Start,
            _ => WaitReason::Other,
        }
    }

    /// Whether waiting alone will not fix it.
    pub(in crate::status) fn is_broken(self) -> bool {
        match self {
            WaitReason::CrashLoop | WaitReason::Image | WaitReason::Start => true,
            WaitReason::Preparing | WaitReason::Other => false,
        }
    }
}

impl<'a> Container<'a> {
    /// Finds what is wrong with it; `None` if nothing is.
    pub(super) fn cause(&self, now: Timestamp) -> Option<Cause> {
        let is_needed = self.role != ContainerRole::Ephemeral;
        match self.state() {
            ContainerState::Ended(_) | ContainerState::Running if !is_needed => None,
            ContainerState::Waiting { reason, message } => self.waiting(&reason, &message),
            ContainerState::Ended(end) => (exit_code(end) != 0).then(|| self.ended(end)),
            ContainerState::Running => self.running(now),
        }
    }

    fn state(&self) -> ContainerState<'a> {
        let state = |key| read::object_at(self.status, &["state", key]);
        if let Some(end) = state("terminated") {
            return ContainerState::Ended(end);
        }
        if state("running").is_some() {
            return ContainerState::Running;
        }
        let text = |key| read::text_or(self.status, &["state", "waiting", key], "");
        ContainerState::Waiting {
            reason: text("reason"),
            message: text("message"),
        }
    }

    fn waiting(&self, reason: &str, message: &str) -> Option<Cause> {
        match WaitReason::of(reason) {
            WaitReason::Preparing => None,
            WaitReason::CrashLoop => Some(self.crash_loop(reason, message)),
            WaitReason::Image => {
                let image = read::text_or(self.status, &["image"], "");
                let text = match message.trim() {
                    "" => format!("{reason} {image:?}"),
                    message => message.to_owned(),
                };
                Some(self.new_cause(CauseRule::ImagePull, &text))
            }
            WaitReason::Start => {
                let text = format!("{}{}", sentence(reason, message), self.hook(reason));
                Some(self.new_cause(CauseRule::ContainerStart, &text))
            }
            WaitReason::Other => {
                Some(self.new_cause(CauseRule::Waiting, &sentence(reason, message)))
            }
        }
    }

    /// The hook that failed.
    fn hook(&self, reason: &str) -> String {
        let hook = self
            .spec
            .and_then(|spec| spec.at(&["lifecycle", "postStart"]));
        let hook = hook.filter(|_| reason == "PostStartHookError");
        match hook.and_then(probe::action) {
            Some(action) => format!("; its postStart hook: {action}"),
            None => String::new(),
        }
    }

    fn crash_loop(&self, reason: &str, message: &str) -> Cause {
        let Some(end) = self.last_end() else {
            return self.new_cause(CauseRule::CrashLoop, &sentence(reason, message));
        };
        let how = self.with_restarts(end);
        match rule_of(end, CauseRule::CrashLoop) {
            rule @ CauseRule::CrashLoop => self.new_cause(rule, &format!("{reason}, {how}")),
            rule => self.new_cause(rule, &how),
        }
    }

    fn ended(&self, end: Value<'_>) -> Cause {
        self.new_cause(
            rule_of(end, CauseRule::ContainerFailed),
            &self.with_restarts(end),
        )
    }

    fn running(&self, now: Timestamp) -> Option<Cause> {
        let last = self.last_end().filter(|end| {
            end.time_at(&["finishedAt"])
                .is_some_and(|finished| now.duration_since(finished) < RECENT)
        });
        let ready = self.flag("ready") || self.role == ContainerRole::Init;
        match last {
            Some(end) => {
                let text = self.with_restarts(end);
                let rule = rule_of(end, CauseRule::Restarted);
                Some(if ready {
                    self.new_cause(rule, &format!("restarted after {text}"))
                } else {
                    self.new_cause(rule, &format!("{text}; {}", self.unready()))
                })
            }
            None if ready => None,
            None => Some(self.new_cause(CauseRule::NotReady, &self.unready())),
        }
    }

    /// Why a running container is not ready, by its probes.
    fn unready(&self) -> String {
        let probe = |key| self.spec.and_then(|spec| spec.get(key));
        let (probe, kind, verb) = match (probe("startupProbe"), probe("readinessProbe")) {
            (Some(startup), _) if !self.flag("started") => {
                (startup, "startup", "has not succeeded")
            }
            (_, Some(readiness)) => (readiness, "readiness", "does not succeed"),
            (_, None) => return "running, not ready".to_owned(),
        };
        match probe::probe(probe) {
            text if text.is_empty() => format!("running, its {kind} probe {verb}"),
            text => format!("running, its {kind} probe {verb} ({text})"),
        }
    }

    fn last_end(&self) -> Option<Value<'a>> {
        read::object_at(self.status, &["lastState", "terminated"])
    }

    fn flag(&self, key: &str) -> bool {
        read::flag(self.status, &[key])
    }

    fn new_cause(&self, rule: CauseRule, text: &str) -> Cause {
        let name = read::text_or(self.status, &["name"], "?");
        let part = match self.role {
            ContainerRole::Init => " (init)",
            ContainerRole::Sidecar => " (sidecar)",
            ContainerRole::Main => "",
            ContainerRole::Ephemeral => " (debug)",
        };
        Cause::new(rule, format!("{name}{part}: {text}"))
    }

    /// How it ended, its number of restarts, and the last line of its termination message.
    fn with_restarts(&self, end: Value<'_>) -> String {
        let restarts = match read::int_or(self.status, &["restartCount"], 0) {
            0 => String::new(),
            1 => ", 1 restart".to_owned(),
            many => format!(", {many} restarts"),
        };
        let message = read::text_or(end, &["message"], "");
        let last_line = message.trim_end().lines().next_back().unwrap_or("").trim();
        let words = if last_line.is_empty() {
            String::new()
        } else {
            format!(": {last_line}")
        };
        let killed = liveness_kill(end, self.spec).filter(|_| !restarts.is_empty());
        let killed = killed.map_or(String::new(), |killed| format!(", {killed}"));
        format!("{}{restarts}{killed}{words}", how(end, self.spec))
    }
}
