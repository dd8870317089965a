//! The command line itself: help, usage errors, exit codes.

use insta::assert_snapshot;
use serde_json::Value;

use super::support::Spy;

/// Runs something that must fail, and returns what it says.
fn refused(args: &[&str]) -> String {
    let ran = Spy::alone().run(args);
    assert_eq!(
        ran.status.code(),
        Some(1),
        "{args:?} printed {}",
        ran.stdout
    );
    assert_eq!(ran.stdout, "", "{args:?}: errors belong on stderr");
    ran.stderr
}

#[test]
fn usage_errors_are_kubectls_and_exit_1() {
    assert_snapshot!(refused(&["changes", "deploy/web", "--bogus"]), @r"
    error: unknown flag: --bogus
    See 'kubectl spy --help' for usage.
    ");
    assert_snapshot!(refused(&["chnges", "deploy/web"]), @r#"
    error: unknown command "chnges" for "kubectl spy"
    hint: did you mean changes?
    See 'kubectl spy --help' for usage.
    "#);
    assert_snapshot!(refused(&["changes", "-o"]), @r"
    error: a value is required for '--output <OUTPUT>' but none was supplied
    hint: one of paths, tree, full, diff, json, yaml, name, json-patch, merge-patch
    See 'kubectl spy --help' for usage.
    ");
}

#[test]
fn switches_take_a_value_as_kubectls_do() {
    for args in [["version", "--client"], ["version", "--client=true"]] {
        let ran = Spy::alone().run(&args);
        assert_eq!(
            ran.stdout,
            concat!("Client Version: v", env!("CARGO_PKG_VERSION"), "\n")
        );
        assert_eq!(ran.status.code(), Some(0));
    }
}

#[test]
fn options_lists_the_global_flags_and_help_does_not() {
    let options = Spy::alone().run(&["options"]).stdout;
    let help = Spy::alone().run(&["changes", "--help"]).stdout;
    for flag in [
        "--context",
        "--kubeconfig",
        "--namespace",
        "--request-timeout",
        "--color",
    ] {
        assert!(options.contains(flag), "{options}");
        assert!(!help.contains(flag), "{help}");
    }
}

/// kubectl's words for a server that nobody runs.
const REFUSED: &str = "The connection to the server localhost:8080 was refused - did you specify the right host or port?\n";

#[test]
fn no_cluster_and_no_kubeconfig_is_said_as_kubectl_says_it() {
    for args in [
        &["changes", "deploy/web"][..],
        &["changes", "deploy/web", "--once"],
        &["status", "deploy/web"],
        &["status", "deploy/web", "--once"],
        &["status", "deploy,svc"],
        &["status", "deploy/web", "-o", "json"],
        &["trace", "svc/web"],
        &["trace", "deploy/web", "--once"],
    ] {
        assert_eq!(refused(args), REFUSED, "{args:?}");
    }
}

/// That a server is tried again is a record; that it is given up is an error.
#[test]
fn no_cluster_is_tried_and_given_up() {
    let ran = Spy::alone().run(&["changes", "deploy/web", "-o", "json"]);
    assert_eq!((ran.status.code(), &*ran.stderr), (Some(1), REFUSED));
    let records = ran.stdout.lines().map(serde_json::from_str::<Value>);
    let records: Vec<Value> = records.map(Result::unwrap).collect();
    let types: Vec<&Value> = records.iter().map(|record| &record["type"]).collect();
    assert_eq!(types, ["lookback", "seam", "state"]);
    assert_eq!(records[2]["state"], "retrying");
}

#[test]
fn arguments_in_the_form_of_kubespy_are_taken_and_told_as_today() {
    for (args, today) in [
        (
            &["changes", "v1", "Pod", "shop/web"][..],
            "kubectl spy changes pod/web -n shop",
        ),
        (
            &["status", "apps/v1", "Deployment", "web", "--once"],
            "kubectl spy status deployment.apps/web",
        ),
        (
            &["trace", "v1", "Service", "shop/api"],
            "kubectl spy trace service/api -n shop",
        ),
    ] {
        let hint = format!("hint: today this is written `{today}`\n");
        assert_eq!(refused(args), hint + REFUSED, "{args:?}");
    }
}
