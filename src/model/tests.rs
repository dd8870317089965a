//! Tests of the model, and of its law: only the newest versions count, not the events before them.

use proptest::prelude::*;

use std::collections::BTreeMap;

use jiff::SignedDuration;

use super::*;
use crate::object::{ObjectRef, ResourceVersion};
use crate::source::{Form, Select, SourceState, Version, Why};
use crate::status::CauseRule;

pub(super) fn at(seconds: i64) -> Timestamp {
    Timestamp::constant(1_777_896_000, 0) + SignedDuration::from_secs(seconds)
}

/// The Pods in the namespace `shop` with these labels.
fn pods(labels: &str) -> Arc<SourceKey> {
    Arc::new(SourceKey {
        scope: Scope::Namespace("shop".into()),
        select: Select::labelled(labels),
        ..SourceKey::all("", "Pod")
    })
}

/// A Pod that another object owns, if `owner` is not empty.
fn pod(uid: &str, phase: &str, owner: &str) -> Arc<Version> {
    let owners = match owner {
        "" => String::new(),
        owner => format!(r#","ownerReferences":[{{"uid":"{owner}","controller":true}}]"#),
    };
    version(&format!(
        r#"{{"apiVersion":"v1","kind":"Pod","metadata":{{"uid":"{uid}","name":"{uid}","namespace":"shop"{owners}}},
            "status":{{"phase":"{phase}","conditions":[{{"type":"Ready","status":"True"}}]}}}}"#
    ))
}

pub(super) fn version(text: &str) -> Arc<Version> {
    let doc = Doc::parse(text).expect("a test's object is JSON");
    Arc::new(Version {
        object: ObjectRef::of(doc.root()).into(),
        version: ResourceVersion::new("1"),
        body: text.into(),
    })
}

pub(super) fn event(why: Why, now: Arc<Version>) -> Event {
    Event::Object {
        why,
        past: false,
        seen: at(0),
        now,
        prev: None,
    }
}

pub(super) fn model(retention: Retention, sources: &[&Arc<SourceKey>]) -> Model {
    let mut model = Model::new(Rules::Spy, retention);
    model.objects.follow(
        sources.iter().map(|source| (***source).clone()).collect(),
        Vec::new(),
    );
    model
}

/// Each object's uid, state and roll-up.
fn states(model: &Model) -> Vec<(&str, Status, Option<Status>)> {
    let objects = model.objects();
    objects
        .map(|(uid, object)| (uid.as_str(), object.assessment.status(), object.worst))
        .collect()
}

pub(super) const RETENTION: Retention = Retention::For(SignedDuration::from_secs(5));

#[test]
fn a_deletion_counts_even_if_another_source_still_shows_the_object() {
    let (all, some) = (pods(""), pods("app=web"));
    let mut model = model(RETENTION, &[&all, &some]);
    for source in [&all, &some] {
        model.apply(source, &event(Why::Listed, pod("a", "Running", "")), at(0));
    }
    model.refresh(at(0));
    assert_eq!(states(&model), [("a", Status::Current, None)]);
    model.apply(&some, &event(Why::Deleted, pod("a", "Running", "")), at(1));
    model.apply(&all, &event(Why::Modified, pod("a", "Running", "")), at(1));
    assert!(!model.refresh(at(1)).is_empty());
    assert_eq!(states(&model), [("a", Status::NotFound, None)]);
    model.refresh(at(6));
    assert_eq!(states(&model), []);
}

/// A model that follows the Ingress `web`, whose backend is port 80 of the Service `web`, and that Service.
fn ingress() -> (Model, Arc<SourceKey>, Arc<SourceKey>) {
    let named = |group: &str, kind: &str| {
        Arc::new(SourceKey {
            scope: Scope::Namespace("shop".into()),
            select: Select::Name("web".into()),
            ..SourceKey::all(group, kind)
        })
    };
    let ingress = named("networking.k8s.io", "Ingress");
    let service = named("", "Service");
    let mut model = model(RETENTION, &[&ingress]);
    let object = version(
        r#"{"apiVersion":"networking.k8s.io/v1","kind":"Ingress","metadata":{"uid":"i","name":"web","namespace":"shop"},
            "spec":{"defaultBackend":{"service":{"name":"web","port":{"number":80}}}}}"#,
    );
    model.apply(&ingress, &event(Why::Listed, object), at(0));
    model.refresh(at(0));
    assert_eq!(
        crate::model::rules::references::reference_sources(model.around()),
        [(*service).clone()]
    );
    model
        .objects
        .follow(vec![(*ingress).clone(), (*service).clone()], Vec::new());
    (model, ingress, service)
}

