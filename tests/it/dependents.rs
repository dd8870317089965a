//! Tests of what custom resources own: objects of any kind, in every API group, and also in other namespaces.

use insta::assert_snapshot;
use kubectl_spy::object::Resource;
use kubectl_spy::sandbox::{Effect, ErrorBody, Fault, Kind, Options, Request, Verb};
use serde_json::{Value, json};

use super::support::Ran;
use super::support::cluster::{Cluster, config_map, owned_by};

/// The kinds of four API groups. A `Package` and a `Grant` are cluster-scoped.
fn kinds(options: &mut Options) {
    let cluster_scoped = |kind: Kind| Kind {
        resource: Resource {
            namespaced: false,
            ..kind.resource.clone()
        },
        ..kind
    };
    options.kinds = vec![
        Kind::custom("obs.example.com", "v1", "Collector", "collectors"),
        Kind::custom("net.example.org", "v1", "Probe", "probes"),
        cluster_scoped(Kind::custom("pkg.example.dev", "v1", "Package", "packages")),
        cluster_scoped(Kind::custom("auth.example.net", "v1", "Grant", "grants")),
    ];
}

async fn cluster() -> Cluster {
    Cluster::start_with(kinds).await
}

/// A custom resource in `shop`, or in no namespace, that its controller calls ready or not.
fn custom(api_version: &str, kind: &str, name: &str, is_ready: bool) -> Value {
    let (status, reason) = if is_ready {
        ("True", "Ready")
    } else {
        ("False", "ConnectError")
    };
    let mut object = json!({
        "apiVersion": api_version, "kind": kind, "metadata": {"name": name}, "spec": {},
        "status": {
            "observedGeneration": 1,
            "conditions": [{"type": "Ready", "status": status, "reason": reason, "message": "no route to host"}],
        },
    });
    if !["Package", "Grant"].contains(&kind) {
        object["metadata"]["namespace"] = "shop".into();
    }
    object
}

/// A ready collector. It owns a probe, which owns an Ingress to a Service that does not exist.
fn put_collector(cluster: &Cluster) -> Value {
    let collector = cluster.put(custom("obs.example.com/v1", "Collector", "xr", true));
    let probe = custom("net.example.org/v1", "Probe", "edge", true);
    let probe = cluster.put(owned_by(probe, &collector));
    cluster.put(owned_by(
        config_map("settings", &json!({"a": "b"})),
        &collector,
    ));
    cluster.put(owned_by(ingress("door", "absent"), &probe));
    collector
}

/// An Ingress to a Service.
fn ingress(name: &str, service: &str) -> Value {
    json!({
        "apiVersion": "networking.k8s.io/v1", "kind": "Ingress", "metadata": {"name": name, "namespace": "shop"},
        "spec": {"defaultBackend": {"service": {"name": service, "port": {"number": 80}}}},
        "status": {"loadBalancer": {"ingress": [{"ip": "192.0.2.1"}]}},
    })
}

fn once(cluster: &Cluster, args: &[&str]) -> Ran {
    cluster.spy().run(&[&["status", "--once"], args].concat())
}

/// How many of these requests list all objects of a kind: their metadata, and whole ones.
fn searched(requests: &[Request]) -> (usize, usize) {
    let lists = requests.iter().filter(|request| {
        request.path.contains("limit=500") && !request.path.contains("Selector=")
    });
    let (partial, whole): (Vec<_>, Vec<_>) =
        lists.partition(|request| request.accept.contains("as=PartialObjectMetadataList"));
    (partial.len(), whole.len())
}

