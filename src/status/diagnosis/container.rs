//! Why one container of a Pod is not ready: how it ended, and what the kubelet does to it.

use std::borrow::Cow;
use std::fmt::Write;

use jiff::{SignedDuration, Timestamp};

use crate::object::{Value, counted};
use crate::status::cause::{Cause, sentence};
use crate::status::cause_rule::CauseRule;
use crate::status::read;

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
        match hook.and_then(action) {
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
        match probe_text(probe) {
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
            restarts => format!(", {}", counted(restarts, "restart", "restarts")),
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

/// `exit 1`, `OOMKilled, memory limit 64Mi, exit 137`, `exit 143 (SIGTERM)`.
pub(super) fn how(end: Value<'_>, spec: Option<Value<'_>>) -> String {
    let code = exit_code(end);
    let signal = match read::int_or(end, &["signal"], 0) {
        0 => code.saturating_sub(128),
        signal => signal,
    };
    match &*read::text_or(end, &["reason"], "") {
        "" | "Error" | "Completed" => match signal_name(signal) {
            Some(name) => format!("exit {code} ({name})"),
            None => format!("exit {code}"),
        },
        "OOMKilled" => {
            let limit = spec.map(
                |spec| match spec.text_at(&["resources", "limits", "memory"]) {
                    Some(limit) => format!(", memory limit {limit}"),
                    None => ", no memory limit".to_owned(),
                },
            );
            format!("OOMKilled{}, exit {code}", limit.unwrap_or_default())
        }
        reason => format!("{reason}, exit {code}"),
    }
}

/// The rule for a container that ended: its reason, if that is a cause of its own.
pub(super) fn rule_of(end: Value<'_>, otherwise: CauseRule) -> CauseRule {
    if end.str_at(&["reason"]).as_deref() == Some("OOMKilled") {
        CauseRule::OOMKilled
    } else {
        otherwise
    }
}

/// The exit code; 0 if there is none.
pub(super) fn exit_code(end: Value<'_>) -> i64 {
    read::int_or(end, &["exitCode"], 0)
}

/// Whether the kubelet may have ended it, because its liveness probe failed. The kubelet sends SIGTERM, and
/// SIGKILL after the grace period.
pub(super) fn liveness_kill(end: Value<'_>, spec: Option<Value<'_>>) -> Option<String> {
    let was_killed = matches!(exit_code(end), 137 | 143);
    let is_oom = rule_of(end, CauseRule::CrashLoop) == CauseRule::OOMKilled;
    let liveness = spec?
        .get("livenessProbe")
        .filter(|_| was_killed && !is_oom)?;
    Some(match probe_text(liveness) {
        text if text.is_empty() => "possibly killed by its liveness probe".to_owned(),
        text => format!("possibly killed by its liveness probe ({text})"),
    })
}

/// The name of a Linux signal (signal(7)).
fn signal_name(signal: i64) -> Option<&'static str> {
    const NAMES: [&str; 31] = [
        "SIGHUP",
        "SIGINT",
        "SIGQUIT",
        "SIGILL",
        "SIGTRAP",
        "SIGABRT",
        "SIGBUS",
        "SIGFPE",
        "SIGKILL",
        "SIGUSR1",
        "SIGSEGV",
        "SIGUSR2",
        "SIGPIPE",
        "SIGALRM",
        "SIGTERM",
        "SIGSTKFLT",
        "SIGCHLD",
        "SIGCONT",
        "SIGSTOP",
        "SIGTSTP",
        "SIGTTIN",
        "SIGTTOU",
        "SIGURG",
        "SIGXCPU",
        "SIGXFSZ",
        "SIGVTALRM",
        "SIGPROF",
        "SIGWINCH",
        "SIGIO",
        "SIGPWR",
        "SIGSYS",
    ];
    let index = usize::try_from(signal.checked_sub(1)?).ok()?;
    NAMES.get(index).copied()
}

/// How much of a command is shown.
const MAX_LETTERS: usize = 60;

/// `GET :8080/healthz every 5s`, with the other timings if they are not the defaults; empty if the probe does nothing
/// that is known.
pub(super) fn probe_text(probe: Value<'_>) -> String {
    let Some(action) = action(probe) else {
        return String::new();
    };
    let period = read::int_or(probe, &["periodSeconds"], 10);
    let mut text = format!("{action} every {period}s");
    for (key, default, words) in [
        ("initialDelaySeconds", 0, "after"),
        ("timeoutSeconds", 1, "timeout"),
    ] {
        let seconds = read::int_or(probe, &[key], default);
        if seconds != default {
            let _infallible = write!(text, ", {words} {seconds}s");
        }
    }
    let failures = read::int_or(probe, &["failureThreshold"], 3);
    if failures != 3 {
        let _infallible = write!(text, ", failure threshold {failures}");
    }
    text
}

/// What a probe or a hook does: `GET :8080/healthz`, `tcp :5432`, `exec pg_isready -U web`.
pub(super) fn action(handler: Value<'_>) -> Option<String> {
    let port = |at: Value<'_>| match at.get("port") {
        Some(port) => format!(":{}", port.as_str().unwrap_or(port.raw().into())),
        None => String::new(),
    };
    if let Some(http) = read::object_at(handler, &["httpGet"]) {
        let path = read::text_or(http, &["path"], "/");
        return Some(format!("GET {}{path}", port(http)));
    }
    if let Some(socket) = read::object_at(handler, &["tcpSocket"]) {
        return Some(format!("tcp {}", port(socket)));
    }
    if let Some(grpc) = read::object_at(handler, &["grpc"]) {
        return Some(format!("grpc {}", port(grpc)));
    }
    let words: Vec<_> = handler
        .items_at(&["exec", "command"])
        .filter_map(Value::as_str)
        .collect();
    let command = crate::object::excerpt(&words.join(" "), MAX_LETTERS);
    (!words.is_empty()).then(|| format!("exec {command}"))
}
