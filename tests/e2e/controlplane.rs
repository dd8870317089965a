//! The control plane that a test starts, and the kubectl with which the test writes to it.

use std::io::Write;
use std::net::{Ipv4Addr, SocketAddr};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use super::hand_node::Protocol;

/// A real control plane that belongs to one test. Dropping it ends its processes.
#[derive(Debug)]
pub struct ControlPlane {
    directory: Option<PathBuf>,
    admin: String,
}

impl ControlPlane {
    /// Starts a control plane, or uses the cluster that `SPY_E2E_KUBECONFIG` names. Tests write, so
    /// `$KUBECONFIG` is never used.
    pub fn start(test: &str) -> ControlPlane {
        match std::env::var("SPY_E2E_KUBECONFIG") {
            Ok(admin) => ControlPlane {
                directory: None,
                admin,
            },
            Err(_) => ControlPlane::to_break(test),
        }
    }

    /// Starts a control plane that the test may kill.
    pub fn to_break(test: &str) -> ControlPlane {
        ControlPlane::with_compaction(test, "5m0s")
    }

    /// Starts a control plane with this compaction interval (`--etcd-compaction-interval`).
    pub fn with_compaction(test: &str, interval: &str) -> ControlPlane {
        ControlPlane::with(test, &[("SPY_CP_ETCD_COMPACTION", interval)])
    }

    /// Starts only etcd and an API server, so that only the test writes. etcd stores JSON.
    pub fn without_controllers(test: &str) -> ControlPlane {
        let storage = ("SPY_CP_STORAGE", "application/json");
        let compaction = ("SPY_CP_ETCD_COMPACTION", "0");
        ControlPlane::with(test, &[("SPY_CP_SERVERS", "api"), storage, compaction])
    }

    /// Starts a control plane with these variables of its script.
    pub fn with(test: &str, variables: &[(&str, &str)]) -> ControlPlane {
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

    /// The kubeconfig of `dev`, a user with only the rights that the test grants.
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

    /// Starts the API server again and waits until it answers.
    pub fn start_api_server(&self) {
        self.run(&["start-apiserver"]);
    }

    /// Starts a second API server on the same storage; returns its kubeconfig.
    pub fn second_api_server(&self) -> String {
        self.run(&["second-apiserver"])
    }

    /// SIGSTOPs the API server.
    pub fn freeze_api_server(&self) {
        self.run(&["freeze-apiserver"]);
    }

    /// Resumes the frozen API server.
    pub fn thaw_api_server(&self) {
        self.run(&["thaw-apiserver"]);
    }

    /// SIGKILLs the storage.
    pub fn kill_storage(&self) {
        self.run(&["kill-storage"]);
    }

    /// Starts the storage again.
    pub fn start_storage(&self) {
        self.run(&["start-storage"]);
    }

    /// Saves a copy of the storage's data.
    pub fn save_storage(&self) {
        self.run(&["save-storage"]);
    }

    /// Kills the storage and the API servers, and starts the storage with the saved data.
    pub fn restore_storage(&self) {
        self.run(&["restore-storage"]);
    }

    /// Replaces the token of `dev`. API servers that start later accept only the new one.
    pub fn new_token(&self) {
        self.run(&["new-token", "dev"]);
    }

    /// SIGKILLs the log endpoint of all nodes.
    pub fn kill_kubelet(&self) {
        self.run(&["kill-kubelet"]);
    }

    /// Starts it again.
    pub fn start_kubelet(&self) {
        self.run(&["start-kubelet"]);
    }

    /// The log endpoint of all nodes, for API servers that use this protocol.
    pub fn kubelet(&self, protocol: Protocol) -> SocketAddr {
        self.address(match protocol {
            Protocol::Http2 => 8,
            Protocol::Http1 => 9,
        })
    }

    /// Where tests ask the log endpoint for faults.
    pub fn kubelet_control(&self) -> SocketAddr {
        self.address(10)
    }

    /// The logs of the containers: the `/var/log` of all nodes.
    pub fn containers(&self) -> PathBuf {
        self.own_directory().join("containers")
    }

    /// The address of etcd.
    pub fn etcd(&self) -> SocketAddr {
        self.address(0)
    }

    /// The address of the etcd that has only Events, if there is one.
    pub fn events_etcd(&self) -> Option<SocketAddr> {
        let pid = self.own_directory().join("pids/etcd-events");
        pid.exists().then(|| self.address(4))
    }

    /// The address of the API server.
    pub fn api_server(&self) -> SocketAddr {
        self.address(2)
    }

    /// The certificate of the API server, which is self-signed.
    pub fn certificate(&self) -> PathBuf {
        self.own_directory().join("kube-apiserver/apiserver.crt")
    }

    fn address(&self, line: usize) -> SocketAddr {
        let ports = std::fs::read_to_string(self.own_directory().join("ports")).unwrap();
        let port = ports.lines().nth(line).unwrap().parse().unwrap();
        (Ipv4Addr::LOCALHOST, port).into()
    }

    /// Runs a command of the script on this control plane.
    fn run(&self, command: &[&str]) -> String {
        let directory = self.own_directory().to_str().unwrap();
        script(&[&command[..1], &[directory], &command[1..]].concat())
    }

    /// The requests that the API server has logged, one JSON object on each line.
    pub fn audit_log(&self) -> String {
        std::fs::read_to_string(self.own_directory().join("audit.log")).unwrap()
    }

    fn own_directory(&self) -> &Path {
        self.directory
            .as_deref()
            .expect("this test started the control plane")
    }

    /// Runs the control plane's kubectl as the administrator; returns its stdout.
    pub fn kubectl(&self, args: &[&str]) -> String {
        self.kubectl_with("", args)
    }

    /// Runs kubectl until the API server refuses what it asks for. Other API objects come into force a little later.
    pub fn until_refused(&self, args: &[&str]) {
        let deadline = Instant::now() + Duration::from_secs(60);
        let is_refused = || !self.command(args).output().unwrap().status.success();
        while !is_refused() {
            assert!(Instant::now() < deadline, "kubectl {args:?} is not refused");
        }
    }

    /// Applies manifests.
    pub fn apply(&self, manifests: &str) {
        self.kubectl_with(manifests, &["apply", "-f", "-"]);
    }

    fn command(&self, args: &[&str]) -> Command {
        let mut command = Command::new(kubectl());
        command
            .args(args)
            .env_clear()
            .env("KUBECONFIG", &self.admin)
            .env("HOME", env!("CARGO_TARGET_TMPDIR"));
        command
    }

    /// Runs kubectl with this standard input; returns its stdout.
    pub fn kubectl_with(&self, stdin: &str, args: &[&str]) -> String {
        let mut command = self.command(args);
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
            // After a failure, the logs are kept.
            if !std::thread::panicking() {
                let _not_empty = std::fs::remove_dir_all(directory);
            }
        }
    }
}

/// Builds [`kubectl`] and returns its path.
pub fn built_kubectl() -> PathBuf {
    script(&["build"]);
    kubectl()
}

/// The kubectl that is built with the control plane, in the same version.
pub fn kubectl() -> PathBuf {
    Path::new(env!("CARGO_TARGET_TMPDIR"))
        .parent()
        .unwrap()
        .join("controlplane/bin/kubectl")
}

/// Runs the control plane's script; returns its stdout. Its stderr goes to the test's stderr.
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
