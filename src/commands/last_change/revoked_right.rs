//! `RevokedRights`: what took a right away that a failure says is missing.
//!
//! The API server's RBAC authorizer names the user and the right
//! (<https://kubernetes.io/docs/reference/access-authn-authz/rbac/>). Nothing tells which binding gave it before, so the
//! bindings and roles that changed lately are read.

use std::time::Duration;

use futures::future::join_all;
use jiff::Timestamp;
use tokio::time::timeout;

use crate::diff::Redactor;
use crate::graph::ReferenceTarget;
use crate::model::Model;
use crate::object::{GroupKind, Value};
use crate::source::{SourceKey, Version};
use crate::watch::{History, PastEvent, RequestAllowance};

use super::change::LastChange;
use super::error_text::ErrorText;
use super::failure::{Failure, FailureReason, unwell_pods};
use super::fields::Matters;

/// The group of the kinds that give rights.
const RBAC: &str = "rbac.authorization.k8s.io";

/// What the bindings and roles of one kind may cost.
const REQUESTS_A_KIND: u32 = 4;

/// How long the search may take.
const PATIENCE: Duration = Duration::from_secs(1);

/// A right that the API server says a user does not have.
#[derive(Clone, Debug, PartialEq, Eq)]
struct MissingRight {
    user: String,
    verb: String,
    /// The plural of the kind, with a subresource.
    resource: String,
    group: String,
    /// `None` at the scope of the cluster.
    namespace: Option<String>,
}

/// Where to look for what gave a user a missing right.
pub(super) struct RevokedRights {
    right: MissingRight,
    /// The bindings and roles of the namespace and of the cluster.
    histories: Vec<History>,
    /// The server's time.
    now: Timestamp,
}

impl RevokedRights {
    /// `None` if the failure names no missing right.
    pub(super) fn of(
        model: &Model,
        failure: &Failure,
        history: &dyn Fn(&SourceKey) -> Option<History>,
        now: Timestamp,
    ) -> Option<RevokedRights> {
        let object = model.object(&failure.uid)?;
        let unwell = unwell_pods(model, &failure.uid).into_iter();
        let mut causes = unwell.chain([object]).flat_map(|it| &it.assessment.causes);
        let right = causes.find_map(|cause| MissingRight::in_text(&cause.text))?;
        let cluster = object.cluster()?;
        let place = right.namespace.as_deref();
        let of_namespace = ["RoleBinding", "Role"].map(|kind| (kind, place));
        let of_cluster = ["ClusterRoleBinding", "ClusterRole"].map(|kind| (kind, None));
        let of_namespace = of_namespace.into_iter().filter(|_| place.is_some());
        let histories = of_namespace.chain(of_cluster).filter_map(|(kind, place)| {
            let any = ReferenceTarget {
                kind: GroupKind {
                    group: RBAC.into(),
                    kind: kind.into(),
                },
                namespace: place.map(Into::into),
                name: "".into(),
            };
            history(&any.list_source(cluster, model.types())?)
        });
        Some(RevokedRights {
            histories: histories.collect(),
            right,
            now,
        })
    }

    /// The newest change that took the right away, and the past in which it is.
    pub(super) async fn find(
        &self,
        redactor: &Redactor,
        allowance: &RequestAllowance,
    ) -> Option<(LastChange, History)> {
        let reads = self.histories.iter().map(|history| async move {
            let lately = allowance.take(REQUESTS_A_KIND).then(|| history.lately())?;
            let (now, events) = lately.await.ok()?;
            Some((history, now.objects, events))
        });
        let read = timeout(PATIENCE, join_all(reads)).await.ok()?;
        let read: Vec<_> = read.into_iter().flatten().collect();
        let current = read.iter().flat_map(|(_, objects, _)| objects);
        let current: Vec<&Version> = current.map(|version| &**version).collect();
        if current.iter().any(|one| self.right.is_given(one, &current)) {
            return None;
        }
        let events = read
            .iter()
            .flat_map(|(history, _, events)| events.iter().map(move |event| (*history, event)));
        let past = events.clone().flat_map(|(_, event)| {
            let before = event.prev.as_deref();
            before.into_iter().chain([&*event.now])
        });
        let all: Vec<&Version> = current.iter().copied().chain(past).collect();
        let lost = events.filter(|(_, event)| self.is_lost(event, &all));
        let (history, event) = lost.max_by_key(|(_, event)| event.at)?;
        let change = if event.is_end() {
            LastChange::deletion(&event.now.object, event.at?)
        } else {
            let matters = Matters {
                reason: &FailureReason::Other,
                is_own: false,
                errors: &ErrorText::default(),
                now: self.now,
            };
            LastChange::between(event.prev.as_deref()?, &event.now, matters, redactor)?.tied()
        };
        Some((change, history.clone()))
    }

