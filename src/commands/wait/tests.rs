//! Tests of the progress of objects towards their goals, event by event.

use std::sync::Arc;

use jiff::Timestamp;
use serde_json::{Value, json};

use super::goal_progress::Judge;
use super::waiting::{Outcome, Waiting};
use crate::model::{Model, Retention};
use crate::object::{Doc, ObjectRef, ResourceVersion};
use crate::source::{Event, Scope, Select, SourceKey, SourceState, Version, Why};
use crate::status::{Goal, Rules};

/// The Deployments of `shop`, or the one with this name.
fn deployments(name: Option<&str>) -> SourceKey {
    SourceKey {
        scope: Scope::Namespace("shop".into()),
        select: name.map_or(Select::All, |name| Select::Name(name.into())),
        ..SourceKey::all("apps", "Deployment")
    }
}

/// A Deployment with this status of its condition `Available`, and a condition `Progressing`.
fn deployment(name: &str, available: &str, progressing: &str) -> Value {
    json!({
        "apiVersion": "apps/v1", "kind": "Deployment",
        "metadata": {"name": name, "namespace": "shop", "uid": format!("uid-{name}"), "generation": 1},
        "spec": {"replicas": 1},
        "status": {
            "observedGeneration": 1,
            "conditions": [
                {"type": "Available", "status": available},
                {
                    "type": "Progressing", "status": progressing,
                    "reason": if progressing == "False" { "ProgressDeadlineExceeded" } else { "ReplicaSetUpdated" },
                },
            ],
        },
    })
}

fn event(why: Why, object: &Value) -> Event {
    let text = object.to_string();
    let object = ObjectRef::of(Doc::parse(&*text).unwrap().root());
    Event::Object {
        why,
        past: false,
        seen: Timestamp::UNIX_EPOCH,
        now: Arc::new(Version {
            object: object.into(),
            version: ResourceVersion::new("1"),
            body: text.into(),
        }),
        prev: None,
    }
}

fn synced(count: usize) -> Event {
    Event::synced(count)
}

fn forbidden() -> Event {
    let cause = "Error from server (Forbidden): no".into();
    Event::State(SourceState::Forbidden { cause })
}

/// The outcome after these events, and the objects that were printed as met.
fn after(goals: &[&str], asked: &[SourceKey], events: &[(usize, Event)]) -> (Outcome, Vec<String>) {
    let goals: Vec<Goal> = goals.iter().map(|goal| goal.parse().unwrap()).collect();
    let mut waiting = Waiting::new(&goals, asked, Judge::Versions);
    for (key, event) in events {
        waiting.apply(&asked[*key], event, Timestamp::UNIX_EPOCH);
    }
    waiting.judge(|_| None, |_| Timestamp::UNIX_EPOCH);
    let met = waiting.take_met();
    let is_open = matches!(waiting.outcome(), Outcome::Open(_) | Outcome::Unread { .. });
    assert_eq!(waiting.is_decided(), !is_open && !goals.is_empty());
    (waiting.outcome(), met)
}

fn unread(unmet: &[&str], unread: &[&str]) -> Outcome {
    let owned = |names: &[&str]| names.iter().map(|&name| name.to_owned()).collect();
    Outcome::Unread {
        unmet: owned(unmet),
        unread: owned(unread),
    }
}

/// The events of a source in words: `listed web`, `modified web done`, `deleted web`, `synced`. An object is in
/// progress, `done` or `stuck`.
fn story(text: &str) -> Vec<Event> {
    let steps = text.split(", ").filter(|step| !step.is_empty());
    steps.map(step).collect()
}

fn step(text: &str) -> Event {
    let words: Vec<&str> = text.split(' ').collect();
    let (name, state) = match words[..] {
        ["synced"] => return synced(1),
        [_, name] => (name, ""),
        [_, name, state] => (name, state),
        _ => panic!("{text}"),
    };
    let (available, progressing) = match state {
        "" => ("False", "True"),
        "done" => ("True", "True"),
        "stuck" => ("False", "False"),
        _ => panic!("{text}"),
    };
    let why = match words[0] {
        "listed" => Why::Listed,
        "added" => Why::Added,
        "modified" => Why::Modified,
        "deleted" => Why::Deleted,
        "vanished" => Why::Vanished,
        "left" => Why::LeftSelector,
        _ => panic!("{text}"),
    };
    event(why, &deployment(name, available, progressing))
}

