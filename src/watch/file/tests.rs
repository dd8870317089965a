//! Tests of a file in place of a cluster.

mod read;
mod streams;

use std::time::Duration;

use tokio::time::timeout;

use super::*;
use crate::object::Resource;
use crate::source::{ClusterId, Event, Form, Scope, Select};
use crate::watch::tests::{brief, clock};
use crate::watch::{Mux, MuxOptions, Patience, Subscriptions};

fn key(resource: Resource) -> SourceKey {
    SourceKey {
        cluster: ClusterId("file".into()),
        resource,
        scope: Scope::Cluster,
        select: Select::All,
        form: Form::Full,
    }
}

fn mux(file: &Arc<FileTransport>) -> Mux {
    let transport: Arc<dyn Transport> = file.clone();
    Mux::new([(ClusterId("file".into()), transport)], clock())
}

/// All events of a source, up to its end.
async fn play(text: &str, with: impl Fn(SourceKey) -> SourceKey) -> Vec<String> {
    let file = Arc::new(FileTransport::parse("file", text).expect("valid"));
    let resource = file.resources[0].resource.clone();
    let source = mux(&file).open(with(key(resource)));
    let mut every = source.every(Patience::Pipe);
    let mut events = Vec::new();
    while let Some(event) = every.next().await {
        events.push(brief(&event));
    }
    events
}

/// The objects of a file. Those that exist from the start come first.
fn texts(file: &FileTransport) -> Vec<String> {
    let all = file.log.all();
    all.iter()
        .map(|entry| entry.doc.text().to_owned())
        .collect()
}

fn pod(name: &str, rv: u32, app: &str) -> String {
    format!(
        r#"{{"apiVersion":"v1","kind":"Pod","metadata":{{"name":"{name}","namespace":"ns","uid":"u-{name}","resourceVersion":"{rv}","labels":{{"app":"{app}"}}}}}}"#
    )
}

fn event(kind: &str, object: &str) -> String {
    format!("{{\"type\": \"{kind}\",\n \"object\": {object}\n}}\n")
}

#[tokio::test(start_paused = true)]
async fn objects_are_the_listing_and_events_the_watch() {
    let text = [
        pod("a", 1, "web"),
        pod("b", 2, "web"),
        event("ADDED", &pod("a", 1, "web")),
        event("MODIFIED", &pod("a", 3, "web")),
        event(
            "BOOKMARK",
            r#"{"kind":"Pod","metadata":{"resourceVersion":"9"}}"#,
        ),
        event("DELETED", &pod("b", 4, "web")),
        event("ADDED", &pod("c", 5, "web")),
    ]
    .join("\n");
    assert_eq!(
        play(&text, |key| key).await,
        [
            "connecting",
            "listed a 1",
            "listed b 2",
            "synced 1 (2)",
            "live",
            "modified a 1>3",
            "deleted b 2>4",
            "added c 5",
            "ended"
        ]
    );
}

#[tokio::test(start_paused = true)]
async fn a_repeated_object_is_a_later_version() {
    let text = [
        pod("a", 1, "web"),
        pod("b", 2, "web"),
        pod("a", 3, "web"),
        pod("c", 4, "web"),
        pod("a", 5, "web"),
    ]
    .concat();
    assert_eq!(
        play(&text, |key| key).await[1..],
        [
            "listed a 1",
            "listed b 2",
            "synced 1 (2)",
            "live",
            "modified a 1>3",
            "added c 4",
            "modified a 3>5",
            "ended"
        ]
    );
}

/// A recorded watch begins with an `ADDED` event for each object that exists. Another event proves that they are over.
#[tokio::test(start_paused = true)]
async fn the_first_events_of_a_watch_are_its_listing() {
    let text = [
        event("ADDED", &pod("a", 7, "web")),
        event("ADDED", &pod("b", 2, "web")),
        // The watch never added it, so it was there before.
        event("MODIFIED", &pod("c", 8, "web")),
        event("ADDED", &pod("d", 9, "web")),
        event("MODIFIED", &pod("c", 10, "web")),
        event("MODIFIED", &pod("a", 11, "web")),
        event("ADDED", &pod("e", 12, "web")),
    ];
    assert_eq!(
        play(&text.concat(), |key| key).await[1..],
        [
            "listed a 7",
            "listed b 2",
            "listed c 8",
            "synced 1 (3)",
            "live",
            "added d 9",
            "modified c 8>10",
            "modified a 7>11",
            "added e 12",
            "ended"
        ]
    );
}

