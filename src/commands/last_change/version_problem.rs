//! `VersionProblem`: a problem that one version of an object has and another has not.

use std::collections::BTreeSet;
use std::sync::Arc;

use jiff::Timestamp;

use crate::graph::{Links, Reference, Tier};
use crate::object::{
    Doc, ServedTypes, Value, denied, imposed_taints, is_closed, is_cordoned, set_taints,
};
use crate::source::Version;
use crate::status::{Rules, Status, compute};

/// A problem that shows in the fields of an object. If its newest version has it, the change that brought it is the cause.
#[derive(Debug)]
pub(super) enum VersionProblem {
    /// It names these objects, which do not exist or lack what it needs.
    Names(Vec<Reference>, ServedTypes),
    /// It does not have these keys, which others need.
    Lacks(Vec<Arc<str>>),
    /// It is a workload whose Pods do not have these ports, which a Service names.
    LacksPorts(Vec<String>),
    /// It is a Node that is closed to this Pod.
    Closed(Doc),
    /// It is a Node that keeps this `DaemonSet` out.
    KeepsOut(Doc),
    /// It is a `DaemonSet` that these Nodes keep out.
    KeptOut(Vec<Doc>),
    /// It is a Node that somebody has cordoned, or that has these taints.
    Closes(Vec<String>),
    /// It is a network policy that denies all traffic in a direction.
    Denies,
    /// It has failed by its own fields, at this time. It has no status that a controller writes.
    Verdict(Timestamp),
}

impl VersionProblem {
    /// Whether it is something that the object does not have.
    pub(super) fn is_lack(&self) -> bool {
        matches!(
            self,
            VersionProblem::Lacks(_) | VersionProblem::LacksPorts(_)
        )
    }

    /// The parts of the problem that a version has: the places of the references or of the keys; empty if it has none.
    pub(super) fn parts_in(&self, version: &Version) -> BTreeSet<usize> {
        let Ok(doc) = version.doc() else {
            return BTreeSet::new();
        };
        let object = doc.root();
        match self {
            VersionProblem::Names(references, types) => {
                // A workload names what its Pods need by relations of its own.
                let links = Links::of(object, Tier::Trace, types);
                let is_named = |broken: &Reference| {
                    let mut named = links.references.iter();
                    named.any(|own| {
                        let has_keys = broken.keys.iter().all(|key| own.keys.contains(key));
                        own.target == broken.target && own.port == broken.port && has_keys
                    })
                };
                places(references, is_named)
            }
            VersionProblem::Lacks(keys) => places(keys, |key| !has_key(object, key)),
            VersionProblem::LacksPorts(names) => places(names, |name| !has_port(object, name)),
            VersionProblem::Closed(pod) => single(is_closed(object, pod.root())),
            VersionProblem::KeepsOut(set) => single(keeps_out(object, set.root())),
            VersionProblem::KeptOut(nodes) => places(nodes, |node| keeps_out(node.root(), object)),
            VersionProblem::Closes(taints) => {
                let taints_of_version: Vec<String> = set_taints(object).collect();
                let mut parts = places(taints, |taint| taints_of_version.contains(taint));
                parts.extend(is_cordoned(object).then_some(taints.len()));
                parts
            }
            VersionProblem::Denies => {
                let denied = denied(object);
                places(&["ingress", "egress"], |direction| {
                    denied.contains(direction)
                })
            }
            VersionProblem::Verdict(now) => {
                let has_failed = || compute(object, *now, Rules::Spy).status == Status::Failed;
                single(object.get("status").is_none() && has_failed())
            }
        }
    }
}

/// Whether somebody has set a taint on a Node that a `DaemonSet` does not tolerate.
fn keeps_out(node: Value<'_>, set: Value<'_>) -> bool {
    let template = set.at(&["spec", "template"]);
    template.is_some_and(|pod| imposed_taints(node, pod).next().is_some())
}

/// The parts of a problem that has only one.
fn single(has_problem: bool) -> BTreeSet<usize> {
    places(&[has_problem], |has_problem| *has_problem)
}

/// The places of the items with a property.
fn places<T>(items: &[T], has_property: impl Fn(&T) -> bool) -> BTreeSet<usize> {
    let items = items.iter().enumerate();
    let with = items.filter(|(_, item)| has_property(item));
    with.map(|(place, _)| place).collect()
}

/// Whether a `ConfigMap` or a Secret has a key.
fn has_key(object: Value<'_>, key: &str) -> bool {
    let mut parts = ["data", "binaryData"].into_iter();
    parts.any(|part| object.at(&[part, key]).is_some())
}

