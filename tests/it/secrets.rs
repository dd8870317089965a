//! Tests that neither Secret values nor characters that steer a terminal reach the output.

use std::collections::BTreeSet;
use std::io::Write as _;
use std::sync::LazyLock;

use flate2::Compression;
use flate2::write::GzEncoder;
use kubectl_spy::sandbox::{BadLine, Effect, End, Fault, Place, Request, Rule, User, Verb, Writer};
use serde_json::{Value, json};

use super::support::cluster::{Cluster, config_map};
use super::support::{Ran, Running};

/// The planted values, each with its base64: for `data`, `stringData`, last-applied, and a key that is added
/// and removed. No digest of them may be printed either.
const PLANTED: [(&str, &str); 5] = [
    ("hunter2-correct-horse", "aHVudGVyMi1jb3JyZWN0LWhvcnNl"),
    ("hunter3-battery-staple", "aHVudGVyMy1iYXR0ZXJ5LXN0YXBsZQ=="),
    ("tr0ub4dor-and-three", "dHIwdWI0ZG9yLWFuZC10aHJlZQ=="),
    ("n0ted-down-in-clear", "bjB0ZWQtZG93bi1pbi1jbGVhcg=="),
    (
        "multi\nline\nkey-material",
        "bXVsdGkKbGluZQprZXktbWF0ZXJpYWw=",
    ),
];

/// The user's own credential, which must stay hidden too.
const TOKEN: &str = "bearer-of-all-things";

/// The formats, with flags that filter and colour them.
const FORMATS: [&[&str]; 15] = [
    &[],
    &["--color=always"],
    &["--only", "data", "--only", "stringData"],
    &["--only", "metadata.annotations"],
    &["-o", "json"],
    &["-o", "json", "--only", "data"],
    &["--full"],
    &["-o", "tree"],
    &["-o", "tree", "--show-noise"],
    &["-o", "full", "--color=always"],
    &["-o", "diff"],
    &["-o", "diff", "--show-noise"],
    &["-o", "yaml"],
    &["-o", "json-patch"],
    &["-o", "merge-patch"],
];

/// Every sequence of six bytes of the planted values: as plain text, as base64 at each of its three
/// alignments, and of the compressed copies.
static TRACES: LazyLock<BTreeSet<Vec<u8>>> = LazyLock::new(|| {
    let clear = PLANTED.map(|(clear, _)| clear.as_bytes());
    let coded = clear.iter().flat_map(|clear| {
        // The last group depends on the bytes that follow it.
        [0, 1, 2].map(|start| {
            let whole_groups = (clear.len() - start) / 3 * 3;
            base64(&clear[start..start + whole_groups])
        })
    });
    let copies = (0..3).map(|value| compressed(&manifest(value)));
    let texts = coded.chain(copies).map(String::into_bytes);
    let texts = texts.chain(clear.map(<[u8]>::to_vec));
    let windows = |text: Vec<u8>| text.windows(6).map(<[u8]>::to_vec).collect::<Vec<_>>();
    texts.flat_map(windows).collect()
});

fn assert_nothing_planted(ran: &Ran, what: &str) {
    for text in [&ran.stdout, &ran.stderr] {
        let found = text
            .as_bytes()
            .windows(6)
            .find(|part| TRACES.contains(*part));
        let found = found.map(String::from_utf8_lossy);
        assert_eq!(found, None, "{what}:\n{text}");
        assert!(!text.contains(TOKEN), "{what}: the token in\n{text}");
    }
}

fn base64(bytes: &[u8]) -> String {
    const DIGITS: &[u8; 64] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    let group = |chunk: &[u8]| {
        let at = |index: usize| u32::from(chunk.get(index).copied().unwrap_or_default());
        let bits = at(0) << 16 | at(1) << 8 | at(2);
        let digits = (0..=chunk.len()).map(move |place| (bits >> (18 - 6 * place)) & 63);
        let digits = digits.map(|digit| char::from(DIGITS[digit as usize]));
        digits
            .chain(std::iter::repeat_n('=', 3 - chunk.len()))
            .collect::<String>()
    };
    bytes.chunks(3).map(group).collect()
}

/// A copy as Rancher stores it.
fn compressed(object: &Value) -> String {
    let mut gzip = GzEncoder::new(Vec::new(), Compression::default());
    gzip.write_all(object.to_string().as_bytes()).unwrap();
    base64(&gzip.finish().unwrap())
}

