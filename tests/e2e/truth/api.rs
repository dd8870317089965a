//! Requests to the API server as a certain field manager.

use http::Request;
use kube::config::{KubeConfigOptions, Kubeconfig};
use kube::{Client, Config};
use serde_json::Value;

use super::history::Manager;

/// A client with the administrator's rights.
#[derive(Clone)]
pub struct Api(pub Client);

/// One request.
pub struct Ask<'a> {
    pub method: &'a str,
    pub path: &'a str,
    pub manager: Manager,
    /// More parameters of the query.
    pub query: &'a str,
    pub kind: &'a str,
    pub body: Value,
}

const MERGE: &str = "application/merge-patch+json";
const JSON: &str = "application/json";
pub const APPLY: &str = "application/apply-patch+yaml";

impl Api {
    pub async fn new(kubeconfig: &str) -> Api {
        let kubeconfig = Kubeconfig::read_from(kubeconfig).unwrap();
        let options = KubeConfigOptions::default();
        let config = Config::from_custom_kubeconfig(kubeconfig, &options);
        Api(Client::try_from(config.await.unwrap()).unwrap())
    }

    /// Creates an object as a manager that no history has.
    pub async fn create(&self, path: &str, object: &Value) -> Result<Value, kube::Error> {
        let manager = Manager::Query("setup");
        self.send(&Ask::new("POST", path, manager, object.clone()))
            .await
    }

    /// Patches an object as a manager that no history has.
    pub async fn patch(&self, path: &str, body: &Value) -> Result<Value, kube::Error> {
        let manager = Manager::Query("setup");
        self.send(&Ask::new("PATCH", path, manager, body.clone()))
            .await
    }

    /// Reads an object.
    pub async fn get(&self, path: &str) -> Result<Value, kube::Error> {
        let request = Request::get(path).body(Vec::new()).unwrap();
        self.0.request(request).await
    }

    pub async fn send(&self, ask: &Ask<'_>) -> Result<Value, kube::Error> {
        let (agent, manager) = match ask.manager {
            Manager::Query(name) => ("law/1.0".to_owned(), format!("fieldManager={name}&")),
            Manager::Agent(name) => (format!("{name}/1.0 (test)"), String::new()),
        };
        let uri = format!("{}?{manager}{}", ask.path, ask.query);
        let request = Request::builder()
            .method(ask.method)
            .uri(uri.trim_end_matches(['?', '&']))
            .header("content-type", ask.kind)
            .header("user-agent", agent)
            .body(serde_json::to_vec(&ask.body).unwrap())
            .unwrap();
        self.0.request(request).await
    }
}

impl<'a> Ask<'a> {
    pub fn new(method: &'a str, path: &'a str, manager: Manager, body: Value) -> Ask<'a> {
        let kind = if method == "PATCH" { MERGE } else { JSON };
        let query = "";
        Ask {
            method,
            path,
            manager,
            query,
            kind,
            body,
        }
    }
}
