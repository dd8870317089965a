//! Outages: the API server is killed, then all with their storage, and the storage is put back to an older
//! state. Each version is printed once, in its order.

use std::time::{Duration, Instant};

use serde_json::Value;

use super::{NAMESPACE, Server};
use crate::controlplane::kubectl;
use crate::support::{Ran, Running};

/// How long the API server is away while others write.
const AWAY: Duration = Duration::from_secs(4);

/// Sets the counter through an API server; returns false if it does not answer.
fn count(kubeconfig: &str, number: u32) -> bool {
    let patch = format!(r#"{{"data":{{"n":"{number}"}}}}"#);
    let patched = std::process::Command::new(kubectl())
        .args(["patch", "cm", "counter", "-n", NAMESPACE, "-p", &patch])
        .args(["--kubeconfig", kubeconfig])
        .env("HOME", env!("CARGO_TARGET_TMPDIR"))
        .stdout(std::process::Stdio::null())
        .status();
    patched.unwrap().success()
}

/// Follows the counter, from 0 on.
fn follow(server: &Server) -> Running {
    server.kubectl(&["create", "cm", "counter", "--from-literal=n=0"]);
    let args = [
        "changes",
        "cm/counter",
        "--since=0",
        "-o=json",
        "-n",
        NAMESPACE,
    ];
    let mut run = server.spy.start(&args);
    run.until("baseline");
    run
}

fn is(number: u32) -> String {
    format!("\"new\":\"{number}\"")
}

/// The records of a run.
fn records(ran: &Ran) -> Vec<Value> {
    ran.stdout
        .lines()
        .map(|line| serde_json::from_str(line).unwrap())
        .collect()
}

/// Ends the run, and compares what it printed with the numbers that were written.
fn end(server: &Server, run: Running, last: u32) {
    let ran = run.interrupt();
    let records = records(&ran);
    let new = records
        .iter()
        .filter_map(|record| record.pointer("/changes/0/new")?.as_str());
    let told: Vec<u32> = new.map(|new| new.parse().unwrap()).collect();
    assert_eq!(told, (1..=last).collect::<Vec<_>>(), "{}", ran.transcript());
    let gaps = records.iter().filter(|record| record["type"] == "gap");
    assert_eq!(gaps.count(), 0, "{}", ran.transcript());
    server.kubectl(&["delete", "cm", "counter"]);
}

/// The API server is killed. Others write through another one meanwhile.
pub fn api_server(server: &Server) {
    let second = server.plane.second_api_server();
    let mut run = follow(server);
    assert!(count(server.plane.admin(), 1));
    run.until(&is(1));
    server.plane.kill_api_server();
    run.until("retrying");
    let begun = Instant::now();
    let mut last = 1;
    while begun.elapsed() < AWAY {
        last += 1;
        assert!(count(&second, last));
    }
    server.plane.start_api_server();
    assert!(count(server.plane.admin(), last + 1));
    run.until(&is(last + 1));
    end(server, run, last + 1);
}

/// The API servers and their storage are killed. The others write as soon as they are back.
pub fn storage(server: &Server) {
    let mut run = follow(server);
    assert!(count(server.plane.admin(), 1));
    run.until(&is(1));
    server.plane.kill_storage();
    server.plane.kill_api_server();
    run.until("retrying");
    server.plane.start_storage();
    server.plane.start_api_server();
    for number in 2..=20 {
        assert!(count(server.plane.admin(), number));
    }
    run.until(&is(20));
    end(server, run, 20);
}

/// The storage is restored from an older copy. The program says that history went back, and goes on.
pub fn restored(server: &Server) {
    let mut run = follow(server);
    server.plane.save_storage();
    for number in 1..=5 {
        assert!(count(server.plane.admin(), number));
    }
    run.until(&is(5));
    server.plane.restore_storage();
    server.plane.start_api_server();
    run.until("\"restored\"");
    assert!(count(server.plane.admin(), 6));
    run.until(&is(6));
    let ran = run.interrupt();
    let records = records(&ran);
    let place = |holds: &dyn Fn(&Value) -> bool| records.iter().position(holds);
    let gap = place(&|record| record["cause"] == "restored");
    let last = place(&|record| record.to_string().contains(&is(6)));
    assert!(gap.is_some() && gap < last, "{}", ran.transcript());
}
