//! Writes numbered changes to an API server directly, not through the proxy.

use std::collections::BTreeSet;
use std::time::{Duration, Instant};

use kube::config::{KubeConfigOptions, Kubeconfig};
use kube::{Client, Config};
use serde_json::{Value, json};

use super::objects::{KINDS, Kind, Place, definition, object, patch};

/// The limit of any wait. No working operation takes this long.
const PATIENCE: Duration = Duration::from_secs(60);

/// A client with the administrator's rights.
#[derive(Clone)]
pub struct Api(Client);

/// How a request failed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Refusal {
    /// The object does not exist, or its kind is not served.
    Missing,
    /// The object already exists.
    Exists,
    /// Any other error: the server is down or starting.
    Away,
}

impl Api {
    pub async fn new(kubeconfig: &str) -> Api {
        let kubeconfig = Kubeconfig::read_from(kubeconfig).unwrap();
        let options = KubeConfigOptions::default();
        let config = Config::from_custom_kubeconfig(kubeconfig, &options);
        Api(Client::try_from(config.await.unwrap()).unwrap())
    }

    pub async fn create(&self, path: &str, object: &Value) -> Result<(), Refusal> {
        self.send("POST", path, object).await.map(drop)
    }

    pub async fn delete(&self, path: &str) -> Result<(), Refusal> {
        self.send("DELETE", path, &json!({})).await.map(drop)
    }

    async fn send(&self, method: &str, path: &str, body: &Value) -> Result<Value, Refusal> {
        let kind = match method {
            "PATCH" => "application/merge-patch+json",
            _ => "application/json",
        };
        let request = http::Request::builder()
            .method(method)
            .uri(path)
            .header("content-type", kind)
            .body(serde_json::to_vec(body).unwrap())
            .unwrap();
        self.0.request(request).await.map_err(|error| match error {
            kube::Error::Api(status) if status.code == 404 => Refusal::Missing,
            kube::Error::Api(status) if status.code == 409 => Refusal::Exists,
            _ => Refusal::Away,
        })
    }

    /// Creates the namespace and the custom kind of a schedule.
    pub async fn prepare(&self, namespace: &str) {
        let metadata = json!({ "name": namespace });
        let object = json!({ "apiVersion": "v1", "kind": "Namespace", "metadata": metadata });
        self.create("/api/v1/namespaces", &object).await.unwrap();
        self.define(namespace).await;
    }

    /// Creates the custom kind of a namespace, and waits until it is served.
    pub async fn define(&self, namespace: &str) {
        let begun = Instant::now();
        let definition = definition(namespace);
        // A deleted definition exists until its last object is deleted.
        while self.create(DEFINITIONS, &definition).await.is_err() {
            assert!(begun.elapsed() < PATIENCE, "the kind cannot be created");
        }
        let path = Kind::Counter.path(namespace);
        while self.send("GET", &path, &json!({})).await.is_err() {
            assert!(begun.elapsed() < PATIENCE, "the kind is not served");
        }
    }

    /// Deletes the custom kind of a namespace, with all its objects.
    pub async fn undefine(&self, namespace: &str) {
        let path = format!("{DEFINITIONS}/{}", Kind::Counter.resource(namespace));
        self.delete(&path).await.unwrap();
    }
}

const DEFINITIONS: &str = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions";

/// Writes the objects of one namespace.
pub struct Writer {
    pub api: Api,
    pub namespace: String,
    rng: fastrand::Rng,
    number: u64,
    names: Vec<Place>,
    there: BTreeSet<Place>,
}

impl Writer {
    /// A writer for this many objects of each kind.
    pub fn new(api: Api, namespace: &str, objects: usize, seed: u64) -> Writer {
        let place = |kind| {
            (0..objects).map(move |nth| Place {
                kind,
                namespace: namespace.to_owned(),
                name: format!("o-{nth}"),
            })
        };
        Writer {
            api,
            namespace: namespace.to_owned(),
            rng: fastrand::Rng::with_seed(seed),
            number: 0,
            names: KINDS.into_iter().flat_map(place).collect(),
            there: BTreeSet::new(),
        }
    }

    /// Creates, changes, deletes or re-creates this many objects, each chosen at random.
    pub async fn write(&mut self, changes: u32) {
        for _ in 0..changes {
            let place = self.names[self.rng.usize(..self.names.len())].clone();
            if self.rng.u32(..12) == 0 && self.there.contains(&place) {
                self.delete(&place).await;
                if self.rng.bool() {
                    self.put(&place).await;
                }
            } else {
                self.put(&place).await;
            }
        }
    }

    /// Writes one more version of each object. Afterwards all objects exist.
    pub async fn write_each(&mut self) {
        for place in self.names.clone() {
            let begun = Instant::now();
            while !self.put(&place).await {
                assert!(begun.elapsed() < PATIENCE, "{place:?} cannot be written");
            }
        }
    }

    /// Writes a version with the next number; returns whether that succeeded.
    async fn put(&mut self, place: &Place) -> bool {
        self.number += 1;
        let path = place.kind.path(&place.namespace);
        let done = if self.there.contains(place) {
            let object = format!("{path}/{}", place.name);
            let change = patch(place.kind, self.number);
            self.api.send("PATCH", &object, &change).await.map(drop)
        } else {
            self.api.create(&path, &object(place, self.number)).await
        };
        self.learn(place, done);
        done.is_ok()
    }

    async fn delete(&mut self, place: &Place) {
        let path = format!("{}/{}", place.kind.path(&place.namespace), place.name);
        let done = self.api.delete(&path).await;
        self.learn(place, done.and(Err(Refusal::Missing)));
    }

    /// Learns from an answer whether the object exists.
    fn learn(&mut self, place: &Place, done: Result<(), Refusal>) {
        match done {
            Ok(()) | Err(Refusal::Exists) => self.there.insert(place.clone()),
            Err(Refusal::Missing) => self.there.remove(place),
            Err(Refusal::Away) => false,
        };
    }
}
