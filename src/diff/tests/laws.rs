//! Properties of every pair of versions. The `json-patch` crate checks the patches.

use std::collections::HashSet;

use proptest::collection::{btree_map, vec};
use proptest::prelude::*;
use serde_json::{Value as Json, json};

use super::*;
use crate::diff::json_patch::{Patch, json_patch, step_by_step};
use crate::object::path::PathWriter;
use crate::object::{Kind, Value};

/// Any JSON that `serde_json` represents exactly.
fn any_json() -> impl Strategy<Value = Json> {
    let scalar = prop_oneof![
        Just(Json::Null),
        any::<bool>().prop_map(Json::from),
        (-3i64..3).prop_map(Json::from),
        any::<i64>().prop_map(Json::from),
        any::<i16>().prop_map(|eighths| Json::from(f64::from(eighths) / 8.0)),
        "[a-c~/\"\\\\\n<é]{0,3}".prop_map(Json::from),
    ];
    scalar.prop_recursive(5, 48, 6, |inner| {
        prop_oneof![
            vec(inner.clone(), 0..6).prop_map(Json::from),
            btree_map(
                prop_oneof![
                    "[a-c]",
                    Just("a/b".to_owned()),
                    Just("~".to_owned()),
                    Just(String::new()),
                    Just("name".to_owned())
                ],
                inner,
                0..5
            )
            .prop_map(|map| Json::Object(map.into_iter().collect())),
        ]
    })
}

fn words(of: &'static [&'static str], up_to: usize) -> impl Strategy<Value = Json> {
    vec(prop::sample::select(of), 0..up_to).prop_map(|words| json!(words))
}

fn containers() -> impl Strategy<Value = Json> {
    let name = prop::sample::select(&["web", "app", "log", "db"][..]);
    let image = prop::sample::select(&["web:1.4", "web:1.5", "app:2"][..]);
    let env = vec((prop::sample::select(&["A", "B", "C"][..]), "[0-2]"), 0..4).prop_map(|env| {
        env.into_iter()
            .map(|(name, value)| json!({"name": name, "value": value}))
            .collect::<Vec<_>>()
    });
    let ports = vec((80u16..83, prop::option::of("TCP|UDP")), 0..3).prop_map(|ports| {
        ports
            .into_iter()
            .map(|(port, protocol)| match protocol {
                Some(protocol) => json!({"containerPort": port, "protocol": protocol}),
                None => json!({"containerPort": port}),
            })
            .collect::<Vec<_>>()
    });
    let one = (name, image, words(&["--v=2", "--v=4", "--debug", "run"], 5), env, ports).prop_map(
        |(name, image, args, env, ports)| {
            json!({"name": name, "image": image, "args": args, "env": env, "ports": ports})
        },
    );
    vec(one, 0..5).prop_map(Json::from)
}

/// Objects that look like a Pod.
pub(crate) fn any_object() -> impl Strategy<Value = Json> {
    let conditions = vec(
        (
            prop::sample::select(&["Ready", "Initialized", "X"][..]),
            any::<bool>(),
        ),
        0..4,
    )
    .prop_map(|list| {
        list.into_iter()
            .map(|(name, status)| json!({"type": name, "status": status.to_string()}))
            .collect::<Vec<_>>()
    });
    let rules = vec(
        (words(&["", "apps"], 3), words(&["get", "list", "watch"], 4)),
        0..4,
    )
    .prop_map(|rules| {
        rules
            .into_iter()
            .map(|(groups, verbs)| json!({"apiGroups": groups, "verbs": verbs}))
            .collect::<Vec<_>>()
    });
    let quantity = prop::sample::select(&["1", "1000m", "1Gi", "1024Mi", "2"][..]);
    (
        containers(),
        conditions,
        rules,
        words(&["a", "b", "c", "d"], 5),
        (0u32..3, 0u32..3, quantity),
        prop::option::of(any_json()),
    )
        .prop_map(|(containers, conditions, rules, finalizers, (version, replicas, cpu), extra)| {
            let mut object = json!({
                "apiVersion": "v1", "kind": "Pod",
                "metadata": {"resourceVersion": version.to_string(), "finalizers": finalizers},
                "spec": {"containers": containers, "replicas": replicas, "limits": {"cpu": cpu}},
                "status": {"conditions": conditions, "observedGeneration": version},
                "rules": rules,
            });
            if let Some(extra) = extra {
                object["spec"]["extra"] = extra;
            }
            object
        })
}

