//! The parts of an object that have a status of their own: the Gateways of a route, the listeners of a Gateway, the
//! components of an operator.
//!
//! Each is an entry of a list or of a map of the status. The history of an object is no part of it.

use std::borrow::Cow;

use crate::object::{Kind, StatusCondition, Value};

use super::read;
use super::words::words_of;

/// Words in the names of fields that hold what the object was, is to be, or may become, or objects that are not its parts.
const OTHERS: &[&str] = &[
    "attempts",
    "conditional",
    "deprecated",
    "desired",
    "executions",
    "executor",
    "expected",
    "history",
    "initial",
    "inputs",
    "next",
    "nodes",
    "old",
    "outputs",
    "parameters",
    "previous",
    "prior",
    "related",
    "requested",
    "resources",
    "revisions",
    "runs",
    "spec",
    "target",
    "template",
    "templates",
    "trace",
    "transition",
    "transitions",
    "updates",
    "v1beta1",
    "v1beta2",
];

/// The fields that name a part, the best first.
const NAMES: &[&[&str]] = &[
    &["name"],
    &["parentRef", "name"],
    &["ancestorRef", "name"],
    &["clusterName"],
    &["domain"],
    &["host"],
    &["id"],
];

/// The lists of the objects above a route or a policy. Each of them reports its own conditions
/// (<https://gateway-api.sigs.k8s.io/reference/spec/#routeparentstatus>, <https://gateway-api.sigs.k8s.io/geps/gep-713/>).
const PARENTS: &[&str] = &["parents", "ancestors"];

/// A part of an object.
pub(super) struct Part<'a> {
    /// What it is, for people: `listener https`. Empty if it is the only one.
    pub(super) name: String,
    pub(super) value: Value<'a>,
}

/// Whether a field of a status is about the object as it is now. `lastFailedRevisionErrors` is about a failure of the past.
pub(super) fn is_about_now(words: &[String]) -> bool {
    let is_other = |word: &String| OTHERS.contains(&&**word);
    let is_past = |pair: &[String]| pair[0] == "last" && matches!(&*pair[1], "failed" | "failure");
    !words.iter().any(is_other) && !words.windows(2).any(is_past)
}

/// The parts of an object: the objects one level down in its status, and in the lists and maps there.
pub(super) fn of(object: Value<'_>) -> Vec<Part<'_>> {
    let Some(status) = read::object_at(object, &["status"]) else {
        return Vec::new();
    };
    let fields = status.fields();
    let fields = fields.filter(|(key, _)| key != "conditions" && is_about_now(&words_of(key)));
    fields
        .flat_map(|(key, value)| parts_in(&key, value))
        .filter(|part| is_in_spec(object, part.value))
        .collect()
}

/// The parts in one field.
fn parts_in<'a>(key: &str, value: Value<'a>) -> Vec<Part<'a>> {
    let is_object = |value: &Value<'_>| value.kind() == Kind::Object;
    match value.kind() {
        Kind::Array => {
            let items: Vec<_> = value.items().filter(is_object).collect();
            let is_only_parent = items.len() == 1 && PARENTS.contains(&key);
            let part = |value| Part {
                name: if is_only_parent {
                    String::new()
                } else {
                    name_of(key, value)
                },
                value,
            };
            items.into_iter().map(part).collect()
        }
        Kind::Object => {
            let whole = Part {
                name: key.to_owned(),
                value,
            };
            let inner = value.fields().filter(|(_, value)| is_object(value));
            let inner = inner.map(|(name, value)| Part {
                name: name.into_owned(),
                value,
            });
            std::iter::once(whole).chain(inner).collect()
        }
        _ => Vec::new(),
    }
}

/// `listener https`: the singular of the list, and the name of its entry.
fn name_of(key: &str, entry: Value<'_>) -> String {
    let is_plural = !key.ends_with("us") && !key.ends_with("ss");
    let noun = key.strip_suffix('s').filter(|_| is_plural).unwrap_or(key);
    let mut names = NAMES.iter().filter_map(|path| entry.str_at(path));
    let name = names.find(|name| !name.is_empty());
    name.map_or_else(|| noun.to_owned(), |name| format!("{noun} {name}"))
}

