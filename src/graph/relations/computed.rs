//! Relations that need more than a path: names that are composed of others, and fields with a syntax of their own.

use std::sync::Arc;

use crate::graph::reference_target::ReferenceTarget;
use crate::object::selector::LabelSelector;
use crate::object::{GroupKind, ObjectRef, Value, label_selector};

/// An object that a function has found, or a selection of objects.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(in crate::graph) enum Found {
    /// The object with a name.
    Named(ReferenceTarget),
    /// The objects that match a selector, in one namespace or in all.
    Selected(Option<Arc<str>>, LabelSelector),
}

/// The claims of a Pod's ephemeral volumes: `POD-VOLUME`.
pub(super) fn ephemeral_claims(pod: Value<'_>, own: &ObjectRef) -> Vec<Found> {
    let volumes = pod.items_at(&["spec", "volumes"]);
    let ephemeral = volumes.filter(|volume| volume.get("ephemeral").is_some());
    let names = ephemeral.filter_map(|volume| volume.text_at(&["name"]));
    let claims =
        names.map(|name| beside(own, "PersistentVolumeClaim", format!("{}-{name}", own.name)));
    claims.collect()
}

/// The most Pods of a `StatefulSet` whose claims are named.
const MAX_CLAIMS: i64 = 100;

/// The claims of a `StatefulSet`'s Pods: `TEMPLATE-SET-ORDINAL`.
pub(super) fn claim_templates(set: Value<'_>, own: &ObjectRef) -> Vec<Found> {
    let replicas = set.i64_at(&["spec", "replicas"]).unwrap_or(1);
    let first = set.i64_at(&["spec", "ordinals", "start"]).unwrap_or(0);
    let ordinals = first..first.saturating_add(replicas.clamp(0, MAX_CLAIMS));
    let templates = set.items_at(&["spec", "volumeClaimTemplates"]);
    let names = templates.filter_map(|template| template.text_at(&["metadata", "name"]));
    let claims = names.flat_map(|name| {
        let claim = move |at| {
            beside(
                own,
                "PersistentVolumeClaim",
                format!("{name}-{}-{at}", own.name),
            )
        };
        ordinals.clone().map(claim)
    });
    claims.collect()
}

/// The Pods that a policy allows as peers in its own namespace.
pub(super) fn allowed_peers(policy: Value<'_>, own: &ObjectRef) -> Vec<Found> {
    let mut found = Vec::new();
    for (rules, peers) in [("ingress", "from"), ("egress", "to")] {
        for rule in policy.items_at(&["spec", rules]) {
            let near = |peer: &Value<'_>| peer.get("namespaceSelector").is_none();
            let peers = rule.items_at(&[peers]).filter(near);
            let pods = peers.filter_map(|peer| label_selector(peer.get("podSelector")?));
            found.extend(pods.map(|pods| Found::Selected(own.namespace.clone(), pods)));
        }
    }
    found
}

/// The service accounts that a binding is for: by name, as users, and as groups
/// (<https://kubernetes.io/docs/reference/access-authn-authz/rbac/#referring-to-subjects>).
pub(super) fn subjects(binding: Value<'_>, own: &ObjectRef) -> Vec<Found> {
    let subjects = binding.items_at(&["subjects"]);
    subjects
        .filter_map(|subject| service_accounts(subject, own))
        .collect()
}

fn service_accounts(subject: Value<'_>, own: &ObjectRef) -> Option<Found> {
    let name = subject.text_at(&["name"])?;
    let account = |namespace: Option<Arc<str>>, name: Arc<str>| {
        Found::Named(ReferenceTarget {
            kind: GroupKind::new("", "ServiceAccount"),
            namespace,
            name,
        })
    };
    let all = |namespace: Option<Arc<str>>| Found::Selected(namespace, LabelSelector::new([]));
    match &*subject.str_at(&["kind"])? {
        "ServiceAccount" => {
            let namespace = subject.text_at(&["namespace"]);
            Some(account(namespace.or_else(|| own.namespace.clone()), name))
        }
        "User" => {
            let (namespace, name) = name
                .strip_prefix("system:serviceaccount:")?
                .split_once(':')?;
            Some(account(Some(namespace.into()), name.into()))
        }
        "Group" => match &*name {
            "system:serviceaccounts" | "system:authenticated" => Some(all(None)),
            group => {
                let namespace = group.strip_prefix("system:serviceaccounts:")?;
                Some(all(Some(namespace.into())))
            }
        },
        _ => None,
    }
}

/// The Pods that a claim of a device is reserved for.
pub(super) fn reserved_for(claim: Value<'_>, own: &ObjectRef) -> Vec<Found> {
    let users = claim.items_at(&["status", "reservedFor"]);
    let pods = users.filter(|user| user.str_at(&["resource"]).as_deref() == Some("pods"));
    let names = pods.filter_map(|pod| pod.text_at(&["name"]));
    names.map(|name| beside(own, "Pod", name)).collect()
}