/// A watch without changes is one, too.
#[test]
fn a_recorded_watch_has_events() {
    let has_events = |text: &str| FileTransport::parse("file", text).map(|file| file.has_events());
    assert_eq!(has_events(&event("ADDED", &pod("a", 1, "web"))), Ok(true));
    assert_eq!(
        has_events(&(pod("a", 1, "web") + &pod("a", 2, "web"))),
        Ok(true)
    );
    assert_eq!(has_events(&pod("a", 1, "web")), Ok(false));
}

#[tokio::test(start_paused = true)]
async fn manifests_have_neither_uid_nor_version() {
    let text = "\
# the first
apiVersion: v1
kind: ConfigMap
metadata: {name: a}
data:
  text: |
    one
  yes: 'no'
---
apiVersion: v1
kind: ConfigMap
metadata: {name: a}
data: {text: two, 8080: x}
---
# nothing here
--- # and now
apiVersion: v1
kind: ConfigMap
metadata: {name: b}
...
";
    assert_eq!(
        play(text, |key| key).await[1..],
        [
            "listed a ",
            "synced 1 (1)",
            "live",
            "modified a >",
            "added b ",
            "ended"
        ]
    );
    let file = FileTransport::parse("file", text).expect("valid");
    assert_eq!(
        texts(&file)[0],
        r#"{"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":"a"},"data":{"text":"one\n","true":"no"}}"#,
        "an unquoted yes is a truth value to kubectl, too"
    );
    assert_eq!(
        texts(&file)[1],
        r#"{"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":"a"},"data":{"text":"two","8080":"x"}}"#
    );
}

#[tokio::test(start_paused = true)]
async fn selectors_work_as_on_a_server() {
    let text = [
        pod("a", 1, "web"),
        pod("b", 2, "db"),
        event("MODIFIED", &pod("a", 3, "db")),
        event("MODIFIED", &pod("b", 4, "web")),
        event("MODIFIED", &pod("b", 5, "web")),
        event("DELETED", &pod("b", 6, "web")),
    ]
    .join("\n");
    let web = |key| SourceKey {
        select: Select::labelled("app=web"),
        ..key
    };
    assert_eq!(
        play(&text, web).await[1..],
        [
            "listed a 1",
            "synced 1 (1)",
            "live",
            "left a 1>3",
            "added b 4",
            "modified b 4>5",
            "deleted b 5>6",
            "ended"
        ]
    );
    let named = |key| SourceKey {
        select: Select::Name("b".into()),
        ..key
    };
    assert_eq!(play(&text, named).await[1], "listed b 2");
    let elsewhere = |key| SourceKey {
        scope: Scope::Namespace("other".into()),
        ..key
    };
    assert_eq!(
        play(&text, elsewhere).await[1..],
        ["synced 1 (0)", "live", "ended"]
    );
}

#[tokio::test(start_paused = true)]
async fn a_slow_reader_of_a_file_misses_nothing() {
    let text: String = (1..200).map(|rv| pod("a", rv, "web")).collect();
    let file = Arc::new(FileTransport::parse("file", &text).expect("valid"));
    let transport: Arc<dyn Transport> = file.clone();
    let options = MuxOptions {
        queue_bytes: 2000,
        ..MuxOptions::default()
    };
    let mux = Mux::with_options([(ClusterId("file".into()), transport)], clock(), options);
    let mut all = Subscriptions::new();
    let source = mux.open(key(file.resources[0].resource.clone()));
    all.add(&source, Patience::Screen);
    let mut events = Vec::new();
    while let Some((_, event)) = all.next().await {
        events.push(brief(&event));
        tokio::time::sleep(Duration::from_secs(100)).await;
    }
    assert_eq!(events.len(), 1 + 1 + 1 + 1 + 198 + 1);
    assert!(!events.iter().any(|event| event.starts_with("gap")));
    // The source stays ended.
    assert!(
        timeout(Duration::from_secs(9), all.next())
            .await
            .expect("at once")
            .is_none()
    );
}

#[test]
fn json_is_kept_byte_for_byte() {
    let odd = r#"{ "kind":"Pod", "apiVersion":"v1", "metadata":{"name":"\u0061"}, "n":1.50e2,  "big":12345678901234567890123 }"#;
    let file = FileTransport::parse("file", &format!("\u{feff}\n {odd}\n")).expect("valid");
    assert_eq!(texts(&file)[0], odd);
}

