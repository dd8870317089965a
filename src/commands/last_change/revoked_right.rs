//! `RevokedRights`: what took a right away that a failure says is missing.
//!
//! The API server's RBAC authorizer names the user and the right
//! (<https://kubernetes.io/docs/reference/access-authn-authz/rbac/>). Nothing tells which binding gave it before, so the
//! bindings and roles that changed lately are read.

use std::cmp::Reverse;
use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Duration;

use futures::future::join_all;
use jiff::Timestamp;
use tokio::sync::OnceCell;
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
use super::suspects::Unread;

/// The group of the kinds that give rights.
const RBAC: &str = "rbac.authorization.k8s.io";

/// What the bindings and roles of one kind may cost.
const REQUESTS_A_KIND: u32 = 4;

/// How long the search may take.
const PATIENCE: Duration = Duration::from_secs(1);

/// The bindings and roles at one time.
type Rbac = BTreeMap<ReferenceTarget, Arc<Version>>;

/// A right that the API server says a user does not have.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct MissingRight {
    user: String,
    verb: String,
    /// The plural of the kind, with a subresource.
    resource: String,
    group: String,
    /// `None` at the scope of the cluster.
    namespace: Option<String>,
}

/// What a search for a revoked right finds: the change, the past in which it is, and why some of it could not be read.
type Found = (Option<(LastChange, History)>, Option<Unread>);

/// The searches that start together, by the right. Failures that name the same right share one.
pub(super) type Searches = BTreeMap<MissingRight, Arc<OnceCell<Found>>>;

/// Where to look for what gave a user a missing right.
pub(super) struct RevokedRights {
    right: MissingRight,
    search: Arc<OnceCell<Found>>,
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
                kind: GroupKind::new(RBAC, kind),
                namespace: place.map(Into::into),
                name: "".into(),
            };
            history(&any.list_source(cluster, model.types())?)
        });
        Some(RevokedRights {
            histories: histories.collect(),
            search: Arc::default(),
            right,
            now,
        })
    }

    /// Shares the search with the others for the same right.
    pub(super) fn shared(self, searches: &mut Searches) -> RevokedRights {
        let search = searches.entry(self.right.clone()).or_default().clone();
        RevokedRights { search, ..self }
    }

    /// The change that took the right away, and the past in which it is; and why some of it could not be read.
    pub(super) async fn find(&self, redactor: &Redactor, allowance: &RequestAllowance) -> Found {
        let found = self.search.get_or_init(|| self.search(redactor, allowance));
        found.await.clone()
    }

    async fn search(&self, redactor: &Redactor, allowance: &RequestAllowance) -> Found {
        let reads = self.histories.iter().map(|history| async move {
            if !allowance.take(REQUESTS_A_KIND) {
                return Err(Unread::CutOff);
            }
            let Ok((now, events)) = history.lately().await else {
                allowance.put_back(REQUESTS_A_KIND - 1);
                return Err(Unread::Refused);
            };
            Ok((history, now.objects, events))
        });
        let Ok(read) = timeout(PATIENCE, join_all(reads)).await else {
            return (None, Some(Unread::CutOff));
        };
        let unread = read
            .iter()
            .filter_map(|read| read.as_ref().err().copied())
            .max();
        let (mut there, mut events) = (Rbac::new(), Vec::new());
        for (history, objects, past) in read.into_iter().flatten() {
            there.extend(objects.into_iter().map(|one| (name(&one), one)));
            events.extend(past.into_iter().map(|event| (history, event)));
        }
        events.sort_by_key(|(_, event)| Reverse(event.at));
        let found = self
            .loss(there, &events)
            .and_then(|(history, event)| Some((self.change(event, redactor)?, (*history).clone())));
        (found, unread)
    }

    /// The event before which the right was given. `events` begin with the newest, and end at what is `there` now. `None` if
    /// the right is given now, or was not given before any of them.
    fn loss<'e, H>(
        &self,
        mut there: Rbac,
        events: &'e [(H, PastEvent)],
    ) -> Option<&'e (H, PastEvent)> {
        if self.right.is_given(&there) {
            return None;
        }
        events.iter().find(|(_, event)| {
            let before = match &event.prev {
                None if event.is_end() => Some(&event.now),
                before => before.as_ref(),
            };
            match before {
                Some(before) => drop(there.insert(name(before), before.clone())),
                None => drop(there.remove(&name(&event.now))),
            }
            self.right.is_given(&there)
        })
    }

    fn change(&self, event: &PastEvent, redactor: &Redactor) -> Option<LastChange> {
        if event.is_end() {
            return Some(LastChange::deletion(&event.now.object, event.at?));
        }
        let matters = Matters {
            reason: &FailureReason::Other,
            is_own: false,
            errors: &ErrorText::default(),
            now: self.now,
        };
        let change = LastChange::between(event.prev.as_deref()?, &event.now, matters, redactor);
        change.map(LastChange::tied)
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

    /// Whether a binding and the role that it names give the right.
    fn is_given(&self, there: &Rbac) -> bool {
        let bindings = there.values();
        let bindings = bindings.filter(|one| one.object.kind.ends_with("Binding"));
        let bound = bindings.filter(|binding| self.is_bound(binding));
        let mut roles = bound.filter_map(|binding| there.get(&role_of(binding)?));
        roles.any(|role| self.is_allowed(role))
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

    /// Whether a rule of a role allows the request for objects of any name.
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
            let is_for_all = rule.items_at(&["resourceNames"]).next().is_none();
            is_for_all && has("verbs", &self.verb) && has("apiGroups", &self.group) && is_of_kind()
        })
    }
}

fn name(version: &Version) -> ReferenceTarget {
    ReferenceTarget::of(&version.object)
}

/// The role that a binding names.
fn role_of(binding: &Version) -> Option<ReferenceTarget> {
    let doc = binding.doc().ok()?;
    let named = |field| doc.root().str_at(&["roleRef", field]);
    let kind = named("kind")?;
    let namespace = binding.object.namespace.clone();
    Some(ReferenceTarget {
        namespace: namespace.filter(|_| kind == "Role"),
        kind: GroupKind::new(RBAC, &kind),
        name: named("name")?.into(),
    })
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
        let namespace = match namespace {
            "" => String::new(),
            namespace => format!(r#","namespace":"{namespace}""#),
        };
        version(&format!(
            r#"{{"apiVersion":"rbac.authorization.k8s.io/v1","kind":"{kind}","metadata":{{"name":"r"{namespace}}},"rules":[{{"apiGroups":["apps"],"resources":["*"],"verbs":["*"]}},{{{rule}}}]}}"#
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
        let of_one = format!(r#"{logs},"resourceNames":["web"]"#);
        for (bound, subject, kind, namespace, allowed, expect) in [
            ("Role", robot, "Role", "shop", logs, true),
            ("Role", all, "Role", "shop", any_log, true),
            ("Role", namesake, "Role", "shop", logs, false),
            ("Role", others, "Role", "shop", logs, false),
            ("Role", robot, "Role", "other", logs, false),
            ("Role", robot, "Role", "shop", pods, false),
            ("Role", robot, "Role", "shop", &of_one, false),
            ("Role", robot, "ClusterRole", "", logs, false),
            ("ClusterRole", robot, "ClusterRole", "", logs, true),
        ] {
            let both = [binding(bound, subject), role(kind, namespace, allowed)];
            let both = both.map(|one| (name(&one), Arc::new(one)));
            let there = Rbac::from(both);
            assert_eq!(right.is_given(&there), expect, "{there:?}");
        }
    }
}
