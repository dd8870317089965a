//! The command line itself: help, usage errors, exit codes.

use insta::assert_snapshot;

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
    hint: one of paths, json
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

#[test]
fn no_cluster_and_no_kubeconfig_is_said_as_kubectl_says_it() {
    for args in [
        &["changes", "deploy/web"][..],
        &["changes", "deploy/web", "--once"],
    ] {
        let said = refused(args);
        let last = said.lines().last().unwrap();
        assert_eq!(
            last,
            "The connection to the server localhost:8080 was refused - did you specify the right host or port?"
        );
    }
}
