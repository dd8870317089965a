//! Tests of the notes about sources, and of the final error.

use super::*;
use crate::object::Resource;
use crate::source::{ClusterId, Form, Scope, Select};

fn key(resource: &str, name: Option<&str>) -> Arc<SourceKey> {
    let words: Vec<&str> = resource.split(' ').collect();
    Arc::new(SourceKey {
        cluster: ClusterId("test".into()),
        resource: Resource {
            group: words[0].trim_start_matches('-').into(),
            version: "v1".into(),
            plural: words[1].into(),
            kind: words[2].into(),
            namespaced: words[1] != "nodes",
        },
        scope: match words[1] {
            "nodes" => Scope::Cluster,
            _ => Scope::Namespace("shop".into()),
        },
        select: name.map_or(Select::All, |name| Select::Name(name.into())),
        form: Form::Full,
    })
}

fn deployment() -> Arc<SourceKey> {
    key("apps deployments Deployment", Some("web"))
}

fn pods() -> Arc<SourceKey> {
    key("- pods Pod", None)
}

fn synced(count: usize) -> Event {
    Event::synced(count)
}

fn forbidden(what: &str) -> Event {
    let cause = format!("Error from server (Forbidden): {what} is forbidden");
    Event::State(SourceState::Forbidden {
        cause: cause.into(),
    })
}

fn retrying(attempt: u32) -> Event {
    Event::State(SourceState::Retrying {
        attempt,
        cause: "The connection to the server was refused".into(),
        until: Timestamp::UNIX_EPOCH,
        is_throttled: false,
    })
}

/// Applies events; returns the notes.
fn notes(sources: &mut Sources, events: &[(&Arc<SourceKey>, Event)]) -> Vec<String> {
    let mut told = Vec::new();
    for (key, event) in events {
        let notes = sources.apply(key, event, Timestamp::UNIX_EPOCH);
        told.extend(
            notes
                .into_iter()
                .map(|(_, note)| format!("{}: {}", note.source, note.state)),
        );
    }
    told
}

fn error(sources: &Sources) -> Option<String> {
    let error = sources.refusal()?;
    let hints = error.hints().iter().map(|hint| format!("hint: {hint}"));
    let lines: Vec<String> = [error.to_string()].into_iter().chain(hints).collect();
    Some(lines.join("\n"))
}

fn of(keys: &[(&Arc<SourceKey>, Need)]) -> Sources {
    let mut sources = Sources::default();
    for (key, need) in keys {
        sources.add(key, *need);
    }
    sources
}

#[test]
fn a_reason_in_the_final_error_is_not_reported_before() {
    let (deployment, pods) = (deployment(), pods());
    let mut sources = of(&[(&deployment, Need::Vital), (&pods, Need::Vital)]);
    let tries = [1, 2, 3].map(retrying);
    for event in tries {
        assert_eq!(error(&sources), None);
        let events = [(&deployment, event.clone()), (&pods, event)];
        assert_eq!(notes(&mut sources, &events), [""; 0]);
    }
    assert_eq!(
        error(&sources).as_deref(),
        Some("The connection to the server was refused")
    );
}

#[test]
fn held_notes_are_reported_once_a_source_is_read() {
    let (deployment, pods) = (deployment(), pods());
    let mut sources = of(&[(&deployment, Need::Vital), (&pods, Need::Useful)]);
    assert_eq!(notes(&mut sources, &[(&pods, forbidden("pods"))]), [""; 0]);
    let events = [
        (&deployment, synced(1)),
        (&deployment, retrying(1)),
        (&deployment, Event::State(SourceState::Live)),
        (&deployment, Event::State(SourceState::Live)),
    ];
    assert_eq!(
        notes(&mut sources, &events),
        [
            "pods in namespace \"shop\": forbidden",
            "deployments.apps/web in namespace \"shop\": retrying",
            "deployments.apps/web in namespace \"shop\": live",
        ]
    );
    assert_eq!(error(&sources), None);
}

#[test]
fn a_useful_source_does_not_keep_a_refused_verb_alive() {
    let (deployment, pods) = (deployment(), pods());
    let mut sources = of(&[(&deployment, Need::Vital), (&pods, Need::Useful)]);
    let events = [
        (&pods, synced(0)),
        (&deployment, forbidden("deployments.apps \"web\"")),
    ];
    assert_eq!(notes(&mut sources, &events), [""; 0]);
    assert_eq!(
        error(&sources).as_deref(),
        Some(
            "Error from server (Forbidden): deployments.apps \"web\" is forbidden\n\
             hint: try `kubectl auth can-i list deployments.apps/web -n shop`"
        )
    );
}

