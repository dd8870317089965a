//! Tests of dumps and support bundles: `--from` with directories, patterns and several files, and files passed by mistake.

use std::fs;
use std::path::{Path, PathBuf};

use insta::assert_snapshot;

use super::support::{Ran, Spy};

/// A directory with these files.
fn directory(name: &str, files: &[(&str, &[u8])]) -> PathBuf {
    let root = PathBuf::from(env!("CARGO_TARGET_TMPDIR")).join(name);
    let _not_there = fs::remove_dir_all(&root);
    for (path, bytes) in files {
        let path = root.join(path);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, bytes).unwrap();
    }
    root
}

/// What a run prints, without the name of the directory, and its exit code.
fn said(root: &Path, args: &[&str]) -> String {
    let ran = Spy::alone().run(args);
    let code = ran.status.code().unwrap();
    let Ran { stdout, stderr, .. } = &ran;
    let text = format!("{stdout}{stderr}exit code {code}");
    text.replace(root.to_str().unwrap(), "DIR")
}

const BROKEN_POD: &str = r#"{"apiVersion":"v1","kind":"Pod","metadata":{"name":"web-1","namespace":"shop","uid":"u1","resourceVersion":"7","creationTimestamp":"2026-03-02T12:00:00Z"},
    "spec":{"containers":[{"name":"web","image":"web:1"}]},
    "status":{"phase":"Pending","containerStatuses":[{"name":"web","ready":false,"restartCount":0,"state":{"waiting":{"reason":"ErrImagePull","message":"no such image"}}}]}}"#;

/// A list as must-gather writes it: one file a kind and namespace.
fn list(kind: &str, items: &[&str]) -> String {
    format!(
        r#"{{"apiVersion":"v1","kind":"{kind}List","items":[{}]}}"#,
        items.join(",")
    )
}

fn config_map(name: &str, version: u32) -> String {
    format!(
        r#"{{"apiVersion":"v1","kind":"ConfigMap","metadata":{{"name":"{name}","namespace":"db","uid":"{name}","resourceVersion":"{version}"}},"data":{{"v":"{version}"}}}}"#
    )
}

/// A dump of two namespaces, with other files between.
fn bundle(name: &str) -> PathBuf {
    directory(
        name,
        &[
            (
                "namespaces/shop/core/pods.json",
                list("Pod", &[BROKEN_POD]).as_bytes(),
            ),
            (
                "namespaces/shop/pods/web-1/web-1.yaml",
                format!("---\n{BROKEN_POD}\n").as_bytes(),
            ),
            (
                "namespaces/shop/pods/web-1/web/logs/current.log",
                b"{\"level\":\"info\"}\n",
            ),
            ("namespaces/shop/pods/web-1/web/logs/previous.log", b""),
            (
                "namespaces/db/core/configmaps.yml",
                list("ConfigMap", &[&config_map("a", 1)]).as_bytes(),
            ),
            (
                "namespaces/db/core/secrets.json",
                b"{\"apiVersion\":\"v1\",\"kind\":\"SecretList\",\"items\":null}",
            ),
            ("version.json", b"{\"gitVersion\":\"v1.36.3\"}"),
            (
                "resources.json",
                b"{\"kind\":\"APIResourceList\",\"apiVersion\":\"v1\",\"resources\":[]}",
            ),
            ("errors.json", b"[\"pods is forbidden\"]"),
            ("audit.gz", b"\x1f\x8b\x08"),
            ("image.yaml", b"\x89PNG\x00\x00"),
            ("timestamp", b"2026-03-02"),
        ],
    )
}

