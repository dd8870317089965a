//! Plain data that all modules share: documents, names, selectors. No IO, no async, no clock.

mod conditions;
mod doc;
mod kinds;
#[cfg(test)]
mod laws;
pub mod list_keys;
pub mod managed_fields;
mod message;
mod parser;
pub mod path;
mod quantity;
pub(crate) mod raw_str;
mod reference;
mod scan;
pub mod selector;
pub(crate) mod skim;
mod tape;
mod time;
mod types;
mod version;

pub use conditions::{
    CONDITION_TAINTS, StatusCondition, condition, conditions, evicting_taints, imposed_taints,
    is_closed, is_cordoned, set_taints, untolerated_taints,
};
pub use doc::{Doc, Kind, Value};
pub use kinds::{
    EventFacts, PodCounts, denied, first_updated, is_sidecar, job_manager, newest_time, partition,
    restarted_at, restricted,
};
pub use message::{counted, excerpt, json_fault, listed, near, shown_url, without_secrets};
pub(crate) use quantity::Decimal;
pub use quantity::Quantity;
pub(crate) use reference::NamespacedName;
pub use reference::{GroupKind, ObjectRef, Resource};
pub use scan::ParseError;
pub use selector::{label_selector, map_selector, node_selector_term};
pub use time::{parse_duration, time};
pub(crate) use types::well_known_type;
pub use types::{ResourceType, ServedTypes, is_kubernetes_own, well_known};
pub use version::{ResourceVersion, Uid};