/// The outcome after these events in words, and the objects that were printed as met.
fn told(goals: &str, asked: &SourceKey, text: &str) -> String {
    let goals: Vec<&str> = goals.split(' ').collect();
    let events: Vec<(usize, Event)> = story(text).into_iter().map(|event| (0, event)).collect();
    let (outcome, met) = after(&goals, std::slice::from_ref(asked), &events);
    let (word, lines) = match outcome {
        Outcome::Met => ("met", Vec::new()),
        Outcome::Failed(lines) => ("failed", lines),
        Outcome::Refused(lines) => ("refused", lines),
        Outcome::Open(names) => ("open", names),
        Outcome::Unread { unmet, unread } => ("unread", [unmet, unread].concat()),
    };
    let met = met.iter().map(|name| format!(" +{name}"));
    let lines = lines.iter().map(|line| format!(" {line}"));
    [word.to_owned()]
        .into_iter()
        .chain(lines)
        .chain(met)
        .collect()
}

fn check(asked: &SourceKey, table: &[(&str, &str, &str)]) {
    for (goals, text, expect) in table {
        assert_eq!(&told(goals, asked, text), expect, "{goals}: {text}");
    }
}

const AVAILABLE: &str = "condition=Available";

#[test]
fn a_named_object_meets_its_goal() {
    const OPEN: &str = "open deployments/web";
    const UNREAD: &str = "unread deployments/web: not read: the server has not answered";
    const MET: &str = "met +deployment.apps/web";
    let table = [
        (AVAILABLE, "", UNREAD),
        (AVAILABLE, "listed web, synced", OPEN),
        (AVAILABLE, "listed web done, synced", MET),
        (AVAILABLE, "listed web, synced, modified web done", MET),
        // A met goal stays met.
        (AVAILABLE, "listed web done, modified web", MET),
        (AVAILABLE, "listed web done, deleted web done", MET),
        // The verb waits for the object.
        (AVAILABLE, "synced", OPEN),
        (AVAILABLE, "synced, added web done", MET),
        ("create", "synced", OPEN),
        ("create", "synced, added web stuck", MET),
        ("delete", "synced", "met"),
        ("delete", "listed web stuck, synced", OPEN),
        ("delete", "listed web, deleted web, added web", MET),
        // Several goals are met in order.
        ("create condition=Available", "synced, added web", OPEN),
        (
            "create condition=Available",
            "synced, added web, modified web done",
            MET,
        ),
        ("condition=Available delete", "listed web done", OPEN),
        (
            "condition=Available delete",
            "listed web done, deleted web",
            MET,
        ),
    ];
    check(&deployments(Some("web")), &table);
}

#[test]
fn a_named_object_fails() {
    let web = deployments(Some("web"));
    let stuck = "failed error: deployment.apps/web has failed: no progress for 600s";
    let gone = "failed error: deployment.apps/web was deleted before the condition was met";
    let table = [
        (AVAILABLE, "listed web stuck", stuck),
        (
            AVAILABLE,
            "listed web stuck, modified web",
            "open deployments/web",
        ),
        (
            "condition=Progressing=False",
            "listed web stuck",
            "met +deployment.apps/web",
        ),
        (AVAILABLE, "listed web, deleted web", gone),
        // A second object of that name does not count.
        (AVAILABLE, "listed web, vanished web, listed web done", gone),
    ];
    check(&web, &table);
}

#[test]
fn all_objects_of_a_wide_source_must_meet_the_goal() {
    const NOTHING: &str = "open deployments: no matching resources found";
    let table = [
        (AVAILABLE, "synced", NOTHING),
        // Until the listing is complete, more objects may come.
        (
            AVAILABLE,
            "listed a done",
            "unread deployments: not read to the end +deployment.apps/a",
        ),
        (AVAILABLE, "listed a done, synced", "met +deployment.apps/a"),
        (
            AVAILABLE,
            "listed a done, listed b, synced",
            "open deployments/b +deployment.apps/a",
        ),
        (
            AVAILABLE,
            "listed a done, listed b, synced, modified b done",
            "met +deployment.apps/a +deployment.apps/b",
        ),
        (
            AVAILABLE,
            "listed a done, listed b stuck",
            "failed error: deployment.apps/b has failed: no progress for 600s +deployment.apps/a",
        ),
        // The verb does not wait for deleted objects, or for those that no longer match.
        (
            AVAILABLE,
            "synced, added a done, deleted a",
            "met +deployment.apps/a",
        ),
        (
            AVAILABLE,
            "listed a done, listed b, synced, deleted b",
            "met +deployment.apps/a",
        ),
        (
            AVAILABLE,
            "listed a done, listed b, synced, left b",
            "met +deployment.apps/a",
        ),
        (AVAILABLE, "listed b, synced, deleted b", NOTHING),
        ("delete", "synced", "met"),
        (
            "delete",
            "listed a, listed b, synced",
            "open deployments/a deployments/b",
        ),
        (
            "delete",
            "listed a, listed b, synced, deleted a, vanished b",
            "met +deployment.apps/a +deployment.apps/b",
        ),
        ("create", "synced", NOTHING),
        ("create", "listed a stuck, synced", "met +deployment.apps/a"),
    ];
    check(&deployments(None), &table);
}

