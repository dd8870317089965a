//! `PodLogs`: what the status of a Pod says about the instances of its containers.

use std::sync::Arc;

use jiff::Timestamp;

use crate::object::{ObjectRef, Value, is_sidecar};
use crate::source::log::LogExit;

/// The containers of a Pod that may have logs.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PodLogs {
    /// The Pod.
    pub pod: Arc<ObjectRef>,
    /// The node that it was assigned to.
    pub node: Option<Arc<str>>,
    /// The container that the annotation `kubectl.kubernetes.io/default-container` names.
    pub default_container: Option<Arc<str>>,
    /// Whether its phase is Succeeded or Failed: no container runs again.
    pub has_ended: bool,
    /// The containers: init containers, then the others, then the ephemeral ones, each in the order of the spec.
    pub containers: Vec<ContainerLogs>,
}

/// What kind of container it is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum LogContainerRole {
    /// An init container that ends before the others start.
    Init,
    /// An init container that runs beside the others (`restartPolicy: Always`).
    Sidecar,
    /// A usual container.
    Main,
    /// An ephemeral container, as `kubectl debug` adds them.
    Ephemeral,
}

/// The instances of one container that a node has logs of, by the rules of the kubelet (`validateContainerLogStatus`).
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ContainerLogs {
    /// The name of the container.
    pub name: Arc<str>,
    /// What kind of container it is.
    pub role: LogContainerRole,
    /// The instance whose log a request gets.
    pub present: Option<SeenInstance>,
    /// Whether that instance runs.
    pub is_running: bool,
    /// Whether the container is ready.
    pub is_ready: bool,
    /// The instance whose log a request with `previous` gets.
    pub last: Option<SeenInstance>,
    /// Why no instance runs, if the container waits: `CrashLoopBackOff`.
    pub waiting: Option<Arc<str>>,
}

/// An instance in a status.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct SeenInstance {
    /// The container ID, or `restart N` of a container without one.
    pub id: Arc<str>,
    /// How many instances came before it, as far as the status counts them.
    pub attempt: u32,
    /// How it ended; `None` while it runs.
    pub exit: Option<LogExit>,
    /// When it started, by the clock of its node, in whole seconds.
    pub started: Option<Timestamp>,
    /// When it ended, by the same clock.
    pub finished: Option<Timestamp>,
    /// Whether the status has its termination message.
    pub has_message: bool,
}

/// Where the log of an instance is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum LogPlace {
    /// It runs, and a request gets its log.
    Running,
    /// It has ended, and a request gets its log.
    Ended,
    /// It has ended, and a request with `previous` gets its log.
    Previous,
    /// The node has no log of it any more.
    Gone,
}

impl PodLogs {
    /// Reads a Pod.
    pub fn of(pod: Value<'_>) -> PodLogs {
        let lists = [
            ("initContainers", "initContainerStatuses"),
            ("containers", "containerStatuses"),
            ("ephemeralContainers", "ephemeralContainerStatuses"),
        ];
        let containers = lists.into_iter().flat_map(|(specs, statuses)| {
            pod.items_at(&["spec", specs]).filter_map(move |spec| {
                let name = spec.text_at(&["name"])?;
                let role = match specs {
                    "initContainers" if is_sidecar(spec) => LogContainerRole::Sidecar,
                    "initContainers" => LogContainerRole::Init,
                    "containers" => LogContainerRole::Main,
                    _ => LogContainerRole::Ephemeral,
                };
                let mut statuses = pod.items_at(&["status", statuses]);
                let status =
                    statuses.find(|status| status.text_at(&["name"]).as_ref() == Some(&name));
                Some(match status {
                    Some(status) => ContainerLogs::of(name, role, status),
                    None => ContainerLogs::without_status(name, role),
                })
            })
        });
        let annotation = [
            "metadata",
            "annotations",
            "kubectl.kubernetes.io/default-container",
        ];
        let phase = pod.text_at(&["status", "phase"]);
        PodLogs {
            containers: containers.collect(),
            pod: Arc::new(ObjectRef::of(pod)),
            node: pod
                .text_at(&["spec", "nodeName"])
                .filter(|name| !name.is_empty()),
            default_container: pod.text_at(&annotation).filter(|name| !name.is_empty()),
            has_ended: matches!(phase.as_deref(), Some("Succeeded" | "Failed")),
        }
    }
}

