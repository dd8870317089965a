//! Tests of `serve --print-manifest` against the sandbox.

use std::fs;
use std::path::PathBuf;

use insta::assert_snapshot;
use serde_json::{Value, json};

use super::support::cluster::Cluster;

fn documents(cluster: &Cluster, args: &[&str]) -> Vec<Value> {
    let args = [&["serve", "--print-manifest", "--tls-secret=spy-tls"], args].concat();
    let ran = cluster.spy().run(&args);
    assert_eq!(ran.status.code(), Some(0), "{}", ran.transcript());
    serde_saphyr::from_multiple(&ran.stdout).unwrap()
}

/// The object of a kind.
fn of_kind<'d>(documents: &'d [Value], kind: &str) -> &'d Value {
    let found = documents.iter().find(|it| it["kind"] == kind);
    found.unwrap_or_else(|| panic!("no {kind}"))
}

fn container(documents: &[Value]) -> &Value {
    &of_kind(documents, "Deployment")["spec"]["template"]["spec"]["containers"][0]
}

#[tokio::test(flavor = "multi_thread")]
async fn the_manifest_is_a_server_with_tls_and_its_configuration() {
    let cluster = Cluster::start().await;
    let port = cluster.sandbox.address().port();
    let folder = PathBuf::from(env!("CARGO_TARGET_TMPDIR")).join(format!("manifest-{port}"));
    fs::create_dir_all(&folder).unwrap();
    let config = folder.join("serve.yaml");
    let text = "kinds: [deploy]\npackages: {from: [helm]}\n";
    fs::write(&config, text).unwrap();
    let config = config.to_str().unwrap();
    let all = documents(
        &cluster,
        &["--api=kubernetes", "--image=a/b:1", "-f", config],
    );
    let kinds = all.iter().map(|it| it["kind"].as_str().unwrap());
    assert_snapshot!(kinds.collect::<Vec<_>>().join(" "), @"ServiceAccount ClusterRole RoleBinding PersistentVolumeClaim Service ConfigMap Deployment");
    let container = container(&all);
    let words = container["args"].as_array().unwrap().iter();
    let words: Vec<&str> = words.map(|it| it.as_str().unwrap()).collect();
    assert_snapshot!(words.join(" "), @"serve --namespace=shop --api=kubernetes --listen=0.0.0.0:7780 --auth=kube --tls-cert=/tls/tls.crt --tls-key=/tls/tls.key --config=/config/serve.yaml --store=/record --cache-dir=");
    assert_eq!(container["image"], "a/b:1");
    assert_eq!(container["readinessProbe"]["httpGet"]["path"], "/readyz");
    assert_eq!(of_kind(&all, "ConfigMap")["data"]["serve.yaml"], text);
    let pod = &of_kind(&all, "Deployment")["spec"]["template"];
    let volumes = pod["spec"]["volumes"].as_array().unwrap();
    let secret = volumes.iter().find(|it| it["name"] == "tls").unwrap();
    assert_eq!(secret["secret"]["secretName"], "spy-tls");
    // The Service leads to the Pod.
    assert_eq!(
        of_kind(&all, "Service")["spec"]["selector"],
        pod["metadata"]["labels"]
    );
}

#[tokio::test(flavor = "multi_thread")]
async fn the_files_of_the_configuration_come_from_a_secret() {
    let cluster = Cluster::start().await;
    let port = cluster.sandbox.address().port();
    let folder = PathBuf::from(env!("CARGO_TARGET_TMPDIR")).join(format!("manifest-files-{port}"));
    fs::create_dir_all(folder.join("keys")).unwrap();
    fs::write(folder.join("keys/ops.key"), "t0p-secret").unwrap();
    let config = folder.join("serve.yaml");
    let sink = "sinks: [{name: ops, webhook: 'https://hook.example/x', hmacFile: keys/ops.key}]\n";
    fs::write(&config, sink).unwrap();
    let args = [
        "serve",
        "cm",
        "--print-manifest",
        "--tls-secret=spy-tls",
        "-f",
        config.to_str().unwrap(),
    ];
    let ran = cluster.spy().run(&args);
    assert_snapshot!(ran.stderr, @"hint: the server starts when there is this Secret: kubectl create secret generic kubectl-spy-serve-files -n shop --from-file=keys.ops.key=keys/ops.key");
    assert!(!ran.transcript().contains("t0p-secret"));
    let all: Vec<Value> = serde_saphyr::from_multiple(&ran.stdout).unwrap();
    let pod = &of_kind(&all, "Deployment")["spec"]["template"]["spec"];
    let volumes = pod["volumes"].as_array().unwrap();
    let config_volume = volumes.iter().find(|it| it["name"] == "config").unwrap();
    let sources = &config_volume["projected"]["sources"];
    assert_eq!(sources[0]["configMap"]["name"], "kubectl-spy-serve");
    let items = json!([{"key": "keys.ops.key", "path": "keys/ops.key"}]);
    assert_eq!(
        sources[1]["secret"],
        json!({"name": "kubectl-spy-serve-files", "items": items})
    );
    for (text, error) in [
        (
            sink.replace(
                "keys/ops.key",
                folder.join("keys/ops.key").to_str().unwrap(),
            ),
            "the container has no place for the file",
        ),
        (
            "outbox: out.sqlite\n".to_owned(),
            "the container has no place for the file of outbox:",
        ),
    ] {
        fs::write(&config, text).unwrap();
        let ran = cluster.spy().run(&args);
        assert!(
            ran.status.code() == Some(1) && ran.stderr.contains(error),
            "{}",
            ran.transcript()
        );
    }
    fs::remove_dir_all(&folder).unwrap();
}

#[tokio::test(flavor = "multi_thread")]
async fn the_role_has_no_secrets_unless_they_are_followed_and_no_verb_that_writes() {
    let cluster = Cluster::start().await;
    for (args, has_secrets) in [(&["cm", "-A"][..], false), (&["cm,secret", "-A"], true)] {
        let all = documents(&cluster, args);
        assert!(all.iter().all(|it| it["kind"] != "PersistentVolumeClaim"));
        let rules = of_kind(&all, "ClusterRole")["rules"].as_array().unwrap();
        let verbs = rules
            .iter()
            .flat_map(|rule| rule["verbs"].as_array().unwrap());
        let is_read = |verb: &Value| ["get", "list", "watch"].contains(&verb.as_str().unwrap());
        assert!(verbs.clone().all(is_read));
        let mut resources = rules
            .iter()
            .flat_map(|rule| rule["resources"].as_array().unwrap());
        assert_eq!(resources.any(|it| *it == json!("secrets")), has_secrets);
        assert!(
            container(&all)["args"]
                .as_array()
                .unwrap()
                .contains(&json!("--no-store"))
        );
    }
    let ran = cluster.spy().run(&["serve", "cm", "--print-manifest"]);
    assert_eq!(ran.status.code(), Some(1));
    let refused = "required flag(s) \"tls-secret\" not set";
    assert!(ran.stderr.contains(refused), "{}", ran.stderr);
}
