//! Goals that an object can never meet, because it is at its end.

use crate::object::{Doc, Value, condition};
use crate::status::Goal;

/// An end of an object, after which nobody changes these conditions any more.
struct FinalState {
    /// The kind, and its group.
    kind: (&'static str, &'static str),
    /// Why the object is at its end: `it has completed (Succeeded)`.
    why: fn(Value<'_>) -> Option<String>,
    /// The types of the conditions.
    conditions: &'static [&'static str],
}

/// The kubelet no longer changes the conditions of a Pod that has ended
/// (<https://kubernetes.io/docs/concepts/workloads/pods/pod-lifecycle/#pod-phase>). The Job controller leaves a finished Job as it is,
/// and the API server keeps a certificate request from being both approved and denied.
const FINAL_STATES: [FinalState; 3] = [
    FinalState {
        kind: ("", "Pod"),
        why: |pod| {
            let phase = pod.str_at(&["status", "phase"])?;
            matches!(&*phase, "Succeeded" | "Failed").then(|| format!("it has completed ({phase})"))
        },
        conditions: &[
            "ContainersReady",
            "Initialized",
            "PodReadyToStartContainers",
            "PodScheduled",
            "Ready",
        ],
    },
    FinalState {
        kind: ("batch", "Job"),
        why: |job| first_true(job, &["Complete", "Failed"]),
        conditions: &[
            "Complete",
            "Failed",
            "FailureTarget",
            "SuccessCriteriaMet",
            "Suspended",
        ],
    },
    FinalState {
        kind: ("certificates.k8s.io", "CertificateSigningRequest"),
        why: |request| first_true(request, &["Approved", "Denied"]),
        conditions: &["Approved", "Denied"],
    },
];

/// Why an object that does not meet this goal never will: `can never be Ready: it has completed (Succeeded)`; `None` if it may.
pub(super) fn out_of_reach(goal: &Goal, object: Value<'_>) -> Option<String> {
    let group = group(object);
    let kind = object.str_at(&["kind"])?;
    let mut states = FINAL_STATES.iter();
    let state = states.find(|state| state.kind == (&*group, &*kind))?;
    let wish = match goal {
        Goal::Condition { kind, status } => {
            let mut conditions = state.conditions.iter();
            conditions.find(|condition| condition.eq_ignore_ascii_case(kind))?;
            if status.eq_ignore_ascii_case("true") {
                format!("be {kind}")
            } else {
                format!("have {kind}={status}")
            }
        }
        Goal::JsonPath {
            path,
            value: Some(value),
        } if selects_phase(goal) && &*kind == "Pod" => format!("have {path}={value}"),
        Goal::JsonPath { .. } | Goal::Current | Goal::Settled | Goal::Created | Goal::Deleted => {
            return None;
        }
    };
    Some(format!("can never {wish}: {}", (state.why)(object)?))
}

fn group(object: Value<'_>) -> String {
    let version = object.str_at(&["apiVersion"]).unwrap_or_default();
    let group = version.split_once('/').map(|(group, _)| group);
    group.unwrap_or_default().to_owned()
}

fn first_true(object: Value<'_>, kinds: &[&str]) -> Option<String> {
    let is_true = |kind: &&&str| condition(object, kind).is_some_and(|it| it.status == "True");
    let kind = kinds.iter().find(is_true)?;
    Some(format!("it is {kind}"))
}

/// Whether a goal is about the phase of a Pod, however its path is written.
fn selects_phase(goal: &Goal) -> bool {
    let Goal::JsonPath {
        value: Some(value), ..
    } = goal
    else {
        return false;
    };
    let phase = serde_json::json!({"status": {"phase": value}}).to_string();
    Doc::parse(&*phase).is_ok_and(|object| goal.is_met(Some(object.root())))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(object: &str, table: &[(&str, &str)]) {
        let doc = Doc::parse(object).expect("valid");
        for (goal, expected) in table {
            let found = out_of_reach(&goal.parse().unwrap(), doc.root());
            assert_eq!(found.unwrap_or_default(), *expected, "{goal}: {object}");
        }
    }

    fn pod(phase: &str) -> String {
        format!(
            r#"{{"apiVersion":"v1","kind":"Pod","metadata":{{"name":"load"}},"status":{{"phase":"{phase}"}}}}"#
        )
    }

    fn with_condition(version: &str, kind: &str, condition: &str) -> String {
        format!(
            r#"{{"apiVersion":"{version}","kind":"{kind}","status":{{"conditions":[{{"type":"{condition}","status":"True"}}]}}}}"#
        )
    }

    #[test]
    fn a_pod_that_has_ended_is_never_ready() {
        const NEVER: &str = "can never be Ready: it has completed (Succeeded)";
        check(
            &pod("Succeeded"),
            &[
                ("condition=Ready", NEVER),
                (
                    "condition=containersready=true",
                    "can never be containersready: it has completed (Succeeded)",
                ),
                (
                    "condition=PodScheduled=False",
                    "can never have PodScheduled=False: it has completed (Succeeded)",
                ),
                (
                    "jsonpath={.status.phase}=Running",
                    "can never have {.status.phase}=Running: it has completed (Succeeded)",
                ),
                (
                    "jsonpath=$['status']['phase']=Running",
                    "can never have $['status']['phase']=Running: it has completed (Succeeded)",
                ),
                // Others may still write these.
                ("condition=example.com/Archived", ""),
                ("jsonpath={.metadata.labels.seen}=yes", ""),
                ("jsonpath={.status.reason}", ""),
                ("current", ""),
                ("delete", ""),
            ],
        );
        check(
            &pod("Failed"),
            &[(
                "condition=Ready",
                "can never be Ready: it has completed (Failed)",
            )],
        );
        for phase in ["Pending", "Running", "Unknown"] {
            check(&pod(phase), &[("condition=Ready", "")]);
        }
    }

    #[test]
    fn a_finished_job_keeps_its_conditions() {
        check(
            &with_condition("batch/v1", "Job", "Complete"),
            &[
                ("condition=Failed", "can never be Failed: it is Complete"),
                (
                    "condition=Suspended",
                    "can never be Suspended: it is Complete",
                ),
                ("condition=Ready", ""),
            ],
        );
        check(
            &with_condition("batch/v1", "Job", "Failed"),
            &[("condition=Complete", "can never be Complete: it is Failed")],
        );
        check(
            &with_condition("batch/v1", "Job", "SuccessCriteriaMet"),
            &[("condition=Failed", "")],
        );
        // Another kind of the same name.
        check(
            &with_condition("batch.volcano.sh/v1alpha1", "Job", "Complete"),
            &[("condition=Failed", "")],
        );
    }

    #[test]
    fn a_certificate_request_is_approved_or_denied() {
        check(
            &with_condition(
                "certificates.k8s.io/v1",
                "CertificateSigningRequest",
                "Denied",
            ),
            &[
                ("condition=Approved", "can never be Approved: it is Denied"),
                ("condition=Failed", ""),
            ],
        );
    }
}
