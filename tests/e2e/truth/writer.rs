//! Writes a history to the API server. Whether a request is accepted does not matter: the audit log has the truth.

use std::collections::HashMap;

use serde_json::{Value, json};

use super::api::{APPLY, Api, Ask};
use super::history::{Act, Edit, Force, History, Manager, Stamp, Step};
use super::objects::{Name, set, unset, value};

/// Writes the history of one namespace.
pub struct Writer {
    api: Api,
    namespace: String,
    /// The next value of a field. Each is written once.
    number: u64,
    kept: HashMap<Name, Value>,
}

impl Writer {
    pub fn new(api: Api, namespace: String) -> Writer {
        Writer {
            api,
            namespace,
            number: 0,
            kept: HashMap::new(),
        }
    }

    /// Writes the whole history.
    pub async fn write(mut self, history: &History) {
        for step in &history.steps {
            tokio::time::sleep(step.pause).await;
            self.step(step).await;
        }
    }

    async fn step(&mut self, step: &Step) {
        let (object, manager) = (step.object, step.manager);
        match step.act {
            Act::Create => self.create(object, manager).await,
            Act::Restore => {
                self.delete(object, manager).await;
                self.restore(object, manager).await;
            }
            Act::Patch(edit) => self.patch(object, manager, edit).await,
            Act::Keep => {
                if let Some(there) = self.read(object).await {
                    self.kept.insert(object, there);
                }
            }
            Act::ReplaceByDump(edit) => {
                if let Some(dump) = self.kept.get(&object).cloned() {
                    self.replace(object, manager, dump, edit).await;
                }
            }
            Act::ReplaceStamped(stamp, edit) => {
                if let Some(mut there) = self.read(object).await {
                    stamped(&mut there, stamp);
                    self.replace(object, manager, there, edit).await;
                }
            }
            Act::Apply(fields, force) => self.apply(object, manager, fields, force).await,
            Act::Status(edit) => self.status(object, manager, edit).await,
            Act::Scale => self.scale(object, manager).await,
            Act::Bind => self.bind(object, manager).await,
            Act::ClearManagers => {
                let patch = json!({ "metadata": { "managedFields": [{}] } });
                self.send("PATCH", &self.path(object), manager, patch).await;
            }
            Act::Delete => self.delete(object, manager).await,
            Act::Recreate => {
                self.delete(object, manager).await;
                self.create(object, manager).await;
            }
            Act::DeleteWithFinalizer => self.finalize(object, manager).await,
        }
    }

    async fn create(&mut self, object: Name, manager: Manager) {
        let mut body = object.kind.bare(object.name, &self.namespace);
        set(object.kind, &mut body, "a", self.next());
        let path = object.kind.path(&self.namespace);
        self.send("POST", &path, manager, body).await;
    }

    async fn restore(&mut self, object: Name, manager: Manager) {
        let Some(mut dump) = self.kept.get(&object).cloned() else {
            return;
        };
        if let Some(metadata) = dump["metadata"].as_object_mut() {
            metadata.remove("resourceVersion");
        }
        let path = object.kind.path(&self.namespace);
        self.send("POST", &path, manager, dump).await;
    }

    async fn patch(&mut self, object: Name, manager: Manager, edit: Edit) {
        let mut patch = json!({});
        let (set_it, unset_it) = edit.fields();
        if let Some(field) = unset_it {
            set(object.kind, &mut patch, field, Value::Null);
        }
        if let Some(field) = set_it {
            set(object.kind, &mut patch, field, self.next());
        }
        self.send("PATCH", &self.path(object), manager, patch).await;
    }

    /// Replaces an object as `kubectl replace` does: with the current version, so that it is accepted.
    #[expect(clippy::too_many_arguments, reason = "who writes what to which object")]
    async fn replace(&mut self, object: Name, manager: Manager, mut body: Value, edit: Edit) {
        let Some(there) = self.read(object).await else {
            return;
        };
        let (set_it, unset_it) = edit.fields();
        if let Some(field) = unset_it {
            unset(object.kind, &mut body, field);
        }
        if let Some(field) = set_it {
            set(object.kind, &mut body, field, self.next());
        }
        for field in ["resourceVersion", "uid"] {
            body["metadata"][field] = there["metadata"][field].clone();
        }
        self.send("PUT", &self.path(object), manager, body).await;
    }

