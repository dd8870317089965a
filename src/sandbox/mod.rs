//! An API server for tests and demos: in process, on the loopback interface, read-only over HTTP.
//!
//! It stores every version of its objects as kube-apiserver does. It serves discovery, GET, LIST and WATCH
//! with the same messages. Injected faults make it fail as networks and servers do. Tests and scenarios write
//! to it directly.
//!
//! ```
//! use kubectl_spy::sandbox::{Effect, End, Fault, Options, Place, Sandbox, Verb, Writer};
//!
//! # #[tokio::main(flavor = "current_thread")]
//! # async fn main() -> Result<(), Box<dyn std::error::Error>> {
//! let noon: jiff::Timestamp = "2026-03-02T12:00:00Z".parse()?;
//! let sandbox = Sandbox::start(Options::new(std::sync::Arc::new(move || noon))).await?;
//! let flags = serde_json::json!({
//!     "apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "flags", "namespace": "shop"}, "data": {"a": "on"},
//! });
//! sandbox.create(flags, &Writer::new("kubectl-create"))?;
//! // The second watch of ConfigMaps from now on is reset after its third event.
//! let reset = Effect::Cut { at: Place::AfterEvents(3), end: End::Reset };
//! sandbox.inject(Fault::on(Verb::Watch, "configmaps", reset).nth(2));
//! println!("kubectl --server={} get cm -A -w", sandbox.url());
//! # Ok(())
//! # }
//! ```

mod answer;
mod discovery;
#[cfg_attr(
    not(any(test, feature = "testing")),
    expect(dead_code, reason = "only tests inject faults")
)]
mod fault;
mod feed;
mod fields;
mod kinds;
mod list;
mod logs;
mod managed_fields;
mod port;
mod reply;
mod requests;
mod route;
pub mod scenario;
mod select;
mod serve;
mod state;
mod status;
mod store;
mod table;
#[cfg(any(test, feature = "testing"))]
mod testing;
#[cfg(test)]
mod tests;
mod view;
mod watch;
mod wire;
mod write;

use std::io;
use std::net::SocketAddr;
use std::sync::{Arc, Mutex};

use jiff::Timestamp;
use serde_json::Value;

use port::LoopbackPort;
use serve::Server;
use state::ServerState;
use store::{VersionStore, VersionText};
use write::Stamp;

pub use fault::{BadLine, Effect, End, ErrorBody, Expiry, Fault, Framing, Place, Verb};
pub use kinds::{Kind, KindOrigin};
pub use requests::Request;
pub use state::{Clock, Options, Permission, Rule, User};
pub use store::{Change, Record};
#[cfg(any(test, feature = "testing"))]
pub use testing::Connection;
pub use write::{Deletion, Target, WriteError, Writer};

/// A running API server. Dropping it ends all its tasks and connections.
pub struct Sandbox {
    shared: Arc<ServerState>,
    port: LoopbackPort,
    server: Option<Server>,
}

impl Drop for Sandbox {
    fn drop(&mut self) {
        if let Some(server) = &self.server {
            server.abort();
        }
    }
}

impl Sandbox {
    /// Starts a server on a free port of the loopback interface.
    #[expect(
        clippy::unused_async,
        reason = "it spawns tasks, so callers must be inside a runtime"
    )]
    pub async fn start(options: Options) -> io::Result<Self> {
        let mut kinds = kinds::built_in();
        kinds.extend(options.kinds);
        let version_text = VersionText::new(options.version_prefix);
        let shared = Arc::new(ServerState {
            store: VersionStore::new(kinds, options.revision, version_text, options.seed),
            version_text,
            clock: options.clock,
            date: options.date,
            faults: fault::ActiveFaults::default(),
            users: Mutex::new(options.users),
            journal: requests::Journal::default(),
            bookmark_interval: options.bookmark_interval,
            namespace: options.namespace,
            logs: logs::LogStore::default(),
        });
        for fault in options.faults {
            shared.faults.inject(fault);
        }
        let (port, listener) = LoopbackPort::free()?;
        let server = Server::start(listener, &shared);
        Ok(Self {
            shared,
            port,
            server: Some(server),
        })
    }

    /// `http://127.0.0.1:PORT`.
    pub fn url(&self) -> String {
        format!("http://{}", self.address())
    }

    /// The address that the server listens on.
    pub fn address(&self) -> SocketAddr {
        self.port.address
    }

    /// The server's clock.
    pub fn now(&self) -> Timestamp {
        (self.shared.clock)()
    }

    /// The current version of an object.
    pub fn get(&self, target: &Target) -> Option<Value> {
        self.shared.store.read(target)
    }

    /// The objects of a resource in a namespace (empty: cluster-wide ones), by name.
    pub fn list(&self, resource: &str, namespace: &str) -> Vec<Value> {
        self.shared.store.read_all(resource, namespace, |_| true)
    }

    /// Creates an object. Unlike over the API, its status is stored too.
    pub fn create(&self, object: Value, by: &Writer) -> Result<Value, WriteError> {
        self.shared.store.create(object, &self.stamp(by))
    }

    /// Replaces an object. If the object has a `resourceVersion`, it must be the current one.
    pub fn update(&self, object: Value, by: &Writer) -> Result<Value, WriteError> {
        self.shared.store.update(object, &self.stamp(by))
    }

    /// Applies a JSON merge patch (RFC 7396).
    pub fn patch(&self, target: &Target, patch: &Value, by: &Writer) -> Result<Value, WriteError> {
        self.shared.store.patch(target, patch, &self.stamp(by))
    }

    /// Deletes an object, or marks it as terminating if it has a grace period or finalizers.
    pub fn delete(
        &self,
        target: &Target,
        deletion: Deletion,
        by: &Writer,
    ) -> Result<Value, WriteError> {
        self.shared.store.delete(target, deletion, &self.stamp(by))
    }

    /// Appends a line to the log of a container, as its program prints it. `id` is the ID of the instance.
    pub fn print(&self, id: &str, at: Timestamp, text: &[u8]) {
        self.shared.logs.append(id, at, text);
    }

    /// Waits until the requests so far satisfy `is_enough`, and returns them.
    pub async fn requests_until(&self, is_enough: impl Fn(&[Request]) -> bool) -> Vec<Request> {
        self.shared.journal.until(is_enough).await
    }

    /// Every write after a revision.
    pub fn log_after(&self, revision: u64) -> Vec<Record> {
        self.shared.store.records(revision)
    }

    /// Compacts the versions that were replaced before a revision: reads at older revisions return 410.
    pub fn compact(&self, revision: u64) {
        let mut store = self.shared.store.lock();
        store.compacted = store.compacted.max(revision.min(store.revision));
    }

    /// Empties the watch cache: watches from older revisions return 410.
    pub fn expire_watch_window(&self) {
        let mut store = self.shared.store.lock();
        store.window = store.revision;
    }

    fn stamp<'w>(&self, writer: &'w Writer) -> Stamp<'w> {
        Stamp {
            writer,
            now: writer.time.unwrap_or_else(|| self.now()),
        }
    }
}
