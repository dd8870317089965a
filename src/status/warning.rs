//! `Warning`: an event of the type Warning, which is evidence for an object that is not well.
//!
//! An event never changes a state. It adds the words that the status of an object does not have: which volume
//! cannot be mounted, what a probe answered, why a pod cannot be created.

use std::borrow::Cow;
use std::collections::BTreeMap;
use std::sync::Arc;

use jiff::Timestamp;

use crate::object::{ObjectRef, Uid, Value};

use super::admission;
use super::cause::{Cause, CauseRule, sentence};

/// The most warnings that are shown for one object.
const MAX_LINES: usize = 3;

/// What client-go puts before the message of an event that stands for several.
const COMBINED: &str = "(combined from similar events): ";

/// A Warning about one object.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Warning {
    /// The object. Some reporters know no uid, and the kubelet gives the name of its node in its place.
    pub about: ObjectRef,
    /// Why, in one word: `FailedMount`.
    pub reason: Arc<str>,
    /// Why, in a sentence.
    pub message: Arc<str>,
    /// How often it happened.
    pub count: i64,
    /// When it happened last; `None` if the event has no time.
    pub last: Option<Timestamp>,
}

impl Warning {
    /// Reads a core/v1 Event; `None` for an event of another type, and for one without a subject.
    pub fn of(event: Value<'_>) -> Option<Warning> {
        let text = |path: &[&str]| event.text_at(path).unwrap_or_default();
        let about = event.at(&["involvedObject"])?;
        let part = |key| about.text_at(&[key]);
        let time = |path: &[&str]| event.str_at(path)?.parse().ok();
        let message = text(&["message"]);
        (&*text(&["type"]) == "Warning").then_some(())?;
        Some(Warning {
            about: ObjectRef {
                api_version: part("apiVersion").unwrap_or_default(),
                kind: part("kind")?,
                namespace: part("namespace"),
                name: part("name")?,
                uid: part("uid").map(Uid::new),
            },
            reason: text(&["reason"]),
            message: message.strip_prefix(COMBINED).unwrap_or(&message).into(),
            count: [&["series", "count"][..], &["count"]]
                .iter()
                .find_map(|path| event.i64_at(path))
                .unwrap_or(1),
            last: time(&["series", "lastObservedTime"])
                .or_else(|| time(&["lastTimestamp"]))
                .or_else(|| time(&["eventTime"]))
                .or_else(|| time(&["metadata", "creationTimestamp"])),
        })
    }

    /// The message; a refusal of the API server in fewer words.
    fn in_short(&self) -> Cow<'_, str> {
        admission::in_short(&self.message).map_or(Cow::Borrowed(&self.message), Cow::Owned)
    }
}

/// The causes in the warnings about one object, newest first. Repeats become one cause, and words that `known`
/// has already are left out.
pub(super) fn causes(warnings: &[Arc<Warning>], known: &[Cause]) -> Vec<Cause> {
    let mut newest: Vec<&Warning> = warnings.iter().map(|warning| &**warning).collect();
    newest.sort_by_key(|warning| (std::cmp::Reverse(warning.last), &warning.message));
    let mut order: Vec<(String, &Warning)> = Vec::new();
    let mut counts: BTreeMap<String, i64> = BTreeMap::new();
    for warning in newest {
        let shape = format!("{} {}", warning.reason, shape(&warning.in_short()));
        let count = counts.entry(shape.clone()).or_default();
        if *count == 0 {
            order.push((shape, warning));
        }
        *count = count.saturating_add(warning.count.max(1));
    }
    let unknown = order
        .into_iter()
        .filter(|(_, warning)| !is_known(warning, known));
    let lines = unknown.take(MAX_LINES).map(|(shape, warning)| {
        let text = sentence(&warning.reason, &warning.in_short());
        let times = match counts.get(&shape) {
            Some(count) if *count > 1 => format!(" (×{count})"),
            _ => String::new(),
        };
        Cause::new(CauseRule::Event, format!("{text}{times}"))
    });
    lines.collect()
}