#[test]
fn a_directory_is_read_with_all_below_it() {
    let root = bundle("bundle");
    let path = root.to_str().unwrap();
    assert_snapshot!(said(&root, &["status", "--unhealthy", "--from", path]), @"
    1 Current, 1 Failed
    NAMESPACE   NAME          READY   STATUS         RESTARTS   AGE   NODE   IP
    shop        ✗ pod/web-1   0/1     ErrImagePull   0          0s    -      -
                  └ web: no such image
    passed over: 8 files that hold no objects (3 .json, 2 .log, 1 .gz, 2 others)
    1 object is in several files: its newest version counts
    exit code 0
    ");
    let shown = said(&root, &["trace", "pod/web-1", "--once", "--from", path]);
    let hint = "hint: web-1 is in namespace \"shop\": use -n shop";
    assert!(shown.contains(hint), "{shown}");
    let shown = said(
        &root,
        &["trace", "pod/web-1", "--once", "-n", "shop", "--from", path],
    );
    assert!(
        shown.contains("ErrImagePull") && shown.ends_with("exit code 0"),
        "{shown}"
    );
    let shown = said(&root, &["changes", "--from", path]);
    assert!(shown.contains("watching 1 pod"), "{shown}");
    assert!(shown.contains("passed over: 8 files"), "{shown}");
}

#[test]
fn paths_are_repeated_joined_and_matched() {
    let root = bundle("paths");
    let (pods, maps) = (
        root.join("namespaces/shop/core/pods.json"),
        root.join("namespaces/db/core/configmaps.yml"),
    );
    let (pods, maps) = (pods.to_str().unwrap(), maps.to_str().unwrap());
    let names = |args: &[&str]| said(&root, &[&["status", "-o", "name"], args].concat());
    let both = "pod/web-1\nconfigmap/a\nexit code 0";
    assert_eq!(names(&["--from", pods, "--from", maps]), both);
    assert_eq!(names(&["--from", &format!("{pods},{maps}")]), both);
    // A file may have a comma in its own name.
    let comma = root.join("a,b.json");
    let comma = comma.to_str().unwrap();
    std::fs::copy(pods, comma).unwrap();
    assert_eq!(names(&["--from", comma]), names(&["--from", pods]));
    std::fs::remove_file(comma).unwrap();
    let pattern = root.join("namespaces/*/core/[pc]o*.*");
    let pattern = pattern.to_str().unwrap();
    assert_eq!(
        names(&["--from", pattern]),
        "configmap/a\npod/web-1\nexit code 0"
    );
    let wrong = |path: &str, expect: &str| {
        let shown = names(&["--from", path]);
        assert!(shown.starts_with(expect), "{shown}");
    };
    let below = |path: &str| root.join(path).to_str().unwrap().to_owned();
    wrong(
        &below("*.nothing"),
        "error: the path \"DIR/*.nothing\" does not exist\n",
    );
    wrong(
        &below("nothing"),
        "error: the path \"DIR/nothing\" does not exist\n",
    );
    let logs = "namespaces/shop/pods/web-1/web";
    wrong(
        &below(logs),
        &format!(
            "error: error reading [DIR/{logs}]: recognized file extensions are [.json .yaml .yml]\n\
             hint: DIR/{logs} has no record, either: name the directory that `kubectl spy record` writes\n"
        ),
    );
    wrong(
        "https://me:secret@example.com/pods.json",
        "error: https://***@example.com/pods.json: URLs are not supported\n\
         hint: fetch it first: curl -sSfL URL | kubectl spy … --from -\n",
    );
    let shown = names(&["--from", "-", "--from", "-"]);
    let expect = "error: standard input cannot be used for multiple arguments\n";
    assert!(shown.starts_with(expect), "{shown}");
}

#[test]
fn the_newest_version_in_several_files_counts() {
    let root = directory(
        "versions",
        &[
            ("1.json", config_map("a", 9).as_bytes()),
            ("2.json", config_map("a", 10).as_bytes()),
            ("3.json", config_map("a", 8).as_bytes()),
        ],
    );
    let path = root.to_str().unwrap();
    let shown = said(&root, &["changes", "--from", path, "-o", "short"]);
    assert!(
        shown.contains("configmap/a  v: \"9\" → \"10\"\n"),
        "{shown}"
    );
    assert_eq!(shown.matches('→').count(), 1, "{shown}");
    assert!(shown.contains("1 object is in several files"), "{shown}");
    let shown = said(&root, &["status", "-o", "yaml", "--from", path]);
    assert!(shown.contains("resourceVersion: \"10\""), "{shown}");
    assert_eq!(shown.matches("kind: ConfigMap").count(), 1, "{shown}");
}

#[test]
fn the_rest_of_a_directory_is_shown_before_its_errors() {
    let root = directory(
        "broken",
        &[
            ("a.json", &config_map("a", 1).as_bytes()[..60]),
            ("b.yaml", b"apiVersion: v1\nkind: ConfigMap\nmetadata: {name: b}\n---\napiVersion: v1\nkind: [\n"),
            ("c.json", list("ConfigMap", &[&config_map("c", 1), r#"{"metadata":{"name":"d","uid":7}}"#]).as_bytes()),
        ],
    );
    let path = root.to_str().unwrap();
    assert_snapshot!(said(&root, &["status", "-o", "name", "--from", path]), @"
    configmap/b
    configmap/c
    error: DIR/c.json: line 1: configmap/d: metadata.uid must be a string, not a number
    error: DIR/a.json: line 1: unexpected end of JSON input at column 60
    error: DIR/b.yaml: line 6: document 2: unclosed bracket '['
    exit code 1
    ");
    for (args, code) in [
        (&["changes", "--exit-code"][..], 4),
        (&["status", "--exit-code"], 4),
        (&["status", "cm", "-A", "--for=create"], 1),
        (&["trace", "cm/c", "-n", "db", "--once"], 1),
    ] {
        let shown = said(&root, &[args, &["--from", path]].concat());
        assert!(
            shown.contains("error: DIR/b.yaml: line 6"),
            "{args:?} {shown}"
        );
        assert!(
            shown.ends_with(&format!("exit code {code}")),
            "{args:?} {shown}"
        );
    }
}

/// Files that people pass by mistake.
const MISTAKES: &[(&str, &[u8])] = &[
            ("pods.txt", b"NAME    READY   STATUS\nweb-1   0/1     ErrImagePull\n"),
            ("table.json", b"{\"kind\":\"Table\",\"apiVersion\":\"meta.k8s.io/v1\",\"rows\":[]}"),
            ("status.json", b"{\"kind\":\"Status\",\"apiVersion\":\"v1\",\"metadata\":{},\"status\":\"Failure\",\"message\":\"hunter2\",\"code\":404}"),
            ("kustomization.yaml", b"apiVersion: kustomize.config.k8s.io/v1beta1\nkind: Kustomization\nresources:\n- hunter2.yaml\n"),
            ("values.yaml", b"password: hunter2\n"),
            ("Chart.yaml", b"apiVersion: v2\nname: hunter2\nversion: 0.1.0\n"),
            ("pods.json.gz", b"\x1f\x8b\x08\x00hunter2"),
            ("audit.log", b"{\"kind\":\"Event\",\"apiVersion\":\"audit.k8s.io/v1\",\"verb\":\"get\"}\n{\"kind\":\"Event\",\"apiVersion\":\"audit.k8s.io/v1\",\"verb\":\"get\"}\n"),
            ("describe.txt", b"Name:         web-1\nNamespace:    shop\nLabels:       app=web\nAnnotations:  <none>\n"),
            ("names.txt", b"pod/web-1\npod/web-2\n"),
            ("empty.yaml", b"\n"),
        ];

#[test]
fn a_file_passed_by_mistake_is_called_by_its_name() {
    let root = directory("mistakes", MISTAKES);
    let mut all = String::new();
    let mut names: Vec<_> = fs::read_dir(&root)
        .unwrap()
        .map(|file| file.unwrap().path())
        .collect();
    names.sort();
    for file in &names {
        all += &said(
            &root,
            &["status", "--once", "--from", file.to_str().unwrap()],
        );
        all += "\n";
    }
    assert!(!all.contains("hunter2"), "{all}");
    assert_snapshot!(all, @r#"
    error: DIR/Chart.yaml: line 1: Object 'Kind' is missing
    hint: this describes a Helm chart: helm template CHART | kubectl spy … --from -
    exit code 1
    error: DIR/audit.log: line 1: no matches for kind "Event" in version "audit.k8s.io/v1"
    error: DIR/audit.log: line 2: no matches for kind "Event" in version "audit.k8s.io/v1"
    hint: this is an audit log, which records requests: jq -c '.responseObject // empty' FILE | kubectl spy … --from -
    exit code 1
    error: DIR/describe.txt: line 1: Object 'Kind' is missing
    hint: this is the text that kubectl describe prints: to save objects, run: kubectl get TYPE -o yaml > FILE
    exit code 1
    error: no objects passed to status
    hint: check the command that writes the input
    exit code 1
    error: DIR/kustomization.yaml: line 1: no matches for kind "Kustomization" in version "kustomize.config.k8s.io/v1beta1"
    hint: this is a kustomization: kubectl kustomize DIR | kubectl spy … --from -
    exit code 1
    error: DIR/names.txt: line 1: not an object
    hint: these are the names that kubectl get -o name prints: kubectl get $(cat FILE) -o yaml | kubectl spy … --from -
    exit code 1
    error: DIR/pods.json.gz: line 1: control characters are not allowed
    hint: this is packed with gzip: tar -xzf FILE, and pass its directory; or: gzip -dc FILE | kubectl spy … --from -
    exit code 1
    error: DIR/pods.txt: line 1: not an object
    hint: this is the table that kubectl get prints: to save objects, run: kubectl get TYPE -o yaml > FILE
    exit code 1
    error: DIR/status.json: line 1: no matches for kind "Status" in version "v1"
    hint: this is an error of the API server: repeat the command that wrote it, and read its error
    exit code 1
    error: DIR/table.json: line 1: no matches for kind "Table" in version "meta.k8s.io/v1"
    hint: this is a Table, which holds the cells of a table instead of objects: to save objects, run: kubectl get TYPE -o yaml > FILE
    exit code 1
    error: DIR/values.yaml: line 1: Object 'Kind' is missing
    hint: this is no object; if it has the values of a Helm chart: helm template CHART -f FILE | kubectl spy … --from -
    exit code 1
    "#);
    // Of a directory, they are passed over.
    let shown = said(&root, &["status", "--from", root.to_str().unwrap()]);
    assert!(
        shown.contains("passed over: 11 files that hold no objects"),
        "{shown}"
    );
    assert!(
        shown.contains("error: no objects passed to status"),
        "{shown}"
    );
}

#[test]
fn powershell_writes_utf16() {
    let utf16 = |text: &str, bytes: fn(u16) -> [u8; 2]| {
        let units = std::iter::once(0xfeff).chain(text.encode_utf16());
        units.flat_map(bytes).collect::<Vec<u8>>()
    };
    let yaml = "apiVersion: v1\r\nkind: ConfigMap\r\nmetadata:\r\n  name: café\r\n";
    let root = directory(
        "utf16",
        &[
            ("le.json", &utf16(&config_map("a", 1), u16::to_le_bytes)),
            ("be.yaml", &utf16(yaml, u16::to_be_bytes)),
        ],
    );
    let path = root.to_str().unwrap();
    assert_eq!(
        said(&root, &["status", "-o", "name", "--from", path]),
        "configmap/café\nconfigmap/a\nexit code 0"
    );
}

#[test]
fn events_without_a_uid_explain_their_objects() {
    let event = |group: &str, about: &str| {
        format!(
            r#"{{"apiVersion":"{group}","kind":"Event","metadata":{{"name":"web-1.1","namespace":"shop"}},"type":"Warning","reason":"Failed","{about}":{{"kind":"Pod","namespace":"shop","name":"web-1"}},"message":"the disk is full","note":"the disk is full","lastTimestamp":"2026-03-02T12:04:00Z"}}"#
        )
    };
    let pending = r#"{"apiVersion":"v1","kind":"Pod","metadata":{"name":"web-1","namespace":"shop","creationTimestamp":"2026-03-02T12:00:00Z"},"spec":{"containers":[{"name":"web","image":"web:1"}],"nodeName":"n1"},"status":{"phase":"Pending"}}"#;
    let with_uid = pending.replacen(r#""name":"web-1","#, r#""name":"web-1","uid":"u1","#, 1);
    for (name, pod, event) in [
        ("core", pending, event("v1", "involvedObject")),
        ("new", pending, event("events.k8s.io/v1", "regarding")),
        ("uid", &with_uid, event("v1", "involvedObject")),
    ] {
        let root = directory(
            &format!("events-{name}"),
            &[
                ("pods.json", list("Pod", &[pod]).as_bytes()),
                ("events.json", event.as_bytes()),
            ],
        );
        let path = root.to_str().unwrap();
        let shown = said(&root, &["status", "--unhealthy", "--from", path]);
        assert!(shown.contains("the disk is full"), "{name}: {shown}");
        let shown = said(
            &root,
            &[
                "status",
                "pod/web-1",
                "--once",
                "-n",
                "shop",
                "--from",
                path,
            ],
        );
        let is_of_core = name != "new";
        assert_eq!(
            shown.contains("the disk is full"),
            is_of_core,
            "{name}: {shown}"
        );
    }
}

#[test]
fn a_recorded_watch_is_played_to_its_end() {
    let event = |kind: &str, object: &str| format!("{{\"type\":\"{kind}\",\"object\":{object}}}\n");
    let recorded = [
        event("ADDED", &config_map("a", 1)),
        event("ADDED", &config_map("b", 2)),
        event("MODIFIED", &config_map("a", 3)),
        event("DELETED", &config_map("b", 4)),
    ]
    .concat();
    let root = directory(
        "played",
        &[
            ("all.json", recorded.as_bytes()),
            (
                "gone.json",
                (event("ADDED", &config_map("a", 1)) + &event("DELETED", &config_map("a", 2)))
                    .as_bytes(),
            ),
        ],
    );
    let path = root.join("all.json");
    let shown = said(
        &root,
        &[
            "status",
            "--once",
            "-o",
            "yaml",
            "--from",
            path.to_str().unwrap(),
        ],
    );
    assert!(
        shown.contains("resourceVersion: \"3\"") && !shown.contains("name: b"),
        "{shown}"
    );
    let path = root.join("gone.json");
    assert_eq!(
        said(
            &root,
            &["status", "--once", "--from", path.to_str().unwrap()]
        ),
        "No resources found in DIR/gone.json.\nexit code 0"
    );
    assert!(
        said(
            &root,
            &[
                "status",
                "--once",
                "--exit-code",
                "--from",
                path.to_str().unwrap()
            ]
        )
        .ends_with("exit code 4")
    );
}

/// A `CronJob` that runs every minute, saved long ago.
#[test]
fn a_file_ends_when_it_was_written() {
    let text = "apiVersion: batch/v1\nkind: CronJob\nmetadata: {name: tick, namespace: shop, creationTimestamp: '2026-03-02T12:00:30Z', generation: 1}\n\
        spec: {schedule: '* * * * *', jobTemplate: {spec: {template: {spec: {containers: [{name: a, image: 'a:1'}], restartPolicy: Never}}}}}\n\
        status: {lastScheduleTime: '2026-03-02T12:05:00Z', lastSuccessfulTime: '2026-03-02T12:05:04Z'}\n";
    let root = directory("cron", &[("cronjob.yaml", text.as_bytes())]);
    for verb in ["status", "trace"] {
        let ran = Spy::alone().run(&[
            verb,
            "cronjob/tick",
            "--once",
            "--exit-code",
            "--from",
            root.to_str().unwrap(),
        ]);
        assert_eq!(ran.status.code(), Some(0), "{}", ran.transcript());
    }
}

#[test]
fn a_namespace_chooses_the_rows_of_a_file_without_a_type() {
    let node = r#"{"apiVersion":"v1","kind":"Node","metadata":{"name":"node-a","uid":"n"}}"#;
    let manifest = r#"{"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":"new"}}"#;
    let text = [BROKEN_POD, &config_map("a", 1), node, manifest].join("\n");
    let root = directory("one-namespace", &[("dump.json", text.as_bytes())]);
    let file = root.join("dump.json");
    let names = |args: &[&str]| {
        let all = [args, &["-o", "name", "--from", file.to_str().unwrap()]].concat();
        Spy::alone().run(&all).stdout
    };
    let of_shop = "pod/web-1\nconfigmap/new\n";
    assert_eq!(names(&["status", "-n", "shop"]), of_shop);
    assert_eq!(
        names(&["status", "-n", "shop", "--unhealthy"]),
        "pod/web-1\n"
    );
    assert_eq!(names(&["status", "-n", "db", "--unhealthy"]), "");
    assert_eq!(names(&["status", "-n", "shop", "-A"]).lines().count(), 4);
    assert_eq!(names(&["status"]).lines().count(), 4);
    let path = file.to_str().unwrap();
    let shown = said(&root, &["changes", "-n", "shop", "--from", path]);
    assert!(
        shown.contains("1 pod") && !shown.contains("node"),
        "{shown}"
    );
    assert!(shown.contains("1 configmap"), "{shown}");
}

#[test]
fn an_object_without_a_status_is_named_with_its_own_file() {
    let wrong =
        r#"{"apiVersion":"apps/v1","kind":"Deployment","metadata":{"name":"kn","generation":"3"}}"#;
    let map = config_map("a", 1);
    let files = [("f.json", map.as_bytes()), ("g.json", wrong.as_bytes())];
    let root = directory("own-files", &files);
    let paths = ["f.json", "g.json"].map(|name| root.join(name).to_str().unwrap().to_owned());
    let shown = said(&root, &["status", "--from", &paths.join(",")]);
    assert!(
        shown.contains("error: DIR/g.json: deployment/kn: "),
        "{shown}"
    );
}

#[test]
fn several_contexts_and_a_file_are_refused() {
    let root = directory("contexts", &[("f.json", config_map("a", 1).as_bytes())]);
    let path = root.join("f.json");
    for (flag, value) in [
        ("--contexts", "--contexts=x*"),
        ("--all-contexts", "--all-contexts"),
    ] {
        for verb in ["status", "changes", "trace"] {
            let shown = said(&root, &[verb, value, "--from", path.to_str().unwrap()]);
            let line = format!("error: {flag} and --from cannot be used together\n");
            assert!(shown.starts_with(&line), "{shown}");
        }
    }
}
