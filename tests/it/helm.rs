//! Tests of `status helm:RELEASE`: the objects in the manifest of the newest revision.

use std::io::Write;

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use flate2::Compression;
use flate2::write::GzEncoder;
use insta::assert_snapshot;
use kubectl_spy::sandbox::{Rule, User};
use serde_json::json;

use super::support::Ran;
use super::support::cluster::{Cluster, config_map};

/// Stores a revision of a release as Helm does.
fn put_release(cluster: &Cluster, (name, version): (&str, u32), manifest: &str) {
    let release = packed((name, version), manifest);
    put_secret(cluster, (name, version), &release);
}

/// Stores a revision of a release as Helm does with `HELM_DRIVER=configmap`.
fn put_config_map_release(cluster: &Cluster, (name, version): (&str, u32), manifest: &str) {
    let release = packed((name, version), manifest);
    cluster.put(json!({
        "apiVersion": "v1", "kind": "ConfigMap",
        "metadata": {
            "name": format!("sh.helm.release.v1.{name}.v{version}"), "namespace": "shop",
            "labels": {"owner": "helm", "name": name, "version": version.to_string(), "status": "deployed"},
        },
        "data": {"release": STANDARD.encode(release)},
    }));
}

fn packed((name, version): (&str, u32), manifest: &str) -> Vec<u8> {
    let release = json!({
        "name": name, "version": version, "config": {"password": "hunter2"}, "manifest": manifest,
    });
    let mut gzip = GzEncoder::new(Vec::new(), Compression::default());
    gzip.write_all(release.to_string().as_bytes()).unwrap();
    gzip.finish().unwrap()
}

fn put_secret(cluster: &Cluster, (name, version): (&str, u32), release: &[u8]) {
    let status = if version == 3 { "failed" } else { "deployed" };
    cluster.put(json!({
        "apiVersion": "v1", "kind": "Secret", "type": "helm.sh/release.v1",
        "metadata": {
            "name": format!("sh.helm.release.v1.{name}.v{version}"), "namespace": "shop",
            "labels": {"owner": "helm", "name": name, "version": version.to_string(), "status": status},
        },
        "data": {"release": STANDARD.encode(STANDARD.encode(release))},
    }));
}

fn map(name: &str) -> String {
    format!("---\n# Source: chart\napiVersion: v1\nkind: ConfigMap\nmetadata: {{name: {name}}}\n")
}

const SECRET: &str =
    "---\napiVersion: v1\nkind: Secret\nmetadata: {name: db}\nstringData: {key: hunter2}\n";

fn once(cluster: &Cluster, args: &[&str]) -> Ran {
    let spy = cluster.spy();
    tokio::task::block_in_place(|| spy.run(&[&["status", "--once"], args].concat()))
}

/// The Tab key shows that there are releases, and their names. It reads only the labels of Secrets.
#[tokio::test(flavor = "multi_thread")]
async fn releases_are_completed() {
    let cluster = Cluster::start().await;
    put_release(&cluster, ("web", 1), &map("old"));
    put_release(&cluster, ("web", 2), &map("old"));
    put_config_map_release(&cluster, ("worker", 1), &map("old"));
    let completed = |words: &[&str]| {
        let spy = cluster.spy();
        tokio::task::block_in_place(|| spy.run(&[&["__complete"], words].concat()).stdout)
    };
    assert_eq!(
        completed(&["status", "hel"]),
        "helm:\tthe objects of a Helm release\n:6\n"
    );
    assert!(completed(&["status", ""]).contains("helm:"));
    assert!(!completed(&["status", "pods,"]).contains("helm:"));
    assert_eq!(
        completed(&["status", "helm:"]),
        "helm:web\nhelm:worker\n:4\n"
    );
    assert_eq!(
        completed(&["trace", "helm:web", "helm:w"]),
        "helm:worker\n:4\n"
    );
    let requests = cluster.sandbox.requests();
    let mut secrets = requests.iter().filter(|one| one.path.contains("/secrets"));
    assert!(secrets.all(|one| one.accept.contains("PartialObjectMetadataList")));
}