/// The manifest of the Secret.
fn manifest(value: usize) -> Value {
    let (clear, base64) = PLANTED[value];
    json!({
        "apiVersion": "v1", "kind": "Secret", "metadata": {"name": "db"},
        "data": {"password": base64}, "stringData": {"password": clear, "other": PLANTED[3].0},
    })
}

/// Copies of the Secret, in the encodings that tools use.
fn copies(value: usize) -> Value {
    let manifest = manifest(value);
    let applied = match value {
        2 => json!(manifest.to_string()).to_string(),
        _ => format!("{manifest}\n"),
    };
    let (clear, base64) = PLANTED[value];
    json!({
        "kubectl.kubernetes.io/last-applied-configuration": applied,
        "objectset.rio.cattle.io/applied": compressed(&manifest),
        "objectset.rio.cattle.io/id": "the-set",
        "example.com/manifest": format!("kind: Secret\ndata:\n  a: {base64}\nstringData:\n  b: {clear}\n"),
        "openshift.io/token-secret.value": clear,
    })
}

/// A Secret with a value in each possible place.
fn secret(value: usize) -> Value {
    let (clear, base64) = PLANTED[value];
    json!({
        "apiVersion": "v1", "kind": "Secret", "type": "Opaque",
        "metadata": {"name": "db", "namespace": "shop", "annotations": copies(value)},
        "data": {"password": base64, "key.pem": PLANTED[4].1}, "stringData": {"password": clear},
    })
}

/// A cluster with the Secret, and a user with the right to read it.
async fn cluster() -> Cluster {
    let user = User {
        name: "jane".to_owned(),
        token: String::new(),
        rules: vec![Rule::everything(), Rule::deny("*", "pods")],
    };
    let cluster = Cluster::start_with(|options| options.users = vec![user]).await;
    cluster.put(secret(0));
    cluster
}

fn start(cluster: &Cluster, args: &[&str]) -> Running {
    let mut run = cluster.spy().start(
        &[
            &["changes", "--since=0", "secrets,pods", "--token", TOKEN],
            args,
        ]
        .concat(),
    );
    run.until_where("a listing", |line| {
        line.contains("watching") || line.contains("synced")
    });
    run
}

/// Writes to the Secret in every way, and follows it until its deletion.
fn write_all(cluster: &Cluster, run: &mut Running, args: &[&str]) {
    let by = Writer::new("kubectl-client-side-apply");
    cluster.sandbox.update(secret(1), &by).unwrap();
    cluster.edit(
        "secrets",
        "db",
        &json!({"data": {"password": PLANTED[2].1}}),
    );
    cluster.edit(
        "secrets",
        "db",
        &json!({"data": {"extra": PLANTED[3].1}, "stringData": null}),
    );
    cluster.edit(
        "secrets",
        "db",
        &json!({"data": {"extra": null, "password": 17}}),
    );
    cluster.edit("secrets", "db", &json!({"data": PLANTED[2].0}));
    cluster.sandbox.update(secret(2), &by).unwrap();
    cluster.edit(
        "secrets",
        "db",
        &json!({"metadata": {"labels": {"done": "almost"}}}),
    );
    if args.iter().any(|arg| arg.ends_with("-patch")) {
        // There are no patches for creations and deletions.
        run.until("almost");
        return;
    }
    cluster.delete("secrets", "db");
    run.until_where("the deletion", |line| {
        line.to_lowercase().contains("deleted")
    });
    cluster.put(secret(1));
    run.until_where("the other", |line| {
        line.to_lowercase().contains("recreated")
    });
}

