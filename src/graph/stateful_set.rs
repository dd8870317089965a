//! A `StatefulSet` replaces its Pods one by one, from the highest ordinal down to the partition.

use crate::object::Value;

use super::Node;

impl Node {
    /// The ordinal of a Pod of a `StatefulSet`: the number at the end of its name.
    pub fn ordinal(&self) -> Option<i64> {
        self.object.name.rsplit_once('-')?.1.parse().ok()
    }
}

/// The ordinal from which on the Pods of a `StatefulSet` get the new revision.
pub fn partition(set: Value<'_>) -> i64 {
    let path = ["spec", "updateStrategy", "rollingUpdate", "partition"];
    set.i64_at(&path).unwrap_or(0)
}