/// Whether a cause says already what a warning says.
fn is_known(warning: &Warning, known: &[Cause]) -> bool {
    let said = shape(&warning.in_short());
    let is_echo = || {
        let word = warning.message.strip_prefix("Error: ");
        word.is_some_and(|word| !word.contains(' '))
    };
    known.iter().any(|cause| {
        let text = shape(&cause.text);
        (!said.is_empty() && text.contains(&said))
            || (!text.is_empty() && said.contains(&text))
            || repeats(&warning.reason, cause.rule)
            || is_absence(&warning.message, cause)
    }) || is_echo()
}

/// Whether the events of a reason only repeat what a rule has found in the object.
fn repeats(reason: &str, rule: CauseRule) -> bool {
    use CauseRule as Rule;
    match reason {
        "BackOff" => matches!(
            rule,
            Rule::CrashLoop
                | Rule::ImagePull
                | Rule::OOMKilled
                | Rule::Restarted
                | Rule::ContainerFailed
        ),
        "FailedScheduling" => rule == Rule::Unschedulable,
        "FailedGetScale" => rule == Rule::CannotScale,
        "FailedBinding" => rule == Rule::VolumeReserved,
        "VolumeMismatch" => rule == Rule::VolumeMismatch,
        reason if reason.starts_with("FailedGet") || reason.starts_with("FailedCompute") => {
            rule == Rule::ScalingInactive
        }
        _ => false,
    }
}

/// Whether a warning reports the absence of an object that the cause names: `configmap "web" not found`.
fn is_absence(message: &str, cause: &Cause) -> bool {
    let is_about_absence = cause.rule == CauseRule::MissingReference;
    let absent = message.strip_suffix(" not found").unwrap_or_default();
    let name = absent.rsplit('"').nth(1).unwrap_or_default();
    let mut words = cause.text.split([' ', '/']);
    is_about_absence && !name.is_empty() && words.any(|word| word == name)
}

/// The words of a text without what differs between repeats: numbers, and the generated ends of names.
fn shape(text: &str) -> String {
    let mut shape = String::with_capacity(text.len());
    for (index, part) in text.split('"').enumerate() {
        let is_quoted = index % 2 == 1;
        let kept = if is_quoted {
            generated_prefix(part)
        } else {
            part
        };
        shape.extend(kept.chars().filter(|c| !c.is_ascii_digit()));
        shape.push('"');
    }
    shape.pop();
    shape.trim().to_owned()
}