#[test]
fn without_a_goal_the_wait_is_never_decided() {
    let events = [(0, step("listed web stuck"))];
    let (stands, told) = after(&[], &[deployments(Some("web"))], &events);
    assert_eq!((stands, told.len()), (Outcome::Met, 0));
}

#[test]
fn the_objects_of_every_source_must_meet_the_goal() {
    let asked = [deployments(Some("a")), deployments(Some("b"))];
    let goal = ["condition=Available"];
    let done = |name| event(Why::Listed, &deployment(name, "True", "True"));
    let (stands, _) = after(&goal, &asked, &[(0, done("a"))]);
    let silent = |name| format!("deployments/{name}: not read: the server has not answered");
    assert_eq!(stands, unread(&[], &[&silent("b")]));
    // What is known to be unmet is named, too.
    let late = event(Why::Listed, &deployment("a", "False", "True"));
    let (stands, _) = after(&goal, &asked, &[(0, late)]);
    assert_eq!(stands, unread(&["deployments/a"], &[&silent("b")]));
    let (stands, told) = after(&goal, &asked, &[(0, done("a")), (1, done("b"))]);
    assert_eq!((stands, told.len()), (Outcome::Met, 2));
    // An unreadable source is an error when there is nothing else to wait for.
    let (stands, _) = after(&goal, &asked, &[(1, forbidden())]);
    assert_eq!(stands, unread(&[], &[&silent("a")]));
    let (stands, _) = after(&goal, &asked, &[(0, done("a")), (1, forbidden())]);
    assert_eq!(
        stands,
        Outcome::Refused(vec!["Error from server (Forbidden): no".to_owned()])
    );
    let (stands, _) = after(
        &goal,
        &asked,
        &[
            (0, done("a")),
            (1, forbidden()),
            (1, done("b")),
            (1, synced(1)),
        ],
    );
    assert_eq!(stands, Outcome::Met);
}

#[test]
fn versions_read_back_after_an_interruption_count() {
    let mut hidden = event(Why::Modified, &deployment("web", "True", "True"));
    if let Event::Object { past, .. } = &mut hidden {
        *past = true;
    }
    let (stands, told) = after(
        &["condition=Available"],
        &[deployments(Some("web"))],
        &[(0, hidden)],
    );
    assert_eq!((stands, told.len()), (Outcome::Met, 1));
}

#[test]
fn an_error_names_ten_objects_and_counts_the_others() {
    let events: Vec<(usize, Event)> = (10..25)
        .map(|at| {
            (
                0,
                event(Why::Listed, &deployment(&format!("d{at}"), "False", "True")),
            )
        })
        .collect();
    let (stands, _) = after(&["condition=Available"], &[deployments(None)], &events);
    let Outcome::Open(names) = stands else {
        panic!("{stands:?}");
    };
    assert_eq!(
        (names.len(), &*names[0], &*names[10]),
        (11, "deployments/d10", "5 more")
    );
}

/// A wait for the Deployments of `shop` by a model that also follows their `ReplicaSets` and Pods.
struct Judged {
    asked: Vec<SourceKey>,
    sources: Vec<Arc<SourceKey>>,
    model: Model,
    waiting: Waiting,
    seconds: i64,
}

impl Judged {
    fn new(goals: &str, asked: SourceKey) -> Judged {
        let mut judged = Judged::unread(goals, asked);
        for at in 0..judged.sources.len() {
            judged.take(at, &synced(0));
        }
        judged
    }

    /// Before any source has answered.
    fn unread(goals: &str, asked: SourceKey) -> Judged {
        let dependents = ["apps/ReplicaSet", "/Pod", "/ConfigMap"].map(|kind| {
            let (group, kind) = kind.split_once('/').unwrap();
            SourceKey {
                scope: Scope::Namespace("shop".into()),
                ..SourceKey::all(group, kind)
            }
        });
        let sources: Vec<SourceKey> = [asked.clone()].into_iter().chain(dependents).collect();
        let goals: Vec<Goal> = goals.split(' ').map(|goal| goal.parse().unwrap()).collect();
        let asked = vec![asked];
        let mut model = Model::new(Rules::Spy, Retention::None);
        model.request(sources.clone());
        Judged {
            waiting: Waiting::new(&goals, &asked, Judge::Model),
            asked,
            sources: sources.into_iter().map(Arc::new).collect(),
            model,
            seconds: 0,
        }
    }

    fn now(&self) -> Timestamp {
        Timestamp::UNIX_EPOCH + jiff::SignedDuration::from_secs(self.seconds)
    }

    fn take(&mut self, source: usize, event: &Event) {
        let (source, now) = (self.sources[source].clone(), self.now());
        if self.asked.contains(&source) {
            self.waiting.apply(&source, event, now);
        }
        self.model.apply(&source, event, now);
    }

