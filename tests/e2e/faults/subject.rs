//! The program under test, as `changes -o json`, and its records.

use std::collections::{HashMap, HashSet};
use std::fs::File;
use std::io::{BufRead, BufReader, Write};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::sync::{Arc, Condvar, Mutex};
use std::thread::{self, JoinHandle};
use std::time::Duration;

use serde_json::Value;

use super::credentials::kept;
use super::ledger::{Truth, What};
use super::objects::{KINDS, Kind, counter};

/// The meaning of a record for the verdict.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Record {
    Printed(Printed),
    Gap(Gap),
    /// A new state of a source.
    State(String),
    /// The first listing of a source.
    Synced,
    /// An unreadable line or version.
    Undecodable,
    /// Any other record.
    Other,
}

/// One version of an object, or its deletion.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Printed {
    pub kind: Kind,
    pub uid: String,
    pub what: What,
    /// Whether it was read back.
    pub past: bool,
}

/// A gap: versions may be missing.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Gap {
    pub kind: Kind,
    pub after: u64,
    pub upto: u64,
    pub cause: String,
}

impl Record {
    /// Parses one record of a run in this namespace.
    pub fn read(line: &str, namespace: &str) -> Record {
        let record: Value = serde_json::from_str(line).unwrap();
        let revision = |name: &str| {
            let text = record[name].as_str().unwrap_or_default();
            text.parse().unwrap_or_default()
        };
        match record["type"].as_str().unwrap() {
            "gap" => Record::Gap(Gap {
                kind: source(&record, namespace),
                after: revision("after"),
                upto: revision("upto"),
                cause: record["cause"].as_str().unwrap().to_owned(),
            }),
            "state" => Record::State(record["state"].as_str().unwrap().to_owned()),
            "synced" => Record::Synced,
            "undecodable" => Record::Undecodable,
            "created" | "recreated" | "modified" | "deleted" => printed(&record),
            _ => Record::Other,
        }
    }
}

fn source(record: &Value, namespace: &str) -> Kind {
    let source = record["source"].as_str().unwrap();
    let is_of = |kind: &Kind| source.starts_with(&kind.resource(namespace));
    KINDS
        .into_iter()
        .find(is_of)
        .expect("the source is one of the three kinds")
}

fn printed(record: &Value) -> Record {
    let object = &record["ref"];
    let Some(kind) = Kind::of(object["kind"].as_str().unwrap()) else {
        return Record::Other;
    };
    let is_number =
        |change: &&Value| change["path"].as_str().unwrap().rsplit('.').next() == Some("n");
    let number = match record["type"].as_str().unwrap() {
        "deleted" => None,
        "modified" => {
            let changes = record["changes"].as_array().unwrap();
            let change = changes.iter().find(is_number);
            let change = change.unwrap_or_else(|| panic!("no number in {record}"));
            Some(change["new"].as_str().unwrap().parse().unwrap())
        }
        _ => counter(&record["object"]),
    };
    Record::Printed(Printed {
        kind,
        uid: object["uid"].as_str().unwrap().to_owned(),
        what: number.map_or(What::Gone, What::Version),
        past: record["past"] == true,
    })
}

/// A running program. Dropping it ends the process.
pub struct Subject {
    child: Child,
    heard: Arc<Heard>,
    reader: Option<JoinHandle<()>>,
    errors: PathBuf,
}

#[derive(Default)]
struct Heard {
    records: Mutex<Vec<Record>>,
    more: Condvar,
}