/// `web-` of `web-x7k2p`: Kubernetes adds five letters and digits to the names of the objects that it generates.
fn generated_prefix(name: &str) -> &str {
    const LENGTH: usize = 5;
    let is_generated = |end: &str| {
        end.len() == LENGTH
            && end
                .bytes()
                .all(|byte| byte.is_ascii_lowercase() || byte.is_ascii_digit())
    };
    match name.rsplit_once('-') {
        Some((start, end)) if is_generated(end) => start,
        _ => name,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::object::Doc;

    fn warning(reason: &str, message: &str, more: &str) -> Arc<Warning> {
        let message = message.replace('"', r#"\""#);
        let text = format!(
            r#"{{"type":"Warning","reason":"{reason}","message":"{message}",
                "involvedObject":{{"apiVersion":"v1","kind":"Pod","namespace":"shop","name":"web","uid":"u"}}{more}}}"#
        );
        let doc = Doc::parse(text).expect("a case is JSON");
        Arc::new(Warning::of(doc.root()).expect("a warning"))
    }

    fn check(warnings: &[Arc<Warning>], known: &[Cause], expect: &[&str]) {
        let causes = causes(warnings, known);
        let lines: Vec<&str> = causes.iter().map(|cause| &*cause.text).collect();
        assert_eq!(lines, expect);
    }

    #[test]
    fn an_event_is_read_in_both_of_its_forms() {
        for (more, count, last) in [
            ("", 1, None),
            (
                r#","count":3,"lastTimestamp":"2026-11-21T14:00:00Z""#,
                3,
                Some("2026-11-21T14:00:00Z"),
            ),
            (
                r#","eventTime":"2026-11-21T14:00:00.5Z","series":{"count":7,"lastObservedTime":"2026-11-21T14:05:00Z"}"#,
                7,
                Some("2026-11-21T14:05:00Z"),
            ),
            (
                r#","lastTimestamp":null,"eventTime":"2026-11-21T14:01:00Z""#,
                1,
                Some("2026-11-21T14:01:00Z"),
            ),
        ] {
            let warning = warning("Unhealthy", "no", more);
            let expect = last.map(|last| last.parse().expect("a time"));
            assert_eq!((warning.count, warning.last), (count, expect), "{more}");
        }
        for text in [
            r#"{"type":"Normal","involvedObject":{"kind":"Pod","name":"web"}}"#,
            r#"{"type":"Warning"}"#,
            "7",
        ] {
            let doc = Doc::parse(text).expect("a case is JSON");
            assert_eq!(Warning::of(doc.root()), None, "{text}");
        }
    }

    #[test]
    fn the_newest_warnings_come_first_and_repeats_are_counted() {
        let at = |second: u32| format!(r#","lastTimestamp":"2026-11-21T14:00:0{second}Z""#);
        let create = |pod: &str| format!(r#"Error creating: pods "{pod}" is forbidden: no room"#);
        let warnings = [
            warning("FailedCreate", &create("web-7d9fx"), &at(1)),
            warning("FailedCreate", &create("web-abcde"), &at(5)),
            warning(
                "Unhealthy",
                "Readiness probe failed: HTTP 500",
                &(at(3) + r#","count":4"#),
            ),
            warning("Unhealthy", "Readiness probe failed: HTTP 503", &at(2)),
            warning("FailedMount", r#"volume "a": no"#, &at(4)),
            warning("Old", "the fourth line", &at(0)),
        ];
        let create = r#"FailedCreate: Error creating: pods "web-abcde" is forbidden: no room (×2)"#;
        let probe = "Unhealthy: Readiness probe failed: HTTP 500 (×5)";
        check(
            &warnings,
            &[],
            &[create, r#"FailedMount: volume "a": no"#, probe],
        );
    }

    #[test]
    fn known_words_are_not_repeated() {
        for (reason, message, rule, cause) in [
            (
                "FailedScheduling",
                "0/2 nodes are available.",
                CauseRule::Unschedulable,
                "0/3 nodes are available.",
            ),
            (
                "BackOff",
                "Back-off restarting failed container",
                CauseRule::CrashLoop,
                "web: exit 1",
            ),
            (
                "Failed",
                "Error: ErrImagePull",
                CauseRule::ImagePull,
                "web: no such image",
            ),
            (
                "Failed",
                r#"secret "db" not found"#,
                CauseRule::ContainerStart,
                r#"web: CreateContainerConfigError: secret "db" not found"#,
            ),
            (
                "FailedMount",
                r#"volume "db" : secret "db" not found"#,
                CauseRule::MissingReference,
                "volume secret/db does not exist",
            ),
            (
                "FailedCreate",
                r#"Error creating: pods "a-12345" is forbidden: x"#,
                CauseRule::FailedCreate,
                r#"pods "a-abcde" is forbidden: x"#,
            ),
            (
                "FailedGetResourceMetric",
                "no metrics",
                CauseRule::ScalingInactive,
                "FailedGetResourceMetric: unable to",
            ),
        ] {
            let known = [Cause::new(rule, cause)];
            check(&[warning(reason, message, "")], &known, &[]);
        }
        let known = [Cause::new(
            CauseRule::ImagePull,
            "web: Back-off pulling image",
        )];
        let why = "Failed to pull image: 401 Unauthorized";
        check(
            &[warning("Failed", why, "")],
            &known,
            &["Failed: Failed to pull image: 401 Unauthorized"],
        );
    }
}
