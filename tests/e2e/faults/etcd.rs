//! Reads etcd through its JSON gateway: every write, revision by revision.

use std::io::{BufRead, BufReader, Read, Write};
use std::net::{SocketAddr, TcpStream};
use std::sync::Arc;
use std::thread;
use std::time::{Duration, Instant};

use serde_json::{Value, json};

use super::ledger::{Change, Ledger};

/// The limit of any wait. No working operation takes this long.
const PATIENCE: Duration = Duration::from_secs(60);
/// The range of all keys.
const ALL: &str = "AA==";

/// A client of one etcd, and the record of all writes to it.
pub struct Etcd {
    address: SocketAddr,
    ledger: Arc<Ledger>,
}

impl Etcd {
    /// Records all writes from the first revision on.
    pub fn record(address: SocketAddr) -> Etcd {
        let ledger = Arc::new(Ledger::default());
        let etcd = Etcd { address, ledger };
        etcd.follow(0, 1);
        etcd
    }

    /// The recorded writes.
    pub fn ledger(&self) -> &Ledger {
        &self.ledger
    }

    /// Waits until all current writes are recorded; returns the last revision.
    pub fn catch_up(&self) -> u64 {
        let revision = self.revision();
        self.ledger.reach(revision, PATIENCE);
        revision
    }

    /// Compacts etcd to a revision that is already recorded.
    pub fn compact(&self, revision: u64) {
        let asked = json!({ "revision": revision.to_string() });
        self.post("/v3/kv/compaction", &asked).unwrap();
        self.ledger.compacted(revision);
    }

    /// Continues to record after a restore of etcd.
    pub fn restored(&self) {
        let begun = Instant::now();
        let revision = loop {
            match self.post("/v3/kv/range", &everything()) {
                Ok(answer) => break revision(&answer),
                Err(error) => assert!(begun.elapsed() < PATIENCE, "etcd is not back: {error}"),
            }
            thread::yield_now();
        };
        let era = self.ledger.restored(revision);
        self.follow(era, revision + 1);
    }

    fn revision(&self) -> u64 {
        revision(&self.post("/v3/kv/range", &everything()).unwrap())
    }

    /// Records the writes from this revision on, as long as etcd runs.
    fn follow(&self, era: usize, from: u64) {
        let request = json!({ "create_request": {
            "key": ALL, "range_end": ALL, "start_revision": from.to_string(),
        }});
        let mut lines = BufReader::new(send(self.address, "/v3/watch", &request).unwrap()).lines();
        let ledger = self.ledger.clone();
        thread::spawn(move || {
            let is_answer = |line: &String| line.starts_with('{');
            while let Some(Ok(line)) = lines.next() {
                if is_answer(&line) {
                    let answer: Value = serde_json::from_str(&line).unwrap();
                    ledger.add(era, changes(&answer["result"]));
                }
            }
        });
    }

    fn post(&self, path: &str, body: &Value) -> std::io::Result<Value> {
        post(self.address, path, body)
    }
}

/// Sends a request to etcd, and returns the answer.
pub fn post(address: SocketAddr, path: &str, body: &Value) -> std::io::Result<Value> {
    let mut answer = String::new();
    send(address, path, body)?.read_to_string(&mut answer)?;
    let (head, body) = answer.split_once("\r\n\r\n").unwrap_or_default();
    if head.split(' ').nth(1) != Some("200") {
        return Err(std::io::Error::other(answer));
    }
    Ok(serde_json::from_str(body)?)
}

/// Sends HTTP/1.0. Its answers end with the connection and are not chunked.
fn send(address: SocketAddr, path: &str, body: &Value) -> std::io::Result<TcpStream> {
    let body = body.to_string();
    let length = body.len();
    let mut stream = TcpStream::connect(address)?;
    write!(
        stream,
        "POST {path} HTTP/1.0\r\nContent-Length: {length}\r\n\r\n{body}"
    )?;
    Ok(stream)
}

fn everything() -> Value {
    json!({ "key": ALL, "range_end": ALL, "count_only": true })
}

fn revision(answer: &Value) -> u64 {
    number(&answer["header"]["revision"])
}

/// Parses a number, which is a string. A missing one is 0.
fn number(value: &Value) -> u64 {
    value.as_str().map_or(0, |text| text.parse().unwrap())
}

/// The changes in one answer of a watch.
fn changes(result: &Value) -> impl Iterator<Item = Change> {
    assert_ne!(result["canceled"], true, "etcd ends the watch: {result}");
    let events = result["events"].as_array().into_iter().flatten();
    events.map(|event| {
        let kv = &event["kv"];
        let key = String::from_utf8(base64(kv["key"].as_str().unwrap())).unwrap();
        let value = kv["value"].as_str().map(base64);
        Change {
            key,
            revision: number(&kv["mod_revision"]),
            value: value.filter(|_| event["type"] != "DELETE"),
        }
    })
}

fn base64(text: &str) -> Vec<u8> {
    let sextet = |byte: u8| match byte {
        b'A'..=b'Z' => byte - b'A',
        b'a'..=b'z' => byte - b'a' + 26,
        b'0'..=b'9' => byte - b'0' + 52,
        b'+' => 62,
        _ => 63,
    };
    let mut bytes = Vec::with_capacity(text.len() / 4 * 3);
    for four in text.trim_end_matches('=').as_bytes().chunks(4) {
        let bits = four
            .iter()
            .fold(0_u32, |bits, byte| bits << 6 | u32::from(sextet(*byte)));
        let bits = bits << (6 * (4 - four.len()) + 8);
        bytes.extend_from_slice(&bits.to_be_bytes()[..four.len() * 3 / 4]);
    }
    bytes
}