impl Subject {
    /// Starts the program on all kinds of a namespace. Its output goes to two files with this label.
    pub fn start(kubeconfig: &Path, namespace: &str, label: &str) -> Subject {
        let types = KINDS.map(|kind| kind.resource(namespace));
        let errors = kept(label, "stderr");
        let mut command = Command::new(env!("CARGO_BIN_EXE_kubectl-spy"));
        command
            .args(["changes", &types.join(","), "-n", namespace])
            .args(["--since=0", "-o=json"])
            .env_clear()
            .env("KUBECONFIG", kubeconfig)
            .env("TZ", "UTC")
            .stdin(Stdio::null())
            .stdout(Stdio::piped())
            .stderr(File::create(&errors).unwrap());
        let mut child = command.spawn().unwrap();
        let mut lines = BufReader::new(child.stdout.take().unwrap()).lines();
        let heard = Arc::new(Heard::default());
        let (shared, namespace) = (heard.clone(), namespace.to_owned());
        let mut copy = File::create(kept(label, "ndjson")).unwrap();
        let reader = thread::spawn(move || {
            while let Some(Ok(line)) = lines.next() {
                writeln!(copy, "{line}").unwrap();
                let record = Record::read(&line, &namespace);
                shared.records.lock().unwrap().push(record);
                shared.more.notify_all();
            }
        });
        let reader = Some(reader);
        Subject {
            child,
            heard,
            reader,
            errors,
        }
    }

    /// Waits until all its sources have been listed. Returns whether that happened in time.
    pub fn is_synced(&self, patience: Duration) -> bool {
        let synced = |record: &&Record| **record == Record::Synced;
        self.until(patience, |records| {
            records.iter().filter(synced).count() == KINDS.len()
        })
    }

    /// The process id.
    pub fn pid(&self) -> u32 {
        self.child.id()
    }

    /// The number of records so far.
    pub fn count(&self) -> usize {
        self.heard.records.lock().unwrap().len()
    }

    /// Waits until this holds for all records so far. Returns whether that happened in time.
    pub fn until(&self, patience: Duration, mut holds: impl FnMut(&[Record]) -> bool) -> bool {
        let records = self.heard.records.lock().unwrap();
        let more = &self.heard.more;
        let waits = |records: &mut Vec<Record>| !holds(records);
        let (_records, waited) = more.wait_timeout_while(records, patience, waits).unwrap();
        !waited.timed_out()
    }

    /// Waits until the last version of each object is printed. Returns whether that happened in time.
    pub fn catches_up(&self, truth: &Truth, patience: Duration) -> bool {
        let mut behind = Behind::new(truth);
        self.until(patience, |records| behind.is_empty_after(records))
    }

    /// Ends the program with Ctrl-C; returns all records, and its errors. That it waits as long as a server asks is
    /// none: a server that starts asks for five seconds.
    pub fn interrupt(mut self) -> (Vec<Record>, String) {
        let pid = self.pid().to_string();
        let kill = Command::new("kill").args(["-INT", &pid]).status();
        assert!(kill.unwrap().success());
        self.reader.take().unwrap().join().unwrap();
        self.child.wait().unwrap();
        let records = std::mem::take(&mut *self.heard.records.lock().unwrap());
        let stderr = std::fs::read_to_string(&self.errors).unwrap();
        let is_error = |line: &&str| !line.starts_with("! waiting for ");
        let errors: Vec<&str> = stderr.lines().filter(is_error).collect();
        (records, errors.join("\n"))
    }
}

impl Drop for Subject {
    fn drop(&mut self) {
        let _already_gone = self.child.kill();
        let _reaped = self.child.wait();
    }
}

/// The objects whose last version is not printed yet.
struct Behind {
    there: HashMap<String, What>,
    uids: HashSet<String>,
    read: usize,
}

impl Behind {
    fn new(truth: &Truth) -> Behind {
        let last = truth.last().into_iter();
        let there: HashMap<String, What> = last.map(|entry| (entry.uid, entry.what)).collect();
        Behind {
            uids: there.keys().cloned().collect(),
            there,
            read: 0,
        }
    }

    fn is_empty_after(&mut self, records: &[Record]) -> bool {
        for record in &records[self.read..] {
            let Record::Printed(printed) = record else {
                continue;
            };
            let last = self.there.get(&printed.uid).unwrap_or(&What::Gone);
            if printed.what == *last {
                self.uids.remove(&printed.uid);
            } else {
                self.uids.insert(printed.uid.clone());
            }
        }
        self.read = records.len();
        self.uids.is_empty()
    }
}
