//! Tests of inventories: the states of members decide that of the inventory.

use std::sync::Arc;

use super::*;
use crate::graph::{Lookup, member_plan};
use crate::model::Model;
use crate::model::tests::{RETENTION, at, event, model, version};
use crate::object::{Resource, ServedTypes};
use crate::source::{Event, Scope, Select, SourceKey, SourceState, Why};

fn kustomizations() -> Resource {
    Resource {
        group: "kustomize.toolkit.fluxcd.io".into(),
        version: "v1".into(),
        plural: "kustomizations".into(),
        kind: "Kustomization".into(),
        namespaced: true,
    }
}

fn apps() -> Arc<SourceKey> {
    Arc::new(SourceKey {
        resource: kustomizations(),
        scope: Scope::Namespace("shop".into()),
        select: Select::Name("apps".into()),
        ..SourceKey::all("", "Pod")
    })
}

/// A Kustomization that is Ready and lists these ids.
fn kustomization(name: &str, ids: &[&str]) -> Event {
    let entries: Vec<String> = ids.iter().map(|id| format!(r#"{{"id":"{id}"}}"#)).collect();
    let entries = entries.join(",");
    let text = format!(
        r#"{{"apiVersion":"kustomize.toolkit.fluxcd.io/v1","kind":"Kustomization",
            "metadata":{{"uid":"{name}","name":"{name}","namespace":"shop"}},
            "status":{{"conditions":[{{"type":"Ready","status":"True"}}],"inventory":{{"entries":[{entries}]}}}}}}"#
    );
    event(Why::Listed, version(&text))
}

fn pod(name: &str, phase: &str) -> Event {
    let text = format!(
        r#"{{"apiVersion":"v1","kind":"Pod","metadata":{{"uid":"{name}","name":"{name}","namespace":"shop"}},
            "status":{{"phase":"{phase}","conditions":[{{"type":"Ready","status":"True"}}]}}}}"#
    );
    event(Why::Listed, version(&text))
}

fn synced() -> Event {
    Event::Synced {
        epoch: 1,
        count: 0,
        version: crate::object::ResourceVersion::new("1"),
    }
}

/// A model of the Kustomization `apps`, which lists these ids, with the sources that it plans.
fn planned(ids: &[&str]) -> (Model, Vec<SourceKey>, Vec<Lookup>) {
    let apps = apps();
    let mut model = model(RETENTION, &[&apps]).with_types(ServedTypes::of([kustomizations()]));
    model.apply(&apps, &kustomization("apps", ids), at(0));
    model.apply(&apps, &synced(), at(0));
    model.refresh(at(0));
    let uid = Uid::new("apps");
    let plan = member_plan(model.graph(), &uid, &apps.cluster, model.types());
    let mut sources = vec![(*apps).clone()];
    sources.extend(plan.sources.clone());
    sources.extend(plan.lookups.iter().map(|lookup| lookup.source.clone()));
    model.objects.follow(sources, Vec::new());
    model.objects.look_through(plan.lookups.clone());
    let found = (plan.sources.clone(), plan.lookups.clone());
    model.objects.expect_members(plan);
    (model, found.0, found.1)
}

/// The state of the Kustomization, and its causes.
fn state(model: &mut Model) -> String {
    model.refresh(at(1));
    let object = model.object(&Uid::new("apps")).expect("it exists");
    let causes = object.assessment.causes.iter();
    let causes: Vec<String> = causes
        .map(|cause| format!("{}: {}", cause.rule.as_str(), cause.text))
        .collect();
    format!("{} {}", object.assessment.status(), causes.join("; "))
}

fn refused() -> Event {
    Event::State(SourceState::Forbidden { cause: "no".into() })
}

const POD: &str = "shop_data__Pod";

#[test]
fn a_member_is_missing_only_when_its_source_is_read() {
    let (mut model, sources, _) = planned(&[POD]);
    assert_eq!(state(&mut model), "Current ");
    let source = Arc::new(sources[0].clone());
    model.apply(&source, &synced(), at(1));
    assert_eq!(
        state(&mut model),
        "Failed MissingMember: pod/data does not exist"
    );
    model.apply(&source, &pod("data", "Running"), at(1));
    assert_eq!(state(&mut model), "Current ");
    model.apply(&source, &pod("data", "Failed"), at(1));
    assert_eq!(
        state(&mut model),
        "Failed FailedMembers: pod/data has failed"
    );
}

#[test]
fn a_member_that_is_not_read_leaves_the_state_unknown() {
    let (mut model, sources, _) = planned(&[POD, "shop_x_example.org_Widget"]);
    model.apply(&Arc::new(sources[0].clone()), &refused(), at(1));
    assert_eq!(
        state(&mut model),
        "Unknown UnreadMember: pod/data cannot be read; \
         UnreadMember: widget/x cannot be read: type not served"
    );
}

#[test]
fn in_an_excerpt_no_member_is_missing() {
    let (model, sources, _) = planned(&[POD, "shop_x_example.org_Widget"]);
    let mut model = model.of_excerpt();
    model.apply(&Arc::new(sources[0].clone()), &synced(), at(1));
    assert_eq!(state(&mut model), "Current ");
}

#[test]
fn of_many_members_a_list_keeps_only_the_members() {
    let ids: Vec<String> = (0..30)
        .map(|number| format!("shop_data-{number}__Pod"))
        .collect();
    let ids: Vec<&str> = ids.iter().map(String::as_str).collect();
    let (mut model, sources, lookups) = planned(&ids);
    assert_eq!((sources.len(), lookups.len()), (0, 1));
    let list = Arc::new(lookups[0].source.clone());
    assert_eq!(list.select, Select::All);
    for number in 1..40 {
        model.apply(&list, &pod(&format!("data-{number}"), "Running"), at(1));
    }
    assert_eq!(state(&mut model), "Current ");
    model.apply(&list, &synced(), at(1));
    assert_eq!(
        state(&mut model),
        "Failed MissingMember: pod/data-0 does not exist"
    );
    assert_eq!(model.objects().count(), 1 + 29);
}

#[test]
fn members_beyond_the_limit_are_counted() {
    let ids: Vec<String> = (0..MAX_MEMBER_LISTS + 3)
        .map(|number| format!("ns-{number:03}_data__Pod"))
        .collect();
    let ids: Vec<&str> = ids.iter().map(String::as_str).collect();
    let (mut model, sources, lookups) = planned(&ids);
    assert_eq!((sources.len(), lookups.len()), (MAX_MEMBER_LISTS, 0));
    assert_eq!(
        state(&mut model),
        "Unknown UnreadMember: pod/data and 2 more not read: more than 100 lists are needed"
    );
}

#[test]
fn an_inventory_that_lists_itself_is_judged_by_the_others() {
    let own = "shop_apps_kustomize.toolkit.fluxcd.io_Kustomization";
    let (mut model, sources, _) = planned(&[own, POD]);
    for source in &sources {
        model.apply(&Arc::new(source.clone()), &synced(), at(1));
    }
    assert_eq!(
        state(&mut model),
        "Failed MissingMember: pod/data does not exist"
    );
    let pods = sources
        .iter()
        .find(|source| &*source.resource.kind != "Kustomization");
    let pods = Arc::new(pods.expect("it is planned").clone());
    model.apply(&pods, &pod("data", "Running"), at(1));
    assert_eq!(state(&mut model), "Current ");
}
