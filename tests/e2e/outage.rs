//! The API server is killed and restarted while the verbs run: for an administrator, and for a user whom a
//! restarting server refuses at first.

use super::controlplane::{ControlPlane, kubectl};
use super::support::{Running, Spy};

const RIGHTS: &str = r#"
apiVersion: rbac.authorization.k8s.io/v1
kind: Role
metadata: {name: reader, namespace: default}
rules:
- {apiGroups: ["", apps, discovery.k8s.io], resources: ["*"], verbs: [get, list, watch]}
---
apiVersion: rbac.authorization.k8s.io/v1
kind: RoleBinding
metadata: {name: reader, namespace: default}
roleRef: {apiGroup: rbac.authorization.k8s.io, kind: Role, name: reader}
subjects: [{apiGroup: rbac.authorization.k8s.io, kind: User, name: dev}]
"#;

/// Starts each verb and waits for its first output.
fn start_all(spy: &Spy) -> [Running; 3] {
    let mut changes = spy.start(&["changes", "--since=0", "deploy/web"]);
    changes.until("EXISTING deployment/web");
    let mut status = spy.start(&["status", "deploy/web"]);
    status.until_where("the deployment, ready", |line| {
        line.contains("deployment/web") && line.contains("1/1")
    });
    let mut trace = spy.start(&["trace", "svc/web"]);
    trace.until("web-");
    [changes, status, trace]
}

#[test]
fn a_killed_api_server_is_noticed_and_survived() {
    let plane = ControlPlane::to_break("outage");
    plane.apply(RIGHTS);
    plane.kubectl(&["create", "deployment", "web", "--image=web:1"]);
    plane.kubectl(&["expose", "deployment", "web", "--port=80"]);
    plane.kubectl(&["rollout", "status", "deploy/web", "--timeout=60s"]);
    let mut running: Vec<Running> = [
        Spy::with_kubeconfig(plane.admin()),
        Spy::with_kubeconfig(&plane.dev()),
    ]
    .iter()
    .flat_map(start_all)
    .collect();
    let mut peer = std::process::Command::new(kubectl())
        .args(["get", "deploy/web", "-w", "--kubeconfig", plane.admin()])
        .env("HOME", env!("CARGO_TARGET_TMPDIR"))
        .stdout(std::process::Stdio::null())
        .spawn()
        .unwrap();
    // Writes to other objects, so that the version to resume from is too old after the restart.
    for count in 0..120 {
        plane.kubectl(&["create", "configmap", &format!("elsewhere-{count}")]);
    }
    plane.kill_api_server();
    for spy in &mut running {
        spy.until("retrying");
    }
    assert!(
        peer.wait().unwrap().success(),
        "`kubectl get -w` ends, as if nothing were wrong"
    );
    plane.start_api_server();
    for spy in &mut running {
        spy.until(": live");
    }
    plane.kubectl(&["set", "image", "deploy/web", "web=bad:1"]);
    for spy in running.iter_mut().step_by(3) {
        spy.until("web:1 → bad:1");
    }
    for spy in running.iter_mut().skip(1).step_by(3) {
        spy.until_where("the cause", |line| {
            line.contains("pod/web-") && line.contains("ErrImagePull")
        });
    }
    for spy in running.iter_mut().skip(2).step_by(3) {
        spy.until_where("the pod that is not ready", |line| line.contains("web-"));
    }
    for spy in running {
        spy.interrupt();
    }
}
