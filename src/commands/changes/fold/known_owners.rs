//! `KnownOwners`: finds the object at the top of a chain of controllers, such as the Deployment of a Pod.

use std::collections::{HashMap, VecDeque};
use std::sync::Arc;

use super::ControlledObject;
use super::timeline_part::is_event;
use crate::object::{ObjectRef, Uid};
use crate::source::Version;

/// The longest chain. Owner references can form a circle.
const DEPTH: usize = 8;

/// How many objects it remembers that nobody named as their owner.
const REMEMBERED: usize = 50_000;

/// The objects seen so far, and their controllers.
#[derive(Default)]
pub(super) struct KnownOwners {
    objects: HashMap<Uid, KnownObject>,
    /// In the order of arrival.
    order: VecDeque<Uid>,
}

/// An object seen so far.
enum KnownObject {
    /// Nobody has asked for its controller. The newest version, without its tape.
    Version(Version),
    Controller(Option<ObjectRef>),
}

impl KnownOwners {
    /// Remembers an object, unless it is an Event, which owns nothing. It forgets the oldest one if there are too many.
    pub(super) fn learn(&mut self, version: &Arc<Version>) {
        if is_event(&version.object) {
            return;
        }
        let Some(uid) = &version.object.uid else {
            return;
        };
        match self.objects.get_mut(uid) {
            Some(KnownObject::Version(known)) => return *known = version.without_tape(),
            Some(KnownObject::Controller(_)) => return,
            None => {}
        }
        let known = KnownObject::Version(version.without_tape());
        self.objects.insert(uid.clone(), known);
        self.order.push_back(uid.clone());
        if self.order.len() > REMEMBERED
            && let Some(oldest) = self.order.pop_front()
        {
            self.objects.remove(&oldest);
        }
    }

    /// The top of the chain of controllers above an object; the object itself if it has none.
    pub(super) fn top(&mut self, object: &ObjectRef) -> ObjectRef {
        let mut top = object.clone();
        for _ in 0..DEPTH {
            match self.controller_of(&top) {
                Some(next) => top = next,
                None => break,
            }
        }
        top
    }

    fn controller_of(&mut self, object: &ObjectRef) -> Option<ObjectRef> {
        let uid = object.uid.as_ref()?;
        let known = self.objects.get_mut(uid)?;
        let version = match known {
            KnownObject::Controller(found) => return found.clone(),
            KnownObject::Version(version) => version,
        };
        let doc = version.doc().ok()?;
        let found = ControlledObject::at(&version.object, doc.root());
        let found = found.map(|controlled| controlled.owner);
        *known = KnownObject::Controller(found.clone());
        found
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::object::{Doc, ResourceVersion};

    fn version(kind: &str, name: &str, owner: Option<[&str; 2]>) -> Arc<Version> {
        let owner = owner.map(|[kind, name]| {
            format!(
                r#","ownerReferences":[{{"apiVersion":"apps/v1","kind":"{kind}","name":"{name}","uid":"{name}","controller":true}}]"#
            )
        });
        let owner = owner.unwrap_or_default();
        let body = format!(
            r#"{{"apiVersion":"v1","kind":"{kind}","metadata":{{"name":"{name}","namespace":"shop","uid":"{name}"{owner}}}}}"#
        );
        Arc::new(Version {
            object: ObjectRef::of(Doc::parse(&*body).expect("JSON").root()).into(),
            version: ResourceVersion::new("1"),
            body: body.into(),
        })
    }

    fn top(known: &[Arc<Version>], of: &Arc<Version>) -> String {
        let mut owners = KnownOwners::default();
        for version in known {
            owners.learn(version);
        }
        owners.learn(of);
        owners.top(&of.object).to_string()
    }

    #[test]
    fn the_top_of_a_chain_is_found_as_far_as_it_is_known() {
        let pod = version("Pod", "web-1-a", Some(["ReplicaSet", "web-1"]));
        let set = version("ReplicaSet", "web-1", Some(["Deployment", "web"]));
        assert_eq!(top(&[set], &pod), "deployment/web");
        assert_eq!(top(&[], &pod), "replicaset/web-1");
        assert_eq!(top(&[], &version("Pod", "alone", None)), "pod/alone");
        assert_eq!(top(&[], &version("Endpoints", "web", None)), "service/web");
        let [a, b] = [["a", "b"], ["b", "a"]]
            .map(|[own, other]| version("Widget", own, Some(["Widget", other])));
        assert_eq!(top(&[a.clone(), b], &a), "widget/a");
    }
}
