//! Selectors and labels: which objects another one selects, and the nearest selector that would match.

use std::collections::BTreeMap;
use std::sync::Arc;

use crate::object::selector::LabelSelector;
use crate::object::{GroupKind, near};

use super::labels::Labels;
use super::node::Node;
use super::reference_target::ReferenceTarget;
use super::relations::Relation;

/// A selector of an object, and what it selects from.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Selection {
    /// What the selected objects are for this one.
    pub relation: &'static Relation,
    /// The type of the selected objects.
    pub kind: GroupKind,
    /// Their namespace; `None` for all namespaces.
    pub namespace: Option<Arc<str>>,
    /// Their labels.
    pub labels: LabelSelector,
}

impl Selection {
    /// Whether it selects an object.
    pub(super) fn selects(&self, node: &Node) -> bool {
        let object = &node.object;
        *object.kind == *self.kind.kind
            && *object.group() == *self.kind.group
            && self.is_of(object.namespace.as_ref())
            && self.matches(&node.labels)
    }

    /// Whether it selects an object with this name and these labels.
    pub(super) fn selects_named(&self, object: &ReferenceTarget, labels: &Labels) -> bool {
        object.kind == self.kind && self.is_of(object.namespace.as_ref()) && self.matches(labels)
    }

    /// Whether it selects Pods in this namespace with these labels.
    pub(super) fn selects_pods(&self, namespace: Option<&Arc<str>>, labels: &Labels) -> bool {
        &*self.kind.kind == "Pod" && self.is_of(namespace) && self.matches(labels)
    }

    fn is_of(&self, namespace: Option<&Arc<str>>) -> bool {
        self.namespace.is_none() || self.namespace.as_ref() == namespace
    }

    fn matches(&self, labels: &Labels) -> bool {
        self.labels.matches(|key| labels.get(key))
    }
}

/// Labels that some Pods have, and that resemble a selector.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Nearest {
    /// As a selector: `app=web,tier=front`.
    pub labels: String,
    /// How many Pods have them.
    pub pods: usize,
}

/// The labels of Pods that resemble a selector most; `None` if none do.
pub fn nearest<'a>(
    selector: &LabelSelector,
    pods: impl IntoIterator<Item = &'a Labels>,
) -> Option<Nearest> {
    let mut found: BTreeMap<(usize, String), usize> = BTreeMap::new();
    for labels in pods {
        if let Some(candidate) = resembling(selector, labels) {
            *found.entry(candidate).or_default() += 1;
        }
    }
    let best = found
        .into_iter()
        .min_by_key(|((cost, _), pods)| (*cost, std::cmp::Reverse(*pods)));
    best.map(|((_, labels), pods)| Nearest { labels, pods })
}

/// The labels of one Pod in place of those that a selector requires, and how much they differ. A label that the Pod does
/// not have is left out.
fn resembling(selector: &LabelSelector, labels: &Labels) -> Option<(usize, String)> {
    let mut cost = 0;
    let mut is_alike = false;
    let mut terms = Vec::new();
    for (key, value) in selector.equalities() {
        let Some((key, value, differs)) = replacement(labels, key, value) else {
            cost += ABSENT;
            continue;
        };
        cost += differs;
        is_alike |= differs < UNLIKE;
        terms.push(format!("{key}={value}"));
    }
    terms.sort();
    is_alike.then(|| (cost, terms.join(",")))
}

/// The difference between two values that have nothing in common.
const UNLIKE: usize = 4;

/// The difference between a label and none.
const ABSENT: usize = 5;

/// The label of a Pod in place of a required one, and how much it differs: in nothing, a little in its value, in its
/// key, or wholly in its value. `None` if the Pod has no such label.
fn replacement<'a>(
    labels: &'a Labels,
    key: &'a str,
    value: &str,
) -> Option<(&'a str, &'a str, usize)> {
    let own = labels.get(key);
    if let Some(own) = own.filter(|own| are_alike(value, own)) {
        return Some((key, own, usize::from(own != value)));
    }
    let other = labels.iter().find(|(_, other)| *other == value);
    let other = other.map(|(other, value)| (other, value, 2));
    other.or_else(|| Some((key, own?, UNLIKE)))
}

/// Whether one may be meant by the other: `wbe` and `web`, `web` and `shop-web`.
fn are_alike(wanted: &str, other: &str) -> bool {
    let is_part = |part: &str, whole: &str| part.len() > 2 && whole.contains(part);
    !near(wanted, [other]).is_empty() || is_part(wanted, other) || is_part(other, wanted)
}

#[cfg(test)]
mod tests {
    use crate::object::Doc;

    use super::*;

    #[test]
    fn labels_are_found_by_their_keys() {
        let json = r#"{"metadata":{"labels":{"tier":"","app":"web","a\u0000b":"c","n":1}}}"#;
        let doc = Doc::parse(json).expect("an object");
        let labels = Labels::of(doc.root());
        assert_eq!(
            labels.iter().collect::<Vec<_>>(),
            [("app", "web"), ("tier", "")]
        );
        assert_eq!(labels.get("tier"), Some(""));
        assert_eq!(labels.get("web"), None);
        assert_eq!(Labels::default().iter().count(), 0);
    }

    fn check(selector: &str, pods: &[&str], expect: &str) {
        let labels = |pod: &&str| -> Labels {
            let pairs = pod.split(',').filter_map(|pair| pair.split_once('='));
            pairs
                .map(|(key, value)| (key.into(), value.into()))
                .collect()
        };
        let pods: Vec<Labels> = pods.iter().map(labels).collect();
        let found = nearest(&selector.parse().expect("a selector"), &pods);
        let text = found.map(|found| format!("{} {}", found.pods, found.labels));
        assert_eq!(text.unwrap_or_default(), expect, "{selector}");
    }

    #[test]
    fn a_selector_is_compared_with_the_labels_of_pods() {
        let web = "app=web,tier=front";
        check("app=wbe", &[web, web, "app=db"], "2 app=web");
        check("app=web,tier=frnot", &[web], "1 app=web,tier=front");
        check("app=web,tier=back", &[web], "1 app=web,tier=front");
        check("app=web,zone=a", &[web], "1 app=web");
        check(
            "app=web,zone=a",
            &[web, "app=web,zone=b"],
            "1 app=web,zone=b",
        );
        check("app=api,zone=a", &[web], "");
        check("app.kubernetes.io/name=web", &[web], "1 app=web");
        check("app=shop-web", &[web], "1 app=web");
        check("app=api", &[web], "");
        check("app=wbe", &[], "");
        check(
            "app=wbe",
            &["app=web", "app=wbex", "app=wbex"],
            "2 app=wbex",
        );
    }
}
