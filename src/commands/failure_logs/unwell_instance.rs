//! `UnwellInstance`: an instance of a container whose last lines may say why its Pod is not well.

use std::cmp::Reverse;
use std::collections::BTreeSet;
use std::iter::successors;
use std::sync::Arc;

use jiff::SignedDuration;

use crate::logs::{ContainerLogs, LogContainerRole, LogPlace, PodLogs, SeenInstance};
use crate::model::{Model, ModelObject};
use crate::object::Uid;
use crate::source::log::{LogContainer, LogLine};
use crate::status::CauseRule;
use crate::watch::logs::FeedStatus;

/// How many Pods are looked at, at most.
const MOST_PODS: usize = 500;

/// The rules of causes about an instance that has ended.
const ENDS: [CauseRule; 4] = [
    CauseRule::ContainerFailed,
    CauseRule::CrashLoop,
    CauseRule::OOMKilled,
    CauseRule::Restarted,
];

/// An object of a wait, and the model that judges it.
#[derive(Clone)]
pub(crate) struct JudgedObject<'m> {
    pub(crate) model: &'m Model,
    pub(crate) uid: Uid,
}

/// An instance of a container, and what the status of its Pod says about it.
#[derive(Clone, Debug)]
pub(super) struct UnwellInstance {
    pub(super) container: Arc<LogContainer>,
    pub(super) instance: SeenInstance,
    /// Where its log is.
    pub(super) place: LogPlace,
    pub(super) status: FeedStatus,
    /// Whether the kubelet starts another instance after it.
    may_restart: bool,
    /// What instances share that have, as a rule, the same last lines.
    pub(super) kind: UnwellInstanceKind,
}

/// Which instance it is.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct UnwellInstanceKey {
    pub(super) pod: Uid,
    pub(super) container: Arc<str>,
    /// The container ID.
    pub(super) id: Arc<str>,
}

/// The owner of the Pod, the container, and how the instance ended.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct UnwellInstanceKind {
    pub(super) owner: Uid,
    container: Arc<str>,
    /// The exit code; `None` if it runs.
    code: Option<i64>,
    reason: Arc<str>,
}

impl UnwellInstance {
    /// The failed instances below these objects, of the current revision: those that a cause of their Pod is about.
    pub(super) fn failed(
        model: &Model,
        objects: impl IntoIterator<Item = Uid>,
    ) -> Vec<UnwellInstance> {
        let pods = pods(model, objects);
        pods.flat_map(|pod| UnwellInstance::failed_of_pod(model, pod))
            .collect()
    }

