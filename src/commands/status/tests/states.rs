//! Tests of the state: which sources it follows, and which states it shows.

use super::super::transitions::Transitions;
use super::*;
use crate::model::Collapsed;
use crate::source::{Event, SourceState};
use crate::status::Status;

fn spelled(state: &StatusState) -> Vec<String> {
    let key = |key: &SourceKey| key.to_string();
    state.model.coverage().sources().map(key).collect()
}

fn status_of(cluster: &Cluster, name: &str) -> Option<Status> {
    let rows = cluster.state.rows();
    let item = rows.iter().find(|item| &*item.object.name == name)?;
    Some(item.assessment.status())
}

#[test]
fn sources_are_as_narrow_as_the_selector() {
    let objects = deployment_of((1, 1), |_| running());
    let cluster = Cluster::of(state([one(DEPLOYMENTS, "web")]), objects);
    assert_eq!(
        spelled(&cluster.state),
        [
            "deployments.apps/web in namespace \"shop\"",
            "replicasets.apps in namespace \"shop\" with labels app=web",
            "pods in namespace \"shop\" with labels app=web",
        ]
    );
}

/// The followed sources, and how many objects are collapsed, all and not Current.
fn followed(cluster: &Cluster) -> (usize, usize, usize) {
    let Collapsed { all, unwell } = cluster.state.collapsed();
    let sources = cluster.state.model.coverage().sources().count();
    (sources, all, unwell)
}

/// Deployments `web-0`, `web-1`, …, each with its own selector, of which these are stuck.
fn deployments(count: i64, stuck: &[i64]) -> Vec<Value> {
    let deployment = |number| {
        let name = format!("web-{number}");
        let ready = i64::from(!stuck.contains(&number));
        let labels = json!({"spec": {"selector": {"matchLabels": {"app": &name}}}});
        merged(workload("Deployment", &name, (1, ready)), labels)
    };
    (0..count).map(deployment).collect()
}

#[test]
fn of_many_objects_only_those_not_current_are_expanded() {
    let many = |count, stuck: &[i64]| {
        let deployments = deployments(count, stuck);
        followed(&Cluster::of(state([all(DEPLOYMENTS)]), deployments))
    };
    assert_eq!(many(8, &[]), (1 + 16, 0, 0));
    assert_eq!(many(9, &[]), (1, 9, 0));
    assert_eq!(many(10, &[2, 5, 7]), (1 + 6, 7, 0), "three are expanded");
    let stuck: Vec<i64> = (0..12).collect();
    assert_eq!(
        many(20, &stuck),
        (1 + 2, 8, 0),
        "two lists have the dependents of twelve"
    );
}

#[test]
fn objects_in_many_namespaces_are_expanded_in_a_few() {
    let everywhere = SourceKey {
        scope: Scope::Cluster,
        ..all(DEPLOYMENTS)
    };
    let stuck: Vec<i64> = (0..30).collect();
    let spread = deployments(30, &stuck).into_iter().enumerate();
    let spread = spread.map(|(place, mut deployment)| {
        let namespace = format!("n{}", place % 10);
        merge(
            &mut deployment,
            json!({"metadata": {"namespace": namespace}}),
        );
        deployment
    });
    let cluster = Cluster::of(state([everywhere]), spread);
    // Three of each namespace, with two sources each.
    assert_eq!(followed(&cluster), (1 + 8 * 3 * 2, 6, 6));
}

/// The shown rows: the depth and the name of each.
fn outline(cluster: &Cluster) -> Vec<String> {
    let rows = cluster.state.rows();
    let rows = rows.iter();
    rows.map(|row| format!("{} {}", row.depth, row.object.name))
        .collect()
}

#[test]
fn a_list_of_dependents_shows_only_those_of_the_expanded_objects() {
    let stuck: Vec<i64> = (0..9).collect();
    let mut objects = deployments(12, &stuck);
    for number in [0, 11] {
        let mut dependent = workload("ReplicaSet", &format!("rs-{number}"), (1, 0));
        own(&mut dependent, ("Deployment", &format!("web-{number}")));
        objects.push(dependent);
    }
    let mut cluster = Cluster::of(state([all(DEPLOYMENTS)]), objects.clone());
    let rows = outline(&cluster);
    assert_eq!(rows[..3], ["0 web-0", "1 rs-0", "0 web-1"]);
    assert!(!rows.contains(&"1 rs-11".to_owned()), "{rows:?}");
    // The lists stay when fewer objects are expanded.
    assert_eq!(followed(&cluster), (3, 3, 0));
    for better in deployments(12, &[0]) {
        cluster.write(&better, at(1));
    }
    cluster.settle(at(1));
    cluster.settle(at(20));
    let sources = spelled(&cluster.state);
    assert!(
        sources.contains(&"pods in namespace \"shop\"".to_owned()),
        "{sources:?}"
    );
    assert_eq!(cluster.state.collapsed().all, 11);
}

