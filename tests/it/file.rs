//! Tests of `--from`: files in place of a cluster.

use std::io::Write as _;

use serde_json::Value;

use super::support::Spy;

/// A version of an object.
fn object(version: u32) -> String {
    format!(
        r#"{{"apiVersion":"v1","kind":"ConfigMap","metadata":{{"name":"a","namespace":"shop","uid":"u1","resourceVersion":"{version}"}},"data":{{"n":"{version}"}}}}"#
    )
}

/// An event of a `ConfigMap` that was created and last written at these times.
fn dated(kind: &str, name: &str, times: [&str; 2]) -> String {
    let [created, written] = times;
    format!(
        r#"{{"type":"{kind}","object":{{"apiVersion":"v1","kind":"ConfigMap","metadata":{{"name":"{name}","namespace":"shop","uid":"{name}","resourceVersion":"9","creationTimestamp":"{created}",
        "managedFields":[{{"manager":"argocd","operation":"Update","time":"{written}","fieldsV1":{{"f:data":{{}}}}}}]}},"data":{{"n":"1"}}}}}}"#
    )
}

/// An event as `kubectl get -w --output-watch-events -o json` prints it.
fn event(version: u32) -> String {
    let kind = if version == 1 { "ADDED" } else { "MODIFIED" };
    let object = object(version);
    format!("{{\"type\":\"{kind}\",\"object\":{object}}}\n")
}

/// One object in this many versions.
fn recorded(versions: u32) -> String {
    (1..=versions).map(event).collect()
}

fn file(name: &str, text: &str) -> String {
    let path = format!("{}/{name}", env!("CARGO_TARGET_TMPDIR"));
    std::fs::write(&path, text).unwrap();
    path
}

#[test]
fn each_version_of_a_recorded_watch_is_shown_once_and_in_order() {
    let path = file("recorded.json", &recorded(3000));
    for _ in 0..3 {
        let ran = Spy::alone().run(&["changes", "-o", "json", "--from", &path]);
        let versions = ran.stdout.lines().filter_map(|line| {
            let record: Value = serde_json::from_str(line).unwrap();
            record["to"].as_str()?.parse::<u32>().ok()
        });
        // The first state is no change.
        assert_eq!(versions.collect::<Vec<_>>(), (2..=3000).collect::<Vec<_>>());
    }
}

#[test]
fn an_invalid_object_is_named_with_its_line() {
    let path = file(
        "broken.yaml",
        "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: a}\n---\nnonsense\n",
    );
    let ran = Spy::alone().run(&["changes", "--from", &path]);
    assert_eq!(ran.status.code(), Some(1));
    assert!(ran.stderr.contains("broken.yaml: line 5"), "{}", ran.stderr);
    let ran = Spy::alone().run(&["status", "--once", "--from", "/does/not/exist"]);
    assert_eq!(ran.status.code(), Some(1));
    assert!(
        ran.stderr
            .contains("the path \"/does/not/exist\" does not exist"),
        "{}",
        ran.stderr
    );
}

#[test]
fn a_stream_is_shown_as_it_arrives() {
    let (mut run, mut input) = Spy::alone().start_reading(&["changes", "--from", "-"]);
    for version in 1..=3 {
        input.write_all(event(version).as_bytes()).unwrap();
        run.until(match version {
            1 => "watching 1 configmap",
            2 => "MODIFIED configmap/a  1→2",
            _ => "MODIFIED configmap/a  2→3",
        });
    }
    drop(input);
    let ran = run.finish();
    assert_eq!((ran.status.code(), ran.stderr.as_str()), (Some(0), ""));
}

#[test]
fn an_object_from_before_a_stream_is_not_shown_as_created() {
    let (mut run, mut input) = Spy::alone().start_reading(&["changes", "cm/a", "--from", "-"]);
    input.write_all(object(1).as_bytes()).unwrap();
    run.until("EXISTING");
    input.write_all(object(2).as_bytes()).unwrap();
    run.until("MODIFIED");
    let ran = run.interrupt();
    assert_eq!(ran.stdout.lines().count(), 3, "{}", ran.stdout);
}