    /// Whether a binding or a role gave the right before an event, and no longer after it.
    fn is_lost(&self, event: &PastEvent, all: &[&Version]) -> bool {
        let before = match &event.prev {
            Some(before) => before,
            None if event.is_end() => &event.now,
            None => return false,
        };
        let is_given = |version| self.right.is_given(version, all);
        is_given(before) && (event.is_end() || !is_given(&event.now))
    }
}

impl MissingRight {
    /// The right in `User "NAME" cannot VERB resource "RESOURCE" in API group "GROUP" in the namespace "NAMESPACE"`, which
    /// ends with `at the cluster scope` outside of namespaces.
    fn in_text(text: &str) -> Option<MissingRight> {
        let (_, text) = text.split_once("User \"")?;
        let (user, text) = text.split_once("\" cannot ")?;
        let (verb, text) = text.split_once(" resource \"")?;
        let (resource, text) = text.split_once("\" in API group \"")?;
        let (group, text) = text.split_once('"')?;
        let namespace = text.strip_prefix(" in the namespace \"");
        let namespace = namespace.and_then(|text| Some(text.split_once('"')?.0));
        (namespace.is_some() || text.starts_with(" at the cluster scope")).then(|| MissingRight {
            user: user.to_owned(),
            verb: verb.to_owned(),
            resource: resource.to_owned(),
            group: group.to_owned(),
            namespace: namespace.map(str::to_owned),
        })
    }

    /// Whether a binding or a role gives the right together with one of the others.
    fn is_given(&self, one: &Version, others: &[&Version]) -> bool {
        let mut others = others.iter().copied();
        if is_binding(one) {
            self.is_bound(one) && others.any(|role| names(one, role) && self.is_allowed(role))
        } else {
            self.is_allowed(one) && others.any(|bound| names(bound, one) && self.is_bound(bound))
        }
    }

    /// Whether a subject of a binding is the user, or a group of it.
    fn is_bound(&self, binding: &Version) -> bool {
        let Ok(doc) = binding.doc() else {
            return false;
        };
        let account = self.user.strip_prefix("system:serviceaccount:");
        let account = account.and_then(|account| account.split_once(':'));
        let mut subjects = doc.root().items_at(&["subjects"]);
        subjects.any(|subject| {
            let field = |name| subject.str_at(&[name]);
            let name = field("name").unwrap_or_default();
            match field("kind").as_deref() {
                Some("User") => name == self.user,
                Some("ServiceAccount") => account.is_some_and(|(namespace, own)| {
                    name == own && field("namespace").is_some_and(|place| place == namespace)
                }),
                Some("Group") => {
                    let of_accounts = name.strip_prefix("system:serviceaccounts");
                    let of_accounts = of_accounts.zip(account);
                    name == "system:authenticated"
                        || of_accounts.is_some_and(|(rest, (namespace, _))| {
                            rest.is_empty() || rest.strip_prefix(':') == Some(namespace)
                        })
                }
                _ => false,
            }
        })
    }

    /// Whether a rule of a role allows the request. A rule for single names allows no others.
    fn is_allowed(&self, role: &Version) -> bool {
        let Ok(doc) = role.doc() else {
            return false;
        };
        let subresource = self.resource.split_once('/').map(|(_, own)| own);
        let any_kind = subresource.map(|own| format!("*/{own}"));
        let mut rules = doc.root().items_at(&["rules"]);
        rules.any(|rule: Value<'_>| {
            let has = |list, own: &str| {
                let mut items = rule.items_at(&[list]).filter_map(Value::as_str);
                items.any(|item| item == "*" || item == own)
            };
            let is_of_kind = || {
                let any_kind = any_kind.as_deref();
                has("resources", &self.resource)
                    || any_kind.is_some_and(|any_kind| has("resources", any_kind))
            };
            has("verbs", &self.verb) && has("apiGroups", &self.group) && is_of_kind()
        })
    }
}

fn is_binding(version: &Version) -> bool {
    version.object.kind.ends_with("Binding")
}

