//! Tests of the tree views: whole outputs, and properties of every pair of versions.

use std::collections::BTreeSet;

use insta::assert_snapshot;
use proptest::prelude::*;

use super::row::RowBody;
use super::*;
use crate::diff::tests::laws::pair;
use crate::diff::tests::secrets::{PLANTED, base64, planted};
use crate::diff::{LAST_APPLIED, NodeId, Noise};
use crate::object::managed_fields::Writers;
use crate::render::diff::Fold;
use crate::render::diff::laws::{hostile_object, is_harmful};
use crate::render::diff::tests::{Setting, doc};
use crate::render::style::testing::{ansi, painted, plain};

fn lines(setting: &Setting, old: &str, new: &str, extent: Extent) -> String {
    let (old, new) = (doc(old), doc(new));
    setting.with(|view| {
        let diff = Diff::of(Some(old.root()), Some(new.root()));
        let writers = Writers::of(Some(old.root()), Some(new.root()));
        let lines = tree_lines(&ShownChanges::of(&diff, &writers, view), extent);
        painted(lines, setting.styles)
    })
}

fn tree(old: &str, new: &str) -> String {
    lines(&Setting::default(), old, new, Extent::Changed)
}

fn full(old: &str, new: &str) -> String {
    lines(&Setting::default(), old, new, Extent::Whole)
}

const PENDING: &str = r#"{"kind":"Pod","metadata":{"name":"web","resourceVersion":"1","managedFields":[{}]},"status":{"phase":"Pending","hostIP":"10.0.0.1","conditions":[
    {"type":"PodScheduled","status":"True"},
    {"lastTransitionTime":"2024-05-01T14:02:01Z","type":"Ready","reason":"ContainersNotReady","message":"containers with unready status: [web]","status":"False"},
    {"type":"Initialized","status":"True"},{"type":"ContainersReady","status":"True"}]}}"#;
const RUNNING: &str = r#"{"kind":"Pod","metadata":{"name":"web","resourceVersion":"2","managedFields":[{}]},"status":{"phase":"Running","hostIP":"10.0.0.1","conditions":[
    {"type":"PodScheduled","status":"True"},
    {"type":"Ready","status":"True","lastTransitionTime":"2024-05-01T14:02:07Z"},
    {"type":"Initialized","status":"True"},{"type":"ContainersReady","status":"True"}],"podIP":"10.244.1.17"}}"#;

