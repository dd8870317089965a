//! Plain data that all modules share: documents, names, selectors. No IO, no async, no clock.

mod conditions;
mod doc;
mod duplicate_keys;
mod excerpt;
mod groups;
mod hint;
mod json_fault;
mod label_selector;
#[cfg(test)]
mod laws;
pub mod list_keys;
pub mod managed_fields;
mod parse_error;
mod parser;
pub mod path;
pub(crate) mod raw_str;
mod reference;
mod resource_type;
mod scan;
pub mod selector;
mod shown_url;
pub(crate) mod skim;
mod tape;
mod time;
mod value;
mod version;
mod well_known;

pub use conditions::{StatusCondition, condition, conditions};
pub use doc::{Doc, Kind, ParseError};
pub use excerpt::excerpt;
pub use groups::is_kubernetes_own;
pub use json_fault::json_fault;
pub use label_selector::{label_selector, map_selector};
pub(crate) use reference::NamespacedName;
pub use reference::{GroupKind, ObjectRef, Resource};
pub use resource_type::ResourceType;
pub use shown_url::shown_url;
pub use time::time;
pub use value::Value;
pub use version::{ResourceVersion, Uid};
pub use well_known::well_known;
pub(crate) use well_known::well_known_type;