#[tokio::test(flavor = "multi_thread")]
async fn a_custom_resource_shows_what_it_owns_in_every_group() {
    let cluster = cluster().await;
    put_collector(&cluster);
    let ran = once(&cluster, &["collector/xr"]);
    assert_snapshot!(ran.transcript(), @"
    NAME                     READY   STATUS    RESTARTS   AGE     NODE   IP
    ✗ collector/xr           -       Failed    -          4m59s   -      -
    │ └ probe/edge: ingress/door: backend service/absent does not exist
    ├─● configmap/settings   -       Current   -          4m57s   -      -
    └─✗ probe/edge           -       Failed    -          4m58s   -      -
      └─✗ ingress/door       -       Failed    -          4m56s   -      -
    ");
    let ran = once(&cluster, &["--unhealthy"]);
    assert_snapshot!(ran.transcript(), @"
    1 Current, 3 Failed
    NAME                 READY   STATUS   RESTARTS   AGE     NODE   IP
    ✗ collector/xr       -       Failed   -          4m59s   -      -
    │ └ probe/edge: ingress/door: backend service/absent does not exist
    └─✗ probe/edge       -       Failed   -          4m58s   -      -
      └─✗ ingress/door   -       Failed   -          4m56s   -      -
          └ created 4m56s ago by kubectl-create
    ");
    let ran = cluster.spy().run(&["trace", "collector/xr", "--once"]);
    assert_snapshot!(ran.transcript(), @"
    collector/xr  -n shop
    ✗ probe/edge: ingress/door: backend service/absent does not exist   4m59s
    CONNECTED                  RELATION   STATE            AGE
    └─ behind
      ├─● configmap/settings   owned      Current          4m57s
      └─✗ probe/edge           owned      Failed           4m58s
        │ └ ingress/door: backend service/absent does not exist
        └─✗ ingress/door       owned      Failed           4m56s
          └─∅ service/absent   backend    does not exist
    looked through 1 collector, 1 ingress, 1 probe and 1 more
    ");
}

#[tokio::test(flavor = "multi_thread")]
async fn what_a_cluster_scoped_resource_owns_is_in_any_namespace() {
    let cluster = cluster().await;
    let package = cluster.put(custom("pkg.example.dev/v1", "Package", "core", true));
    let grant = custom("auth.example.net/v1", "Grant", "admin", false);
    cluster.put(owned_by(grant, &package));
    cluster.put(owned_by(
        config_map("settings", &json!({"a": "b"})),
        &package,
    ));
    let ran = once(&cluster, &["package/core"]);
    assert_snapshot!(ran.transcript(), @"
    NAMESPACE   NAME                     READY   STATUS       RESTARTS   AGE     NODE   IP
    -           ● package/core           -       Current      -          4m59s   -      -
    shop        ├─● configmap/settings   -       Current      -          4m57s   -      -
    -           └─~ grant/admin          -       InProgress   -          4m58s   -      -
                    └ ConnectError: no route to host
    ");
    let ran = cluster.spy().run(&["trace", "package/core", "--once"]);
    assert_snapshot!(ran.transcript(), @"
    package/core
    ● Resource is Ready   4m59s
    CONNECTED                          RELATION   STATE        AGE
    └─ behind
      ├─● configmap/settings -n shop   owned      Current      4m57s
      └─~ grant/admin                  owned      InProgress   4m58s
          └ ConnectError: no route to host
    looked through 1 package, 1 grant and 1 configmap
    ");
}

#[tokio::test(flavor = "multi_thread")]
async fn every_check_judges_what_was_found() {
    let cluster = cluster().await;
    put_collector(&cluster);
    for args in [
        &["status", "collector/xr"][..],
        &["status", "collectors"],
        &["changes", "collector/xr"],
        &["trace", "collector/xr"],
    ] {
        let ran = cluster
            .spy()
            .run(&[args, &["--for=current", "--once"]].concat());
        assert_eq!(ran.status.code(), Some(3), "{args:?} {}", ran.transcript());
        let reason = "ingress/door: backend service/absent does not exist";
        assert!(ran.stderr.contains(reason), "{args:?} {}", ran.stderr);
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn kinds_that_cannot_be_searched_are_one_line() {
    let cluster = cluster().await;
    put_collector(&cluster);
    let refused = || Effect::Status {
        code: 403,
        retry_after: None,
        body: ErrorBody::Status,
    };
    for resource in ["secrets", "probes"] {
        let fault = Fault::on(Verb::Any, resource, refused());
        cluster.sandbox.inject(fault.always());
    }
    let ran = once(&cluster, &["collector/xr", "--exit-code"]);
    assert_snapshot!(ran.transcript(), @"
    NAME                     READY   STATUS    RESTARTS   AGE     NODE   IP
    ● collector/xr           -       Current   -          4m59s   -      -
    └─● configmap/settings   -       Current   -          4m57s   -      -
    dependents may be missing: probes.net.example.org, secrets (cannot be read); `kubectl auth can-i --list -n shop` shows your rights
    ");
    assert_eq!(ran.status.code(), Some(0));
}

#[tokio::test(flavor = "multi_thread")]
async fn the_search_follows_the_first_frame_and_reads_only_metadata() {
    let cluster = cluster().await;
    let collector = put_collector(&cluster);
    let mut run = cluster.spy().start(&["status", "collector/xr"]);
    run.until("collector/xr Current");
    run.until("collector/xr Failed");
    run.until("ingress/door Failed");
    let requests = cluster.sandbox.requests();
    let first = requests
        .iter()
        .position(|request| request.accept.contains("as=PartialObjectMetadataList"))
        .unwrap();
    assert_eq!(
        searched(&requests[..first]),
        (0, 10),
        "as without the search"
    );
    let (partial, whole) = searched(&requests[first..]);
    assert_eq!(whole, 0, "{:#?}", &requests[first..]);
    assert!(partial > 10, "{partial}");
    let late = custom("net.example.org/v1", "Probe", "late", true);
    cluster.put(owned_by(late, &collector));
    run.until("probe/late Current");
    cluster.delete("probes.net.example.org", "late");
    run.until("probe/late NotFound");
    run.interrupt();
}