/// Whether a binding names a role.
fn names(binding: &Version, role: &Version) -> bool {
    let Ok(doc) = binding.doc() else {
        return false;
    };
    let named = |field| doc.root().str_at(&["roleRef", field]);
    let is_named = named("kind").as_deref() == Some(&*role.object.kind)
        && named("name").as_deref() == Some(&*role.object.name);
    let place = &role.object.namespace;
    is_binding(binding) && is_named && (place.is_none() || *place == binding.object.namespace)
}

#[cfg(test)]
mod tests {
    use crate::object::{Doc, ObjectRef, ResourceVersion};

    use super::*;

    fn version(json: &str) -> Version {
        Version {
            object: ObjectRef::of(Doc::parse(json).expect("an object").root()).into(),
            version: ResourceVersion::new("1"),
            body: json.into(),
        }
    }

    #[test]
    fn the_words_of_the_authorizer_name_a_right() {
        let pods = "failed to list *v1.Pod: pods is forbidden: User \"system:serviceaccount:shop:robot\" cannot list resource \"pods\" in API group \"\" in the namespace \"shop\"";
        let nodes = "nodes is forbidden: User \"eve\" cannot watch resource \"nodes/status\" in API group \"a.b\" at the cluster scope";
        for (text, expect) in [
            (pods, "system:serviceaccount:shop:robot list pods  shop"),
            (nodes, "eve watch nodes/status a.b -"),
            ("User \"eve\" cannot get path \"/metrics\"", ""),
            ("pods \"web\" is forbidden: exceeded quota", ""),
            ("User \"eve\" cannot list resource \"pods\" in API", ""),
        ] {
            let right = MissingRight::in_text(text);
            let said = right.map(|it| {
                let place = it.namespace.unwrap_or_else(|| "-".to_owned());
                [it.user, it.verb, it.resource, it.group, place].join(" ")
            });
            assert_eq!(said.unwrap_or_default(), expect, "{text}");
        }
    }

    /// A binding in a namespace that names a role, with this subject and another one.
    fn binding(role: &str, subject: &str) -> Version {
        version(&format!(
            r#"{{"apiVersion":"rbac.authorization.k8s.io/v1","kind":"RoleBinding","metadata":{{"name":"b","namespace":"shop"}},"roleRef":{{"kind":"{role}","name":"r"}},"subjects":[{{"kind":"User","name":"eve"}},{{{subject}}}]}}"#
        ))
    }

    /// A role in a namespace, or in the cluster, with this rule and another one.
    fn role(kind: &str, namespace: &str, rule: &str) -> Version {
        version(&format!(
            r#"{{"apiVersion":"rbac.authorization.k8s.io/v1","kind":"{kind}","metadata":{{"name":"r","namespace":"{namespace}"}},"rules":[{{"apiGroups":["apps"],"resources":["*"],"verbs":["*"]}},{{{rule}}}]}}"#
        ))
    }

    #[test]
    fn a_role_and_a_binding_give_a_right_together() {
        let right = MissingRight {
            user: "system:serviceaccount:shop:robot".to_owned(),
            verb: "list".to_owned(),
            resource: "pods/log".to_owned(),
            group: String::new(),
            namespace: Some("shop".to_owned()),
        };
        let robot = r#""kind":"ServiceAccount","name":"robot","namespace":"shop""#;
        let namesake = r#""kind":"ServiceAccount","name":"robot","namespace":"other""#;
        let all = r#""kind":"Group","name":"system:serviceaccounts:shop""#;
        let others = r#""kind":"Group","name":"system:serviceaccounts:other""#;
        let logs = r#""apiGroups":[""],"resources":["pods/log"],"verbs":["get","list"]"#;
        let any_log = r#""apiGroups":["*"],"resources":["*/log"],"verbs":["*"]"#;
        let pods = r#""apiGroups":[""],"resources":["pods"],"verbs":["list"]"#;
        for (bound, subject, kind, namespace, allowed, expect) in [
            ("Role", robot, "Role", "shop", logs, true),
            ("Role", all, "Role", "shop", any_log, true),
            ("Role", namesake, "Role", "shop", logs, false),
            ("Role", others, "Role", "shop", logs, false),
            ("Role", robot, "Role", "other", logs, false),
            ("Role", robot, "Role", "shop", pods, false),
            ("Role", robot, "ClusterRole", "shop", logs, false),
            ("ClusterRole", robot, "ClusterRole", "shop", logs, true),
        ] {
            let (binding, role) = (binding(bound, subject), role(kind, namespace, allowed));
            for (one, other) in [(&binding, &role), (&role, &binding)] {
                assert_eq!(right.is_given(one, &[other]), expect, "{one:?} {other:?}");
            }
        }
    }
}
