//! Tests of credential plugins: shell scripts.

use std::collections::HashMap;

use super::*;

fn check(script: &str) -> Result<String, String> {
    let value = |name: &str, value: &str| (name.to_owned(), value.to_owned());
    let plugin = ExecConfig {
        api_version: Some("client.authentication.k8s.io/v1".to_owned()),
        command: Some("sh".to_owned()),
        args: Some(vec!["-c".to_owned(), script.to_owned()]),
        env: Some(vec![HashMap::from([
            value("name", "AWS_SECRET_ACCESS_KEY"),
            value("value", "s3cret"),
        ])]),
        interactive_mode: Some(ExecInteractiveMode::Never),
        ..ExecConfig::default()
    };
    let issued = run_found(&plugin, PluginRun::Attended, Some("/usr/bin:/bin".as_ref())).map_err(
        |error| {
            let text = error.to_string();
            text.replacen(
                "Unable to connect to the server: getting credentials: ",
                "",
                1,
            )
        },
    )?;
    Ok(format!(
        "{}|{}|{}",
        issued.token, issued.client_certificate_data, issued.client_key_data
    ))
}

#[test]
fn a_failing_plugin_is_named_with_its_error_output() {
    assert_eq!(
        check("echo s3cret; exit 7"),
        Err("exec: executable sh failed with exit code 7".to_owned())
    );
    assert_eq!(
        check("printf 'no session\nlog in first\n' >&2; exit 1"),
        Err("exec: executable sh failed with exit code 1: no session\\nlog in first".to_owned())
    );
    assert_eq!(
        check("kill -9 $$"),
        Err("exec: executable sh was killed".to_owned())
    );
    let long = check("head -c 100000 /dev/zero | tr '\\0' x >&2; exit 1").expect_err("failed");
    assert!(long.len() < 1100, "{}", long.len());
}

#[test]
fn a_plugins_output_is_parsed_and_never_printed() {
    let status = |status: &str| check(&format!("echo '{{\"status\":{status}}}'"));
    assert_eq!(
        status(r#"{"token":"abc","expirationTimestamp":null}"#),
        Ok("abc||".to_owned())
    );
    assert_eq!(
        status(r#"{"clientCertificateData":"C","clientKeyData":"K"}"#),
        Ok("|C|K".to_owned())
    );
    assert_eq!(
        check("printf 'status:\n  token: abc\n'"),
        Ok("abc||".to_owned())
    );
    for (script, words) in [
        ("echo s3cret", "decoding stdout: not an ExecCredential"),
        (
            "echo '{\"status\":\"s3cret\"}'",
            "decoding stdout: not an ExecCredential",
        ),
        ("echo '{}'", "exec plugin didn't return a status field"),
        (
            "echo '{\"status\":{}}'",
            "exec plugin didn't return a token or cert/key pair",
        ),
        (
            "echo '{\"status\":{\"token\":\"t\",\"clientKeyData\":\"s3cret\"}}'",
            "exec plugin returned only certificate or key, not both",
        ),
    ] {
        assert_eq!(check(script), Err(words.to_owned()), "{script}");
    }
}

/// Runs a script of this mode without the terminal.
fn unattended_token(mode: Option<ExecInteractiveMode>, script: &str) -> Result<String, String> {
    let plugin = ExecConfig {
        api_version: Some("client.authentication.k8s.io/v1".to_owned()),
        command: Some("sh".to_owned()),
        args: Some(vec!["-c".to_owned(), script.to_owned()]),
        interactive_mode: mode,
        ..ExecConfig::default()
    };
    // The limit is either never reached or always.
    let limit = Duration::from_secs(if script.contains("exec sleep") { 0 } else { 60 });
    let issued = run_found(
        &plugin,
        PluginRun::Unattended(limit),
        Some("/usr/bin:/bin".as_ref()),
    );
    issued
        .map(|issued| issued.token)
        .map_err(|error| error.to_string())
}

#[test]
fn an_unattended_plugin_gets_no_terminal_and_no_time() {
    let script = r#"read -r typed && exit 1
        case $KUBERNETES_EXEC_INFO in *'"interactive":false'*) ;; *) exit 2 ;; esac
        echo '{"status":{"token":"abc"}}'"#;
    for mode in [None, Some(ExecInteractiveMode::IfAvailable)] {
        assert_eq!(unattended_token(mode, script), Ok("abc".to_owned()));
    }
    let refused = unattended_token(Some(ExecInteractiveMode::Always), script);
    let refused = refused.expect_err("it needs the terminal");
    assert!(refused.ends_with("and the plugin requires it"), "{refused}");
    let late = unattended_token(None, "exec sleep 600").expect_err("too late");
    assert!(late.contains("exec: sh: "), "{late}");
}

/// Go, and so kubectl, runs no program of a relative directory of `PATH`: its files may be anyone's.
#[test]
fn a_plugin_of_the_current_directory_does_not_run() {
    // It is executable, and in the current directory of the tests.
    let plugin = |command: &str| ExecConfig {
        command: Some(command.to_owned()),
        install_hint: Some("run: install it".to_owned()),
        ..ExecConfig::default()
    };
    for path in [".ci", "./.ci:/bin", ".ci:"] {
        let ran = run_found(&plugin("run"), PluginRun::Attended, Some(path.as_ref()));
        let error = ran.err().expect("it does not run").to_string();
        assert!(
            error.contains("exec: executable run not found\n"),
            "{error}"
        );
        assert!(error.contains("\n\nrun: install it\n\n"), "{error}");
        let end = "exec: \"run\": cannot run executable found relative to current directory\nhint: remove `.` and empty parts from PATH";
        assert!(error.ends_with(end), "{error}");
    }
}