fn service(port: u32) -> Arc<Version> {
    version(&format!(
        r#"{{"apiVersion":"v1","kind":"Service","metadata":{{"uid":"s","name":"web","namespace":"shop"}},
            "spec":{{"ports":[{{"port":{port}}}]}}}}"#
    ))
}

/// The state of the Ingress, and its causes.
fn verdict(model: &mut Model, now: Timestamp) -> String {
    model.refresh(now);
    let object = model.object(&Uid::new("i")).expect("it exists");
    let causes = object.assessment.causes.iter();
    let causes: Vec<_> = causes.map(|cause| cause.text.as_str()).collect();
    format!("{}: {}", object.assessment.status(), causes.join("; "))
}

#[test]
fn an_object_is_judged_by_the_objects_that_it_needs() {
    let (mut model, _, source) = ingress();
    assert_eq!(verdict(&mut model, at(0)), "Current: ");
    model.apply(&source, &Event::synced(0), at(1));
    let absent = "Failed: backend service/web does not exist";
    assert_eq!(verdict(&mut model, at(1)), absent);
    model.apply(&source, &event(Why::Added, service(8080)), at(2));
    let other = "Failed: backend service/web has no port 80; it has 8080";
    assert_eq!(verdict(&mut model, at(2)), other);
    model.apply(&source, &event(Why::Modified, service(80)), at(3));
    assert_eq!(verdict(&mut model, at(3)), "Current: ");
    model.apply(&source, &event(Why::Deleted, service(80)), at(4));
    assert_eq!(verdict(&mut model, at(4)), absent);
    assert_eq!(verdict(&mut model, at(60)), absent);
}

/// A Service without a selector may have no endpoints, but not if an Ingress sends it requests.
#[test]
fn an_ingress_needs_endpoints() {
    let (mut model, ingress, source) = ingress();
    let slices = Arc::new(SourceKey {
        scope: Scope::Namespace("shop".into()),
        ..SourceKey::all("discovery.k8s.io", "EndpointSlice")
    });
    model.objects.follow(
        vec![(*ingress).clone(), (*source).clone(), (*slices).clone()],
        Vec::new(),
    );
    model.apply(&source, &event(Why::Listed, service(80)), at(1));
    model.apply(&source, &Event::synced(1), at(1));
    let unread = "Unknown: backend service/web: endpoints not read";
    assert_eq!(verdict(&mut model, at(1)), unread);
    model.apply(&slices, &Event::synced(0), at(2));
    let nobody = "Failed: backend service/web: no endpoints";
    assert_eq!(verdict(&mut model, at(2)), nobody);
    let slice = |addresses: &str| {
        version(&format!(
            r#"{{"apiVersion":"discovery.k8s.io/v1","kind":"EndpointSlice","metadata":{{"uid":"e","name":"web-1","namespace":"shop",
                "labels":{{"kubernetes.io/service-name":"web"}}}},"addressType":"IPv4","ports":[{{"port":80}}],
                "endpoints":[{addresses}]}}"#
        ))
    };
    model.apply(&slices, &event(Why::Added, slice("")), at(3));
    assert_eq!(verdict(&mut model, at(3)), nobody);
    let ready = r#"{"addresses":["10.0.0.1"],"conditions":{"ready":true}}"#;
    model.apply(&slices, &event(Why::Modified, slice(ready)), at(4));
    assert_eq!(verdict(&mut model, at(4)), "Current: ");
}