impl ContainerLogs {
    fn without_status(name: Arc<str>, role: LogContainerRole) -> ContainerLogs {
        ContainerLogs {
            name,
            role,
            present: None,
            is_running: false,
            is_ready: false,
            last: None,
            waiting: None,
        }
    }

    fn of(name: Arc<str>, role: LogContainerRole, status: Value<'_>) -> ContainerLogs {
        let attempt = status.i64_at(&["restartCount"]).unwrap_or(0);
        let attempt = u32::try_from(attempt).unwrap_or(0);
        let own = status.text_at(&["containerID"]);
        let last = ended(status, "lastState").map(|last| SeenInstance {
            // While the container waits, the status counts the dead instance as the present one.
            attempt: if own.as_ref() == Some(&last.id) {
                attempt
            } else {
                attempt.saturating_sub(1)
            },
            ..last
        });
        let is_running = status
            .at(&["state", "running"])
            .is_some_and(|state| !state.is_null());
        let present = if is_running {
            Some(SeenInstance {
                id: own.unwrap_or_else(|| format!("restart {attempt}").into()),
                attempt,
                started: status.time_at(&["state", "running", "startedAt"]),
                ..SeenInstance::default()
            })
        } else {
            let present = ended(status, "state").map(|seen| SeenInstance { attempt, ..seen });
            present.or_else(|| last.clone())
        };
        ContainerLogs {
            name,
            role,
            present,
            is_running,
            is_ready: status.bool_at(&["ready"]).unwrap_or(false),
            last,
            waiting: status.text_at(&["state", "waiting", "reason"]),
        }
    }

    /// Where the log of an instance is.
    pub fn place(&self, id: &str) -> LogPlace {
        match (&self.present, &self.last) {
            (Some(present), _) if *present.id == *id && self.is_running => LogPlace::Running,
            (Some(present), _) if *present.id == *id => LogPlace::Ended,
            (_, Some(last)) if *last.id == *id => LogPlace::Previous,
            _ => LogPlace::Gone,
        }
    }

    /// How an instance ended, if the status has it.
    pub fn exit(&self, id: &str) -> Option<LogExit> {
        let mut seen = self.present.iter().chain(&self.last);
        seen.find(|seen| *seen.id == *id)?.exit.clone()
    }
}

