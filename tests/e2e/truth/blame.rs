//! The law about causes: who is named for a failure is who broke it, or nobody is named. After a history, Pods that need
//! what it removed fail as on a kubelet. `status` and `trace` are asked about them.

use std::collections::BTreeSet;

use jiff::Timestamp;
use serde_json::{Value, json};

use super::objects::{FIELDS, Kind, Name};
use super::plane::{Plane, block_on, namespace};
use super::report::Truth;
use super::verdict::{LATE, SLACK};
use super::write::{What, Write};

/// The objects that a Pod can need.
const NEEDED: [Name; 3] = [
    Name::of(Kind::ConfigMap, "app"),
    Name::of(Kind::ConfigMap, "flags"),
    Name::of(Kind::Secret, "db"),
];

/// The verbs that are asked, each about a Pod of its own.
const VERBS: [&str; 2] = ["status", "trace"];

/// A Pod that needs a key which its object lacks.
#[derive(Clone, Copy, Debug)]
pub struct Failing {
    pub object: Name,
    pub key: &'static str,
}

/// What was said of the causes of failures.
#[derive(Clone, Debug, Default)]
pub struct Blame {
    /// Changes with their author, who did it.
    pub named: usize,
    /// Deletions, which have no author.
    pub deletions: usize,
    /// Failures of which nothing is said.
    pub silent: usize,
    /// What is false.
    pub wrong: Vec<String>,
}

impl Blame {
    /// Adds what was said after another history.
    pub fn add(&mut self, other: Blame) {
        self.named += other.named;
        self.deletions += other.deletions;
        self.silent += other.silent;
        self.wrong.extend(other.wrong);
    }
}

impl Failing {
    /// The keys that objects of a history lack at its end, in an order drawn from its seed: first those that were taken away.
    pub fn some(truth: &Truth<'_>) -> Vec<Failing> {
        let all = NEEDED.iter().flat_map(|object| {
            FIELDS.map(|key| Failing {
                object: *object,
                key,
            })
        });
        let broken = |failing: &Failing| failing.culprit(truth.writes).is_some();
        let (mut broken, mut others): (Vec<_>, Vec<_>) = all
            .filter(|failing| failing.is_lacking(truth.writes))
            .partition(broken);
        let mut rng = fastrand::Rng::with_seed(truth.history.seed ^ 0xB1);
        rng.shuffle(&mut broken);
        rng.shuffle(&mut others);
        broken.into_iter().chain(others).collect()
    }

    fn writes(self, writes: &[Write]) -> impl DoubleEndedIterator<Item = &Write> {
        let Name { kind, name } = self.object;
        let mut writes: Vec<&Write> = writes.iter().filter(|it| it.kind == kind).collect();
        writes.retain(|write| write.name == name);
        writes.sort_by_key(|write| write.revision);
        writes.into_iter()
    }

    fn has_key(self, object: &Value) -> bool {
        !object["data"][self.key].is_null()
    }

    fn is_lacking(self, writes: &[Write]) -> bool {
        let last = self.writes(writes).next_back();
        last.is_none_or(|last| last.what == What::Deleted || !self.has_key(&last.object))
    }

    /// The newest write that took the key away, or the deletion of the object that is not there; `None` if nothing ever had
    /// the key.
    fn culprit(self, writes: &[Write]) -> Option<&Write> {
        let last = self.writes(writes).next_back();
        if let Some(deletion) = last.filter(|last| last.what == What::Deleted) {
            return Some(deletion);
        }
        let taken = |write: &&Write| match write.what {
            What::Deleted => self.has_key(&write.object),
            What::Modified => {
                write.before.as_ref().is_some_and(|it| self.has_key(it))
                    && !self.has_key(&write.object)
            }
            What::Created => false,
        };
        self.writes(writes).rev().find(taken)
    }

    fn pod(self) -> String {
        format!(
            "needs-{}-{}-{}",
            self.object.kind.word(),
            self.object.name,
            self.key
        )
    }

    /// The Pod, as its author writes it, and its status, as a kubelet does.
    fn documents(self, namespace: &str, is_there: bool) -> [Value; 2] {
        let Name { kind, name } = self.object;
        let (field, word) = match kind {
            Kind::Secret => ("secretKeyRef", "Secret"),
            _ => ("configMapKeyRef", "ConfigMap"),
        };
        let mut pod = Kind::Pod.bare(&self.pod(), namespace);
        pod["metadata"]
            .as_object_mut()
            .unwrap()
            .remove("ownerReferences");
        pod["spec"]["containers"][0]["env"] = json!([{
            "name": "NEEDED", "valueFrom": { field: { "name": name, "key": self.key } },
        }]);
        let message = if is_there {
            format!(
                "couldn't find key {} in {word} {namespace}/{name}",
                self.key
            )
        } else {
            format!("{} \"{name}\" not found", kind.word())
        };
        let waiting = json!({ "reason": "CreateContainerConfigError", "message": message });
        let container = json!({
            "name": "web", "image": "web:1", "imageID": "", "ready": false, "restartCount": 0,
            "state": { "waiting": waiting },
        });
        let status = json!({ "phase": "Pending", "containerStatuses": [container] });
        [pod, json!({ "status": status })]
    }