/// Objects that look like a Pod and have no lists without keys.
fn keyed_object() -> impl Strategy<Value = Json> {
    any_object().prop_map(|mut object| {
        object["rules"] = Json::Null;
        object["spec"]["extra"] = Json::Null;
        for container in object["spec"]["containers"].as_array_mut().expect("a list") {
            container["args"] = Json::Null;
        }
        object
    })
}

pub(crate) fn pair() -> impl Strategy<Value = (Json, Json)> {
    prop_oneof![
        (any_json(), any_json()),
        (any_object(), any_object()),
        near()
    ]
}

/// An object, and a copy with one value replaced.
fn near() -> impl Strategy<Value = (Json, Json)> {
    (any_object(), any::<prop::sample::Index>(), any_json()).prop_map(|(old, at, value)| {
        let mut places = Vec::new();
        leaves(&old, "", &mut places);
        let mut new = old.clone();
        *new.pointer_mut(&places[at.index(places.len())].0)
            .expect("the path comes from this object") = value;
        (old, new)
    })
}

fn text(value: &Json) -> Doc {
    doc(&value.to_string())
}

/// The same value with its fields in reverse order.
fn reversed(value: &Json, out: &mut String) {
    match value {
        Json::Object(map) => {
            out.push('{');
            for (index, (key, value)) in map.iter().rev().enumerate() {
                out.push_str(if index == 0 { "" } else { "," });
                out.push_str(&Json::from(key.as_str()).to_string());
                out.push(':');
                reversed(value, out);
            }
            out.push('}');
        }
        Json::Array(items) => {
            out.push('[');
            for (index, item) in items.iter().enumerate() {
                out.push_str(if index == 0 { "" } else { "," });
                reversed(item, out);
            }
            out.push(']');
        }
        scalar => out.push_str(&scalar.to_string()),
    }
}

/// Parses a patch for the `json-patch` crate.
fn read(patch: &Patch) -> ::json_patch::Patch {
    let text = serde_json::to_string(patch).expect("a patch serializes");
    serde_json::from_str(&text).expect("a patch parses")
}

