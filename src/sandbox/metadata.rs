//! The fields of `metadata` that the API server reads and sets.

use jiff::Timestamp;
use serde_json::{Value, json};

use super::kinds::Kind;

/// RFC 3339 in whole seconds, as Kubernetes writes times.
pub(super) fn seconds(time: Timestamp) -> String {
    time.strftime("%Y-%m-%dT%H:%M:%SZ").to_string()
}

/// Sets a missing name: `metadata.generateName` and five random characters.
pub(super) fn name_it(object: &mut Value, random: &mut fastrand::Rng) {
    let metadata = &mut object["metadata"];
    if let (true, Some(stem)) = (
        metadata["name"].is_null(),
        metadata["generateName"].as_str(),
    ) {
        let letters: Vec<char> = "bcdfghjklmnpqrstvwxz2456789".chars().collect();
        let suffix: String = (0..5)
            .map(|_| letters[random.usize(..letters.len())])
            .collect();
        metadata["name"] = json!(format!("{stem}{suffix}"));
    }
}

/// A random (version 4) uid.
pub(super) fn uid(random: &mut fastrand::Rng) -> String {
    let bits = random.u128(..);
    let hex = format!(
        "{:032x}",
        bits & !(0xf << 76) & !(0x3 << 62) | (0x4 << 76) | (0x2 << 62)
    );
    [
        &hex[..8],
        &hex[8..12],
        &hex[12..16],
        &hex[16..20],
        &hex[20..],
    ]
    .join("-")
}

pub(super) fn bare(mut object: Value) -> Value {
    if let Some(map) = object.as_object_mut() {
        map.remove("apiVersion");
        map.remove("kind");
    }
    object
}

pub(super) fn whole(mut value: Value, kind: &Kind) -> Value {
    value["apiVersion"] = json!(kind.resource.api_version());
    value["kind"] = json!(*kind.resource.kind);
    value
}

/// All fields except metadata and status. A change of one of them increments the generation.
pub(super) fn specification(value: &Value) -> Vec<(&String, &Value)> {
    let fields = value.as_object().into_iter().flatten();
    fields
        .filter(|(name, _)| !matches!(name.as_str(), "metadata" | "status"))
        .collect()
}

/// The object without the times of its `managedFields`. If nothing else has changed, kube-apiserver stores no
/// new version (`ignoreManagedFieldsTimestampsTransformer`).
pub(super) fn without_times(value: &Value) -> Value {
    let mut value = value.clone();
    let entries = value["metadata"]["managedFields"].as_array_mut();
    for entry in entries.into_iter().flatten() {
        if let Some(entry) = entry.as_object_mut() {
            entry.remove("time");
        }
    }
    value
}

pub(super) fn is_terminating(value: &Value) -> bool {
    value["metadata"]["deletionTimestamp"].is_string()
}

pub(super) fn has_finalizers(value: &Value) -> bool {
    value["metadata"]["finalizers"]
        .as_array()
        .is_some_and(|finalizers| !finalizers.is_empty())
}
