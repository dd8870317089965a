//! `Author`: who wrote a version, a person, a tool or a controller, and for which owner a controller wrote it.

use std::collections::{HashMap, VecDeque};
use std::sync::Arc;

use super::read_versions::ReadVersions;
use crate::diff::{Change, Diff};
use crate::object::managed_fields::{By, ManagedFieldsEntry, OwnerStep, Writers, entries};
use crate::object::{ObjectRef, Uid, Value};
use crate::render::diff::ChangeType;
use crate::source::Version;

/// The annotation in which the controller of Deployments counts revisions.
const REVISION: &str = r#".metadata.annotations["deployment.kubernetes.io/revision"]"#;

/// The field that the scheduler sets. A binding has no field manager.
const BINDING: &str = ".spec.nodeName";

/// Whether the object is an Event, of either of the groups that serve them.
pub(crate) fn is_event(object: &ObjectRef) -> bool {
    &*object.kind == "Event" && matches!(object.group(), "" | "events.k8s.io")
}

/// Whether a version only reports about an object: who wrote it reports in its status, or all changes are such reports.
pub(crate) fn is_report(change: ChangeType, diff: &Diff<'_>, writers: &Writers<'_>) -> bool {
    let changes = diff.changes().iter();
    let mut real = changes.filter(|change| change.noise.is_none()).peekable();
    let mut actors = writers.actors().peekable();
    let is_by_reporters =
        actors.peek().is_some() && actors.all(|actor| &*actor.subresource == "status");
    change == ChangeType::Modified
        && real.peek().is_some()
        && (is_by_reporters || real.all(|change| is_reported(diff, change)))
}

/// Whether controllers report in this field.
fn is_reported(diff: &Diff<'_>, change: &Change) -> bool {
    let top = diff.chain(change.at).last();
    let is_status = top.and_then(|top| diff.field(top)) == Some("status");
    is_status || {
        let path = diff.path(change.at).to_string();
        path == REVISION || path == BINDING
    }
}

/// What kind of program a field manager is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Author {
    /// A client that people type into or click in.
    Person,
    /// A program that acts for people, such as helm or a GitOps tool.
    Tool,
    /// A part of Kubernetes, or a program that reports about objects or makes them for their owner.
    Controller,
}

/// The starts of the names of clients for people, in lower case. Without `--field-manager`, the name is that of the
/// program.
const CLIENTS: [&str; 9] = [
    "kubectl",
    "oc",
    "k9s",
    "lens",
    "openlens",
    "freelens",
    "headlamp",
    "dashboard",
    "mozilla",
];

/// Words in the names of the parts of Kubernetes, in lower case. What these write is never what a person decided about this
/// object.
const COMPONENTS: [&str; 8] = [
    "kube-controller-manager",
    "cloud-controller-manager",
    "kube-scheduler",
    "kube-apiserver",
    "kube-proxy",
    "kubelet",
    "cluster-autoscaler",
    "api-priority-and-fairness",
];

/// Words in the names of controllers, in lower case. A controller that owns only metadata of an object keeps its books
/// there: finalizers, annotations.
const CONTROLLERS: [&str; 5] = [
    "controller",
    "operator",
    "manager",
    "autoscaler",
    "provisioner",
];

/// The parts of an object that are not its content.
const NO_CONTENT: [&str; 2] = ["metadata", "status"];

/// The starts of the names of distributions that run all controllers in one process. Each of these writes under the name
/// of the process: `k3s` (<https://docs.k3s.io/architecture>), `kubelite` (<https://microk8s.io/docs/configuring-services>),
/// `rke2-supervisor@node` (<https://docs.rke2.io/architecture>).
const DISTRIBUTIONS: [&str; 3] = ["k3s", "kubelite", "rke2"];

impl Author {
    /// What the manager of an entry is for the object, which may have a controller of any name.
    pub(crate) fn of(
        entry: &ManagedFieldsEntry<'_>,
        controlled: Option<&ControlledObject<'_>>,
    ) -> Author {
        match (Author::by_name(entry), controlled) {
            (Author::Tool, Some(object)) if object.is_controlled_by(&entry.manager) => {
                Author::Controller
            }
            (author, _) => author,
        }
    }

