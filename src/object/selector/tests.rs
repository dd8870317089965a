//! Tests of the selector grammars, case by case.

use std::collections::BTreeMap;

use proptest::prelude::*;

use super::*;
use crate::object::Doc;

mod parsed_by_kubernetes;
use parsed_by_kubernetes::{Case, FIELDS, LABELS};

/// The requirements of a label selector in the words of the cases.
fn label_requirements(selector: &LabelSelector) -> String {
    let mut texts: Vec<String> = Vec::new();
    for (key, test) in selector.requirements() {
        let list = |values: &std::collections::BTreeSet<String>| {
            values.iter().cloned().collect::<Vec<_>>().join("|")
        };
        texts.push(match test {
            Test::In(values) => format!("{key} in [{}]", list(values)),
            Test::NotIn(values) => format!("{key} notin [{}]", list(values)),
            Test::Exists => format!("{key} exists []"),
            Test::DoesNotExist => format!("{key} ! []"),
            Test::GreaterThan(bound) => format!("{key} gt [{bound}]"),
            Test::LessThan(bound) => format!("{key} lt [{bound}]"),
        });
    }
    texts.join("; ")
}

/// The requirements of a field selector in the words of the cases.
fn field_requirements(selector: &FieldSelector) -> String {
    let terms = selector.terms().iter().map(|term| {
        let operator = match term.operator {
            FieldOperator::Equals => "=",
            FieldOperator::NotEquals => "!=",
        };
        format!("{} {operator} [{}]", term.field, term.value)
    });
    terms.collect::<Vec<_>>().join("; ")
}

/// The requirements of a case as a sorted set without repeats, in which `=` and `==` are `in`, and numbers have no zeros
/// in front.
fn requirements(text: &str) -> Vec<String> {
    let mut all: Vec<String> = text.split("; ").map(str::to_owned).collect();
    all.sort();
    all.dedup();
    all
}

/// The error without its long sentences.
fn shortened(error: &SelectorError) -> String {
    let mut text = error.to_string();
    for (sentence, name) in [
        (NAME, "<NAME>"),
        (SUBDOMAIN, "<SUBDOMAIN>"),
        (VALUE, "<VALUE>"),
    ] {
        text = text.replace(sentence, name);
    }
    text
}

fn check<S: std::str::FromStr<Err = SelectorError>>(
    cases: &[Case],
    spelled: impl Fn(&S) -> String,
    as_spelled: impl Fn(&str) -> String,
) {
    for (text, expected) in cases {
        let expected = expected.map(|text| requirements(&as_spelled(text)));
        let found = text.parse::<S>();
        let found = found.as_ref().map(|found| requirements(&spelled(found)));
        let found = found.map_err(shortened);
        assert_eq!(found, expected.map_err(str::to_owned), "{text:?}");
    }
}

#[test]
fn odd_label_selectors_are_read_as_kubernetes_reads_them() {
    let as_spelled = |text: &str| {
        let text = text.replace(" == [", " in [").replace(" = [", " in [");
        text.replace(" != [", " notin [").replace("[005]", "[5]")
    };
    check(LABELS, label_requirements, as_spelled);
}

#[test]
fn odd_field_selectors_are_read_as_kubernetes_reads_them() {
    check(FIELDS, field_requirements, str::to_owned);
}

fn labels(text: &str) -> BTreeMap<&str, &str> {
    text.split(',')
        .filter_map(|pair| pair.split_once('='))
        .collect()
}

fn selects(selector: &str, text: &str) -> bool {
    let labels = labels(text);
    let selector: LabelSelector = selector.parse().expect(selector);
    selector.matches(|key| labels.get(key).copied())
}

#[test]
fn label_selectors_match_as_in_kubernetes() {
    let cases = [
        ("", "a=1", true),
        ("a", "a=1", true),
        ("a", "b=1", false),
        ("!a", "b=1", true),
        ("! a", "a=1", false),
        ("a=1", "a=1", true),
        ("a==1", "a=1", true),
        ("a = 1 , b = 2", "a=1,b=2", true),
        ("a=1,b=2", "a=1,b=3", false),
        ("a=", "a=", true),
        ("a=", "a=1", false),
        ("a!=1", "b=1", true),
        ("a!=1", "a=1", false),
        ("a in (1,2)", "a=2", true),
        ("a in (1, 2)", "a=3", false),
        ("a in (1,2)", "b=1", false),
        ("a in (,1)", "a=", true),
        ("a notin (1,2)", "a=3", true),
        ("a notin (1,2)", "b=1", true),
        ("a notin (1)", "a=1", false),
        ("a>5", "a=6", true),
        ("a>5", "a=5", false),
        ("a>5", "a=x", false),
        ("a<5", "b=1", false),
        ("a<5", "a=-1", true),
        ("in in (in)", "in=in", true),
        ("example.com/app=web", "example.com/app=web", true),
    ];
    for (selector, labels, expect) in cases {
        assert_eq!(selects(selector, labels), expect, "{selector} on {labels}");
    }
}

