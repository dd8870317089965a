//! Runs credential plugins: programs that print a token or a certificate
//! (<https://kubernetes.io/docs/reference/access-authn-authz/authentication/#client-go-credential-plugins>).
//!
//! kube could run them too. But it panics on a token that is not a valid header value, and its errors contain the
//! program's environment and output.

use std::ffi::OsStr;
use std::io::{self, Read};
use std::path::Path;
use std::process::{Child, Command, Output, Stdio};
use std::sync::mpsc::channel;
use std::thread;
use std::time::Duration;

use kube::config::{ExecConfig, ExecInteractiveMode};
use serde::Deserialize;

use crate::cluster::kubeconfig::{ClusterConfig, ConfigError, PluginRun, os_words};
use crate::cluster::program::{self, ProgramError};
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

/// Runs the plugin of a cluster, and waits for it. An interactive plugin that is attended uses the terminal meanwhile.
pub(super) fn run(plugin: &ExecConfig, cluster: &ClusterConfig) -> Result<Issued, ConfigError> {
    let path = cluster.search_path();
    run_found(plugin, cluster.plugin_run, path)
}

fn run_found(
    plugin: &ExecConfig,
    run: PluginRun,
    path: Option<&OsStr>,
) -> Result<Issued, ConfigError> {
    let program = plugin.command.as_deref().unwrap_or_default();
    let file = program::find(program, path)
        .map_err(|error| ConfigError::Credential(no_plugin(plugin, &error)))?;
    let output = match run {
        PluginRun::Attended => {
            let is_interactive = plugin.interactive_mode != Some(ExecInteractiveMode::Never);
            command(&file, plugin, is_interactive).output()
        }
        PluginRun::Unattended(_)
            if plugin.interactive_mode == Some(ExecInteractiveMode::Always) =>
        {
            let words = "standard input is unavailable, and the plugin requires it";
            return Err(ConfigError::Credential(format!("exec: {program}: {words}")));
        }
        PluginRun::Unattended(limit) => unattended(command(&file, plugin, false), limit),
    };
    let output = output.map_err(|error| {
        ConfigError::Credential(match error.kind() {
            io::ErrorKind::NotFound => no_plugin(plugin, &ProgramError::NotFound),
            _ => format!("exec: {program}: {}", os_words(&error)),
        })
    })?;
    if !output.status.success() {
        return Err(ConfigError::Credential(failed(program, &output)));
    }
    issued(&output.stdout).map_err(|words| ConfigError::Credential(words.to_owned()))
}

/// Runs a command without the terminal, and ends it at the limit. It could be waiting for a person.
fn unattended(mut command: Command, limit: Duration) -> io::Result<Output> {
    #[cfg(unix)]
    {
        // A process in the background cannot read from the terminal, not even by its path.
        use std::os::unix::process::CommandExt;
        command.process_group(0);
    }
    let mut child = command
        .stdout(Stdio::piped())
        .stderr(Stdio::null())
        .spawn()?;
    let (send, read) = channel();
    if let Some(mut stdout) = child.stdout.take() {
        thread::spawn(move || {
            let mut printed = Vec::new();
            let _cut = stdout.read_to_end(&mut printed);
            // Without a receiver, the limit is over.
            let _late = send.send(printed);
        });
    }
    match read.recv_timeout(limit) {
        Ok(stdout) => Ok(Output {
            status: child.wait()?,
            stdout,
            stderr: Vec::new(),
        }),
        Err(_) => Err(end(child)),
    }
}

/// Ends a plugin that takes too long.
fn end(mut child: Child) -> io::Error {
    let _ended_meanwhile = child.kill();
    let _reaped = child.wait();
    io::ErrorKind::TimedOut.into()
}

fn command(file: &Path, plugin: &ExecConfig, interactive: bool) -> Command {
    let mut command = Command::new(file);
    command.args(plugin.args.iter().flatten());
    for variable in plugin.env.iter().flatten() {
        if let (Some(name), Some(value)) = (variable.get("name"), variable.get("value")) {
            command.env(name, value);
        }
    }
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

/// client-go's message for a missing plugin, with the install hint of the kubeconfig. It is the same for one that only a
/// relative directory of `PATH` has: its next lines say so.
fn no_plugin(plugin: &ExecConfig, error: &ProgramError) -> String {
    let program = plugin.command.as_deref().unwrap_or_default();
    let install = plugin.install_hint.as_deref();
    let relative = (*error == ProgramError::Relative)
        .then(|| format!("exec: {program:?}: {error}\nhint: remove `.` and empty parts from PATH"));
    let start = Some(String::new());
    let ends = start
        .into_iter()
        .chain(install.map(str::to_owned))
        .chain(relative);
    let ends = ends.collect::<Vec<String>>().join("\n\n");
    format!(
        "exec: executable {program} not found\n\nIt looks like you are trying to use a client-go credential \
         plugin that is not installed.\n\nTo learn more about this feature, consult the documentation \
         available at:\n      \
         https://kubernetes.io/docs/reference/access-authn-authz/authentication/#client-go-credential-plugins{ends}"
    )
}

#[cfg(all(test, unix))]
mod tests;
