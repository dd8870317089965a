//! The same checks on every kind of API server that people have: kine with `SQLite`, single kinds in an etcd of
//! their own, and, if asked for, other versions of Kubernetes. Each write is known, and so is what the program must
//! say about it.

mod known;
mod outage;
mod script;

use super::controlplane::ControlPlane;
use super::support::Spy;

/// The variable that names the other versions to run on, `1.30 1.37`. Their builds take minutes each.
const VERSIONS: &str = "SPY_E2E_VERSIONS";

/// The namespace of all objects.
const NAMESPACE: &str = "app";

/// A control plane, and the program as its administrator.
struct Server {
    plane: ControlPlane,
    spy: Spy,
}

impl Server {
    fn start(test: &str, variables: &[(&str, &str)]) -> Server {
        let plane = ControlPlane::with(test, variables);
        let spy = Spy::with_kubeconfig(plane.admin());
        plane.kubectl(&["create", "namespace", NAMESPACE]);
        Server { plane, spy }
    }

    /// Runs kubectl in the namespace.
    fn kubectl(&self, args: &[&str]) -> String {
        self.plane.kubectl(&[args, &["-n", NAMESPACE]].concat())
    }

    /// Runs kubectl in the namespace, with this standard input.
    fn kubectl_reading(&self, stdin: &str, args: &[&str]) -> String {
        self.plane
            .kubectl_with(stdin, &[args, &["-n", NAMESPACE]].concat())
    }

    /// Creates what manifests describe.
    fn create(&self, manifests: &str) -> String {
        self.kubectl_reading(manifests, &["create", "-f", "-"])
    }

    /// Runs the program once in the namespace; returns its stdout.
    fn once(&self, args: &[&str]) -> String {
        let ran = self.spy.run(&[args, &["-n", NAMESPACE, "--once"]].concat());
        assert!(ran.status.success(), "{args:?}\n{}", ran.transcript());
        ran.stdout
    }
}

/// Runs everything on one kind of server.
fn check(test: &str, variables: &[(&str, &str)]) {
    let server = Server::start(test, variables);
    let mut known = script::write(&server);
    known.event_after_renewals(&server);
    known.check(&server);
    script::since_revision(&server);
    outage::api_server(&server);
    outage::storage(&server);
    // The restarted server has an empty watch cache, and its storage still has each version.
    script::look_back(&server);
    outage::restored(&server);
}

/// Runs everything on another version, if the variable names it.
fn check_version(version: &str) {
    let asked = std::env::var(VERSIONS).unwrap_or_default();
    if asked.split_whitespace().any(|asked| asked == version) {
        check(&format!("v{version}"), &[("SPY_CP_VERSION", version)]);
    } else {
        println!("not run on {version}: {VERSIONS} does not name it");
    }
}

/// What k3s runs.
#[test]
fn kine_on_sqlite() {
    check("kine", &[("SPY_CP_STORE", "kine")]);
}

/// Revisions of Events and of all other objects have nothing to do with each other.
#[test]
fn events_in_an_etcd_of_their_own() {
    check("events-apart", &[("SPY_CP_APART", "events")]);
}

/// Nothing dates the revisions of the other resources.
#[test]
fn leases_in_an_etcd_of_their_own() {
    check("leases-apart", &[("SPY_CP_APART", "leases")]);
}

#[test]
fn the_oldest_version() {
    check_version("1.30");
}

#[test]
fn the_newest_version() {
    check_version("1.37");
}
