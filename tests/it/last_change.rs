//! Tests of the last change before a failure, against the sandbox: of the object itself, and of what its Pods name.

use kubectl_spy::sandbox::{Deletion, Target, Writer};
use serde_json::{Value, json};

use super::schema::Schema;
use super::support::cluster::{Cluster, config_map, owned_by, pod};

/// A Pod that does not start, with its environment from a `ConfigMap` and a Secret.
fn broken_pod(reason: &str) -> Value {
    let mut pod = pod("web", &json!({}));
    let environment = [
        json!({"configMapRef": {"name": "flags"}}),
        json!({"secretRef": {"name": "db"}}),
    ];
    pod["spec"]["containers"][0]["envFrom"] = json!(environment);
    let waiting = json!({"waiting": {"reason": reason, "message": "no"}});
    pod["status"] = json!({
        "phase": "Pending",
        "containerStatuses": [{"name": "app", "ready": false, "state": waiting}],
    });
    pod
}

fn secret(password: &str) -> Value {
    json!({
        "apiVersion": "v1", "kind": "Secret", "metadata": {"name": "db", "namespace": "shop"},
        "data": {"password": password},
    })
}

/// The line about the last change of an object, or of what it needs.
fn line_of(cluster: &Cluster, object: &str) -> String {
    let ran = cluster.spy().run(&["status", object, "--once"]);
    let mut lines = ran.stdout.lines();
    let found = lines.find(|line| line.contains("changed ") || line.contains("deleted"));
    found.unwrap_or("none").trim().to_owned()
}

fn line(cluster: &Cluster) -> String {
    line_of(cluster, "pod/web")
}

/// A Deployment of this image that a quota does not let have its Pods.
fn refused() -> Value {
    let refusal = "pods \"web-1\" is forbidden: exceeded quota: few, requested: pods=1, used: pods=3, limited: pods=3";
    json!({
        "apiVersion": "apps/v1", "kind": "Deployment",
        "metadata": {"name": "web", "namespace": "shop", "generation": 1},
        "spec": {
            "replicas": 3,
            "selector": {"matchLabels": {"app": "web"}},
            "template": {"metadata": {"labels": {"app": "web"}}, "spec": {"containers": [{"name": "web", "image": "web:1"}]}},
        },
        "status": {
            "observedGeneration": 1, "replicas": 1, "updatedReplicas": 1,
            "conditions": [{"type": "ReplicaFailure", "status": "True", "reason": "FailedCreate", "message": refusal}],
        },
    })
}

/// A change of the image of the Deployment.
fn image(image: &str) -> Value {
    let pod = json!({"containers": [{"name": "web", "image": image}]});
    json!({"spec": {"template": {"spec": pod}}})
}

/// The controller observes a generation of the Deployment.
fn observe(cluster: &Cluster, generation: u64) {
    let status = json!({"status": {"observedGeneration": generation}});
    cluster.edit("deployments.apps", "web", &status);
}

#[tokio::test(flavor = "multi_thread")]
async fn the_quota_that_refuses_pods_comes_before_the_rollout_that_met_it() {
    let cluster = Cluster::start().await;
    let quota = json!({
        "apiVersion": "v1", "kind": "ResourceQuota", "metadata": {"name": "few", "namespace": "shop"},
        "spec": {"hard": {"pods": "5"}},
    });
    cluster.put(quota);
    cluster.put(refused());
    cluster.edit(
        "resourcequotas",
        "few",
        &json!({"spec": {"hard": {"pods": "3"}}}),
    );
    cluster.edit("deployments.apps", "web", &image("web:2"));
    observe(&cluster, 2);
    assert_eq!(
        line_of(&cluster, "deploy/web"),
        "└ resourcequota/few changed 4m57s ago by kubectl-edit: hard.pods: \"5\" → \"3\""
    );
}

#[tokio::test(flavor = "multi_thread")]
async fn only_an_image_is_blamed_for_an_image_that_cannot_be_pulled() {
    let cluster = Cluster::start().await;
    cluster.put(broken_pod("ErrImagePull"));
    let containers = |change: Value| {
        let mut container = json!({"name": "app"});
        container
            .as_object_mut()
            .unwrap()
            .extend(change.as_object().unwrap().clone());
        json!({"spec": {"containers": [container]}})
    };
    cluster.edit("pods", "web", &containers(json!({"image": "app:2"})));
    cluster.edit(
        "pods",
        "web",
        &containers(json!({"image": "app:2", "tty": true})),
    );
    assert_eq!(
        line(&cluster),
        "└ changed 4m58s ago by kubectl-edit: containers[app].image: app:1 → app:2"
    );
}