#[tokio::test(flavor = "multi_thread")]
async fn the_newest_revision_names_the_objects() {
    let cluster = Cluster::start().await;
    for name in ["old", "new"] {
        cluster.put(config_map(name, &json!({})));
    }
    cluster.put(json!({
        "apiVersion": "v1", "kind": "Secret", "metadata": {"name": "db", "namespace": "shop"},
        "data": {"key": STANDARD.encode("hunter2")},
    }));
    put_release(&cluster, ("web", 9), &map("old"));
    put_release(
        &cluster,
        ("web", 10),
        &(map("new") + SECRET + "---\n# nothing\n"),
    );
    put_release(&cluster, ("api", 11), &map("other"));
    let ran = once(&cluster, &["helm:web", "--exit-code"]);
    assert_snapshot!(ran.transcript(), @r#"
    2 Current
    NAME              READY   STATUS    RESTARTS   AGE     NODE   IP
    ● configmap/new   -       Current   -          4m58s   -      -
    ● secret/db       -       Current   -          4m57s   -      -
    "#);
    assert_eq!(ran.status.code(), Some(0));
    let yaml = once(&cluster, &["helm:web", "-o", "yaml"]).transcript();
    assert!(yaml.contains("name: db"), "{yaml}");
    for secret in ["hunter2".to_owned(), STANDARD.encode("hunter2")] {
        assert!(!yaml.contains(&secret), "{yaml}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_release_may_be_in_config_maps() {
    let cluster = Cluster::start().await;
    for name in ["old", "new", "other"] {
        cluster.put(config_map(name, &json!({})));
    }
    put_config_map_release(&cluster, ("web", 9), &map("old"));
    put_config_map_release(&cluster, ("web", 10), &map("new"));
    let names = |release: &str| {
        let ran = once(&cluster, &[&format!("helm:{release}"), "-o", "name"]);
        ran.transcript()
    };
    assert_eq!(names("web"), "configmap/new");
    assert_snapshot!(names("wbe"), @r#"
    ! error: release "wbe" not found in namespace "shop"
    ! hint: did you mean helm:web?
    "#);
    // A Secret comes first.
    put_release(&cluster, ("web", 1), &map("other"));
    assert_eq!(names("web"), "configmap/other");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_release_in_config_maps_needs_no_right_to_secrets() {
    let rules = vec![Rule::everything(), Rule::deny("*", "secrets")];
    let user = User {
        name: "jane".to_owned(),
        token: String::new(),
        rules,
    };
    let cluster = Cluster::start_with(|options| options.users = vec![user]).await;
    cluster.put(config_map("new", &json!({})));
    put_config_map_release(&cluster, ("web", 1), &map("new"));
    let names = |release: &str| once(&cluster, &[release, "-o", "name"]);
    assert_eq!(names("helm:web").transcript(), "configmap/new");
    let missing = names("helm:api").transcript();
    assert!(
        missing.contains("cannot list resource \"secrets\""),
        "{missing}"
    );
}

#[tokio::test(flavor = "multi_thread")]
async fn an_object_that_is_gone_and_a_revision_that_failed_are_reported() {
    let cluster = Cluster::start().await;
    put_release(&cluster, ("web", 3), &map("gone"));
    let ran = once(&cluster, &["helm:web"]);
    assert_snapshot!(ran.transcript(), @r#"
    ! hint: to see why revision 3 has the status failed, run helm history web -n shop
    ! Error from server (NotFound): configmaps "gone" not found
    ! hint: to wait until it is created, drop --once
    "#);
    assert_eq!(ran.status.code(), Some(1));
}

#[tokio::test(flavor = "multi_thread")]
async fn a_release_that_cannot_be_shown_is_an_error() {
    let cluster = Cluster::start().await;
    put_release(&cluster, ("web", 1), &map("a"));
    put_secret(&cluster, ("broken", 1), b"hunter2");
    put_release(&cluster, ("odd", 1), "a: 1\nb: \"hunter2");
    put_release(&cluster, ("chart", 1), "kind: ConfigMap\n");
    let texts = [
        &["helm:wbe"][..],
        &["helm:zzz"],
        &["helm:a,b"],
        &["helm:web", "deploy/web"],
        &["helm:web", "-A"],
        &["helm:web", "--from", "krew-manifest.yaml"],
        &["helm:broken"],
        &["helm:odd"],
        &["helm:chart"],
    ]
    .map(|args| {
        let ran = once(&cluster, args);
        let first = ran
            .stderr
            .lines()
            .take_while(|line| !line.starts_with("See '"));
        first.collect::<Vec<_>>().join("\n")
    });
    assert_snapshot!(texts.join("\n"), @r#"
    error: release "wbe" not found in namespace "shop"
    hint: did you mean helm:web?
    error: release "zzz" not found in namespace "shop"
    hint: list the releases: helm list -n shop
    error: invalid release name "a,b"
    error: helm:RELEASE cannot be combined with other objects
    error: a release is in one namespace: use -n instead of -A
    error: helm:RELEASE needs a cluster: it cannot be used with --from
    error: release "broken": its Secret sh.helm.release.v1.broken.v1 has no JSON with a manifest
    error: release "odd": its Secret sh.helm.release.v1.odd.v1 has a manifest that is not YAML: line 2
    error: release chart: line 1: Object 'apiVersion' is missing
    "#);
}
