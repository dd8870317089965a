//! What only tests use: faults, rules, restarts, and the logs of writes and connections.

mod apply;
mod faults;
mod logs;
mod rules;

use std::io;
use std::sync::PoisonError;
use std::sync::atomic::Ordering;

use serde_json::{Value, json};
use tokio::net::TcpListener;

use super::Sandbox;
use super::fault::Fault;
use super::port::{BACKLOG, LoopbackPort, bound};
use super::requests::Request;
use super::serve::Server;
use super::state::User;
use super::store::Record;
use super::write::{WriteError, Writer};

/// One connection.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Connection {
    /// The number of bytes written to it so far.
    pub bytes: u64,
}

impl LoopbackPort {
    /// Listens again, after the earlier listener has been dropped.
    pub(super) fn listen(&self) -> io::Result<TcpListener> {
        bound(self.address)?.listen(BACKLOG)
    }
}

impl Sandbox {
    /// Breaks all connections and refuses new ones, as in a crash. The server no longer listens when this returns.
    pub async fn stop(&mut self) {
        if let Some(server) = self.server.take() {
            server.stop.cancel();
            // A panic in the task was reported in the task.
            let _ended = server.task.await;
        }
    }

    /// Starts again on the same port. Watches from before the restart cannot resume.
    pub async fn restart(&mut self) -> io::Result<()> {
        self.stop().await;
        self.expire_watch_window();
        self.server = Some(Server::start(self.port.listen()?, &self.shared));
        Ok(())
    }

    /// A kubeconfig (JSON, which is YAML) with one context per user, the first one current.
    pub fn kubeconfig(&self) -> String {
        let users = self.shared.users.lock();
        let mut users = users.unwrap_or_else(PoisonError::into_inner).clone();
        if users.is_empty() {
            users.push(User {
                name: "demo".to_owned(),
                token: String::new(),
                rules: Vec::new(),
            });
        }
        let (mut contexts, mut logins) = (Vec::new(), Vec::new());
        for User { name, token, .. } in users {
            let context = if contexts.is_empty() {
                "demo".to_owned()
            } else {
                format!("demo-{name}")
            };
            contexts.push(json!({
                "name": context,
                "context": {"cluster": "demo", "user": name, "namespace": self.shared.namespace},
            }));
            let login = if token.is_empty() {
                json!({})
            } else {
                json!({"token": token})
            };
            logins.push(json!({"name": name, "user": login}));
        }
        let config = json!({
            "apiVersion": "v1", "kind": "Config", "current-context": "demo",
            "clusters": [{"name": "demo", "cluster": {"server": self.url()}}],
            "contexts": contexts, "users": logins,
        });
        format!("{config:#}\n")
    }

    /// The newest revision.
    pub fn revision(&self) -> u64 {
        self.shared.store.lock().revision
    }

    /// Forced server-side apply: creates the object, or takes over the given fields.
    pub fn apply(&self, object: Value, by: &Writer) -> Result<Value, WriteError> {
        self.shared.store.apply(object, &self.stamp(by))
    }

    /// Every write so far.
    pub fn log(&self) -> Vec<Record> {
        self.log_after(0)
    }

    /// Every request so far.
    pub fn requests(&self) -> Vec<Request> {
        self.shared.journal.requests()
    }

    /// Every connection so far.
    pub fn connections(&self) -> Vec<Connection> {
        let connections = self.shared.journal.connections.lock();
        let connections = connections.unwrap_or_else(PoisonError::into_inner);
        let bytes = connections
            .iter()
            .map(|switch| switch.sent.load(Ordering::SeqCst));
        bytes.map(|bytes| Connection { bytes }).collect()
    }

    /// Adds an active fault.
    pub fn inject(&self, fault: Fault) {
        self.shared.faults.inject(fault);
    }

    /// Ends all faults. Their effects on running requests stay.
    pub fn clear_faults(&self) {
        self.shared.faults.clear();
    }

    /// Replaces the users. Running requests continue.
    pub fn set_users(&self, users: Vec<User>) {
        let known = self.shared.users.lock();
        *known.unwrap_or_else(PoisonError::into_inner) = users;
    }
}