    /// The instances that keep Pods below these objects from being ready: in each Pod those that have failed, or else those
    /// that run and are not ready. Those that have failed come first: those of the Pods that the error names, and the last
    /// end.
    pub(super) fn late(objects: &[JudgedObject<'_>]) -> Vec<UnwellInstance> {
        let named = objects.iter().flat_map(|it| named(it.model, &it.uid));
        let named: BTreeSet<&Uid> = named.collect();
        let mut seen = BTreeSet::new();
        let mut late: Vec<UnwellInstance> = Vec::new();
        for JudgedObject { model, uid } in objects {
            let pods = pods(model, [uid.clone()]).filter(|pod| !pod.assessment.is_well());
            // A Pod may be below two of them.
            for pod in pods.filter(|pod| seen.insert(pod.object.identity())) {
                late.extend(match UnwellInstance::failed_of_pod(model, pod) {
                    failed if failed.is_empty() => UnwellInstance::unready_of_pod(model, pod),
                    failed => failed,
                });
            }
        }
        late.sort_by_key(|one| {
            let instance = &one.instance;
            let is_named = named.contains(&one.container.pod_uid());
            (
                instance.exit.is_none(),
                !is_named,
                Reverse(instance.finished),
            )
        });
        late
    }

    fn failed_of_pod(model: &Model, pod: &ModelObject) -> Vec<UnwellInstance> {
        let causes = pod.assessment.causes.iter();
        let ends: Vec<&str> = causes
            .filter(|cause| ENDS.contains(&cause.rule))
            .map(|cause| &*cause.text)
            .collect();
        if ends.is_empty() {
            return Vec::new();
        }
        UnwellInstance::of_pod(model, pod, |container| {
            let is_said = ends.iter().any(|text| is_about(text, container));
            // The cause of a container that runs again is the end of the instance before.
            let seen = if container.is_running {
                container.last.as_ref()
            } else {
                container.present.as_ref()
            };
            seen.filter(|_| is_said)
        })
    }

    fn unready_of_pod(model: &Model, pod: &ModelObject) -> Vec<UnwellInstance> {
        UnwellInstance::of_pod(model, pod, |container| {
            let is_needed = matches!(
                container.role,
                LogContainerRole::Main | LogContainerRole::Sidecar
            );
            let is_unready = is_needed && container.is_running && !container.is_ready;
            container.present.as_ref().filter(|_| is_unready)
        })
    }

    fn of_pod(
        model: &Model,
        pod: &ModelObject,
        choose: impl Fn(&ContainerLogs) -> Option<&SeenInstance>,
    ) -> Vec<UnwellInstance> {
        let uid = pod.object.identity();
        let Some((cluster, doc)) = pod.cluster().zip(model.doc(&uid)) else {
            return Vec::new();
        };
        let logs = PodLogs::of(doc.root());
        let never = doc.root().str_at(&["spec", "restartPolicy"]).as_deref() == Some("Never");
        let owner = model.graph().owners(&uid).next();
        let owner = owner.map_or(&uid, |owner| &owner.uid);
        let chosen = logs.containers.iter().filter_map(|container| {
            let instance = choose(container)?.clone();
            let exit = instance.exit.as_ref();
            Some(UnwellInstance {
                container: Arc::new(LogContainer {
                    cluster: cluster.clone(),
                    pod: logs.pod.clone(),
                    name: container.name.clone(),
                }),
                place: container.place(&instance.id),
                status: FeedStatus {
                    container: container.clone(),
                    node: logs.node.clone(),
                    has_ended: logs.has_ended,
                    is_gone: false,
                },
                may_restart: container.role == LogContainerRole::Sidecar || !never,
                kind: UnwellInstanceKind {
                    owner: owner.clone(),
                    container: container.name.clone(),
                    code: exit.map(|exit| exit.code),
                    reason: exit.map_or("".into(), |exit| exit.reason.clone()),
                },
                instance,
            })
        });
        chosen.collect()
    }

    pub(super) fn key(&self) -> UnwellInstanceKey {
        UnwellInstanceKey {
            pod: self.container.pod_uid(),
            container: self.container.name.clone(),
            id: self.instance.id.clone(),
        }
    }

    /// The same instance, whose log is at this place.
    pub(super) fn at(self, place: LogPlace) -> UnwellInstance {
        UnwellInstance { place, ..self }
    }

    /// Whose these lines are. A request names no instance, so the next one may have answered, or the one after it.
    ///
    /// They start after this one has ended, by the same clock. After a restart the kubelet waits for a second at least
    /// (`maxContainerRestartPeriod`), but it may restart an instance at once that a status shows as ended, and nothing else.
    pub(super) fn origin(&self, lines: &[LogLine]) -> LineOrigin {
        let Some(finished) = self.instance.finished else {
            return LineOrigin::Unknown;
        };
        let since_end = |line: &LogLine| line.time.duration_since(finished);
        if lines.iter().any(|line| since_end(line).is_negative()) {
            return LineOrigin::This;
        }
        let status = &self.status.container;
        let is_sure = match self.place {
            LogPlace::Previous => {
                let next = status.present.as_ref().and_then(|next| next.started);
                next.is_some_and(|next| lines.iter().all(|line| line.time < next))
            }
            LogPlace::Ended => {
                let is_over =
                    !self.may_restart || self.status.has_ended || status.waiting.is_some();
                is_over && lines.iter().all(|line| since_end(line) < SECOND)
            }
            LogPlace::Running | LogPlace::Gone => false,
        };
        if is_sure {
            LineOrigin::This
        } else {
            LineOrigin::Unknown
        }
    }
}

/// Whose lines were read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum LineOrigin {
    /// Those of the requested instance.
    This,
    /// Perhaps those of a later one.
    Unknown,
}

/// The end of an instance is in whole seconds.
const SECOND: SignedDuration = SignedDuration::from_secs(1);

/// How many levels of dependents are searched. Objects may own each other.
const MOST_LEVELS: usize = 16;

/// The dependents that an error about an object may name.
fn named<'m>(model: &'m Model, object: &'m Uid) -> impl Iterator<Item = &'m Uid> {
    let below = |uid: &&'m Uid| model.object(uid)?.decisive_part();
    successors(Some(object), below).take(MOST_LEVELS)
}

/// The Pods of the current revision below these objects, and those among them, each once.
fn pods(
    model: &Model,
    objects: impl IntoIterator<Item = Uid>,
) -> impl Iterator<Item = &ModelObject> {
    let mut seen = BTreeSet::new();
    let below = objects.into_iter().flat_map(|uid| {
        let below = model.graph().current_dependents(&uid);
        std::iter::once(uid).chain(below)
    });
    let pods = below.filter(move |uid| seen.insert(uid.clone()));
    let pods = pods.filter_map(|uid| model.object(&uid));
    let is_pod = |object: &&ModelObject| {
        &*object.object.kind == "Pod"
            && object.object.group().is_empty()
            && object.departure.is_none()
    };
    pods.filter(is_pod).take(MOST_PODS)
}

/// Whether the text of a cause is about a container: it begins with its name, and its part in the Pod.
fn is_about(text: &str, container: &ContainerLogs) -> bool {
    let part = match container.role {
        LogContainerRole::Init => " (init): ",
        LogContainerRole::Sidecar => " (sidecar): ",
        LogContainerRole::Main => ": ",
        LogContainerRole::Ephemeral => return false,
    };
    let rest = text.strip_prefix(&*container.name);
    rest.is_some_and(|rest| rest.starts_with(part))
}
