//! A control plane for faults: etcd, the API server behind the proxy, and another one for writers.

use std::fs;

use serde_json::{Value, json};

use super::etcd::Etcd;
use super::objects::KINDS;
use super::tls;
use super::writer::{Api, Refusal};
use crate::controlplane::ControlPlane;
use crate::support::fault_proxy::{FaultProxy, Protocol, Sides};

/// A control plane, and the record of all writes to it.
pub struct Plane {
    pub control: ControlPlane,
    pub etcd: Etcd,
    /// The kubeconfig that writers use.
    writers: String,
}

impl Plane {
    /// Starts a control plane whose API server is never killed.
    pub fn to_share(label: &str) -> Plane {
        let control = ControlPlane::without_controllers(label);
        let etcd = Etcd::record(control.etcd());
        let writers = control.admin().to_owned();
        Plane {
            control,
            etcd,
            writers,
        }
    }

    /// Starts a control plane whose API server may be killed. Writers use a second API server.
    pub fn to_break(label: &str) -> Plane {
        let shared = Plane::to_share(label);
        let writers = shared.control.second_api_server();
        Plane { writers, ..shared }
    }

    /// A client for a writer.
    pub async fn api(&self) -> Api {
        Api::new(&self.writers).await
    }

    /// A proxy in front of the API server.
    pub fn proxy(&self, protocol: Protocol, seed: u64) -> FaultProxy {
        let server = self.control.api_server();
        let sides = match protocol {
            Protocol::Bytes => Sides::plain(server),
            Protocol::Http => tls::sides(server, &self.control.certificate()),
        };
        FaultProxy::start(protocol, sides, seed)
    }

    /// The current token of `dev`.
    pub fn token(&self) -> String {
        let kubeconfig = fs::read_to_string(self.control.dev()).unwrap();
        let (_, token) = kubeconfig.split_once("{token: ").unwrap();
        token.split('}').next().unwrap().to_owned()
    }

    /// Grants `dev` the right to read a namespace.
    pub async fn grant(&self, api: &Api, namespace: &str) {
        let role = json!({
            "apiVersion": GROUP, "kind": "Role", "metadata": { "name": "reader" },
            "rules": KINDS.map(|kind| {
                let resource = kind.resource(namespace);
                let (plural, group) = resource.split_once('.').unwrap_or((&resource, ""));
                json!({ "apiGroups": [group], "resources": [plural], "verbs": ["get", "list", "watch"] })
            }),
        });
        let binding = json!({
            "apiVersion": GROUP, "kind": "RoleBinding", "metadata": { "name": "reader" },
            "roleRef": { "apiGroup": "rbac.authorization.k8s.io", "kind": "Role", "name": "reader" },
            "subjects": [{ "apiGroup": "rbac.authorization.k8s.io", "kind": "User", "name": "dev" }],
        });
        create(api, &path(namespace, "roles"), &role).await;
        create(api, &path(namespace, "rolebindings"), &binding).await;
    }

    /// Revokes that right.
    pub async fn revoke(&self, api: &Api, namespace: &str) {
        let path = format!("{}/reader", path(namespace, "rolebindings"));
        api.delete(&path).await.unwrap();
    }

    /// Compacts etcd to its current revision.
    pub fn compact(&self) {
        self.etcd.compact(self.etcd.catch_up());
    }

    /// Saves a copy of etcd's data.
    pub fn save(&self) {
        self.etcd.catch_up();
        self.control.save_storage();
        self.etcd.ledger().saved();
    }

    /// Restores etcd from that copy.
    pub fn restore(&self) {
        self.etcd.catch_up();
        self.control.restore_storage();
        self.etcd.restored();
        self.control.start_api_server();
        self.control.second_api_server();
    }
}

impl AsRef<Plane> for Plane {
    fn as_ref(&self) -> &Plane {
        self
    }
}

const GROUP: &str = "rbac.authorization.k8s.io/v1";

fn path(namespace: &str, plural: &str) -> String {
    format!("/apis/{GROUP}/namespaces/{namespace}/{plural}")
}

async fn create(api: &Api, path: &str, object: &Value) {
    match api.create(path, object).await {
        Ok(()) | Err(Refusal::Exists) => {}
        other => panic!("{path}: {other:?}"),
    }
}