#[test]
fn invalid_label_selectors_are_refused() {
    for text in [
        "a=1 b", "=1", "a in 1", "a in (1", "a=b=c", "a>x", ",a", "a,", "a b", "-a=1", "a=-", "/a",
        "é=1",
    ] {
        assert!(text.parse::<LabelSelector>().is_err(), "{text}");
    }
    let error = "a ~ b".parse::<LabelSelector>().expect_err("no operator");
    assert_eq!(
        error.to_string(),
        "unable to parse requirement: found '~', expected: in, notin, =, ==, !=, gt, lt"
    );
}

#[test]
fn equal_label_selectors_have_equal_texts() {
    let text = |text: &str| text.parse::<LabelSelector>().expect("valid").to_string();
    assert_eq!(
        text("b in (2,1),a==1,!c,d,a==1,e notin (x),f>1"),
        "a=1,b in (1,2),!c,d,e!=x,f>1"
    );
}

#[test]
fn field_selectors_match() {
    let fields = BTreeMap::from([("metadata.name", "web"), ("spec.nodeName", "a,b=c\\d")]);
    let cases = [
        ("", true),
        ("metadata.name=web", true),
        ("metadata.name==web", true),
        ("metadata.name!=web", false),
        ("metadata.name!=api,", true),
        (r"metadata.name=web,spec.nodeName=a\,b\=c\\d", true),
        ("status.phase=", true),
        ("status.phase!=Running", true),
    ];
    for (selector, expect) in cases {
        let selector: FieldSelector = selector.parse().expect(selector);
        assert_eq!(
            selector.matches(|field| fields.get(field).copied()),
            expect,
            "{selector}"
        );
        assert_eq!(selector.to_string().parse(), Ok(selector));
    }
    let named: FieldSelector = "metadata.name=web".parse().expect("valid");
    assert_eq!(named.required("metadata.name"), Some("web"));
    assert_eq!(named.required("metadata.namespace"), None);
}

#[test]
fn invalid_field_selectors_are_refused() {
    for text in ["a", "a=b=c", r"a=\x", r"a=b\"] {
        assert!(text.parse::<FieldSelector>().is_err(), "{text}");
    }
}

proptest! {
    #[test]
    fn any_text_is_parsed_or_refused_and_its_canonical_form_is_stable(text in "[ab/1=!<>(), \\\\innot]{0,24}") {
        if let Ok(selector) = text.parse::<LabelSelector>() {
            prop_assert_eq!(selector.to_string().parse(), Ok(selector));
        }
        if let Ok(selector) = text.parse::<FieldSelector>() {
            prop_assert_eq!(selector.to_string().parse(), Ok(selector));
        }
    }
}

fn read(text: &str, with: fn(Value<'_>) -> Option<LabelSelector>) -> String {
    let doc = Doc::parse(text).expect("a case is JSON");
    with(doc.root()).map_or("nothing".to_owned(), |selector| selector.to_string())
}

#[test]
fn a_label_selector() {
    for (text, expect) in [
        ("{}", ""),
        (r#"{"matchLabels":null,"matchExpressions":null}"#, ""),
        (
            r#"{"matchLabels":{"app":"web"},"matchExpressions":[
                    {"key":"tier","operator":"In","values":["b","a"]},
                    {"key":"zone","operator":"NotIn","values":["x"]},
                    {"key":"new","operator":"Exists"},
                    {"key":"old","operator":"DoesNotExist","values":[]}]}"#,
            "app=web,new,!old,tier in (a,b),zone!=x",
        ),
        ("null", "nothing"),
        (r#"{"matchLabels":{"app":1}}"#, "nothing"),
        (r#"{"matchLabels":[]}"#, "nothing"),
        (r#"{"matchExpressions":{}}"#, "nothing"),
        (
            r#"{"matchExpressions":[{"key":"a","operator":"In"}]}"#,
            "nothing",
        ),
        (
            r#"{"matchExpressions":[{"key":"a","operator":"Like","values":["b"]}]}"#,
            "nothing",
        ),
    ] {
        assert_eq!(read(text, label_selector), expect, "{text}");
    }
}

#[test]
fn a_map_of_labels() {
    for (text, expect) in [
        (r#"{"tier":"back","app":"web"}"#, "app=web,tier=back"),
        ("{}", "nothing"),
        ("null", "nothing"),
        (r#"{"app":null}"#, "nothing"),
    ] {
        assert_eq!(read(text, map_selector), expect, "{text}");
    }
}