/// The instance whose end a part of a status shows.
fn ended(status: Value<'_>, part: &str) -> Option<SeenInstance> {
    let terminated = status
        .at(&[part, "terminated"])
        .filter(|state| !state.is_null())?;
    let id = terminated.text_at(&["containerID"])?;
    let message = terminated.text_at(&["message"]);
    Some(SeenInstance {
        id,
        attempt: 0,
        exit: Some(LogExit {
            code: terminated.i64_at(&["exitCode"]).unwrap_or(0),
            reason: terminated.text_at(&["reason"]).unwrap_or_default(),
        }),
        started: terminated.time_at(&["startedAt"]),
        finished: terminated.time_at(&["finishedAt"]),
        has_message: message.is_some_and(|message| !message.trim().is_empty()),
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::object::Doc;

    /// The instances of the container `app` with this status: the present one, then the one before.
    fn check(status: &str) -> String {
        let pod = format!(
            r#"{{"metadata":{{"name":"p","uid":"u"}},"spec":{{"containers":[{{"name":"app"}}]}},
               "status":{{"containerStatuses":[{{"name":"app",{status}}}]}}}}"#
        );
        let pod = Doc::parse(pod).expect("a case is JSON");
        let logs = PodLogs::of(pod.root());
        let container = &logs.containers[0];
        let seen = |instance: &Option<SeenInstance>| match instance {
            None => "-".to_owned(),
            Some(SeenInstance { id, exit: None, .. }) => format!("{id} runs"),
            Some(SeenInstance {
                id,
                exit: Some(exit),
                ..
            }) => format!("{id} {exit}"),
        };
        format!("{}; {}", seen(&container.present), seen(&container.last))
    }

    #[test]
    fn a_status_names_the_instances_with_a_log() {
        let dead = |id: &str, code: u8| {
            format!(r#"{{"terminated":{{"exitCode":{code},"containerID":"{id}"}}}}"#)
        };
        for (status, expect) in [
            (r#""state":{}"#.to_owned(), "-; -"),
            (
                r#""state":{"waiting":{"reason":"ContainerCreating"}}"#.to_owned(),
                "-; -",
            ),
            (
                r#""state":{"running":{}},"containerID":"c1""#.to_owned(),
                "c1 runs; -",
            ),
            (
                r#""state":{"running":{}},"restartCount":2"#.to_owned(),
                "restart 2 runs; -",
            ),
            (
                format!(r#""state":{},"containerID":"c1""#, dead("c1", 0)),
                "c1 Completed; -",
            ),
            (
                format!(
                    r#""state":{{"running":{{}}}},"containerID":"c2","lastState":{}"#,
                    dead("c1", 1)
                ),
                "c2 runs; c1 exit 1",
            ),
            // A container that waits for its restart still has the log of the dead instance.
            (
                format!(
                    r#""state":{{"waiting":{{"reason":"CrashLoopBackOff"}}}},"containerID":"c1","lastState":{}"#,
                    dead("c1", 1)
                ),
                "c1 exit 1; c1 exit 1",
            ),
            // It never started: the kubelet answers with the log of the instance before.
            (
                format!(r#""state":{},"lastState":{}"#, dead("", 128), dead("c1", 1)),
                "c1 exit 1; c1 exit 1",
            ),
            // A lost node leaves no ID behind.
            (
                format!(
                    r#""state":{{"running":{{}}}},"containerID":"c2","lastState":{}"#,
                    dead("", 137)
                ),
                "c2 runs; -",
            ),
        ] {
            assert_eq!(check(&status), expect, "{status}");
        }
    }

    /// The number of each instance, as the status counts them: the first has 0.
    #[test]
    fn an_instance_is_counted_where_it_is_present() {
        let dead = r#"{"terminated":{"exitCode":1,"containerID":"c1"}}"#;
        for (status, expect) in [
            (
                format!(r#""state":{{"running":{{}}}},"containerID":"c2","lastState":{dead}"#),
                [Some(3), Some(2)],
            ),
            (
                format!(r#""state":{dead},"containerID":"c1""#),
                [Some(3), None],
            ),
            (
                format!(r#""state":{{"waiting":{{}}}},"containerID":"c1","lastState":{dead}"#),
                [Some(3), Some(3)],
            ),
        ] {
            let status = format!(r#"{{"name":"app","restartCount":3,{status}}}"#);
            let status = Doc::parse(status).expect("a case is JSON");
            let role = LogContainerRole::Main;
            let logs = ContainerLogs::of("app".into(), role, status.root());
            let attempts = [logs.present, logs.last].map(|seen| Some(seen?.attempt));
            assert_eq!(attempts, expect, "{status:?}");
        }
    }

    #[test]
    fn containers_have_the_order_of_their_kinds() {
        let pod = Doc::parse(
            r#"{"metadata":{"name":"p","annotations":{"kubectl.kubernetes.io/default-container":"b"}},
                "spec":{"nodeName":"n","containers":[{"name":"b"},{"name":"a"}],
                "ephemeralContainers":[{"name":"debug"}],
                "initContainers":[{"name":"setup"},{"name":"proxy","restartPolicy":"Always"}]},
                "status":{"phase":"Failed"}}"#,
        );
        let logs = PodLogs::of(pod.expect("JSON").root());
        let containers = logs.containers.iter();
        let containers: Vec<_> = containers.map(|found| (&*found.name, found.role)).collect();
        assert_eq!(
            containers,
            [
                ("setup", LogContainerRole::Init),
                ("proxy", LogContainerRole::Sidecar),
                ("b", LogContainerRole::Main),
                ("a", LogContainerRole::Main),
                ("debug", LogContainerRole::Ephemeral),
            ]
        );
        assert_eq!(logs.default_container.as_deref(), Some("b"));
        assert_eq!(logs.node.as_deref(), Some("n"));
        assert!(logs.has_ended);
    }

    #[test]
    fn an_instance_moves_from_running_to_gone() {
        let at = |present: &str, is_running, last: Option<&str>| {
            let seen = |id: &str| SeenInstance {
                id: id.into(),
                ..SeenInstance::default()
            };
            ContainerLogs {
                present: Some(seen(present)),
                is_running,
                last: last.map(seen),
                ..ContainerLogs::without_status("app".into(), LogContainerRole::Main)
            }
        };
        for (status, expect) in [
            (at("c1", true, None), LogPlace::Running),
            (at("c1", false, None), LogPlace::Ended),
            (at("c1", false, Some("c1")), LogPlace::Ended),
            (at("c2", true, Some("c1")), LogPlace::Previous),
            (at("c2", false, Some("c1")), LogPlace::Previous),
            (at("c3", true, Some("c2")), LogPlace::Gone),
        ] {
            assert_eq!(status.place("c1"), expect, "{status:?}");
        }
    }
}
