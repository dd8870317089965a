//! Pod.

use jiff::{SignedDuration, Timestamp};

use crate::object::{Kind, StatusCondition, Value};
use crate::status::read::{self, ReadResult, Unreadable};
use crate::status::verdict::Verdict;

/// How long a new Pod may be unschedulable before it counts as failed.
pub(in crate::status) const SCHEDULE_WINDOW: SignedDuration = SignedDuration::from_secs(15);

/// A Pod is Current when it is ready, or has ended, successfully or not.
pub(super) fn pod(object: Value<'_>, now: Timestamp) -> ReadResult<Verdict> {
    let conditions = read::conditions(object)?;
    match &*read::text_or(object, &["status", "phase"], "") {
        "Succeeded" => Ok(Verdict::current("Pod has completed successfully")),
        "Failed" => Ok(Verdict::current("Pod has completed, but not successfully")),
        "Running" => running(object, &conditions),
        "Pending" => Ok(pending(object, &conditions, now)),
        "" => Ok(Verdict::in_progress(
            "PodNotObserved",
            "Pod phase not available",
        )),
        phase => Err(Unreadable::Phase(phase.to_owned())),
    }
}

fn running(object: Value<'_>, conditions: &[StatusCondition<'_>]) -> ReadResult<Verdict> {
    if conditions
        .iter()
        .any(|condition| condition.is("Ready", "True"))
    {
        return Ok(Verdict::current("Pod is Ready"));
    }
    let looping = crash_looping(object)?;
    if looping.is_empty() {
        return Ok(Verdict::in_progress(
            "PodRunningNotReady",
            "Pod is running but is not Ready",
        ));
    }
    Ok(Verdict::failed(
        "ContainerCrashLooping",
        format!("Containers in CrashLoop state: {}", looping.join(",")),
    ))
}

fn pending(object: Value<'_>, conditions: &[StatusCondition<'_>], now: Timestamp) -> Verdict {
    let scheduled = conditions
        .iter()
        .find(|condition| condition.is("PodScheduled", "False"));
    if scheduled.is_none_or(|condition| condition.reason != "Unschedulable") {
        return Verdict::in_progress("PodPending", "Pod is in the Pending phase");
    }
    let created = read::text_or(object, &["metadata", "creationTimestamp"], "");
    let is_new =
        timestamp(&created).is_some_and(|created| now.duration_since(created) < SCHEDULE_WINDOW);
    if is_new {
        Verdict::in_progress("PodNotScheduled", "Pod has not been scheduled")
    } else {
        Verdict::failed("PodUnschedulable", "Pod could not be scheduled")
    }
}

/// Parses a time as Go's `time.RFC3339` does. Other spellings that jiff accepts give `None`.
fn timestamp(text: &str) -> Option<Timestamp> {
    let bytes = text.as_bytes();
    let shape = b"0000-00-00T00:00:00";
    let fits = bytes.len() > shape.len()
        && bytes.iter().zip(shape).all(|(byte, shape)| match shape {
            b'0' => byte.is_ascii_digit(),
            separator => byte == separator,
        })
        && &bytes[17..19] != b"60"
        && (bytes.ends_with(b"Z") || bytes[bytes.len() - 3] == b':');
    fits.then(|| text.parse().ok())?
}

/// The names of the containers in `CrashLoopBackOff`. A field that this function reads and that has the wrong
/// type is an error.
fn crash_looping(object: Value<'_>) -> ReadResult<Vec<String>> {
    const PATH: [&str; 2] = ["status", "containerStatuses"];
    let Some(statuses) = read::nested(object, &PATH)? else {
        return Ok(Vec::new());
    };
    if statuses.kind() != Kind::Array {
        return Err(read::mismatch(statuses, &PATH, "a list"));
    }
    let mut looping = Vec::new();
    for status in statuses.items() {
        if let Some((name, reason)) = waiting(status)?
            && reason == "CrashLoopBackOff"
        {
            looping.push(name);
        }
    }
    Ok(looping)
}

/// The name of a container and the reason why it waits; `None` if either is missing.
fn waiting(status: Value<'_>) -> ReadResult<Option<(String, String)>> {
    let Some(name) = field(status, "name")? else {
        return Ok(None);
    };
    let name = string(name)?;
    let Some(state) = field(status, "state")? else {
        return Ok(None);
    };
    let Some(waiting) = field(state, "waiting")? else {
        return Ok(None);
    };
    let Some(reason) = field(waiting, "reason")? else {
        return Ok(None);
    };
    Ok(Some((name, string(reason)?)))
}

fn field<'a>(object: Value<'a>, key: &str) -> ReadResult<Option<Value<'a>>> {
    if object.kind() == Kind::Object {
        Ok(object.get(key))
    } else {
        Err(in_status(object, "an object"))
    }
}

fn string(value: Value<'_>) -> ReadResult<String> {
    value
        .as_str()
        .map(std::borrow::Cow::into_owned)
        .ok_or_else(|| in_status(value, "a string"))
}

fn in_status(value: Value<'_>, expected: &'static str) -> Unreadable {
    read::mismatch(value, &["status", "containerStatuses[]"], expected)
}
