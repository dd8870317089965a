//! Tests of `-f`, `-R` and `-k` against the sandbox: the objects that manifests name.

use std::fs;
use std::io::Write;
use std::path::{Path, PathBuf};

use insta::assert_snapshot;
use serde_json::json;

use super::support::Spy;
use super::support::cluster::{Cluster, config_map, deployment};

/// A directory that is deleted after its test.
struct Directory(PathBuf);

impl Directory {
    fn new(name: &str, files: &[(&str, &str)]) -> Directory {
        let root = PathBuf::from(env!("CARGO_TARGET_TMPDIR")).join(name);
        let _not_there = fs::remove_dir_all(&root);
        for (path, text) in files {
            let path = root.join(path);
            fs::create_dir_all(path.parent().unwrap()).unwrap();
            fs::write(path, text).unwrap();
        }
        Directory(root)
    }

    fn path(&self, name: &str) -> String {
        self.0.join(name).to_str().unwrap().to_owned()
    }
}

impl Drop for Directory {
    fn drop(&mut self) {
        let _already_gone = fs::remove_dir_all(&self.0);
    }
}

fn named(kind: &str, name: &str) -> String {
    let api_version = if kind == "Deployment" {
        "apps/v1"
    } else {
        "v1"
    };
    format!("apiVersion: {api_version}\nkind: {kind}\nmetadata: {{name: {name}}}\n")
}

/// A cluster with two `ConfigMaps` and a Deployment.
async fn cluster() -> Cluster {
    let cluster = Cluster::start().await;
    cluster.put(config_map("a", &json!({})));
    cluster.put(config_map("b", &json!({})));
    cluster.put(deployment("web", 1));
    cluster
}

/// The objects that `changes --once` shows, sorted. Each has a watch of its own, so their order is random.
fn shown(spy: &Spy, args: &[&str]) -> String {
    let ran = spy.run(&[&["changes", "--since=0", "--once"], args].concat());
    let words = ran.stdout.lines().filter_map(|line| line.split(' ').nth(2));
    let mut words: Vec<&str> = words.collect();
    words.sort_unstable();
    words.join(" ") + &ran.stderr
}

