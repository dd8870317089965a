//! Tests of the search for dependents, on a model that is given the events of its sources.

use std::sync::Arc;

use super::*;
use crate::model::search_plan::MAX_LISTS;
use crate::model::tests::{at, event, version};
use crate::model::{Model, Retention};
use crate::object::{Resource, ServedTypes};
use crate::source::{Form, Scope, Select};
use crate::status::{Rules, Status};

fn kind(group: &str, kind: &str, namespaced: bool) -> Resource {
    Resource {
        group: group.into(),
        version: "v1".into(),
        plural: format!("{}s", kind.to_lowercase()).into(),
        kind: kind.into(),
        namespaced,
    }
}

fn served() -> Vec<Resource> {
    vec![
        kind("example.com", "Owner", true),
        kind("example.com", "Top", false),
        kind("", "ConfigMap", true),
        kind("", "Event", true),
        kind("", "Node", false),
        kind("", "Pod", true),
        kind("coordination.k8s.io", "Lease", true),
        kind("example.org", "Part", true),
        kind("metrics.k8s.io", "PodMetrics", true),
    ]
}

/// An object of the cluster.
fn object(api_version: &str, kind: &str, name: &str, owner: &str) -> String {
    let namespace = if kind == "Top" {
        ""
    } else {
        r#","namespace":"shop""#
    };
    let owners = match owner {
        "" => String::new(),
        owner => format!(r#","ownerReferences":[{{"uid":"{owner}","controller":true}}]"#),
    };
    let status = match kind {
        "Part" => {
            r#","status":{"conditions":[{"type":"Stalled","status":"True","reason":"Broken"}]}"#
        }
        _ => "",
    };
    format!(
        r#"{{"apiVersion":"{api_version}","kind":"{kind}","metadata":{{"uid":"{name}","name":"{name}"{namespace}{owners}}}{status}}}"#
    )
}

/// A model of one requested object, and the objects of its cluster.
struct Searched {
    model: Model,
    objects: Vec<String>,
    /// The sources that were read.
    read: Vec<SourceKey>,
}

impl Searched {
    fn new(requested: &Resource, types: Vec<Resource>, objects: Vec<String>) -> Searched {
        let cluster = ClusterId("test".into());
        let namespace = Some("shop".into());
        let name = Select::Name("top".into());
        let requested = SourceKey::of(&cluster, requested.clone(), namespace, name);
        let model = Model::new(Rules::Spy, Retention::None).with_types(ServedTypes::of(types));
        let mut searched = Searched {
            model,
            objects,
            read: Vec::new(),
        };
        searched.model.request(vec![requested]);
        searched
    }

    /// The sources that are wanted and not read.
    fn open(&mut self) -> Vec<SourceKey> {
        self.model.step(at(0), &[]);
        let wanted: Vec<SourceKey> = self.model.sources().cloned().collect();
        self.read.retain(|source| wanted.contains(source));
        let open = wanted.into_iter();
        open.filter(|source| !self.read.contains(source)).collect()
    }

    fn read(&mut self, source: &SourceKey) {
        let key = Arc::new(source.clone());
        let mut count = 0;
        for text in &self.objects {
            let version = version(text);
            let object = &version.object;
            let named = source.select.name();
            let is_of_kind = object.group_kind() == source.resource.group_kind();
            if is_of_kind && named.is_none_or(|name| *name == *object.name) {
                count += 1;
                self.model.apply(&key, &event(Why::Listed, version), at(0));
            }
        }
        self.model.apply(&key, &Event::synced(count), at(0));
        self.read.push(source.clone());
    }

    /// Reads all sources, until there are no new ones.
    fn settle(&mut self) {
        loop {
            let open = self.open();
            if open.is_empty() {
                break;
            }
            for source in &open {
                self.read(source);
            }
        }
    }

    fn status(&self, uid: &str) -> Option<Status> {
        let object = self.model.object(&Uid::new(uid))?;
        Some(object.assessment.status())
    }
}

fn words(sources: &[SourceKey]) -> String {
    let words = sources.iter().map(|source| {
        let place = match &source.scope {
            Scope::Cluster => "everywhere",
            Scope::Namespace(namespace) => namespace,
        };
        format!("{} {place}", source.resource.plural)
    });
    words.collect::<Vec<_>>().join(", ")
}

#[test]
fn the_search_begins_after_the_first_frame_in_the_namespace_of_the_owner() {
    let top = object("example.com/v1", "Owner", "top", "");
    let mut searched = Searched::new(&served()[0], served(), vec![top]);
    let first = searched.open();
    assert_eq!(words(&first), "owners shop");
    searched.read(&first[0]);
    let lookups = searched.open();
    assert!(lookups.iter().all(|source| source.form == Form::Full));
    assert!(!searched.model.is_presentable());
    for source in &lookups {
        searched.read(source);
    }
    let search = searched.open();
    assert_eq!(words(&search), "configmaps shop, parts shop");
    assert!(search.iter().all(|source| source.form == Form::Metadata));
    assert!(searched.model.is_presentable() && !searched.model.is_searched());
    searched.settle();
    assert!(searched.model.is_searched());
    assert_eq!(searched.model.search_shortfall(), None);
}

#[test]
fn the_dependents_of_a_cluster_scoped_owner_are_anywhere() {
    let top = object("example.com/v1", "Top", "top", "");
    let mut searched = Searched::new(&served()[1], served(), vec![top]);
    let first = searched.open();
    searched.read(&first[0]);
    let expect = "owners everywhere, tops everywhere, configmaps everywhere, nodes everywhere, pods everywhere, parts everywhere";
    assert_eq!(words(&searched.open()), expect);
}

#[test]
fn what_is_found_is_judged_at_every_depth_until_it_is_gone() {
    let objects = vec![
        object("example.com/v1", "Owner", "top", ""),
        object("example.org/v1", "Part", "a", "top"),
        object("v1", "ConfigMap", "b", "a"),
        object("v1", "ConfigMap", "other", "c"),
    ];
    let mut searched = Searched::new(&served()[0], served(), objects);
    searched.settle();
    assert_eq!(searched.status("a"), Some(Status::Failed));
    assert_eq!(searched.status("b"), Some(Status::Current));
    assert_eq!(searched.status("other"), None);
    let gone = event(Why::Deleted, version(&searched.objects.remove(2)));
    for source in searched.read.clone() {
        if &*source.resource.kind == "ConfigMap" {
            searched.model.apply(&Arc::new(source), &gone, at(1));
        }
    }
    searched.settle();
    assert_eq!(searched.status("b"), None);
    let mut wanted = searched.model.coverage().sources();
    assert!(!wanted.any(|source| &*source.resource.kind == "ConfigMap"));
}

#[test]
fn a_search_is_bounded_and_says_what_it_leaves_out() {
    let mut types = served();
    let more = (0..150).map(|number| kind("example.net", &format!("Kind{number:03}"), true));
    types.extend(more);
    let top = object("example.com/v1", "Owner", "top", "");
    let names =
        r#""kind":"Owner","spec":{"parts":[{"apiVersion":"example.net/v1","kind":"Kind149"}]}"#;
    let top = top.replace(r#""kind":"Owner""#, names);
    let mut searched = Searched::new(&types[0], types.clone(), vec![top]);
    searched.settle();
    let search = searched.model.objects.search.sources();
    let search: Vec<SourceKey> = search.cloned().collect();
    assert_eq!(search.len(), MAX_LISTS);
    assert_eq!(words(&search[..1]), "kind149s shop");
    let expect = "dependents may be missing: 52 more kinds; name a dependent to see it";
    assert_eq!(searched.model.search_shortfall().as_deref(), Some(expect));
}

#[test]
fn a_list_that_is_too_long_or_cannot_be_read_is_one_part_of_the_line() {
    let top = object("example.com/v1", "Owner", "top", "");
    let mut searched = Searched::new(&served()[0], served(), vec![top]);
    let is_search = |source: &SourceKey| source.form == Form::Metadata;
    let search = loop {
        let open = searched.open();
        if open.iter().all(is_search) {
            break open;
        }
        for source in open.iter().filter(|source| !is_search(source)) {
            searched.read(source);
        }
    };
    let [maps, parts] = &search[..] else {
        panic!("two sources, not {search:?}");
    };
    let maps = Arc::new(maps.clone());
    for number in 0..=MAX_OBJECTS {
        let map = version(&object("v1", "ConfigMap", &format!("m{number}"), ""));
        searched.model.apply(&maps, &event(Why::Listed, map), at(0));
    }
    let cause: Arc<str> = "forbidden".into();
    let refused = Event::State(SourceState::Forbidden { cause });
    let parts = Arc::new(parts.clone());
    searched.model.apply(&parts, &refused, at(0));
    searched.model.step(at(0), &[]);
    assert!(searched.model.is_searched());
    assert!(!searched.model.sources().any(|source| *source == *maps));
    assert!(searched.model.sources().any(|source| *source == *parts));
    let expect = "dependents may be missing: parts.example.org (cannot be read), configmaps (over 5000 objects); `kubectl auth can-i --list -n shop` shows your rights";
    assert_eq!(searched.model.search_shortfall().as_deref(), Some(expect));
}