#[test]
fn every_refused_kind_is_named_with_one_hint() {
    let (deployment, pods) = (deployment(), pods());
    let mut sources = of(&[(&pods, Need::Vital), (&deployment, Need::Vital)]);
    notes(&mut sources, &[(&pods, forbidden("pods"))]);
    assert_eq!(error(&sources), None);
    notes(
        &mut sources,
        &[(&deployment, forbidden("deployments.apps"))],
    );
    assert_eq!(
        error(&sources).as_deref(),
        Some(
            "Error from server (Forbidden): pods is forbidden\n\
             Error from server (Forbidden): deployments.apps is forbidden\n\
             hint: try `kubectl auth can-i --list -n shop`"
        )
    );
}

#[test]
fn sources_of_one_type_that_are_refused_in_the_same_words_share_a_line() {
    let mut sources = Sources::default();
    let service = Arc::new(SourceKey::all("", "Service"));
    let slices = ["app=a", "app=b"].map(|labels| {
        Arc::new(SourceKey {
            select: Select::labelled(labels),
            ..SourceKey::all("discovery.k8s.io", "EndpointSlice")
        })
    });
    let pods = Arc::new(SourceKey::all("", "Pod"));
    sources.add(&service, Need::Vital);
    let mut shown = notes(&mut sources, &[(&service, synced(2))]);
    for refused in slices.iter().chain([&pods]) {
        sources.add(refused, Need::Useful);
        shown.extend(notes(&mut sources, &[(refused, forbidden("access"))]));
    }
    assert_eq!(shown.len(), 2, "{shown:?}");
    let refused = sources.refused();
    let lines = ["endpointslices.discovery.k8s.io", "pods"].map(|resource| {
        format!("forbidden: {resource}: Error from server (Forbidden): access is forbidden")
    });
    assert_eq!(refused, lines);
}

#[test]
fn of_many_refusals_the_last_line_has_the_number() {
    let mut sources = Sources::default();
    let core = ["Pod", "Service", "Secret", "ConfigMap", "Event"];
    let apps = ["Deployment", "ReplicaSet", "StatefulSet", "DaemonSet"];
    let core = core.map(|kind| ("", kind)).into_iter();
    for (group, kind) in core.chain(apps.map(|kind| ("apps", kind))) {
        let source = Arc::new(SourceKey::all(group, kind));
        sources.add(&source, Need::Vital);
        notes(
            &mut sources,
            &[(&source, forbidden(&format!("kind {kind}")))],
        );
    }
    let lines = sources.refusal_lines();
    assert_eq!(lines.len(), 5, "{lines:?}");
    assert_eq!(lines[4], "and 5 more (-v=6 shows each request)");
    let error = error(&sources).unwrap_or_default();
    let kinds = error.lines().filter(|line| line.contains("kind "));
    assert_eq!(kinds.count(), 4, "{error}");
    assert!(error.contains("\nand 5 more"), "{error}");
}

#[test]
fn the_hint_asks_for_the_verb_that_was_refused() {
    for (key, hint) in [
        (pods(), "try `kubectl auth can-i list pods -n shop`"),
        (
            deployment(),
            "try `kubectl auth can-i list deployments.apps/web -n shop`",
        ),
        (
            key("- nodes Node", None),
            "try `kubectl auth can-i list nodes`",
        ),
        (
            Arc::new(SourceKey {
                scope: Scope::Cluster,
                ..(*pods()).clone()
            }),
            "try `kubectl auth can-i list pods -A`, or name a namespace with -n",
        ),
    ] {
        assert_eq!(can_i(&[&key]).as_deref(), Some(hint));
    }
}

#[test]
fn an_absent_object_is_reported_once_if_it_never_existed() {
    let (deployment, pods) = (deployment(), pods());
    let owner = key("apps replicasets ReplicaSet", Some("web-1"));
    let needs = [
        (&deployment, Need::Vital),
        (&pods, Need::Vital),
        (&owner, Need::Useful),
    ];
    let mut sources = of(&needs);
    assert!(sources.take_absent().is_empty());
    let nothing = [&deployment, &pods, &owner].map(|key| (key, synced(0)));
    notes(&mut sources, &nothing);
    assert_eq!(sources.take_absent(), std::slice::from_ref(&deployment));
    assert!(sources.take_absent().is_empty());
    assert!(sources.is_absent(&deployment));
}

#[test]
fn counted_objects_are_one_or_many() {
    for (count, text) in [
        (0, "0 deployments.apps in namespace \"shop\""),
        (1, "1 deployment.apps in namespace \"shop\""),
        (2, "2 deployments.apps in namespace \"shop\""),
    ] {
        let key = key("apps deployments Deployment", None);
        assert_eq!(describe_counted(&key, count), text);
    }
    assert_eq!(describe_counted(&pods(), 1), "1 pod in namespace \"shop\"");
}