#[tokio::test(flavor = "multi_thread")]
async fn files_and_directories_name_objects() {
    let cluster = cluster().await;
    let directory = Directory::new(
        "manifests",
        &[
            ("a.yaml", &named("ConfigMap", "a")),
            (
                "b.json",
                &json!({"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "b"}})
                    .to_string(),
            ),
            ("notes.txt", "no manifest"),
            ("more/web.yml", &named("Deployment", "web")),
        ],
    );
    let (a, b, all) = (
        directory.path("a.yaml"),
        directory.path("b.json"),
        directory.path(""),
    );
    let spy = cluster.spy();
    assert_eq!(shown(&spy, &["-f", &a]), "configmap/a");
    assert_eq!(
        shown(&spy, &["-f", &a, "-f", &b]),
        "configmap/a configmap/b"
    );
    assert_eq!(
        shown(&spy, &["-f", &format!("{a},{b}")]),
        "configmap/a configmap/b"
    );
    assert_eq!(shown(&spy, &["-f", &all]), "configmap/a configmap/b");
    assert_eq!(
        shown(&spy, &["-R", "-f", &all]),
        "configmap/a configmap/b deployment/web"
    );
    assert_eq!(
        shown(&spy, &["--filename", &directory.path("more")]),
        "deployment/web"
    );
    let ran = spy.run(&["status", "--once", "-f", &directory.path("more")]);
    assert!(
        ran.stdout.contains("deployment/web"),
        "{}",
        ran.transcript()
    );
    let ran = spy.run(&["trace", "--once", "-f", &directory.path("more")]);
    assert!(
        ran.stdout.contains("deployment/web"),
        "{}",
        ran.transcript()
    );
}

#[tokio::test(flavor = "multi_thread")]
async fn an_unreadable_manifest_is_named() {
    let cluster = cluster().await;
    let directory = Directory::new(
        "unreadable",
        &[
            ("bad.yaml", "apiVersion: v1\nkind: [\n"),
            ("bad.json", "{\n\"kind\": }\n"),
            (
                "chart.yaml",
                "a: 1\n---\nkind: Pod\nmetadata:\n  # a template\n  name: {{ .Release.Name }}-web\n",
            ),
            ("empty/notes.txt", ""),
            ("pod.yaml", "\n\nkind: Pod\n"),
        ],
    );
    let root = directory.path("");
    let printed = |path: &str| {
        let ran = cluster.spy().run(&["changes", "--since=0", "-f", path]);
        assert_eq!(ran.status.code(), Some(1));
        ran.stderr.replace(&root, "")
    };
    assert_snapshot!(printed(&directory.path("bad.yaml")), @"
    error: error parsing bad.yaml: error converting YAML to JSON: yaml: line 2: unclosed bracket '['
    hint: check line 2, column 7
    ");
    let chart = printed(&directory.path("chart.yaml"));
    let parsing = "error: error parsing chart.yaml: error converting YAML to JSON: yaml: line 6: ";
    assert!(chart.contains(parsing), "{chart}");
    let hint = "hint: render templates first: helm template … | kubectl spy … -f -\n";
    assert!(chart.contains(hint), "{chart}");
    assert_snapshot!(printed(&directory.path("bad.json")), @r#"
    error: error parsing bad.json: json: line 2: expected value
    hint: check line 2, column 9
    "#);
    assert_snapshot!(printed(&directory.path("pod.yaml")), @"error: pod.yaml: line 3: Object 'apiVersion' is missing");
    assert_snapshot!(printed(&directory.path("none.yaml")), @r#"error: the path "none.yaml" does not exist"#);
    assert_snapshot!(printed(&directory.path("empty")), @"error: error reading [empty]: recognized file extensions are [.json .yaml .yml]");
    assert_snapshot!(printed("https://example.com/a.yaml"), @"
    error: https://example.com/a.yaml: URLs are not supported
    hint: fetch it first: curl -sSfL URL | kubectl spy … -f -
    ");
    assert_eq!(cluster.sandbox.requests(), []);
}

#[tokio::test(flavor = "multi_thread")]
async fn standard_input_names_objects() {
    let cluster = cluster().await;
    let args = [
        "changes",
        "--since=0",
        "-f",
        "-",
        "--for=jsonpath={.data.state}=new",
    ];
    let (mut run, mut input) = cluster.spy().start_reading(&args);
    let text = format!(
        "---\n# Source: chart/templates/a.yaml\n{}---\n{}",
        named("ConfigMap", "a"),
        named("ConfigMap", "b")
    );
    input.write_all(text.as_bytes()).unwrap();
    drop(input);
    run.until_each(&["EXISTING configmap/a", "EXISTING configmap/b"]);
    cluster.edit("configmaps", "a", &json!({"data": {"state": "new"}}));
    cluster.edit("configmaps", "b", &json!({"data": {"state": "new"}}));
    assert_eq!(run.finish().status.code(), Some(0));
}

#[cfg(unix)]
fn script(path: &Path, text: &str) {
    use std::os::unix::fs::PermissionsExt;
    fs::write(path, format!("#!/bin/sh\n{text}\n")).unwrap();
    fs::set_permissions(path, fs::Permissions::from_mode(0o755)).unwrap();
}

#[cfg(unix)]
#[tokio::test(flavor = "multi_thread")]
async fn kubectl_builds_kustomizations() {
    let cluster = cluster().await;
    let directory = Directory::new("kustomized", &[("web.yaml", &named("Deployment", "web"))]);
    let bin = directory.path("");
    let spy = cluster.spy().var("PATH", &bin);
    let ran = spy.run(&["changes", "--since=0", "-k", "overlay"]);
    assert_eq!(ran.status.code(), Some(1));
    assert_snapshot!(ran.stderr, @r#"
    error: cannot run `kubectl kustomize overlay`: exec: "kubectl": executable file not found in $PATH
    hint: install kubectl, or run: kustomize build DIR | kubectl spy … -f -
    "#);
    let program = directory.0.join("kubectl");
    let web = directory.path("web.yaml");
    script(
        &program,
        &format!("[ \"$1 $2 $3\" = 'kustomize -- overlay' ] && exec /bin/cat {web}"),
    );
    assert_eq!(shown(&spy, &["-k", "overlay"]), "deployment/web");
    let quoting = "literal sources [password=hunter2]: from https://me:hunter2@example.com";
    script(&program, &format!("echo 'error: {quoting}' >&2; exit 1"));
    assert_snapshot!(spy.run(&["changes", "--since=0", "-k", "overlay"]).stderr, @"literal source …");
    // A relative directory of PATH may have anyone's files.
    let here = cluster.spy().var("PATH", ".:completions:.ci");
    assert_snapshot!(here.var("KUBECTL_PATH", "run").run(&["changes", "--since=0", "-k", "overlay"]).stderr, @r#"
    error: cannot run `kubectl kustomize overlay`: exec: "run": cannot run executable found relative to current directory
    hint: remove `.` and empty parts from PATH
    "#);
    script(&program, "echo 'error: no such directory' >&2; exit 1");
    assert_snapshot!(spy.run(&["changes", "--since=0", "-k", "overlay"]).stderr, @"no such directory");
}

/// As in kubectl, a quoted pattern is a path that does not exist.
#[tokio::test(flavor = "multi_thread")]
async fn a_quoted_pattern_names_the_files_that_match() {
    let (a, b) = (named("ConfigMap", "a"), named("ConfigMap", "b"));
    let web = named("Deployment", "web");
    let files = [
        ("k8s/1.yaml", &*a),
        ("k8s/2.yaml", &*b),
        ("k8s/deep/3.yaml", &*web),
        ("k8s/note.txt", "no manifest"),
        ("k8s/[x].yaml", &*web),
    ];
    let directory = Directory::new("manifests-patterns", &files);
    let cluster = cluster().await;
    let spy = cluster.spy();
    let check = |pattern: &str| shown(&spy, &["-f", &directory.path(pattern)]);
    assert_eq!(check("k8s/?.yaml"), "configmap/a configmap/b");
    assert_eq!(check("k8s/[2-9].yaml"), "configmap/b");
    assert_eq!(check("*/deep/*.yaml"), "deployment/web");
    assert_eq!(check("k8s/[x].yaml"), "deployment/web");
    assert_eq!(check("k8s/d*"), "deployment/web");
    for (pattern, error) in [
        ("k8s/*.json", "error: the path \"PATH\" does not exist\n"),
        (
            "k8s/[.yaml",
            "error: pattern \"PATH\" is not valid: syntax error in pattern\n",
        ),
    ] {
        let path = directory.path(pattern);
        let ran = spy.run(&["changes", "--once", "-f", &path]);
        assert_eq!(ran.stderr, error.replace("PATH", &path));
    }
}

/// As `kubectl get -f` does.
#[tokio::test(flavor = "multi_thread")]
async fn a_broken_manifest_does_not_hide_the_others() {
    let cluster = cluster().await;
    let nested = json!({"apiVersion": "v1", "kind": "List", "items": [{"apiVersion": "v1", "kind": "ConfigMapList", "items": [{"metadata": {"name": "b"}}]}]});
    let utf16 = |text: &str| -> Vec<u8> {
        let units = std::iter::once(0xfeff).chain(text.encode_utf16());
        units.flat_map(u16::to_le_bytes).collect()
    };
    let directory = Directory::new(
        "partly",
        &[
            (
                "a.yaml",
                &format!("{}---\nkind: [\n", named("ConfigMap", "a")),
            ),
            ("b.json", &nested.to_string()),
            ("c.yaml", "kind: Pod\n"),
        ],
    );
    let root = directory.path("");
    fs::write(directory.path("d.yaml"), utf16(&named("Deployment", "web"))).unwrap();
    let run = |args: &[&str]| {
        let ran = cluster.spy().run(&[args, &["-f", &root]].concat());
        (ran.status.code(), ran.stdout, ran.stderr.replace(&root, ""))
    };
    let (code, stdout, stderr) = run(&["status", "--once", "-o", "name"]);
    assert_eq!(code, Some(1));
    assert_eq!(stdout, "configmap/a\nconfigmap/b\ndeployment.apps/web\n");
    assert_snapshot!(stderr, @"
    error: error parsing a.yaml: error converting YAML to JSON: yaml: line 5: unclosed bracket '['
    error: c.yaml: line 1: Object 'apiVersion' is missing
    hint: check line 5, column 7
    ");
    let (code, _, _) = run(&["status", "--once", "--exit-code"]);
    assert_eq!(code, Some(4));
    // A verb that goes on, or waits, would not say so until its end.
    for args in [
        &["status"][..],
        &["changes"],
        &["status", "--for=create", "--once"],
    ] {
        let (code, stdout, stderr) = run(args);
        assert_eq!((code, stdout.as_str()), (Some(1), ""), "{stderr}");
        assert!(
            stderr.starts_with("error: error parsing a.yaml"),
            "{stderr}"
        );
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_file_that_holds_no_manifest_is_called_by_its_name() {
    let cluster = cluster().await;
    let directory = Directory::new(
        "no-manifests",
        &[
            ("pods.txt", "NAME    READY\nweb-1   0/1\n"),
            ("kustomization.yaml", "resources:\n- a.yaml\n"),
        ],
    );
    let root = directory.path("");
    let mut said = String::new();
    for file in ["pods.txt", "kustomization.yaml"] {
        let ran = cluster
            .spy()
            .run(&["status", "--once", "-f", &directory.path(file)]);
        assert_eq!(ran.status.code(), Some(1));
        said += &ran.stderr.replace(&root, "");
    }
    assert_snapshot!(said, @"
    error: pods.txt: line 1: not an object
    hint: this is the table that kubectl get prints: to save objects, run: kubectl get TYPE -o yaml > FILE
    error: kustomization.yaml: line 1: Object 'Kind' is missing
    hint: this is a kustomization: kubectl kustomize DIR | kubectl spy … -f -
    ");
}