#[test]
fn an_ingress_needs_a_secret_with_a_certificate() {
    let (mut model, ingress, backend) = ingress();
    let object = version(
        r#"{"apiVersion":"networking.k8s.io/v1","kind":"Ingress","metadata":{"uid":"i","name":"web","namespace":"shop"},
            "spec":{"tls":[{"secretName":"web"}],"defaultBackend":{"service":{"name":"web","port":{"number":80}}}}}"#,
    );
    model.apply(&ingress, &event(Why::Modified, object), at(1));
    model.refresh(at(1));
    let sources = crate::model::rules::references::reference_sources(model.around());
    let secret = sources
        .iter()
        .find(|source| &*source.resource.kind == "Secret");
    let secret = Arc::new(secret.expect("it is named").clone());
    assert_eq!(secret.form, Form::Full);
    model.objects.follow(
        vec![(*ingress).clone(), (*backend).clone(), (*secret).clone()],
        Vec::new(),
    );
    model.apply(&backend, &event(Why::Listed, service(80)), at(1));
    for (kind, data, expect) in [
        (
            "Opaque",
            r#""cert":"""#,
            r#"InProgress: certificate secret/web: missing key "tls.crt"; it has cert"#,
        ),
        (
            "kubernetes.io/tls",
            r#""tls.crt":"","tls.key":"""#,
            "InProgress: certificate secret/web: tls.crt is not a PEM certificate",
        ),
        ("Opaque", r#""tls.crt":"","tls.key":"""#, "Current: "),
    ] {
        let text = format!(
            r#"{{"apiVersion":"v1","kind":"Secret","type":"{kind}","metadata":{{"uid":"t","name":"web","namespace":"shop"}},"data":{{{data}}}}}"#
        );
        model.apply(&secret, &event(Why::Modified, version(&text)), at(2));
        assert_eq!(verdict(&mut model, at(2)), expect);
    }
}

/// A ready Pod whose container takes its environment from a `ConfigMap`, and the source of that `ConfigMap`.
/// The Pod is requested by this selection.
fn pod_with_environment(select: Select, reference: &str) -> (Model, Option<SourceKey>) {
    let pods = Arc::new(SourceKey {
        select,
        ..(*pods("")).clone()
    });
    let mut model = Model::new(Rules::Spy, RETENTION);
    model.request(vec![(*pods).clone()]);
    let pod = version(&format!(
        r#"{{"apiVersion":"v1","kind":"Pod","metadata":{{"uid":"i","name":"web","namespace":"shop"}},
            "spec":{{"nodeName":"a","containers":[{{"name":"app","envFrom":[{{"configMapRef":{{"name":"app"{reference}}}}}]}}]}},
            "status":{{"phase":"Running","conditions":[{{"type":"Ready","status":"True"}}]}}}}"#
    ));
    model.apply(&pods, &event(Why::Listed, pod), at(0));
    model.apply(&pods, &Event::synced(1), at(0));
    model.refresh(at(0));
    let sources = crate::model::rules::references::reference_sources(model.around());
    (model, sources.first().cloned())
}

#[test]
fn a_pod_that_runs_stays_well_without_its_config_map_and_says_what_is_missing() {
    let named = Select::Name("web".into());
    let (mut model, source) = pod_with_environment(named, "");
    let source = Arc::new(source.expect("the model looks for the ConfigMap"));
    assert_eq!(
        (&*source.resource.kind, source.form),
        ("ConfigMap", Form::Metadata)
    );
    model.step(at(0), &[]);
    assert_eq!(verdict(&mut model, at(0)), "Current: ");
    model.apply(&source, &Event::synced(0), at(1));
    assert_eq!(
        verdict(&mut model, at(1)),
        "Current: environment configmap/app does not exist; no new container could start"
    );
    let map = r#"{"apiVersion":"v1","kind":"ConfigMap","metadata":{"uid":"m","name":"app","namespace":"shop"}}"#;
    model.apply(&source, &event(Why::Added, version(map)), at(2));
    assert_eq!(verdict(&mut model, at(2)), "Current: ");
}

#[test]
fn keys_are_missing_only_in_a_config_map_that_was_read_whole() {
    let reasons = |form: Form| {
        let pods = pods("");
        let maps = Arc::new(SourceKey {
            scope: Scope::Namespace("shop".into()),
            select: Select::Name("app".into()),
            form,
            ..SourceKey::all("", "ConfigMap")
        });
        let mut model = model(RETENTION, &[&pods, &maps]);
        let pod = r#"{"apiVersion":"v1","kind":"Pod","metadata":{"uid":"p","name":"web","namespace":"shop"},
            "spec":{"containers":[{"name":"app","env":[{"name":"A","valueFrom":{"configMapKeyRef":{"name":"app","key":"a"}}}]}]},
            "status":{"phase":"Pending","containerStatuses":[{"name":"app","state":{"waiting":{"reason":"CreateContainerConfigError"}}}]}}"#;
        let map = r#"{"apiVersion":"v1","kind":"ConfigMap","metadata":{"uid":"m","name":"app","namespace":"shop"}}"#;
        for (source, object) in [(&pods, pod), (&maps, map)] {
            model.apply(source, &event(Why::Listed, version(object)), at(0));
            model.apply(source, &Event::synced(0), at(0));
        }
        model.refresh(at(0));
        let pod = model.object(&Uid::new("p")).expect("it is there");
        pod.assessment.has_cause(CauseRule::MissingKey)
    };
    assert!(reasons(Form::Full) && !reasons(Form::Metadata));
}

