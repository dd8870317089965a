//! The objects that a look-back could not read completely, because the server did not answer.

use std::collections::BTreeMap;

use super::SourcePast;
use crate::object::ObjectRef;
use crate::render::text::escape_line;

/// How many objects a line names for each cause.
const NAMED: usize = 3;

/// The number of objects with missing versions.
pub(crate) fn count(found: &[SourcePast]) -> usize {
    found.iter().map(|found| found.missing.len()).sum()
}

/// A line for each cause, with its objects.
pub(crate) fn lines(found: &[SourcePast]) -> Vec<String> {
    let mut causes: BTreeMap<String, Vec<&ObjectRef>> = BTreeMap::new();
    for missing in found.iter().flat_map(|found| &found.missing) {
        let objects = causes.entry(missing.cause.to_string()).or_default();
        objects.push(&missing.object);
    }
    let lines = causes.iter().map(|(cause, objects)| {
        let line = format!("versions of {} are missing: {cause}", names(objects));
        escape_line(&line).into_owned()
    });
    lines.collect()
}

fn names(objects: &[&ObjectRef]) -> String {
    let others = match objects.len() {
        many if many > NAMED => many - (NAMED - 1),
        _ => 0,
    };
    let mut names: Vec<String> = objects.iter().map(ToString::to_string).collect();
    names.sort();
    names.truncate(objects.len() - others);
    let names = names.join(", ");
    match others {
        0 => names,
        others => format!("{names} and {others} others"),
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use super::*;

    use crate::source::SourceKey;
    use crate::watch::{Missing, SourceError};

    fn found(missing: &[(&str, &str)]) -> SourcePast {
        let key = SourceKey::all("", "Pod");
        let missing = missing.iter().map(|(name, cause)| Missing {
            object: ObjectRef {
                api_version: "v1".into(),
                kind: "Pod".into(),
                namespace: None,
                name: (*name).into(),
                uid: None,
            },
            cause: SourceError::Cut {
                detail: (*cause).into(),
            },
        });
        SourcePast {
            missing: missing.collect(),
            ..SourcePast::new(Arc::new(key))
        }
    }

    #[test]
    fn each_cause_has_one_line_with_its_objects() {
        assert!(lines(&[found(&[])]).is_empty());
        let all = [
            found(&[("e", "reset"), ("a", "reset"), ("x", "\u{1b}[2J")]),
            found(&[("b", "reset"), ("c", "reset")]),
        ];
        assert_eq!(count(&all), 5);
        insta::assert_snapshot!(lines(&all).join("\n"), @r"
        versions of pod/x are missing: connection lost: ^[[2J
        versions of pod/a, pod/b and 2 others are missing: connection lost: reset
        ");
    }
}
