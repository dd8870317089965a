//! What a Service's trace keeps: the objects, and what has been read of them.

use std::sync::Arc;

use super::endpoints::Pods;
use super::owners;
use crate::commands::trace::objects::Objects;
use crate::commands::trace::target::{Presence, TracedObject};
use crate::graph::{Selection, children_of_kind};
use crate::object::{Resource, Uid, Value};
use crate::watch::{Event, Select, SourceKey};

/// The trace of one Service.
pub(super) struct ServiceState {
    pub(super) target: TracedObject,
    pub(super) objects: Objects,
    pub(super) presence: Presence,
    /// The source of its slices, which needs no more than its name.
    slices: SourceKey,
    /// The source of its pods, by the selector it has, or had last.
    pods: Option<SourceKey>,
    /// The owners to read; `None` when something has come that may lead to others.
    owners: Option<Vec<Named>>,
    slices_read: bool,
    pods_read: bool,
}

/// An object by its type and name.
type Named = (Resource, Arc<str>);

impl ServiceState {
    /// The trace of a Service of which nothing is known yet.
    pub(super) fn new(target: TracedObject) -> ServiceState {
        let name = format!("kubernetes.io/service-name={}", target.name);
        ServiceState {
            slices: target.selected(slice_resource(), Select::labelled(&name)),
            objects: Objects::default(),
            presence: Presence::Unread,
            pods: None,
            owners: None,
            slices_read: false,
            pods_read: false,
            target,
        }
    }

    /// The Service, as it is.
    pub(super) fn service(&self) -> Option<(&Uid, Value<'_>)> {
        let uid = self.presence.uid()?;
        Some((uid, self.objects.get(uid)?))
    }

    /// Whether its pods are known; those of a Service without a selector are not looked for.
    pub(super) fn pods(&self) -> Pods {
        if self.pods.is_some() && self.pods_read {
            Pods::Known
        } else {
            Pods::Unknown
        }
    }

    /// Whether its slices are known.
    pub(super) fn are_slices_read(&self) -> bool {
        self.slices_read
    }

    /// Takes note of the selector of the Service.
    fn follow_selector(&mut self) {
        let Some((_, service)) = self.service() else {
            return;
        };
        let kinds = children_of_kind(&self.target.resource.group_kind()).unwrap_or_default();
        let pods = kinds.iter().find_map(|child| {
            let resource = child.resource();
            if &*resource.kind != "Pod" {
                return None;
            }
            match child.selection(service) {
                Selection::Labels(labels) => {
                    Some(self.target.selected(resource, Select::labelled(&labels)))
                }
                Selection::All | Selection::Nothing => None,
            }
        });
        if pods != self.pods {
            if pods.is_none() {
                self.objects.forget("Pod");
            }
            self.pods = pods;
            self.pods_read = false;
        }
    }
}

fn slice_resource() -> Resource {
    Resource {
        group: "discovery.k8s.io".into(),
        version: "v1".into(),
        plural: "endpointslices".into(),
        kind: "EndpointSlice".into(),
        namespaced: true,
    }
}

impl ServiceState {
    /// The sources that show the chain, as far as it is known.
    pub(super) fn wanted(&self) -> Vec<SourceKey> {
        let owners = match &self.owners {
            Some(owners) => owners.clone(),
            None => owners::wanted(&self.objects),
        };
        let mut wanted = vec![self.target.source(), self.slices.clone()];
        wanted.extend(self.pods.clone());
        wanted.extend(
            owners
                .into_iter()
                .map(|(resource, name)| self.target.named(resource, &name)),
        );
        wanted
    }

    /// Takes one event.
    pub(super) fn apply(&mut self, key: &Arc<SourceKey>, event: &Event) {
        let mut uid = None;
        match event {
            Event::Object { why, now, .. } => {
                uid = self.objects.apply(key, *why, now);
                if key.resource != self.slices.resource {
                    self.owners = None;
                }
            }
            Event::Synced { .. } => {
                self.objects.synced(key);
                self.owners = None;
                self.slices_read |= key.resource == self.slices.resource;
                self.pods_read |= &*key.resource.kind == "Pod";
            }
            Event::State(_) | Event::Gap(_) | Event::Undecodable { .. } => {}
        }
        if self.target.is_source(key) {
            self.presence.apply(event, uid.as_ref());
            self.follow_selector();
        }
    }

    /// Looks up which owners to read, if something has come that may lead to others.
    pub(super) fn find_owners(&mut self) {
        if self.owners.is_none() {
            self.owners = Some(owners::wanted(&self.objects));
        }
    }
}