    /// The wait after an object of a source has changed, in words.
    fn put(&mut self, why: Why, source: usize, object: &Value) -> String {
        self.take(source, &event(why, object));
        self.after(0)
    }

    /// The wait after so many seconds, in words.
    fn after(&mut self, seconds: i64) -> String {
        self.seconds += seconds;
        let now = self.now();
        self.model.refresh(now);
        self.waiting.judge(|_| Some(&self.model), |_| now);
        let met = self.waiting.take_met().into_iter();
        let met: Vec<String> = met.map(|name| format!(" +{name}")).collect();
        let met = met.concat();
        match self.waiting.outcome() {
            Outcome::Met => format!("met{met}"),
            Outcome::Failed(lines) | Outcome::Refused(lines) => lines.join("; "),
            Outcome::Open(names) => format!("open {}{met}", names.join(" ")),
            Outcome::Unread { unread, .. } => format!("unread {}{met}", unread.join(" ")),
        }
    }
}

const DEPLOYMENT: usize = 0;
const SET: usize = 1;
const POD: usize = 2;

/// A Deployment with one replica, of this generation. `state` is `new` (not observed), `rolling` or `done`.
fn web(generation: i64, state: &str) -> Value {
    let (observed, count) = match state {
        "new" => (generation - 1, 1),
        "rolling" => (generation, 0),
        "done" => (generation, 1),
        _ => panic!("{state}"),
    };
    let available = if count == 1 { "True" } else { "False" };
    json!({
        "apiVersion": "apps/v1", "kind": "Deployment",
        "metadata": {"name": "web", "namespace": "shop", "uid": "uid-web", "generation": generation},
        "spec": {"replicas": 1, "template": {"spec": {"containers": [{"image": format!("web:{generation}")}]}}},
        "status": {
            "observedGeneration": observed,
            "replicas": count, "updatedReplicas": count, "readyReplicas": count, "availableReplicas": count,
            "conditions": [
                {"type": "Available", "status": available},
                {"type": "Progressing", "status": "True", "reason": "NewReplicaSetAvailable"},
            ],
        },
    })
}

/// The `ReplicaSet` of a generation.
fn set(generation: i64) -> Value {
    json!({
        "apiVersion": "apps/v1", "kind": "ReplicaSet",
        "metadata": {
            "name": format!("web-{generation}"), "namespace": "shop", "uid": format!("uid-set-{generation}"),
            "ownerReferences": [{"uid": "uid-web", "kind": "Deployment", "name": "web", "controller": true}],
        },
        "spec": {"replicas": 1, "template": {"spec": {"containers": [{"image": format!("web:{generation}")}]}}},
        "status": {"replicas": 1, "fullyLabeledReplicas": 1, "readyReplicas": 1, "availableReplicas": 1},
    })
}

/// The Pod of a generation. Its container runs, or waits for this reason.
fn pod(generation: i64, reason: &str) -> Value {
    let is_ready = reason.is_empty();
    let state = if is_ready {
        json!({"running": {}})
    } else {
        json!({"waiting": {"reason": reason, "message": "it says"}})
    };
    json!({
        "apiVersion": "v1", "kind": "Pod",
        "metadata": {
            "name": format!("web-{generation}-x"), "namespace": "shop", "uid": format!("uid-pod-{generation}"),
            "ownerReferences": [{
                "uid": format!("uid-set-{generation}"), "kind": "ReplicaSet", "name": "web", "controller": true,
            }],
        },
        "status": {
            "phase": if is_ready { "Running" } else { "Pending" },
            "conditions": [{"type": "Ready", "status": if is_ready { "True" } else { "False" }}],
            "containerStatuses": [{"name": "web", "ready": is_ready, "state": state}],
        },
    })
}

