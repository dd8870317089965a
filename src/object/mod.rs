//! Plain data that all modules share: documents, names, selectors. No IO, no async, no clock.

mod conditions;
mod doc;
mod duplicate_keys;
mod duration;
mod event;
mod excerpt;
mod groups;
mod hint;
mod json_fault;
mod label_selector;
#[cfg(test)]
mod laws;
pub mod list_keys;
pub mod managed_fields;
mod network_policy;
mod newest_time;
mod parse_error;
mod parser;
pub mod path;
mod pod_counts;
mod quantity;
pub(crate) mod raw_str;
mod reference;
mod resource_type;
mod restart;
mod scan;
pub mod selector;
mod served_types;
mod shown_url;
mod sidecar;
mod similar;
pub(crate) mod skim;
mod taint;
mod tape;
mod time;
mod value;
mod version;
mod well_known;

pub use conditions::{StatusCondition, condition, conditions};
pub use doc::{Doc, Kind, ParseError};
pub use duration::parse_duration;
pub use event::EventFacts;
pub use excerpt::excerpt;
pub use groups::is_kubernetes_own;
pub use json_fault::json_fault;
pub use label_selector::{label_selector, map_selector, node_selector_term};
pub use network_policy::{denied, restricted};
pub use newest_time::newest_time;
pub use pod_counts::{PodCounts, partition};
pub(crate) use quantity::Decimal;
pub use quantity::Quantity;
pub(crate) use reference::NamespacedName;
pub use reference::{GroupKind, ObjectRef, Resource};
pub use resource_type::ResourceType;
pub use restart::restarted_at;
pub use served_types::ServedTypes;
pub use shown_url::{shown_url, without_secrets};
pub use sidecar::is_sidecar;
pub use similar::near;
pub use taint::{
    CONDITION_TAINTS, evicting_taints, imposed_taints, is_closed, is_cordoned, set_taints,
    untolerated_taints,
};
pub use time::time;
pub use value::Value;
pub use version::{ResourceVersion, Uid};
pub use well_known::well_known;
pub(crate) use well_known::well_known_type;