#[test]
fn lists_give_their_items() {
    let text = r#"{"kind":"PodList","apiVersion":"v1","items":[{"metadata":{"name":"a"}},{"metadata":{"name":"b"}}]}
{"kind":"List","apiVersion":"v1","items":[{"kind":"Node","apiVersion":"v1","metadata":{"name":"n"}}]}
[{"kind":"Gateway","apiVersion":"gateway.networking.k8s.io/v1","metadata":{"name":"g","namespace":"ns"}}]"#;
    let file = FileTransport::parse("file", text).expect("valid");
    let found: Vec<(String, bool, Plural, usize)> = file
        .resources
        .iter()
        .map(|found| {
            let resource = &found.resource;
            (
                resource.group_resource(),
                resource.namespaced,
                found.plural,
                found.objects.len(),
            )
        })
        .collect();
    assert_eq!(
        found,
        [
            ("pods".to_owned(), true, Plural::Known, 2),
            ("nodes".to_owned(), false, Plural::Known, 1),
            (
                "gateways.gateway.networking.k8s.io".to_owned(),
                true,
                Plural::Guessed,
                1
            )
        ]
    );
}

#[test]
fn a_definition_in_the_file_names_its_kind() {
    let text = "\
apiVersion: apiextensions.k8s.io/v1
kind: CustomResourceDefinition
metadata: {name: octopodes.sea.io}
spec: {group: sea.io, scope: Cluster, names: {kind: Octopus, plural: octopodes}}
---
apiVersion: sea.io/v1
kind: Octopus
metadata: {name: o}
";
    let file = FileTransport::parse("file", text).expect("valid");
    let octopus = &file.resources[1];
    assert_eq!(octopus.resource.group_resource(), "octopodes.sea.io");
    assert!(!octopus.resource.namespaced);
    assert_eq!(octopus.plural, Plural::Known);
}

/// The text may be a Secret, or a file that only a link led to.
#[test]
fn errors_quote_nothing_of_the_text() {
    for text in [
        "password: @hunter2",
        "password: `hunter2",
        "password: %hunter2\n\t: x",
        "password: *hunter2",
        "password: !hunter2 {a: b}\n - c",
        "password: \"hunter2",
        "password: 'hunter2",
        "password: !!binary hunter2!",
        "password: !!int hunter2",
        "password: !!float hunter2",
        "password: hunter2: hunter2",
        "password: [hunter2",
        "password: {hunter2: ]",
        "password: &hunter2 &hunter2 x",
        "%hunter2 x\n--- a",
        "%YAML hunter2\n---\na: b",
        "%TAG !h! hunter2\n---\npassword: !x!hunter2 y",
        "password: |hunter2\n x",
        "password: \"\\hunter2\"",
        "password: .inf",
        "<<: hunter2",
        "? hunter2\nhunter2",
        "root:hunter2:19000:0:99999:7:::\nbin:*:1::",
        "hunter2",
        "- hunter2",
        "kind: hunter2",
        "{\"password\": hunter2}",
        "{\"password\": \"hunter2}",
        "{\"password\": \"hunter2\"} hunter2",
        "{\"type\": \"hunter2\", \"object\": {}}",
        "{\"kind\": [\"hunter2\"]}",
        "[\"hunter2\"]",
    ] {
        let Err(error) = FileTransport::parse("file", text) else {
            continue;
        };
        let shown = format!("{error} {error:?}");
        for quoted in ["hunter", "nter2", "@", "`", "%"] {
            assert!(!shown.contains(quoted), "{text:?}: {shown}");
        }
    }
}

#[test]
fn errors_name_their_line() {
    for (text, error) in [
        (
            "{\"kind\":\"Pod\",\n\"apiVersion\":\"v1\"}",
            "line 1: resource name may not be empty",
        ),
        (
            "\n\n{\"apiVersion\":\"v1\"}",
            "line 3: Object 'Kind' is missing",
        ),
        (
            "{\"kind\":\"List\",\"apiVersion\":\"v1\",\"items\":[\n\n{\"kind\":\"Pod\"}]}",
            "line 3: Object 'apiVersion' is missing",
        ),
        (
            "{\"kind\":\n\n",
            "line 3: unexpected end of JSON input at column 0",
        ),
        (
            "{\"type\":\"GONE\",\n\"object\":{}}",
            "line 2: unknown watch event type",
        ),
        ("[\n1]", "line 2: not an object"),
        ("just text", "line 1: not an object"),
        (
            "apiVersion: v1
kind: Pod
metadata: {name: a}
---

# x
kind: Pod
",
            "line 7: Object 'apiVersion' is missing",
        ),
    ] {
        let found = FileTransport::parse("file", text).expect_err(text);
        assert_eq!(found.to_string(), error, "{text}");
    }
    let broken = "apiVersion: v1\nkind: Pod\nmetadata: {name: a}\n---\nkind: [Pod\n";
    let error = FileTransport::parse("file", broken).expect_err("broken");
    assert!(error.line >= 5, "{error}");
    assert!(
        FileTransport::parse("file", "")
            .expect("nothing")
            .resources
            .is_empty()
    );
}