/// A watch begins with an `ADDED` event for each object that exists.
#[test]
fn the_first_states_of_a_watch_are_no_creations() {
    const OLD: &str = "2020-01-01T00:00:00Z";
    let (mut run, mut input) =
        Spy::alone().start_reading(&["changes", "cm/a", "cm/c", "cm/d", "--from", "-"]);
    let a = dated("ADDED", "a", [OLD, "2020-01-01T00:09:00Z"]);
    input.write_all(a.as_bytes()).unwrap();
    run.until("EXISTING configmap/a  9");
    // After another event, an object is new, unless it is clearly older.
    input
        .write_all(event(1).replace("ADDED", "DELETED").as_bytes())
        .unwrap();
    run.until("DELETED");
    input
        .write_all(dated("ADDED", "c", [OLD; 2]).as_bytes())
        .unwrap();
    run.until("JOINED configmap/c  9");
    let d = event(1).replace("\"a\"", "\"d\"").replace("u1", "u4");
    input.write_all(d.as_bytes()).unwrap();
    run.until("CREATED configmap/d  1");
    drop(input);
    let ran = run.finish();
    assert!(!ran.stdout.contains("argocd"), "{}", ran.stdout);
}

/// The objects of a recorded watch are counted as those of a listing. `MODIFIED` alone also shows that an object existed.
#[test]
fn a_recorded_watch_begins_with_the_objects_before_its_first_change() {
    let at = ["2026-03-02T12:00:00Z"; 2];
    let later = [at[0], "2026-03-02T12:09:00Z"];
    let text = [
        dated("ADDED", "a", at),
        dated("ADDED", "b", later),
        dated("MODIFIED", "c", later),
        dated("DELETED", "a", at),
        dated("ADDED", "d", at),
        dated("ADDED", "e", later),
    ];
    let path = file("first-states.json", &text.concat());
    let ran = Spy::alone().run(&["changes", "-o", "json", "--from", &path]);
    let records = ran.stdout.lines().map(|line| {
        let record: Value = serde_json::from_str(line).unwrap();
        (
            record["type"].clone(),
            record["count"].clone(),
            record["ref"]["name"].clone(),
        )
    });
    let records: Vec<String> = records
        .filter(|(what, ..)| what != "state")
        .map(|(what, count, name)| format!("{what} {count} {name}"))
        .collect();
    assert_eq!(
        records,
        [
            r#""synced" 3 null"#,
            r#""deleted" null "a""#,
            r#""created" null "d""#,
            r#""joined" null "e""#,
        ]
    );
}

#[test]
fn garbage_in_a_stream_is_reported_once_and_passed_over() {
    let (mut run, mut input) = Spy::alone().start_reading(&["changes", "--from", "-"]);
    input.write_all(event(1).as_bytes()).unwrap();
    run.until("watching 1 configmap");
    input.write_all(event(2).as_bytes()).unwrap();
    input
        .write_all(b"\n{\"type\": oh no\nWarning: x\n[INFO] y\n")
        .unwrap();
    input.write_all(event(3).as_bytes()).unwrap();
    run.until("2→3");
    drop(input);
    let ran = run.finish();
    assert_eq!(ran.status.code(), Some(1));
    assert_eq!(
        ran.stderr,
        "error: -: line 4: expected value at column 10\n\
         hint: make the command before the pipe print only objects: its messages belong on standard error\n\
         error: -: 1 part could not be read\n"
    );
}

