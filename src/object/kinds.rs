//! Fields that several modules read: of workloads, Pods, Events and network policies, and the newest time in any object.

use std::borrow::Cow;
use std::sync::Arc;

use jiff::Timestamp;

use super::time::time;
use super::{ObjectRef, Uid, Value};

/// The numbers of Pods in a workload's spec and status.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct PodCounts {
    /// The wanted Pods.
    pub wanted: i64,
    /// The wanted Pods of the newest revision. A partition keeps the others at the old one.
    pub goal: i64,
    /// The Pods that exist.
    pub there: i64,
    /// Those of the newest revision.
    pub updated: i64,
    /// The ready Pods of all revisions.
    pub ready: i64,
    /// The available Pods of all revisions.
    pub available: i64,
}

impl PodCounts {
    /// Reads them from an object; `None` for kinds that do not count Pods. A custom resource counts them if it has
    /// `spec.replicas`. The API leaves out counts of 0, and the default of `spec.replicas` is 1.
    pub fn of(object: Value<'_>) -> Option<PodCounts> {
        let status = |key| object.i64_at(&["status", key]).unwrap_or(0);
        let replicas = object.i64_at(&["spec", "replicas"]);
        let wanted = match &*object.str_at(&["kind"])? {
            // It counts nodes.
            "DaemonSet" => {
                let wanted = status("desiredNumberScheduled");
                return Some(PodCounts {
                    wanted,
                    goal: wanted,
                    there: status("currentNumberScheduled"),
                    updated: status("updatedNumberScheduled"),
                    ready: status("numberReady"),
                    available: status("numberAvailable"),
                });
            }
            "Deployment" | "ReplicaSet" | "ReplicationController" | "StatefulSet" => {
                replicas.unwrap_or(1)
            }
            _ => replicas?,
        };
        Some(PodCounts {
            wanted,
            goal: wanted.saturating_sub(kept_old(object)).max(0),
            there: status("replicas"),
            updated: status("updatedReplicas"),
            ready: status("readyReplicas"),
            available: status("availableReplicas"),
        })
    }

    /// A number of Pods of the newest revision, with the goal: `1/3`. Without it, if the partition keeps so many Pods that
    /// nothing is left to do.
    pub fn of_goal(&self, count: i64) -> String {
        let is_met = self.goal == 0 || count > self.goal;
        if self.goal < self.wanted && is_met {
            return count.to_string();
        }
        format!("{count}/{}", self.goal)
    }
}

/// How many Pods the partition keeps at the old revision. It keeps none while there is only one revision.
fn kept_old(object: Value<'_>) -> i64 {
    let revision = |key| object.text_at(&["status", key]);
    let newest = revision("updateRevision");
    if newest.is_some() && newest == revision("currentRevision") {
        return 0;
    }
    partition(object)
}

/// How many Pods of a `StatefulSet` keep the old revision, those with the lowest ordinals; 0 for other kinds.
pub fn partition(object: Value<'_>) -> i64 {
    let path = ["spec", "updateStrategy", "rollingUpdate", "partition"];
    object.i64_at(&path).unwrap_or(0).max(0)
}

/// The ordinal from which on the Pods of a `StatefulSet` get the newest revision. The partition counts from the first
/// ordinal (<https://kubernetes.io/docs/concepts/workloads/controllers/statefulset/#start-ordinal>).
pub fn first_updated(object: Value<'_>) -> i64 {
    let start = object.i64_at(&["spec", "ordinals", "start"]);
    start.unwrap_or(0).saturating_add(partition(object))
}

/// When `kubectl rollout restart` last restarted a workload, as text; `None` if it never did.
pub fn restarted_at(workload: Value<'_>) -> Option<Cow<'_, str>> {
    let annotations = ["spec", "template", "metadata", "annotations"];
    workload
        .at(&annotations)?
        .str_at(&["kubectl.kubernetes.io/restartedAt"])
}

/// The controller that runs a Job in place of the one of Kubernetes; `None` if that one does
/// (<https://kubernetes.io/docs/concepts/workloads/controllers/job/#delegation-of-managing-a-job-object-to-external-controller>).
pub fn job_manager(job: Value<'_>) -> Option<Arc<str>> {
    let manager = job.text_at(&["spec", "managedBy"]);
    manager.filter(|manager| &**manager != "kubernetes.io/job-controller")
}

/// Whether an init container of a Pod's spec is a sidecar
/// (<https://kubernetes.io/docs/concepts/workloads/pods/sidecar-containers/>).
pub fn is_sidecar(container: Value<'_>) -> bool {
    container.str_at(&["restartPolicy"]).as_deref() == Some("Always")
}

/// The facts of an Event.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct EventFacts {
    /// The object. Some reporters know no uid, and the kubelet gives the name of its node in its place.
    pub about: ObjectRef,
    /// `Normal` or `Warning`.
    pub type_: Arc<str>,
    /// Why, in one word: `FailedMount`.
    pub reason: Arc<str>,
    /// Why, in a sentence.
    pub message: Arc<str>,
    /// How often it happened, at least once.
    pub count: i64,
    /// When it happened last; `None` if the event has no time.
    pub last: Option<Timestamp>,
}