/// The namespace of an object without an owner.
pub(super) fn namespace_of_outermost(object: Value<'_>, own: &ObjectRef) -> Vec<Found> {
    let has_owner = object
        .items_at(&["metadata", "ownerReferences"])
        .next()
        .is_some();
    let namespace = own.namespace.clone().filter(|_| !has_owner);
    let target = |name| {
        Found::Named(ReferenceTarget {
            kind: GroupKind::new("", "Namespace"),
            namespace: None,
            name,
        })
    };
    namespace.map(target).into_iter().collect()
}

/// The Secret of an `ExternalSecret`: by default, its own name.
pub(super) fn synced_secret(object: Value<'_>, own: &ObjectRef) -> Vec<Found> {
    let name = object.text_at(&["spec", "target", "name"]);
    vec![beside(
        own,
        "Secret",
        name.unwrap_or_else(|| own.name.clone()),
    )]
}

/// The gateways of a `VirtualService`: `NAME` or `NAMESPACE/NAME`. The word `mesh` stands for all sidecars.
pub(super) fn istio_gateways(object: Value<'_>, own: &ObjectRef) -> Vec<Found> {
    let gateways = object.items_at(&["spec", "gateways"]);
    let names = gateways.filter_map(|gateway| Some(gateway.as_str()?.into_owned()));
    let gateway = |text: String| {
        let (namespace, name) = match text.split_once('/') {
            Some((namespace, name)) => (Some(Arc::from(namespace)), name),
            None => (own.namespace.clone(), &*text),
        };
        Found::Named(ReferenceTarget {
            kind: GroupKind::new("networking.istio.io", "Gateway"),
            namespace,
            name: name.into(),
        })
    };
    names.filter(|name| name != "mesh").map(gateway).collect()
}

/// The Services that a `VirtualService` routes to.
pub(super) fn istio_services(object: Value<'_>, own: &ObjectRef) -> Vec<Found> {
    let destinations = istio_destinations(object);
    destinations.filter_map(|to| host(to, own)).collect()
}

/// The destinations of a `VirtualService`, and the mirrors of its traffic.
pub fn istio_destinations(object: Value<'_>) -> impl Iterator<Item = Value<'_>> {
    let protocols = ["http", "tls", "tcp"].into_iter();
    let routes = protocols.flat_map(move |protocol| object.items_at(&["spec", protocol]));
    routes.flat_map(|route| {
        let targets = route.items_at(&["route"]);
        let targets = targets.filter_map(|target| target.get("destination"));
        targets.chain(route.get("mirror"))
    })
}

/// The Service of a `DestinationRule`.
pub(super) fn istio_host(object: Value<'_>, own: &ObjectRef) -> Vec<Found> {
    let spec = object.get("spec");
    Vec::from_iter(spec.and_then(|spec| host(spec, own)))
}

/// The Service of the `host` of a holder.
fn host(holder: Value<'_>, own: &ObjectRef) -> Option<Found> {
    let host = holder.text_at(&["host"])?;
    service_of_host(&host, own).map(Found::Named)
}

/// The Service that Istio means by a host in an object: `NAME`, or `NAME.NAMESPACE.svc…`. Any other host is outside of
/// the cluster.
pub fn service_of_host(host: &str, own: &ObjectRef) -> Option<ReferenceTarget> {
    let mut labels = host.split('.');
    let name = labels.next().filter(|name| !name.is_empty())?;
    let namespace = match (labels.next(), labels.next()) {
        (None, _) => own.namespace.clone(),
        (Some(namespace), Some("svc")) => Some(Arc::from(namespace)),
        (Some(_), _) => return None,
    };
    Some(ReferenceTarget {
        kind: GroupKind::new("", "Service"),
        namespace,
        name: name.into(),
    })
}

/// The Kustomization that has applied an object.
pub(super) fn flux_kustomization(object: Value<'_>, _own: &ObjectRef) -> Vec<Found> {
    let label = |key: &str| {
        let key = format!("kustomize.toolkit.fluxcd.io/{key}");
        object.text_at(&["metadata", "labels", &key])
    };
    let named = |name| {
        Found::Named(ReferenceTarget {
            kind: GroupKind::new("kustomize.toolkit.fluxcd.io", "Kustomization"),
            namespace: label("namespace"),
            name,
        })
    };
    label("name").map(named).into_iter().collect()
}

/// An object of a core kind in the same namespace.
fn beside(own: &ObjectRef, kind: &str, name: impl Into<Arc<str>>) -> Found {
    Found::Named(ReferenceTarget {
        kind: GroupKind::new("", kind),
        namespace: own.namespace.clone(),
        name: name.into(),
    })
}