/// Objects with numbers of any size, some of which are two spellings of one number.
fn numbers() -> impl Strategy<Value = String> {
    let number = || {
        let known = [
            "1",
            "1.0",
            "1e400",
            "18446744073709551616",
            "18446744073709551617",
        ];
        let known = prop::sample::select(known.map(str::to_owned).to_vec());
        prop_oneof![
            known,
            r"-?(0|[1-9][0-9]{0,24})(\.[0-9]{1,3})?(e[0-9]{1,3})?"
        ]
    };
    (vec(number(), 0..6), number()).prop_map(|(rows, one)| {
        let rows = rows.join(",");
        format!(r#"{{"spec":{{"rows":[{rows}],"n":{one},"more":[{{"n":{one}}},{{"n":2}}]}}}}"#)
    })
}

/// The value with its numbers replaced by their texts.
fn spelled(value: Value<'_>) -> Json {
    match value.kind() {
        Kind::Object => {
            let fields = value.fields();
            let fields = fields.map(|(name, value)| (name.into_owned(), spelled(value)));
            Json::Object(fields.collect())
        }
        Kind::Array => value.items().map(spelled).collect(),
        Kind::Number => Json::from(format!("number {}", value.raw())),
        Kind::Null | Kind::Bool | Kind::String => serde_json::from_str(value.raw()).expect("JSON"),
    }
}

fn of<'a>(old: &'a Doc, new: &'a Doc) -> Diff<'a> {
    Diff::of(Some(old.root()), Some(new.root()))
}

/// Collects the scalars in a value, with their JSON Pointers.
fn leaves(value: &Json, at: &str, out: &mut Vec<(String, Json)>) {
    match value {
        Json::Object(map) => {
            for (key, value) in map {
                let mut at = format!("{at}/");
                path::push_pointer_token(&mut at, key);
                leaves(value, &at, out);
            }
        }
        Json::Array(items) => {
            for (index, item) in items.iter().enumerate() {
                leaves(item, &format!("{at}/{index}"), out);
            }
        }
        leaf => out.push((at.to_owned(), leaf.clone())),
    }
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn the_patch_turns_the_old_version_into_the_new((old, new) in pair()) {
        let (a, b) = (text(&old), text(&new));
        let diff = of(&a, &b);
        let patch = json_patch(&diff, &Redactor::new());
        for patch in [&patch, &step_by_step(&diff, &Redactor::new())] {
            let mut patched = old.clone();
            let patch = read(patch);
            ::json_patch::patch(&mut patched, &patch).expect("the patch applies");
            prop_assert_eq!(&patched, &new, "{:?}", patch);
        }
        // The patch is never longer than one that replaces the whole object.
        let whole = json!([{"op": "replace", "path": "", "value": new}]);
        if new.is_object() || new.is_array() {
            prop_assert!(serde_json::to_string(&patch).expect("a patch serializes").len() <= whole.to_string().len());
        }
    }

    #[test]
    fn write_path_writes_what_path_returns((old, new) in pair()) {
        let (a, b) = (text(&old), text(&new));
        let diff = of(&a, &b);
        for at in diff.values() {
            let path = diff.path(at);
            let written = |base| {
                let mut text = "before".to_owned();
                diff.write_path(PathWriter::new(&mut text, "->"), base, at);
                text
            };
            prop_assert_eq!(written(NodeId::ROOT), format!("before{}", path.text("->")));
            for base in diff.chain(at) {
                let below = diff.chain(base).count();
                let below = Path { steps: path.steps[below..].to_vec() }.text("->");
                prop_assert_eq!(written(base), format!("before{}", below.strip_prefix('.').unwrap_or(&below)));
            }
        }
    }

    #[test]
    fn the_patch_keeps_every_digit(old in numbers(), new in numbers()) {
        let (a, b) = (doc(&old), doc(&new));
        let diff = of(&a, &b);
        for patch in [json_patch(&diff, &Redactor::new()), step_by_step(&diff, &Redactor::new())] {
            let text = serde_json::to_string(&patch).expect("a patch serializes");
            let patch = serde_json::from_value::<::json_patch::Patch>(spelled(doc(&text).root()));
            let mut patched = spelled(a.root());
            ::json_patch::patch(&mut patched, &patch.expect("a patch parses")).expect("the patch applies");
            prop_assert_eq!(patched, spelled(b.root()), "{}", text);
        }
    }

    #[test]
    fn all_changes_give_the_new_version_and_none_the_old((old, new) in pair()) {
        let (a, b) = (text(&old), text(&new));
        let diff = of(&a, &b);
        prop_assert!(of(&crate::diff::partly(&diff, |_| true), &b).is_empty());
        prop_assert!(of(&a, &crate::diff::partly(&diff, |_| false)).is_empty());
    }

    #[test]
    fn a_filter_on_one_field_changes_no_other_field(old in any_object(), new in any_object(), name in "metadata|spec|status|rules") {
        let (a, b) = (text(&old), text(&new));
        let diff = of(&a, &b);
        let filter = Filter { only: vec![name.parse().expect("a path")], ..Filter::default() };
        let partly = crate::diff::partly(&diff, |change| filter.keeps(&diff, change));
        let mut expected = old;
        expected[&name] = new[&name].clone();
        prop_assert!(of(&partly, &text(&expected)).is_empty());
    }

    #[test]
    fn an_added_value_is_kept_if_a_part_of_it_is_selected(
        value in any_json(),
        only in vec(prop::sample::select(&["x", "x.*", "x.b", "**.a", "**.name", "x[0]", "**[1].a", "x.*.*"][..]), 1..3),
        ignore in vec(prop::sample::select(&["x.a", "x.*", "**.b", "x[*]", "**[0]", "**[name=a]", "x.*.a"][..]), 0..3),
    ) {
        let (a, b) = (doc("{}"), doc(&json!({"x": value}).to_string()));
        let (diff, redactor) = (of(&a, &b), Redactor::new());
        let filter = filter(&only, &ignore);
        let projection = filter.projection([redactor.shown(b.root())], ListKeys::builtin());
        let is_written = !projection.excludes(redactor.shown(b.root()));
        prop_assert_eq!(diff.changes().iter().any(|change| filter.keeps(&diff, change)), is_written);
    }

    // Any selection of the changes gives an object that a patch leads to.
    #[test]
    fn any_selection_of_changes_can_be_applied((old, new) in pair(), mask in any::<u64>()) {
        let (a, b) = (text(&old), text(&new));
        let diff = of(&a, &b);
        let partly = crate::diff::partly(&diff, |change| mask >> (change.at.0 % 64) & 1 == 1);
        let mut patched = old;
        ::json_patch::patch(&mut patched, &read(&step_by_step(&of(&a, &partly), &Redactor::new()))).expect("the patch applies");
        prop_assert!(of(&text(&patched), &partly).is_empty());
    }

    #[test]
    fn the_number_of_moves_is_minimal(order in Just((0u32..24).collect::<Vec<_>>()).prop_shuffle(), size in 1usize..24, keyed in any::<bool>()) {
        let order: Vec<u32> = order.into_iter().filter(|n| (*n as usize) < size).collect();
        let list = |order: &mut dyn Iterator<Item = u32>| {
            let items: Vec<_> = order.map(|n| if keyed { json!({"name": format!("n{n}")}) } else { json!([n, n]) }).collect();
            text(&json!({"spec": {"things": items}}))
        };
        let (a, b) = (list(&mut (0..24).take(size)), list(&mut order.iter().copied()));
        let mut longest = vec![1; size];
        for at in 0..size {
            let before = (0..at).filter(|&other| order[other] < order[at]).map(|other| longest[other]);
            longest[at] = before.max().unwrap_or(0) + 1;
        }
        let stay = longest.iter().max().copied().unwrap_or(0);
        prop_assert_eq!(of(&a, &b).changes().len(), size - stay);
    }

    #[test]
    fn no_changes_means_equal_versions((old, new) in pair()) {
        let (a, b) = (text(&old), text(&new));
        prop_assert_eq!(of(&a, &b).is_empty(), old == new);
        prop_assert!(of(&a, &a).is_empty());
    }

    #[test]
    fn the_order_of_fields_does_not_matter((old, new) in pair()) {
        let mut turned = [String::new(), String::new()];
        reversed(&old, &mut turned[0]);
        reversed(&new, &mut turned[1]);
        let straight = [old.to_string(), new.to_string()];
        let marks = |lines: Vec<String>| lines.iter().map(|line| line.split(": ").next().unwrap_or_default().to_owned()).collect::<Vec<_>>();
        prop_assert_eq!(marks(lines(&straight[0], &straight[1])), marks(lines(&turned[0], &turned[1])));
        prop_assert_eq!(lines(&straight[0], &turned[0]), Vec::<String>::new());
        prop_assert_eq!(lines(&straight[0], &straight[1]), lines(&straight[0], &straight[1]));
    }

    #[test]
    fn each_changed_leaf_is_in_one_change((old, new) in pair()) {
        let (a, b) = (text(&old), text(&new));
        let diff = of(&a, &b);
        let mut places = HashSet::new();
        let mut covering = Vec::new();
        for change in diff.changes() {
            let moved = matches!(change.op, Op::Move { .. });
            prop_assert!(places.insert((change.at, moved)), "twice at {}", diff.path(change.at));
            if !moved {
                covering.push(change);
            }
        }
        for change in &covering {
            let outer: Vec<_> = diff.chain(change.at).skip(1).collect();
            prop_assert!(covering.iter().all(|other| !outer.contains(&other.at)), "one inside another");
        }
        // Without a list in the path, JSON Pointers show which leaves have changed.
        let (mut before, mut after) = (Vec::new(), Vec::new());
        leaves(&old, "", &mut before);
        leaves(&new, "", &mut after);
        let pointers: Vec<String> = covering.iter().map(|change| diff.path(change.at).pointer(Side::New)).collect();
        for (leaf, value) in after.iter().filter(|(leaf, _)| !leaf.contains(|c: char| c.is_ascii_digit())) {
            let same = before.iter().any(|(other, old)| other == leaf && old == value);
            let covers = pointers.iter().filter(|pointer| is_prefix(pointer, leaf)).count();
            prop_assert_eq!(covers, usize::from(!same), "{}", leaf);
        }
    }

    // Lists without keys are left out: they can have several best alignments, and each direction finds its
    // own.
    #[test]
    fn in_reverse_an_addition_is_a_removal(old in keyed_object(), new in keyed_object()) {
        let (a, b) = (text(&old), text(&new));
        let (there, back) = (of(&a, &b), of(&b, &a));
        let count = |diff: &Diff<'_>, op| diff.changes().iter().filter(|change| change.op == op).count();
        prop_assert_eq!(count(&there, Op::Add), count(&back, Op::Remove));
        prop_assert_eq!(count(&there, Op::Remove), count(&back, Op::Add));
        prop_assert_eq!(count(&there, Op::Replace), count(&back, Op::Replace));
        prop_assert_eq!(there.changes().len(), back.changes().len());
    }

    #[test]
    fn labels_do_not_depend_on_the_order(list in vec("[a-e]", 2..6), seed in any::<u64>()) {
        let object = |names: &[String], value: u32| {
            let items: Vec<_> = names.iter().map(|name| json!({"name": name, "value": value})).collect();
            text(&json!({"spec": {"env": items}}))
        };
        let mut names: Vec<String> = list;
        names.sort();
        names.dedup();
        let mut shuffled = names.clone();
        fastrand::Rng::with_seed(seed).shuffle(&mut shuffled);
        let labels = |names: &[String]| {
            let (a, b) = (object(names, 1), object(names, 2));
            let diff = of(&a, &b);
            diff.changes().iter().map(|change| diff.path(change.at).to_string()).collect::<std::collections::BTreeSet<_>>()
        };
        prop_assert_eq!(labels(&names), labels(&shuffled));
    }

    #[test]
    fn each_edit_is_one_change(object in any_object(), edits in vec((any::<prop::sample::Index>(), 0u32..4), 1..4)) {
        // Scalars that are not in a set and not part of a list key.
        let mut paths = Vec::new();
        leaves(&object, "", &mut paths);
        let editable: Vec<_> = paths.iter().filter(|(at, _)| at.ends_with("/image") || at.ends_with("/status") || at.ends_with("/replicas")).collect();
        let mut edited = object.clone();
        let mut touched = HashSet::new();
        for (index, value) in edits {
            let at = &editable[index.index(editable.len())].0;
            *edited.pointer_mut(at).expect("the path comes from this object") = json!(format!("edit {value}"));
            touched.insert(at);
        }
        let (a, b) = (text(&object), text(&edited));
        prop_assert_eq!(of(&a, &b).changes().len(), touched.len());
    }

    #[test]
    fn an_added_removed_or_moved_item_is_one_change(size in 2usize..8, from in any::<prop::sample::Index>(), to in any::<prop::sample::Index>(), keyed in any::<bool>()) {
        let list = |order: &[usize]| {
            let items: Vec<_> = order.iter().map(|n| if keyed { json!({"name": format!("n{n}"), "x": 1}) } else { json!(format!("n{n}")) }).collect();
            text(&json!({"spec": {"things": items}}))
        };
        let all: Vec<usize> = (0..size).collect();
        let (from, to) = (from.index(size), to.index(size));
        let mut less = all.clone();
        let item = less.remove(from);
        let mut moved = less.clone();
        moved.insert(to, item);
        let (all, less, moved) = (list(&all), list(&less), list(&moved));
        let changes = |a: &Doc, b: &Doc| of(a, b).changes().len();
        prop_assert_eq!(changes(&all, &less), 1);
        prop_assert_eq!(changes(&less, &all), 1);
        prop_assert_eq!(changes(&all, &moved), usize::from(from != to));
    }
}

fn is_prefix(pointer: &str, leaf: &str) -> bool {
    leaf.strip_prefix(pointer)
        .is_some_and(|rest| rest.is_empty() || rest.starts_with('/'))
}
