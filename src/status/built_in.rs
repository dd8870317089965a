//! Built-in kinds without a rule in kstatus, or with one that asks too much or too little.

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use jiff::Timestamp;

use crate::object::{Doc, Value, condition};

use super::cause_rule::CauseRule;
use super::read;
use super::verdict::Verdict;

/// A certificate signing request that nobody has answered, or whose signer has issued nothing yet. Denied and Failed are
/// conditions (<https://kubernetes.io/docs/reference/access-authn-authz/certificate-signing-requests/>).
pub(super) fn unsigned(request: Value<'_>, _: Timestamp) -> Option<Verdict> {
    let is_true = |name: &str| condition(request, name).is_some_and(|one| one.is(name, "True"));
    let has_certificate = request.text_at(&["status", "certificate"]).is_some();
    if has_certificate || is_true("Denied") || is_true("Failed") {
        return None;
    }
    let signer = read::text_or(request, &["spec", "signerName"], "?");
    let (reason, text) = if is_true("Approved") {
        let text = format!("approved, but the signer {signer} has not issued the certificate yet");
        ("NotIssued", text)
    } else {
        let text = format!("waits for approval (signer {signer})");
        ("NotApproved", text)
    };
    Some(Verdict::in_progress(reason, text).by(CauseRule::Unsigned))
}

/// A node whose kubelet has not reported whether it is ready.
pub(super) fn silent_node(node: Value<'_>, _: Timestamp) -> Option<Verdict> {
    let is_silent = condition(node, "Ready").is_none();
    is_silent.then(|| {
        let text = "its kubelet has not reported whether it is ready";
        Verdict::in_progress("NoReadyCondition", text).by(CauseRule::NodeNotReady)
    })
}

/// A component of the control plane whose health check fails. Its conditions are not below `status`.
pub(super) fn unhealthy_component(component: Value<'_>, _: Timestamp) -> Option<Verdict> {
    let mut conditions = component.items_at(&["conditions"]);
    let healthy = conditions.find(|one| read::text_or(*one, &["type"], "") == "Healthy")?;
    let text = |key| read::text_or(healthy, &[key], "");
    (text("status") != "True").then(|| {
        let words = ["error", "message"].map(text);
        let words = words.into_iter().find(|words| !words.is_empty());
        let words = words.unwrap_or("its health check fails".into());
        Verdict::in_progress("Unhealthy", words).by(CauseRule::Condition)
    })
}

/// A claim that was bound to a volume that no longer exists, and whose data is lost with it
/// (<https://kubernetes.io/docs/concepts/storage/persistent-volumes/#phase>).
pub(super) fn lost_claim(claim: Value<'_>, _: Timestamp) -> Option<Verdict> {
    let is_lost = read::text_or(claim, &["status", "phase"], "") == "Lost";
    is_lost.then(|| {
        let volume = read::text_or(claim, &["spec", "volumeName"], "?");
        let text = format!("its volume {volume} is gone");
        Verdict::failed("VolumeLost", text).by(CauseRule::VolumeLost)
    })
}

/// A token of kubeadm that has expired: no node can join with it any more
/// (<https://kubernetes.io/docs/reference/access-authn-authz/bootstrap-tokens/>). It looks only at the time.
pub(super) fn expired_token(secret: Value<'_>, now: Timestamp) -> Option<Verdict> {
    let end = token_end(secret)?;
    (end <= now).then(|| {
        let text = format!("the bootstrap token expired at {end}");
        Verdict::failed("Expired", text).by(CauseRule::ExpiredToken)
    })
}

/// When a bootstrap token expires; `None` for other Secrets, and for tokens that never do.
pub(super) fn token_end(secret: Value<'_>) -> Option<Timestamp> {
    let is_token = secret.str_at(&["type"])? == "bootstrap.kubernetes.io/token";
    let encoded = secret
        .str_at(&["data", "expiration"])
        .filter(|_| is_token)?;
    let time = STANDARD.decode(encoded.as_bytes()).ok()?;
    std::str::from_utf8(&time).ok()?.trim().parse().ok()
}