/// Whether a container of a workload's Pods has a port with this name.
fn has_port(workload: Value<'_>, name: &str) -> bool {
    let containers = workload.items_at(&["spec", "template", "spec", "containers"]);
    let mut ports = containers.flat_map(|container| container.items_at(&["ports"]));
    ports.any(|port| port.str_at(&["name"]).as_deref() == Some(name))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::object::{Doc, ObjectRef, ResourceVersion};

    fn version(json: &str) -> Version {
        Version {
            object: ObjectRef::of(Doc::parse(json).expect("an object").root()).into(),
            version: ResourceVersion::new("1"),
            body: json.into(),
        }
    }

    /// The parts of a problem in an object of this kind with these fields.
    fn parts(problem: &VersionProblem, kind: &str, fields: &str) -> Vec<usize> {
        let (api_version, kind) = kind.rsplit_once('/').expect("a version and a kind");
        let json = format!(
            r#"{{"apiVersion":"{api_version}","kind":"{kind}","metadata":{{"name":"web","namespace":"shop"}},{fields}}}"#
        );
        problem.parts_in(&version(&json)).into_iter().collect()
    }

    #[test]
    fn a_version_has_the_parts_of_a_problem_that_it_names() {
        let target = |name: &str| {
            format!(
                r#""spec":{{"scaleTargetRef":{{"apiVersion":"apps/v1","kind":"Deployment","name":"{name}"}}}}"#
            )
        };
        let autoscaler = "autoscaling/v2/HorizontalPodAutoscaler";
        let json = format!(
            r#"{{"apiVersion":"autoscaling/v2","kind":"HorizontalPodAutoscaler","metadata":{{"name":"web","namespace":"shop"}},{}}}"#,
            target("wbe")
        );
        let doc = Doc::parse(json).expect("an object");
        let links = Links::of(doc.root(), Tier::Unwell, &ServedTypes::default());
        let names = VersionProblem::Names(links.references, ServedTypes::default());
        assert_eq!(parts(&names, autoscaler, &target("wbe")), [0]);
        assert!(parts(&names, autoscaler, &target("web")).is_empty());
        let lacks = VersionProblem::Lacks(vec!["a".into(), "b".into()]);
        let has = |data: &str| parts(&lacks, "v1/ConfigMap", &format!(r#""data":{{{data}}}"#));
        assert!(has(r#""a":"1","b":"2""#).is_empty());
        assert_eq!(has(r#""b":"2""#), [0]);
        assert_eq!(has(""), [0, 1]);
    }

    #[test]
    fn a_version_of_a_workload_lacks_ports() {
        let lacks = VersionProblem::LacksPorts(vec!["http".into(), "grpc".into()]);
        let parts = |ports: &str| {
            let spec = format!(
                r#""spec":{{"template":{{"spec":{{"containers":[{{"name":"a"}},{{"name":"b","ports":{ports}}}]}}}}}}"#
            );
            parts(&lacks, "apps/v1/Deployment", &spec)
        };
        assert!(parts(r#"[{"name":"grpc"},{"name":"http"}]"#).is_empty());
        assert_eq!(parts(r#"[{"name":"web"},{"name":"grpc"}]"#), [0]);
        assert_eq!(parts("[]"), [0, 1]);
    }

    #[test]
    fn a_version_of_a_node_is_closed_by_a_cordon_or_a_taint() {
        let pod = r#"{"spec":{"tolerations":[{"key":"team","operator":"Exists"}]}}"#;
        let away = VersionProblem::Closed(Doc::parse(pod).expect("a pod"));
        let parts = |spec: &str| parts(&away, "v1/Node", &format!(r#""spec":{{{spec}}}"#));
        assert_eq!(parts(r#""unschedulable":true"#), [0]);
        assert_eq!(
            parts(r#""taints":[{"key":"gpu","effect":"NoSchedule"}]"#),
            [0]
        );
        assert!(parts(r#""taints":[{"key":"team","effect":"NoSchedule"}]"#).is_empty());
        let of_condition =
            r#""taints":[{"key":"node.kubernetes.io/not-ready","effect":"NoSchedule"}]"#;
        assert!(parts(of_condition).is_empty());
    }

    #[test]
    fn a_node_and_a_daemon_set_have_the_taints_that_come_between_them() {
        let node = r#""spec":{"taints":[{"key":"gpu","effect":"NoSchedule"}]}"#;
        let tolerates = r#""spec":{"template":{"spec":{"tolerations":[{"operator":"Exists"}]}}}"#;
        let set = r#""spec":{"template":{"spec":{}}}"#;
        let doc = |fields: &str| Doc::parse(format!("{{{fields}}}")).expect("JSON");
        let keeps_out = VersionProblem::KeepsOut(doc(set));
        assert_eq!(parts(&keeps_out, "v1/Node", node), [0]);
        assert!(parts(&keeps_out, "v1/Node", r#""spec":{"unschedulable":true}"#).is_empty());
        let kept_out = VersionProblem::KeptOut(vec![doc(node)]);
        assert_eq!(parts(&kept_out, "apps/v1/DaemonSet", set), [0]);
        assert!(parts(&kept_out, "apps/v1/DaemonSet", tolerates).is_empty());
    }

    #[test]
    fn a_version_of_a_node_has_the_taints_and_the_cordon_of_today() {
        let closes = VersionProblem::Closes(vec!["gpu:NoSchedule".to_owned()]);
        let node = |spec: &str| parts(&closes, "v1/Node", &format!(r#""spec":{{{spec}}}"#));
        let gpu = r#"{"key":"gpu","effect":"NoSchedule"}"#;
        assert!(node(r#""taints":[{"key":"old","effect":"NoSchedule"}]"#).is_empty());
        assert_eq!(node(&format!(r#""taints":[{gpu}]"#)), [0]);
        assert_eq!(
            node(&format!(r#""unschedulable":true,"taints":[{gpu}]"#)),
            [0, 1]
        );
    }

    #[test]
    fn a_version_without_a_status_is_judged_by_its_own_fields() {
        let verdict = VersionProblem::Verdict(Timestamp::UNIX_EPOCH);
        let tls = r#""type":"kubernetes.io/tls","data":{"tls.crt":"eA==","tls.key":"eA=="}"#;
        assert_eq!(parts(&verdict, "v1/Secret", tls), [0]);
        assert!(parts(&verdict, "v1/Secret", r#""data":{"tls.crt":"eA=="}"#).is_empty());
        assert!(parts(&verdict, "v1/Pod", r#""status":{"phase":"Failed"}"#).is_empty());
    }
}