#[test]
fn a_rollout_is_met_when_everything_is_current() {
    let mut wait = Judged::new("current", deployments(Some("web")));
    insta::assert_snapshot!([
        wait.after(0),
        wait.put(Why::Added, DEPLOYMENT, &web(1, "new")),
        wait.put(Why::Added, SET, &set(1)),
        wait.put(Why::Modified, DEPLOYMENT, &web(1, "rolling")),
        wait.put(Why::Added, POD, &pod(1, "ContainerCreating")),
        // The Deployment reports its Pod before the Pod itself arrives.
        wait.put(Why::Modified, DEPLOYMENT, &web(1, "done")),
        wait.put(Why::Modified, POD, &pod(1, "")),
        // It must be Current at the end.
        wait.put(Why::Modified, DEPLOYMENT, &web(2, "new")),
        wait.put(Why::Modified, DEPLOYMENT, &web(1, "done")),
        wait.put(Why::Deleted, DEPLOYMENT, &web(1, "done")),
    ].join("\n"), @"
    open deployments/web
    open deployments/web: Deployment generation is 1, but latest observed generation is 0
    open deployments/web: Deployment generation is 1, but latest observed generation is 0
    open deployments/web: Replicas: 0/1
    open deployments/web: Replicas: 0/1: pod/web-1-x: Pod is in the Pending phase
    open deployments/web: pod/web-1-x: Pod is in the Pending phase
    met +deployment.apps/web
    open deployments/web: Deployment generation is 2, but latest observed generation is 1
    met
    error: deployment.apps/web was deleted before the condition was met
    ");
}

#[test]
fn a_bad_image_ends_the_wait_and_the_last_one_does_not() {
    let mut wait = Judged::new("ready", deployments(Some("web")));
    insta::assert_snapshot!([
        // The Pods of the first generation fail, but the second is not observed yet.
        wait.put(Why::Listed, SET, &set(1)),
        wait.put(Why::Listed, POD, &pod(1, "ImagePullBackOff")),
        wait.put(Why::Listed, DEPLOYMENT, &web(2, "new")),
        // Now it is observed, and its ReplicaSet exists.
        wait.put(Why::Modified, DEPLOYMENT, &web(2, "rolling")),
        wait.put(Why::Added, SET, &set(2)),
        wait.put(Why::Added, POD, &pod(2, "ContainerCreating")),
        wait.put(Why::Modified, POD, &pod(2, "ImagePullBackOff")),
    ].join("\n"), @"
    open deployments/web
    open deployments/web
    open deployments/web: Deployment generation is 2, but latest observed generation is 1
    open deployments/web: Replicas: 0/1
    open deployments/web: Replicas: 0/1
    open deployments/web: Replicas: 0/1: pod/web-2-x: Pod is in the Pending phase
    error: deployment.apps/web has failed: 0 of 1 pods ready: 1 ImagePullBackOff: pod/web-2-x: web: it says
    ");
}

#[test]
fn a_crash_loop_has_two_minutes_to_end() {
    let crashing = || {
        let mut wait = Judged::new("current", deployments(Some("web")));
        wait.put(Why::Listed, SET, &set(1));
        wait.put(Why::Listed, DEPLOYMENT, &web(1, "rolling"));
        let word = wait.put(Why::Listed, POD, &pod(1, "CrashLoopBackOff"));
        (wait, word)
    };
    let (mut lost, first) = crashing();
    let (mut saved, _) = crashing();
    insta::assert_snapshot!([
        first,
        lost.after(119),
        // It runs for a moment, but is not ready.
        lost.put(Why::Modified, POD, &pod(1, "ContainerCreating")),
        lost.put(Why::Modified, POD, &pod(1, "CrashLoopBackOff")),
        lost.after(1),
        saved.after(119),
        saved.put(Why::Modified, POD, &pod(1, "")),
        saved.put(Why::Modified, DEPLOYMENT, &web(1, "done")),
    ].join("\n"), @"
    open deployments/web: 0 of 1 pods ready: 1 CrashLoopBackOff: pod/web-1-x: web: CrashLoopBackOff: it says
    open deployments/web: 0 of 1 pods ready: 1 CrashLoopBackOff: pod/web-1-x: web: CrashLoopBackOff: it says
    open deployments/web: Replicas: 0/1: pod/web-1-x: Pod is in the Pending phase
    open deployments/web: 0 of 1 pods ready: 1 CrashLoopBackOff: pod/web-1-x: web: CrashLoopBackOff: it says
    error: deployment.apps/web has failed: 0 of 1 pods ready: 1 CrashLoopBackOff: pod/web-1-x: web: CrashLoopBackOff: it says
    open deployments/web: 0 of 1 pods ready: 1 CrashLoopBackOff: pod/web-1-x: web: CrashLoopBackOff: it says
    open deployments/web: Replicas: 0/1
    met +deployment.apps/web
    ");
}

#[test]
fn the_goals_of_kubectl_wait_fail_with_the_dependents() {
    let mut wait = Judged::new("condition=Available", deployments(Some("web")));
    wait.put(Why::Listed, SET, &set(1));
    wait.put(Why::Listed, DEPLOYMENT, &web(1, "rolling"));
    let end = wait.put(Why::Listed, POD, &pod(1, "ErrImagePull"));
    insta::assert_snapshot!(end, @"error: deployment.apps/web has failed: 0 of 1 pods ready: 1 ImagePullBackOff: pod/web-1-x: web: it says");
}

#[test]
fn several_goals_may_include_current() {
    let mut wait = Judged::new(
        "current condition=Available deleted",
        deployments(Some("web")),
    );
    insta::assert_snapshot!([
        wait.put(Why::Listed, DEPLOYMENT, &web(1, "rolling")),
        wait.put(Why::Modified, DEPLOYMENT, &web(1, "done")),
        wait.put(Why::Deleted, DEPLOYMENT, &web(1, "done")),
    ].join("\n"), @"
    open deployments/web: Replicas: 0/1
    open deployments/web
    met +deployment.apps/web
    ");
}

#[test]
fn every_object_of_a_wide_source_must_be_current_at_the_same_time() {
    let named = |name: &str, state: &str| {
        let mut object = web(1, state);
        object["metadata"]["name"] = json!(name);
        object["metadata"]["uid"] = json!(name);
        object
    };
    let mut wait = Judged::new("current", deployments(None));
    insta::assert_snapshot!([
        wait.put(Why::Listed, DEPLOYMENT, &named("a", "done")),
        wait.put(Why::Added, DEPLOYMENT, &named("b", "rolling")),
        wait.put(Why::Modified, DEPLOYMENT, &named("a", "rolling")),
        wait.put(Why::Modified, DEPLOYMENT, &named("b", "done")),
        wait.put(Why::Modified, DEPLOYMENT, &named("a", "done")),
    ].join("\n"), @"
    met +deployment.apps/a
    open deployments/b: Replicas: 0/1
    open deployments/a: Replicas: 0/1 deployments/b: Replicas: 0/1
    open deployments/a: Replicas: 0/1 +deployment.apps/b
    met
    ");
}

/// A Pod of generation 1 whose container waits in a crash loop. The instance with this number has died last.
fn crashed(instance: u32) -> Value {
    let mut pod = pod(1, "CrashLoopBackOff");
    let status = &mut pod["status"]["containerStatuses"][0];
    status["restartCount"] = json!(instance);
    status["lastState"] =
        json!({"terminated": {"exitCode": 1, "containerID": format!("id-{instance}")}});
    pod["status"]["phase"] = json!("Running");
    pod
}

/// The same Pod while the next instance runs and is not ready.
fn restarted(instance: u32) -> Value {
    let mut pod = crashed(instance);
    pod["status"]["containerStatuses"][0]["state"] = json!({"running": {}});
    pod
}

#[test]
fn the_third_dead_instance_ends_the_wait() {
    let mut wait = Judged::new("current", deployments(Some("web")));
    wait.put(Why::Listed, SET, &set(1));
    wait.put(Why::Listed, DEPLOYMENT, &web(1, "rolling"));
    insta::assert_snapshot!([
        wait.put(Why::Added, POD, &crashed(1)),
        // The same death again.
        wait.put(Why::Modified, POD, &crashed(1)),
        wait.put(Why::Modified, POD, &crashed(1)),
        wait.put(Why::Modified, POD, &restarted(1)),
        wait.put(Why::Modified, POD, &crashed(2)),
        wait.put(Why::Modified, POD, &restarted(2)),
        wait.put(Why::Modified, POD, &crashed(3)),
    ].join("\n"), @"
    open deployments/web: 0 of 1 pods ready: 1 CrashLoopBackOff: pod/web-1-x: web: CrashLoopBackOff, exit 1, 1 restart
    open deployments/web: 0 of 1 pods ready: 1 CrashLoopBackOff: pod/web-1-x: web: CrashLoopBackOff, exit 1, 1 restart
    open deployments/web: 0 of 1 pods ready: 1 CrashLoopBackOff: pod/web-1-x: web: CrashLoopBackOff, exit 1, 1 restart
    open deployments/web: Replicas: 0/1: pod/web-1-x: web: running, not ready
    open deployments/web: 0 of 1 pods ready: 1 CrashLoopBackOff: pod/web-1-x: web: CrashLoopBackOff, exit 1, 2 restarts
    open deployments/web: Replicas: 0/1: pod/web-1-x: web: running, not ready
    error: deployment.apps/web has failed: 0 of 1 pods ready: 1 CrashLoopBackOff: pod/web-1-x: web: CrashLoopBackOff, exit 1, 3 restarts
    ");
}

#[test]
fn deaths_before_the_model_is_up_to_date_count() {
    let mut wait = Judged::unread("current", deployments(Some("web")));
    wait.put(Why::Listed, DEPLOYMENT, &web(1, "rolling"));
    wait.put(Why::Listed, SET, &set(1));
    let deaths = (1..=3).map(|instance| {
        wait.put(Why::Modified, POD, &crashed(instance));
    });
    deaths.for_each(drop);
    for at in 0..wait.sources.len() {
        wait.take(at, &synced(0));
    }
    let judged = wait.after(0);
    assert!(
        judged.starts_with("error: deployment.apps/web has failed"),
        "{judged}"
    );
}

#[test]
fn a_container_that_comes_up_after_two_deaths_has_not_failed() {
    let mut wait = Judged::new("current", deployments(Some("web")));
    wait.put(Why::Listed, SET, &set(1));
    wait.put(Why::Listed, DEPLOYMENT, &web(1, "rolling"));
    wait.put(Why::Added, POD, &crashed(1));
    wait.put(Why::Modified, POD, &crashed(2));
    wait.put(Why::Modified, POD, &pod(1, ""));
    let up = wait.put(Why::Modified, DEPLOYMENT, &web(1, "done"));
    // Its deaths before that no longer count.
    wait.put(Why::Modified, DEPLOYMENT, &web(1, "rolling"));
    let again = wait.put(Why::Modified, POD, &crashed(3));
    insta::assert_snapshot!([up, again].join("\n"), @"
    met +deployment.apps/web
    open deployments/web: 0 of 1 pods ready: 1 CrashLoopBackOff: pod/web-1-x: web: CrashLoopBackOff, exit 1, 3 restarts
    ");
}

#[test]
fn the_deaths_before_the_wait_and_of_the_last_revision_do_not_count() {
    // The Pod restarted nine times before the wait.
    let mut wait = Judged::new("current", deployments(Some("web")));
    wait.put(Why::Listed, SET, &set(1));
    wait.put(Why::Listed, DEPLOYMENT, &web(1, "rolling"));
    wait.put(Why::Listed, POD, &crashed(9));
    let second = wait.put(Why::Modified, POD, &crashed(10));
    wait.put(Why::Modified, DEPLOYMENT, &web(2, "rolling"));
    wait.put(Why::Added, SET, &set(2));
    let of_old = wait.put(Why::Modified, POD, &crashed(11));
    insta::assert_snapshot!([second, of_old].join("\n"), @"
    open deployments/web: 0 of 1 pods ready: 1 CrashLoopBackOff: pod/web-1-x: web: CrashLoopBackOff, exit 1, 10 restarts
    open deployments/web: Replicas: 0/1
    ");
}

#[test]
fn the_number_of_deaths_can_be_chosen() {
    let mut wait = Judged::new("current", deployments(Some("web")));
    wait.waiting.restarts = 1;
    wait.put(Why::Listed, SET, &set(1));
    wait.put(Why::Listed, DEPLOYMENT, &web(1, "rolling"));
    let first = wait.put(Why::Added, POD, &crashed(0));
    assert!(
        first.starts_with("error: deployment.apps/web has failed"),
        "{first}"
    );
}

#[test]
fn a_pod_alone_has_deaths_too() {
    let pods = SourceKey {
        scope: Scope::Namespace("shop".into()),
        select: Select::Name("web-1-x".into()),
        ..SourceKey::all("", "Pod")
    };
    let events: Vec<(usize, Event)> = (1..=3)
        .map(|instance| (0, event(Why::Modified, &crashed(instance))))
        .collect();
    let goal = ["condition=Ready"];
    let (outcome, _) = after(&goal, std::slice::from_ref(&pods), &events[..2]);
    assert_eq!(outcome, Outcome::Open(vec!["pods/web-1-x".to_owned()]));
    let (outcome, _) = after(&goal, std::slice::from_ref(&pods), &events);
    assert!(matches!(outcome, Outcome::Failed(_)), "{outcome:?}");
}

#[test]
fn an_object_at_its_end_cannot_meet_some_goals() {
    let pods = SourceKey {
        scope: Scope::Namespace("shop".into()),
        ..SourceKey::all("", "Pod")
    };
    let mut ended = pod(1, "");
    ended["status"]["phase"] = json!("Succeeded");
    ended["status"]["conditions"][0]["status"] = json!("False");
    let told = |events: &[Event]| {
        let events: Vec<(usize, Event)> = events.iter().map(|event| (0, event.clone())).collect();
        after(&["condition=Ready"], std::slice::from_ref(&pods), &events).0
    };
    let never = "error: pod/web-1-x can never be Ready: it has completed (Succeeded)";
    let failed = Outcome::Failed(vec![never.to_owned()]);
    assert_eq!(told(&[event(Why::Listed, &ended), synced(1)]), failed);
    let running = pod(1, "ContainerCreating");
    let running = event(Why::Listed, &running);
    assert_eq!(
        told(&[running, synced(1), event(Why::Modified, &ended)]),
        failed
    );
    // A met goal stays met.
    let ready = event(Why::Listed, &pod(1, ""));
    assert_eq!(
        told(&[ready, synced(1), event(Why::Modified, &ended)]),
        Outcome::Met
    );
}

#[test]
fn a_rollout_is_settled_when_its_old_pods_are_gone() {
    let mut wait = Judged::new("settled", deployments(Some("web")));
    let mut old = pod(1, "");
    wait.put(Why::Listed, SET, &set(1));
    wait.put(Why::Listed, POD, &old);
    wait.put(Why::Listed, DEPLOYMENT, &web(1, "done"));
    wait.put(Why::Modified, DEPLOYMENT, &web(2, "rolling"));
    wait.put(Why::Added, SET, &set(2));
    old["metadata"]["deletionTimestamp"] = json!("1970-01-01T00:00:30Z");
    wait.put(Why::Modified, POD, &old);
    let new = wait.put(Why::Added, POD, &pod(2, ""));
    let current = wait.put(Why::Modified, DEPLOYMENT, &web(2, "done"));
    let gone = wait.put(Why::Deleted, POD, &old);
    // It must be settled at the end.
    let mut extra = pod(2, "");
    extra["metadata"]["deletionTimestamp"] = json!("1970-01-01T00:00:30Z");
    let again = wait.put(Why::Modified, POD, &extra);
    insta::assert_snapshot!([new, current, gone, again].join("\n"), @"
    open deployments/web: Replicas: 0/1
    open deployments/web: pod/web-1-x is still being deleted
    met
    open deployments/web: pod/web-2-x is still being deleted
    ");
}

#[test]
fn an_old_pod_can_outlive_its_replica_set() {
    let mut wait = Judged::new("settled", deployments(Some("web")));
    let mut deployment = web(2, "done");
    deployment["spec"]["selector"] = json!({"matchLabels": {"app": "web"}});
    let mut old = pod(1, "");
    old["metadata"]["deletionTimestamp"] = json!("1970-01-01T00:00:30Z");
    old["metadata"]["labels"] = json!({"app": "other"});
    wait.put(Why::Listed, POD, &old);
    wait.put(Why::Listed, SET, &set(2));
    wait.put(Why::Listed, POD, &pod(2, ""));
    let of_another = wait.put(Why::Listed, DEPLOYMENT, &deployment);
    old["metadata"]["labels"] = json!({"app": "web"});
    let of_it = wait.put(Why::Modified, POD, &old);
    let gone = wait.put(Why::Deleted, POD, &old);
    insta::assert_snapshot!([of_another, of_it, gone].join("\n"), @"
    met +deployment.apps/web
    open deployments/web: pod/web-1-x is still being deleted
    met
    ");
}

#[test]
fn a_wait_names_its_first_late_part() {
    let mut wait = Judged::new("current", deployments(Some("web")));
    let mut unready = pod(1, "");
    unready["status"]["conditions"][0]["status"] = json!("False");
    unready["status"]["containerStatuses"][0]["ready"] = json!(false);
    let mut behind = set(1);
    behind["status"]["readyReplicas"] = json!(0);
    behind["status"]["availableReplicas"] = json!(0);
    wait.put(Why::Listed, SET, &behind);
    wait.put(Why::Listed, DEPLOYMENT, &web(1, "rolling"));
    let without_pods = wait.after(0);
    let with_pod = wait.put(Why::Added, POD, &unready);
    let line = wait.waiting.waits_for();
    insta::assert_snapshot!([without_pods, with_pod, line.unwrap()].join("\n"), @"
    open deployments/web: Replicas: 0/1
    open deployments/web: Replicas: 0/1: pod/web-1-x: web: running, not ready
    deployment/web: Replicas: 0/1: pod/web-1-x: web: running, not ready
    ");
}

#[test]
fn a_wait_names_what_it_waits_for() {
    let line = |goals: &str, asked: SourceKey, events: &[Event]| {
        let goals: Vec<Goal> = goals.split(' ').map(|goal| goal.parse().unwrap()).collect();
        let mut waiting = Waiting::new(&goals, std::slice::from_ref(&asked), Judge::Versions);
        for event in events {
            waiting.apply(&asked, event, Timestamp::UNIX_EPOCH);
        }
        waiting.judge(|_| None, |_| Timestamp::UNIX_EPOCH);
        waiting.waits_for().unwrap_or_default()
    };
    let web = || deployments(Some("web"));
    insta::assert_snapshot!([
        line(AVAILABLE, web(), &[]),
        line(AVAILABLE, web(), &[synced(0)]),
        line(AVAILABLE, web(), &[step("listed web"), synced(1)]),
        line(AVAILABLE, web(), &[step("listed web done"), synced(1)]),
        line(AVAILABLE, deployments(None), &[]),
        line(AVAILABLE, deployments(None), &[synced(0)]),
        line(AVAILABLE, deployments(None), &[step("listed a"), step("listed b"), step("listed c done"), step("listed d")]),
        line("delete", web(), &[step("listed web"), synced(1)]),
    ].join("\n"), @"
    deployment/web: not read: the server has not answered
    deployment/web: does not exist
    deployment/web: not yet condition=Available=true

    deployments: not read: the server has not answered
    deployments: no matching resources found
    deployment/a: not yet condition=Available=true (and 2 more)
    deployment/web: not yet delete
    ");
}
