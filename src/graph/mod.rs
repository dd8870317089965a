//! The live graph of objects: owners, selectors and endpoints.
//!
//! `index` holds the [`Graph`]: [`Graph::apply`], [`Graph::delete`] and [`Graph::link`] keep it up to date, in any order and
//! from any source, and it answers what an object names, selects and lists. `tree` finds owners, dependents and current
//! revisions. `node` holds the facts of one object.
//!
//! The other files ask the graph. `endpoints` finds the Pods behind a Service, `neighbours` what is next to an object, and
//! `walk` what it is connected to. `plan`, `members` and `trace_plan` name the sources that show related objects.

mod endpoints;
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
mod relations;
mod selector;
mod services;
mod trace_plan;
mod tree;
mod walk;
mod workload;

pub use endpoints::{
    AddressGroup, Backend, Behind, EndpointCounts, PodCoverage, ServedEndpoint, address_groups,
    backends, count_backends,
};
pub use index::Graph;
#[cfg(test)]
pub(crate) use kind_index::indexed;
pub use labels::Labels;
pub use links::Links;
pub use lookup::{Lookup, PassedOver, one_per_source};
pub use members::{MAX_MEMBER_LISTS, MemberPlan, member_plan};
pub use neighbours::{Neighbour, RelationEnd, TraceSide, neighbours};
pub use node::Owner;
pub use node::{Facts, Node};
pub use plan::{may_have_pods, owned_lookups, pod_owner_sources, slices_source, well_known};
pub use pod::{ContainerPort, Images, Pod, node_selectors};
pub use reference::{Port, Reference};
pub use reference_target::ReferenceTarget;
pub use relations::{
    IfAbsent, KnownRelation, Relation, RemoteMembers, Tier, istio_destinations, may_list_members,
    relation_names, service_of_host,
};
pub use selector::{Nearest, nearest};
pub use services::{
    Endpoint, EndpointState, EndpointTarget, Service, ServicePort, Slice, SlicePort,
};
pub use trace_plan::{TracePlan, TraceScope, trace_plan};
pub use tree::{Standing, Standings};
pub use walk::{TraceReach, TraceStep, Way, walk};
pub use workload::Workload;

#[cfg(test)]
mod tests;
