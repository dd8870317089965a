//! The offers that a cluster gives: types, names, namespaces, and what is in objects.

use std::collections::BTreeSet;
use std::time::Duration;

use super::known;
use super::line::{TypedLine, TypedPart, ValueSort};
use super::live_cluster::{LiveCluster, ReadDepth};
use super::offer::{Offer, Offers};
use crate::commands::{CommandError, Context};
use crate::object::list_keys::{Identity, ListKeys, ListPlace};
use crate::object::path::{Label, Path, Place, Step};
use crate::object::{Doc, Kind, ResourceType, Value, conditions, well_known};

/// How long discovery may take. Without an answer, there are Kubernetes' own types.
const DISCOVERY: Duration = Duration::from_millis(900);

/// The types for a word, without those that the list has.
pub(super) async fn types(
    line: &TypedLine<'_>,
    word: TypedPart<'_>,
    context: &Context<'_>,
) -> Offers {
    let listed: BTreeSet<&str> = word.listed().collect();
    let offers = |served: &[ResourceType]| {
        let all = well_known().iter().chain(served);
        let mut offers = types_like(all, word.text());
        offers.retain(|offer| !listed.contains(&*offer.value));
        Offers::of(offers, word)
    };
    let Some(cluster) = LiveCluster::of(line, context) else {
        return offers(&[]);
    };
    let kept = offers(&cluster.kept);
    if !cluster.kept.is_empty() && !kept.is_empty() {
        return kept;
    }
    // Nothing is kept of this cluster, or the type is new.
    match tokio::time::timeout(DISCOVERY, cluster.served_types()).await {
        Ok(Ok(served)) => offers(&served),
        Ok(Err(_)) | Err(_) => kept,
    }
}

/// The names of the objects of some types, without those that the line has.
pub(super) async fn names(
    line: &TypedLine<'_>,
    words: &str,
    word: TypedPart<'_>,
    context: &Context<'_>,
) -> Offers {
    let Some(cluster) = LiveCluster::of(line, context) else {
        return Offers::default();
    };
    let mut offers = Vec::new();
    for name in words.split(',') {
        let found = names_of(&cluster, name, word.text()).await;
        offers.extend(found.unwrap_or_default());
    }
    let is_given = |offer: &Offer| {
        let whole = format!("{}{}", word.kept(), offer.value);
        line.objects.contains(&&*whole)
    };
    offers.retain(|offer| !is_given(offer));
    Offers::of(offers, word)
}

/// The Helm releases of the namespace, without those that the line has.
pub(super) async fn releases(
    line: &TypedLine<'_>,
    word: TypedPart<'_>,
    context: &Context<'_>,
) -> Offers {
    let Some(cluster) = LiveCluster::of(line, context) else {
        return Offers::default();
    };
    let names = cluster.releases().await.unwrap_or_default().into_iter();
    let is_given = |name: &String| line.objects.contains(&&*format!("{}{name}", word.kept()));
    let names = names.filter(|name| !is_given(name));
    Offers::of(names.map(|name| Offer::new(name, "")).collect(), word)
}

async fn names_of(
    cluster: &LiveCluster,
    resource: &str,
    text: &str,
) -> Result<Vec<Offer>, CommandError> {
    let resource = cluster.resource(resource).await?;
    cluster.names(&resource, text).await
}

/// The namespaces of the cluster.
pub(super) async fn namespaces(
    line: &TypedLine<'_>,
    word: TypedPart<'_>,
    context: &Context<'_>,
) -> Offers {
    let Some(cluster) = LiveCluster::of(line, context) else {
        return Offers::default();
    };
    let found = names_of(&cluster, "namespaces", word.text()).await;
    Offers::of(found.unwrap_or_default(), word)
}

/// The values of a flag that are in the objects which the line names or selects.
pub(super) async fn values(
    sort: ValueSort,
    line: &TypedLine<'_>,
    word: TypedPart<'_>,
    context: &Context<'_>,
) -> Offers {
    let read = match sort {
        ValueSort::Labels | ValueSort::Manager => ReadDepth::Metadata,
        _ => ReadDepth::Whole,
    };
    let docs = objects(line, read, context).await;
    let roots = || docs.iter().map(Doc::root);
    match sort {
        ValueSort::Labels => {
            let part = LabelPart::of(word);
            Offers::of(part.offers(roots()), part.word())
        }
        ValueSort::Manager => Offers::of(managers(roots()), word),
        ValueSort::Goal => Offers::of(condition_types(roots()), word),
        ValueSort::Container => {
            let word = word.last_item();
            let mut offers = containers(roots());
            offers.retain(|offer| word.listed().all(|listed| listed != offer.value));
            Offers::of(offers, word)
        }
        ValueSort::Path => {
            let found = roots().flat_map(|object| paths(object, word.text()));
            Offers::of(found.collect(), word).continued()
        }
        ValueSort::JsonPath => {
            let found = roots().flat_map(|object| paths_like(object, word.text()));
            let found = known::sort_fields().into_iter().chain(found);
            Offers::of(found.collect(), word).continued()
        }
        // The others are in no object.
        _ => Offers::default(),
    }
}