#[test]
fn a_tree_shows_changes_in_their_context() {
    assert_snapshot!(tree(PENDING, RUNNING), @r#"
      { ⋯ 2
        "status": {
          "conditions": [ ⋯ 1
            { "type": "Ready",
    ~         "lastTransitionTime": "2024-05-01T14:02:01Z" → "2024-05-01T14:02:07Z" (+6s),
    -         "message": "containers with unready status: [web]",
    -         "reason": "ContainersNotReady",
    ~         "status": "False" → "True" }, ⋯ 2 ], ⋯ 1
    ~     "phase": "Pending" → "Running",
    +     "podIP": "10.244.1.17" } }
    "#);
}

#[test]
fn the_full_view_shows_the_object_without_managed_fields() {
    assert_snapshot!(full(PENDING, RUNNING), @r#"
      {
        "kind": "Pod",
        "metadata": {
          "name": "web",
          "resourceVersion": "2"
        },
        "status": {
          "conditions": [
            {
              "status": "True",
              "type": "PodScheduled"
            },
            {
    ~         "lastTransitionTime": "2024-05-01T14:02:01Z" → "2024-05-01T14:02:07Z" (+6s),
    -         "message": "containers with unready status: [web]",
    -         "reason": "ContainersNotReady",
    ~         "status": "False" → "True",
              "type": "Ready"
            },
            {
              "status": "True",
              "type": "Initialized"
            },
            {
              "status": "True",
              "type": "ContainersReady"
            }
          ],
          "hostIP": "10.0.0.1",
    ~     "phase": "Pending" → "Running",
    +     "podIP": "10.244.1.17"
        }
      }
    "#);
}

#[test]
fn noise_is_marked_on_request() {
    let setting = Setting {
        noise: Noise::ALL.into(),
        ..Setting::default()
    };
    let old = r#"{"metadata":{"resourceVersion":"1","managedFields":[{"manager":"a"}]},"spec":{"limits":{"cpu":"1"}}}"#;
    let new = r#"{"metadata":{"resourceVersion":"2","managedFields":[{"manager":"b"}]},"spec":{"limits":{"cpu":"1000m"}}}"#;
    assert_snapshot!(lines(&setting, old, new, Extent::Whole), @r#"
      {
        "metadata": {
    -     "managedFields": [
    -       {
    -         "manager": "a"
    -       }
    -     ],
    +     "managedFields": [
    +       {
    +         "manager": "b"
    +       }
    +     ],
    ~     "resourceVersion": "1" → "2"
        },
        "spec": {
          "limits": {
    ≈       "cpu": "1" → "1000m"
          }
        }
      }
    "#);
    assert_snapshot!(full(old, new), @r#"
    {
      "metadata": {
        "resourceVersion": "2"
      },
      "spec": {
        "limits": {
          "cpu": "1000m"
        }
      }
    }
    "#);
    assert_snapshot!(tree(old, new), @r#""#);
}

#[test]
fn items_are_shown_once_in_their_new_places() {
    let old = r#"{"spec":{"ports":[{"name":"http","port":80,"protocol":"TCP"},{"name":"dns","port":53,"protocol":"UDP"},
        {"name":"dns-tcp","port":53,"protocol":"TCP","targetPort":5353},{"name":"https","port":443,"protocol":"TCP","targetPort":8443}]}}"#;
    let new = r#"{"spec":{"ports":[{"name":"https","port":443,"protocol":"TCP","targetPort":8443},{"name":"http","port":80,"protocol":"TCP"},
        {"name":"dns-tcp","port":53,"protocol":"TCP","targetPort":5354},{"name":"metrics","port":9090,"protocol":"TCP"}]}}"#;
    let setting = Setting {
        noise: [Noise::Order].into(),
        ..Setting::default()
    };
    assert_snapshot!(lines(&setting, old, new, Extent::Changed), @r#"
      { "spec": {
          "ports": [
    ↕       { "port": 443, "protocol": "TCP", ⋯ 2 },  3 → 0
            ⋯ 1
    -       {"name": "dns", "port": 53, "protocol": "UDP"},
            { "port": 53, "protocol": "TCP", ⋯ 1
    ~         "targetPort": 5353 → 5354 },
    +       {"name": "metrics", "port": 9090, "protocol": "TCP"} ] } }
    "#);
    assert_snapshot!(lines(&setting, old, new, Extent::Whole), @r#"
      {
        "spec": {
          "ports": [
    ↕       {  3 → 0
              "name": "https",
              "port": 443,
              "protocol": "TCP",
              "targetPort": 8443
            },
            {
              "name": "http",
              "port": 80,
              "protocol": "TCP"
            },
    -       {
    -         "name": "dns",
    -         "port": 53,
    -         "protocol": "UDP"
    -       },
            {
              "name": "dns-tcp",
              "port": 53,
              "protocol": "TCP",
    ~         "targetPort": 5353 → 5354
            },
    +       {
    +         "name": "metrics",
    +         "port": 9090,
    +         "protocol": "TCP"
    +       }
          ]
        }
      }
    "#);
}

#[test]
fn a_move_in_an_unordered_list_is_not_a_change() {
    let old = r#"{"spec":{"ports":[{"name":"a","port":80},{"name":"b","port":81}]}}"#;
    let new = r#"{"spec":{"ports":[{"name":"b","port":81},{"name":"a","port":80}],"x":1}}"#;
    assert_snapshot!(tree(old, new), @r#"
      { "spec": { ⋯ 1
    +     "x": 1 } }
    "#);
}

#[test]
fn many_moves_take_one_line() {
    let list = |names: &str| {
        let items: Vec<String> = names
            .chars()
            .map(|name| format!(r#"{{"name":"{name}"}}"#))
            .collect();
        format!(r#"{{"spec":{{"initContainers":[{}]}}}}"#, items.join(","))
    };
    assert_snapshot!(tree(&list("abcdef"), &list("fedcba")), @r#"
      { "spec": {
    ↕     "initContainers": [ ⋯ 6 ]  5 of 6 items moved
        } }
    "#);
    assert_snapshot!(tree(&list("abc"), &list("cab")), @r#"
      { "spec": {
          "initContainers": [
    ↕       { "name": "c" },  2 → 0
            ⋯ 2 ] } }
    "#);
    assert_snapshot!(tree(r#"{"command":["a","b","c"]}"#, r#"{"command":["c","a","b","d"]}"#), @r#"
      { "command": [
    ↕     "c",  2 → 0
          ⋯ 2
    +     "d" ] }
    "#);
}

#[test]
fn keys_with_dots_and_values_of_other_types() {
    let old = r#"{"spec":{"volumeClaimTemplates":[{"metadata":{"name":"data","labels":{"a":"b"}},"spec":{"size":1}}],"x":{"a":[1]},"y":[],"z":1}}"#;
    let new = r#"{"spec":{"volumeClaimTemplates":[{"metadata":{"name":"data","labels":{"a":"b"}},"spec":{"size":2}}],"x":[{"a":1}],"y":{},"z":null}}"#;
    assert_snapshot!(tree(old, new), @r#"
      { "spec": {
          "volumeClaimTemplates": [
            { "metadata": { "name": "data" }, ⋯ 1
              "spec": {
    ~           "size": 1 → 2 } } ],
    ~     "x": {"a": [1]} → [{"a": 1}],
    ~     "y": [] → {},
    ~     "z": 1 → null } }
    "#);
    assert_snapshot!(full(old, new), @r#"
      {
        "spec": {
          "volumeClaimTemplates": [
            {
              "metadata": {
                "labels": {
                  "a": "b"
                },
                "name": "data"
              },
              "spec": {
    ~           "size": 1 → 2
              }
            }
          ],
    -     "x": {
    -       "a": [
    -         1
    -       ]
    -     },
    +     "x": [
    +       {
    +         "a": 1
    +       }
    +     ],
    ~     "y": [] → {},
    ~     "z": 1 → null
        }
      }
    "#);
    assert_snapshot!(tree(r#"{"a":1}"#, "[1]"), @r#"~ {"a": 1} → [1]"#);
}

#[test]
fn texts_are_compared_line_by_line() {
    let config = |timeout: &str| {
        format!(
            r#"{{"kind":"ConfigMap","data":{{"app.yaml":"server:\n  port: 80\n  timeout: {timeout}\n  x: 1\n","b":"1"}}}}"#
        )
    };
    assert_snapshot!(tree(&config("30s"), &config("60s")), @r#"
      { "data": {
    ~     "app.yaml": +1 -1 lines,
            @@ 2 @@
              port: 80
    -         timeout: 30s
    +         timeout: 60s
              x: 1
          ⋯ 1 }, ⋯ 1 }
    "#);
    assert_snapshot!(full(&config("30s"), &config("60s")), @r#"
      {
        "data": {
    ~     "app.yaml": "server:\n  port: 80\n  timeout: 30s\n  x: 1\n" → "server:\n  port: 80\n  timeout: 60s\n  x: 1\n",
          "b": "1"
        },
        "kind": "ConfigMap"
      }
    "#);
}

#[test]
fn secret_values_are_hidden_and_long_values_are_cut() {
    let object = |secret: &str, image: &str| {
        format!(
            r#"{{"kind":"Secret","apiVersion":"v1","data":{{"p":"{secret}"}},"image":"registry.example.com/{}/web:{image}"}}"#,
            "shop/".repeat(20)
        )
    };
    let (old, new) = (
        object("aHVudGVyMg==", "v1.4"),
        object("aHVudGVyMw==", "v1.5"),
    );
    let setting = Setting {
        width: Some(70),
        ..Setting::default()
    };
    assert_snapshot!(lines(&setting, &old, &new, Extent::Changed), @r#"
      { ⋯ 1
        "data": {
    ~     "p": <secret 7 B #1> → <secret 7 B #2> },
    ~   "image": …p/shop/shop//web:v1.4" → …p/shop/shop//web:v1.5", ⋯ 1 }
    "#);
    assert_snapshot!(lines(&setting, &old, &new, Extent::Whole), @r#"
      {
        "apiVersion": "v1",
        "data": {
    ~     "p": <secret 7 B #1> → <secret 7 B #2>
        },
    ~   "image": "registry.example.com/shop/shop/shop/shop/shop/shop/shop/shop/shop/shop/shop/shop/shop/shop/shop/shop/shop/shop/shop/shop//web:v1.4" → "registry.example.com/shop/shop/shop/shop/shop/shop/shop/shop/shop/shop/shop/shop/shop/shop/shop/shop/shop/shop/shop/shop//web:v1.5",
        "kind": "Secret"
      }
    "#);
}

#[test]
fn every_line_of_a_new_object_is_marked() {
    let object = doc(
        r#"{"kind":"ConfigMap","metadata":{"name":"a","managedFields":[{"manager":"x"}]},"data":{}}"#,
    );
    let whole = |standing| {
        Setting::default().with(|view| {
            plain(whole_lines(
                view.redactor.shown(object.root()),
                view,
                standing,
            ))
        })
    };
    assert_snapshot!(whole(ChangeType::Created), @r#"
    + {
    +   "data": {},
    +   "kind": "ConfigMap",
    +   "metadata": {
    +     "name": "a"
    +   }
    + }
    "#);
    assert_snapshot!(whole(ChangeType::Baseline), @r#"
    {
      "data": {},
      "kind": "ConfigMap",
      "metadata": {
        "name": "a"
      }
    }
    "#);
}

#[test]
fn the_full_view_shows_the_selected_parts() {
    let setting = |only: &str, ignore: &[&str]| Setting {
        filter: crate::diff::Filter {
            only: only
                .split_whitespace()
                .map(|path| path.parse().expect("a path"))
                .collect(),
            ignore: ignore
                .iter()
                .map(|path| path.parse().expect("a path"))
                .collect(),
        },
        ..Setting::default()
    };
    let part = |only: &str, ignore: &[&str]| {
        lines(&setting(only, ignore), PENDING, RUNNING, Extent::Whole)
    };
    assert_snapshot!(part("status.phase", &[]), @r#"
      {
        "status": {
    ~     "phase": "Pending" → "Running"
        }
      }
    "#);
    assert_snapshot!(part("status.conditions[type=Ready] kind", &["**.lastTransitionTime"]), @r#"
      {
        "kind": "Pod",
        "status": {
          "conditions": [
            {
    -         "message": "containers with unready status: [web]",
    -         "reason": "ContainersNotReady",
    ~         "status": "False" → "True",
              "type": "Ready"
            }
          ]
        }
      }
    "#);
    let object = doc(RUNNING);
    let whole = |setting: &Setting| {
        setting.with(|view| {
            plain(whole_lines(
                view.redactor.shown(object.root()),
                view,
                ChangeType::Created,
            ))
        })
    };
    assert_snapshot!(whole(&setting("status.podIP metadata.name", &[])), @r#"
    + {
    +   "metadata": {
    +     "name": "web"
    +   },
    +   "status": {
    +     "podIP": "10.244.1.17"
    +   }
    + }
    "#);
    assert_snapshot!(whole(&setting("spec", &[])), @"");
}

#[test]
fn json_in_a_string_has_a_tree_of_its_own() {
    let object = |image: &str, note: &str, applied: &str| {
        let quoted = |text: &str| serde_json::to_string(text).expect("a string serializes");
        let applied = quoted(&format!(r#"{{"spec":{{"image":"{applied}","n":1}}}}"#));
        format!(
            r#"{{"kind":"X","metadata":{{"annotations":{{"note":{},"kubectl.kubernetes.io/last-applied-configuration":{applied}}}}},"spec":{{"image":"{image}","n":1}}}}"#,
            quoted(note)
        )
    };
    let old = object("web:1", r#"{"a":1,"b":[{"name":"x","v":1}]}"#, "web:1");
    let new = object(
        "web:2",
        r#"{"b":[{"name":"x","v":2}],"a":1,"c":"\u001b"}"#,
        "web:2",
    );
    assert_snapshot!(tree(&old, &new), @r#"
      { ⋯ 1
        "metadata": {
          "annotations": {
    ~       "kubectl.kubernetes.io/last-applied-configuration": same 1 change,
    ~       "note": 2 changes inside
              { ⋯ 1
                "b": [
                  { "name": "x",
    ~               "v": 1 → 2 } ],
    +           "c": "\u001b" }
          } },
        "spec": {
    ~     "image": "web:1" → "web:2", ⋯ 1 } }
    "#);
    // The applied manifest and the object differ, and the filter does not apply inside the string.
    let setting = Setting {
        filter: crate::diff::Filter {
            only: vec!["metadata".parse().expect("a path")],
            ..Default::default()
        },
        ..Setting::default()
    };
    let new = object("web:1", r#"{"b": [{"name":"x","v":1}],"a":1}"#, "web:2");
    assert_snapshot!(lines(&setting, &old, &new, Extent::Changed), @r#"
      { ⋯ 1
        "metadata": {
          "annotations": {
    ~       "kubectl.kubernetes.io/last-applied-configuration": 1 change inside,
              { "spec": {
    ~             "image": "web:1" → "web:2", ⋯ 1 } }
    ~       "note": same JSON, written differently } }, ⋯ 1 }
    "#);
}

#[test]
fn a_copy_of_a_secret_in_a_string_is_redacted() {
    let secret = |value: &str| {
        let copy = format!(r#"{{"apiVersion":"v1","kind":"Secret","data":{{"p":"{value}"}}}}"#);
        let copy = serde_json::to_string(&copy).expect("a string serializes");
        format!(
            r#"{{"apiVersion":"v1","kind":"Secret","metadata":{{"annotations":{{"{LAST_APPLIED}":{copy}}}}}}}"#
        )
    };
    assert_snapshot!(tree(&secret("aHVudGVyMg=="), &secret("aHVudGVyMw==")), @r#"
      { ⋯ 2
        "metadata": {
          "annotations": {
    ~       "kubectl.kubernetes.io/last-applied-configuration": 1 change inside
              { ⋯ 1
                "data": {
    ~             "p": <secret 7 B #1> → <secret 7 B #2> }, ⋯ 1 }
          } } }
    "#);
}

#[test]
fn too_many_changes_are_counted_as_in_the_paths_view() {
    let data = |value: u32| {
        let fields: Vec<String> = (0..300).map(|n| format!(r#""k{n}":"{value}""#)).collect();
        format!(r#"{{"data":{{{}}},"x":{value}}}"#, fields.join(","))
    };
    let setting = |width, fold| Setting {
        width,
        fold,
        ..Setting::default()
    };
    let many = |width, fold| lines(&setting(width, fold), &data(1), &data(2), Extent::Changed);
    assert_snapshot!(many(Some(80), Fold::Many), @"
    ~ .data: 300 changes
    ~ .x: 1 → 2
      302 lines in all; --no-fold shows them
    ");
    assert_eq!(many(None, Fold::Many).lines().count(), 302);
    assert_eq!(many(Some(80), Fold::Never).lines().count(), 302);
    let whole = lines(
        &setting(Some(80), Fold::Many),
        &data(1),
        &data(2),
        Extent::Whole,
    );
    assert_eq!(whole.lines().count(), 305, "nothing is left out");
}

/// The nodes whose rows are marked, and the nodes with a shown change.
fn marked_and_shown(
    view: &DiffView<'_>,
    diff: &Diff<'_>,
    extent: Extent,
) -> (BTreeSet<NodeId>, BTreeSet<NodeId>) {
    let painter = Painter::unattributed(diff, view);
    let rows = rows(&painter, extent);
    for row in &rows {
        assert_eq!(row.mark == LineMark::NONE, row.shows.is_empty(), "{row:?}");
    }
    let shown = diff.changes().iter();
    let shown = shown.filter(|change| view.shows(diff, change));
    (
        rows.iter()
            .flat_map(|row| row.shows.iter().copied())
            .collect(),
        shown.map(|change| change.at).collect(),
    )
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::with_cases(256) })]

    #[test]
    fn marked_rows_are_those_with_shown_changes((old, new) in pair(), noise in proptest::collection::btree_set(prop::sample::select(&Noise::ALL[..]), 0..5), only in prop::option::of("[a-c]|spec|status")) {
        let (old, new) = (doc(&old.to_string()), doc(&new.to_string()));
        let diff = Diff::of(Some(old.root()), Some(new.root()));
        let only = only.iter().map(|path| path.parse().expect("a path")).collect();
        let setting = Setting { noise, filter: crate::diff::Filter { only, ..Default::default() }, ..Setting::default() };
        for extent in [Extent::Changed, Extent::Whole] {
            let (marked, shown) = setting.with(|view| marked_and_shown(view, &diff, extent));
            prop_assert_eq!(marked, shown, "{:?}", extent);
        }
    }

    #[test]
    fn lines_are_safe_at_every_width(old in hostile_object(), new in hostile_object(), width in prop::option::of(1usize..400)) {
        let setting = Setting { width, noise: Noise::ALL.into(), ..Setting::default() };
        for extent in [Extent::Changed, Extent::Whole] {
            for line in lines(&setting, &old.to_string(), &new.to_string(), extent).split('\n') {
                prop_assert!(!line.contains(is_harmful), "{line:?}");
                prop_assert!(line.starts_with(['+', '-', '~', '↕', '≈', ' ']), "{line:?}");
            }
        }
    }

    #[test]
    fn painted_lines_reset_their_colours(old in hostile_object(), new in hostile_object()) {
        let setting = Setting { styles: ansi(), width: Some(80), ..Setting::default() };
        for line in lines(&setting, &old.to_string(), &new.to_string(), Extent::Changed).split('\n') {
            let codes: Vec<&str> = line.split("\u{1b}[").skip(1).map(|rest| rest.split('m').next().unwrap_or_default()).collect();
            prop_assert!(codes.chunks(2).all(|pair| matches!(pair, [_, "0"])), "{line:?}");
        }
    }

    // Without the removed rows and with the new values, the full view is the new object.
    #[test]
    fn the_full_view_contains_the_new_object((old, new) in pair()) {
        let (a, b) = (doc(&old.to_string()), doc(&new.to_string()));
        let setting = Setting::default();
        let text = setting.with(|view| {
            let diff = Diff::of(Some(a.root()), Some(b.root()));
            let painter = Painter::unattributed(&diff, view);
            let rows = rows(&painter, Extent::Whole);
            let kept = rows.into_iter().filter(|row| row.mark != LineMark::REMOVED);
            kept.map(|row| row.head + &match row.body {
                RowBody::None => String::new(),
                RowBody::One(value) | RowBody::Pair(_, value) => value,
            } + &row.tail).collect::<String>()
        });
        // A comma remains if the last field or item was removed.
        let text = text.replace(",}", "}").replace(",]", "]");
        let read: serde_json::Value = serde_json::from_str(&text).map_err(|error| TestCaseError::fail(format!("{error}: {text}")))?;
        prop_assert_eq!(read, new, "{}", text);
    }

    #[test]
    fn no_line_contains_a_secret_value(old in planted(), new in planted(), width in prop::option::of(20usize..200)) {
        let setting = Setting { width, ..Setting::default() };
        let (old, new) = (old.to_string(), new.to_string());
        let mut output = lines(&setting, &old, &new, Extent::Changed);
        output.push_str(&lines(&setting, &old, &new, Extent::Whole));
        let new = doc(&new);
        output.push_str(&setting.with(|view| plain(whole_lines(view.redactor.shown(new.root()), view, ChangeType::Created))));
        for secret in [PLANTED.to_owned(), base64(PLANTED.as_bytes()), base64(&PLANTED.as_bytes()[1..12]), base64(&PLANTED.as_bytes()[2..11])] {
            let secret = secret.trim_end_matches('=');
            prop_assert!(!output.contains(&secret[..10]), "{output}");
        }
    }
}
