//! The facts that the graph keeps of a Pod: its node, its addresses and ports, and its progress.

use std::sync::Arc;

use jiff::Timestamp;

use crate::object::selector::LabelSelector;
use crate::object::{Value, condition, map_selector, node_selector_term};

/// The facts of a Pod.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Pod {
    /// Whether its `Ready` condition is True.
    pub ready: bool,
    /// Whether it has ended: its phase is Succeeded or Failed.
    pub has_ended: bool,
    /// The node it runs on.
    pub node: Option<Arc<str>>,
    /// Its addresses, the primary one first.
    pub addresses: Box<[Arc<str>]>,
    /// The ports that its containers declare.
    pub ports: Arc<[ContainerPort]>,
    /// When it was assigned to a node; `None` if it was not.
    pub scheduled: Option<Timestamp>,
    /// When it became ready; `None` if it is not ready.
    pub ready_since: Option<Timestamp>,
    /// Whether every container has its image.
    pub images: Images,
    /// The labels that its node must have: it must match one of these selectors. Empty if each node will do, and
    /// once the Pod has a node.
    pub placement: Box<[LabelSelector]>,
}

/// A port that a container declares.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ContainerPort {
    /// The name; `None` if it has none.
    pub name: Option<Arc<str>>,
    /// `TCP`, `UDP` or `SCTP`.
    pub protocol: Arc<str>,
    /// The number.
    pub number: i64,
}

/// Whether the images of a Pod's containers are on its node.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Images {
    /// At least one is missing.
    #[default]
    Missing,
    /// All are present, at the latest since the given time. The time is unknown if no container runs.
    Pulled(Option<Timestamp>),
}

impl Pod {
    pub(super) fn of(object: Value<'_>) -> Pod {
        let ready_since = true_since(object, "Ready");
        let node = object.text_at(&["spec", "nodeName"]);
        Pod {
            placement: match node {
                Some(_) => Box::default(),
                None => node_selectors(object).into(),
            },
            ready: is_true(object, "Ready"),
            has_ended: matches!(
                object.str_at(&["status", "phase"]).as_deref(),
                Some("Succeeded" | "Failed")
            ),
            node,
            addresses: object
                .items_at(&["status", "podIPs"])
                .filter_map(|address| address.text_at(&["ip"]))
                .collect(),
            ports: ["containers", "initContainers"]
                .into_iter()
                .flat_map(|list| object.items_at(&["spec", list]))
                .flat_map(|container| container.items_at(&["ports"]))
                .filter_map(ContainerPort::of)
                .collect(),
            scheduled: true_since(object, "PodScheduled"),
            ready_since,
            images: Images::of(object),
        }
    }

    /// The number of the container port of this name and protocol.
    pub fn port(&self, name: &str, protocol: &str) -> Option<i64> {
        let mut ports = self.ports.iter();
        let found =
            ports.find(|port| port.name.as_deref() == Some(name) && &*port.protocol == protocol);
        found.map(|port| port.number)
    }
}

impl ContainerPort {
    fn of(port: Value<'_>) -> Option<ContainerPort> {
        Some(ContainerPort {
            name: port.text_at(&["name"]),
            protocol: port.text_at(&["protocol"]).unwrap_or_else(|| "TCP".into()),
            number: port.i64_at(&["containerPort"])?,
        })
    }
}

impl Images {
    /// A container has its image if it runs, has ended, or reports an image id.
    fn of(pod: Value<'_>) -> Images {
        let wanted = pod.items_at(&["spec", "containers"]).count();
        let statuses = || pod.items_at(&["status", "containerStatuses"]);
        if statuses().count() < wanted || !statuses().all(has_image) {
            return Images::Missing;
        }
        let started = |status: Value<'_>| status.time_at(&["state", "running", "startedAt"]);
        Images::Pulled(statuses().filter_map(started).max())
    }
}

fn has_image(status: Value<'_>) -> bool {
    let has = |path: &[&str]| status.at(path).is_some_and(|value| !value.is_null());
    has(&["state", "running"])
        || has(&["state", "terminated"])
        || status.text_at(&["imageID"]).is_some()
}

fn is_true(pod: Value<'_>, kind: &str) -> bool {
    condition(pod, kind).is_some_and(|condition| condition.status == "True")
}

/// Since when a condition is True; `None` if it is not True.
fn true_since(pod: Value<'_>, kind: &str) -> Option<Timestamp> {
    let condition = condition(pod, kind)?;
    condition.since().filter(|_| condition.status == "True")
}

const TERMS: [&str; 5] = [
    "spec",
    "affinity",
    "nodeAffinity",
    "requiredDuringSchedulingIgnoredDuringExecution",
    "nodeSelectorTerms",
];

/// The selectors of which a node must match one, for a Pod or a Pod template. There are none if it demands no labels.
pub fn node_selectors(pod: Value<'_>) -> Vec<LabelSelector> {
    let labels = pod.at(&["spec", "nodeSelector"]).and_then(map_selector);
    let labels = labels.unwrap_or_default();
    let terms = pod.items_at(&TERMS).filter_map(node_selector_term);
    let mut selectors: Vec<LabelSelector> = terms.map(|term| labels.and(term)).collect();
    if selectors.is_empty() {
        selectors.push(labels);
    }
    selectors.retain(|selector| !selector.is_empty());
    selectors
}

#[cfg(test)]
mod tests {
    use crate::object::Doc;

    use super::*;

    #[test]
    fn a_node_must_match_the_selector_and_one_of_the_terms() {
        let terms = |terms: &str| {
            format!(
                r#"{{"affinity":{{"nodeAffinity":{{"requiredDuringSchedulingIgnoredDuringExecution":{{"nodeSelectorTerms":[{terms}]}}}}}},
                    "nodeSelector":{{"disk":"ssd"}}}}"#
            )
        };
        let zone = r#"{"matchExpressions":[{"key":"zone","operator":"In","values":["b","a"]}]}"#;
        let size = r#"{"matchExpressions":[{"key":"size","operator":"Gt","values":["4"]}]}"#;
        for (spec, expect) in [
            ("{}".to_owned(), &[][..]),
            (
                r#"{"nodeSelector":{"disk":"ssd"}}"#.to_owned(),
                &["disk=ssd"],
            ),
            (terms(zone), &["disk=ssd,zone in (a,b)"]),
            (
                terms(&format!("{zone},{size}")),
                &["disk=ssd,zone in (a,b)", "disk=ssd,size>4"],
            ),
            (terms(r#"{"matchFields":[]}"#), &["disk=ssd"]),
        ] {
            let doc = Doc::parse(format!(r#"{{"spec":{spec}}}"#)).expect("a case is JSON");
            let selectors: Vec<_> = node_selectors(doc.root())
                .iter()
                .map(ToString::to_string)
                .collect();
            assert_eq!(selectors, expect, "{spec}");
        }
    }
}
