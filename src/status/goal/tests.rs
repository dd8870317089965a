//! Which objects meet which goals, and which texts parse as goals.

use super::{Goal, GoalError};
use crate::object::Doc;

fn goal(text: &str) -> Goal {
    text.parse().unwrap()
}

fn is_met(text: &str, object: &str) -> bool {
    goal(text).is_met(Some(Doc::parse(object).unwrap().root()))
}

const READY: &str = r#"{"metadata":{"generation":2,"labels":{"a.b/c":"d"}},
    "spec":{"ports":[{"name":"web","port":80},{"name":"dns","port":53}]},
    "status":{"observedGeneration":2,"readyReplicas":3,"phase":" Running ","paused":false,"none":null,
        "conditions":[{"type":"Available","status":"True"},{"type":"Failed","status":"False"}]}}"#;

#[test]
fn goals_match_kubectl_wait() {
    let table = [
        ("create", true),
        ("delete", false),
        ("Delete", false),
        ("condition=Available", true),
        ("condition=available=true", true),
        ("condition=Available=Unknown", false),
        ("condition=Failed", false),
        ("condition=Failed=false", true),
        ("condition=Ready", false),
        ("jsonpath={.status.readyReplicas}=3", true),
        ("jsonpath={.status.readyReplicas}='3'", true),
        ("jsonpath={.status.readyReplicas}=2", false),
        ("jsonpath={.status.phase}=Running", true),
        ("jsonpath={.status.paused}=false", true),
        ("jsonpath={.status.none}", true),
        ("jsonpath={.status.absent}", false),
        // Without braces, without the dot, from the root.
        ("jsonpath=.status.readyReplicas=3", true),
        ("jsonpath=status.readyReplicas=3", true),
        ("jsonpath={$.status.readyReplicas}=3", true),
        ("jsonpath={['status'].readyReplicas}=3", true),
        (r"jsonpath={.metadata.labels.a\.b/c}=d", true),
        ("jsonpath={.metadata.labels['a.b/c']}=d", true),
        (r#"jsonpath={.spec.ports[?(@.name=="web")].port}=80"#, true),
        (r#"jsonpath={.spec.ports[?(@.name=="]=")].port}=80"#, false),
        ("jsonpath={.spec.ports[1].port}=53", true),
        ("jsonpath={.spec.ports[-1].port}=53", true),
        ("jsonpath={..readyReplicas}=3", true),
        // Several values, an object or a list equal nothing.
        ("jsonpath={.spec.ports[*].port}=80", false),
        ("jsonpath={.spec.ports}=80", false),
        ("jsonpath={.spec}", true),
    ];
    for (text, expected) in table {
        assert_eq!(is_met(text, READY), expected, "{text}");
    }
}

#[test]
fn a_condition_of_an_older_generation_does_not_count() {
    let object = |own: &str, whole: &str| {
        format!(
            r#"{{"metadata":{{"generation":3}},"status":{{{whole}"conditions":[{{"type":"Ready",{own}"status":"True"}}]}}}}"#
        )
    };
    let table = [
        (object("", ""), true),
        (object("", r#""observedGeneration":2,"#), false),
        (object("", r#""observedGeneration":3,"#), true),
        (object(r#""observedGeneration":2,"#, ""), false),
        // The condition's own generation counts before the object's.
        (
            object(r#""observedGeneration":3,"#, r#""observedGeneration":2,"#),
            true,
        ),
    ];
    for (object, expected) in table {
        assert_eq!(is_met("condition=Ready", &object), expected, "{object}");
    }
}

#[test]
fn an_absent_object_meets_only_delete() {
    assert!(goal("delete").is_met(None));
    for text in ["create", "condition=Ready", "jsonpath={.a}"] {
        assert!(!goal(text).is_met(None), "{text}");
    }
}

#[test]
fn parse_errors_have_the_words_of_kubectl() {
    let error = |text: &str| text.parse::<Goal>().unwrap_err();
    for text in [
        "",
        "readyy",
        "current=true",
        "condition=",
        "condition",
        "jsonpath",
    ] {
        assert_eq!(error(text), GoalError::Unrecognized(text.to_owned()));
    }
    assert_eq!(error("jsonpath="), GoalError::Format);
    for text in [
        "{}",
        "{.a",
        "'{.a}'=b",
        "\"{.a}=b\"",
        "'.a'=b",
        "{.a}==b",
        ".a==b",
        "{.a}{.b}",
    ] {
        assert_eq!(
            error(&format!("jsonpath={text}")),
            GoalError::Path,
            "{text}"
        );
    }
    assert_eq!(error("jsonpath={.a}="), GoalError::NoValue);
    assert!(matches!(
        error("jsonpath={.a[?(}=1"),
        GoalError::Expression { .. } | GoalError::Path
    ));
}

#[test]
fn any_text_is_a_goal_or_an_error() {
    use proptest::prelude::*;
    proptest!(|(text in "[\\[\\]{}.'\"=\\\\a*?@()$-]{0,12}")| {
        if let Ok(goal) = format!("jsonpath={text}").parse::<Goal>() {
            goal.is_met(Some(Doc::parse(READY).unwrap().root()));
        }
    });
}

#[test]
fn the_goal_current_has_two_names_and_needs_a_model() {
    assert_eq!(
        (goal("ready"), goal("Current")),
        (Goal::Current, Goal::Current)
    );
    assert_eq!(goal("current").to_string(), "current");
    assert_eq!(goal("deleted"), Goal::Deleted);
    assert_eq!(goal("settled").to_string(), "settled");
    assert!(!is_met("current", READY) && !is_met("settled", READY));
}

/// Each `..` and each comma multiplies the number of values.
#[test]
fn a_json_path_that_may_select_too_much_is_an_error() {
    let many = "..a".repeat(25);
    let commas = "[*,*]".repeat(9);
    let quoted = format!("{{.metadata['{}']}}", "..,".repeat(20));
    for (path, is_refused) in [
        (format!("{{{many}}}"), true),
        ("{..*..*}".to_owned(), true),
        ("{..a..a}".to_owned(), true),
        ("{..*[?(@..*)]}".to_owned(), true),
        ("{..[?(@.a[?(@..b)])]}".to_owned(), true),
        ("{.items[?(!(@..a && @..b))]}".to_owned(), true),
        ("{..[?count(@..*)==1]}".to_owned(), true),
        ("{..[?length(@.a)==1]}".to_owned(), false),
        ("{.items[?($.items[*])]}".to_owned(), true),
        ("{.items[?($..a)]}".to_owned(), true),
        ("{.items[?count($.items[*])==1]}".to_owned(), true),
        ("{.items[?(@.a==$.spec.b)]}".to_owned(), false),
        ("{.items[?($.spec.b)]}".to_owned(), false),
        (format!("{{.items{commas}}}"), true),
        ("{.items[*,*][*,*][*,*][*,*]}".to_owned(), true),
        ("{..a}".to_owned(), false),
        ("{..*}".to_owned(), false),
        ("{.items[?(@..a)]}".to_owned(), false),
        ("{.items['a','b']}".to_owned(), false),
        (quoted, false),
    ] {
        let goal = format!("jsonpath={path}=1").parse::<Goal>();
        assert_eq!(goal.is_err(), is_refused, "{path}");
        if let Err(error) = goal {
            let words = "it can select too many values: use at most one `..`";
            assert!(error.to_string().contains(words), "{error}");
        }
    }
}