#[test]
fn nobody_looks_for_what_a_well_pod_does_not_need_or_is_one_of_many() {
    let named = Select::Name("web".into());
    assert_eq!(pod_with_environment(named, r#","optional":true"#).1, None);
    assert_eq!(pod_with_environment(Select::All, "").1, None);
}

#[test]
fn an_object_is_not_called_well_for_lack_of_rights() {
    let (mut model, _, source) = ingress();
    let forbidden = SourceState::Forbidden {
        cause: "forbidden".into(),
    };
    model.apply(&source, &Event::State(forbidden), at(1));
    let unseen = "Unknown: backend service/web cannot be read";
    assert_eq!(verdict(&mut model, at(1)), unseen);
}

/// The state of the Service `web`, which selects nothing, once its slices have been read.
fn service_without_pods(model: Model) -> (Status, Vec<SourceKey>) {
    let mut model = model;
    let source = Arc::new(SourceKey {
        scope: Scope::Namespace("shop".into()),
        select: Select::Name("web".into()),
        ..SourceKey::all("", "Service")
    });
    let slices = Arc::new(SourceKey {
        scope: Scope::Namespace("shop".into()),
        ..SourceKey::all("discovery.k8s.io", "EndpointSlice")
    });
    model
        .objects
        .follow(vec![(*source).clone(), (*slices).clone()], Vec::new());
    let service = version(
        r#"{"apiVersion":"v1","kind":"Service","metadata":{"uid":"s","name":"web","namespace":"shop"},
            "spec":{"selector":{"app":"web"}}}"#,
    );
    model.apply(&source, &event(Why::Listed, service), at(0));
    model.apply(&slices, &Event::synced(0), at(0));
    model.refresh(at(0));
    let object = model.object(&Uid::new("s")).expect("it exists");
    (
        object.assessment.status(),
        crate::model::rules::services::service_sources(model.around()),
    )
}

/// The causes of a Service that selects `app=web`, beside a workload of this kind with these labels and as many Pods. The
/// model reads the workload as an object of its own, or only to explain the Service.
fn beside_workload(kind: &str, labels: &str, pods: u32, is_requested: bool) -> String {
    let service = Arc::new(SourceKey::all("", "Service"));
    let workloads = Arc::new(SourceKey::all("apps", kind));
    let mut requested = vec![(*service).clone()];
    requested.extend(is_requested.then(|| (*workloads).clone()));
    let mut model = Model::new(Rules::Spy, RETENTION);
    model.objects.follow(requested.clone(), Vec::new());
    let object = version(
        r#"{"apiVersion":"v1","kind":"Service","metadata":{"uid":"s","name":"web","namespace":"shop"},
            "spec":{"selector":{"app":"web"}}}"#,
    );
    model.apply(&service, &event(Why::Listed, object), at(0));
    let workload = version(&format!(
        r#"{{"apiVersion":"apps/v1","kind":"{kind}","metadata":{{"uid":"d","name":"web","namespace":"shop"}},
            "spec":{{"replicas":{pods},"template":{{"metadata":{{"labels":{labels}}}}}}},"status":{{"desiredNumberScheduled":{pods}}}}}"#
    ));
    for _ in 0..5 {
        for source in model.take_rereads().into_iter().map(Arc::new) {
            if source.resource.kind == workloads.resource.kind {
                model.apply(&source, &event(Why::Listed, workload.clone()), at(0));
            }
            model.apply(&source, &Event::synced(0), at(0));
        }
        model.refresh(at(0));
        let needed = [
            requested.clone(),
            crate::model::rules::services::service_sources(model.around()),
        ]
        .concat();
        model.objects.follow(
            needed,
            crate::model::evidence_sources::evidence_sources(model.around()),
        );
    }
    let object = model.object(&Uid::new("s")).expect("it exists");
    let causes = object.assessment.causes.iter();
    let causes: Vec<_> = causes.map(|cause| cause.text.as_str()).collect();
    causes.join("; ")
}