/// The other verbs read the rest, too.
#[test]
fn a_piped_dump_with_garbage_is_shown_and_an_error() {
    let text = object(1) + "\nWarning: x\n" + &event(2);
    for verb in ["status", "trace", "changes"] {
        let (code, stderr) = fed(&text, &[verb, "cm/a"]);
        let error = "expected value at column 1\n";
        assert_eq!(
            (code, stderr.contains(error)),
            (Some(1), true),
            "{verb} {stderr}"
        );
    }
}

#[test]
fn once_reads_a_slow_stream_to_its_end() {
    let (run, mut input) =
        Spy::alone().start_reading(&["changes", "cm/a", "--once", "--from", "-"]);
    input.write_all(object(1).as_bytes()).unwrap();
    drop(input);
    let ran = run.finish();
    assert_eq!(ran.status.code(), Some(0));
    assert!(ran.stdout.contains("EXISTING"), "{}", ran.stdout);
}

/// A pipe with a path, as the shell's `<(…)` creates it.
#[test]
fn a_named_pipe_is_a_stream() {
    let path = format!(
        "{}/fifo-{}",
        env!("CARGO_TARGET_TMPDIR"),
        std::process::id()
    );
    let _not_there = std::fs::remove_file(&path);
    let made = std::process::Command::new("mkfifo").arg(&path).status();
    assert!(made.unwrap().success());
    let mut run = Spy::alone().start(&["changes", "--from", &path]);
    let mut input = std::fs::OpenOptions::new().write(true).open(&path).unwrap();
    input.write_all(event(1).as_bytes()).unwrap();
    run.until("watching 1 configmap");
    input.write_all(event(2).as_bytes()).unwrap();
    run.until("MODIFIED");
    drop(input);
    assert_eq!(run.finish().status.code(), Some(0));
    std::fs::remove_file(&path).unwrap();
}

/// A node with these many Pods, each of a Deployment of its own.
fn crowded_node(pods: u32) -> String {
    let owned = |kind: &str, owner: &str, n: u32| {
        format!(
            "ownerReferences: [{{apiVersion: apps/v1, kind: {kind}, name: {owner}-{n}, uid: {owner}-{n}, controller: true}}]"
        )
    };
    let mut objects =
        vec!["{apiVersion: v1, kind: Node, metadata: {name: node-a, uid: node-a}, status: {conditions: [{type: Ready, status: 'True'}]}}".to_owned()];
    for n in 0..pods {
        let (set, web) = (owned("ReplicaSet", "set", n), owned("Deployment", "web", n));
        objects.push(format!("{{apiVersion: apps/v1, kind: Deployment, metadata: {{name: web-{n}, namespace: shop, uid: web-{n}}}}}"));
        objects.push(format!("{{apiVersion: apps/v1, kind: ReplicaSet, metadata: {{name: set-{n}, namespace: shop, uid: set-{n}, {web}}}}}"));
        objects.push(format!("{{apiVersion: v1, kind: Pod, metadata: {{name: p-{n}, namespace: shop, uid: p-{n}, {set}}}, spec: {{nodeName: node-a}}}}"));
    }
    format!("---\n{}\n", objects.join("\n---\n"))
}

#[test]
fn a_trace_that_names_more_objects_than_it_reads_ends() {
    let path = file("crowded.yaml", &crowded_node(20));
    let ran = Spy::alone().run(&["trace", "node/node-a", "--from", &path, "--once"]);
    let pods = ran.stdout.matches("pod/p-").count();
    assert_eq!(pods, 20, "{}", ran.transcript());
}

#[test]
fn a_type_that_a_file_does_not_have_is_not_called_unserved() {
    let frob = "{apiVersion: ex.com/v1, kind: Frob, metadata: {name: x, namespace: shop, uid: x, \
        ownerReferences: [{apiVersion: ex.com/v1, kind: Owner, name: above, uid: above}]}}";
    let path = file("frob.yaml", frob);
    let ran = Spy::alone().run(&["trace", "frob/x", "-n", "shop", "--from", &path, "--once"]);
    assert!(
        ran.stdout.contains("not in the file"),
        "{}",
        ran.transcript()
    );
    assert!(!ran.stdout.contains("not served"), "{}", ran.transcript());
}