/// All events of a source, with the text for each unreadable document. Fails if the source does not end.
async fn all_reports(text: &str) -> Vec<String> {
    let file = Arc::new(FileTransport::parse("file", text).expect("valid"));
    let source = mux(&file).open(key(file.resources[0].resource.clone()));
    let mut every = source.every(Patience::Pipe);
    let mut events = Vec::new();
    let all = async {
        while let Some(event) = every.next().await {
            events.push(match &event {
                Event::Undecodable { detail } => detail.to_string(),
                event => brief(event),
            });
        }
    };
    timeout(Duration::from_secs(3600), all)
        .await
        .expect("the file ends");
    events
}

#[tokio::test(start_paused = true)]
async fn an_unreadable_document_is_reported_once_and_the_others_are_read() {
    let meta = |fields: &str| {
        format!(r#"{{"apiVersion":"v1","kind":"Pod","metadata":{{"name":"b"{fields}}}}}"#)
    };
    for (bad, detail) in [
        (
            meta(r#","resourceVersion":12"#),
            "pod/b: metadata.resourceVersion must be a string, not a number",
        ),
        (
            meta(r#","uid":true"#),
            "pod/b: metadata.uid must be a string, not a boolean",
        ),
        (
            meta(r#","namespace":{"hidden":"t0p"}"#),
            "pod/b: metadata.namespace must be a string, not an object",
        ),
        (
            meta(r#","deletionTimestamp":["t0p"]"#),
            "pod/b: metadata.deletionTimestamp must be a string, not a list",
        ),
        (
            meta(r#","uid":"u","uid":"v""#),
            "pod/b: apiVersion, kind or metadata cannot be read",
        ),
        (
            r#"{"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":"b"},"kind":"Pod"}"#.into(),
            "pod/b: the object names two types",
        ),
    ] {
        let (first, last) = (pod("a", 1, "web"), pod("c", 3, "web"));
        for (text, line) in [
            (format!("{bad}\n{first}\n{last}"), 1),
            (format!("{first}\n{bad}\n{last}"), 2),
            (format!("[{first},\n{last},\n{bad}]"), 3),
            (format!("{first}\n{last}\n{}", event("MODIFIED", &bad)), 4),
        ] {
            assert_eq!(
                all_reports(&text).await[1..],
                [
                    "listed a 1".to_owned(),
                    "listed c 3".to_owned(),
                    "synced 1 (2)".to_owned(),
                    "live".to_owned(),
                    format!("file: line {line}: {detail}"),
                    "ended".to_owned(),
                ],
                "{text}"
            );
        }
    }
}

#[test]
fn a_yaml_document_may_be_as_long_as_its_text() {
    let numbers = "1,".repeat(1_200_000);
    let text =
        format!("apiVersion: v1\nkind: ConfigMap\nmetadata: {{name: a}}\nnumbers: [{numbers}]\n");
    let file = FileTransport::parse("file", &text).expect("valid");
    let all = file.log.all();
    let values = all[0].doc.root().get("numbers").expect("there");
    assert_eq!(values.items().count(), 1_200_000);
}

#[test]
fn aliases_that_expand_too_much_are_refused() {
    let laughs = (1..10).map(|n| {
        let before = vec![format!("*l{}", n - 1); 10].join(",");
        format!("l{n}: &l{n} [{before}]")
    });
    let first = ["kind: A", "l0: &l0 ha"].map(str::to_owned);
    let text = first
        .into_iter()
        .chain(laughs)
        .collect::<Vec<_>>()
        .join("\n");
    let error = FileTransport::parse("file", &text).expect_err("a bomb");
    assert!(error.detail.starts_with("aliases that expand"), "{error}");
    assert!(error.syntax.is_some());
}
