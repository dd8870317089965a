//! Which manager made a change, according to the managed fields.

use super::*;
use crate::object::managed_fields::{By, Writers};

/// An object with one managed fields entry for each `(manager, second, fieldsV1)`.
fn object(entries: &[(&str, &str, &str)], rest: &str) -> Doc {
    let entries: Vec<String> = entries
        .iter()
        .map(|(manager, second, fields)| {
            let time = match *second {
                "" => String::new(),
                second => format!(r#""time":"2024-05-01T14:02:{second}Z","#),
            };
            format!(
                r#"{{"manager":"{manager}","operation":"Update","apiVersion":"v1",{time}"fieldsV1":{fields}}}"#
            )
        })
        .collect();
    let entries = entries.join(",");
    doc(&format!(
        r#"{{"metadata":{{"managedFields":[{entries}]}},{rest}}}"#
    ))
}

fn who(old: &Doc, new: &Doc) -> String {
    let roots = (Some(old.root()), Some(new.root()));
    let diff = Diff::of(roots.0, roots.1);
    let writers = diff.writers(roots.0, roots.1);
    let mut lines: Vec<String> = vec![format!(
        "actors: {}",
        writers
            .actors()
            .map(|actor| &*actor.manager)
            .collect::<Vec<_>>()
            .join(" ")
    )];
    for change in diff.changes() {
        let by = match diff.by(&writers, change) {
            None => "-".to_owned(),
            Some(By::Actor(actor)) => format!("by {}", actor.manager),
            Some(By::Took { actor, was }) => {
                format!("by {} (was {}'s)", actor.manager, was.manager)
            }
            Some(By::Owner(owner)) => format!("owner {}", owner.manager),
            Some(By::Was(owner)) => format!("was {}'s", owner.manager),
        };
        lines.push(format!("{} {by}", diff.path(change.at)));
    }
    lines.join("\n")
}

#[test]
fn fields_are_found_by_every_kind_of_step() {
    let fields = r#"{"f:spec":{"f:replicas":{},"f:containers":{"k:{\"name\":\"web\"}":{".":{},"f:image":{},"f:ports":{"k:{\"containerPort\":80,\"protocol\":\"TCP\"}":{"f:name":{}}}}},
        "f:finalizers":{"v:\"a\"":{}},"f:rows":{"i:1":{"f:x":{}}},"f:whole":{}}}"#;
    let spec = |n: u32| {
        format!(
            r#""spec":{{"replicas":{n},"containers":[{{"name":"log","image":"{n}"}},{{"name":"web","image":"{n}","args":[{n}],"ports":[{{"containerPort":80,"protocol":"TCP","name":"p{n}"}}]}}],
            "rows":[{{"x":{n},"y":1,"z":2}},{{"x":{n},"y":3,"z":4}}],"whole":{{"a":{{"b":{n}}}}},"other":{n}}}"#
        )
    };
    insta::assert_snapshot!(who(
        &object(&[("kubectl", "01", fields)], &spec(1)),
        &object(&[("kubectl", "02", fields)], &spec(2)),
    ), @"
    actors: kubectl
    .metadata.managedFields -
    .spec.containers[name=log].image -
    .spec.containers[name=web].args[0] -
    .spec.containers[name=web].image by kubectl
    .spec.containers[name=web].ports[containerPort=80,protocol=TCP].name by kubectl
    .spec.other -
    .spec.replicas by kubectl
    .spec.rows[0].x -
    .spec.rows[1].x by kubectl
    .spec.whole.a.b by kubectl
    ");
    insta::assert_snapshot!(who(
        &object(&[("kubectl", "01", fields)], r#""spec":{"finalizers":["a"]}"#),
        &object(&[("kubectl", "02", fields)], r#""spec":{"finalizers":["a"],"whole":{}}"#),
    ), @"
    actors: kubectl
    .metadata.managedFields -
    .spec.whole by kubectl
    ");
}

#[test]
fn atomic_lists_are_owned_as_a_whole() {
    let fields = r#"{"f:status":{"f:containerStatuses":{}}}"#;
    let status = |n: u32| {
        format!(r#""status":{{"containerStatuses":[{{"name":"web","restartCount":{n}}}]}}"#)
    };
    insta::assert_snapshot!(who(
        &object(&[("kubelet", "01", fields)], &status(1)),
        &object(&[("kubelet", "02", fields)], &status(2)),
    ), @"
    actors: kubelet
    .metadata.managedFields -
    .status.containerStatuses[name=web].restartCount by kubelet
    ");
}

/// A manager that lost all fields of a map to other managers still owns the empty map, and no field of it.
#[test]
fn the_owner_of_a_field_wins_over_the_owner_of_its_map() {
    let (map, field) = (r#"{"f:data":{}}"#, r#"{"f:data":{"f:x":{}}}"#);
    let object = |first: &str, second: &str, x: u32| {
        let entries = [("kubectl-create", first, map), ("unknown", second, field)];
        object(&entries, &format!(r#""data":{{"x":{x},"y":{x}}}"#))
    };
    assert_eq!(
        who(&object("01", "01", 1), &object("01", "01", 2)),
        "actors: \n.data.x owner unknown\n.data.y -"
    );
    assert_eq!(
        who(&object("01", "01", 1), &object("02", "01", 2)),
        "actors: kubectl-create\n.data.x owner unknown\n.data.y by kubectl-create\n.metadata.managedFields -"
    );
    assert_eq!(
        who(&object("01", "01", 1), &object("01", "02", 2)),
        "actors: unknown\n.data.x by unknown\n.data.y -\n.metadata.managedFields -"
    );
}

#[test]
fn new_or_changed_entries_are_actors() {
    let (a, b) = (r#"{"f:spec":{"f:a":{}}}"#, r#"{"f:spec":{"f:b":{}}}"#);
    // One entry is new, one is unchanged. The latest comes first.
    insta::assert_snapshot!(who(
        &object(&[("one", "01", a)], r#""spec":{"a":1}"#),
        &object(&[("one", "01", a), ("two", "02", b)], r#""spec":{"a":2,"b":1}"#),
    ), @"
    actors: two
    .metadata.managedFields -
    .spec.a owner one
    .spec.b by two
    ");
    // The time is unchanged, the fields are not.
    insta::assert_snapshot!(who(
        &object(&[("one", "01", a)], r#""spec":{"a":1}"#),
        &object(&[("one", "01", b)], r#""spec":{"b":1}"#),
    ), @"
    actors: one
    .metadata.managedFields -
    .spec.a by one
    .spec.b by one
    ");
    // An entry has no time, and no entry changed.
    insta::assert_snapshot!(who(
        &object(&[("one", "", a)], r#""spec":{"a":1}"#),
        &object(&[("one", "", a)], r#""spec":{"a":2}"#),
    ), @"
    actors: 
    .spec.a owner one
    ");
    // One manager takes a field from another.
    insta::assert_snapshot!(who(
        &object(&[("one", "01", a)], r#""spec":{"a":1}"#),
        &object(&[("two", "02", b)], r#""spec":{"b":1}"#),
    ), @"
    actors: two
    .metadata.managedFields -
    .spec.a by two (was one's)
    .spec.b by two
    ");
    // There are no managed fields, or they are malformed.
    insta::assert_snapshot!(who(&object(&[], r#""spec":{"a":1}"#), &object(&[], r#""spec":{"a":2}"#)), @"
    actors: 
    .spec.a -
    ");
    insta::assert_snapshot!(who(
        &doc(r#"{"metadata":{"managedFields":7},"a":1}"#),
        &doc(r#"{"metadata":{"managedFields":[1,{"fieldsV1":"x"},{"fieldsV1":{"f:a":3,"k:{":{}}}]},"a":2}"#),
    ), @"
    actors: 
    .a -
    .metadata.managedFields -
    ");
}

/// As if `kubectl set image` writes a field that `kubectl create` owned.
#[test]
fn a_manager_that_lost_a_field_is_not_an_actor() {
    let object = |entries: &str| {
        let text = format!(r#"{{"metadata":{{"managedFields":[{entries}]}}}}"#);
        Doc::parse(text).expect("the text is valid JSON")
    };
    let created = |fields: &str| {
        format!(
            r#"{{"manager":"create","operation":"Update","time":"2026-01-02T03:04:05Z","fieldsV1":{fields}}}"#
        )
    };
    let set = r#"{"manager":"set","operation":"Update","time":"2026-01-02T03:05:00Z","fieldsV1":{"f:b":{}}}"#;
    let actors = |old: &Doc, new: &Doc| -> Vec<String> {
        let writers = Writers::of(Some(old.root()), Some(new.root()));
        writers
            .actors()
            .map(|actor| actor.manager.to_string())
            .collect()
    };
    let old = object(&created(r#"{"f:a":{},"f:b":{}}"#));
    let taken = object(&format!("{},{set}", created(r#"{"f:a":{}}"#)));
    assert_eq!(actors(&old, &taken), ["set"]);
    let let_go = object(&created(r#"{"f:a":{}}"#));
    assert!(actors(&old, &let_go).is_empty());
    let grown = object(&created(r#"{"f:a":{},"f:b":{},"f:c":{}}"#));
    assert_eq!(actors(&old, &grown), ["create"]);
}

#[test]
fn a_pending_deletion_has_the_time_of_its_request() {
    let object = |deletion: &str| {
        let entry = r#"{"manager":"create","operation":"Update","time":"2026-01-02T03:04:05Z"}"#;
        let text = format!(r#"{{"metadata":{{"managedFields":[{entry}]{deletion}}}}}"#);
        Doc::parse(text).expect("the text is valid JSON")
    };
    let there = object("");
    let asked =
        object(r#","deletionTimestamp":"2026-01-02T03:10:30Z","deletionGracePeriodSeconds":30"#);
    let at_once =
        object(r#","deletionTimestamp":"2026-01-02T03:10:10Z","deletionGracePeriodSeconds":0"#);
    let unreadable = object(r#","deletionTimestamp":"soon","deletionGracePeriodSeconds":{}"#);
    for (old, new, time) in [
        (Some(&there), &asked, Some("03:10:00")),
        (None, &asked, Some("03:10:00")),
        (Some(&asked), &at_once, Some("03:10:10")),
        // It was already waiting in the old version.
        (Some(&asked), &asked, None),
        (Some(&there), &unreadable, None),
    ] {
        let writers = Writers::of(old.map(Doc::root), Some(new.root()));
        let expected = time.map(|time| format!("2026-01-02T{time}Z"));
        assert_eq!(writers.moved().map(|time| time.to_string()), expected);
    }
}

/// What a client sends as `managedFields` shows nobody: only the owner of a new value wrote it.
#[test]
fn entries_that_a_client_sent_are_no_writers() {
    let (c, ac) = (
        r#"{"f:data":{"f:c":{}}}"#,
        r#"{"f:data":{"f:a":{},"f:c":{}}}"#,
    );
    let a = r#"{"f:data":{"f:a":{}}}"#;
    let old = object(&[("one", "20", ac)], r#""data":{"a":1,"c":1}"#);
    let check = |entries: &[(&str, &str, &str)], data: &str, expected: &str| {
        let new = object(entries, &format!(r#""data":{{{data}}}"#));
        let lines = who(&old, &new);
        let lines = lines
            .replace(".metadata.managedFields -", "")
            .replace('\n', " ");
        assert_eq!(lines.trim(), expected, "{entries:?}");
    };
    // Somebody put back a dump from before `c` was added.
    check(
        &[("one", "10", a)],
        r#""a":1"#,
        "actors:  .data.c was one's",
    );
    // The same with times that nobody wrote at, and with a manager that never wrote.
    check(
        &[("one", "59", a)],
        r#""a":1"#,
        "actors:  .data.c was one's",
    );
    check(
        &[("one", "10", a), ("ghost", "58", c)],
        r#""a":1"#,
        "actors:  .data.c was one's",
    );
    // Who put it back changed a value as well, and the server recorded that.
    check(
        &[("one", "59", r#"{"f:data":{}}"#), ("two", "30", a)],
        r#""a":2"#,
        "actors: two .data.a by two .data.c by two (was one's)",
    );
    // It owned the value already, with a time in the future.
    let future = object(&[("one", "59", ac)], r#""data":{"a":1,"c":1}"#);
    let new = object(&[("one", "30", ac)], r#""data":{"a":2,"c":1}"#);
    assert_eq!(who(&future, &new).lines().next(), Some("actors: one"));
}

/// The server adds this entry, at the time of the first apply.
#[test]
fn who_wrote_before_the_first_apply_is_no_writer() {
    let (a, b) = (r#"{"f:data":{"f:a":{}}}"#, r#"{"f:data":{"f:b":{}}}"#);
    let new = object(
        &[("before-first-apply", "02", a), ("one", "02", b)],
        r#""data":{"a":1,"b":1}"#,
    );
    assert_eq!(
        who(&object(&[], r#""data":{"a":1}"#), &new).lines().next(),
        Some("actors: one")
    );
}

/// The removal of an item of an atomic list, or of a field of an atomic map, sets the whole.
#[test]
fn a_removal_inside_an_atomic_value_has_a_writer() {
    let fields = r#"{"f:spec":{"f:list":{}}}"#;
    let spec = |list: &str| format!(r#""spec":{{"list":[{list}]}}"#);
    insta::assert_snapshot!(who(
        &object(&[("one", "01", fields)], &spec(r#"{"name":"a"},{"name":"b"}"#)),
        &object(&[("one", "02", fields)], &spec(r#"{"name":"a"}"#)),
    ), @"
    actors: one
    .metadata.managedFields -
    .spec.list[name=b] by one
    ");
}

/// A manager that has lost all fields of a map still owns the map. That is not ownership of the whole.
#[test]
fn who_owns_an_empty_map_need_not_have_emptied_it() {
    let map = r#"{"f:data":{}}"#;
    let (a, b) = (
        r#"{"f:data":{".":{},"f:a":{}}}"#,
        r#"{"f:data":{"f:b":{}}}"#,
    );
    let old = object(
        &[("one", "10", a), ("two", "20", b)],
        r#""data":{"a":1,"b":1}"#,
    );
    for second in ["20", "59"] {
        let dump = object(
            &[("one", second, map), ("two", second, b)],
            r#""data":{"b":1}"#,
        );
        let lines = who(&old, &dump);
        assert!(lines.starts_with("actors: \n.data.a was one's"), "{lines}");
    }
}

/// The server records neither a manager nor a time for a new order of the items of a keyed list.
#[test]
fn nobody_is_the_author_of_a_new_order() {
    let keyed = r#"{"f:spec":{"f:containers":{"k:{\"name\":\"a\"}":{".":{},"f:image":{},"f:name":{}},"k:{\"name\":\"b\"}":{".":{},"f:image":{},"f:name":{}}}}}"#;
    let whole = r#"{"f:spec":{"f:containers":{}}}"#;
    let spec = |names: [&str; 2]| {
        let items = names.map(|name| format!(r#"{{"name":"{name}","image":"i"}}"#));
        format!(r#""spec":{{"containers":[{}]}}"#, items.join(","))
    };
    let check = |fields, second| {
        let old = object(&[("one", "10", fields)], &spec(["a", "b"]));
        let new = object(&[("one", second, fields)], &spec(["b", "a"]));
        let roots = (Some(old.root()), Some(new.root()));
        let diff = Diff::of(roots.0, roots.1);
        let writers = diff.writers(roots.0, roots.1);
        let time = "2024-05-01T14:02:10Z".parse().expect("a time");
        let is_again = diff.is_again_by(&writers, time);
        let moved = diff
            .changes()
            .iter()
            .find(|change| matches!(change.op, Op::Move { .. }));
        let by = moved.and_then(|change| diff.by(&writers, change));
        (writers.actors().count(), is_again, by.is_some())
    };
    assert_eq!(check(keyed, "10"), (0, false, false));
    // A client sent this time.
    assert_eq!(check(keyed, "30"), (0, false, false));
    // The owner of the whole list set it.
    assert_eq!(check(whole, "30"), (1, false, true));
    assert_eq!(check(whole, "10"), (0, true, true));
}

/// Nothing was written in the future.
#[test]
fn a_time_in_the_future_is_no_evidence() {
    let fields = r#"{"f:data":{"f:a":{}}}"#;
    let old = object(&[("one", "10", fields)], r#""data":{"a":1}"#);
    let new = object(&[("one", "30", fields)], r#""data":{"a":2}"#);
    let diff = Diff::of(Some(old.root()), Some(new.root()));
    let count = |now: &str| {
        let now = now.parse().expect("a time");
        let writers = diff.writers(Some(old.root()), Some(new.root()));
        writers.up_to(now).actors().count()
    };
    assert_eq!(count("2024-05-01T14:02:30Z"), 1);
    // The clocks of two API servers differ a little.
    assert_eq!(count("2024-05-01T14:02:28Z"), 1);
    assert_eq!(count("2024-05-01T14:02:27Z"), 0);
}

/// An apply that removes a field moves its time, although it sets nothing. That of a dump is older.
#[test]
fn an_apply_that_only_removes_is_a_writer() {
    let apply = |second: &str, fields: &str, data: &str| {
        let entry = format!(
            r#"{{"manager":"one","operation":"Apply","time":"2024-05-01T14:02:{second}Z","fieldsV1":{fields}}}"#
        );
        doc(&format!(
            r#"{{"metadata":{{"managedFields":[{entry}]}},"data":{{{data}}}}}"#
        ))
    };
    let (a, ac) = (
        r#"{"f:data":{"f:a":{}}}"#,
        r#"{"f:data":{"f:a":{},"f:c":{}}}"#,
    );
    let old = apply("20", ac, r#""a":1,"c":1"#);
    let first = |new: &Doc| who(&old, new).lines().next().map(str::to_owned);
    let actors = |second| first(&apply(second, a, r#""a":1"#));
    assert_eq!(actors("30").as_deref(), Some("actors: one"));
    assert_eq!(actors("10").as_deref(), Some("actors: "));
    // An apply that changes nothing moves no time, so a client sent this one.
    let stamped = first(&apply("59", ac, r#""a":1,"c":1"#));
    assert_eq!(stamped.as_deref(), Some("actors: "));
}

/// The server records no manager for a field that a scale adds to a custom resource.
#[test]
fn who_owns_an_empty_map_need_not_have_filled_it() {
    let fields = r#"{"f:spec":{}}"#;
    insta::assert_snapshot!(who(
        &object(&[("one", "01", fields)], r#""spec":{}"#),
        &object(&[("one", "01", fields)], r#""spec":{"replicas":2}"#),
    ), @"
    actors: 
    .spec.replicas -
    ");
}

/// A write to the `scale` subresource of a custom resource is not recorded.
#[test]
fn who_owns_what_is_left_of_a_map_need_not_have_changed_a_field_of_it() {
    let (left, other) = (r#"{"f:spec":{}}"#, r#"{"f:spec":{"f:a":{}}}"#);
    let spec = |rest: &str| {
        let spec = format!(r#""spec":{{"a":1{rest}}}"#);
        object(&[("one", "10", left), ("two", "20", other)], &spec)
    };
    for (old, new) in [
        (r#","replicas":2"#, r#","replicas":3"#),
        (r#","replicas":2"#, ""),
    ] {
        let lines = who(&spec(old), &spec(new));
        assert_eq!(lines.lines().last(), Some(".spec.replicas -"), "{lines}");
    }
    let atomic = |value: u8| {
        let rest = format!(r#""spec":{{"selector":{{"app":{value}}}}}"#);
        let entries = [
            ("one", "10", r#"{"f:spec":{"f:selector":{}}}"#),
            ("two", "20", other),
        ];
        object(&entries, &rest)
    };
    let lines = who(&atomic(1), &atomic(2));
    assert!(lines.ends_with(".spec.selector.app owner one"), "{lines}");
}

/// The server stores `stringData` of a Secret as `data`, which nobody owns then.
#[test]
fn a_value_that_is_stored_elsewhere_has_its_writer() {
    let fields = r#"{"f:stringData":{"f:a":{}}}"#;
    assert_eq!(
        who(
            &object(&[("one", "01", fields)], r#""data":{"a":1}"#),
            &object(&[("one", "09", fields)], r#""data":{"a":2}"#),
        )
        .lines()
        .next(),
        Some("actors: one")
    );
}
