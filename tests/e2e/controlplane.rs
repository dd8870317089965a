//! The control plane that a test starts, and what it writes to it with.

use std::io::Write;
use std::net::{Ipv4Addr, SocketAddr};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

/// A real control plane of one test's own. Dropping it ends its processes.
#[derive(Debug)]
pub struct ControlPlane {
    directory: Option<PathBuf>,
    admin: String,
}

impl ControlPlane {
    /// Starts one, or uses the cluster that `SPY_E2E_KUBECONFIG` names. `$KUBECONFIG` is never used:
    /// a test writes.
    pub fn start(test: &str) -> ControlPlane {
        match std::env::var("SPY_E2E_KUBECONFIG") {
            Ok(admin) => ControlPlane {
                directory: None,
                admin,
            },
            Err(_) => ControlPlane::to_break(test),
        }
    }

    /// Starts one that the test may kill.
    pub fn to_break(test: &str) -> ControlPlane {
        ControlPlane::with_compaction(test, "5m0s")
    }

    /// Starts one that forgets old versions so often (`--etcd-compaction-interval`).
    pub fn with_compaction(test: &str, interval: &str) -> ControlPlane {
        ControlPlane::with(test, &[("SPY_CP_ETCD_COMPACTION", interval)])
    }

    /// Starts etcd and an API server alone: nothing is written but what the test writes. etcd holds JSON.
    pub fn without_controllers(test: &str) -> ControlPlane {
        let storage = ("SPY_CP_STORAGE", "application/json");
        let compaction = ("SPY_CP_ETCD_COMPACTION", "0");
        ControlPlane::with(test, &[("SPY_CP_SERVERS", "api"), storage, compaction])
    }

    fn with(test: &str, variables: &[(&str, &str)]) -> ControlPlane {
        let target = Path::new(env!("CARGO_TARGET_TMPDIR"));
        let directory = target.join(format!("{test}-{}", std::process::id()));
        let admin = script_with(&["up", directory.to_str().unwrap()], variables);
        ControlPlane {
            directory: Some(directory),
            admin,
        }
    }

    /// The kubeconfig of the administrator.
    pub fn admin(&self) -> &str {
        &self.admin
    }

    /// The kubeconfig of `dev`, who may do what the test grants.
    pub fn dev(&self) -> String {
        self.own_directory()
            .join("dev.kubeconfig")
            .to_str()
            .unwrap()
            .to_owned()
    }

    /// SIGKILLs the API server.
    pub fn kill_api_server(&self) {
        self.run(&["kill-apiserver"]);
    }

    /// Starts it again and waits until it answers.
    pub fn start_api_server(&self) {
        self.run(&["start-apiserver"]);
    }

    /// Starts a second API server on the same etcd; returns its kubeconfig.
    pub fn second_api_server(&self) -> String {
        self.run(&["second-apiserver"])
    }

    /// SIGSTOPs the API server.
    pub fn freeze_api_server(&self) {
        self.run(&["freeze-apiserver"]);
    }

    /// Lets it run again.
    pub fn thaw_api_server(&self) {
        self.run(&["thaw-apiserver"]);
    }

    /// Keeps what etcd holds now.
    pub fn save_etcd(&self) {
        self.run(&["save-etcd"]);
    }

    /// Kills etcd and the API servers, and starts etcd with what it held when it was saved.
    pub fn restore_etcd(&self) {
        self.run(&["restore-etcd"]);
    }

    /// Gives `dev` another token, which API servers that start from now on know in place of the old.
    pub fn new_token(&self) {
        self.run(&["new-token", "dev"]);
    }

    /// Where etcd answers.
    pub fn etcd(&self) -> SocketAddr {
        self.address(0)
    }

    /// Where the API server answers.
    pub fn api_server(&self) -> SocketAddr {
        self.address(2)
    }

    /// The certificate of the API server, which is its own authority.
    pub fn certificate(&self) -> PathBuf {
        self.own_directory().join("kube-apiserver/apiserver.crt")
    }

    fn address(&self, line: usize) -> SocketAddr {
        let ports = std::fs::read_to_string(self.own_directory().join("ports")).unwrap();
        let port = ports.lines().nth(line).unwrap().parse().unwrap();
        (Ipv4Addr::LOCALHOST, port).into()
    }

    /// Runs one of the script's commands on this control plane.
    fn run(&self, command: &[&str]) -> String {
        let directory = self.own_directory().to_str().unwrap();
        script(&[&command[..1], &[directory], &command[1..]].concat())
    }

    /// The requests that the API server has logged, a JSON object a line.
    pub fn audit_log(&self) -> String {
        std::fs::read_to_string(self.own_directory().join("audit.log")).unwrap()
    }

    fn own_directory(&self) -> &Path {
        self.directory
            .as_deref()
            .expect("a control plane that this test has started")
    }

    /// Runs the control plane's own kubectl as the administrator; returns its stdout.
    pub fn kubectl(&self, args: &[&str]) -> String {
        self.kubectl_with("", args)
    }

    /// Applies manifests.
    pub fn apply(&self, manifests: &str) {
        self.kubectl_with(manifests, &["apply", "-f", "-"]);
    }

    fn kubectl_with(&self, stdin: &str, args: &[&str]) -> String {
        let mut command = Command::new(kubectl());
        command
            .args(args)
            .env_clear()
            .env("KUBECONFIG", &self.admin)
            .env("HOME", env!("CARGO_TARGET_TMPDIR"));
        command
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped());
        let mut child = command.spawn().unwrap();
        child
            .stdin
            .take()
            .unwrap()
            .write_all(stdin.as_bytes())
            .unwrap();
        let output = child.wait_with_output().unwrap();
        let stderr = String::from_utf8_lossy(&output.stderr);
        assert!(output.status.success(), "kubectl {args:?}: {stderr}");
        String::from_utf8(output.stdout).unwrap()
    }
}

impl Drop for ControlPlane {
    fn drop(&mut self) {
        if let Some(directory) = &self.directory {
            script(&["down", directory.to_str().unwrap()]);
            // A failure is explained with its logs.
            if !std::thread::panicking() {
                let _not_empty = std::fs::remove_dir_all(directory);
            }
        }
    }
}

/// [`kubectl`], once it is built.
pub fn built_kubectl() -> PathBuf {
    script(&["build"]);
    kubectl()
}

/// The kubectl that is built beside the control plane: of its version, and a binary of its own.
pub fn kubectl() -> PathBuf {
    Path::new(env!("CARGO_TARGET_TMPDIR"))
        .parent()
        .unwrap()
        .join("controlplane/bin/kubectl")
}

/// Runs the control plane's script; its stdout is a path, its stderr goes to the test's.
fn script(args: &[&str]) -> String {
    script_with(args, &[])
}

fn script_with(args: &[&str], variables: &[(&str, &str)]) -> String {
    let run = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/e2e/controlplane/run");
    let target = Path::new(env!("CARGO_TARGET_TMPDIR")).parent().unwrap();
    let mut command = Command::new(run);
    command
        .args(args)
        .env("CARGO_TARGET_DIR", target)
        .envs(variables.iter().copied())
        .stdin(Stdio::null())
        .stderr(Stdio::inherit());
    let output = command.output().unwrap();
    assert!(
        output.status.success(),
        "tests/e2e/controlplane/run {args:?} failed; its output is above"
    );
    String::from_utf8(output.stdout).unwrap().trim().to_owned()
}
