//! What the stories amount to.

use std::collections::BTreeMap;
use std::sync::Arc;

use insta::assert_snapshot;
use jiff::Timestamp;
use serde_json::Value;

use super::*;
use crate::sandbox::table::cells;
use crate::sandbox::{Change, Options, Record, kinds};

fn start() -> Timestamp {
    "2026-03-02T12:00:00Z".parse().expect("a time")
}

async fn sandbox() -> Sandbox {
    Sandbox::start(Options::new(Arc::new(start)))
        .await
        .expect("a free port")
}

/// Every write of a story with its time in seconds.
fn performed(sandbox: &Sandbox, scenario: &Scenario) -> Vec<(String, Record)> {
    let mut stage = Stage::set(sandbox, scenario).expect("set up");
    let mut seen = sandbox.log().len();
    let mut records = Vec::new();
    while let Some(due) = stage.world.next_due() {
        stage.play_until(due).expect("played");
        let log = sandbox.log();
        let time = format!("{:>2}.{:03}", due / 1000, due % 1000);
        records.extend(
            log[seen..]
                .iter()
                .map(|record| (time.clone(), record.clone())),
        );
        seen = log.len();
    }
    records
}

fn object(record: &Record) -> Value {
    serde_json::from_slice(&record.after).expect("JSON")
}

/// The story as kubectl's rows would tell it.
fn told(records: &[(String, Record)]) -> String {
    let built_in = kinds::built_in();
    let line = |(time, record): &(String, Record)| {
        let kind = built_in
            .iter()
            .find(|kind| kind.qualified() == record.resource)
            .expect("built in");
        let cells = cells(kind, &object(record), start());
        let shown: Vec<String> = cells[1..]
            .iter()
            .take(4)
            .map(|cell| {
                cell.as_str()
                    .map_or_else(|| cell.to_string(), str::to_owned)
            })
            .collect();
        let short = kind.short_names.first().unwrap_or(&kind.plural);
        format!(
            "{time} {:8} {short}/{}  {}",
            record.change.as_str(),
            record.name,
            shown.join(" ")
        )
    };
    records.iter().map(line).collect::<Vec<_>>().join("\n")
}

#[tokio::test]
async fn the_rollout_reads_as_a_story() {
    let records = performed(&sandbox().await, &rollout());
    assert_snapshot!(told(&records), @"");
}

#[tokio::test]
async fn the_configuration_reads_as_a_story() {
    let records = performed(&sandbox().await, &config());
    assert_snapshot!(told(&records), @"");
}