#[test]
fn a_list_replaces_the_selectors_when_it_is_read() {
    let eight: Vec<i64> = (0..8).collect();
    let mut cluster = Cluster::of(state([all(DEPLOYMENTS)]), deployments(12, &eight));
    assert_eq!(followed(&cluster), (1 + 16, 4, 0));
    for worse in deployments(12, &[8]) {
        cluster.write(&worse, at(1));
    }
    cluster.state.refresh(at(1));
    assert_eq!(followed(&cluster), (1 + 16 + 2, 3, 0));
    cluster.settle(at(1));
    assert_eq!(followed(&cluster), (1 + 2, 3, 0));
}

#[test]
fn objects_without_dependents_are_never_collapsed() {
    let mut objects = deployment_of((1, 1), |_| running());
    for number in 0..20 {
        let name = format!("more-{number}");
        objects.push(pod(&name, ("ReplicaSet", "x"), running()));
    }
    let cluster = Cluster::of(state([all(DEPLOYMENTS), all(PODS)]), objects);
    assert_eq!(followed(&cluster), (3, 0, 0), "the Pods are read already");
}

/// The roots in their order, without the common start of their names.
fn order(cluster: &Cluster) -> String {
    let rows = cluster.state.rows();
    let roots = rows.iter().filter(|row| row.depth == 0);
    let names: Vec<_> = roots
        .map(|row| row.object.name.replace("web-", ""))
        .collect();
    names.join(" ")
}

#[test]
fn an_object_that_gets_worse_moves_up_at_once_and_down_only_after_a_while() {
    let mut cluster = Cluster::of(state([all(DEPLOYMENTS)]), deployments(9, &[]));
    assert_eq!(order(&cluster), "0 1 2 3 4 5 6 7 8");
    let mut write = |second, stuck: &[i64]| {
        for deployment in deployments(9, stuck) {
            cluster.write(&deployment, at(second));
        }
        cluster.settle(at(second));
        (order(&cluster), followed(&cluster).1)
    };
    assert_eq!(write(1, &[4]), ("4 0 1 2 3 5 6 7 8".into(), 8));
    assert_eq!(write(2, &[7]), ("4 7 0 1 2 3 5 6 8".into(), 7));
    assert_eq!(write(3, &[]), ("4 7 0 1 2 3 5 6 8".into(), 7));
    assert_eq!(
        write(4, &[4]),
        ("4 7 0 1 2 3 5 6 8".into(), 7),
        "nothing jumps"
    );
    assert_eq!(write(13, &[4]), ("4 0 1 2 3 5 6 7 8".into(), 8));
}

#[test]
fn named_objects_keep_their_order_and_come_first() {
    let requested = [
        one(DEPLOYMENTS, "web-3"),
        one(DEPLOYMENTS, "web-1"),
        all(DEPLOYMENTS),
    ];
    let cluster = Cluster::of(state(requested), deployments(5, &[1, 4]));
    assert_eq!(order(&cluster), "3 1 4 0 2");
}

#[test]
fn objects_of_dropped_sources_are_removed() {
    let mut cluster = Cluster::of(
        state([all(DEPLOYMENTS)]),
        deployment_of((2, 2), |_| running()),
    );
    assert_eq!(cluster.state.rows().len(), 4);
    for number in 0..8 {
        let name = format!("more-{number}");
        cluster.write(&workload("Deployment", &name, (1, 1)), at(1));
    }
    cluster.settle(at(1));
    assert_eq!(cluster.state.rows().len(), 9, "nine rows, and no trees");
    let mut outline = cluster.state.rows().into_iter();
    assert!(outline.all(|item| item.worst().is_none()));
    cluster.delete("more-0", at(2));
    cluster.settle(at(2));
    cluster.settle(at(7));
    assert_eq!(cluster.state.rows().len(), 8 + 3);
}

