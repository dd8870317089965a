//! Tests of the command line itself: help, usage errors, exit codes.

use insta::assert_snapshot;
use serde_json::Value;

use super::support::Spy;

/// Runs a command that must fail, and returns its error.
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
fn usage_errors_are_those_of_kubectl_and_exit_1() {
    assert_snapshot!(refused(&["changes", "deploy/web", "--bogus"]), @r"
    error: unknown flag: --bogus
    See 'kubectl spy --help' for usage.
    ");
    assert_snapshot!(refused(&["chnges", "deploy/web"]), @r#"
    error: unknown command "chnges" for "kubectl spy"
    hint: did you mean changes?
    See 'kubectl spy --help' for usage.
    "#);
    assert_snapshot!(refused(&["changes", "-o"]), @"
    error: a value is required for '--output <OUTPUT>' but none was supplied
    hint: use one of paths, short, tree, full, diff, json, yaml, name, json-patch, merge-patch
    See 'kubectl spy --help' for usage.
    ");
}

#[test]
fn switches_take_a_value_as_in_kubectl() {
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

/// kubectl's error if no server is running.
const REFUSED: &str = "The connection to the server localhost:8080 was refused - did you specify the right host or port?\n";

#[test]
fn without_a_cluster_the_error_is_that_of_kubectl() {
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

/// Retries are records; the final failure is an error.
#[test]
fn a_missing_server_is_retried_and_then_an_error() {
    let ran = Spy::alone().run(&["changes", "deploy/web", "-o", "json"]);
    assert_eq!((ran.status.code(), &*ran.stderr), (Some(1), REFUSED));
    let records = ran.stdout.lines().map(serde_json::from_str::<Value>);
    let records: Vec<Value> = records.map(Result::unwrap).collect();
    let types: Vec<&Value> = records.iter().map(|record| &record["type"]).collect();
    assert_eq!(types, ["lookback", "seam", "state"]);
    assert_eq!(records[2]["state"], "retrying");
}

#[test]
fn kubespy_arguments_are_accepted_with_a_hint() {
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
        let hint = format!("hint: use `{today}`\n");
        assert_eq!(refused(args), hint + REFUSED, "{args:?}");
    }
}