/// A `DaemonSet` whose Pods only their deletion updates is not in progress because of old Pods, as a `StatefulSet` with that
/// strategy.
pub(super) fn on_delete(set: Value<'_>, verdict: &Verdict) -> Option<Verdict> {
    let strategy = read::text_or(set, &["spec", "updateStrategy", "type"], "");
    let is_old = verdict.conditions.first()?.reason == "LessUpdated";
    (strategy == "OnDelete" && is_old).then(|| {
        let explanation = verdict.explanation;
        Verdict {
            explanation,
            ..Verdict::current("DaemonSet is using the ondelete update strategy")
        }
    })
}

/// A Deployment that was paused when its rollout was complete: its controller no longer reports the progress. All its Pods are
/// up to date and available, so `kubectl rollout status` calls it rolled out.
pub(super) fn paused(deployment: Value<'_>, verdict: &Verdict) -> Option<Verdict> {
    let has_counts = verdict.conditions.first()?.reason == "ReplicaSetNotAvailable";
    let is_available = condition(deployment, "Available").is_some_and(|one| one.status == "True");
    let is_paused = read::flag(deployment, &["spec", "paused"]);
    (is_paused && has_counts && is_available)
        .then(|| Verdict::current("the rollout is paused").by(CauseRule::Paused))
}

/// An autoscaler that has not computed how many replicas there should be. It can ask for none only if `minReplicas` allows it.
pub(super) fn uncomputed(scaler: Value<'_>, _: Timestamp) -> Option<Verdict> {
    is_uncomputed(scaler).then(|| {
        let text = "the number of replicas is not computed yet";
        Verdict::in_progress("NotComputed", text).by(CauseRule::ScalingInactive)
    })
}

pub(super) fn is_uncomputed(scaler: Value<'_>) -> bool {
    let replicas = |key| read::int_or(scaler, &["status", key], 0);
    let may_be_none = scaler.i64_at(&["spec", "minReplicas"]) == Some(0);
    let is_explained = condition(scaler, "ScalingActive").is_some_and(|one| one.status == "False");
    replicas("currentReplicas") > 0
        && replicas("desiredReplicas") == 0
        && !may_be_none
        && !is_explained
}

/// The annotation with the conditions of an autoscaler in `autoscaling/v1`, which has no field for them.
const CONDITIONS: &str = "autoscaling.alpha.kubernetes.io/conditions";