#[test]
fn only_dependents_are_shown() {
    let mut objects = deployment_of((1, 1), |_| running());
    objects.push(pod("stray", ("ReplicaSet", "another"), running()));
    let cluster = Cluster::of(state([one(DEPLOYMENTS, "web")]), objects);
    assert_eq!(cluster.state.rows().len(), 3);
    assert_eq!(status_of(&cluster, "stray"), None);
}

#[test]
fn an_object_requested_twice_has_one_row_below_its_owner() {
    let requested = [
        one(PODS, "web-a-000"),
        one(DEPLOYMENTS, "web"),
        one(REPLICA_SETS, "web-a"),
    ];
    let cluster = Cluster::of(state(requested), deployment_of((1, 1), |_| running()));
    let outline: Vec<_> = cluster
        .state
        .rows()
        .iter()
        .map(|item| format!("{} {}", item.depth, item.object))
        .collect();
    assert_eq!(
        outline,
        ["0 deployment/web", "1 replicaset/web-a", "2 pod/web-a-000"]
    );
}

#[test]
fn cycles_of_owners_and_empty_objects_are_shown() {
    let mut ring = [
        workload("Deployment", "a", (1, 1)),
        workload("Deployment", "b", (1, 1)),
    ];
    own(&mut ring[0], ("Deployment", "b"));
    own(&mut ring[1], ("Deployment", "a"));
    let bare = json!({
        "apiVersion": "apps/v1", "kind": "Deployment",
        "metadata": {"name": "c", "namespace": "shop", "ownerReferences": 7, "labels": []},
        "status": "none",
    });
    let cluster = Cluster::of(state([all(DEPLOYMENTS)]), ring.into_iter().chain([bare]));
    let names: Vec<_> = cluster
        .state
        .rows()
        .iter()
        .map(|item| (item.depth, item.object.name.to_string()))
        .collect();
    assert_eq!(names, [(0, "c".into()), (0, "a".into()), (1, "b".into())]);
}

#[test]
fn the_worst_state_is_that_of_the_current_revision() {
    let mut objects = deployment_of((2, 1), |number| match number {
        0 => running(),
        _ => waiting("ErrImagePull", "not found"),
    });
    let mut cluster = Cluster::of(state([one(DEPLOYMENTS, "web")]), objects.clone());
    let worst = |cluster: &Cluster| cluster.state.rows()[0].worst();
    assert_eq!(worst(&cluster), Some(Status::Failed));
    assert_eq!(status_of(&cluster, "web"), Some(Status::Failed));

    let mut new = workload("ReplicaSet", "web-b", (1, 1));
    own(&mut new, ("Deployment", "web"));
    let template = json!({"spec": {"template": {"spec": {"hostname": "b"}}}});
    merge(&mut new, template.clone());
    merge(&mut objects[0], template);
    cluster.write(&objects[0], at(1));
    cluster.write(&new, at(1));
    cluster.settle(at(1));
    assert_eq!(worst(&cluster), Some(Status::Current));
}

#[test]
fn a_deleted_object_stays_for_a_moment_and_is_followed_by_its_name() {
    let mut cluster = Cluster::of(
        state([one(DEPLOYMENTS, "web")]),
        deployment_of((1, 1), |_| running()),
    );
    for name in ["web", "web-a"] {
        cluster.delete(name, at(10));
    }
    let mut pod = pod("web-a-000", ("ReplicaSet", "web-a"), running());
    pod["metadata"]["deletionTimestamp"] = at(40).to_string().into();
    cluster.write(&pod, at(10));
    cluster.settle(at(10));
    assert_eq!(status_of(&cluster, "web"), Some(Status::NotFound));
    assert_eq!(status_of(&cluster, "web-a-000"), Some(Status::Terminating));

    cluster.settle(at(20));
    assert_eq!(
        status_of(&cluster, "web"),
        Some(Status::NotFound),
        "its pod is still there"
    );
    assert_eq!(cluster.state.absent().count(), 0);
    cluster.delete("web-a-000", at(40));
    cluster.settle(at(40));
    cluster.settle(at(45));
    assert_eq!(cluster.state.model.objects().count(), 0);
    assert_eq!(cluster.state.absent().count(), 1);

    let mut again = workload("Deployment", "web", (1, 1));
    again["metadata"]["uid"] = "uid-again".into();
    cluster.write(&again, at(50));
    cluster.settle(at(50));
    assert_eq!(status_of(&cluster, "web"), Some(Status::Current));
}

