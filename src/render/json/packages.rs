//! The records of packages: objects that a tool has applied together.

use std::collections::BTreeMap;

use serde::Serialize;

use super::RefRecord;

/// A package and the states of its members.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct PackageRecord {
    /// [`VERSION`](super::VERSION).
    pub v: u32,
    /// When anything but the time changed, or the package was first seen.
    pub time: String,
    /// The cluster.
    pub cluster: String,
    /// Its namespace; absent for a label.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub namespace: Option<String>,
    /// Its name, or the value of the label.
    pub package: String,
    /// What makes it a package: `flux`, or the key of the label.
    pub tool: String,
    /// Its own object, if it has one.
    #[serde(rename = "ref", skip_serializing_if = "Option::is_none")]
    pub object_ref: Option<RefRecord>,
    /// The state of the whole: kstatus's word.
    pub status: &'static str,
    /// The members in a few words.
    pub message: String,
    /// The number of members with each state.
    pub resources: BTreeMap<&'static str, usize>,
    /// The generation of its object.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub generation: Option<i64>,
    /// The generation that its controller has observed.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub observed_generation: Option<i64>,
    /// When its state last changed; absent if it has not since the server started.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub since: Option<String>,
}