#[test]
fn a_service_without_pods_names_the_workload_that_would_create_them() {
    let web = r#"{"app":"web","tier":"front"}"#;
    for is_requested in [false, true] {
        for (kind, labels, pods, expect) in [
            ("Deployment", web, 0, ": deployment/web is scaled to 0"),
            ("Deployment", web, 2, ": deployment/web has created none"),
            ("Deployment", r#"{"app":"api"}"#, 0, ""),
            ("DaemonSet", web, 0, ": daemonset/web runs on no node"),
            ("DaemonSet", web, 2, ": daemonset/web has created none"),
        ] {
            let cause = beside_workload(kind, labels, pods, is_requested);
            assert_eq!(cause, format!("no pod matches app=web{expect}"));
        }
    }
}

#[test]
fn the_rules_of_kstatus_look_at_no_other_object() {
    let (spy, sources) = service_without_pods(Model::new(Rules::Spy, RETENTION));
    assert_eq!((spy, sources.is_empty()), (Status::Failed, false));
    let kstatus = service_without_pods(Model::new(Rules::Kstatus, RETENTION));
    assert_eq!(kstatus, (Status::Current, Vec::new()));
}

#[test]
fn an_excerpt_says_nothing_about_what_it_does_not_have() {
    let (status, _) = service_without_pods(Model::new(Rules::Spy, RETENTION).of_excerpt());
    assert_eq!(status, Status::Unknown);
    let (model, _, source) = ingress();
    let mut model = model.of_excerpt();
    model.apply(&source, &Event::synced(0), at(1));
    assert_eq!(verdict(&mut model, at(1)), "Current: ");
}

#[test]
fn a_pod_that_has_ended_does_not_fail_its_workload() {
    let source = pods("");
    let mut model = model(RETENTION, &[&source]);
    let set = version(
        r#"{"apiVersion":"apps/v1","kind":"ReplicaSet","metadata":{"uid":"r","name":"r","namespace":"shop"},
            "spec":{"replicas":2},"status":{"replicas":1}}"#,
    );
    for object in [set, pod("p", "Failed", "r")] {
        model.apply(&source, &event(Why::Listed, object), at(0));
    }
    model.refresh(at(0));
    let state = |uid| {
        model
            .object(&Uid::new(uid))
            .map(|object| object.assessment.status())
    };
    assert_eq!(state("p"), Some(Status::Failed));
    assert_eq!(state("r"), Some(Status::InProgress));
}

/// Whether a pod that is not ready blocks the rollout of a `StatefulSet` with this policy, first ordinal and partition. The
/// newest revision is `db-3`; `pod` is the name and the revision of the pod.
fn blocks(policy: &str, [start, partition]: [u32; 2], pod: [&str; 2]) -> bool {
    let sets = Arc::new(SourceKey {
        scope: Scope::Namespace("shop".into()),
        ..SourceKey::all("apps", "StatefulSet")
    });
    let pods = pods("");
    let mut model = model(RETENTION, &[&sets, &pods]);
    let set = version(&format!(
        r#"{{"apiVersion":"apps/v1","kind":"StatefulSet","metadata":{{"uid":"s","name":"db","namespace":"shop"}},
            "spec":{{"replicas":2,"podManagementPolicy":"{policy}","ordinals":{{"start":{start}}},
                "updateStrategy":{{"type":"RollingUpdate","rollingUpdate":{{"partition":{partition}}}}}}},
            "status":{{"replicas":2,"readyReplicas":1,"updateRevision":"db-3"}}}}"#
    ));
    let [name, revision] = pod;
    let pod = version(&format!(
        r#"{{"apiVersion":"v1","kind":"Pod","metadata":{{"uid":"p","name":"{name}","namespace":"shop",
                "creationTimestamp":"2026-05-04T11:00:00Z","labels":{{"controller-revision-hash":"{revision}"}},
                "ownerReferences":[{{"uid":"s","controller":true}}]}},
            "status":{{"phase":"Running","conditions":[{{"type":"Ready","status":"False"}}]}}}}"#
    ));
    model.apply(&sets, &event(Why::Listed, set), at(0));
    model.apply(&pods, &event(Why::Listed, pod), at(0));
    model.refresh(at(0));
    let set = model.object(&Uid::new("s")).expect("it is there");
    let assessment = &set.assessment;
    let mut causes = assessment.causes.iter();
    let is_named = causes.any(|cause| cause.rule == CauseRule::BlockedRollout);
    assert_eq!(assessment.status() == Status::Failed, is_named);
    is_named
}

