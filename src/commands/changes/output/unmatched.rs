//! `Unmatched`: the messages about `--by` and `--only` if no version matches them.

use std::collections::{BTreeSet, VecDeque};

use crate::commands::versions::{Compared, ManagerFilter, ShownVersions};
use crate::diff::{Filter, Redactor};
use crate::object::path::{Path, Pattern};
use crate::object::{Value, listed, near};
use crate::render::count::plural;

/// The flags that no version has matched so far.
pub(crate) struct Unmatched {
    managers: SeenManagers,
    paths: SeenPaths,
}

impl Unmatched {
    pub(super) fn of(shown: &ShownVersions) -> Unmatched {
        Unmatched {
            managers: SeenManagers::default(),
            paths: SeenPaths::of(&shown.filter),
        }
    }

    /// Notes what a version has.
    pub(super) fn see(&mut self, shown: &ShownVersions, compared: &Compared<'_>) {
        self.managers.see(&shown.by, compared);
        self.paths.see(compared);
    }

    /// The messages about the versions so far. Each is returned once.
    pub(crate) fn take_messages(&mut self) -> Vec<String> {
        let managers = self.managers.take_unmatched();
        managers
            .into_iter()
            .chain(self.paths.take_unmatched())
            .collect()
    }
}

/// The most managers that the message names.
const MOST: usize = 8;

/// The managers of the compared versions.
#[derive(Default)]
pub(super) struct SeenManagers {
    names: BTreeSet<String>,
    has_match: bool,
}

impl SeenManagers {
    /// Notes the managers of a version.
    pub(super) fn see(&mut self, by: &ManagerFilter, compared: &Compared<'_>) {
        if !by.is_by_name() || self.has_match {
            return;
        }
        self.has_match = compared.is_by_named;
        let names = compared.writers.actors();
        let names = names.map(|actor| actor.manager.clone().into_owned());
        self.names.extend(names);
    }

    /// The message if no version matches, once; `None` if one does, or if there is none.
    pub(super) fn take_unmatched(&mut self) -> Option<String> {
        if self.has_match || self.names.is_empty() {
            return None;
        }
        self.has_match = true;
        let names = listed(&self.names, MOST);
        Some(format!(
            "no version matches --by; these managers wrote: {names}"
        ))
    }
}

/// In how many versions it looks for a path that works.
const LOOKED_AT: usize = 20;

/// The paths of `--only` that no compared version has.
#[derive(Default)]
pub(super) struct SeenPaths {
    missing: Vec<MissingPath>,
    versions: usize,
}

/// A path that no version has had.
struct MissingPath {
    pattern: Pattern,
    /// A path like it that a version has.
    near: Option<String>,
}

impl SeenPaths {
    pub(super) fn of(filter: &Filter) -> SeenPaths {
        let missing = filter.only.iter().map(|pattern| MissingPath {
            pattern: pattern.clone(),
            near: None,
        });
        SeenPaths {
            missing: missing.collect(),
            versions: 0,
        }
    }

    /// Notes the paths of a version and of the previous one.
    pub(super) fn see(&mut self, compared: &Compared<'_>) {
        if self.missing.is_empty() {
            return;
        }
        self.versions += 1;
        let (old, new) = compared.read.roots();
        let objects = || old.into_iter().chain([new]);
        self.missing
            .retain(|missing| !objects().any(|object| may_have(object, &missing.pattern)));
        if self.versions <= LOOKED_AT {
            for missing in &mut self.missing {
                let near = &mut missing.near;
                *near = near.take().or_else(|| near_path(new, &missing.pattern));
            }
        }
    }

    /// The messages, each once; none if there was no version.
    pub(super) fn take_unmatched(&mut self) -> Vec<String> {
        if self.versions == 0 {
            return Vec::new();
        }
        let versions = plural(self.versions, "version");
        let messages = std::mem::take(&mut self.missing).into_iter();
        let messages = messages.flat_map(|missing| {
            let first = format!("--only {} matches no field in {versions}", missing.pattern);
            let hint = missing.near;
            let hint = hint.map(|near| format!("hint: did you mean --only '{near}'?"));
            [first].into_iter().chain(hint)
        });
        messages.collect()
    }
}

/// Whether an object has a path, or may get it: controllers add the status later.
fn may_have(object: Value<'_>, pattern: &Pattern) -> bool {
    let text = pattern.to_string();
    let first = text.trim_start_matches('.').split(['.', '[']).next();
    let waits = first == Some("status") && object.get("status").is_none();
    waits || has(object, pattern)
}

fn has(object: Value<'_>, pattern: &Pattern) -> bool {
    let filter = Filter {
        only: vec![pattern.clone()],
        ignore: Vec::new(),
    };
    let root = Path { steps: Vec::new() };
    filter.keeps_value(&root, Redactor::new().shown(object))
}

/// A path that the object has: the same one deeper in the object, or a field whose name is similar.
fn near_path(object: Value<'_>, pattern: &Pattern) -> Option<String> {
    let text = pattern.to_string();
    let bare = text.trim_start_matches('.');
    let deeper = format!("**.{bare}");
    let is_there = |deeper: &str| deeper.parse().is_ok_and(|deeper| has(object, &deeper));
    if is_there(&deeper) {
        return Some(deeper);
    }
    let paths = paths(object);
    let wanted = format!(".{bare}");
    let is_same = |path: &&String| path.eq_ignore_ascii_case(&wanted);
    let same = paths.iter().find(is_same).cloned();
    same.or_else(|| {
        near(&wanted, paths.iter().map(String::as_str))
            .into_iter()
            .next()
    })
}

/// The paths of an object's fields, those of outer objects first.
fn paths(object: Value<'_>) -> Vec<String> {
    let mut open = VecDeque::from([(String::new(), object)]);
    let mut paths = Vec::new();
    while let Some((path, value)) = open.pop_front() {
        for (field, inner) in value.fields() {
            let is_plain = field.bytes().all(|byte| byte.is_ascii_alphanumeric());
            if !is_plain || field == "managedFields" {
                continue;
            }
            let path = format!("{path}.{field}");
            paths.push(path.clone());
            open.push_back((path, inner));
        }
        if let Some(first) = value.items().next() {
            open.push_back((format!("{path}[*]"), first));
        }
    }
    paths
}
