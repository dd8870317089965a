//! Events of the type Warning, which are evidence for an object that is not well.
//!
//! An event never changes a state. It adds the words that the status of an object does not have: which volume
//! cannot be mounted, what a probe answered, why a pod cannot be created.

use std::borrow::Cow;
use std::collections::BTreeMap;
use std::sync::Arc;

use crate::object::EventFacts;

use super::admission;
use super::cause::{Cause, sentence};
use super::cause_rule::CauseRule;

/// The most warnings that are shown for one object.
const MAX_LINES: usize = 3;

/// The message of a warning; a refusal of the API server in fewer words.
fn in_short(warning: &EventFacts) -> Cow<'_, str> {
    let message = &warning.message;
    admission::short_refusal(message).map_or(Cow::Borrowed(message), Cow::Owned)
}

/// The causes in the warnings about one object, newest first. Repeats become one cause, and words that `known`
/// has already are left out.
pub(super) fn causes(warnings: &[Arc<EventFacts>], known: &[Cause]) -> Vec<Cause> {
    let mut newest: Vec<&EventFacts> = warnings.iter().map(|warning| &**warning).collect();
    newest.sort_by_key(|warning| (std::cmp::Reverse(warning.last), &warning.message));
    let mut order: Vec<(String, &EventFacts)> = Vec::new();
    let mut counts: BTreeMap<String, i64> = BTreeMap::new();
    for warning in newest {
        let shape = format!("{} {}", warning.reason, shape(&in_short(warning)));
        let count = counts.entry(shape.clone()).or_default();
        if *count == 0 {
            order.push((shape, warning));
        }
        *count = count.saturating_add(warning.count);
    }
    let unknown = order
        .into_iter()
        .filter(|(_, warning)| !is_known(warning, known));
    let lines = unknown.take(MAX_LINES).map(|(shape, warning)| {
        let text = sentence(&warning.reason, &in_short(warning));
        let times = match counts.get(&shape) {
            Some(count) if *count > 1 => format!(" (×{count})"),
            _ => String::new(),
        };
        Cause::new(CauseRule::Event, format!("{text}{times}"))
    });
    lines.collect()
}

/// Whether a cause says already what a warning says.
fn is_known(warning: &EventFacts, known: &[Cause]) -> bool {
    let said = shape(&in_short(warning));
    let is_echo = || {
        let word = warning.message.strip_prefix("Error: ");
        word.is_some_and(|word| !word.contains(' '))
    };
    known.iter().any(|cause| {
        let text = shape(&cause.text);
        (!said.is_empty() && text.contains(&said))
            || (!text.is_empty() && said.contains(&text))
            || repeats(&warning.reason, cause.rule)
            || is_absence(warning, cause)
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
        "ClaimLost" => matches!(rule, Rule::MissingReference | Rule::VolumeLost),
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
fn is_absence(warning: &EventFacts, cause: &Cause) -> bool {
    let mut words = cause.text.split([' ', '/']);
    let mut names = |[_, name]: [&str; 2]| words.any(|word| word == name);
    cause.rule == CauseRule::MissingReference && warning.missing().is_some_and(&mut names)
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

    fn warning(reason: &str, message: &str, more: &str) -> Arc<EventFacts> {
        let message = message.replace('"', r#"\""#);
        let text = format!(
            r#"{{"type":"Warning","reason":"{reason}","message":"{message}",
                "involvedObject":{{"apiVersion":"v1","kind":"Pod","namespace":"shop","name":"web","uid":"u"}}{more}}}"#
        );
        let doc = Doc::parse(text).expect("a case is JSON");
        Arc::new(EventFacts::of(doc.root()).expect("an event"))
    }

    fn check(warnings: &[Arc<EventFacts>], known: &[Cause], expect: &[&str]) {
        let causes = causes(warnings, known);
        let lines: Vec<&str> = causes.iter().map(|cause| &*cause.text).collect();
        assert_eq!(lines, expect);
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