/// A file of custom resources: the owners of each, by their numbers. The last one has failed.
fn owned(name: &str, owners: &[Vec<usize>]) -> String {
    let object = |(number, of): (usize, &Vec<usize>)| {
        let owner = |of: &usize| {
            format!(
                r#"{{"apiVersion":"ex.com/v1","kind":"Foo","name":"f{of}","uid":"u{of}","controller":false}}"#
            )
        };
        let of: Vec<String> = of.iter().map(owner).collect();
        let failed = if number + 1 == owners.len() {
            "True"
        } else {
            "False"
        };
        format!(
            r#"{{"apiVersion":"ex.com/v1","kind":"Foo","metadata":{{"name":"f{number}","namespace":"shop","uid":"u{number}","resourceVersion":"1","ownerReferences":[{}]}},
                "status":{{"conditions":[{{"type":"Stalled","status":"{failed}","reason":"Broken","message":"it broke"}}]}}}}"#,
            of.join(",")
        )
    };
    let objects: Vec<String> = owners.iter().enumerate().map(object).collect();
    file(name, &objects.join("\n"))
}

/// The work grows with the number of owner references. Once it grew with the cube of the depth.
#[test]
fn deep_and_mutual_owners_are_shown_in_a_time_that_grows_with_their_number() {
    let above = |of: usize| Vec::from_iter(of.checked_sub(1));
    let chain: Vec<Vec<usize>> = (0..500).map(above).collect();
    let upwards: Vec<Vec<usize>> = (1..500).map(|of| vec![of]).chain([vec![]]).collect();
    let cycle: Vec<Vec<usize>> = (0..500).map(|of| vec![(of + 499) % 500]).collect();
    let clique = (0..60).map(|of| (0..60).filter(|other| *other != of).collect());
    for (name, owners, first) in [
        ("chain", chain, 0),
        ("upwards", upwards, 499),
        ("cycle", cycle, 0),
        ("clique", clique.collect(), 0),
    ] {
        let path = owned(&format!("{name}.json"), &owners);
        let count = owners.len();
        for verb in ["status", "trace"] {
            let first = format!("foo/f{first}");
            let ran = Spy::alone().run(&[verb, &first, "-n", "shop", "--once", "--from", &path]);
            let shown: Vec<&str> = ran.stdout.lines().collect();
            assert!(shown.len() >= count, "{verb} {name}: {} lines", shown.len());
            let widest = shown.iter().map(|line| line.chars().count()).max();
            // The causes of the states are as long as their limit.
            assert!(widest < Some(1_500), "{verb} {name}: {widest:?} columns");
            let ran = Spy::alone().run(&[
                verb, &first, "-n", "shop", "--once", "-o", "json", "--from", &path,
            ]);
            let last = format!("\"f{}\"", count - 1);
            assert!(ran.stdout.contains(&last), "{verb} {name}: {}", ran.stderr);
        }
        let ran = Spy::alone().run(&["status", "--once", "--exit-code", "--from", &path]);
        assert_eq!(ran.status.code(), Some(1), "{name}");
    }
}

/// An `ERROR` event as the server sends it.
const EXPIRED: &str = r#"{"type":"ERROR","object":{"kind":"Status","apiVersion":"v1","metadata":{},"status":"Failure","message":"too old resource version: 1 (9)","reason":"Expired","code":410}}"#;

/// The exit code and stderr of a run that reads this text as its standard input.
fn fed(text: &str, args: &[&str]) -> (Option<i32>, String) {
    let (run, mut input) = Spy::alone().start_reading(&[args, &["--from", "-"]].concat());
    // A run that has ended reads nothing.
    let _closed_pipe = input.write_all(text.as_bytes());
    drop(input);
    let ran = run.finish();
    (ran.status.code(), ran.stderr)
}

