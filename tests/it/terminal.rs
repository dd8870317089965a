//! Tests of a live screen on a real terminal: its output, and the state in which it leaves the terminal.

use std::io::Read;

use insta::assert_snapshot;
use kubectl_spy::sandbox::{Rule, User, Writer};
use serde_json::json;

use super::support::cluster::{Cluster, config_map, deployment};
use super::support::pty::Terminal;

const SIZE: (u16, u16) = (100, 12);

/// A cluster with one object.
async fn cluster() -> Cluster {
    let cluster = Cluster::start().await;
    cluster.put(config_map("flags", &json!({"dark-mode": "off"})));
    cluster
}

/// How a footer ends. On Windows the keyboard is not read.
const EXIT: &str = if cfg!(unix) {
    "q to exit"
} else {
    "Ctrl-C to exit"
};

/// The text of a terminal, with the footer of Unix.
fn transcript(terminal: &mut Terminal) -> String {
    terminal.transcript().replace(EXIT, "q to exit")
}

/// Starts a run on a terminal, and waits until it watches the object.
fn start(cluster: &Cluster, args: &[&str]) -> Terminal {
    let mut terminal = cluster.spy().on_terminal(SIZE, args);
    until_live(&mut terminal);
    terminal
}

fn until_live(terminal: &mut Terminal) {
    terminal.until_shown("the object", |shown| {
        shown.contains("EXISTING") && shown.contains("live")
    });
}

/// Waits until the footer shows this number of versions.
fn until_versions(terminal: &mut Terminal, versions: &str) {
    terminal.until_shown(versions, |shown| shown.contains(versions));
}

fn turn(cluster: &Cluster, state: &str) {
    cluster.edit(
        "configmaps",
        "flags",
        &json!({"data": {"dark-mode": state}}),
    );
}

/// All text of the terminal without its echo of Ctrl-C, which a last frame may overwrite.
fn without_echo(terminal: &mut Terminal) -> String {
    terminal.transcript().replace("^C", "")
}

/// Asserts that the cursor is shown and that every synchronized update is complete.
fn assert_left_sane(terminal: &Terminal) {
    let text = String::from_utf8_lossy(terminal.bytes());
    let (begun, ended) = (text.rfind("\u{1b}[?2026h"), text.rfind("\u{1b}[?2026l"));
    assert!(begun < ended, "{text:?}");
    assert!(!terminal.hides_cursor(), "{text:?}");
}

