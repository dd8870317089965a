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

#[cfg(all(test, unix))]
mod tests;
