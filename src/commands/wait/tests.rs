//! Tests of the progress of objects towards their goals, event by event.

use std::sync::Arc;

use jiff::Timestamp;
use serde_json::{Value, json};

use super::waiting::{Outcome, Waiting};
use crate::object::{Doc, ObjectRef, ResourceVersion};
use crate::source::{Event, Scope, Select, SourceKey, SourceState, Version, Why};
use crate::status::Goal;

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
            object,
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
    let mut waiting = Waiting::new(&goals, asked);
    for (key, event) in events {
        waiting.apply(&asked[*key], event, Timestamp::UNIX_EPOCH);
    }
    let met = waiting.take_met();
    let is_open = matches!(waiting.outcome(), Outcome::Open(_));
    assert_eq!(waiting.is_decided(), !is_open && !goals.is_empty());
    (waiting.outcome(), met)
}

fn open(names: &[&str]) -> Outcome {
    Outcome::Open(names.iter().map(|&name| name.to_owned()).collect())
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
    const MET: &str = "met +deployment.apps/web";
    let table = [
        (AVAILABLE, "", OPEN),
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
    let stuck = "failed error: deployments.apps/web has failed: Progress deadline exceeded";
    let gone = "failed error: deployments.apps/web was deleted before the condition was met";
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
            &format!("{NOTHING} +deployment.apps/a"),
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
            "failed error: deployments.apps/b has failed: Progress deadline exceeded +deployment.apps/a",
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
    assert_eq!(stands, open(&["deployments/b"]));
    let (stands, told) = after(&goal, &asked, &[(0, done("a")), (1, done("b"))]);
    assert_eq!((stands, told.len()), (Outcome::Met, 2));
    // An unreadable source is an error when there is nothing else to wait for.
    let (stands, _) = after(&goal, &asked, &[(1, forbidden())]);
    assert_eq!(stands, open(&["deployments/a"]));
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
