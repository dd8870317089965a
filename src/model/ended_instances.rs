//! `EndedInstances`: which instances of a container have ended, as the newest version of its Pod says.

use std::borrow::Cow;

use crate::object::{Doc, Uid, Value};
use crate::status::Status;

use super::around::Around;
use super::object::ModelObject;

/// The instances of one container that have ended. A status names at most two of them.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct EndedInstances {
    /// The Pod of the container.
    pub pod: Uid,
    /// The name of the container.
    pub container: String,
    /// What tells the instances apart: their IDs, or the times of their ends if a node was lost with their IDs.
    pub ids: Vec<String>,
    /// How many instances have ended since the Pod exists: its `restartCount`, and the present one.
    pub total: usize,
}

impl EndedInstances {
    /// The containers of an object and of its Pods of the current revision, if they have ended at least once. A Job counts
    /// the failures of its Pods itself, and its own limit decides.
    pub fn below(around: Around<'_>, uid: &Uid) -> Vec<EndedInstances> {
        let mut pods = around.graph().current_dependents(uid);
        pods.push(uid.clone());
        let has_ended_once = |pod: &ModelObject| {
            let restarts = pod.assessment.row.restarts;
            let is_failed = pod.assessment.status() == Status::Failed;
            restarts.is_some_and(|restarts| restarts.count > 0 || is_failed)
        };
        let is_counted = |uid: &Uid| {
            let mut owners = around.graph().owners(uid);
            let pod = around.object(uid).filter(|pod| pod.departure.is_none());
            pod.is_some_and(has_ended_once) && !owners.any(|owner| &*owner.object.kind == "Job")
        };
        pods.retain(is_counted);
        let pods = pods.iter();
        let docs = pods.filter_map(|pod| around.doc(pod));
        docs.flat_map(|doc: Doc| EndedInstances::of_pod(doc.root()))
            .collect()
    }

    /// The containers of a Pod that have ended at least once, without those of `kubectl debug`.
    pub fn of_pod(pod: Value<'_>) -> Vec<EndedInstances> {
        let uid = pod.str_at(&["metadata", "uid"]).unwrap_or_default();
        let lists = ["initContainerStatuses", "containerStatuses"];
        let statuses = lists
            .iter()
            .flat_map(|list| pod.items_at(&["status", list]));
        let ended = statuses.map(|status| EndedInstances {
            pod: Uid::new(&*uid),
            container: status.str_at(&["name"]).unwrap_or_default().into_owned(),
            ids: ids(status),
            total: total(status),
        });
        ended.filter(|ended| !ended.ids.is_empty()).collect()
    }
}

/// The ended instances in the status of a container: the one before, and the present one. A success counts only once the
/// kubelet has started another instance.
fn ids(status: Value<'_>) -> Vec<String> {
    let last = status.at(&["lastState", "terminated"]);
    let ends = last.into_iter().chain(present_failure(status));
    let id = |end: Value<'_>| {
        let known = ["containerID", "finishedAt"].into_iter();
        let mut known = known.filter_map(|key| end.str_at(&[key]));
        known.find(|id| !id.is_empty()).map(Cow::into_owned)
    };
    ends.filter_map(id).collect()
}

fn total(status: Value<'_>) -> usize {
    let restarts = status.i64_at(&["restartCount"]);
    let before = restarts.and_then(|count| usize::try_from(count).ok());
    before.unwrap_or(0) + usize::from(present_failure(status).is_some())
}

/// The end of the present instance, if it has failed.
fn present_failure(status: Value<'_>) -> Option<Value<'_>> {
    let end = status.at(&["state", "terminated"])?;
    (end.i64_at(&["exitCode"]) != Some(0)).then_some(end)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(statuses: &str, expected: &[(&str, &[&str])]) {
        let text = format!(
            r#"{{"apiVersion":"v1","kind":"Pod","metadata":{{"name":"web","uid":"u"}},"status":{statuses}}}"#
        );
        let doc = Doc::parse(&*text).expect("valid");
        let ended = EndedInstances::of_pod(doc.root());
        let ended: Vec<(&str, Vec<&str>)> = ended
            .iter()
            .map(|ended| {
                let ids = ended.ids.iter().map(String::as_str).collect();
                (&*ended.container, ids)
            })
            .collect();
        let expected: Vec<(&str, Vec<&str>)> = expected
            .iter()
            .map(|(name, ids)| (*name, ids.to_vec()))
            .collect();
        assert_eq!(ended, expected, "{statuses}");
    }

    #[test]
    fn a_status_names_at_most_two_ended_instances() {
        check(
            r#"{"containerStatuses":[{"name":"a","state":{"running":{}}}]}"#,
            &[],
        );
        check(
            r#"{"containerStatuses":[
                {"name":"a","containerID":"2","state":{"running":{}},"lastState":{"terminated":{"containerID":"1"}}},
                {"name":"b","containerID":"4","state":{"terminated":{"containerID":"4","exitCode":1}},"lastState":{"terminated":{"containerID":"3"}}}
            ]}"#,
            &[("a", &["1"]), ("b", &["3", "4"])],
        );
        check(
            r#"{"initContainerStatuses":[{"name":"i","state":{"waiting":{}},"lastState":{"terminated":{"containerID":"1"}}}]}"#,
            &[("i", &["1"])],
        );
        // It has done its work.
        check(
            r#"{"initContainerStatuses":[{"name":"i","state":{"terminated":{"containerID":"1","exitCode":0}}}]}"#,
            &[],
        );
        check(
            r#"{"ephemeralContainerStatuses":[{"name":"e","state":{"terminated":{"containerID":"1"}}}]}"#,
            &[],
        );
    }

    #[test]
    fn the_total_counts_the_present_failure() {
        let total = |status: &str| {
            let text = format!(
                r#"{{"apiVersion":"v1","kind":"Pod","metadata":{{"name":"web"}},"status":{{"containerStatuses":[{status}]}}}}"#
            );
            let doc = Doc::parse(&*text).expect("valid");
            EndedInstances::of_pod(doc.root())[0].total
        };
        let last = r#""lastState":{"terminated":{"containerID":"1"}}"#;
        let failed = r#""state":{"terminated":{"containerID":"2","exitCode":1}}"#;
        assert_eq!(total(&format!(r#"{{"restartCount":7,{last}}}"#)), 7);
        assert_eq!(
            total(&format!(r#"{{"restartCount":7,{last},{failed}}}"#)),
            8
        );
        assert_eq!(total(&format!("{{{failed}}}")), 1);
    }

    #[test]
    fn an_instance_that_was_lost_with_its_node_has_no_id() {
        check(
            r#"{"containerStatuses":[{"name":"a","state":{"running":{}},
                "lastState":{"terminated":{"containerID":"","reason":"ContainerStatusUnknown","finishedAt":"2026-03-02T12:00:00Z"}}}]}"#,
            &[("a", &["2026-03-02T12:00:00Z"])],
        );
    }
}
