//! `LaneStates`: the states of an object over time, each from the object alone, as far as its versions tell them.

use jiff::Timestamp;

use super::changed_version::{ChangedVersion, TimeSpan};
use crate::object::Doc;
use crate::status::{Rules, Status, compute};

/// What is known of an object during a time.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum LaneState {
    /// It has this state.
    In(Status),
    /// It does not exist.
    Absent,
    /// Its state is not known.
    Unknown,
}

/// A time in which an object has one state.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct StateSpan {
    pub(super) time: TimeSpan,
    pub(super) state: LaneState,
}

/// A version that shows the state before and after it.
struct StateTurn {
    at: Timestamp,
    before: LaneState,
    after: LaneState,
}

/// The states within a time, in order and without a pause. `versions` has the newest first. `present` is the state now, if
/// that is known: it has been the state all the time if no version changed it.
pub(super) fn states(
    versions: &[&ChangedVersion],
    present: Option<Status>,
    time: TimeSpan,
) -> Vec<StateSpan> {
    let turns: Vec<StateTurn> = versions.iter().rev().filter_map(|it| turn(it)).collect();
    let present = present.map_or(LaneState::Unknown, LaneState::In);
    let mut state = turns.first().map_or(present, |turn| turn.before);
    let mut spans: Vec<StateSpan> = Vec::new();
    let mut since = time.since;
    for turn in turns {
        let at = turn.at.clamp(time.since, time.until);
        if at > since {
            let span = TimeSpan { since, until: at };
            spans.push(StateSpan { time: span, state });
        }
        (since, state) = (at, turn.after);
    }
    if time.until > since {
        let span = TimeSpan {
            since,
            until: time.until,
        };
        spans.push(StateSpan { time: span, state });
    }
    spans.dedup_by(|next, span| {
        let is_same = next.state == span.state;
        if is_same {
            span.time.until = next.time.until;
        }
        is_same
    });
    spans
}

/// What a version shows; `None` if it did not change the state, or has no time.
fn turn(version: &ChangedVersion) -> Option<StateTurn> {
    let at = version.at()?;
    let whole = || match version.object.as_deref() {
        Some(object) => judged(object.get(), at),
        None => LaneState::Unknown,
    };
    let (before, after) = match &*version.change {
        "created" | "recreated" => (LaneState::Absent, whole()),
        "deleted" => (whole(), LaneState::Absent),
        _ => match (&version.status, &version.object) {
            (Some(status), _) => (named(&status.from), named(&status.to)),
            // The version before could not be read.
            (None, Some(_)) => (LaneState::Unknown, whole()),
            (None, None) => return None,
        },
    };
    Some(StateTurn { at, before, after })
}

fn named(word: &str) -> LaneState {
    Status::named(word).map_or(LaneState::Unknown, LaneState::In)
}

fn judged(object: &str, at: Timestamp) -> LaneState {
    match Doc::parse(object) {
        Ok(object) => LaneState::In(compute(object.root(), at, Rules::default()).status),
        Err(_) => LaneState::Unknown,
    }
}

#[cfg(test)]
mod tests {
    use serde_json::{Value as Json, json};

    use super::*;

    fn at(minute: u32) -> Timestamp {
        let time = format!("2026-03-02T12:{minute:02}:00Z");
        time.parse().expect("a time")
    }

    /// A version of this type at this minute, with these fields.
    fn version(minute: u32, kind: &str, fields: &Json) -> ChangedVersion {
        let mut record = json!({
            "type": kind, "time": at(minute).to_string(),
            "ref": {"cluster": "c", "apiVersion": "v1", "kind": "Pod", "namespace": "n", "name": "web"},
        });
        for (name, value) in fields.as_object().into_iter().flatten() {
            record[name] = value.clone();
        }
        serde_json::from_str(&record.to_string()).expect("a record")
    }

    /// The states between minute 0 and minute 10: `0 Current 5 Failed 10`.
    fn check(versions: &[ChangedVersion], present: Option<Status>, expect: &str) {
        let versions: Vec<&ChangedVersion> = versions.iter().rev().collect();
        let time = TimeSpan {
            since: at(0),
            until: at(10),
        };
        let mut words = vec!["0".to_owned()];
        for span in states(&versions, present, time) {
            let minute = span.time.until.duration_since(at(0)).as_mins();
            let word = match span.state {
                LaneState::In(status) => status.as_str(),
                LaneState::Absent => "-",
                LaneState::Unknown => "?",
            };
            words.push(format!("{word} {minute}"));
        }
        assert_eq!(words.join(" "), expect);
    }

    #[test]
    fn versions_tell_the_states_over_time() {
        let to = |from: &str, to: &str| json!({"status": {"from": from, "to": to}});
        let pod = json!({"object": {"apiVersion": "v1", "kind": "Pod", "metadata": {"name": "web"}, "status": {"phase": "Succeeded"}}});
        let none = json!({});
        let current = Some(Status::Current);
        // Without a change of state, the present one has lasted.
        check(&[], current, "0 Current 10");
        check(&[], None, "0 ? 10");
        check(&[version(3, "modified", &none)], current, "0 Current 10");
        // What a version changed is known, before it and after it.
        let failed = version(5, "modified", &to("InProgress", "Failed"));
        check(
            std::slice::from_ref(&failed),
            current,
            "0 InProgress 5 Failed 10",
        );
        let healed = version(8, "modified", &to("Failed", "Current"));
        check(
            &[failed, healed.clone()],
            None,
            "0 InProgress 5 Failed 8 Current 10",
        );
        // An object comes and goes.
        let created = version(2, "created", &pod);
        check(
            &[created.clone(), version(9, "deleted", &pod)],
            None,
            "0 - 2 Current 9 - 10",
        );
        check(&[created, healed], None, "0 - 2 Current 10");
        // Of an object whose last version could not be read, the state before is not known.
        check(&[version(4, "modified", &pod)], None, "0 ? 4 Current 10");
        // A word of a later program is not a state.
        check(
            &[version(4, "modified", &to("Resting", "Current"))],
            None,
            "0 ? 4 Current 10",
        );
    }
}