/// An autoscaler of `autoscaling/v1` with the conditions of its annotation where later versions have them; `None` for other
/// objects.
pub(super) fn with_conditions(object: Value<'_>) -> Option<Doc> {
    let is_old = object.str_at(&["apiVersion"])? == "autoscaling/v1"
        && object.str_at(&["kind"])? == "HorizontalPodAutoscaler";
    if !is_old {
        return None;
    }
    let conditions = object.str_at(&["metadata", "annotations", CONDITIONS]);
    let conditions = conditions.filter(|text| Doc::parse(text.to_string()).is_ok());
    let conditions = conditions.unwrap_or("[]".into());
    let raw = |key| object.get(key).map_or("{}", Value::raw);
    let number = |key| {
        let number = object.i64_at(&["status", key])?;
        Some(format!(r#""{key}":{number},"#))
    };
    let keys = ["currentReplicas", "desiredReplicas", "observedGeneration"];
    let numbers: String = keys.into_iter().filter_map(number).collect();
    let text = format!(
        r#"{{"apiVersion":"autoscaling/v2","kind":"HorizontalPodAutoscaler","metadata":{},"spec":{},"status":{{{numbers}"conditions":{conditions}}}}}"#,
        raw("metadata"),
        raw("spec")
    );
    Doc::parse(text).ok()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::status::{Assessment, Rules, review_at};

    /// The state of an object at noon and its lines.
    fn state(kind: &str, fields: &str, rules: Rules) -> String {
        let (version, kind) = kind.rsplit_once('/').expect("VERSION/KIND");
        let text = format!(r#"{{"apiVersion":"{version}","kind":"{kind}",{fields}}}"#);
        let doc = Doc::parse(text.clone()).expect(&text);
        let now = "2026-11-21T12:00:00Z".parse().expect("a time");
        let assessment = Assessment::of(doc.root(), now, rules);
        let lines: Vec<&str> = assessment.lines().collect();
        format!("{}: {}", assessment.status(), lines.join("; "))
    }

    fn check(kind: &str, cases: &[(&str, &str)]) {
        for (fields, expect) in cases {
            assert_eq!(state(kind, fields, Rules::Spy), *expect, "{fields}");
        }
    }

    #[test]
    fn signing_requests() {
        check(
            "certificates.k8s.io/v1/CertificateSigningRequest",
            &[
                (
                    r#""spec":{"signerName":"example.com/s"}"#,
                    "InProgress: waits for approval (signer example.com/s)",
                ),
                (
                    r#""spec":{"signerName":"s"},"status":{"conditions":[{"type":"Approved","status":"True"}]}"#,
                    "InProgress: approved, but the signer s has not issued the certificate yet",
                ),
                (
                    r#""status":{"certificate":"LS0t","conditions":[{"type":"Approved","status":"True"}]}"#,
                    "Current: ",
                ),
                (
                    r#""status":{"conditions":[{"type":"Denied","status":"True","reason":"R","message":"m"}]}"#,
                    "Failed: Denied=True: R: m",
                ),
                (
                    r#""status":{"conditions":[{"type":"Approved","status":"True"},{"type":"Failed","status":"True","reason":"R"}]}"#,
                    "Failed: Failed=True: R",
                ),
            ],
        );
    }

    #[test]
    fn autoscalers_of_version_one_have_their_conditions_in_an_annotation() {
        let scaler = |conditions: &str, status: &str| {
            let conditions = conditions.replace('"', r#"\""#);
            format!(
                r#""metadata":{{"annotations":{{"{CONDITIONS}":"{conditions}"}}}},"spec":{{"maxReplicas":5}},"status":{{{status}}}"#
            )
        };
        let inactive = r#"[{"type":"ScalingActive","status":"False","reason":"FailedGetMetric","message":"no metrics","lastTransitionTime":"2026-11-21T11:00:00Z"}]"#;
        let active = r#"[{"type":"ScalingActive","status":"True"}]"#;
        let counts = r#""currentReplicas":3,"desiredReplicas":0"#;
        let kind = "autoscaling/v1/HorizontalPodAutoscaler";
        check(
            kind,
            &[
                (
                    &scaler(inactive, counts),
                    "Failed: FailedGetMetric: no metrics",
                ),
                (
                    &scaler(active, r#""currentReplicas":3,"desiredReplicas":4"#),
                    "Current: scales from 3 to 4 replicas",
                ),
                (
                    &scaler(active, counts),
                    "InProgress: the number of replicas is not computed yet",
                ),
                (
                    &scaler("not JSON", counts),
                    "InProgress: the number of replicas is not computed yet",
                ),
                (
                    r#""status":{"currentReplicas":0,"desiredReplicas":0}"#,
                    "Current: ",
                ),
            ],
        );
        let by_kstatus = state(kind, &scaler(inactive, counts), Rules::Kstatus);
        assert!(by_kstatus.starts_with("Current"), "{by_kstatus}");
    }

    #[test]
    fn daemon_sets_and_stateful_sets_that_only_deletion_updates() {
        let line = "0/1 updated; delete the old pods to update them (OnDelete)";
        let daemon = |ready: u8| {
            format!(
                r#""metadata":{{"generation":2}},"spec":{{"updateStrategy":{{"type":"OnDelete"}}}},"status":{{"observedGeneration":2,"desiredNumberScheduled":1,"currentNumberScheduled":1,"numberReady":{ready},"numberAvailable":{ready}}}"#
            )
        };
        let kind = "apps/v1/DaemonSet";
        let current = format!("Current: {line}");
        let unready = format!("InProgress: {line}");
        check(kind, &[(&daemon(1), &current), (&daemon(0), &unready)]);
        let by_kstatus = state(kind, &daemon(1), Rules::Kstatus);
        assert!(by_kstatus.starts_with("InProgress"), "{by_kstatus}");
        check(
            "apps/v1/StatefulSet",
            &[(
                r#""spec":{"replicas":1,"updateStrategy":{"type":"OnDelete"}},"status":{"replicas":1,"readyReplicas":1}"#,
                &current,
            )],
        );
    }

    #[test]
    fn a_deployment_that_is_paused_after_its_rollout() {
        let paused = |updated: u8, available: &str| {
            format!(
                r#""spec":{{"paused":true,"replicas":1,"progressDeadlineSeconds":600}},"status":{{"replicas":1,"updatedReplicas":{updated},"readyReplicas":1,"availableReplicas":1,"conditions":[{{"type":"Available","status":"{available}"}},{{"type":"Progressing","status":"Unknown","reason":"DeploymentPaused"}}]}}"#
            )
        };
        let kind = "apps/v1/Deployment";
        check(
            kind,
            &[
                (&paused(1, "True"), "Current: "),
                (&paused(0, "True"), "InProgress: the rollout is paused"),
                (&paused(1, "False"), "InProgress: the rollout is paused"),
            ],
        );
        let by_kstatus = state(kind, &paused(1, "True"), Rules::Kstatus);
        assert!(by_kstatus.starts_with("InProgress"), "{by_kstatus}");
    }

    #[test]
    fn nodes_definitions_and_services() {
        check(
            "v1/Node",
            &[
                (
                    r#""status":{"conditions":[]}"#,
                    "InProgress: its kubelet has not reported whether it is ready",
                ),
                (
                    r#""status":{"conditions":[{"type":"Ready","status":"True"}]}"#,
                    "Current: ",
                ),
            ],
        );
        check(
            "apiextensions.k8s.io/v1/CustomResourceDefinition",
            &[(
                r#""status":{"conditions":[{"type":"Established","status":"True"},{"type":"NonStructuralSchema","status":"True","reason":"Violations","message":"spec.x: Required"}]}"#,
                "InProgress: NonStructuralSchema=True: Violations: spec.x: Required",
            )],
        );
        check(
            "v1/Service",
            &[
                (
                    r#""spec":{"type":"LoadBalancer","clusterIP":"10.0.0.1"}"#,
                    "InProgress: the load balancer has no external address yet",
                ),
                (
                    r#""spec":{"type":"LoadBalancer","clusterIP":"10.0.0.1","externalIPs":["192.0.2.1"]}"#,
                    "Current: ",
                ),
            ],
        );
        check(
            "apps.openshift.io/v1/DeploymentConfig",
            &[(
                r#""spec":{"replicas":0},"status":{"replicas":0,"conditions":[{"type":"Available","status":"False","message":"m"}]}"#,
                "Current: scaled to 0; Available=False: m",
            )],
        );
    }

    #[test]
    fn bootstrap_tokens_expire() {
        let secret = |kind: &str, expiration: &str| {
            let expiration = STANDARD.encode(expiration);
            format!(r#""type":"{kind}","data":{{"expiration":"{expiration}"}}"#)
        };
        let token = "bootstrap.kubernetes.io/token";
        check(
            "v1/Secret",
            &[
                (
                    &secret(token, "2026-11-21T11:00:00Z"),
                    "Failed: the bootstrap token expired at 2026-11-21T11:00:00Z",
                ),
                (&secret(token, "2026-11-22T11:00:00Z"), "Current: "),
                (&secret(token, "tomorrow"), "Current: "),
                (&secret("Opaque", "2026-11-21T11:00:00Z"), "Current: "),
            ],
        );
        let fields = secret(token, "2026-11-22T11:00:00Z");
        let text = format!(r#"{{"apiVersion":"v1","kind":"Secret",{fields}}}"#);
        let doc = Doc::parse(text).expect("a Secret");
        let now = "2026-11-21T12:00:00Z".parse().expect("a time");
        let review = review_at(doc.root(), now).expect("it expires");
        assert_eq!(review.to_string(), "2026-11-22T11:00:01Z");
    }
}
