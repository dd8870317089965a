//! Tests of the command line itself: help, usage errors, exit codes.

use insta::assert_snapshot;
use serde_json::{Value, json};

use super::support::Spy;
use super::support::cluster::Cluster;

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
fn the_word_after_a_flag_is_its_value_as_in_kubectl() {
    assert_snapshot!(refused(&["changes", "deploy/web", "--since", "-5m"]), @r#"
    error: invalid argument "-5m" for "--since" flag: expected a duration (90s, 10m, 1h30m, 1d), a time (2026-11-22T09:00:00Z), all or 0
    See 'kubectl spy changes --help' for usage.
    "#);
    assert_snapshot!(refused(&["logs", "deploy/web", "--since", "-5m"]), @r#"
    error: invalid argument "-5m" for "--since" flag: must be greater than 0
    See 'kubectl spy logs --help' for usage.
    "#);
}

#[test]
fn the_usual_flags_for_no_colours_have_a_hint() {
    assert_snapshot!(refused(&["status", "deploy/web", "--no-color"]), @"
    error: unknown flag: --no-color
    hint: use --color=never
    See 'kubectl spy status --help' for usage.
    ");
    for flag in ["--no-color", "--no-colors", "--nocolor"] {
        let error = refused(&["changes", "deploy/web", flag]);
        assert!(error.contains("\nhint: use --color=never\n"), "{error}");
    }
}

#[test]
fn usage_errors_are_those_of_kubectl_and_exit_1() {
    assert_snapshot!(refused(&["changes", "deploy/web", "--xyzzy"]), @r"
    error: unknown flag: --xyzzy
    See 'kubectl spy changes --help' for usage.
    ");
    assert_snapshot!(refused(&["-n", "status", "demo", "rollout", "trace", "--xyzzy"]), @r"
    error: unknown flag: --xyzzy
    See 'kubectl spy demo trace --help' for usage.
    ");
    assert_snapshot!(refused(&["chnges", "deploy/web"]), @r#"
    error: unknown command "chnges" for "kubectl spy"
    hint: did you mean changes?
    See 'kubectl spy --help' for usage.
    "#);
    assert_snapshot!(refused(&["wait", "deploy/web"]), @r#"
    error: unknown command "wait" for "kubectl spy"
    hint: use status TYPE/NAME --for=current
    See 'kubectl spy --help' for usage.
    "#);
    assert_snapshot!(refused(&["status", "deploy/web", "--wide"]), @"
    error: unknown flag: --wide
    hint: use status TYPE -o wide
    See 'kubectl spy status --help' for usage.
    ");
    assert_snapshot!(refused(&["changes", "-o"]), @"
    error: flag needs an argument: --output
    hint: use one of paths, short, tree, full, diff, json, yaml, name, markdown, json-patch, merge-patch
    See 'kubectl spy changes --help' for usage.
    ");
    assert_snapshot!(refused(&["status", "deploy/web", "-o", "foo"]), @r#"
    error: unable to match a printer suitable for the output format "foo", allowed formats are: configmap,json,name,resourcegroup,text,wide,yaml
    See 'kubectl spy status --help' for usage.
    "#);
    assert_snapshot!(refused(&["store", "rm"]), @r#"
    error: required flag(s) "before" not set
    See 'kubectl spy store rm --help' for usage.
    "#);
    assert_snapshot!(refused(&["log", "deploy/web"]), @r#"
    error: unknown command "log" for "kubectl spy"
    hint: use logs TYPE/NAME for lines, or changes TYPE/NAME for versions
    See 'kubectl spy --help' for usage.
    "#);
    assert_snapshot!(refused(&["status"]), @"
    error: Required resource not specified.
    hint: name an object or a type, for example: deploy/web, pods, pods -l app=web
    hint: use status --unhealthy to see what is not well in the namespace
    See 'kubectl spy status -h' for help and examples
    ");
    assert_snapshot!(refused(&["trace", "-l", "app=web"]), @"
    error: Required resource not specified.
    hint: name an object or a type, for example: deploy/web, pods, pods -l app=web
    See 'kubectl spy trace -h' for help and examples
    ");
    assert_snapshot!(refused(&["status", "deploy/web", "-l", "app=web"]), @"
    error: selectors and the all flag cannot be used when passing resource/name arguments
    See 'kubectl spy status -h' for help and examples
    ");
}

/// No words of a library reach the user.
#[test]
fn wrong_words_and_numbers_are_refused_in_kubectl_s_words() {
    let file = env!("CARGO_MANIFEST_DIR").to_owned() + "/Cargo.toml";
    let errors = [
        &["version", "foo"][..],
        &["store", "ls", "foo"],
        &["store", "foo"],
        &["status", "-q"],
        &["status", "-wq"],
        &["completion", "tcsh"],
        &["changes", "cm", "--count", "-1"],
        &["changes", "cm", "--count=x"],
        &["changes", "cm", "--count", "0"],
        &["trace", "cm/a", "--depth", "0"],
        &["trace", "cm/a", "--depth", "999"],
        &["status", "cm", "--log-lines", "1001"],
        &["logs", "a", "--tail", "x"],
        &["logs", "a", "--max-log-requests", "-1"],
        &["logs", "a", "--since-time", "yesterday"],
        &["demo", "--speed", "0"],
        &["status", "--from", "x", "--now", "yesterday"],
        &["record", "--store", &file],
        &["store", "ls", "--store", &file],
        &["serve", "--listen", "0.0.0.0:0"],
    ];
    let first = |args: &&[&str]| {
        let text = refused(args).replace(env!("CARGO_MANIFEST_DIR"), "DIR");
        let lines = text.lines().filter(|line| !line.starts_with("See "));
        lines.collect::<Vec<_>>().join(" | ")
    };
    let errors: Vec<String> = errors.iter().map(first).collect();
    assert_snapshot!(errors.join("\n"), @r#"
    error: unknown command "foo" for "kubectl spy version"
    error: unknown command "foo" for "kubectl spy store ls"
    error: unknown command "foo" for "kubectl spy store"
    error: unknown shorthand flag: 'q' in -q
    error: unknown shorthand flag: 'q' in -q
    error: Unsupported shell type "tcsh". | hint: use one of bash, zsh, fish, powershell
    error: invalid argument "-1" for "--count" flag: must be greater than 0
    error: invalid argument "x" for "--count" flag: strconv.ParseInt: parsing "x": invalid syntax | hint: use a whole number, for example 5
    error: invalid argument "0" for "--count" flag: must be greater than 0
    error: invalid argument "0" for "--depth" flag: must be greater than 0
    error: invalid argument "999" for "--depth" flag: strconv.ParseInt: parsing "999": value out of range | hint: use a whole number, for example 5
    error: invalid argument "1001" for "--log-lines" flag: must be at most 1000
    error: invalid argument "x" for "--tail" flag: strconv.ParseInt: parsing "x": invalid syntax | hint: use a whole number, for example 5
    error: invalid argument "-1" for "--max-log-requests" flag: must not be negative
    error: invalid argument "yesterday" for "--since-time" flag: expected a time, for example 2026-03-02T12:00:00Z
    error: invalid argument "0" for "--speed" flag: must be greater than 0
    error: invalid argument "yesterday" for "--now" flag: expected a time, for example 2026-03-02T12:00:00Z
    error: DIR/Cargo.toml: not a directory | hint: name a directory with --store
    error: DIR/Cargo.toml: not a directory | hint: name a directory with --store
    error: cannot listen on 0.0.0.0:0: other machines could read what you may read | hint: pass --auth=kube with --tls-cert and --tls-key: each reader then sees what he may list | hint: or use --listen 127.0.0.1:7780, and reach it from another machine with `ssh -L 7780:127.0.0.1:7780`
    "#);
}

/// Help on standard output, and exit code 0.
fn answered(args: &[&str]) -> String {
    let ran = Spy::alone().run(args);
    assert_eq!((ran.status.code(), &*ran.stderr), (Some(0), ""), "{args:?}");
    ran.stdout
}

#[test]
fn without_a_command_the_help_fits_one_screen() {
    let help = answered(&[]);
    assert_snapshot!(help, @r#"
    See what state your objects are in and why, what changed, and who changed it

    Usage: kubectl spy COMMAND [TYPE/NAME...] [FLAGS]

    Examples:
      kubectl spy demo                          try it on an embedded cluster
      kubectl spy status deploy/web             is it well, and if not, why?
      kubectl spy changes deploy/web            what changed, and who changed it?
      kubectl spy changes --since 10m -n prod   what changed in this namespace?

    Commands:
      status      Show whether objects and all they own are well, and if not, why
      changes     Show what changed in objects, version by version, and by whom
      trace       Show what an object is connected to, and where the chain breaks
      logs        Show every line of everything that a workload runs
      record      Keep every version of objects in files, for days
      store       List, check, export and delete what `record` has kept
      serve       Show the state of clusters on a page in your browser, live
      demo        Play a scenario on an embedded cluster; no Kubernetes needed
      completion  Print the completion script of a shell
      options     List the flags that every command takes
      version     Print the versions of this program and of the API server
    Use "kubectl spy COMMAND --help" for more, "kubectl spy options" for all flags.
    "#);
    assert!(help.lines().count() < 24, "{}", help.lines().count());
    assert!(help.lines().all(|line| line.chars().count() <= 80));
    assert_eq!(help.matches("  kubectl spy ").count(), 4);
    for args in [
        &["-h"][..],
        &["--help"],
        &["help"],
        &["-n", "shop"],
        &["--ascii"],
    ] {
        assert_eq!(answered(args), help, "{args:?}");
    }
}

#[test]
fn help_of_a_command_is_what_its_flag_prints() {
    let command = kubectl_spy::cli::command();
    for verb in command.get_subcommands().filter(|verb| !verb.is_hide_set()) {
        answered(&["help", verb.get_name()]);
    }
    for words in [
        &["status"][..],
        &["changes"],
        &["demo", "trace"],
        &["options"],
    ] {
        let help = answered(&[&["help"], words].concat());
        assert_eq!(help, answered(&[words, &["--help"]].concat()), "{words:?}");
    }
    assert_snapshot!(refused(&["help", "rollout"]), @"
    error: Unknown help topic [`rollout`]
    hint: use one of status, changes, trace, logs, record, store, serve, demo, completion, options, version
    See 'kubectl spy help --help' for usage.
    ");
}

#[test]
fn the_version_is_a_flag_too() {
    let version = concat!("kubectl-spy v", env!("CARGO_PKG_VERSION"), "\n");
    assert_eq!(answered(&["--version"]), version);
    assert_eq!(answered(&["-V"]), version);
}

#[tokio::test(flavor = "multi_thread")]
async fn the_versions_are_documents_too() {
    let client = answered(&["version", "--client", "-o", "json"]);
    let client: Value = serde_json::from_str(&client).unwrap();
    let version = concat!("v", env!("CARGO_PKG_VERSION"));
    assert_eq!(client["clientVersion"]["gitVersion"], version);
    assert_eq!(client["serverVersion"], Value::Null);
    let cluster = Cluster::start().await;
    let both = cluster.spy().run(&["version", "-o", "json"]).stdout;
    let both: Value = serde_json::from_str(&both).unwrap();
    assert_eq!(both["clientVersion"], client["clientVersion"]);
    let server = both["serverVersion"]["gitVersion"].as_str().unwrap();
    let yaml = cluster.spy().run(&["version", "-oyaml"]).stdout;
    let (first, second) = yaml.split_once("serverVersion:\n").unwrap();
    assert!(
        first.starts_with(&format!("clientVersion:\n  gitVersion: {version}\n")),
        "{yaml}"
    );
    assert!(
        second.contains(&format!("  gitVersion: {server}\n")),
        "{yaml}"
    );
    // Without a server, the rest is printed before the error.
    let alone = Spy::alone().run(&["version", "-o", "json"]);
    assert_eq!((alone.status.code(), &*alone.stderr), (Some(1), REFUSED));
    assert!(alone.stdout.contains(version));
}

/// The lines of `-v` in standard error.
fn requests(spy: &Spy, verbosity: &[&str]) -> String {
    let verb = ["status", "secret/db", "--once", "--token", "t0p-token"];
    let ran = spy.run(&[&verb, verbosity].concat());
    assert!(ran.stdout.contains("secret/db"), "{}", ran.stderr);
    ran.stderr
}

#[tokio::test(flavor = "multi_thread")]
async fn requests_are_logged_without_credentials_and_secrets() {
    let cluster = Cluster::start().await;
    let data = json!({"password": "aHVudGVyMg=="});
    let name = json!({"name": "db", "namespace": "shop"});
    cluster.put(json!({"apiVersion": "v1", "kind": "Secret", "metadata": name, "data": data}));
    let spy = cluster.spy();
    for quiet in [&[][..], &["-v=5"], &["-v", "0"], &["--v=-1"]] {
        assert_eq!(requests(&spy, quiet), "", "{quiet:?}");
    }
    let url = cluster.sandbox.url();
    for loud in [
        &["-v=6"][..],
        &["-v6"],
        &["-v", "6"],
        &["--v=7"],
        &["--v", "6"],
    ] {
        let log = requests(&spy, loud);
        let line = log.lines().next().unwrap_or_default();
        let start = format!("GET {url}/api/v1/namespaces/shop/secrets?");
        assert!(line.starts_with(&start), "{loud:?}: {log}");
        assert!(
            line.contains(" 200 OK in ") && line.ends_with(" milliseconds"),
            "{log}"
        );
        assert!(!log.contains("Headers"), "{log}");
    }
    let log = requests(&spy, &["-v=9"]);
    for part in [
        "Request Headers:",
        "    accept: ",
        "Response Headers:",
        "    content-type: ",
    ] {
        assert!(log.contains(part), "{log}");
    }
    assert!(
        !log.contains("t0p-token") && !log.contains("aHVudGVyMg"),
        "{log}"
    );
    let refused = Spy::alone().run(&["version", "-v=6"]).stderr;
    assert!(
        refused.starts_with("GET http://localhost:8080/version failed: "),
        "{refused}"
    );
    assert!(refused.ends_with(REFUSED), "{refused}");
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
