//! The offers that a cluster gives: types, names, namespaces, and what is in objects.

use std::collections::BTreeSet;
use std::time::Duration;

use super::asked::WordPart;
use super::line::TypedLine;
use super::live_cluster::{LiveCluster, Read};
use super::metadata::{LabelPart, condition_types, managers};
use super::offer::{Offer, Offers};
use super::{known, paths, types};
use crate::commands::{CommandError, Context};
use crate::object::{Doc, ResourceType, well_known};

/// How long discovery may take. Without an answer, there are Kubernetes' own types.
const DISCOVERY: Duration = Duration::from_millis(900);

/// The types for a word, without those that the list has.
pub(super) async fn types(
    line: &TypedLine<'_>,
    word: WordPart<'_>,
    context: &Context<'_>,
) -> Offers {
    let listed: BTreeSet<&str> = word.listed().collect();
    let offers = |served: &[ResourceType]| {
        let all = well_known().iter().chain(served);
        let mut offers = types::types(all, word.text());
        offers.retain(|offer| !listed.contains(offer.value()));
        Offers::of(offers, word)
    };
    let Some(cluster) = LiveCluster::of(line, context) else {
        return offers(&[]);
    };
    let kept = offers(cluster.kept_types());
    if !cluster.kept_types().is_empty() && !kept.is_empty() {
        return kept;
    }
    // Nothing is kept of this cluster, or the type is new.
    match tokio::time::timeout(DISCOVERY, cluster.served_types()).await {
        Ok(Ok(served)) => offers(&served),
        Ok(Err(_)) | Err(_) => kept,
    }
}

/// The types for one more TYPE/NAME.
pub(super) async fn types_of_pairs(
    line: &TypedLine<'_>,
    word: WordPart<'_>,
    context: &Context<'_>,
) -> Offers {
    types(line, word, context).await.followed_by("/")
}

/// The names of the objects of some types, without those that the line has.
pub(super) async fn names(
    line: &TypedLine<'_>,
    words: &str,
    word: WordPart<'_>,
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
        let whole = format!("{}{}", word.kept(), offer.value());
        line.objects.contains(&&*whole)
    };
    offers.retain(|offer| !is_given(offer));
    Offers::of(offers, word)
}

/// The Helm releases of the namespace, without those that the line has.
pub(super) async fn releases(
    line: &TypedLine<'_>,
    word: WordPart<'_>,
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
    word: WordPart<'_>,
    context: &Context<'_>,
) -> Offers {
    let Some(cluster) = LiveCluster::of(line, context) else {
        return Offers::default();
    };
    let found = names_of(&cluster, "namespaces", word.text()).await;
    Offers::of(found.unwrap_or_default(), word)
}

/// The keys or values of the labels of the objects.
pub(super) async fn labels(
    line: &TypedLine<'_>,
    word: WordPart<'_>,
    context: &Context<'_>,
) -> Offers {
    let part = LabelPart::of(word);
    let docs = objects(line, Read::Metadata, context).await;
    Offers::of(part.offers(docs.iter().map(Doc::root)), part.word())
}

/// The field managers of the objects.
pub(super) async fn field_managers(
    line: &TypedLine<'_>,
    word: WordPart<'_>,
    context: &Context<'_>,
) -> Offers {
    let docs = objects(line, Read::Metadata, context).await;
    Offers::of(managers(docs.iter().map(Doc::root)), word)
}

/// The paths in one of the objects.
pub(super) async fn object_paths(
    line: &TypedLine<'_>,
    word: WordPart<'_>,
    context: &Context<'_>,
) -> Offers {
    let docs = objects(line, Read::Whole, context).await;
    let found = docs
        .iter()
        .flat_map(|doc| paths::paths(doc.root(), word.text()));
    Offers::of(found.collect(), word).continued()
}

/// The fields by which objects are sorted: those that each has, and those of one of the objects.
pub(super) async fn json_paths(
    line: &TypedLine<'_>,
    word: WordPart<'_>,
    context: &Context<'_>,
) -> Offers {
    let docs = objects(line, Read::Whole, context).await;
    let found = docs
        .iter()
        .flat_map(|doc| paths::json_paths(doc.root(), word.text()));
    let found = known::sort_fields().into_iter().chain(found);
    Offers::of(found.collect(), word).continued()
}

/// The condition types of one of the objects.
pub(super) async fn goal_conditions(
    line: &TypedLine<'_>,
    word: WordPart<'_>,
    context: &Context<'_>,
) -> Offers {
    let docs = objects(line, Read::Whole, context).await;
    Offers::of(condition_types(docs.iter().map(Doc::root)), word)
}

/// The objects that the line names or selects; none after an error.
async fn objects(line: &TypedLine<'_>, read: Read, context: &Context<'_>) -> Vec<Doc> {
    match LiveCluster::of(line, context) {
        Some(cluster) => cluster.objects(line, read).await.unwrap_or_default(),
        None => Vec::new(),
    }
}