    #[expect(clippy::too_many_arguments, reason = "who writes what to which object")]
    async fn apply(&mut self, object: Name, manager: Manager, fields: &[&str], force: Force) {
        let mut body = object.kind.bare(object.name, &self.namespace);
        for field in fields {
            set(object.kind, &mut body, field, self.next());
        }
        let path = self.path(object);
        // An apply names its manager in the query.
        let (Manager::Query(name) | Manager::Agent(name)) = manager;
        let query = match force {
            Force::Yes => "force=true",
            Force::No => "force=false",
        };
        let ask = Ask {
            query,
            kind: APPLY,
            ..Ask::new("PATCH", &path, Manager::Query(name), body)
        };
        let _accepted = self.api.send(&ask).await;
    }

    async fn status(&mut self, object: Name, manager: Manager, edit: Edit) {
        let mut status = json!({});
        let (set_it, unset_it) = edit.fields();
        for (field, is_set) in [(unset_it, false), (set_it, true)] {
            let Some(field) = field else { continue };
            self.number += u64::from(is_set);
            let written = object.kind.status(field, is_set.then_some(self.number));
            let written = written.as_object().unwrap().clone();
            status.as_object_mut().unwrap().extend(written);
        }
        let path = format!("{}/status", self.path(object));
        let body = json!({ "status": status });
        self.send("PATCH", &path, manager, body).await;
    }

    async fn scale(&mut self, object: Name, manager: Manager) {
        self.number += 1;
        let path = format!("{}/scale", self.path(object));
        let body = json!({ "spec": { "replicas": self.number } });
        self.send("PATCH", &path, manager, body).await;
    }

    async fn bind(&mut self, object: Name, manager: Manager) {
        let path = format!("{}/binding", self.path(object));
        let binding = json!({
            "apiVersion": "v1", "kind": "Binding",
            "metadata": { "name": object.name }, "target": { "kind": "Node", "name": "node-1" },
        });
        self.send("POST", &path, manager, binding).await;
    }

    /// A bound Pod would wait for its kubelet.
    async fn delete(&mut self, object: Name, manager: Manager) {
        let now = json!({ "gracePeriodSeconds": 0 });
        self.send("DELETE", &self.path(object), manager, now).await;
    }

    async fn finalize(&mut self, object: Name, manager: Manager) {
        let path = self.path(object);
        for held in [json!(["law.example.com/held"]), Value::Null] {
            let is_held = !held.is_null();
            let body = json!({ "metadata": { "finalizers": held } });
            self.send("PATCH", &path, manager, body).await;
            if is_held {
                self.delete(object, manager).await;
            }
        }
    }

    async fn read(&self, object: Name) -> Option<Value> {
        self.api.get(&self.path(object)).await.ok()
    }

    #[expect(clippy::too_many_arguments, reason = "the parts of a request")]
    async fn send(&self, method: &str, path: &str, manager: Manager, body: Value) {
        let _accepted = self.api.send(&Ask::new(method, path, manager, body)).await;
    }

    fn path(&self, object: Name) -> String {
        object.path(&self.namespace)
    }

    fn next(&mut self) -> Value {
        self.number += 1;
        value(self.number)
    }
}

impl Edit {
    /// The fields to set and to remove.
    fn fields(self) -> (Option<&'static str>, Option<&'static str>) {
        match self {
            Edit::Nothing => (None, None),
            Edit::Set(field) => (Some(field), None),
            Edit::Remove(field) => (None, Some(field)),
            Edit::Both(set, unset) => (Some(set), Some(unset)),
        }
    }
}

/// Gives every manager of an object another time.
fn stamped(object: &mut Value, stamp: Stamp) {
    let time = match stamp {
        Stamp::Ancient => json!("2001-01-01T00:00:00Z"),
        Stamp::Distant => json!("2090-01-01T00:00:00Z"),
        Stamp::Missing => Value::Null,
        Stamp::Hours(hours) => {
            let second = jiff::Timestamp::now().as_second() + hours * 3600;
            json!(jiff::Timestamp::from_second(second).unwrap().to_string())
        }
    };
    let entries = object["metadata"]["managedFields"].as_array_mut();
    for entry in entries.into_iter().flatten() {
        entry["time"] = time.clone();
    }
}
