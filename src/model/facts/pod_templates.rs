//! Why a Service selects no Pod: the workload that would create such Pods creates none.

use std::sync::Arc;

use crate::graph::{Node, well_known};
use crate::object::ObjectRef;
use crate::object::selector::LabelSelector;
use crate::source::{Form, SourceKey};

use super::nearby_pods_source;
use crate::model::around::Around;
use crate::model::evidence::PodTemplate;

/// The kinds of workloads that may have no Pods: a user scales them to 0, or no node suits them.
const WITHOUT_PODS: [&str; 3] = ["Deployment", "StatefulSet", "DaemonSet"];

/// What keeps the workload whose Pods a Service would select from having some: `deployment/web is scaled to 0`. `None`
/// if no such workload is known.
pub(in crate::model) fn selected_workload(
    around: Around<'_>,
    service: &Node,
    selector: &LabelSelector,
) -> Option<String> {
    let (workload, replicas) = workload_behind(around, service, selector)?;
    Some(match replicas {
        0 if &*workload.kind == "DaemonSet" => format!("{workload} runs on no node"),
        0 => format!("{workload} is scaled to 0"),
        _ => format!("{workload} has created none"),
    })
}

/// The workload whose Pods a Service would select, if it wants none.
pub fn idle_workload(around: Around<'_>, service: &Node) -> Option<Arc<ObjectRef>> {
    let found = workload_behind(around, service, service.selector()?);
    found.and_then(|(workload, replicas)| (replicas == 0).then_some(workload))
}

/// The workload whose Pods a Service would select, and how many Pods it wants.
fn workload_behind(
    around: Around<'_>,
    service: &Node,
    selector: &LabelSelector,
) -> Option<(Arc<ObjectRef>, i64)> {
    let sources = template_sources(around, service);
    let read = sources
        .iter()
        .flat_map(|source| around.evidence().templates(source));
    let is_selected = |template: &PodTemplate| selector.matches(|key| template.labels.get(key));
    if let Some(template) = read.into_iter().find(|template| is_selected(template)) {
        return Some((template.workload.clone(), template.replicas));
    }
    let beside = around.objects().filter(|(_, known)| {
        let object = &known.object;
        object.namespace == service.object.namespace && WITHOUT_PODS.contains(&&*object.kind)
    });
    let mut own = beside.filter_map(|(_, known)| PodTemplate::of(known.version()?));
    let template = own.find(is_selected)?;
    Some((template.workload, template.replicas))
}

/// The sources of the workloads beside a Service that selects no Pod.
pub(in crate::model) fn template_sources(around: Around<'_>, service: &Node) -> Vec<SourceKey> {
    let Some(pods) = nearby_pods_source(around, service) else {
        return Vec::new();
    };
    let workloads = WITHOUT_PODS.map(|kind| SourceKey {
        resource: well_known("apps", kind),
        form: Form::Full,
        ..pods.clone()
    });
    workloads.into()
}
