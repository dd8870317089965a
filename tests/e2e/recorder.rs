//! `record` while the API server is killed, and while the storage is restored from a copy: the record has every write that the
//! server took, once, and nothing else. A writer counts in a `ConfigMap`, through a second API server.

use std::fs;
use std::path::PathBuf;
use std::time::{Duration, Instant};

use serde_json::Value;

use super::controlplane::ControlPlane;
use super::support::{Running, Spy};

/// A control plane, its writer, and a recorder of it.
struct Recorded {
    plane: ControlPlane,
    /// The kubeconfig of the second API server.
    second: String,
    store: PathBuf,
    recorder: Option<Running>,
    /// The last number that was written.
    number: u32,
}

impl Recorded {
    fn start(label: &str) -> Recorded {
        let plane = ControlPlane::without_controllers(label);
        let second = plane.second_api_server();
        let store = PathBuf::from(env!("CARGO_TARGET_TMPDIR")).join(format!("store-{label}"));
        let _left_over = fs::remove_dir_all(&store);
        let mut recorded = Recorded {
            plane,
            second,
            store,
            recorder: None,
            number: 0,
        };
        recorded.kubectl(&["create", "configmap", "counter", "--from-literal=n=0"]);
        let folder = recorded.store.to_str().unwrap().to_owned();
        let spy = Spy::with_kubeconfig(recorded.plane.admin());
        let mut program = spy.start(&["record", "cm", "-n", "default", "--store", &folder]);
        program.until("recording");
        recorded.recorder = Some(program);
        recorded.until_recorded(0);
        recorded
    }

    fn kubectl(&self, args: &[&str]) {
        let second = ["--kubeconfig", &self.second];
        self.plane.kubectl(&[&second[..], args].concat());
    }

    /// Writes the next numbers.
    fn count(&mut self, times: u32) {
        for _ in 0..times {
            self.number += 1;
            let patch = format!(r#"{{"data":{{"n":"{}"}}}}"#, self.number);
            self.kubectl(&["patch", "configmap", "counter", "-p", &patch]);
        }
    }

    fn until(&mut self, text: &str) {
        self.recorder.as_mut().unwrap().until(text);
    }

    /// The records of `store export`.
    fn exported(&self) -> Vec<Value> {
        let place = self.store.to_str().unwrap();
        let ran = Spy::alone().run(&["store", "export", "--store", place]);
        let records = ran.stdout.lines().map(serde_json::from_str);
        records.map(Result::unwrap).collect()
    }

    /// The recorded numbers, in the order of the record.
    fn numbers(&self) -> Vec<u32> {
        let records = self.exported();
        let counters = records.iter().filter(|it| it["name"] == "counter");
        let number = |record: &Value| record["object"]["data"]["n"].as_str()?.parse().ok();
        counters.filter_map(number).collect()
    }

    /// The holes of the record, as the revisions around them.
    fn holes(&self) -> Vec<(u64, u64)> {
        let number = |value: &Value| value.as_str().and_then(|text| text.parse().ok());
        let records = self.exported();
        let holes = records
            .iter()
            .filter_map(|it| Some((number(&it["after"])?, number(&it["upto"])?)));
        holes.collect()
    }

    fn until_recorded(&self, number: u32) {
        let deadline = Instant::now() + Duration::from_secs(120);
        while !self.numbers().contains(&number) {
            assert!(
                Instant::now() < deadline,
                "{number} is not recorded: {:?}",
                self.numbers()
            );
        }
    }

    /// Ends the recorder. Returns what it printed last.
    fn finish(&mut self) -> String {
        let ran = self.recorder.take().unwrap().interrupt();
        ran.stderr.lines().last().unwrap_or_default().to_owned()
    }
}

impl Drop for Recorded {
    fn drop(&mut self) {
        let _gone = fs::remove_dir_all(&self.store);
    }
}

#[test]
fn a_killed_api_server_leaves_no_hole_in_a_record() {
    let mut recorded = Recorded::start("recorder-killed");
    recorded.count(3);
    recorded.plane.kill_api_server();
    recorded.until("retrying");
    recorded.count(5);
    // An object that came and went while nobody recorded.
    recorded.kubectl(&["create", "configmap", "short"]);
    recorded.kubectl(&["delete", "configmap", "short"]);
    recorded.plane.start_api_server();
    recorded.until(": live");
    recorded.count(2);
    recorded.until_recorded(10);
    let last = recorded.finish();
    assert!(last.contains(" 0 gaps"), "{last}");
    assert_eq!(recorded.numbers(), (0..=10).collect::<Vec<u32>>());
    assert_eq!(recorded.holes(), []);
    let whys: Vec<Value> = recorded
        .exported()
        .into_iter()
        .filter(|it| it["name"] == "short")
        .map(|it| it["why"].clone())
        .collect();
    assert_eq!(whys, ["Added", "Deleted"]);
}

#[test]
fn a_restored_storage_begins_another_history_in_a_record() {
    let mut recorded = Recorded::start("recorder-restored");
    recorded.count(3);
    recorded.plane.save_storage();
    recorded.count(3);
    recorded.until_recorded(6);
    recorded.plane.restore_storage();
    recorded.plane.start_api_server();
    recorded.second = recorded.plane.second_api_server();
    recorded.until("restored or replaced");
    recorded.until(": live");
    recorded.count(2);
    recorded.until_recorded(8);
    let last = recorded.finish();
    assert!(last.contains(" 1 gap"), "{last}");
    // The restored state is listed once more, and 4 to 6 stay as what they were: another history.
    assert_eq!(recorded.numbers(), [0, 1, 2, 3, 4, 5, 6, 3, 7, 8]);
    let holes = recorded.holes();
    // Other writers can have taken the storage to any revision by then.
    assert_eq!(holes.len(), 1, "{holes:?}");
    let place = recorded.store.to_str().unwrap();
    let args = ["changes", "cm/counter", "-n", "default", "--since", "all"];
    let ran = Spy::alone().run(&[&args[..], &["-o", "json", "--from", place]].concat());
    let shown = ran.stdout;
    assert!(shown.contains(r#""new":"8""#), "{shown}");
    for gone in ["4", "5", "6"] {
        assert!(!shown.contains(&format!(r#""new":"{gone}""#)), "{shown}");
    }
}
