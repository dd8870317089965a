//! Whether a volume fits a claim, by the checks of the controller that binds them
//! (<https://kubernetes.io/docs/concepts/storage/persistent-volumes/#reserving-a-persistentvolume>).

use std::sync::Arc;

use crate::graph::Labels;
use crate::object::{Quantity, Value, label_selector};

/// What a volume has, and what the claim asks for instead.
#[derive(Debug)]
pub(super) struct Misfit {
    has: String,
    wanted: String,
}

/// The older way to name a storage class. It comes first.
const CLASS: [&str; 3] = [
    "metadata",
    "annotations",
    "volume.beta.kubernetes.io/storage-class",
];

/// The provisioner of a class whose volumes an administrator creates
/// (<https://kubernetes.io/docs/concepts/storage/storage-classes/#local>).
pub(super) const NO_PROVISIONER: &str = "kubernetes.io/no-provisioner";

/// The storage class of a volume or of a claim; `None` for none.
pub(super) fn class_of(object: Value<'_>) -> Option<Arc<str>> {
    let class = object.text_at(&CLASS);
    class.or_else(|| object.text_at(&["spec", "storageClassName"]))
}

/// The claim that a volume is reserved for, if it is another one: `claim prod/other`.
pub(super) fn other_claim(volume: Value<'_>, claim: Value<'_>) -> Option<String> {
    let reserved = volume.at(&["spec", "claimRef"])?;
    let text = |key| reserved.text_at(&[key]);
    let own = |key| claim.text_at(&["metadata", key]);
    let name = [text("namespace"), text("name")];
    if name != [own("namespace"), own("name")] {
        let name = name.map(Option::unwrap_or_default);
        return Some(format!("claim {}", name.join("/")));
    }
    let uid = text("uid");
    let is_other = uid.is_some() && uid != own("uid");
    is_other.then(|| "an earlier claim of the same name".to_owned())
}

/// What keeps a volume from a claim, besides a reservation.
pub(super) fn misfits(volume: Value<'_>, claim: Value<'_>) -> Vec<Misfit> {
    let found = [
        size(volume, claim),
        attributes(volume, claim),
        class(volume, claim),
        mode(volume, claim),
        access(volume, claim),
    ];
    found.into_iter().flatten().collect()
}

/// `has 1Gi and volume mode Block; the claim asks for 5Gi and volume mode Filesystem`.
pub(super) fn words(misfits: &[Misfit]) -> String {
    let join = |part: fn(&Misfit) -> &str| {
        let parts: Vec<&str> = misfits.iter().map(part).collect();
        parts.join(" and ")
    };
    let (has, wanted) = (join(|it| &it.has), join(|it| &it.wanted));
    format!("has {has}; the claim asks for {wanted}")
}

fn size(volume: Value<'_>, claim: Value<'_>) -> Option<Misfit> {
    let has = volume.text_at(&["spec", "capacity", "storage"])?;
    let wanted = claim.text_at(&["spec", "resources", "requests", "storage"])?;
    let order = Quantity::parse(&has)?.compare(&Quantity::parse(&wanted)?)?;
    order.is_lt().then(|| Misfit {
        has: has.to_string(),
        wanted: wanted.to_string(),
    })
}

fn attributes(volume: Value<'_>, claim: Value<'_>) -> Option<Misfit> {
    let of = |object: Value<'_>| object.text_at(&["spec", "volumeAttributesClassName"]);
    named("attributes class", of(volume), of(claim))
}

fn class(volume: Value<'_>, claim: Value<'_>) -> Option<Misfit> {
    named("storage class", class_of(volume), class_of(claim))
}

fn mode(volume: Value<'_>, claim: Value<'_>) -> Option<Misfit> {
    let of = |object: Value<'_>| {
        let mode = object.text_at(&["spec", "volumeMode"]);
        Some(mode.unwrap_or_else(|| "Filesystem".into()))
    };
    named("volume mode", of(volume), of(claim))
}

/// A volume may have more access modes than the claim asks for.
fn access(volume: Value<'_>, claim: Value<'_>) -> Option<Misfit> {
    let of = |object: Value<'_>| {
        let modes = object.items_at(&["spec", "accessModes"]);
        let modes = modes.filter_map(|mode| Some(mode.as_str()?.into_owned()));
        modes.collect::<Vec<String>>()
    };
    let (has, wanted) = (of(volume), of(claim));
    if wanted.iter().all(|mode| has.contains(mode)) {
        return None;
    }
    let words = |modes: &[String]| match modes {
        [] => "no access mode".to_owned(),
        [mode] => format!("access mode {mode}"),
        modes => format!("access modes {}", modes.join(", ")),
    };
    Some(Misfit {
        has: words(&has),
        wanted: words(&wanted),
    })
}

/// The labels that a claim demands. They do not matter to a volume that the claim names.
pub(super) fn labels(volume: Value<'_>, claim: Value<'_>) -> Option<Misfit> {
    let selector = label_selector(claim.at(&["spec", "selector"])?)?;
    let labels = Labels::of(volume);
    let is_match = selector.matches(|key| labels.get(key));
    let pairs = labels.iter().map(|(key, value)| format!("{key}={value}"));
    let pairs: Vec<String> = pairs.collect();
    (!is_match).then(|| Misfit {
        has: match &*pairs.join(",") {
            "" => "no labels".to_owned(),
            labels => format!("labels {labels}"),
        },
        wanted: format!("labels {selector}"),
    })
}

/// Two names that must be the same.
fn named(word: &str, has: Option<Arc<str>>, wanted: Option<Arc<str>>) -> Option<Misfit> {
    let words = |name: Option<Arc<str>>| match name {
        Some(name) => format!("{word} {name}"),
        None => format!("no {word}"),
    };
    (has != wanted).then(|| Misfit {
        has: words(has),
        wanted: words(wanted),
    })
}
