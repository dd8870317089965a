//! `PackageDocuments`: the formats `resourcegroup` and `configmap`, which `kubectl apply` writes to another object.

use std::collections::BTreeMap;

use serde_json::{Value as Json, json};

use super::state::StatusState;
use crate::model::{ObjectPackages, Package, PackageMember, PackageTool};
use crate::object::{Doc, Uid};
use crate::status::Status;

/// The form of the documents.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum PackageForm {
    /// The status of a `ResourceGroup`.
    ResourceGroup,
    /// A `ConfigMap`.
    ConfigMap,
}

/// Whether documents list the members of their packages.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) enum MemberList {
    /// They only count them.
    #[default]
    Counted,
    /// They list them.
    Listed,
}

/// The documents that were printed last. One is printed again when it has changed.
#[derive(Debug, Default)]
pub(super) struct PackageDocuments(BTreeMap<Uid, Json>);

impl PackageDocuments {
    /// The documents of the requested objects that are new or have changed.
    pub(super) fn changed(
        &mut self,
        state: &StatusState,
        form: PackageForm,
        members: MemberList,
    ) -> Vec<Doc> {
        let packages = state.model.object_packages();
        let mut changed = Vec::new();
        for row in state.rows() {
            let is_there = row.known.is_some_and(|known| known.departure.is_none());
            let uid = row.object.identity();
            let is_wanted = row.is_requested && is_there;
            let package = is_wanted.then(|| packages.package(&uid)).flatten();
            let Some(package) = package else {
                continue;
            };
            let object = form.object(&package, members);
            if self.0.get(&uid) != Some(&object) {
                changed.extend(doc(&object));
                self.0.insert(uid, object);
            }
        }
        changed
    }
}

impl PackageForm {
    /// The document of an object.
    pub(super) fn document(
        self,
        packages: &ObjectPackages<'_>,
        uid: &Uid,
        members: MemberList,
    ) -> Option<Doc> {
        doc(&self.object(&packages.package(uid)?, members))
    }

    fn object(self, package: &Package, members: MemberList) -> Json {
        match self {
            PackageForm::ResourceGroup => resource_group(package, members),
            PackageForm::ConfigMap => config_map(package, members),
        }
    }
}

fn doc(object: &Json) -> Option<Doc> {
    // A JSON value is a JSON text.
    Doc::parse(object.to_string()).ok()
}

/// The status of a `ResourceGroup` (`kpt.dev/v1alpha1`) with the name of the package. Equal states are equal documents.
fn resource_group(package: &Package, members: MemberList) -> Json {
    // Nobody but the reader of the members observes a ResourceGroup.
    let observed = package
        .observed
        .filter(|_| package.tool != PackageTool::ResourceGroup);
    let mut status = json!({
        "conditions": conditions(package),
        "observedGeneration": observed.or(package.generation).unwrap_or(0),
    });
    if members == MemberList::Listed {
        let listed = package.members.iter().map(|PackageMember { object, status }| {
            json!({
                "group": object.group(), "kind": &*object.kind, "name": &*object.name,
                "namespace": object.namespace.as_deref().unwrap_or_default(), "status": status.as_str(),
            })
        });
        status["resourceStatuses"] = listed.collect();
    }
    json!({
        "apiVersion": "kpt.dev/v1alpha1", "kind": "ResourceGroup",
        "metadata": metadata(package, ""), "status": status,
    })
}

/// A `ConfigMap` with the name of the package and `-status`.
fn config_map(package: &Package, members: MemberList) -> Json {
    let mut data = json!({"status": package.status.as_str(), "message": package.summary()});
    for (status, count) in package.counts() {
        data[status.as_str()] = count.to_string().into();
    }
    let numbers = [
        ("generation", package.generation),
        ("observedGeneration", package.observed),
    ];
    for (name, number) in numbers {
        if let Some(number) = number {
            data[name] = number.to_string().into();
        }
    }
    if members == MemberList::Listed {
        let listed = package
            .members
            .iter()
            .map(|PackageMember { object, status }| {
                let namespace = object.namespace.as_deref().unwrap_or_default();
                format!(
                    "{} {namespace}/{} {status}\n",
                    object.group_kind(),
                    object.name
                )
            });
        data["members"] = listed.collect::<String>().into();
    }
    json!({"apiVersion": "v1", "kind": "ConfigMap", "metadata": metadata(package, "-status"), "data": data})
}

fn metadata(package: &Package, suffix: &str) -> Json {
    let mut metadata = json!({"name": format!("{}{suffix}", package.name)});
    if let Some(namespace) = &package.namespace {
        metadata["namespace"] = (&**namespace).into();
    }
    metadata
}

/// The conditions of kstatus
/// (<https://github.com/kubernetes-sigs/cli-utils/blob/master/pkg/kstatus/README.md#conditions>).
fn conditions(package: &Package) -> Json {
    let ready = match package.status {
        Status::Current => "True",
        Status::Unknown => "Unknown",
        Status::InProgress | Status::Failed | Status::Terminating | Status::NotFound => "False",
    };
    let is = |holds: bool| if holds { "True" } else { "False" };
    let is_moving = matches!(package.status, Status::InProgress | Status::Terminating);
    let (reason, message) = (package.status.as_str(), package.summary());
    let condition = |name: &str, status: &str| json!({"type": name, "status": status, "reason": reason, "message": message});
    json!([
        condition("Ready", ready),
        condition("Reconciling", is(is_moving)),
        condition("Stalled", is(package.status == Status::Failed)),
    ])
}