#[tokio::test(flavor = "multi_thread")]
async fn the_footer_shows_how_current_the_screen_is() {
    let cluster = cluster().await;
    let mut terminal = start(&cluster, &["changes", "--since=0", "cm/flags"]);
    assert!(terminal.hides_cursor());
    assert_snapshot!(transcript(&mut terminal), @"
    12:05:00 EXISTING configmap/flags  2
    ● live  1 object  1 watch  0 versions  no change yet                                      q to exit
    ");
    turn(&cluster, "on");
    until_versions(&mut terminal, "1 version ");
    assert_snapshot!(transcript(&mut terminal), @r#"
    12:05:00 EXISTING configmap/flags  2
    12:05:00 MODIFIED configmap/flags  2→3  by kubectl-edit  1 change, 2 hidden
    ~ .data.dark-mode: "off" → "on"
    ● live  1 object  1 watch  1 version  last change 0s ago                                  q to exit
    "#);
}

#[tokio::test(flavor = "multi_thread")]
async fn versions_without_a_change_are_counted() {
    let cluster = cluster().await;
    let args = [
        "changes",
        "--since=0",
        "cm/flags",
        "--ignore",
        "data.dark-mode",
    ];
    let mut terminal = start(&cluster, &args);
    turn(&cluster, "on");
    turn(&cluster, "off");
    until_versions(&mut terminal, "2 versions");
    assert_snapshot!(transcript(&mut terminal), @"
    12:05:00 EXISTING configmap/flags  2
    ● live  1 object  1 watch  2 versions (2 hidden)  last change 0s ago                      q to exit
    ");
}

#[tokio::test(flavor = "multi_thread")]
async fn noise_is_one_counting_line_until_the_object_changes() {
    let cluster = cluster().await;
    let apply = |manager: &str| {
        let same = config_map("flags", &json!({"dark-mode": "off"}));
        cluster.sandbox.apply(same, &Writer::new(manager)).unwrap();
    };
    let mut terminal = start(&cluster, &["changes", "--since=0", "cm/flags"]);
    apply("argocd");
    until_versions(&mut terminal, "1 version (1 hidden)");
    apply("flux");
    until_versions(&mut terminal, "2 versions (2 hidden)");
    terminal.until_shown("the count", |shown| shown.contains("2 versions with only"));
    assert_snapshot!(transcript(&mut terminal), @"
    12:05:00 EXISTING configmap/flags  2
    ·  12:05:00 configmap/flags: 2 versions with only hidden changes (4)
    ● live  1 object  1 watch  2 versions (2 hidden)  last change 0s ago                      q to exit
    ");
    turn(&cluster, "on");
    until_versions(&mut terminal, "3 versions");
    terminal.until_shown("the change", |shown| shown.contains("\"off\" → \"on\""));
    assert_snapshot!(transcript(&mut terminal), @r#"
    12:05:00 EXISTING configmap/flags  2
    ·  12:05:00 configmap/flags: 2 versions with only hidden changes (4)
    12:05:00 MODIFIED configmap/flags  4→5  +0s  by kubectl-edit  1 change, 2 hidden
    ~ .data.dark-mode: "off" → "on"
    ● live  1 object  1 watch  3 versions (2 hidden)  last change 0s ago                      q to exit
    "#);
}

#[tokio::test(flavor = "multi_thread")]
async fn noise_of_the_past_is_counted_separately() {
    let cluster = cluster().await;
    turn(&cluster, "on");
    let same = config_map("flags", &json!({"dark-mode": "on"}));
    cluster.sandbox.apply(same, &Writer::new("argocd")).unwrap();
    let mut terminal = cluster.spy().on_terminal(SIZE, &["changes", "cm/flags"]);
    // The footer is drawn after the lines above it.
    terminal.until_shown("the seam, and the footer under it", |shown| {
        shown.contains("live since")
            && shown.contains("1 version with only")
            && shown.contains("● live")
    });
    assert_snapshot!(transcript(&mut terminal), @r#"
    12:00:01 CREATED configmap/flags  2  4m59s ago  by kubectl-create
    + .data.dark-mode: "off"
    12:00:02 MODIFIED configmap/flags  2→3  +1s  4m58s ago  by kubectl-edit  1 change, 2 hidden
    ~ .data.dark-mode: "off" → "on"
    ── live since 12:05:00 · 2 earlier versions (1 hidden), back to 12:00:01 ──
    ·  12:00:02 configmap/flags: 1 version with only hidden changes (2)
    ● live  1 object  1 watch  0 versions  no change yet                                      q to exit
    "#);
    turn(&cluster, "off");
    until_versions(&mut terminal, "1 version");
    terminal.until_shown("the change", |shown| shown.contains("\"on\" → \"off\""));
    terminal.type_in(&[3]);
    terminal.finish();
    assert_snapshot!(without_echo(&mut terminal), @r#"
    12:00:01 CREATED configmap/flags  2  4m59s ago  by kubectl-create
    + .data.dark-mode: "off"
    12:00:02 MODIFIED configmap/flags  2→3  +1s  4m58s ago  by kubectl-edit  1 change, 2 hidden
    ~ .data.dark-mode: "off" → "on"
    ── live since 12:05:00 · 2 earlier versions (1 hidden), back to 12:00:01 ──
    ·  12:00:02 configmap/flags: 1 version with only hidden changes (2)
    12:05:00 MODIFIED configmap/flags  4→5  by kubectl-edit  1 change, 2 hidden
    ~ .data.dark-mode: "on" → "off"
    4 versions: 3 earlier, 1 live · 2 changes shown, 6 hidden · 0s
    "#);
}

#[tokio::test(flavor = "multi_thread")]
async fn many_unreadable_kinds_do_not_fill_the_footer() {
    let user = User {
        name: "jane".to_owned(),
        token: String::new(),
        rules: vec![Rule::allow("*", "configmaps")],
    };
    let cluster = Cluster::start_with(|options| options.users = vec![user]).await;
    cluster.put(config_map("flags", &json!({"dark-mode": "off"})));
    let args = ["changes", "cm,pods,secrets,services,deploy", "--since=10m"];
    let mut terminal = cluster.spy().on_terminal((400, 12), &args);
    terminal.until_shown("the seam", |shown| {
        shown.contains("live since") && shown.contains("4 of 5 sources cannot be read")
    });
    assert_snapshot!(transcript(&mut terminal), @r#"
    12:00:01 CREATED configmap/flags  2  4m59s ago  by kubectl-create
    + .data.dark-mode: "off"
    not read: Error from server (Forbidden): deployments.apps is forbidden: User "jane" cannot list resource "deployments" in API group "apps" in the namespace "shop"; also pods, secrets, services
    ── live since 12:05:00 · 1 of 1 object changed, in 1 kind, back to 12:00:01 ──
    forbidden: pods in namespace "shop": Error from server (Forbidden): pods is forbidden: User "jane" cannot list resource "pods" in API group "" in the namespace "shop"
    forbidden: secrets in namespace "shop": Error from server (Forbidden): secrets is forbidden: User "jane" cannot list resource "secrets" in API group "" in the namespace "shop"
    + 2 more that cannot be read
    ✗ 4 of 5 sources cannot be read  1 object  5 watches  0 versions  no change yet                                                                                                                                                                                                                                                                                                                       q to exit
    "#);
}

#[tokio::test(flavor = "multi_thread")]
async fn ctrl_c_leaves_the_terminal_as_it_was() {
    let cluster = cluster().await;
    let mut terminal = cluster
        .spy()
        .in_shell(SIZE, &["changes", "--since=0", "cm/flags"]);
    until_live(&mut terminal);
    turn(&cluster, "on");
    until_versions(&mut terminal, "1 version ");
    terminal.type_in(&[3]);
    terminal.finish();
    assert_left_sane(&terminal);
    assert_snapshot!(without_echo(&mut terminal), @r#"
    12:05:00 EXISTING configmap/flags  2
    12:05:00 MODIFIED configmap/flags  2→3  by kubectl-edit  1 change, 2 hidden
    ~ .data.dark-mode: "off" → "on"
    1 version: 1 live · 1 change shown, 2 hidden · 0s
    status 130
    "#);
}

#[tokio::test(flavor = "multi_thread")]
async fn signals_end_it_like_other_programs() {
    for (signal, name) in [
        ("INT", "Interrupt"),
        ("TERM", "Terminated"),
        ("HUP", "Hangup"),
        ("QUIT", "Quit"),
    ] {
        let cluster = cluster().await;
        let mut terminal = start(&cluster, &["changes", "--since=0", "cm/flags"]);
        turn(&cluster, "on");
        until_versions(&mut terminal, "1 version ");
        let shown = terminal.transcript();
        terminal.signal(signal);
        assert_eq!(terminal.finish().signal(), Some(name));
        assert_left_sane(&terminal);
        let (before, _) = shown.trim_end().rsplit_once('\n').unwrap();
        let left = terminal.transcript();
        let (lines, summary) = left.trim_end().rsplit_once('\n').unwrap();
        assert_eq!(lines, before, "what was printed stays");
        assert_eq!(summary, "1 version: 1 live · 1 change shown, 2 hidden · 0s");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn ctrl_c_before_the_first_frame() {
    let cluster = Cluster::start().await;
    let mut terminal = cluster
        .spy()
        .in_shell(SIZE, &["changes", "--since=0", "cm/flags"]);
    terminal.until_shown("waiting", |shown| {
        shown.contains("waiting for") && shown.contains("live")
    });
    terminal.type_in(&[3]);
    terminal.finish();
    assert_left_sane(&terminal);
    assert_snapshot!(without_echo(&mut terminal), @r#"
    waiting for configmaps/flags in namespace "shop"
    no versions · 0s
    status 130
    "#);
}

#[tokio::test(flavor = "multi_thread")]
async fn lines_that_scroll_away_are_kept_once() {
    let cluster = cluster().await;
    let mut terminal = cluster
        .spy()
        .on_terminal((100, 6), &["changes", "--since=0", "cm/flags"]);
    until_live(&mut terminal);
    for round in 0..10 {
        turn(&cluster, &format!("round-{round}"));
    }
    until_versions(&mut terminal, "10 versions");
    terminal.signal("INT");
    terminal.finish();
    let transcript = terminal.transcript();
    for round in 0..9 {
        let line = format!("→ round-{round}\n");
        assert_eq!(transcript.matches(&line).count(), 1, "{transcript}");
    }
    assert_eq!(
        transcript.matches("10 versions: 10 live").count(),
        1,
        "{transcript}"
    );
}

#[tokio::test(flavor = "multi_thread")]
async fn a_narrower_terminal_has_one_footer() {
    let cluster = cluster().await;
    let mut terminal = start(&cluster, &["changes", "--since=0", "cm/flags"]);
    turn(&cluster, "on");
    until_versions(&mut terminal, "1 version ");
    terminal.resize(50, 12);
    turn(&cluster, "off");
    terminal.until_shown("the change", |shown| shown.contains("\"on\" → \"off\""));
    until_versions(&mut terminal, "2 versions");
    assert_snapshot!(transcript(&mut terminal), @r#"
    12:05:00 EXISTING configmap/flags  2
    12:05:00 MODIFIED configmap/flags  2→3  by kubectl-edit  1 change, 2 hidden
    ~ .data.dark-mode: "off" → "on"
    12:05:00 MODIFIED configmap/flags  by kubectl-edit
    ~ .data.dark-mode: "on" → "off"
    ● live  1 object  1 watch  2 versions  last chan…
    "#);
    terminal.resize(100, 12);
    turn(&cluster, "auto");
    until_versions(&mut terminal, "3 versions");
    assert_eq!(
        terminal.transcript().matches("live").count(),
        1,
        "{}",
        terminal.transcript()
    );
}

#[tokio::test(flavor = "multi_thread")]
async fn a_lost_server_is_in_the_footer() {
    let mut cluster = cluster().await;
    let mut terminal = start(&cluster, &["changes", "--since=0", "cm/flags"]);
    cluster.watched("configmaps").await;
    cluster.sandbox.stop().await;
    terminal.until_shown("the loss", |shown| {
        shown.contains("reconnecting, try") && shown.contains("(the view may be out of date)")
    });
    turn(&cluster, "on");
    cluster.sandbox.restart().await.unwrap();
    until_versions(&mut terminal, "1 version ");
    terminal.until_shown("live", |shown| shown.contains("● live"));
    assert_snapshot!(transcript(&mut terminal), @r#"
    12:05:00 EXISTING configmap/flags  2
    12:00:02 MODIFIED configmap/flags  2→3  4m58s ago  by kubectl-edit  1 change, 2 hidden
    ~ .data.dark-mode: "off" → "on"
    ● live  1 object  1 watch  1 version  last change 0s ago                                  q to exit
    "#);
}

#[tokio::test(flavor = "multi_thread")]
async fn an_unreadable_kind_is_in_the_footer() {
    let cluster = cluster().await;
    cluster.sandbox.set_users(vec![User {
        name: "jane".to_owned(),
        token: String::new(),
        rules: vec![Rule::allow("*", "configmaps")],
    }]);
    let args = ["changes", "--since=0", "cm,secrets"];
    let mut terminal = cluster.spy().on_terminal((150, 12), &args);
    terminal.until_shown("both", |shown| {
        shown.contains("watching") && shown.contains("1 of 2")
    });
    assert_snapshot!(transcript(&mut terminal), @r#"
    watching 1 configmap in namespace "shop"
    forbidden: secrets in namespace "shop": Error from server (Forbidden): secrets is forbidden: User "jane" cannot list resource "secrets" in API group…
    ✗ 1 of 2 sources cannot be read  1 object  2 watches  0 versions  no change yet                                                             q to exit
    "#);
}

#[tokio::test(flavor = "multi_thread")]
async fn if_no_kind_can_be_read_only_the_error_remains() {
    let mut cluster = Cluster::start().await;
    let jane = User {
        name: "jane".to_owned(),
        token: String::new(),
        rules: vec![Rule::allow("*", "endpointslices.discovery.k8s.io")],
    };
    cluster.sandbox.set_users(vec![jane]);
    let verbs = [
        ["changes", "svc/api"],
        ["status", "svc/api"],
        ["trace", "svc/api"],
    ];
    let left = |cluster: &Cluster, args: &[&str]| {
        let mut terminal = cluster.spy().in_shell((200, 12), args);
        terminal.until_shown("its end", |shown| shown.contains("status 1"));
        assert!(!terminal.hides_cursor());
        terminal.transcript()
    };
    for args in verbs {
        assert_eq!(
            left(&cluster, &args),
            "Error from server (Forbidden): services \"api\" is forbidden: User \"jane\" cannot list resource \"services\" in API group \"\" in the namespace \"shop\"\n\
             hint: try `kubectl auth can-i list services/api -n shop`\n\
             status 1\n",
            "{args:?}"
        );
    }
    cluster.sandbox.stop().await;
    for args in verbs {
        let left = left(&cluster, &args);
        let lines: Vec<&str> = left.lines().collect();
        assert!(
            lines.len() == 2 && lines[0].ends_with("did you specify the right host or port?"),
            "{args:?}: {left}"
        );
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn similar_names_of_a_missing_object_are_above_the_frame() {
    let cluster = cluster().await;
    cluster.put(deployment("web", 1));
    for (verb, object, expected) in [
        (
            "changes",
            "cm/flag",
            "configmaps/flag not found: did you mean flags?",
        ),
        (
            "status",
            "deploy/wbe",
            "deployments.apps/wbe not found: did you mean web?",
        ),
        (
            "trace",
            "deploy/wbe",
            "deployments.apps/wbe not found: did you mean web?",
        ),
    ] {
        let mut terminal = cluster.spy().on_terminal(SIZE, &[verb, object]);
        terminal.until_shown(expected, |shown| {
            let at = shown.find(expected);
            at.is_some() && at < shown.find(EXIT)
        });
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_message_above_the_frame_breaks_between_words() {
    let cluster = cluster().await;
    for namespace in ["payments", "production", "qa", "staging"] {
        let mut token = config_map("token", &json!({}));
        token["metadata"]["namespace"] = namespace.into();
        cluster.put(token);
    }
    let spy = cluster.spy();
    let mut terminal = spy.on_terminal((80, 12), &["changes", "cm/token"]);
    let end = "choose one with -n";
    terminal.until_shown(end, |shown| shown.contains(end));
    let shown = transcript(&mut terminal);
    let message = shown.lines().filter(|line| !line.contains(EXIT));
    assert_snapshot!(message.collect::<Vec<_>>().join("\n"), @"
    configmaps/token not found: token is in the namespaces payments, production, qa
    and 1 more: choose one with -n
    ");
}

#[tokio::test(flavor = "multi_thread")]
async fn no_color_leaves_the_screen_without_colours() {
    let cluster = cluster().await;
    let spy = cluster.spy().var("NO_COLOR", "1");
    let mut terminal = spy.on_terminal(SIZE, &["changes", "--since=0", "cm/flags"]);
    until_live(&mut terminal);
    let text = String::from_utf8_lossy(terminal.bytes()).into_owned();
    assert!(
        !text.contains("\u{1b}[3") && !text.contains("\u{1b}[1m"),
        "{text:?}"
    );
}

/// Reads one line and exits. The shell itself closes its end of the pipe, so that only `head` keeps the pipe
/// open.
const HEAD: &str = r#"{ "$0" "$@"; echo "status $?" >&2; } | head -1 & exec >&-; wait"#;

#[tokio::test(flavor = "multi_thread")]
async fn a_reader_that_exits_is_not_an_error() {
    let cluster = cluster().await;
    for args in [
        &["changes", "--since=0", "cm"][..],
        &["changes", "cm", "-o", "json"],
    ] {
        let mut child = cluster.spy().spawn_in_shell(HEAD, args);
        let mut line = String::new();
        let mut stdout = child.stdout.take().unwrap();
        stdout.read_to_string(&mut line).unwrap();
        assert_eq!(line.lines().count(), 1, "{line}");
        // Nothing more is printed: the next heartbeat finds out.
        let mut printed = String::new();
        let mut stderr = child.stderr.take().unwrap();
        stderr.read_to_string(&mut printed).unwrap();
        assert_eq!(printed, "status 0\n", "{args:?}");
        child.wait().unwrap();
    }
}

/// Without an echo, Enter moves nothing.
#[cfg(unix)]
#[tokio::test(flavor = "multi_thread")]
async fn enter_leaves_no_stale_frame_and_q_quits() {
    let cluster = cluster().await;
    let mut terminal = start(&cluster, &["changes", "--since=0", "cm/flags"]);
    terminal.type_in(b"\n\nx\n");
    turn(&cluster, "on");
    until_versions(&mut terminal, "1 version ");
    let shown = terminal.transcript();
    assert_eq!(shown.matches(EXIT).count(), 1, "{shown}");
    assert_eq!(shown.lines().count(), 4, "{shown}");
    terminal.type_in(b"q");
    assert!(terminal.finish().success());
    assert_left_sane(&terminal);
    let shown = terminal.transcript();
    assert!(shown.contains("1 version: 1 live"), "{shown}");
}

/// What does not fit is read page by page.
#[cfg(unix)]
#[tokio::test(flavor = "multi_thread")]
async fn keys_turn_the_pages_of_a_screen_that_is_too_short() {
    let cluster = Cluster::start().await;
    for number in 10..30 {
        cluster.put(config_map(&format!("flags-{number}"), &json!({"a": "b"})));
    }
    for (args, first, last) in [
        (
            &["status", "cm"][..],
            "lines 1-6 of 20",
            "lines 15-20 of 20",
        ),
        (
            &["status", "cm", "--no-headers"],
            "lines 1-6 of 19",
            "lines 14-19 of 19",
        ),
    ] {
        let mut terminal = cluster.spy().on_terminal(SIZE, args);
        terminal.until_shown("the hint", |shown| {
            shown.contains("healthy (space: next page)") && shown.contains("live")
        });
        for (typed, place) in [(&b" "[..], first), (b"  \x1b[6~", last), (b"g", first)] {
            terminal.type_in(typed);
            terminal.until_shown(place, |shown| shown.contains(place));
        }
        terminal.type_in(b"b");
        terminal.until_shown("the first frame", |shown| shown.contains("healthy (space"));
        terminal.type_in(b"q");
        assert!(terminal.finish().success());
        assert_left_sane(&terminal);
    }
}

#[cfg(unix)]
#[tokio::test(flavor = "multi_thread")]
async fn the_footer_names_ctrl_c_if_standard_input_is_no_terminal() {
    let cluster = cluster().await;
    let script = r#""$0" "$@" < /dev/null"#;
    let program = ["/bin/sh", "-c", script, env!("CARGO_BIN_EXE_kubectl-spy")];
    for args in [
        &["changes", "--since=0", "cm/flags"][..],
        &["status", "cm/flags"],
        &["trace", "cm/flags"],
    ] {
        let program = [&program, args].concat();
        let mut terminal = cluster.spy().other_on_terminal(SIZE, &program);
        terminal.until_shown("how to exit", |shown| shown.contains("Ctrl-C to exit"));
        let mut terminal = cluster.spy().on_terminal(SIZE, args);
        terminal.until_shown("how to exit", |shown| shown.contains(" q to exit"));
    }
}

#[cfg(unix)]
#[tokio::test(flavor = "multi_thread")]
async fn q_leaves_the_terminal_as_it_was() {
    let cluster = cluster().await;
    let script = r#"trap : INT; "$0" "$@"; echo "status $?"; stty -a"#;
    let program = ["/bin/sh", "-c", script, env!("CARGO_BIN_EXE_kubectl-spy")];
    for (args, key, status) in [
        (&["changes", "--since=0", "cm/flags"][..], b"q", "status 0"),
        (&["changes", "--since=0", "cm/flags"], b"\x03", "status 130"),
        // The goal is not met.
        (
            &["changes", "--since=0", "cm/flags", "--for=delete"],
            b"q",
            "status 130",
        ),
    ] {
        let mut terminal = cluster
            .spy()
            .other_on_terminal(SIZE, &[&program, args].concat());
        until_live(&mut terminal);
        terminal.type_in(key);
        let _status_of_the_shell = terminal.finish();
        let shown = terminal.transcript();
        assert!(shown.contains(status), "{args:?}: {shown}");
        let settings: Vec<&str> = shown.split_whitespace().collect();
        assert!(
            settings.contains(&"echo") && settings.contains(&"icanon"),
            "{shown}"
        );
    }
}

#[cfg(unix)]
#[tokio::test(flavor = "multi_thread")]
async fn a_stop_that_nobody_notices_leaves_a_view_that_continues() {
    let cluster = cluster().await;
    let mut terminal = start(&cluster, &["changes", "--since=0", "cm/flags"]);
    terminal.stop_and_clear();
    terminal.until_shown("an empty terminal", |shown| !shown.contains("live"));
    terminal.signal("CONT");
    terminal.until_shown("the frame", |shown| shown.contains("live"));
    // Without Enter, the key has an effect only in the modes of the view.
    terminal.type_in(b"q");
    assert!(terminal.finish().success());
    assert_left_sane(&terminal);
}