#[test]
fn a_check_of_nothing_is_an_error() {
    let list = r#"{"kind":"List","apiVersion":"v1","items":[]}"#;
    let null = r#"{"kind":"PodList","apiVersion":"v1","items":null}"#;
    let bookmark = r#"{"type":"BOOKMARK","object":{"kind":"Pod","apiVersion":"v1","metadata":{"resourceVersion":"7"}}}"#;
    for text in [
        "",
        "\n",
        "# nothing\n---\n",
        "---\n",
        list,
        null,
        "items: []\nkind: List\napiVersion: v1\n",
        bookmark,
    ] {
        for verb in ["status", "changes", "trace"] {
            for objects in [&[][..], &["pods"], &["pod/x"]] {
                let run = |flags: &[&str]| fed(text, &[&[verb], objects, flags].concat());
                for flags in [&["--once"][..], &[]] {
                    let (code, stderr) = run(&[flags, &["--exit-code"]].concat());
                    assert_eq!(
                        code,
                        Some(4),
                        "{text:?} {verb} {objects:?} {flags:?} {stderr}"
                    );
                }
                for goal in ["--for=current", "--for=delete", "--for=create"] {
                    let (code, stderr) = run(&[goal]);
                    assert_eq!(code, Some(1), "{text:?} {verb} {objects:?} {goal} {stderr}");
                    let expect = format!("error: no objects passed to {verb}\n");
                    assert!(stderr.starts_with(&expect), "{stderr}");
                }
            }
        }
    }
}

#[test]
fn an_object_that_is_not_in_the_file_is_an_error() {
    let path = file("one.json", &object(1));
    for verb in ["status", "changes", "trace"] {
        for flags in [&[][..], &["--once"], &["--for=current"]] {
            let ran = Spy::alone().run(&[&[verb, "cm/aa", "--from", &path], flags].concat());
            assert_eq!(
                ran.status.code(),
                Some(1),
                "{verb} {flags:?} {}",
                ran.transcript()
            );
            let expect =
                format!("error: configmaps \"aa\" not found in {path}\nhint: did you mean a?\n");
            assert!(
                ran.stderr.ends_with(&expect),
                "{verb} {flags:?}: {}",
                ran.stderr
            );
        }
        let coded = Spy::alone().run(&[verb, "cm/aa", "--from", &path, "--exit-code"]);
        assert_eq!(
            coded.status.code(),
            Some(4),
            "{verb} {}",
            coded.transcript()
        );
        // What the file has nothing of, it says nothing about.
        let gone =
            |object: &str| Spy::alone().run(&[verb, object, "--from", &path, "--for=delete"]);
        assert_eq!(gone("cm/aa").status.code(), Some(0), "{verb}");
        let ran = gone("secret/b");
        assert_eq!(ran.status.code(), Some(1), "{verb} {}", ran.transcript());
        assert!(
            ran.stderr
                .ends_with(&format!("error: no secrets in {path}\n")),
            "{}",
            ran.stderr
        );
        if verb != "trace" {
            let ran =
                Spy::alone().run(&[verb, "secrets", "--from", &path, "--exit-code", "--once"]);
            assert_eq!(ran.status.code(), Some(4), "{verb} {}", ran.transcript());
        }
    }
}

#[test]
fn a_recorded_object_is_gone_only_when_it_was_deleted() {
    let deleted = format!("{{\"type\":\"DELETED\",\"object\":{}}}\n", object(3));
    for verb in ["status", "changes", "trace"] {
        let run = |text: &str, object: &str| fed(text, &[verb, object, "--for=delete"]).0;
        assert_eq!(run(&event(1), "cm/a"), Some(3), "{verb}");
        assert_eq!(run(&recorded(2), "cm/a"), Some(3), "{verb}");
        assert_eq!(run(&(recorded(2) + &deleted), "cm/a"), Some(0), "{verb}");
        if verb != "trace" {
            assert_eq!(run(&event(1), "cm"), Some(3), "{verb}");
            assert_eq!(run(&(event(1) + &deleted), "cm"), Some(0), "{verb}");
        }
    }
}

