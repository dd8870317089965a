//! `ControlledObject`: an object that a controller made for its owner, and the managers that control it.

use crate::commands::changes::compared::ReadVersions;
use crate::object::managed_fields::{ManagedFieldsEntry, OwnerStep, entries};
use crate::object::{ObjectRef, Uid, Value};
use crate::render::diff::ChangeType;

/// The field that names the owner.
pub(super) const OWNERS: [&str; 2] = ["metadata", "ownerReferences"];

/// An object that a controller made for its owner.
pub(crate) struct ControlledObject<'a> {
    root: Value<'a>,
    /// The owner. It is in the same namespace.
    pub(super) owner: ObjectRef,
}

impl<'a> ControlledObject<'a> {
    /// The object of a version. A version that only takes the owner away still belongs to that owner.
    pub(crate) fn of(read: &'a ReadVersions<'_>) -> Option<ControlledObject<'a>> {
        let object = &read.event.now.object;
        let (old, new) = read.roots();
        let old = old.filter(|_| read.event.change == ChangeType::Modified);
        let mut roots = [Some(new), old].into_iter().flatten();
        roots.find_map(|root| ControlledObject::at(object, root))
    }

    /// The object at a root; `None` if it has no controller.
    pub(super) fn at(object: &ObjectRef, root: Value<'a>) -> Option<ControlledObject<'a>> {
        let owner = owner(object, root)?;
        Some(ControlledObject { root, owner })
    }

    /// Whether a manager made the object or reports about it. Such a manager can have any name. If the managers do not
    /// show who made the object, every manager counts.
    pub(super) fn is_controlled_by(&self, manager: &str) -> bool {
        let entries = entries(self.root);
        let owns = |entry: &ManagedFieldsEntry<'_>, path: &[&'static str]| {
            let steps = path.iter().map(|name| OwnerStep::Field((*name).into()));
            entry.owns(&steps.collect::<Vec<_>>())
        };
        let has_maker = entries.iter().any(|entry| owns(entry, &OWNERS));
        !has_maker
            || entries.iter().any(|entry| {
                entry.manager == manager && (owns(entry, &OWNERS) || owns(entry, &["status"]))
            })
    }
}

/// The owner that controls an object. An Endpoints has the name of its Service and no owner reference.
fn owner(object: &ObjectRef, root: Value<'_>) -> Option<ObjectRef> {
    if &*object.kind == "Endpoints" && object.group().is_empty() {
        return Some(ObjectRef {
            kind: "Service".into(),
            uid: None,
            ..object.clone()
        });
    }
    let mut owners = root.items_at(&OWNERS);
    let owner = owners.find(|owner| owner.bool_at(&["controller"]) == Some(true))?;
    Some(ObjectRef {
        api_version: owner.text_at(&["apiVersion"])?,
        kind: owner.text_at(&["kind"])?,
        namespace: object.namespace.clone(),
        name: owner.text_at(&["name"])?,
        uid: owner.text_at(&["uid"]).map(Uid::new),
    })
}
