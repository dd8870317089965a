//! `Cause`: one reason for the state of an object. `Finding`: one that the object itself does not show.

use super::cause_rule::CauseRule;
use super::state::Status;

/// One reason for the state of an object.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Cause {
    /// The rule that found it.
    pub rule: CauseRule,
    /// The text, on one or more lines: `web: Back-off pulling image "nginx:nope"`. Much of it is cluster
    /// text.
    pub text: String,
}

impl Cause {
    /// A cause that a rule has found.
    pub fn new(rule: CauseRule, text: impl Into<String>) -> Cause {
        Cause {
            rule,
            text: text.into(),
        }
    }

    /// Whether it names the object or the key whose absence the object itself reports in other words:
    /// `environment secret/db does not exist` and `secret "db" not found`.
    pub(super) fn says_absence_of(&self, own: &Cause) -> bool {
        let is_absence = matches!(
            self.rule,
            CauseRule::MissingReference | CauseRule::MissingKey
        );
        let reports_one = matches!(own.rule, CauseRule::ContainerStart | CauseRule::VolumeLost);
        if !(is_absence && reports_one) {
            return false;
        }
        let named = self
            .text
            .split([' ', ':'])
            .find_map(|word| word.split_once('/'));
        let key = self
            .text
            .split('"')
            .nth(1)
            .filter(|_| self.rule == CauseRule::MissingKey);
        let named = named.map(|(_, name)| name).into_iter().chain(key);
        let is_word = |end: char| !(end.is_alphanumeric() || "-_.".contains(end));
        let mut words = named.map(|name| own.text.split(is_word).any(|word| word == name));
        words.all(|is_named| is_named)
    }

    /// Whether it repeats a condition that gives neither a reason nor a message.
    pub(super) fn is_bare(&self) -> bool {
        let is_condition = matches!(
            self.rule,
            CauseRule::NotReady | CauseRule::Condition | CauseRule::Failed | CauseRule::Listener
        );
        is_condition && self.text.ends_with(NO_REASON)
    }

    /// Leaves out the conditions without a reason, if something else gives one.
    pub(super) fn drop_bare(causes: &mut Vec<Cause>) {
        let explains = |cause: &Cause| {
            let is_more = matches!(cause.rule, CauseRule::Fact | CauseRule::Constraint);
            !is_more && !cause.is_bare()
        };
        if causes.iter().any(explains) {
            causes.retain(|cause| !cause.is_bare());
        }
    }

    /// Whether it explains a state. A Pod that only starts has other causes, too.
    pub fn is_specific(&self) -> bool {
        !matches!(
            self.rule,
            CauseRule::NotReady | CauseRule::Event | CauseRule::Fact | CauseRule::Constraint
        )
    }
}

/// A problem of an object that its own text does not show, and the state of the object because of it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Finding {
    /// The state of an object with this problem.
    pub status: Status,
    /// The problem.
    pub cause: Cause,
    /// Whether the problem has a line of its own. It has none if the line of another object shows it.
    pub has_line: bool,
}

impl Finding {
    /// A problem that a rule has found.
    pub fn new(rule: CauseRule, status: Status, text: impl Into<String>) -> Finding {
        Finding {
            status,
            cause: Cause::new(rule, text),
            has_line: true,
        }
    }

    /// The same problem without a line of its own.
    #[must_use]
    pub fn silent(self) -> Finding {
        Finding {
            has_line: false,
            ..self
        }
    }
}

/// The text in place of a reason and a message.
pub(super) const NO_REASON: &str = "no reason given";

/// `REASON: MESSAGE`, or only one of them if the other is empty.
pub(super) fn sentence(reason: &str, message: &str) -> String {
    match (reason.trim(), message.trim()) {
        ("", "") => NO_REASON.to_owned(),
        (reason, "") => reason.to_owned(),
        ("", message) => message.to_owned(),
        (reason, message) => format!("{reason}: {message}"),
    }
}
