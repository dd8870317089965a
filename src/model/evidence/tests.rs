//! Events explain what is not well, and only that.

use std::sync::Arc;

use super::super::Model;
use super::super::tests::{RETENTION, at, event, model, version};
use crate::object::Uid;
use crate::source::{Event, Scope, SourceKey, SourceState, Version, Why};

/// All objects of a kind in the namespace `shop`.
fn all(kind: &str) -> Arc<SourceKey> {
    Arc::new(SourceKey {
        scope: Scope::Namespace("shop".into()),
        ..SourceKey::all("", kind)
    })
}

fn pod(created: &str, ready: &str) -> Arc<Version> {
    version(&format!(
        r#"{{"apiVersion":"v1","kind":"Pod","metadata":{{"uid":"p","name":"web","namespace":"shop","creationTimestamp":"{created}"}},
            "status":{{"phase":"Running","conditions":[{{"type":"Ready","status":"{ready}","reason":"ContainersNotReady"}}]}}}}"#
    ))
}

const OLD: &str = "2026-01-01T00:00:00Z";

fn warning(name: &str, about: &str, message: &str) -> Arc<Version> {
    version(&format!(
        r#"{{"apiVersion":"v1","kind":"Event","metadata":{{"uid":"{name}","name":"{name}","namespace":"shop"}},
            "type":"Warning","reason":"Unhealthy","message":"{message}",
            "involvedObject":{{"apiVersion":"v1","kind":"Pod","namespace":"shop","name":"web","uid":"{about}"}}}}"#
    ))
}

/// A model of one Pod that follows all the sources that it asks for.
fn watching(pod: Arc<Version>) -> (Model, Arc<SourceKey>) {
    let pods = all("Pod");
    let mut model = model(RETENTION, &[&pods]);
    model.apply(&pods, &event(Why::Listed, pod), at(0));
    model.apply(&pods, &Event::synced(1), at(0));
    follow(&mut model, &pods);
    (model, pods)
}

fn follow(model: &mut Model, pods: &SourceKey) {
    model.refresh(at(0));
    let evidence = crate::model::evidence_sources::evidence_sources(model.around());
    model.objects.follow(vec![pods.clone()], evidence);
}

/// The state of the Pod, its causes, and the number of its events' sources.
fn shown(model: &mut Model) -> String {
    model.refresh(at(0));
    let pod = &model.object(&Uid::new("p")).expect("it exists").assessment;
    let causes: Vec<_> = pod.causes.iter().map(|cause| cause.text.as_str()).collect();
    format!(
        "{} {} {}",
        pod.status(),
        crate::model::evidence_sources::evidence_sources(model.around()).len(),
        causes.join("; ")
    )
}

#[test]
fn only_what_is_not_well_has_events() {
    let now = at(0).to_string();
    for (pod, expect) in [
        (pod(OLD, "True"), "Current 0 "),
        (pod(&now, "False"), "InProgress 0 ContainersNotReady"),
        (pod(OLD, "False"), "InProgress 1 ContainersNotReady"),
    ] {
        assert_eq!(shown(&mut watching(pod).0), expect);
    }
}

#[test]
fn events_come_and_go_and_never_change_a_state() {
    let (mut model, pods) = watching(pod(OLD, "False"));
    let events =
        Arc::new(crate::model::evidence_sources::evidence_sources(model.around()).remove(0));
    assert_eq!(
        events.select.field_selector().as_deref(),
        Some("type=Warning")
    );
    model.apply(
        &events,
        &event(Why::Listed, warning("a", "p", "HTTP 500")),
        at(0),
    );
    model.apply(
        &events,
        &event(Why::Listed, warning("b", "other", "no")),
        at(0),
    );
    model.apply(&events, &Event::synced(2), at(0));
    let unwell = "InProgress 1 ContainersNotReady; Unhealthy: HTTP 500";
    assert_eq!(shown(&mut model), unwell);
    assert_eq!(model.objects().count(), 1, "an event has no row");
    assert_eq!(
        model.object(&Uid::new("p")).expect("it exists").changed,
        None
    );
    model.apply(&pods, &event(Why::Modified, pod(OLD, "True")), at(0));
    assert_eq!(shown(&mut model), "Current 0 ");
    model.apply(&pods, &event(Why::Modified, pod(OLD, "False")), at(0));
    assert_eq!(shown(&mut model), unwell);
    model.apply(
        &events,
        &event(Why::Deleted, warning("a", "p", "HTTP 500")),
        at(0),
    );
    assert_eq!(shown(&mut model), "InProgress 1 ContainersNotReady");
}

