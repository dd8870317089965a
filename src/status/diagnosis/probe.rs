//! What the kubelet does to a container: its probes and hooks, in a few words.

use std::fmt::Write;

use crate::object::Value;
use crate::status::read;

/// How much of a command is shown.
const MAX_LETTERS: usize = 60;

/// `GET :8080/healthz every 5s`, with the other timings if they are not the defaults; empty if the probe does nothing
/// that is known.
pub(super) fn probe(probe: Value<'_>) -> String {
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