impl EventFacts {
    /// Reads an Event of either group; `None` if it has no subject.
    pub fn of(event: Value<'_>) -> Option<EventFacts> {
        let text = |key| event.text_at(&[key]);
        let about = event
            .at(&["involvedObject"])
            .or_else(|| event.at(&["regarding"]))?;
        let message = text("message").or_else(|| text("note")).unwrap_or_default();
        // client-go puts this before the message of an event that stands for several.
        let message = message.trim_start_matches("(combined from similar events): ");
        let counts: [&[&str]; 3] = [&["series", "count"], &["count"], &["deprecatedCount"]];
        let count = counts.iter().find_map(|path| event.i64_at(path));
        let times: [&[&str]; 5] = [
            &["series", "lastObservedTime"],
            &["lastTimestamp"],
            &["deprecatedLastTimestamp"],
            &["eventTime"],
            &["metadata", "creationTimestamp"],
        ];
        Some(EventFacts {
            about: ObjectRef {
                api_version: about.text_at(&["apiVersion"]).unwrap_or_default(),
                kind: about.text_at(&["kind"])?,
                namespace: about.text_at(&["namespace"]),
                name: about.text_at(&["name"])?,
                uid: about.text_at(&["uid"]).map(Uid::new),
            },
            type_: text("type").unwrap_or_default(),
            reason: text("reason").unwrap_or_default(),
            message: message.into(),
            count: count.unwrap_or(1).max(1),
            last: times.iter().find_map(|path| event.time_at(path)),
        })
    }

    /// The type and the name of the object that does not exist, if the message ends with that:
    /// `storageclass.storage.k8s.io "fast" not found`.
    pub fn missing(&self) -> Option<[&str; 2]> {
        let (rest, name) = self
            .message
            .strip_suffix("\" not found")?
            .rsplit_once('"')?;
        Some([rest.trim_end().rsplit(' ').next()?, name])
    }

    /// Whether something is wrong.
    pub fn is_warning(&self) -> bool {
        &*self.type_ == "Warning"
    }
}

/// The directions of traffic, as `spec.policyTypes` and the fields of the rules name them.
const DIRECTIONS: [(&str, &str); 2] = [("Ingress", "ingress"), ("Egress", "egress")];