#[test]
fn a_recording_that_ends_with_an_error_is_an_error() {
    let said = "line 1: the recorded watch failed: too old resource version: 1 (9)\n";
    for (args, code) in [
        (&["changes"][..], 1),
        (&["changes", "--exit-code"], 4),
        (&["changes", "cm", "--for=delete"], 1),
        (&["status", "cm"], 1),
        (&["status", "--once"], 1),
        (&["status", "--once", "--exit-code"], 4),
        (&["trace", "cm/a"], 1),
    ] {
        let (found, stderr) = fed(EXPIRED, args);
        assert_eq!(found, Some(code), "{args:?} {stderr}");
        assert!(stderr.ends_with(said), "{args:?} {stderr}");
    }
    // What came before it is shown.
    let text = format!("{}{EXPIRED}\n", recorded(2));
    let path = file("failed.json", &text);
    for args in [
        &["changes", "--from", &path][..],
        &["changes", "--from", &path, "--once"],
    ] {
        let ran = Spy::alone().run(args);
        assert!(
            ran.stdout.contains("MODIFIED configmap/a"),
            "{}",
            ran.transcript()
        );
        assert_eq!(ran.status.code(), Some(1));
        assert!(
            ran.stderr
                .ends_with("line 3: the recorded watch failed: too old resource version: 1 (9)\n"),
            "{}",
            ran.stderr
        );
    }
}

#[test]
fn a_selector_that_does_not_parse_is_refused() {
    let path = file("selected.json", &object(1));
    for verb in ["status", "changes", "trace"] {
        let ran = Spy::alone().run(&[verb, "cm", "-l", "app=web,", "--from", &path]);
        assert_eq!(ran.status.code(), Some(1), "{}", ran.transcript());
        let line = "error: the provided selector \"app=web,\" is not valid: found '', expected: identifier after ','\nhint: ";
        assert!(ran.stderr.starts_with(line), "{}", ran.stderr);
        let ran = Spy::alone().run(&[verb, "--field-selector", "metadata.name", "--from", &path]);
        let line =
            "error: invalid selector: 'metadata.name'; can't understand 'metadata.name'\nhint: ";
        assert!(ran.stderr.starts_with(line), "{}", ran.stderr);
    }
}

/// Only these fields select objects on a server, so another one is a mistake.
#[test]
fn a_field_that_no_server_supports_is_refused() {
    let path = file("fields.json", &object(1));
    let run = |args: &[&str], fields: &str| {
        let flags = ["--field-selector", fields, "--from", &path];
        Spy::alone().run(&[args, &flags].concat())
    };
    for (fields, field) in [
        ("metadata.nam=s1", "metadata.nam"),
        ("metadata.name !=s1", "metadata.name "),
        ("metadata.name=a,metadata.uid=", "metadata.uid"),
        ("data.n=1", "data.n"),
        ("Metadata.name=a", "Metadata.name"),
        ("type=", "type"),
    ] {
        for args in [
            &["status", "cm", "--for=delete"][..],
            &["status", "cm", "--once", "--exit-code"],
            &["status"],
            &["changes", "cm"],
            &["trace", "cm"],
        ] {
            let ran = run(args, fields);
            let line = format!(
                "error: field label not supported: {field}\nhint: select configmaps by metadata.name, metadata.namespace, or by labels with -l\n"
            );
            assert!(ran.stderr.starts_with(&line), "{}", ran.transcript());
            assert_ne!(ran.status.code(), Some(0));
        }
    }
    let ran = run(&["status", "pods", "--once"], "spec.nodeNam=a");
    assert!(
        ran.stderr.contains("not supported: spec.nodeNam\n"),
        "{}",
        ran.transcript()
    );
    let ran = run(
        &["status", "cm", "--once"],
        "metadata.name=a,metadata.namespace!=other",
    );
    assert!(ran.stdout.contains("configmap/a"), "{}", ran.transcript());
}