#[tokio::test(flavor = "multi_thread")]
async fn a_changed_pull_secret_is_blamed_for_an_image_that_cannot_be_pulled() {
    let cluster = Cluster::start().await;
    cluster.put(secret("b2xk"));
    let mut pod = broken_pod("ErrImagePull");
    pod["spec"]["imagePullSecrets"] = json!([{"name": "db"}]);
    cluster.put(pod);
    cluster.edit("secrets", "db", &json!({"data": {"password": "bmV3"}}));
    assert_eq!(
        line(&cluster),
        "└ secret/db changed 4m57s ago by kubectl-edit: password: <secret 3 B #1> → <secret 3 B #2>"
    );
}

/// Each run numbers the values from 1. Of one change, all commands show the same numbers: the old value comes first.
#[tokio::test(flavor = "multi_thread")]
async fn the_commands_number_the_values_of_one_change_alike() {
    let cluster = Cluster::start().await;
    let mut db = secret("b2xk");
    db["data"]["token"] = json!("b2xk");
    cluster.put(db);
    cluster.put(config_map("flags", &json!({"limit": "10"})));
    cluster.put(broken_pod("CreateContainerConfigError"));
    let change = json!({"data": {"password": "bmV3", "token": "bmV3LTI="}});
    cluster.edit("secrets", "db", &change);
    let expect = [
        "password: <secret 3 B #1> → <secret 3 B #2>",
        "token: <secret 3 B #1> → <secret 5 B #3>",
    ];
    for args in [
        &["status", "pod/web", "--once"][..],
        &["status", "pods", "--unhealthy", "--once"],
        &["trace", "pod/web", "--once"],
        &["changes", "secret/db", "--once"],
        &["changes", "--since", "10m", "--once"],
    ] {
        let ran = cluster.spy().run(args);
        for change in expect {
            assert!(ran.stdout.contains(change), "{args:?}: {}", ran.stdout);
        }
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_restart_of_what_had_failed_before_is_not_the_cause() {
    let cluster = Cluster::start().await;
    let mut web = refused();
    web["status"]["conditions"] = json!([{"type": "Progressing", "status": "False", "reason": "ProgressDeadlineExceeded", "message": "no"}]);
    cluster.put(web);
    cluster.edit("deployments.apps", "web", &image("web:2"));
    let restart =
        json!({"metadata": {"annotations": {"kubectl.kubernetes.io/restartedAt": "now"}}});
    cluster.edit(
        "deployments.apps",
        "web",
        &json!({"spec": {"template": restart}}),
    );
    observe(&cluster, 3);
    assert_eq!(
        line_of(&cluster, "deploy/web"),
        "└ changed 4m58s ago by kubectl-edit: containers[web].image: web:1 → web:2"
    );
}

#[tokio::test(flavor = "multi_thread")]
async fn the_last_change_of_the_pod_or_of_its_configuration_is_shown() {
    let cluster = Cluster::start().await;
    cluster.put(config_map("flags", &json!({"limit": "10"})));
    cluster.put(secret("b2xk"));
    cluster.put(broken_pod("CreateContainerConfigError"));
    assert_eq!(line(&cluster), "none");
    cluster.edit("configmaps", "flags", &json!({"data": {"limit": "25"}}));
    assert_eq!(
        line(&cluster),
        "└ configmap/flags changed 4m56s ago by kubectl-edit: limit: \"10\" → \"25\" (no sign that it matters)"
    );
    // The value of a Secret is hidden.
    cluster.edit("secrets", "db", &json!({"data": {"password": "bmV3"}}));
    assert_eq!(
        line(&cluster),
        "└ secret/db changed 4m55s ago by kubectl-edit: password: <secret 3 B #1> → <secret 3 B #2> (no sign that it matters)"
    );
    let mut containers = broken_pod("")["spec"]["containers"].clone();
    containers[0]["image"] = json!("app:2");
    let image = json!({"spec": {"containers": containers}});
    cluster.edit("pods", "web", &image);
    assert_eq!(
        line(&cluster),
        "└ changed 4m54s ago by kubectl-edit: containers[app].image: app:1 → app:2"
    );
    // What is missing comes first.
    cluster.delete("configmaps", "flags");
    assert_eq!(line(&cluster), "└ configmap/flags was deleted");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_rollout_whose_pod_does_not_become_ready_has_the_change_that_started_it() {
    let cluster = Cluster::start().await;
    let mut deployment = refused();
    let ready = |count: u32| {
        json!({
            "observedGeneration": if count == 2 { 2 } else { 1 },
            "replicas": 3, "updatedReplicas": count, "readyReplicas": count, "availableReplicas": count,
            "conditions": [{"type": "Available", "status": "True", "reason": "MinimumReplicasAvailable"}],
        })
    };
    deployment["status"] = ready(0);
    let deployment = cluster.put(deployment);
    cluster.report("deployments.apps", "web", &ready(3));
    cluster.edit("deployments.apps", "web", &image("web:2"));
    cluster.report("deployments.apps", "web", &ready(2));
    let mut set = deployment.clone();
    set["kind"] = json!("ReplicaSet");
    set["metadata"] = json!({"name": "web-2", "namespace": "shop", "labels": {"app": "web"}});
    set["spec"]["template"]["spec"]["containers"][0]["image"] = json!("web:2");
    set["status"] = json!({"replicas": 1});
    let set = cluster.put(owned_by(set, &deployment));
    let mut unready = owned_by(pod("web-2-a", &json!({"app": "web"})), &set);
    unready["status"] = json!({
        "phase": "Running",
        "conditions": [{"type": "Ready", "status": "False", "reason": "ContainersNotReady"}],
        "containerStatuses": [{"name": "app", "ready": false, "state": {"running": {}}}],
    });
    let unready = cluster.put(unready);
    assert_eq!(line_of(&cluster, "deploy/web"), "none");
    cluster.put(json!({
        "apiVersion": "v1", "kind": "Event", "metadata": {"name": "web-2-a.1", "namespace": "shop"},
        "type": "Warning", "reason": "Unhealthy", "message": "Readiness probe failed: statuscode: 503",
        "involvedObject": {
            "apiVersion": "v1", "kind": "Pod", "namespace": "shop", "name": "web-2-a", "uid": unready["metadata"]["uid"],
        },
    }));
    assert_eq!(
        line_of(&cluster, "deploy/web"),
        "│ └ changed 4m57s ago by kubectl-edit: containers[web].image: web:1 → web:2"
    );
}

#[tokio::test(flavor = "multi_thread")]
async fn an_object_that_is_well_costs_no_look_up() {
    let cluster = Cluster::start().await;
    cluster.put(config_map("flags", &json!({})));
    cluster.edit("configmaps", "flags", &json!({"data": {"a": "1"}}));
    let ran = cluster.spy().run(&["status", "cm/flags", "--once"]);
    assert!(!ran.stdout.contains("changed"), "{}", ran.stdout);
    let requests = cluster.sandbox.requests_until(|_| true).await;
    let mut requests = requests.iter();
    assert!(!requests.any(|request| request.path.contains("Exact")));
}

#[tokio::test(flavor = "multi_thread")]
async fn logs_and_records_have_the_last_change() {
    let cluster = Cluster::start().await;
    cluster.put(config_map("flags", &json!({"limit": "10"})));
    cluster.put(secret("b2xk"));
    cluster.put(broken_pod("CreateContainerConfigError"));
    cluster.edit("configmaps", "flags", &json!({"data": {"limit": "25"}}));
    let change = "pod/web is not well: configmap/flags changed at 2026-03-02T12:00:04Z by kubectl-edit: limit: \"10\" → \"25\" (no sign that it matters)";
    for verb in ["status", "trace"] {
        let mut run = cluster.spy().start(&[verb, "pod/web"]);
        assert!(run.until("changed at").ends_with(change));
        run.interrupt();
        let ran = cluster
            .spy()
            .run(&[verb, "pod/web", "--once", "-o", "json"]);
        let record = Schema::of(verb).check(ran.stdout.lines().next().unwrap());
        let change = &record["lastChanges"][0];
        assert_eq!(change["ref"]["name"], "flags");
        assert_eq!(change["by"], "kubectl-edit");
        assert_eq!(change["changes"], json!(["limit: \"10\" → \"25\""]));
        assert_eq!(change["sign"], "none");
    }
}

/// A Pod that does not start, because a `ConfigMap` lacks the key `limit`. It reads all keys of another one.
fn reading_pod() -> Value {
    let mut pod = broken_pod("CreateContainerConfigError");
    let key = json!({"configMapKeyRef": {"name": "flags", "key": "limit"}});
    pod["spec"]["containers"][0]["env"] = json!([{"name": "LIMIT", "valueFrom": key}]);
    pod["spec"]["containers"][0]["envFrom"] = json!([{"configMapRef": {"name": "others"}}]);
    pod
}

/// Somebody changes other fields after the change that broke the object.
struct Noise {
    /// What was there before.
    objects: Vec<Value>,
    /// The changes: the resource, the name and the patch. The first one is the cause, and the others are not.
    changes: Vec<(&'static str, &'static str, Value)>,
    /// The object to look at.
    shown: &'static str,
    /// The line.
    line: &'static str,
}

fn object(api_version: &str, kind: &str, name: &str, spec: &Value) -> Value {
    json!({
        "apiVersion": api_version, "kind": kind, "metadata": {"name": name, "namespace": "shop", "generation": 1},
        "spec": spec,
    })
}

fn ingress(backend: &str) -> Value {
    let backend = json!({"service": {"name": backend, "port": {"number": 80}}});
    let paths = json!([{"path": "/", "pathType": "Prefix", "backend": backend}]);
    json!([{"host": "a.example.com", "http": {"paths": paths}}])
}

fn service() -> Value {
    let ports = json!([{"port": 80, "targetPort": 8080}]);
    let spec = json!({"clusterIP": "10.96.0.10", "selector": {"app": "web"}, "ports": ports});
    object("v1", "Service", "web", &spec)
}

fn selector_that_matches_nothing() -> Noise {
    Noise {
        objects: vec![service()],
        changes: vec![
            (
                "services",
                "web",
                json!({"spec": {"selector": {"app": "wbe"}}}),
            ),
            (
                "services",
                "web",
                json!({"spec": {"sessionAffinity": "ClientIP"}}),
            ),
        ],
        shown: "svc/web",
        line: "└ changed 4m58s ago by kubectl-edit: selector.app: web → wbe",
    }
}

fn backend_that_does_not_exist() -> Noise {
    let external = json!({"type": "ExternalName", "externalName": "a.example.com"});
    let mut both = ingress("gone");
    let mut second = ingress("other")[0].clone();
    second["host"] = json!("b.example.com");
    both.as_array_mut().unwrap().push(second);
    let front = json!({"rules": ingress("other")});
    let of_front = |rules: Value| {
        (
            "ingresses.networking.k8s.io",
            "front",
            json!({"spec": {"rules": rules}}),
        )
    };
    Noise {
        objects: vec![
            object("v1", "Service", "other", &external),
            object("networking.k8s.io/v1", "Ingress", "front", &front),
        ],
        changes: vec![of_front(ingress("gone")), of_front(both)],
        shown: "ing/front",
        line: "└ changed 4m57s ago by kubectl-edit: rules[host=a.example.com].http.paths[path=/].backend.service.name: other → gone",
    }
}

fn key_that_is_missing() -> Noise {
    Noise {
        objects: vec![
            config_map("flags", &json!({"limit": "10"})),
            config_map("others", &json!({"a": "1"})),
            reading_pod(),
        ],
        changes: vec![
            (
                "configmaps",
                "flags",
                json!({"data": {"limit": null, "max": "10"}}),
            ),
            ("configmaps", "flags", json!({"data": {"b": "2"}})),
            ("configmaps", "others", json!({"data": {"a": "2"}})),
        ],
        shown: "pod/web",
        line: "└ configmap/flags changed 4m56s ago by kubectl-edit: limit: \"10\" → (none), max: (none) → \"10\"",
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_later_change_of_other_fields_is_not_blamed() {
    for case in [
        selector_that_matches_nothing(),
        backend_that_does_not_exist(),
        key_that_is_missing(),
    ] {
        let cluster = Cluster::start().await;
        for object in case.objects {
            cluster.put(object);
        }
        for (resource, name, patch) in &case.changes {
            cluster.edit(resource, name, patch);
        }
        assert_eq!(line_of(&cluster, case.shown), case.line, "{}", case.shown);
    }
}

/// A Deployment in a namespace of its own, with an image that was set later and cannot be pulled.
fn unpulled(cluster: &Cluster, namespace: &str) {
    let mut web = refused();
    web["metadata"]["namespace"] = namespace.into();
    web["status"] = json!({"observedGeneration": 2, "replicas": 1, "updatedReplicas": 1});
    cluster.put(web);
    let target = Target::new("deployments.apps", namespace, "web");
    let web = cluster.edit_at(&target, &image("bad:1"));
    let mut set = web.clone();
    set["kind"] = json!("ReplicaSet");
    set["metadata"] = json!({"name": "web-2", "namespace": namespace, "labels": {"app": "web"}});
    let set = cluster.put(owned_by(set, &web));
    let mut unpulled = broken_pod("ImagePullBackOff");
    unpulled["metadata"]["namespace"] = namespace.into();
    unpulled["metadata"]["labels"] = json!({"app": "web"});
    cluster.put(owned_by(unpulled, &set));
}

/// The lines about changes in a table.
fn changes_in(stdout: &str) -> Vec<&str> {
    let lines = stdout
        .lines()
        .map(|line| line.trim_start_matches(['│', ' ', '└']));
    lines
        .filter(|line| line.starts_with("changed ") || line.starts_with("last written"))
        .collect()
}

#[tokio::test(flavor = "multi_thread")]
async fn each_namespace_has_its_authors_with_few_requests() {
    let cluster = Cluster::start().await;
    let namespaces: Vec<String> = (1..=14).map(|number| format!("shop-{number}")).collect();
    for namespace in &namespaces {
        unpulled(&cluster, namespace);
    }
    let ran = cluster
        .spy()
        .run(&["status", "--unhealthy", "-A", "--once"]);
    let changes = changes_in(&ran.stdout);
    assert_eq!(changes.len(), 14, "{}", ran.stdout);
    for change in changes {
        assert!(
            change.ends_with("by kubectl-edit: containers[web].image: web:1 → bad:1"),
            "{change}"
        );
    }
    let requests = cluster.sandbox.requests_until(|_| true).await;
    let past = requests
        .iter()
        .filter(|request| request.path.contains("Exact"))
        .count();
    assert!((14..=60).contains(&past), "{past}");
}

#[tokio::test(flavor = "multi_thread")]
async fn an_object_that_never_existed_is_looked_for_in_few_requests() {
    for writes in [0, 40, 2_000] {
        let cluster = Cluster::start().await;
        cluster.put(config_map("other", &json!({"a": "0"})));
        for number in 0..writes {
            let data = json!({"data": {"a": number.to_string()}});
            let target = Target::new("configmaps", "shop", "other");
            let by = Writer::new("ci");
            cluster.sandbox.patch(&target, &data, &by).unwrap();
        }
        cluster.put(secret("b2xk"));
        cluster.put(broken_pod("CreateContainerConfigError"));
        assert_eq!(line(&cluster), "none", "{writes}");
        let requests = cluster.sandbox.requests_until(|_| true).await;
        assert!(requests.len() <= 12, "{writes}: {requests:#?}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn of_several_missing_objects_it_is_said_that_their_deletions_are_not_looked_up() {
    let cluster = Cluster::start().await;
    cluster.put(config_map("other", &json!({"a": "0"})));
    for number in 0..40 {
        cluster.edit(
            "configmaps",
            "other",
            &json!({"data": {"a": number.to_string()}}),
        );
    }
    for name in ["api", "db", "jobs"] {
        let mut unstarted = broken_pod("CreateContainerConfigError");
        unstarted["metadata"]["name"] = name.into();
        cluster.put(unstarted);
    }
    cluster.put(secret("b2xk"));
    let shortfall = |args: &[&str]| {
        let ran = cluster.spy().run(args);
        let mut lines = ran.stdout.lines();
        let found = lines.find(|line| line.contains("failure"));
        found.map(str::to_owned)
    };
    assert_eq!(
        shortfall(&["status", "--unhealthy", "--once"]).as_deref(),
        Some(
            "not looked up for 3 of 3 failures: whether the missing object was deleted; name one of them to see it"
        ),
    );
    assert_eq!(shortfall(&["status", "pod/db", "--once"]), None);
}

#[tokio::test(flavor = "multi_thread")]
async fn the_time_of_a_deletion_is_known_in_few_requests() {
    let cluster = Cluster::start().await;
    cluster.put(config_map("flags", &json!({"a": "0"})));
    cluster.put(secret("b2xk"));
    cluster.put(broken_pod("CreateContainerConfigError"));
    let by = Writer::new("kube-scheduler");
    let renew = |second: u32| {
        let lease = json!({
            "apiVersion": "coordination.k8s.io/v1", "kind": "Lease",
            "metadata": {"name": "kube-scheduler", "namespace": "kube-system"},
            "spec": {"renewTime": format!("2026-03-02T12:00:{second:02}.000000Z")},
        });
        cluster.sandbox.apply(lease, &by).unwrap();
    };
    for second in (0..40).step_by(2) {
        renew(second);
    }
    let flags = Target::new("configmaps", "shop", "flags");
    let by = Writer::new("kubectl-edit");
    cluster
        .sandbox
        .delete(&flags, Deletion::Immediate, &by)
        .unwrap();
    for second in (40..60).step_by(2) {
        renew(second);
    }
    let deleted = line(&cluster);
    assert_eq!(deleted, "└ configmap/flags was deleted 4m20s–4m22s ago");
    let requests = cluster.sandbox.requests_until(|_| true).await;
    assert!(requests.len() <= 12, "{requests:#?}");
}

#[tokio::test(flavor = "multi_thread")]
async fn the_writer_is_known_after_compaction() {
    let cluster = Cluster::start().await;
    unpulled(&cluster, "shop");
    cluster.sandbox.compact(cluster.sandbox.revision());
    // The watch cache of one object still has the old value.
    let ran = cluster.spy().run(&["status", "deploy/web", "--once"]);
    let change = "changed 4m58s ago by kubectl-edit: containers[web].image: web:1 → bad:1";
    assert_eq!(changes_in(&ran.stdout), [change]);
    for namespace in ["shop-2", "shop-3"] {
        unpulled(&cluster, namespace);
    }
    cluster.sandbox.compact(cluster.sandbox.revision());
    let ran = cluster
        .spy()
        .run(&["status", "--unhealthy", "-A", "--once"]);
    let written = changes_in(&ran.stdout);
    assert_eq!(written.len(), 3, "{}", ran.stdout);
    for line in written {
        let end = "by kubectl-edit: containers[web].image (the old value is compacted)";
        assert!(
            line.starts_with("last written 4m") && line.ends_with(end),
            "{line}"
        );
    }
}

/// A Service of the Deployment of [`unpulled`].
fn repeating_service(cluster: &Cluster, namespace: &str) {
    cluster.put(json!({
        "apiVersion": "v1", "kind": "Service", "metadata": {"name": "web", "namespace": namespace},
        "spec": {"clusterIP": "10.0.0.1", "selector": {"app": "web"}, "ports": [{"port": 80}]},
    }));
    cluster.put(json!({
        "apiVersion": "discovery.k8s.io/v1", "kind": "EndpointSlice", "addressType": "IPv4",
        "metadata": {"name": "web-1", "namespace": namespace, "labels": {"kubernetes.io/service-name": "web"}},
        "endpoints": [{
            "addresses": ["10.1.0.1"], "conditions": {"ready": false},
            "targetRef": {"kind": "Pod", "name": "web", "namespace": namespace},
        }],
        "ports": [{"port": 80}],
    }));
}

#[tokio::test(flavor = "multi_thread")]
async fn what_fails_by_itself_stands_before_what_repeats_it() {
    let cluster = Cluster::start().await;
    for namespace in ["shop-b", "shop-a"] {
        unpulled(&cluster, namespace);
        repeating_service(&cluster, namespace);
    }
    let mut alone = object(
        "v1",
        "Service",
        "alone",
        &json!({"selector": {"app": "none"}}),
    );
    alone["metadata"]["namespace"] = "shop-b".into();
    alone["spec"]["clusterIP"] = "10.0.0.2".into();
    cluster.put(alone);
    let ran = cluster.spy().run(&["status", "svc,deploy", "-A", "--once"]);
    let lines = ran.stdout.lines();
    let rows = lines.filter_map(|line| {
        let (namespace, rest) = line.split_once(" ✗ ").or_else(|| line.split_once(" ~ "))?;
        Some(format!("{} {}", namespace.trim(), rest.split(' ').next()?))
    });
    let expected = [
        "shop-a deployment/web",
        "shop-b service/alone",
        "shop-b deployment/web",
        "shop-a service/web",
        "shop-b service/web",
    ];
    assert_eq!(rows.collect::<Vec<_>>(), expected, "{}", ran.stdout);
}