#[test]
fn an_event_may_arrive_before_its_object() {
    let (mut model, pods) = watching(pod(OLD, "False"));
    let events =
        Arc::new(crate::model::evidence_sources::evidence_sources(model.around()).remove(0));
    for number in 0..2 * super::MAX_UNKNOWN_SUBJECTS {
        let name = format!("s{number}");
        let warning = warning(&name, &name, "stranger");
        model.apply(&events, &event(Why::Added, warning), at(0));
    }
    model.refresh(at(0));
    let kept = model
        .objects
        .evidence
        .sources
        .iter()
        .map(|(_, evidence)| match evidence {
            super::SourceEvidence::Warnings(warnings) => warnings.of_event.len(),
            super::SourceEvidence::Labels(labels) => labels.len(),
            super::SourceEvidence::Templates(templates) => templates.len(),
            super::SourceEvidence::Names(names) => names.len(),
            super::SourceEvidence::Objects(objects) => objects.len(),
        });
    assert_eq!(kept.sum::<usize>(), super::MAX_UNKNOWN_SUBJECTS);
    model.apply(
        &events,
        &event(Why::Added, warning("z", "q", "late")),
        at(0),
    );
    model.refresh(at(0));
    let late = pod(OLD, "False");
    let text = late.body.text().replace(r#""uid":"p""#, r#""uid":"q""#);
    model.apply(&pods, &event(Why::Added, version(&text)), at(0));
    model.refresh(at(0));
    let pod = &model.object(&Uid::new("q")).expect("it exists").assessment;
    assert!(
        pod.causes
            .iter()
            .any(|cause| cause.text == "Unhealthy: late"),
        "{:?}",
        pod.causes
    );
}

#[test]
fn warnings_about_a_node_stay_beside_many_about_unknown_objects() {
    let nodes = Arc::new(SourceKey::all("", "Node"));
    let mut model = model(RETENTION, &[&nodes]);
    let node = version(&format!(
        r#"{{"apiVersion":"v1","kind":"Node","metadata":{{"uid":"n","name":"n1","creationTimestamp":"{OLD}"}},
            "status":{{"conditions":[{{"type":"Ready","status":"False","reason":"KubeletNotReady"}}]}}}}"#
    ));
    model.apply(&nodes, &event(Why::Listed, node), at(0));
    model.apply(&nodes, &Event::synced(1), at(0));
    follow(&mut model, &nodes);
    let events =
        Arc::new(crate::model::evidence_sources::evidence_sources(model.around()).remove(0));
    let about_node = version(
        r#"{"apiVersion":"v1","kind":"Event","metadata":{"uid":"a","name":"a","namespace":"default"},
            "type":"Warning","reason":"Rebooted","message":"again",
            "involvedObject":{"kind":"Node","name":"n1","uid":"n1"}}"#,
    );
    model.apply(&events, &event(Why::Added, about_node), at(0));
    for number in 0..2 * super::MAX_UNKNOWN_SUBJECTS {
        let name = format!("s{number}");
        let warning = warning(&name, &name, "stranger");
        model.apply(&events, &event(Why::Added, warning), at(0));
    }
    model.refresh(at(0));
    let node = &model.object(&Uid::new("n")).expect("it exists").assessment;
    let mut causes = node.causes.iter().map(|cause| cause.text.as_str());
    assert!(causes.any(|cause| cause == "Rebooted: again"), "{node:?}");
}

