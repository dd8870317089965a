//! How a container ended: its exit code, the signal, and what is known of the cause.

use crate::object::Value;
use crate::status::cause::CauseRule;
use crate::status::read;

use super::probe;

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
        "OOMKilled" => format!("OOMKilled{}, exit {code}", memory_limit(spec)),
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
    Some(match probe::probe(liveness) {
        text if text.is_empty() => "possibly killed by its liveness probe".to_owned(),
        text => format!("possibly killed by its liveness probe ({text})"),
    })
}

/// The memory limit of a container that had too little.
fn memory_limit(spec: Option<Value<'_>>) -> String {
    let Some(spec) = spec else {
        return String::new();
    };
    match spec.text_at(&["resources", "limits", "memory"]) {
        Some(limit) => format!(", memory limit {limit}"),
        None => ", no memory limit".to_owned(),
    }
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