#[tokio::test(flavor = "multi_thread")]
async fn values_of_secrets_stay_in_the_cluster() {
    for args in FORMATS {
        let cluster = cluster().await;
        let mut run = start(&cluster, args);
        write_all(&cluster, &mut run, args);
        let ran = run.interrupt();
        assert!(!ran.stdout.is_empty(), "{args:?}: {}", ran.transcript());
        assert_nothing_planted(&ran, &format!("{args:?}"));
        let once = cluster
            .spy()
            .run(&[&["changes", "--since=0", "secret/db", "--once"], args].concat());
        assert_nothing_planted(&once, &format!("{args:?} --once"));
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn changed_values_are_distinguished_without_being_shown() {
    let cluster = cluster().await;
    let mut run = start(&cluster, &["--only", "data"]);
    cluster.edit(
        "secrets",
        "db",
        &json!({"data": {"password": PLANTED[1].1}}),
    );
    cluster.edit(
        "secrets",
        "db",
        &json!({"data": {"password": PLANTED[0].1}}),
    );
    run.until("#2> → <secret 21 B #1>");
    assert_nothing_planted(&run.interrupt(), "a value that returns");
}

#[tokio::test(flavor = "multi_thread")]
async fn copies_of_secrets_in_whole_objects_are_placeholders() {
    let cluster = cluster().await;
    let all = ["changes", "--since=0", "secret/db", "--once", "-o", "yaml"];
    let ran = cluster.spy().run(&all);
    for line in [
        "kubectl.kubernetes.io/last-applied-configuration: \"{",
        "objectset.rio.cattle.io/applied: \"<secret ",
        "objectset.rio.cattle.io/id: the-set",
        "example.com/manifest: \"<secret ",
        "openshift.io/token-secret.value: \"<secret 21 B #2>\"",
    ] {
        assert!(ran.stdout.contains(line), "{line} in\n{}", ran.stdout);
    }
    assert_nothing_planted(&ran, "yaml");
    let revealed = cluster.spy().run(&[&all[..], &["--show-secrets"]].concat());
    assert!(
        revealed.stdout.contains(&compressed(&manifest(0))),
        "{}",
        revealed.stdout
    );
}

#[tokio::test(flavor = "multi_thread")]
async fn values_of_secrets_are_in_no_error() {
    let bad = |line| Effect::BadLine { after: 0, line };
    let cut = |end| Effect::Cut {
        at: Place::MidLine(0),
        end,
    };
    let effects = [
        bad(BadLine::Garbage),
        bad(BadLine::Truncated),
        bad(BadLine::NotUtf8),
        bad(BadLine::UnknownType),
        cut(End::Clean),
        cut(End::Dropped),
        cut(End::Reset),
    ];
    let mut runs = Vec::new();
    for effect in effects {
        for args in [&[][..], &["-o", "json"]] {
            let cluster = cluster().await;
            // The fault strikes twice, so that the program gives the line up and reports all it can about it.
            let fault = Fault::on(Verb::Watch, "secrets", effect.clone()).range(1..=2);
            cluster.sandbox.inject(fault);
            let run = start(&cluster, args);
            cluster.edit(
                "secrets",
                "db",
                &json!({"data": {"password": PLANTED[1].1}}),
            );
            runs.push((cluster, run, format!("{effect:?} {args:?}")));
        }
    }
    for (cluster, mut run, what) in runs {
        let watches = |requests: &[Request]| {
            let is = |path: &str| path.contains("/secrets?") && path.contains("watch=");
            requests.iter().filter(|request| is(&request.path)).count() >= 3
        };
        cluster.sandbox.requests_until(watches).await;
        let label = json!({"metadata": {"labels": {"is": "there-again"}}});
        cluster.edit("secrets", "db", &label);
        run.until("there-again");
        assert_nothing_planted(&run.interrupt(), &what);
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn values_of_secrets_are_in_no_error_of_a_listing() {
    for end in [End::Clean, End::Dropped, End::Reset] {
        let cluster = cluster().await;
        let cut = Effect::Cut {
            at: Place::MidLine(0),
            end,
        };
        cluster
            .sandbox
            .inject(Fault::on(Verb::List, "secrets", cut));
        let mut run = cluster.spy().start(&["changes", "--since=0", "secret/db"]);
        run.until("EXISTING");
        assert_nothing_planted(&run.interrupt(), &format!("{end:?}"));
    }
}

/// A name with characters that move the cursor, ring, change the direction of text or end it.
const STEERING: &str = "a\u{1b}[2J\u{7}\u{202e}\u{200b}\u{9b}31m\r\u{0}\u{7f}z";

/// Whether a text contains a character that steers a terminal. If `painted`, our own colours do not count.
fn steers(text: &str) -> Option<char> {
    let is_ours = |rest: &str| {
        let end = rest.find('m');
        end.is_some_and(|end| {
            rest[1..end].starts_with('[')
                && rest[2..end].chars().all(|c| c.is_ascii_digit() || c == ';')
        })
    };
    text.char_indices()
        .filter(|&(at, c)| c != '\n' && !(c == '\u{1b}' && is_ours(&text[at..])))
        .map(|(_, c)| c)
        .find(|&c| c.is_control() || matches!(c, '\u{200b}'..='\u{200f}' | '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}' | '\u{feff}'))
}

fn assert_steers_nothing(ran: &Ran, what: &str) {
    for text in [&ran.stdout, &ran.stderr] {
        assert_eq!(steers(text), None, "{what}: {text:?}");
    }
}

/// An object with the planted text in every field that a user can set.
fn planted(value: &str) -> Value {
    let mut object = config_map(
        "flags",
        &json!({STEERING: value, "text": format!("{value}\n{STEERING}\nend\n")}),
    );
    object["metadata"]["labels"] = json!({STEERING: value});
    object["metadata"]["annotations"] =
        json!({STEERING: value, "json": json!({STEERING: value}).to_string()});
    object["metadata"]["finalizers"] = json!([value]);
    object["status"] = json!({
        "message": value, "phase": value,
        "conditions": [{"type": "Ready", "status": value, "reason": value, "message": value}],
        "containerStatuses": [{"name": value, "state": {"waiting": {"reason": value, "message": value}}}],
    });
    object
}

#[tokio::test(flavor = "multi_thread")]
async fn characters_that_steer_a_terminal_do_not_reach_it() {
    for args in [
        &[][..],
        &["--color=always"],
        &["-o", "json"],
        &["--only", "data"],
        &["--full"],
        &["-o", "tree"],
        &["-o", "full", "--color=always"],
        &["-o", "diff", "--show-noise"],
        &["-o", "yaml"],
        &["-o", "json-patch"],
        &["-o", "merge-patch"],
    ] {
        let cluster = Cluster::start().await;
        cluster.put(config_map(STEERING, &json!({})));
        cluster.put(planted(STEERING));
        let mut run = cluster
            .spy()
            .start(&[&["changes", "--since=0", "cm"], args].concat());
        run.until_where("a listing", |line| {
            line.contains("watching") || line.contains("synced")
        });
        let by = Writer::new(STEERING).on(STEERING);
        cluster
            .sandbox
            .update(planted(&format!("{STEERING}-2")), &by)
            .unwrap();
        let mut other = planted(&format!("{STEERING}-3"));
        other["metadata"]["name"] = json!(format!("new-{STEERING}"));
        cluster
            .sandbox
            .create(other, &Writer::new(STEERING))
            .unwrap();
        cluster.edit("configmaps", "flags", &json!({"data": {"last": "one"}}));
        run.until("last");
        assert_steers_nothing(&run.interrupt(), &format!("{args:?}"));
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn messages_of_servers_do_not_steer_a_terminal() {
    let cluster = Cluster::start().await;
    cluster.sandbox.set_users(vec![User {
        name: STEERING.to_owned(),
        token: String::new(),
        rules: vec![Rule::allow("*", "configmaps")],
    }]);
    cluster.put(config_map("flags", &json!({})));
    for args in [
        &["changes", "--since=0", "pods"][..],
        &["changes", "--since=0", "pods", "-o", "json"],
        &["changes", "--since=0", "pods", "--color=always"],
    ] {
        let ran = cluster.spy().run(args);
        assert_eq!(ran.status.code(), Some(1));
        assert!(ran.stderr.contains("cannot list"), "{}", ran.stderr);
        assert_steers_nothing(&ran, &format!("{args:?}"));
    }
    for args in [
        &["changes", "--since=0", "cm,pods"][..],
        &["changes", "--since=0", "cm,pods", "-o", "json"],
    ] {
        let mut run = cluster.spy().start(args);
        run.until("forbidden");
        assert_steers_nothing(&run.interrupt(), &format!("{args:?}"));
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn what_the_user_typed_does_not_steer_a_terminal() {
    let cluster = Cluster::start().await;
    let typed = STEERING.replace('\0', "");
    for args in [
        &["changes", &typed][..],
        &["changes", "--since=0", "cm", &typed, "--once"],
        &["changes", "--since=0", "cm", "--only", &typed],
        &["changes", "--since=0", "cm", "-l", &typed],
        &[&typed],
    ] {
        let ran = cluster.spy().run(args);
        assert_steers_nothing(&ran, &format!("{args:?}"));
    }
}