#[test]
fn a_broken_pod_of_an_old_revision_blocks_a_stateful_set() {
    assert!(blocks("OrderedReady", [0, 0], ["db-1", "db-2"]));
    assert!(blocks("OrderedReady", [0, 1], ["db-1", "db-2"]));
    assert!(
        !blocks("OrderedReady", [0, 0], ["db-1", "db-3"]),
        "it is new"
    );
    for stays in [[0, 2], [1, 1]] {
        assert!(!blocks("OrderedReady", stays, ["db-1", "db-2"]));
    }
    assert!(
        !blocks("Parallel", [0, 0], ["db-1", "db-2"]),
        "it is replaced"
    );
}

#[test]
fn each_of_two_owners_has_the_state_of_their_dependent() {
    let all = pods("");
    let dependent = |phase| {
        let text = pod("owned", phase, "one").body.text();
        version(&text.replace("true}]", r#"true},{"uid":"other"}]"#))
    };
    let mut model = model(RETENTION, &[&all]);
    for listed in [pod("one", "Running", ""), pod("other", "Running", "")] {
        model.apply(&all, &event(Why::Listed, listed), at(0));
    }
    for (phase, worst) in [
        ("Running", Status::Current),
        ("Failed", Status::Failed),
        ("Running", Status::Current),
    ] {
        model.apply(&all, &event(Why::Modified, dependent(phase)), at(0));
        model.refresh(at(0));
        for owner in ["one", "other"] {
            let owner = model.object(&Uid::new(owner)).expect("it is listed");
            assert_eq!(owner.worst, Some(worst), "{}", owner.object);
        }
    }
}

#[test]
fn an_owner_stays_until_its_dependents_are_gone() {
    let source = pods("");
    for (retention, stays) in [(RETENTION, true), (Retention::None, false)] {
        let mut model = model(retention, &[&source]);
        model.apply(
            &source,
            &event(Why::Listed, pod("owner", "Running", "")),
            at(0),
        );
        model.apply(
            &source,
            &event(Why::Listed, pod("owned", "Failed", "owner")),
            at(0),
        );
        model.refresh(at(0));
        let owner = model.object(&Uid::new("owner")).expect("it is listed");
        assert_eq!(owner.worst, Some(Status::Failed));
        model.apply(
            &source,
            &event(Why::Deleted, pod("owner", "Running", "")),
            at(1),
        );
        model.refresh(at(20));
        assert_eq!(model.object(&Uid::new("owner")).is_some(), stays);
        model.apply(
            &source,
            &event(Why::Deleted, pod("owned", "Failed", "owner")),
            at(21),
        );
        model.refresh(at(40));
        model.refresh(at(40));
        assert_eq!(states(&model), []);
    }
}

#[test]
fn objects_of_a_replaced_source_stay_until_the_new_one_is_read() {
    let (old, new) = (pods("app=old"), pods("app=new"));
    let mut model = model(Retention::None, &[&old]);
    for uid in ["a", "b"] {
        model.apply(&old, &event(Why::Listed, pod(uid, "Running", "")), at(0));
    }
    model.apply(&old, &Event::synced(2), at(0));
    model.refresh(at(0));
    model.objects.follow(vec![(*new).clone()], Vec::new());
    model.apply(&new, &event(Why::Listed, pod("b", "Running", "")), at(1));
    model.refresh(at(1));
    assert_eq!(
        model.objects().count(),
        2,
        "the new source may still list it"
    );
    model.apply(&new, &Event::synced(1), at(2));
    model.refresh(at(2));
    assert_eq!(states(&model), [("b", Status::Current, None)]);
    model.apply(&old, &event(Why::Added, pod("c", "Running", "")), at(3));
    model.refresh(at(3));
    assert_eq!(model.objects().count(), 1, "nobody follows the old source");
}

#[test]
fn a_new_source_is_read_from_the_start_and_once() {
    let (old, new) = (pods("app=old"), pods("app=new"));
    let mut model = model(Retention::None, &[&old]);
    assert_eq!(model.take_rereads(), [(*old).clone()]);
    model
        .objects
        .follow(vec![(*old).clone(), (*new).clone()], Vec::new());
    assert_eq!(model.take_rereads(), [(*new).clone()]);
    model.objects.follow(vec![(*old).clone()], Vec::new());
    assert_eq!(model.take_rereads(), []);
    model
        .objects
        .follow(vec![(*new).clone(), (*old).clone()], Vec::new());
    assert_eq!(model.take_rereads(), [(*new).clone()], "it was dropped");
}

#[test]
fn coverage_distinguishes_slow_retrying_and_refused_sources() {
    let source = pods("");
    let mut model = model(Retention::None, &[&source]);
    let retrying = SourceState::Retrying {
        attempt: 2,
        cause: "connection refused".into(),
        until: at(9),
        is_throttled: false,
    };
    let forbidden = SourceState::Forbidden { cause: "no".into() };
    for (event, reading) in [
        (Event::State(SourceState::Connecting), Reading::Partial),
        (Event::State(retrying), Reading::Silent),
        (Event::State(forbidden.clone()), Reading::Refused),
        (Event::State(SourceState::Live), Reading::Partial),
        (Event::synced(0), Reading::All),
        (Event::State(forbidden), Reading::All),
    ] {
        model.apply(&source, &event, at(0));
        assert_eq!(model.coverage().reading(&source), Some(&reading));
    }
    assert_eq!(model.coverage().reading(&pods("app=web")), None);
}

/// An event for one of three Pods. The first Pod owns the others.
#[derive(Clone, Copy, Debug)]
enum Step {
    Write(usize, &'static str),
    Delete(usize),
    Refresh,
}

const UIDS: [&str; 3] = ["a", "b", "c"];

fn owner(index: usize) -> &'static str {
    if index == 0 { "" } else { "a" }
}

fn steps() -> impl Strategy<Value = Vec<Step>> {
    let phase = prop_oneof![Just("Running"), Just("Failed"), Just("Succeeded")];
    let write = (0..3_usize, phase).prop_map(|(index, phase)| Step::Write(index, phase));
    let delete = (0..3_usize).prop_map(Step::Delete);
    let step = prop_oneof![4 => write, 1 => delete, 2 => Just(Step::Refresh)];
    prop::collection::vec(step, 0..30)
}

/// Everything of an object that a row can show.
type Shown = (Uid, Arc<Assessment>, Arc<Assessment>, Option<Status>, bool);

/// What rows can show, and how they are related.
fn shown(model: &Model) -> (Vec<Shown>, Graph) {
    let objects = model.objects().map(|(uid, object)| {
        let (assessment, own) = (object.assessment.clone(), object.own.clone());
        let is_gone = object.departure.is_some();
        (uid.clone(), assessment, own, object.worst, is_gone)
    });
    (objects.collect(), model.graph().clone())
}

#[test]
fn a_version_without_another_state_is_no_change_of_states() {
    let source = pods("");
    let mut model = model(RETENTION, &[&source]);
    let mut known = 0;
    let mut write = |text: &str| {
        let object = version(&format!(
            r#"{{"apiVersion":"v1","kind":"Pod","metadata":{{"uid":"a","name":"a","namespace":"shop",{text}}}}}"#
        ));
        model.apply(&source, &event(Why::Modified, object), at(0));
        assert!(!model.refresh(at(0)).is_empty());
        let changes = model.state_changes();
        std::mem::replace(&mut known, changes) != changes
    };
    let labelled = r#""labels":{"app":"web"}"#;
    assert!(write(labelled));
    assert!(!write(&format!(r#"{labelled},"annotations":{{"a":"1"}}"#)));
    assert!(!write(&format!(r#"{labelled},"annotations":{{"a":"2"}}"#)));
    assert!(write(r#""labels":{"app":"api"}"#));
}

/// A source of a neighbour may show an object before the source that was requested.
#[test]
fn an_object_that_becomes_a_requested_one_is_a_change_of_states() {
    let (all, some) = (pods(""), pods("app=web"));
    let mut model = Model::new(Rules::Spy, RETENTION);
    model.request(vec![(*all).clone()]);
    let both = [&all, &some].map(|source| (**source).clone());
    model.objects.follow(both.to_vec(), Vec::new());
    model.apply(&some, &event(Why::Added, pod("a", "Running", "")), at(0));
    model.refresh(at(0));
    let (before, changes) = (shown(&model), model.state_changes());
    model.apply(&all, &event(Why::Added, pod("a", "Running", "")), at(0));
    model.refresh(at(0));
    assert_eq!(shown(&model), before);
    assert_ne!(model.state_changes(), changes);
}

proptest! {
    /// What a row shows never changes without notice.
    #[test]
    fn changes_of_states_are_counted(steps in steps()) {
        let source = pods("");
        let mut model = model(Retention::None, &[&source]);
        let mut known = BTreeSet::new();
        let (mut before, mut changes) = (shown(&model), 0);
        for step in steps {
            match step {
                Step::Write(index, phase) => {
                    let why = if known.insert(index) { Why::Added } else { Why::Modified };
                    model.apply(&source, &event(why, pod(UIDS[index], phase, owner(index))), at(0));
                }
                Step::Delete(index) => {
                    if known.remove(&index) {
                        model.apply(&source, &event(Why::Deleted, pod(UIDS[index], "Running", owner(index))), at(0));
                    }
                }
                Step::Refresh => {
                    model.refresh(at(0));
                    let after = shown(&model);
                    prop_assert!(model.state_changes() != changes || before == after);
                    (before, changes) = (after, model.state_changes());
                }
            }
        }
    }

    #[test]
    fn only_the_newest_versions_count(steps in steps()) {
        let source = pods("");
        let mut model = model(Retention::None, &[&source]);
        let mut newest: BTreeMap<usize, &str> = BTreeMap::new();
        for step in steps {
            match step {
                Step::Write(index, phase) => {
                    let why = if newest.insert(index, phase).is_some() { Why::Modified } else { Why::Added };
                    model.apply(&source, &event(why, pod(UIDS[index], phase, owner(index))), at(0));
                }
                Step::Delete(index) => {
                    if let Some(phase) = newest.remove(&index) {
                        model.apply(&source, &event(Why::Deleted, pod(UIDS[index], phase, owner(index))), at(0));
                    }
                }
                Step::Refresh => {
                    model.refresh(at(0));
                }
            }
        }
        let mut fresh = self::model(Retention::None, &[&source]);
        for (index, phase) in newest {
            fresh.apply(&source, &event(Why::Listed, pod(UIDS[index], phase, owner(index))), at(0));
        }
        model.refresh(at(0));
        fresh.refresh(at(0));
        prop_assert_eq!(states(&model), states(&fresh));
        prop_assert_eq!(model.graph(), fresh.graph());
    }
}

#[test]
fn a_kind_that_is_defined_later_is_requested_like_the_others() {
    let crds = SourceKey::all("apiextensions.k8s.io", "CustomResourceDefinition");
    let definition = |kind: &str, established: &str| {
        version(&format!(
            r#"{{"apiVersion":"apiextensions.k8s.io/v1","kind":"CustomResourceDefinition","metadata":{{"uid":"{kind}","name":"{kind}"}},
                "spec":{{"group":"x.io","scope":"Namespaced","names":{{"kind":"{kind}","plural":"{kind}s"}},
                "versions":[{{"name":"v1","served":true}}]}},"status":{{"conditions":[{{"type":"Established","status":"{established}"}}]}}}}"#
        ))
    };
    let kinds = |model: &Model| -> Vec<String> {
        let requested = model.requested().iter();
        requested.map(|key| key.resource.kind.to_string()).collect()
    };
    let mut plain = Model::new(Rules::Spy, RETENTION);
    let mut every = Model::new(Rules::Spy, RETENTION);
    every.request_new_kinds();
    let crd = Arc::new(crds.clone());
    for model in [&mut plain, &mut every] {
        model.request(vec![crds.clone()]);
        for (why, kind, established) in [
            (Why::Added, "Widget", "False"),
            (Why::Modified, "Widget", "True"),
            (Why::Modified, "Widget", "True"),
            (Why::Deleted, "Gear", "True"),
        ] {
            let event = event(why, definition(kind, established));
            model.apply(&crd, &event, at(0));
        }
    }
    assert_eq!(kinds(&plain), ["CustomResourceDefinition"]);
    assert_eq!(kinds(&every), ["CustomResourceDefinition", "Widget"]);
    let widgets = every.requested()[1].clone();
    assert_eq!(
        (widgets.scope, widgets.select),
        (Scope::Cluster, Select::All)
    );
}
