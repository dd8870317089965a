//! Tests of what is read of texts: the objects, and the faults of the rest.

use std::fmt::Write as _;

use super::*;

/// The objects at the end of these texts, and the faults.
fn read(texts: &[&str]) -> String {
    let mut reader = FileReader::default();
    let mut faults = String::new();
    for (number, text) in texts.iter().enumerate() {
        let name = format!("f{}", number + 1);
        let found = reader.read(&name, text, Nameless::Unreadable);
        for fault in found.first() {
            let document = fault.document.map(|number| format!(" ({number})"));
            let foreign = fault.foreign.map(|foreign| format!(" [{}]", foreign.what));
            let more = [document, foreign]
                .into_iter()
                .flatten()
                .collect::<String>();
            write!(faults, "; {name}: {fault}{more}").expect("memory");
        }
    }
    let file = reader.finish("file").expect("no failed watch alone");
    let object = |(object, doc): (ObjectRef, Doc)| {
        let version = doc.root().str_at(&["metadata", "resourceVersion"]);
        format!("{object} {}", version.unwrap_or_default())
            .trim_end()
            .to_owned()
    };
    let objects: Vec<String> = file.objects().into_iter().map(object).collect();
    objects.join(", ") + &faults
}

/// A manifest in YAML.
fn yaml(name: &str) -> String {
    format!("apiVersion: v1\nkind: ConfigMap\nmetadata: {{name: {name}}}\n")
}

#[test]
fn an_event_is_played_to_its_end() {
    let text = [
        event("ADDED", &pod("a", 1, "web")),
        event("ADDED", &pod("b", 2, "web")),
        event("MODIFIED", &pod("a", 3, "web")),
        event("DELETED", &pod("b", 4, "web")),
    ]
    .concat();
    assert_eq!(read(&[&text]), "pod/a 3");
    let all_gone = event("ADDED", &pod("a", 1, "web")) + &event("DELETED", &pod("a", 2, "web"));
    assert_eq!(read(&[&all_gone]), "");
    // A repeated object is a later version, as `kubectl get --watch` prints it.
    assert_eq!(
        read(&[&(pod("a", 1, "web") + &pod("a", 2, "db"))]),
        "pod/a 2"
    );
}

