//! Properties of every pair of versions, at every width.

use proptest::prelude::*;
use serde_json::json;

use super::tests::{Setting, doc};
use super::*;
use crate::diff::tests::laws::{any_object, pair};
use crate::diff::tests::secrets::{PLANTED, base64, planted};
use crate::diff::{Diff, Filter, Noise};
use crate::object::managed_fields::Writers;
use crate::render::style::testing::{ansi, plain};
use crate::render::text;

/// Text that can harm a terminal or is hard to measure.
fn hostile() -> impl Strategy<Value = String> {
    let piece = prop_oneof![
        Just("\u{1b}[2J".to_owned()),
        Just("\u{7}\r\u{202e}\u{200b}\u{85}".to_owned()),
        Just("日本語 e\u{301} 👩\u{200d}👩\u{200d}👧".to_owned()),
        Just("line\nline\r\n".to_owned()),
        Just("0123456789abcdef".repeat(4)),
        Just("a long sentence with many words in it ".repeat(8)),
        "[ -~]{0,12}",
    ];
    proptest::collection::vec(piece, 0..4).prop_map(|pieces| pieces.concat())
}

pub(super) fn hostile_object() -> impl Strategy<Value = serde_json::Value> {
    (any_object(), hostile(), hostile(), hostile()).prop_map(|(mut object, a, b, c)| {
        object["metadata"]["annotations"] = json!({ a.as_str(): b });
        object["data"] =
            json!({ "text": format!("{c}\n{b}\nend"), "json": json!({ "x": a }).to_string() });
        object["status"]["conditions"] =
            json!([{ "type": a, "status": b, "reason": c, "message": a, "lastTransitionTime": b }]);
        object["status"]["containerStatuses"] =
            json!([{ "name": b, "state": { a.as_str(): { "reason": c, "startedAt": b } } }]);
        object
    })
}

/// Whether a terminal would obey or hide this character.
pub(super) fn is_harmful(char: char) -> bool {
    char.is_control()
        || matches!(char, '\u{202a}'..='\u{202e}' | '\u{200b}'..='\u{200f}' | '\u{2066}'..='\u{2069}')
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn lines_are_safe_at_every_width(old in hostile_object(), new in hostile_object(), width in prop::option::of(1usize..400)) {
        let setting = Setting { width, noise: Noise::ALL.into(), ..Setting::default() };
        for line in setting.lines(&old.to_string(), &new.to_string()).split('\n') {
            prop_assert!(!line.contains(is_harmful), "{line:?}");
        }
        let new = doc(&new.to_string());
        for line in setting.with(|view| created_lines(view.redactor.shown(new.root()), view)) {
            prop_assert!(!line.as_str().contains(is_harmful), "{line:?}");
        }
    }

    #[test]
    fn lines_fit_the_width_if_paths_leave_room(old in any_object(), new in any_object(), width in 100usize..200) {
        let setting = Setting { width: Some(width), ..Setting::default() };
        for line in setting.lines(&old.to_string(), &new.to_string()).split('\n') {
            let path = line.split(": ").next().unwrap_or_default();
            prop_assert!(text::width(line) <= width || text::width(path) + 45 > width, "{width} {}: {line}", text::width(line));
        }
    }

    #[test]
    fn painted_lines_reset_their_colours(old in hostile_object(), new in hostile_object()) {
        let setting = Setting { styles: ansi(), width: Some(80), ..Setting::default() };
        for line in setting.lines(&old.to_string(), &new.to_string()).split('\n') {
            let codes: Vec<&str> = line.split("\u{1b}[").skip(1).map(|rest| rest.split('m').next().unwrap_or_default()).collect();
            prop_assert!(codes.chunks(2).all(|pair| matches!(pair, [_, "0"])), "{line:?}");
        }
    }

    #[test]
    fn shown_and_hidden_changes_add_up((old, new) in pair(), shown in proptest::collection::btree_set(prop::sample::select(&Noise::ALL[..]), 0..5), only in prop::option::of("[a-c]|spec|status")) {
        let (old, new) = (doc(&old.to_string()), doc(&new.to_string()));
        let diff = Diff::of(Some(old.root()), Some(new.root()));
        let filter = Filter { only: only.iter().map(|path| path.parse().expect("a path")).collect(), ..Filter::default() };
        let counts = counts(&diff, &filter, &shown);
        prop_assert_eq!(counts.shown + counts.hidden() + counts.filtered, diff.changes().len());
        prop_assert!(counts.noise.keys().all(|noise| !shown.contains(noise)));
        let setting = Setting { filter, noise: shown, ..Setting::default() };
        let lines = setting.with(|view| ShownChanges::of(&diff, &Writers::of(None, None), view).lines());
        prop_assert_eq!(lines.is_empty(), counts.shown == 0);
        prop_assert!(counts.shown == 0 || !lines.is_empty());
    }

    #[test]
    fn no_line_contains_a_secret_value(old in planted(), new in planted(), width in prop::option::of(20usize..200)) {
        let setting = Setting { width, ..Setting::default() };
        let mut output = setting.lines(&old.to_string(), &new.to_string());
        let new = doc(&new.to_string());
        output.push_str(&setting.with(|view| plain(created_lines(view.redactor.shown(new.root()), view))));
        for secret in [PLANTED.to_owned(), base64(PLANTED.as_bytes()), base64(&PLANTED.as_bytes()[1..12]), base64(&PLANTED.as_bytes()[2..11])] {
            let secret = secret.trim_end_matches('=');
            prop_assert!(!output.contains(&secret[..10]), "{output}");
        }
    }
}