    fn by_name(entry: &ManagedFieldsEntry<'_>) -> Author {
        let name = entry.manager.to_lowercase();
        let is_named = |start: &str| match name.strip_prefix(start) {
            Some(rest) => !rest.starts_with(|next: char| next.is_ascii_alphanumeric()),
            None => false,
        };
        let has_word = |words: &[&str]| words.iter().any(|word| name.contains(word));
        match () {
            () if CLIENTS.into_iter().any(is_named) => Author::Person,
            () if &*entry.subresource == "status" => Author::Controller,
            () if has_word(&COMPONENTS) || DISTRIBUTIONS.into_iter().any(is_named) => {
                Author::Controller
            }
            () if entry.owns(&OWNERS.map(|name| OwnerStep::Field(name.into()))) => {
                Author::Controller
            }
            () if has_word(&CONTROLLERS) && !entry.owns_beyond(&NO_CONTENT) => Author::Controller,
            () => Author::Tool,
        }
    }
}

/// The field that names the owner.
const OWNERS: [&str; 2] = ["metadata", "ownerReferences"];

/// An object that a controller made for its owner.
pub(crate) struct ControlledObject<'a> {
    root: Value<'a>,
    /// The owner. It is in the same namespace.
    pub(crate) owner: ObjectRef,
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
    pub(crate) fn at(object: &ObjectRef, root: Value<'a>) -> Option<ControlledObject<'a>> {
        let owner = owner(object, root)?;
        Some(ControlledObject { root, owner })
    }

    /// Whether a manager made the object or reports about it. Such a manager can have any name. If the managers do not
    /// show who made the object, every manager counts.
    fn is_controlled_by(&self, manager: &str) -> bool {
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

/// The longest chain. Owner references can form a circle.
const DEPTH: usize = 8;

/// How many objects it remembers that nobody named as their owner.
const REMEMBERED: usize = 50_000;

/// The objects seen so far, and their controllers.
#[derive(Default)]
pub(crate) struct KnownOwners {
    objects: HashMap<Uid, KnownOwner>,
    /// In the order of arrival.
    order: VecDeque<Uid>,
}

/// An object seen so far.
enum KnownOwner {
    /// Nobody has asked for its controller. The newest version, without its tape.
    Version(Version),
    Controller(Option<ObjectRef>),
}

impl KnownOwners {
    /// Remembers an object, unless it is an Event, which owns nothing. It forgets the oldest one if there are too many.
    pub(crate) fn learn(&mut self, version: &Arc<Version>) {
        if is_event(&version.object) {
            return;
        }
        let Some(uid) = &version.object.uid else {
            return;
        };
        match self.objects.get_mut(uid) {
            Some(KnownOwner::Version(known)) => return *known = version.without_tape(),
            Some(KnownOwner::Controller(_)) => return,
            None => {}
        }
        let known = KnownOwner::Version(version.without_tape());
        self.objects.insert(uid.clone(), known);
        self.order.push_back(uid.clone());
        if self.order.len() > REMEMBERED
            && let Some(oldest) = self.order.pop_front()
        {
            self.objects.remove(&oldest);
        }
    }

    /// The top of the chain of controllers above an object; the object itself if it has none.
    pub(crate) fn top(&mut self, object: &ObjectRef) -> ObjectRef {
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
            KnownOwner::Controller(found) => return found.clone(),
            KnownOwner::Version(version) => version,
        };
        let doc = version.doc().ok()?;
        let found = ControlledObject::at(&version.object, doc.root());
        let found = found.map(|controlled| controlled.owner);
        *known = KnownOwner::Controller(found.clone());
        found
    }
}

/// The managers that wrote a version. If no entry shows one, the owners of the values that it set: usually one of them
/// wrote twice in one second. Who owned a removed field need not have removed it.
pub(crate) fn authors<'w, 'a>(
    writers: &'w Writers<'a>,
    diff: Option<&Diff<'a>>,
) -> Vec<&'w ManagedFieldsEntry<'a>> {
    let recorded: Vec<_> = writers.actors().collect();
    if !recorded.is_empty() {
        return recorded;
    }
    let owners = diff.into_iter().flat_map(|diff| {
        let changes = diff.changes().iter();
        changes.filter_map(|change| match diff.by(writers, change)? {
            By::Owner(owner) => Some(owner),
            By::Actor(_) | By::Took { .. } | By::Was(_) => None,
        })
    });
    owners.collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::object::managed_fields::entries;
    use crate::object::{Doc, ResourceVersion};

    const SPEC: &str = r#"{"f:metadata":{"f:labels":{"f:app":{}}},"f:spec":{"f:replicas":{}}}"#;
    const DATA: &str = r#"{"f:data":{".":{},"f:mode":{}}}"#;
    const RULES: &str = r#"{"f:rules":{}}"#;
    const BOOKS: &str = r#"{"f:metadata":{"f:finalizers":{}},"f:status":{"f:phase":{}}}"#;
    const OWNED: &str = r#"{"f:metadata":{"f:ownerReferences":{}},"f:data":{"f:mode":{}}}"#;

    fn author(manager: &str, subresource: &str, fields: &str) -> Author {
        let entry = format!(
            r#"{{"manager":"{manager}","operation":"Update","subresource":"{subresource}","fieldsV1":{fields}}}"#
        );
        let text = format!(r#"{{"kind":"X","metadata":{{"managedFields":[{entry}]}}}}"#);
        let doc = Doc::parse(text).expect("JSON");
        Author::of(&entries(doc.root())[0], None)
    }

    #[test]
    fn the_content_of_an_object_is_what_people_decided_whoever_writes_it() {
        for (manager, subresource, fields, expect) in [
            ("kubectl-edit", "", SPEC, Author::Person),
            ("kubectl", "status", BOOKS, Author::Person),
            ("oc", "", BOOKS, Author::Person),
            ("octopus", "", SPEC, Author::Tool),
            ("helm", "", SPEC, Author::Tool),
            ("Terraform", "", BOOKS, Author::Tool),
            ("widget", "status", BOOKS, Author::Controller),
            ("widget", "", OWNED, Author::Controller),
            ("kubectl-create", "", OWNED, Author::Person),
            // GitOps tools, by whatever name.
            ("argocd-controller", "", SPEC, Author::Tool),
            ("argocd-application-controller", "", DATA, Author::Tool),
            ("kustomize-controller", "", RULES, Author::Tool),
            ("helm-controller", "", SPEC, Author::Tool),
            ("fleet-manager", "", SPEC, Author::Tool),
            ("some-operator", "scale", SPEC, Author::Tool),
            (
                "argocd-application-controller",
                "",
                BOOKS,
                Author::Controller,
            ),
            ("PrometheusOperator", "", BOOKS, Author::Controller),
            ("PrometheusOperator", "", "{}", Author::Controller),
            // The parts of Kubernetes.
            ("kube-controller-manager", "scale", SPEC, Author::Controller),
            ("aws-cloud-controller-manager", "", SPEC, Author::Controller),
            ("kube-scheduler", "", SPEC, Author::Controller),
            ("kubelet", "status", BOOKS, Author::Controller),
            ("k3s", "", SPEC, Author::Controller),
            ("k3s-supervisor@node-1", "", SPEC, Author::Controller),
            ("kubelite", "scale", SPEC, Author::Controller),
            ("rke2-supervisor@node-1", "", SPEC, Author::Controller),
            ("k3sup", "", SPEC, Author::Tool),
            (
                "api-priority-and-fairness-config-producer-v1",
                "",
                SPEC,
                Author::Controller,
            ),
        ] {
            assert_eq!(
                author(manager, subresource, fields),
                expect,
                "{manager} {subresource} {fields}"
            );
        }
    }

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
