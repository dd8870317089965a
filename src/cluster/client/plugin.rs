//! Runs credential plugins: programs that print a token or a certificate
//! (<https://kubernetes.io/docs/reference/access-authn-authz/authentication/#client-go-credential-plugins>).
//!
//! kube could run them too. But it panics on a token that is not a valid header value, and its errors contain the
//! program's environment and output.

use std::io;
use std::process::{Command, Output, Stdio};

use kube::config::{ExecConfig, ExecInteractiveMode};
use serde::Deserialize;

use crate::cluster::kubeconfig::{ConfigError, os_words};
use crate::object::excerpt;

/// How many characters of a plugin's error output are printed.
const SHOWN: usize = 1000;

/// The credentials that a plugin printed.
#[derive(Default, Deserialize)]
#[serde(default, rename_all = "camelCase")]
pub(super) struct Issued {
    /// The token; empty if there is none.
    pub(super) token: String,
    /// The certificate in PEM form, and its key.
    pub(super) client_certificate_data: String,
    pub(super) client_key_data: String,
}

/// Runs a plugin, and waits for it. An interactive plugin uses the terminal meanwhile.
pub(super) fn run(plugin: &ExecConfig) -> Result<Issued, ConfigError> {
    let program = plugin.command.as_deref().unwrap_or_default();
    let output = command(plugin).output().map_err(|error| {
        ConfigError::Credential(match error.kind() {
            io::ErrorKind::NotFound => no_plugin(program, plugin.install_hint.as_deref()),
            _ => format!("exec: {program}: {}", os_words(&error)),
        })
    })?;
    if !output.status.success() {
        return Err(ConfigError::Credential(failed(program, &output)));
    }
    issued(&output.stdout).map_err(|words| ConfigError::Credential(words.to_owned()))
}

fn command(plugin: &ExecConfig) -> Command {
    let mut command = Command::new(plugin.command.as_deref().unwrap_or_default());
    command.args(plugin.args.iter().flatten());
    for variable in plugin.env.iter().flatten() {
        if let (Some(name), Some(value)) = (variable.get("name"), variable.get("value")) {
            command.env(name, value);
        }
    }
    let interactive = plugin.interactive_mode != Some(ExecInteractiveMode::Never);
    if interactive {
        command.stdin(Stdio::inherit()).stderr(Stdio::inherit());
    } else {
        command.stdin(Stdio::null());
    }
    let mut spec = serde_json::json!({ "interactive": interactive });
    if plugin.provide_cluster_info {
        spec["cluster"] = serde_json::json!(plugin.cluster);
    }
    let info = serde_json::json!({
        "kind": "ExecCredential", "apiVersion": plugin.api_version, "spec": spec,
    });
    command.env("KUBERNETES_EXEC_INFO", info.to_string());
    command
}

/// client-go's message, and the plugin's error output if the user has not seen it. It never contains the
/// arguments, the environment or the standard output, which may be the token.
fn failed(program: &str, output: &Output) -> String {
    let words = match output.status.code() {
        Some(code) => format!("exec: executable {program} failed with exit code {code}"),
        None => format!("exec: executable {program} was killed"),
    };
    let said = String::from_utf8_lossy(&output.stderr);
    match said.trim() {
        "" => words,
        said => format!("{words}: {}", excerpt(said, SHOWN)),
    }
}

/// Parses a plugin's output: JSON, or YAML, which some plugins print.
fn issued(stdout: &[u8]) -> Result<Issued, &'static str> {
    #[derive(Deserialize)]
    struct ExecCredential {
        #[serde(default)]
        status: Option<Issued>,
    }
    let printed: ExecCredential =
        serde_saphyr::from_slice(stdout).map_err(|_| "decoding stdout: not an ExecCredential")?;
    let issued = printed
        .status
        .ok_or("exec plugin didn't return a status field")?;
    let has = |text: &str| !text.is_empty();
    match (
        has(&issued.token),
        has(&issued.client_certificate_data),
        has(&issued.client_key_data),
    ) {
        (false, false, false) => Err("exec plugin didn't return a token or cert/key pair"),
        (_, true, false) | (_, false, true) => {
            Err("exec plugin returned only certificate or key, not both")
        }
        _ => Ok(issued),
    }
}

/// client-go's message for a missing plugin, with the install hint of the kubeconfig.
fn no_plugin(program: &str, install_hint: Option<&str>) -> String {
    let hint = install_hint.map(|hint| format!("\n\n{hint}"));
    format!(
        "exec: executable {program} not found\n\nIt looks like you are trying to use a client-go credential \
         plugin that is not installed.\n\nTo learn more about this feature, consult the documentation \
         available at:\n      \
         https://kubernetes.io/docs/reference/access-authn-authz/authentication/#client-go-credential-plugins{}",
        hint.unwrap_or_default()
    )
}

#[cfg(test)]
mod tests {
    #![cfg(unix)]

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
        let issued = run(&plugin).map_err(|error| {
            let text = error.to_string();
            text.replacen(
                "Unable to connect to the server: getting credentials: ",
                "",
                1,
            )
        })?;
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
            Err(
                "exec: executable sh failed with exit code 1: no session\\nlog in first".to_owned()
            )
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
}
