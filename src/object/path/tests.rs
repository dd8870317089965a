//! Tests of paths and their patterns.

use super::*;

fn field(name: &str) -> Step<'_> {
    Step::Field(name.into())
}

fn item(place: (Option<u32>, Option<u32>), label: Label<'_>) -> Step<'_> {
    let (old, new) = place;
    Step::Item {
        place: Place { old, new },
        label,
    }
}

fn key<'a>(parts: &[(&'a str, &'a str)], nth: u32) -> Label<'a> {
    Label::Key {
        parts: parts
            .iter()
            .map(|&(name, value)| (name.into(), value.into()))
            .collect(),
        nth,
    }
}

fn path<'a>(steps: &[Step<'a>]) -> Path<'a> {
    Path {
        steps: steps.to_vec(),
    }
}

fn check(steps: &[Step<'_>], text: &str, pointer: &str) {
    let path = path(steps);
    assert_eq!(path.to_string(), text);
    assert_eq!(path.pointer(Side::New), pointer, "{text}");
}

#[test]
fn fields_are_quoted_if_necessary() {
    check(&[], ".", "");
    check(
        &[field("spec"), field("pod-ip_2")],
        ".spec.pod-ip_2",
        "/spec/pod-ip_2",
    );
    check(&[field("a"), field("b/c")], r#".a["b/c"]"#, "/a/b~1c");
    check(&[field("")], r#".[""]"#, "/");
    check(&[field("x.y"), field("~")], r#".["x.y"]["~"]"#, "/x.y/~0");
    check(&[field("a"), field("\"\n")], r#".a["\"\n"]"#, "/a/\"\n");
}

#[test]
fn items_are_named_by_key_or_by_index() {
    let ports = key(&[("port", "53"), ("protocol", "TCP")], 1);
    check(
        &[
            field("ports"),
            item((Some(2), Some(1)), ports),
            field("targetPort"),
        ],
        ".ports[port=53,protocol=TCP].targetPort",
        "/ports/1/targetPort",
    );
    let second = item((Some(1), Some(1)), key(&[("name", "A")], 2));
    check(&[field("env"), second], ".env[name=A#2]", "/env/1");
    let odd = item((None, Some(0)), key(&[("name", "a,b]")], 1));
    check(&[field("env"), odd], r#".env[name="a,b]"]"#, "/env/0");
    let shifted = item((Some(0), Some(1)), Label::Index);
    check(
        &[field("rules"), shifted, field("verbs")],
        ".rules[0→1].verbs",
        "/rules/1/verbs",
    );
    let removed = item((Some(3), None), Label::Index);
    check(&[field("args"), removed], ".args[3]", "/args/3");
    let member = item((None, Some(1)), Label::Member);
    check(&[field("verbs"), member], ".verbs", "/verbs/1");
}

#[test]
fn a_printed_path_is_a_pattern_that_matches_it() {
    let paths = [
        path(&[field("spec"), field("a/b"), field("x-y")]),
        path(&[field(""), field("\"\\\u{1b}")]),
        path(&[
            field("env"),
            item(
                (Some(0), Some(4)),
                key(&[("name", "A \"b\"]"), ("k.l", "")], 2),
            ),
        ]),
        path(&[field("rules"), item((Some(0), Some(1)), Label::Index)]),
    ];
    for path in paths {
        for text in [path.to_string(), path.text("->")] {
            let pattern: Pattern = text.parse().expect("own form");
            assert_eq!(pattern.matches(&path), Match::Inside, "{text}");
        }
    }
}

#[test]
fn patterns_match_a_path_and_everything_below_it() {
    let image = path(&[
        field("spec"),
        field("containers"),
        item((Some(0), Some(1)), key(&[("name", "web")], 1)),
        field("image"),
    ]);
    let cases = [
        ("spec", Match::Inside),
        (".spec.containers", Match::Inside),
        (".spec.containers[name=web]", Match::Inside),
        (".spec.containers[name=web#1].image", Match::Inside),
        (".spec.containers[name=web#2].image", Match::None),
        (".spec.containers[name=app]", Match::None),
        (".spec.containers[*].image", Match::Inside),
        (".spec.containers[1].image", Match::Inside),
        (".spec.containers[0].image", Match::None),
        ("spec.*[*].image", Match::Inside),
        ("**.image", Match::Inside),
        ("**", Match::Inside),
        (".", Match::Inside),
        ("**.name", Match::Above),
        ("status.**.name", Match::None),
        ("spec.containers[*].image.tag", Match::Above),
        (r#".spec["containers"]"#, Match::Inside),
        ("image", Match::None),
    ];
    for (text, expected) in cases {
        let pattern: Pattern = text.parse().expect("valid");
        assert_eq!(pattern.matches(&image), expected, "{text}");
    }
    let member = path(&[field("finalizers"), item((None, Some(0)), Label::Member)]);
    for text in ["finalizers", "finalizers[*]"] {
        let pattern: Pattern = text.parse().expect("valid");
        assert_eq!(pattern.matches(&member), Match::Inside, "{text}");
    }
}

#[test]
fn many_stars_are_matched_quickly() {
    let deep = path(&vec![field("a"); 40]);
    let stars = vec!["**"; 40].join(".");
    for (last, expected) in [("a", Match::Inside), ("b", Match::Above)] {
        let pattern: Pattern = format!("{stars}.{last}").parse().expect("valid");
        assert_eq!(pattern.matches(&deep), expected, "{last}");
        assert_eq!(pattern, format!("**.{last}").parse().expect("valid"));
        let pattern: Pattern = format!("{}.{last}", vec!["**.a"; 25].join("."))
            .parse()
            .expect("valid");
        assert_eq!(pattern.matches(&deep), expected, "{last}");
        assert_eq!(pattern.names(&deep), last == "a");
    }
}

#[test]
fn errors_explain_how_to_write_the_path() {
    let message = |text: &str| match text.parse::<Pattern>() {
        Ok(pattern) => format!("{pattern:?}"),
        Err(error) => error.to_string(),
    };
    insta::assert_snapshot!(
        [
            "",
            "/spec/replicas",
            "metadata.labels.app.kubernetes.io/name",
            "spec..replicas",
            "spec.",
            "spec.containers[web]",
            "spec.containers[name=web",
            "spec.containers[]",
            r#"spec["a"#,
            "a***",
            "a[1->]",
            "a[name=b#x]",
        ]
        .map(message)
        .join("\n"),
        @r#"
        the path is empty: write .spec.replicas, or ** for everything
        /spec/replicas is a JSON Pointer; write the path as .spec.replicas
        `/` at position 34: a name with it is written in quotes, ["…/…"]
        expected a field's name, `*`, `**` or `[` at position 6, found `.`
        expected a field's name, `*`, `**` or `[` at position 6, found the end
        expected `=` and the key's value (a field's name is quoted here) at position 20, found `]`
        expected `]` at position 25, found the end
        expected an index, `*`, a key such as `name=web` or a name in quotes at position 17, found `]`
        expected the closing quote at position 8, found the end
        expected `.`, `[` or the end at position 2, found `*`
        expected the new index at position 6, found `]`
        expected which of them, from 1 at position 10, found `x`
        "#
    );
}