    /// Lets the Pod fail, and asks a verb about it.
    fn ask(self, verb: &str, plane: &Plane, truth: &Truth<'_>) -> Blame {
        let namespace = namespace(truth.history);
        let last = self.writes(truth.writes).next_back();
        let is_there = last.is_some_and(|last| last.what != What::Deleted);
        let [pod, status] = self.documents(&namespace, is_there);
        block_on(async {
            let api = super::api::Api::new(plane.control.admin()).await;
            let path = Kind::Pod.path(&namespace);
            api.create(&path, &pod).await.unwrap();
            let path = format!("{path}/{}/status", self.pod());
            api.patch(&path, &status).await.unwrap();
        });
        let args = [
            verb,
            &format!("pod/{}", self.pod()),
            &format!("--namespace={namespace}"),
            "--once",
            "--output=json",
        ];
        let ran = plane.spy().run(&args);
        let mut blame = self.judge(&ran.stdout, truth.writes);
        let culprit = self.culprit(truth.writes);
        let culprit = culprit.map_or("nobody".to_owned(), ToString::to_string);
        let command = args.join(" ");
        for why in &mut blame.wrong {
            *why = format!("$ kubectl spy {command}\n{why}\nthe cause: {culprit}");
        }
        blame
    }

    /// Judges the changes in the record of the Pod.
    pub fn judge(self, stdout: &str, writes: &[Write]) -> Blame {
        let mut blame = Blame::default();
        let records = stdout.lines().map(serde_json::from_str::<Value>);
        let mut records = records.map(Result::unwrap);
        let pod = self.pod();
        // A trace is one record of all objects.
        let is_of_pod = |it: &Value| it["ref"]["name"] == *pod || it["nodes"].is_array();
        let Some(record) = records.find(is_of_pod) else {
            blame
                .wrong
                .push(format!("no record of pod/{pod}:\n{stdout}"));
            return blame;
        };
        let changes = record["lastChanges"].as_array().into_iter().flatten();
        let of_needed: Vec<&Value> = changes.filter(|it| !it["ref"].is_null()).collect();
        blame.silent += usize::from(of_needed.is_empty());
        for change in of_needed {
            match self.falsehood(change, writes) {
                Some(why) => blame.wrong.push(format!("{why}:\n  {change}")),
                None if change["deleted"] == true => blame.deletions += 1,
                None => blame.named += usize::from(change["by"].is_string()),
            }
        }
        blame
    }

    /// Why a named change is not true; `None` if it is.
    fn falsehood(self, change: &Value, writes: &[Write]) -> Option<String> {
        let about = &change["ref"];
        let Name { kind, name } = self.object;
        if about["kind"] != format!("{kind:?}") || about["name"] != *name {
            return Some("nothing of this object is needed".to_owned());
        }
        let all: Vec<&Write> = self.writes(writes).collect();
        let by = change["by"].as_str();
        let made: Vec<&Write> = if change["deleted"] == true {
            // Only the last deletion can be why it is not there.
            let last = all.last().copied();
            last.filter(|it| it.what == What::Deleted)
                .into_iter()
                .collect()
        } else if change["created"] == true {
            let created = all.iter().copied().filter(|it| it.what == What::Created);
            created.collect()
        } else if change["written"].is_array() {
            // A write whose old values are compacted: it is his, and nothing is said of what it changed.
            all.clone()
        } else {
            let paths: BTreeSet<String> = paths(&change["changes"]);
            let changes_all = |write: &&Write| paths.iter().all(|path| changed(write, path));
            all.iter().copied().filter(changes_all).collect()
        };
        let by_whom = |write: &&Write| by.is_none_or(|by| write.by.to_string() == by);
        let mut by_him: Vec<&Write> = made.into_iter().filter(by_whom).collect();
        if by_him.is_empty() {
            return Some(format!("{} did not do it", by.unwrap_or("nobody")));
        }
        by_him.retain(|write| is_in_time(change, write));
        if by_him.is_empty() {
            return Some("it was done at another time".to_owned());
        }
        let is_cause = change["sign"] == "tied" && !change["written"].is_array();
        let culprit = self.culprit(writes).filter(|_| is_cause)?;
        let is_culprit = |write: &&Write| {
            write.revision == culprit.revision
                // What came after the deletion never had the key.
                || (write.what == What::Created && write.revision > culprit.revision)
        };
        let is_right = by_him.iter().any(is_culprit);
        (!is_right).then(|| "it is not the cause".to_owned())
    }
}

/// The paths of `data.a: 1 → 2`.
fn paths(changes: &Value) -> BTreeSet<String> {
    let texts = changes.as_array().into_iter().flatten();
    let path = |text: &Value| Some(text.as_str()?.split(": ").next()?.to_owned());
    texts.filter_map(path).collect()
}

/// Whether a write changed a field of `data`.
fn changed(write: &Write, path: &str) -> bool {
    let Some(before) = &write.before else {
        return false;
    };
    let key = path.strip_prefix("data").unwrap_or_default();
    let key = key.trim_matches(['.', '[', ']', '"']);
    let of = |object: &Value| match key {
        "" => object["data"].clone(),
        key => object["data"][key].clone(),
    };
    write.what == What::Modified && of(before) != of(&write.object)
}

/// Whether the time of a change is that of a write, or nothing is said of it.
fn is_in_time(change: &Value, write: &Write) -> bool {
    let time = |field: &str| change[field].as_str()?.parse::<Timestamp>().ok();
    let (done, received) = (write.span.done, write.span.received);
    let Some(from) = time("time") else {
        return true;
    };
    if change["about"] == true {
        let until = time("until").unwrap_or(Timestamp::MAX);
        return from <= done + SLACK && until + LATE >= received;
    }
    received - SLACK <= from && from <= done + SLACK
}

/// Lets Pods fail after a history, asks each verb about one, and judges who is blamed.
pub fn check(plane: &Plane, truth: &Truth<'_>) -> Blame {
    let mut blame = Blame::default();
    for (failing, verb) in Failing::some(truth).into_iter().zip(VERBS) {
        blame.add(failing.ask(verb, plane, truth));
    }
    blame
}