#[test]
fn lists_in_lists_are_one_list() {
    let inner = format!(
        r#"{{"kind":"PodList","apiVersion":"v1","items":[{}]}}"#,
        pod("a", 1, "web")
    );
    let list = |items: &str| format!(r#"{{"kind":"List","apiVersion":"v1","items":{items}}}"#);
    let deep = list(&format!(
        "[{},{},{}]",
        list(&format!("[{inner}]")),
        pod("b", 2, "web"),
        list("null")
    ));
    assert_eq!(read(&[&deep]), "pod/a 1, pod/b 2");
    let yaml = "apiVersion: v1\nkind: List\nitems:\n- apiVersion: v1\n  kind: PodList\n  items:\n  - metadata: {name: a}\n  - metadata: {name: b}\n";
    assert_eq!(read(&[yaml]), "pod/a, pod/b");
    assert_eq!(read(&["apiVersion: v1\nkind: PodList\nitems: null\n"]), "");
    // A tool wrote it without a type.
    assert_eq!(
        read(&[&format!(r#"{{"items":[{}]}}"#, pod("a", 1, "web"))]),
        "pod/a 1"
    );
}

#[test]
fn a_list_without_items_is_an_error_and_no_object() {
    let wrong = |what: &str| format!("unable to decode: items must be a list, not {what}");
    let list = |items: &str| format!(r#"{{"kind":"List","apiVersion":"v1"{items}}}"#);
    for (text, words) in [
        (
            list(""),
            "no matches for kind \"List\" in version \"v1\"".into(),
        ),
        (list(r#","items":{}"#), wrong("an object")),
        (list(r#","items":"x""#), wrong("a string")),
        (
            list(r#","metadata":{"name":"a"},"items":7"#),
            wrong("a number"),
        ),
        (
            "kind: PodList\napiVersion: v1\n".to_owned(),
            "no matches for kind \"PodList\" in version \"v1\"".into(),
        ),
        (
            event("ADDED", &list("")),
            "no matches for kind \"List\" in version \"v1\"".into(),
        ),
    ] {
        let found = read(&[&text]);
        assert!(found.starts_with("; f1: line "), "{text}: {found}");
        assert!(found.ends_with(&words), "{text}: {found}");
    }
    // A kind may have such a name.
    let named = "apiVersion: ex.com/v1\nkind: AllowList\nmetadata: {name: a}\n";
    assert_eq!(read(&[named]), "allowlist/a");
}

#[test]
fn what_is_broken_does_not_hide_the_rest() {
    let (a, b) = (yaml("a"), yaml("b"));
    for (text, expect) in [
        (
            format!("{a}---\napiVersion: v1\nkind: [\n---\n{b}"),
            "configmap/a, configmap/b; f1: line 6: unclosed bracket '[' (2)",
        ),
        (
            format!("{a}---\nkind: ConfigMap\nmetadata: {{name: a"),
            "configmap/a; f1: line 6: unclosed bracket '{' (2)",
        ),
        (
            format!("{a}---\nkind: Pod\n---\n{b}"),
            "configmap/a, configmap/b; f1: line 5: Object 'apiVersion' is missing",
        ),
        (
            format!(
                "{}\n{{\"kind\":\n}}\n{}",
                pod("a", 1, "x"),
                pod("b", 2, "x")
            ),
            "pod/a 1, pod/b 2; f1: line 3: expected value at column 1 (2)",
        ),
        // One line is not JSON.
        (
            format!("{}\n{{oh}}\n{}", pod("a", 1, "x"), pod("b", 2, "x")),
            "pod/a 1, pod/b 2; f1: line 2: key must be a string at column 2 (2)",
        ),
        // The file ends within a list.
        (
            format!(
                "{{\"kind\":\"PodList\",\"items\":[\n{},\n{}",
                pod("a", 1, "x"),
                &pod("b", 2, "x")[..60]
            ),
            "pod/a 1; f1: line 3: unexpected end of JSON input at column 60",
        ),
        (
            format!("[{},{{\"a\":", pod("a", 1, "x")),
            "pod/a 1; f1: line 1: unexpected end of JSON input at column 135",
        ),
        (
            format!("{}\n{}", event("GONE", &pod("a", 1, "x")), pod("b", 2, "x")),
            "pod/b 2; f1: line 2: unknown watch event type",
        ),
    ] {
        assert_eq!(read(&[&text]), expect, "{text}");
    }
    let error = read(&[&format!("{}{EXPIRED}", pod("a", 1, "x"))]);
    assert_eq!(error, "pod/a 1");
}

/// An `ERROR` event.
const EXPIRED: &str = r#"{"type":"ERROR","object":{"kind":"Status","apiVersion":"v1","message":"too old","code":410}}"#;

#[test]
fn joined_files_lack_a_separator() {
    let list = |name: &str| {
        format!(
            "apiVersion: v1\nitems:\n- apiVersion: v1\n  kind: ConfigMap\n  metadata: {{name: {name}}}\nkind: List\n"
        )
    };
    let text = [list("a"), list("b"), yaml("c")].concat();
    assert_eq!(read(&[&text]), "configmap/a, configmap/b, configmap/c");
    let other = "kind: ConfigMap\napiVersion: v1\nmetadata: {name: d}\n";
    assert_eq!(read(&[&(yaml("a") + other)]), "configmap/a, configmap/d");
    // kubectl, too, takes the last of the fields with the same name.
    assert_eq!(
        read(&[&(yaml("a") + "metadata: {name: b}\n")]),
        "configmap/b"
    );
    let flow = "{apiVersion: v1, kind: A, metadata: {name: a}, kind: B}";
    let expect = "; f1: line 1: a line with --- is missing before this object";
    assert_eq!(read(&[&format!("---\n{flow}")]), expect);
}

#[test]
fn a_quoted_text_may_be_indented_less_than_its_field() {
    let object = |data: &str| {
        format!("apiVersion: v1\nkind: ConfigMap\nmetadata: {{name: a}}\ndata:\n{data}")
    };
    for (data, value) in [
        ("  a: \"one\n  two\"\n  b: x\n", "one two"),
        ("  a: \"one\ntwo\n\n   three\"\n", "one two\nthree"),
        (
            "  a: 'it''s\n  a \"word\"\n  there'\n  b: 'x\n  y'\n",
            "it's a \"word\" there",
        ),
        ("  a: \"one \\\n  \\\"two\"\n", "one \"two"),
        // Lines of other texts stay as they are.
        (
            "  b: |\n    it's\n     \"so\"\n  a: 'one\n  two'\n  c: |\n    'x\n     y\n",
            "one two",
        ),
    ] {
        let text = object(data);
        let file =
            FileTransport::parse("file", &text).unwrap_or_else(|error| panic!("{text}: {error}"));
        let (_, doc) = file.objects().remove(0);
        let data = doc.root().get("data").expect("there");
        assert_eq!(data.str_at(&["a"]).as_deref(), Some(value), "{text}");
        if text.contains("so") {
            assert_eq!(data.str_at(&["b"]).as_deref(), Some("it's\n \"so\"\n"));
            assert_eq!(data.str_at(&["c"]).as_deref(), Some("'x\n y\n"));
        }
    }
    // A missing quotation mark is still an error.
    let broken = read(&[&object("  a: \"one\n  two\n")]);
    assert!(broken.contains("f1: line"), "{broken}");
}

#[test]
fn many_shallow_lines_take_a_bounded_time() {
    let lines = "  it's here\n".repeat(20_000);
    let text = format!(
        "apiVersion: v1\nkind: ConfigMap\nmetadata: {{name: a}}\ndata:\n  a: \"\n{lines}  \"\n"
    );
    let broken = read(&[&text]);
    assert!(
        broken.contains("invalid indentation in multiline quoted scalar"),
        "{broken}"
    );
}

#[test]
fn a_dump_with_logs_is_read() {
    let log = |name: &str, text: &str| {
        let about = format!("logs for container c of pod shop/{name} ====");
        format!("==== START {about}\n{text}==== END {about}\n")
    };
    let list = |name: &str| {
        format!(
            "{{\n \"kind\": \"PodList\",\n \"apiVersion\": \"v1\",\n \"items\": [{}]\n}}\n",
            pod(name, 1, "web")
        )
    };
    let text = [
        list("a"),
        log("a", "{\"kind\":\"Pod\"}\nlast"),
        list("b"),
        log("b", ""),
        "{oh".to_owned(),
    ]
    .concat();
    let expect = "pod/a 1, pod/b 1; f1: line 16: key must be a string at column 2 (3)";
    assert_eq!(read(&[&text]), expect);
    let documents = [
        yaml("a"),
        log("a", "---\nx: [\n"),
        format!("---\n{}", yaml("b")),
    ]
    .concat();
    assert_eq!(read(&[&documents]), "configmap/a, configmap/b");
}

#[test]
fn an_object_in_several_files_counts_once() {
    let a = |version| pod("a", version, "web");
    assert_eq!(read(&[&a(2), &a(2)]), "pod/a 2");
    assert_eq!(read(&[&a(2), &a(1)]), "pod/a 2");
    assert_eq!(
        read(&[&a(9), &(a(10) + &pod("b", 1, "web"))]),
        "pod/a 10, pod/b 1"
    );
    assert_eq!(read(&[&yaml("a"), &yaml("a")]), "configmap/a");
    // It was deleted and created again between two dumps.
    let again = |version| a(version).replace("u-a", "u-b");
    assert_eq!(read(&[&a(2), &again(3)]), "pod/a 3");
    assert_eq!(read(&[&again(3), &a(2)]), "pod/a 3");
    let mut reader = FileReader::default();
    for (name, text) in [("x", a(2)), ("y", a(1)), ("z", a(3))] {
        reader.read(name, &text, Nameless::Unreadable);
    }
    assert_eq!((reader.repeated(), reader.count()), (1, 2));
}

#[test]
fn an_object_without_a_name_has_a_number() {
    let text = "apiVersion: v1\nkind: Pod\nmetadata: {generateName: a-}\n";
    assert_eq!(
        read(&[&format!("{text}---\n{}", yaml("b"))]),
        "configmap/b, pod/#1"
    );
    let mut reader = FileReader::default();
    let faults = reader.read("x", text, Nameless::NoObject);
    assert_eq!(
        faults.first()[0].to_string(),
        "line 1: resource name may not be empty"
    );
    assert!(faults.are_no_objects());
}

#[test]
fn what_is_no_object_is_called_by_its_name() {
    for (text, what) in [
        ("NAME    READY\nweb-1   1/1\n", "table"),
        (
            "{\"kind\":\"Table\",\"apiVersion\":\"meta.k8s.io/v1\",\"rows\":[]}",
            "Table",
        ),
        (
            "{\"kind\":\"PartialObjectMetadata\",\"apiVersion\":\"meta.k8s.io/v1\",\"metadata\":{\"name\":\"a\"}}",
            "metadata",
        ),
        (
            "{\"kind\":\"Status\",\"apiVersion\":\"v1\",\"status\":\"Failure\",\"code\":404}",
            "error of the API server",
        ),
        (
            "apiVersion: kustomize.config.k8s.io/v1beta1\nkind: Kustomization\nresources: [a.yaml]\n",
            "kustomization",
        ),
        ("resources:\n- a.yaml\n", "kustomization"),
        ("apiVersion: v2\nname: web\nversion: 0.1.0\n", "Helm chart"),
        ("replicaCount: 1\nimage: {tag: x}\n", "no object"),
        (
            "{\"kind\":\"Event\",\"apiVersion\":\"audit.k8s.io/v1\",\"verb\":\"get\"}",
            "audit log",
        ),
        ("apiVersion: v1\nkind: Config\nclusters: []\n", "kubeconfig"),
        (
            "Name:    web\nNamespace: shop\nLabels:  app=web\n",
            "describe",
        ),
        (
            "kind: Pod\nmetadata:\n  name: {{ .Values.name }}-web\n",
            "render templates",
        ),
    ] {
        let found = read(&[text]);
        assert!(
            found.contains(&format!("[this is {what}")) || found.contains(what),
            "{text}: {found}"
        );
        assert!(found.contains(" ["), "{text}: {found}");
    }
    // A custom resource may have the name of such a type.
    assert_eq!(
        read(&["apiVersion: acme.io/v1\nkind: Table\nmetadata: {name: a}\n"]),
        "table/a"
    );
}