/// The objects that the line names or selects; none after an error.
async fn objects(line: &TypedLine<'_>, read: ReadDepth, context: &Context<'_>) -> Vec<Doc> {
    match LiveCluster::of(line, context) {
        Some(cluster) => cluster.objects(line, read).await.unwrap_or_default(),
        None => Vec::new(),
    }
}

/// The last requirement of a label selector.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum LabelPart<'l> {
    /// The key, after `!` if that is typed.
    Key(TypedPart<'l>),
    /// A value of a key.
    Value { key: &'l str, word: TypedPart<'l> },
}

impl<'l> LabelPart<'l> {
    /// Reads the last requirement of a list: `tier=web,app!=`.
    pub(super) fn of(selector: TypedPart<'l>) -> LabelPart<'l> {
        let word = selector.last_item();
        let text = word.text();
        let Some(equals) = text.find('=') else {
            let not = usize::from(text.starts_with('!'));
            return LabelPart::Key(word.keeping(not));
        };
        let key = text[..equals].trim_end_matches('!');
        let double = usize::from(text[equals + 1..].starts_with('='));
        let word = word.keeping(equals + 1 + double);
        LabelPart::Value { key, word }
    }

    /// The part of the selector that becomes an offer.
    pub(super) fn word(self) -> TypedPart<'l> {
        match self {
            LabelPart::Key(word) | LabelPart::Value { word, .. } => word,
        }
    }

    /// The offers from the labels of these objects.
    pub(super) fn offers<'d>(self, objects: impl Iterator<Item = Value<'d>>) -> Vec<Offer> {
        let labels = objects.filter_map(|object| object.at(&["metadata", "labels"]));
        let labels = labels.flat_map(Value::fields);
        match self {
            LabelPart::Key(word) => {
                // `!app` is complete; `app` needs a value.
                let equals = if word.kept().ends_with('!') { "" } else { "=" };
                let keys = labels.map(|(key, _)| Offer::new(format!("{key}{equals}"), ""));
                keys.collect()
            }
            LabelPart::Value { key, .. } => {
                let values = labels.filter(|(name, _)| *name == *key);
                let values = values.filter_map(|(_, value)| value.as_str());
                values.map(|value| Offer::new(value, "")).collect()
            }
        }
    }
}

/// The field managers of these objects.
pub(super) fn managers<'d>(objects: impl Iterator<Item = Value<'d>>) -> Vec<Offer> {
    let entries = objects.flat_map(|object| object.items_at(&["metadata", "managedFields"]));
    let names = entries.filter_map(|entry| entry.str_at(&["manager"]));
    names.map(|name| Offer::new(name, "")).collect()
}

/// Where an object has the spec of its Pods.
const POD_SPECS: [&[&str]; 3] = [
    &["spec"],
    &["spec", "template", "spec"],
    &["spec", "jobTemplate", "spec", "template", "spec"],
];

/// The containers of these Pods, or of the Pods of these workloads.
pub(super) fn containers<'d>(objects: impl Iterator<Item = Value<'d>>) -> Vec<Offer> {
    let specs = objects.flat_map(|object| {
        POD_SPECS
            .into_iter()
            .filter_map(move |path| object.at(path))
    });
    let lists = ["initContainers", "containers", "ephemeralContainers"];
    let found = specs.flat_map(|spec| {
        lists
            .into_iter()
            .flat_map(move |list| spec.items_at(&[list]))
    });
    let names = found.filter_map(|container| container.str_at(&["name"]));
    names.map(|name| Offer::new(name, "")).collect()
}

/// The condition types of these objects.
pub(super) fn condition_types<'d>(objects: impl Iterator<Item = Value<'d>>) -> Vec<Offer> {
    let found = objects.flat_map(conditions);
    found
        .map(|condition| Offer::new(condition.kind, ""))
        .collect()
}

/// The paths in an object that begin with `text` and end at the next field or item after it. The leading dot is
/// optional, as in [`Pattern`](crate::object::path::Pattern).
pub(super) fn paths(object: Value<'_>, text: &str) -> Vec<Offer> {
    search(object, text, ItemLabels::Keys)
}

/// The same paths as `JSONPath` expressions of kubectl: an item has its number.
pub(super) fn paths_like(object: Value<'_>, text: &str) -> Vec<Offer> {
    search(object, text, ItemLabels::Numbers)
}

fn search(object: Value<'_>, text: &str, item_labels: ItemLabels) -> Vec<Offer> {
    let is_bare = !text.is_empty() && !text.starts_with('.');
    let mut search = PathSearch {
        wanted: if is_bare {
            format!(".{text}")
        } else {
            text.to_owned()
        },
        skipped: usize::from(is_bare),
        offers: Vec::new(),
        fields: Vec::new(),
        item_labels,
    };
    search.inside(object, "");
    search.offers
}