/// Whether the spec still names the parent that an entry is about. Controllers leave the entries of others alone.
fn is_in_spec(object: Value<'_>, entry: Value<'_>) -> bool {
    let (Some(of_entry), Some(_)) = (entry.get("parentRef"), object.at(&["spec", "parentRefs"]))
    else {
        return true;
    };
    let mut wanted = object.items_at(&["spec", "parentRefs"]);
    let is_named = !read::text_or(of_entry, &["name"], "").is_empty();
    !is_named
        || wanted.any(|wanted| {
            let section = |reference| read::text_or(reference, &["sectionName"], "");
            is_same_parent(object, wanted, of_entry) && section(wanted) == section(of_entry)
        })
}

/// Whether two references of an object are to the same parent, or to sections of it.
fn is_same_parent(object: Value<'_>, one: Value<'_>, other: Value<'_>) -> bool {
    let own_namespace = read::text_or(object, &["metadata", "namespace"], "");
    let namespace = |reference| match read::text_or(reference, &["namespace"], "") {
        namespace if namespace.is_empty() => own_namespace.clone(),
        namespace => namespace,
    };
    let name = |reference| read::text_or(reference, &["name"], "");
    name(one) == name(other) && namespace(one) == namespace(other)
}

/// The first parent of the spec that has no entry in the status: "the controller that manages the parent must add an entry to
/// this list when the controller first sees the route" (Gateway API, `RouteStatus`).
fn unreported_parent(object: Value<'_>) -> Option<String> {
    object.at(&["status", "parents"])?;
    let reported = |wanted: Value<'_>| {
        let mut entries = object.items_at(&["status", "parents"]);
        entries.any(|entry| {
            let about = entry.get("parentRef");
            about.is_none_or(|about| is_same_parent(object, wanted, about))
        })
    };
    let mut wanted = object.items_at(&["spec", "parentRefs"]);
    let missing = wanted.find(|wanted| !reported(*wanted))?;
    let name = read::text_or(missing, &["name"], "its parent");
    Some(format!("{name} has not reported on it yet"))
}

/// The conditions of the parts, with the names of the parts. Those of an older generation of the object do not count.
pub(super) fn conditions(object: Value<'_>) -> Vec<(Option<String>, StatusCondition<'_>)> {
    let generation = object.i64_at(&["metadata", "generation"]);
    let is_old = |condition: &StatusCondition<'_>| {
        let observed = condition.observed_generation();
        observed.is_some_and(|observed| generation.is_some_and(|newest| observed < newest))
    };
    let parts = of(object).into_iter();
    let conditions = parts.flat_map(|part| {
        let name = part.name;
        let conditions = part.value.items_at(&["conditions"]);
        let conditions = conditions.filter(|value| value.kind() == Kind::Object);
        conditions.map(move |value| (Some(name.clone()), StatusCondition::of(value)))
    });
    let conditions = conditions.filter(|(_, condition)| !is_old(condition));
    conditions.collect()
}

/// The parent that has not looked at the newest generation of the object, and what it lacks. A controller that has done so
/// leaves the older entries of its own alone.
pub(super) fn unobserved(object: Value<'_>) -> Option<String> {
    let generation = object.i64_at(&["metadata", "generation"]).unwrap_or(0);
    let lists = PARENTS.iter().copied();
    let entries = lists.flat_map(|list| object.items_at(&["status", list]));
    let entries: Vec<Value<'_>> = entries
        .filter(|entry| entry.kind() == Kind::Object)
        .collect();
    let observed = |entry: Value<'_>| {
        let conditions = entry.items_at(&["conditions"]).map(StatusCondition::of);
        let observed = conditions.map(|one| one.observed_generation().unwrap_or(generation));
        observed.min()
    };
    let controller = |entry: Value<'_>| read::text_or(entry, &["controllerName"], "").into_owned();
    let is_done = |entry: Value<'_>| {
        let mut others = entries.iter();
        others.any(|other| {
            controller(*other) == controller(entry) && observed(*other) >= Some(generation)
        })
    };
    let mut wanted = entries.iter().filter(|entry| is_in_spec(object, **entry));
    let late = wanted.find_map(|entry| {
        let mut keys = ["parentRef", "ancestorRef"].into_iter();
        let name = keys.find_map(|key| entry.str_at(&[key, "name"]));
        let name = name.unwrap_or(Cow::Borrowed("its parent"));
        match observed(*entry) {
            None => Some(format!("{name} has not reported a condition yet")),
            Some(observed) if observed < generation && !is_done(*entry) => Some(format!(
                "{name} has not observed generation {generation} yet"
            )),
            Some(_) => None,
        }
    });
    late.or_else(|| unreported_parent(object))
}
