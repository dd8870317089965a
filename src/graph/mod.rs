//! The live graph of objects: owners, selectors and endpoints.
//!
//! [`Graph::apply`] and [`Graph::delete`] keep it up to date, in any order and from any source. `tree` finds
//! owners and dependents, `order` sorts objects from below to above, and `revision` finds the current revision. `selector` and `endpoints` find the pods
//! of a Service. `relations` says which fields name other objects, `members` finds what inventories list, and `walk`
//! follows the relations. `plan` and `trace_plan` name
//! the sources that show related objects. `node` holds the facts of one object,
//! which `owner`, `pod`, `slice` and `workload` read.

mod endpoints;
mod field_path;
mod index;
mod kind_index;
mod labels;
mod links;
mod lookup;
mod members;
mod neighbours;
mod node;
mod plan;
mod pod;
mod reference;
mod reference_target;
mod references;
mod relations;
mod selector;
mod services;
mod trace_plan;
mod tree;
mod walk;
mod workload;

pub use endpoints::{
    AddressGroup, Backend, Behind, EndpointCounts, PodCoverage, ServedEndpoint, address_groups,
    count_backends,
};
pub use index::Graph;
pub use labels::Labels;
pub use links::Links;
pub use lookup::{Lookup, PassedOver, one_per_source};
pub use members::{MAX_MEMBER_LISTS, MemberPlan};
pub use neighbours::{End, Neighbour, TraceSide};
pub use node::Owner;
pub use node::{Facts, Node};
pub use plan::{slices_source, well_known};
pub use pod::{ContainerPort, Images, Pod, node_selectors};
pub use reference::{Port, Reference};
pub use reference_target::ReferenceTarget;
pub use relations::{
    IfAbsent, KnownRelation, Relation, RemoteMembers, Tier, istio_destinations, may_list_members,
    relation_names, service_of_host,
};
pub use selector::{Nearest, nearest};
pub use services::{Endpoint, EndpointState, Service, ServicePort, Slice, SlicePort, Target};
pub use trace_plan::{TracePlan, TraceScope};
pub use tree::{Standing, Standings};
pub use walk::{Step, TraceReach, Way};
pub use workload::Workload;

#[cfg(test)]
mod tests;