struct PathSearch {
    wanted: String,
    /// How many bytes of each path the user leaves out.
    skipped: usize,
    offers: Vec<Offer>,
    /// The fields above the present value.
    fields: Vec<String>,
    item_labels: ItemLabels,
}

/// How paths name the items of a list.
#[derive(Clone, Copy, PartialEq, Eq)]
enum ItemLabels {
    Keys,
    Numbers,
}

impl PathSearch {
    /// Searches the children of the value at `path`, which is empty for the object.
    fn inside(&mut self, value: Value<'_>, path: &str) {
        for (name, inner) in value.fields() {
            let step = text(Step::Field(name.clone()));
            // Only a path that starts with a quoted field has a dot before its bracket.
            let step = match step.strip_prefix(".[") {
                Some(rest) if !path.is_empty() => format!("[{rest}"),
                Some(_) | None => step,
            };
            self.fields.push(name.into_owned());
            self.visit(inner, &format!("{path}{step}"));
            self.fields.pop();
        }
        let items: Vec<Value<'_>> = value.items().collect();
        for (item, label) in items.iter().zip(self.labels(&items)) {
            self.visit(*item, &format!("{path}{label}"));
        }
    }

    fn visit(&mut self, value: Value<'_>, path: &str) {
        if path.len() >= self.wanted.len() && path.starts_with(&self.wanted) {
            self.offers
                .push(Offer::new(&path[self.skipped..], kind(value)));
        }
        if self.wanted.starts_with(path) {
            self.inside(value, path);
        }
    }

    /// The last steps of the paths of a list's items. An item of a set has the path of the set.
    fn labels(&self, items: &[Value<'_>]) -> Vec<String> {
        if self.item_labels == ItemLabels::Numbers {
            return (0..items.len()).map(|at| format!("[{at}]")).collect();
        }
        let mut above = self.fields.iter().rev().map(String::as_str);
        let place = ListPlace {
            field: above.next().unwrap_or_default(),
            parent: above.next().unwrap_or_default(),
            path: None,
        };
        let rule = ListKeys::builtin().rule(place, items, &[]);
        let label = |&item: &Value<'_>| match rule.identity {
            Identity::Value => String::new(),
            Identity::Order => "[*]".to_owned(),
            Identity::Key(key) => {
                let parts = key.parts(item);
                let parts = parts.map(|(name, value)| (name.to_owned().into(), value));
                let label = Label::Key {
                    parts: parts.collect(),
                    nth: 1,
                };
                let place = Place {
                    old: None,
                    new: None,
                };
                text(Step::Item { place, label })
            }
        };
        items.iter().map(label).collect()
    }
}

fn text(step: Step<'_>) -> String {
    Path { steps: vec![step] }.text("")
}

/// What a value is, in a word.
fn kind(value: Value<'_>) -> &'static str {
    match value.kind() {
        Kind::Object => "object",
        Kind::Array => "list",
        Kind::String => "string",
        Kind::Number => "number",
        Kind::Bool => "boolean",
        Kind::Null => "null",
    }
}

/// The words for the listable types, as far as they could begin with `text`. `types` is in the order of preference: a plural means the
/// first type that has it, and for another type it needs the group.
pub(super) fn types_like<'t>(
    types: impl IntoIterator<Item = &'t ResourceType>,
    text: &str,
) -> Vec<Offer> {
    let mut seen = BTreeSet::new();
    let mut plurals = BTreeSet::new();
    let mut offers = Vec::new();
    for found in types {
        let resource = &found.resource;
        if !found.listable() || !seen.insert((&resource.group, &resource.plural)) {
            continue;
        }
        let is_first = plurals.insert(&resource.plural);
        offers.extend(words(found, text, is_first));
        let categories = found.categories.iter().filter(|_| is_first);
        offers.extend(categories.map(|name| Offer::new(name, "every type of this category")));
    }
    offers
}

/// The words for one type. `is_first`: no type before it has the same plural.
fn words(found: &ResourceType, text: &str, is_first: bool) -> Vec<Offer> {
    let resource = &found.resource;
    let kind = &*resource.kind;
    let plural = if is_first && !text.contains('.') {
        resource.plural.to_string()
    } else {
        resource.group_resource()
    };
    let about = match found.short_names.first() {
        Some(short) => format!("{kind} ({short})"),
        None => kind.to_owned(),
    };
    let mut offers = vec![Offer::new(plural, about)];
    if !is_first || text.is_empty() {
        return offers;
    }
    let short = found.short_names.iter();
    offers.extend(short.map(|short| Offer::new(short, kind)));
    if !resource.plural.starts_with(text) {
        offers.push(Offer::new(&found.singular, kind));
        offers.push(Offer::new(kind, ""));
    }
    offers
}
