//! The words for types: plurals, and the short names, singulars and kinds that the user begins to type.

use std::collections::BTreeSet;

use super::offer::Offer;
use crate::object::ResourceType;

/// The words for the listable types, as far as they could begin with `text`. `types` is in the order of preference: a plural means the
/// first type that has it, and for another type it needs the group.
pub(super) fn types<'t>(
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