/// The directions of traffic that a policy restricts and allows something of: `ingress`, `egress`
/// (<https://kubernetes.io/docs/concepts/services-networking/network-policies/#the-networkpolicy-resource>).
pub fn restricted(policy: Value<'_>) -> Vec<&'static str> {
    let mut directions = directions(policy);
    directions.retain(|direction| has_rules(policy, direction));
    directions
}

/// The directions of traffic of which a policy allows nothing. Another policy may allow some of it.
pub fn denied(policy: Value<'_>) -> Vec<&'static str> {
    let mut directions = directions(policy);
    directions.retain(|direction| !has_rules(policy, direction));
    directions
}

/// The directions that a policy is about. Without `policyTypes` it is about ingress, and about egress if it has rules for that.
fn directions(policy: Value<'_>) -> Vec<&'static str> {
    let mut types = policy.items_at(&["spec", "policyTypes"]).peekable();
    if types.peek().is_none() {
        let mut directions = vec!["ingress"];
        directions.extend(has_rules(policy, "egress").then_some("egress"));
        return directions;
    }
    let types: Vec<_> = types.filter_map(Value::as_str).collect();
    let named = DIRECTIONS.into_iter();
    let named = named.filter(|(name, _)| types.iter().any(|own| own == name));
    named.map(|(_, direction)| direction).collect()
}

fn has_rules(policy: Value<'_>, direction: &str) -> bool {
    policy.items_at(&["spec", direction]).next().is_some()
}

/// The first words of fields that record when something happened, in camel case: `lastTransitionTime`, `startedAt`. Other
/// times may be in the future: `notAfter`, `renewalTime`, `deletionTimestamp`.
const RECORDED: [&str; 12] = [
    "acquire",
    "completed",
    "completion",
    "creation",
    "created",
    "event",
    "finished",
    "first",
    "last",
    "observed",
    "start",
    "started",
];

/// The newest time at which something had happened to an object: it was written, its state changed, or its Lease was
/// renewed. What people write into a spec or into data does not count.
pub fn newest_time(object: Value<'_>) -> Option<Timestamp> {
    let is_lease = object.str_at(&["kind"]).as_deref() == Some("Lease");
    let written = object.items_at(&["metadata", "managedFields"]);
    let written = written.filter_map(|entry| entry.time_at(&["time"]));
    let created = object.time_at(&["metadata", "creationTimestamp"]);
    let renewed = object.time_at(&["spec", "renewTime"]);
    let status = object.at(&["status"]).and_then(newest_below);
    // The times of an Event are at its top.
    let own = object.fields().filter_map(|(name, value)| match &*name {
        "series" => newest_below(value),
        name => recorded(name, value),
    });
    let times = written.chain(created).chain(status).chain(own);
    times.chain(renewed.filter(|_| is_lease)).max()
}

fn newest_below(value: Value<'_>) -> Option<Timestamp> {
    let fields = value.fields().filter_map(|(name, field)| {
        let own = recorded(&name, field);
        own.or_else(|| newest_below(field))
    });
    fields.chain(value.items().filter_map(newest_below)).max()
}

fn recorded(name: &str, value: Value<'_>) -> Option<Timestamp> {
    let end = name.find(|letter: char| letter.is_ascii_uppercase());
    let word = &name[..end.unwrap_or(name.len())];
    let text = RECORDED.contains(&word).then(|| value.as_str())??;
    time(&text)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::object::Doc;

    /// The counts of an object: wanted, goal, there, updated, ready, available.
    fn counts(text: &str) -> Option<[i64; 6]> {
        let doc = Doc::parse(text).expect("a case is JSON");
        let counts = PodCounts::of(doc.root())?;
        Some([
            counts.wanted,
            counts.goal,
            counts.there,
            counts.updated,
            counts.ready,
            counts.available,
        ])
    }

    #[test]
    fn each_kind_counts_its_pods_in_fields_of_its_own() {
        for (text, expect) in [
            (r#"{"kind":"Deployment"}"#, Some([1, 1, 0, 0, 0, 0])),
            (
                r#"{"kind":"StatefulSet","spec":{"replicas":3,"updateStrategy":{"rollingUpdate":{"partition":2}}},
                    "status":{"replicas":3,"updatedReplicas":1,"readyReplicas":2}}"#,
                Some([3, 1, 3, 1, 2, 0]),
            ),
            // There is only one revision.
            (
                r#"{"kind":"StatefulSet","spec":{"replicas":3,"updateStrategy":{"rollingUpdate":{"partition":2}}},
                    "status":{"replicas":3,"updatedReplicas":3,"currentRevision":"a","updateRevision":"a"}}"#,
                Some([3, 3, 3, 3, 0, 0]),
            ),
            (
                r#"{"kind":"StatefulSet","spec":{"replicas":3,"updateStrategy":{"rollingUpdate":{"partition":4}}},
                    "status":{"replicas":3,"updatedReplicas":1,"currentRevision":"a","updateRevision":"b"}}"#,
                Some([3, 0, 3, 1, 0, 0]),
            ),
            (
                r#"{"kind":"DaemonSet","status":{"desiredNumberScheduled":4,"currentNumberScheduled":3,
                    "updatedNumberScheduled":2,"numberReady":1,"numberAvailable":1}}"#,
                Some([4, 4, 3, 2, 1, 1]),
            ),
            (
                r#"{"kind":"Rollout","spec":{"replicas":2},"status":{"availableReplicas":1}}"#,
                Some([2, 2, 0, 0, 0, 1]),
            ),
            (r#"{"kind":"Job"}"#, None),
            ("7", None),
        ] {
            assert_eq!(counts(text), expect, "{text}");
        }
    }

    #[test]
    fn a_number_has_no_goal_that_a_partition_has_already_met() {
        for (wanted, goal, count, expect) in [
            (3, 3, 1, "1/3"),
            (3, 1, 1, "1/1"),
            (3, 1, 2, "2"),
            (3, 0, 0, "0"),
            // It is scaled down.
            (0, 0, 2, "2/0"),
            (1, 1, 2, "2/1"),
        ] {
            let counts = PodCounts {
                wanted,
                goal,
                ..PodCounts::default()
            };
            assert_eq!(counts.of_goal(count), expect, "{wanted} {goal} {count}");
        }
    }

    #[test]
    fn an_event_is_read_in_each_of_its_forms() {
        let series = r#","eventTime":"2026-11-21T14:00:00.5Z","series":{"count":7,"lastObservedTime":"2026-11-21T14:05:00Z"}"#;
        let deprecated = r#","deprecatedCount":2,"deprecatedLastTimestamp":"2026-11-21T14:02:00Z""#;
        let micro = r#","lastTimestamp":null,"eventTime":"2026-11-21T14:01:00Z""#;
        let core = r#","count":3,"lastTimestamp":"2026-11-21T14:00:00Z""#;
        let event = |text| EventFacts::of(Doc::parse(text).expect("a case is JSON").root());
        for (more, count, last) in [
            ("", 1, ""),
            (core, 3, "2026-11-21T14:00:00Z"),
            (series, 7, "2026-11-21T14:05:00Z"),
            (micro, 1, "2026-11-21T14:01:00Z"),
            (deprecated, 2, "2026-11-21T14:02:00Z"),
        ] {
            for subject in ["involvedObject", "regarding"] {
                let text = format!(r#"{{"{subject}":{{"kind":"Pod","name":"web"}}{more}}}"#);
                let event = event(text.clone()).expect("an event");
                assert_eq!(
                    (event.count, event.last),
                    (count, last.parse().ok()),
                    "{text}"
                );
            }
        }
        for text in [r#"{"type":"Warning"}"#, "7"] {
            assert_eq!(event(text.to_owned()), None, "{text}");
        }
    }

    #[test]
    fn a_policy_without_rules_for_a_direction_denies_it() {
        for (spec, denies, restricts) in [
            ("", "ingress", ""),
            (r#""ingress":[{}]"#, "", "ingress"),
            (r#""egress":[{}]"#, "ingress", "egress"),
            (r#""policyTypes":["Ingress"],"egress":[{}]"#, "ingress", ""),
            (r#""policyTypes":["Egress"],"ingress":[]"#, "egress", ""),
            (
                r#""policyTypes":["Egress","Ingress"]"#,
                "ingress egress",
                "",
            ),
            (
                r#""policyTypes":["Ingress","Egress"],"ingress":[{"from":[]}]"#,
                "egress",
                "ingress",
            ),
        ] {
            let doc = Doc::parse(format!(r#"{{"spec":{{{spec}}}}}"#)).expect("JSON");
            assert_eq!(denied(doc.root()).join(" "), denies, "{spec}");
            assert_eq!(restricted(doc.root()).join(" "), restricts, "{spec}");
        }
    }

    #[test]
    fn the_newest_time_is_one_at_which_something_happened() {
        let check = |text: &str, expect: &str| {
            let doc = Doc::parse(text).expect("an object");
            let newest = newest_time(doc.root());
            let newest = newest.map_or("none".to_owned(), |time| time.to_string());
            assert_eq!(newest, expect, "{text}");
        };
        let (old, new) = ("2026-03-01T00:00:00Z", "2026-03-02T00:00:00Z");
        for object in [
            r#"{"metadata":{"creationTimestamp":"NEW"}}"#,
            r#"{"metadata":{"managedFields":[{"time":"OLD"},{"time":"NEW"}]}}"#,
            r#"{"status":{"conditions":[{"lastTransitionTime":"NEW"},{"lastTransitionTime":"OLD"}]}}"#,
            r#"{"status":{"containerStatuses":[{"state":{"terminated":{"finishedAt":"NEW"}}}]}}"#,
            r#"{"status":{"lastScheduleTime":"NEW","notAfter":"2027-01-01T00:00:00Z"}}"#,
            r#"{"kind":"Event","eventTime":null,"lastTimestamp":"NEW","firstTimestamp":"OLD"}"#,
            r#"{"kind":"Event","eventTime":"OLD","series":{"count":3,"lastObservedTime":"NEW"}}"#,
            r#"{"kind":"Lease","spec":{"renewTime":"NEW","acquireTime":"OLD"}}"#,
            r#"{"metadata":{"creationTimestamp":"NEW","deletionTimestamp":"2026-03-02T00:00:30Z"},"spec":{"lastTime":"2026-03-03T00:00:00Z"}}"#,
        ] {
            check(&object.replace("NEW", new).replace("OLD", old), new);
        }
        check(
            r#"{"kind":"ConfigMap","data":{"lastTime":"2026-03-02T00:00:00Z"}}"#,
            "none",
        );
        check(
            r#"{"status":{"lastProbeTime":null,"lastWord":"no"}}"#,
            "none",
        );
        check("[]", "none");
    }
}
