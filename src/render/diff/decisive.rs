//! The words of a value that decide what a reader does: why a container waits or ended, and which conditions are not met.
//! They stay when the value itself has no room.

use crate::diff::Shown;
use crate::render::text;

/// How deep it looks. The state of a container is six levels below a Pod.
const DEPTH: usize = 8;

/// How many such words are shown.
const MOST: usize = 3;

/// `waiting ErrImagePull, Ready False ContainersNotReady` as display text; `None` if the value has no such words.
pub(super) fn decisive_words(shown: Shown<'_>) -> Option<String> {
    let mut words = Vec::new();
    find(shown, DEPTH, &mut words);
    words.truncate(MOST);
    (!words.is_empty()).then(|| text::escaped_line(words.join(", ").into()).into_owned())
}

fn find(shown: Shown<'_>, depth: usize, words: &mut Vec<String>) {
    let is_worth_it = words.len() < MOST && shown.may_have("reason");
    let Some(depth) = depth.checked_sub(1).filter(|_| is_worth_it) else {
        return;
    };
    let found = condition(shown);
    for (name, value) in shown.fields() {
        let reason = match &*name {
            "waiting" | "terminated" => value.str("reason"),
            _ => None,
        };
        match reason {
            Some(reason) => add(words, [&*name, " ", &reason].concat()),
            None => find(value, depth, words),
        }
    }
    if let Some(found) = found {
        add(words, found);
    }
    for item in shown.items() {
        find(item, depth, words);
    }
}

fn add(words: &mut Vec<String>, word: String) {
    if !words.contains(&word) {
        words.push(word);
    }
}

/// `Ready False ContainersNotReady`, for a condition that is not met and has a reason.
fn condition(shown: Shown<'_>) -> Option<String> {
    let (type_, status) = (shown.str("type")?, shown.str("status")?);
    let reason = shown.str("reason").filter(|reason| !reason.is_empty())?;
    (status == "False").then(|| [&*type_, " False ", &reason].concat())
}
