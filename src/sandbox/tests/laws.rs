//! Properties that hold after any series of writes.

use std::collections::{BTreeMap, BTreeSet};

use proptest::prelude::*;

use super::client::get;
use super::*;
use crate::sandbox::fields;

const NAMES: [&str; 3] = ["a", "b", "c"];
const MANAGERS: [&str; 3] = ["alice", "bob", "carol"];

/// One random write: the object, the manager and the change.
#[derive(Debug, Clone)]
struct Op {
    name: &'static str,
    manager: &'static str,
    what: What,
}

#[derive(Debug, Clone)]
enum What {
    Put(BTreeMap<String, String>),
    Label(&'static str),
    Delete,
}

fn op() -> impl Strategy<Value = Op> {
    let data = prop::collection::btree_map("[xyz]", "[01]", 0..3);
    let what = prop_oneof![
        4 => data.prop_map(What::Put),
        3 => prop::sample::select(vec!["web", "api"]).prop_map(What::Label),
        1 => Just(What::Delete),
    ];
    let pick = |from: [&'static str; 3]| prop::sample::select(from.to_vec());
    (pick(NAMES), pick(MANAGERS), what).prop_map(|(name, manager, what)| Op {
        name,
        manager,
        what,
    })
}

/// Performs a write. A write to a missing object has no effect.
fn perform(sandbox: &Sandbox, op: &Op) {
    let target = Target::new("configmaps", "shop", op.name);
    let by = Writer::new(op.manager);
    let present = sandbox.get(&target);
    let _refused = match (&op.what, present) {
        (What::Put(data), None) => sandbox.create(config_map(op.name, &json!(data)), &by),
        (What::Put(data), Some(mut object)) => {
            object["data"] = json!(data);
            sandbox.update(object, &by)
        }
        (What::Label(app), _) => {
            sandbox.patch(&target, &json!({"metadata": {"labels": {"app": app}}}), &by)
        }
        (What::Delete, _) => sandbox.delete(&target, Deletion::Immediate, &by),
    };
}

fn by_name(items: &Value) -> BTreeMap<String, Value> {
    let items = items.as_array().into_iter().flatten();
    items
        .map(|item| {
            (
                item["metadata"]["name"].to_string(),
                item["metadata"]["resourceVersion"].clone(),
            )
        })
        .collect()
}

/// The state at a revision, with the events since, gives the current state.
async fn check_watch(ops: &[Op], from: usize) {
    let sandbox = sandbox().await;
    for op in ops {
        perform(&sandbox, op);
    }
    let from = 1 + from as u64 % sandbox.revision();
    let path = "/api/v1/namespaces/shop/configmaps?labelSelector=app%3Dweb";
    let then = get(
        &sandbox,
        &format!("{path}&resourceVersionMatch=Exact&resourceVersion={from}"),
    )
    .await
    .json();
    let watch = get(
        &sandbox,
        &format!("{path}&watch=1&timeoutSeconds=1&resourceVersion={from}"),
    )
    .await;
    let mut state = by_name(&then["items"]);
    for line in watch.text().lines() {
        let event: Value = serde_json::from_str(line).expect("JSON");
        let metadata = &event["object"]["metadata"];
        let known = match event["type"].as_str() {
            Some("DELETED") => state.remove(&metadata["name"].to_string()),
            _ => state.insert(
                metadata["name"].to_string(),
                metadata["resourceVersion"].clone(),
            ),
        };
        assert_eq!(known.is_none(), event["type"] == "ADDED", "{line}");
    }
    assert_eq!(state, by_name(&get(&sandbox, path).await.json()["items"]));
}

/// Every field of an object has one owner, and no manager owns a missing field.
async fn check_owners(ops: &[Op]) {
    let sandbox = sandbox().await;
    for op in ops {
        perform(&sandbox, op);
        for object in sandbox.list("configmaps", "shop") {
            let mut owned = BTreeSet::new();
            for entry in object["metadata"]["managedFields"]
                .as_array()
                .into_iter()
                .flatten()
            {
                let set = fields::decode(&entry["fieldsV1"]);
                assert_eq!(fields::encode(&set), entry["fieldsV1"]);
                for path in set {
                    assert!(owned.insert(path.clone()), "{path:?} has two owners");
                }
            }
            assert_eq!(owned, fields::leaves(&object).into_keys().collect());
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    #[test]
    fn a_list_and_its_watch_give_the_current_state(ops in prop::collection::vec(op(), 1..24), from in 0_usize..24) {
        runtime().block_on(check_watch(&ops, from));
    }

    #[test]
    fn each_field_has_one_owner(ops in prop::collection::vec(op(), 1..16)) {
        runtime().block_on(check_owners(&ops));
    }
}

fn runtime() -> tokio::runtime::Runtime {
    tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .start_paused(true)
        .build()
        .expect("a runtime")
}