#[test]
fn an_object_that_leaves_the_selector_is_not_called_deleted() {
    let mut cluster = Cluster::of(
        state([all(PODS)]),
        [pod("a", ("ReplicaSet", "x"), running())],
    );
    cluster.lose("a", at(10));
    cluster.settle(at(10));
    assert_eq!(status_of(&cluster, "a"), Some(Status::Unknown));
    cluster.settle(at(15));
    assert_eq!(status_of(&cluster, "a"), None);
}

#[test]
fn one_source_losing_an_object_does_not_take_it_from_another() {
    let key = one(PODS, "web-a-000");
    let mut cluster = Cluster::of(
        state([one(DEPLOYMENTS, "web"), key]),
        deployment_of((1, 1), |_| running()),
    );
    let selected = cluster
        .state
        .model
        .coverage()
        .sources()
        .last()
        .cloned()
        .expect("pods by label");
    let held = pod("web-a-000", ("ReplicaSet", "web-a"), running()).to_string();
    let version = cluster::version(&held, 9);
    let event = cluster::event(&version, crate::source::Why::LeftSelector, at(5));
    cluster.state.apply(&shared(&selected), &event, at(5));
    cluster.settle(at(5));
    assert_eq!(status_of(&cluster, "web-a-000"), Some(Status::Current));
}

#[test]
fn time_alone_changes_a_verdict() {
    let mut waiting = pod("a", ("ReplicaSet", "x"), json!({}));
    waiting["status"] = json!({
        "phase": "Pending",
        "conditions": [{"type": "PodScheduled", "status": "False", "reason": "Unschedulable",
            "message": "0/3 nodes are available"}],
    });
    let mut cluster = Cluster::of(state([all(PODS)]), [waiting]);
    assert_eq!(status_of(&cluster, "a"), Some(Status::InProgress));
    assert!(!cluster.state.refresh(at(14)), "nothing is due");
    assert!(cluster.state.refresh(at(15)));
    assert_eq!(status_of(&cluster, "a"), Some(Status::Failed));
}

#[test]
fn a_burst_of_events_is_assessed_once() {
    let mut cluster = Cluster::of(state([all(PODS)]), []);
    for second in 0..100 {
        let restarts = json!({"restartCount": second});
        let container = merged(running(), restarts);
        cluster.write(&pod("a", ("ReplicaSet", "x"), container), at(second));
    }
    let mut transitions = Transitions::new(super::PLAIN);
    assert!(cluster.state.refresh(at(100)));
    assert_eq!(transitions.records(&cluster.state, at(100)).len(), 1);
    assert!(!cluster.state.refresh(at(100)));
}

#[test]
fn a_server_that_does_not_answer_does_not_hold_up_the_view() {
    let key = one(DEPLOYMENTS, "web");
    let mut state = state([key.clone()]);
    let say = |state: &mut StatusState, event: Event| state.apply(&shared(&key), &event, at(1));
    assert!(!state.model.is_presentable());
    for attempt in 1..=3 {
        let retrying = SourceState::Retrying {
            attempt,
            cause: "connection refused".into(),
            until: at(2),
            is_throttled: false,
        };
        say(&mut state, Event::State(retrying));
    }
    assert!(state.model.is_presentable() && !state.is_settled());
    say(&mut state, Event::State(SourceState::Live));
    assert!(
        !state.model.is_presentable(),
        "the listing is not complete yet"
    );
    say(&mut state, Event::synced(0));
    assert!(state.is_settled());
    assert_eq!(state.absent().count(), 1);
}

#[test]
fn two_spellings_of_a_selector_are_one_source() {
    let requested = SourceKey {
        select: Select::labelled("tier=web, app in (web)"),
        ..all(PODS)
    };
    let mut state = state([requested.clone()]);
    let canonical = SourceKey {
        select: Select::labelled("app=web,tier=web"),
        ..requested
    };
    state.apply(&shared(&canonical), &Event::synced(0), at(1));
    assert!(state.is_settled());
}