#[test]
fn events_that_cannot_be_read_change_nothing() {
    let (mut model, _) = watching(pod(OLD, "False"));
    let events =
        Arc::new(crate::model::evidence_sources::evidence_sources(model.around()).remove(0));
    let forbidden = SourceState::Forbidden { cause: "no".into() };
    model.apply(&events, &Event::State(forbidden), at(0));
    assert_eq!(shown(&mut model), "InProgress 1 ContainersNotReady");
    assert!(model.coverage().is_settled());
}

/// Some reporters know no uid, and a file may hold an object without one.
#[test]
fn an_event_is_about_the_object_with_its_name_if_one_of_them_has_no_uid() {
    let reference = |text: &str| {
        let doc = crate::object::Doc::parse(text).expect("JSON");
        crate::object::ObjectRef::of(doc.root())
    };
    let pod = |uid: &str, namespace: &str| {
        reference(&format!(
            r#"{{"apiVersion":"v1","kind":"Pod","metadata":{{"name":"web"{namespace}{uid}}}}}"#
        ))
    };
    let (shop, one, two) = (r#","namespace":"shop""#, r#","uid":"1""#, r#","uid":"2""#);
    for (about, object, expect) in [
        (pod(one, shop), pod(one, shop), true),
        (pod(one, shop), pod(two, shop), false),
        (pod("", shop), pod(two, shop), true),
        (pod(one, shop), pod("", shop), true),
        (pod("", shop), pod("", r#","namespace":"db""#), false),
        (
            reference(r#"{"kind":"Pod","metadata":{"name":"web","namespace":"shop"}}"#),
            pod(one, shop),
            true,
        ),
        (
            reference(r#"{"apiVersion":"acme.io/v1","kind":"Pod","metadata":{"name":"web"}}"#),
            pod(one, shop),
            false,
        ),
    ] {
        let found = super::is_subject(&about, &object);
        assert_eq!(found, expect, "{about:?} {object:?}");
    }
}

/// A Node reports to the server every few seconds. Only what rules read of it matters to others.
#[test]
fn a_version_that_changes_nothing_that_is_kept_is_no_news() {
    use super::{Evidence, EvidenceChange};
    use crate::source::Form;

    let put = |text: &str| event(Why::Modified, version(text));
    let source = |group: &str, kind: &str, form| SourceKey {
        form,
        ..SourceKey::all(group, kind)
    };
    let node = r#"{"apiVersion":"v1","kind":"Node","metadata":{"uid":"x","name":"n","labels":{"zone":"a"}},"at":1}"#;
    let set = r#"{"apiVersion":"apps/v1","kind":"Deployment","metadata":{"uid":"x","name":"web"},"spec":{"replicas":1,"template":{}},"at":1}"#;
    let claim =
        r#"{"apiVersion":"v1","kind":"ConfigMap","metadata":{"uid":"x","name":"c"},"at":1}"#;
    let deleted = r#""name":"c","deletionTimestamp":"2026-01-01T00:00:00Z","finalizers":["a"]"#;
    let warning = r#"{"kind":"Event","metadata":{"uid":"x"},"type":"Warning","reason":"Bad","count":1,"involvedObject":{"kind":"Pod","name":"p"},"at":1}"#;
    let (metadata, full) = (Form::Metadata, Form::Full);
    for (source, first, part, other) in [
        (source("", "Node", metadata), node, r#""a""#, r#""b""#),
        (source("apps", "Deployment", full), set, ":1,", ":2,"),
        (
            source("", "ConfigMap", metadata),
            claim,
            r#""name":"c""#,
            deleted,
        ),
        (source("", "Event", full), warning, "Bad", "Worse"),
    ] {
        let mut evidence = Evidence::default();
        evidence.follow(vec![source.clone()]);
        let mut is_news = |event: &Event| evidence.apply(&source, event) != EvidenceChange::None;
        assert!(is_news(&put(first)), "{first}");
        assert!(!is_news(&put(&first.replace(r#""at":1"#, r#""at":2"#))));
        assert!(is_news(&put(&first.replace(part, other))), "{first}");
        let gone = event(Why::Deleted, version(first));
        assert!(is_news(&gone), "{first}");
        assert!(!is_news(&gone), "{first}");
    }
}