/// How long a run takes that must end by itself, and how it ends.
fn limited(args: &[&str]) -> (Option<i32>, String) {
    let started = std::time::Instant::now();
    let (run, input) = Spy::alone().start_reading(args);
    let ran = run.finish();
    drop(input);
    let took = started.elapsed();
    assert!(
        took < std::time::Duration::from_secs(20),
        "{args:?} {took:?}"
    );
    (ran.status.code(), ran.stderr)
}

#[cfg(unix)]
#[test]
fn the_time_limit_holds_while_nothing_is_written() {
    let fifo = format!(
        "{}/silent-{}",
        env!("CARGO_TARGET_TMPDIR"),
        std::process::id()
    );
    let made = std::process::Command::new("mkfifo").arg(&fifo).status();
    assert!(made.unwrap().success());
    for (input, name) in [("-", "standard input"), (&fifo, &fifo)] {
        for args in [
            &["changes"][..],
            &["changes", "--once"],
            &["status"],
            &["status", "--once"],
            &["trace", "--once"],
        ] {
            let args = [args, &["--timeout=300ms", "--from", input]].concat();
            let (code, stderr) = limited(&args);
            assert_eq!(code, Some(1), "{args:?} {stderr}");
            let expect = format!("error: timed out waiting for {name}\n");
            assert!(stderr.starts_with(&expect), "{args:?} {stderr}");
        }
    }
    let (code, _) = limited(&["status", "--for=current", "--timeout=300ms", "--from", "-"]);
    assert_eq!(code, Some(1));
    for verb in ["status", "changes", "trace"] {
        let spy = Spy::with_kubeconfig(&fifo);
        let ran = spy.run(&[verb, "deploy/web", "--for=current", "--timeout=300ms"]);
        assert_eq!(ran.status.code(), Some(1), "{}", ran.transcript());
    }
    std::fs::remove_file(&fifo).unwrap();
}

#[cfg(unix)]
#[test]
fn the_first_ctrl_c_ends_a_run_that_waits_for_its_input() {
    let fifo = format!(
        "{}/stopped-{}",
        env!("CARGO_TARGET_TMPDIR"),
        std::process::id()
    );
    let made = std::process::Command::new("mkfifo").arg(&fifo).status();
    assert!(made.unwrap().success());
    for args in [
        &["changes", "--from", &fifo][..],
        &["status", "--from", &fifo],
        &["status", "--once", "--from", &fifo],
        &["trace", "--from", &fifo],
    ] {
        let run = Spy::alone().start(args);
        // This waits until the run has opened the pipe.
        let input = std::fs::OpenOptions::new().write(true).open(&fifo).unwrap();
        let started = std::time::Instant::now();
        let ran = run.interrupt();
        // A stuck program is ended after two seconds.
        let took = started.elapsed();
        assert!(
            took < std::time::Duration::from_millis(1500),
            "{args:?} {took:?}"
        );
        assert_eq!(ran.status.code(), None, "{}", ran.transcript());
        assert_eq!(ran.stderr, "");
        drop(input);
    }
    std::fs::remove_file(&fifo).unwrap();
}

#[cfg(target_os = "linux")]
#[test]
fn an_input_without_an_end_is_refused() {
    for args in [
        &["changes", "--from", "/dev/zero"][..],
        &["status", "--once", "--from", "/dev/zero"],
        &["status", "-f", "/dev/zero", "--once"],
    ] {
        let (code, stderr) = limited(args);
        assert_eq!(code, Some(1), "{args:?} {stderr}");
        assert!(stderr.contains("more than 256 MiB"), "{args:?} {stderr}");
    }
}
