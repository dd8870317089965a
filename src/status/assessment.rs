//! `Assessment`: the state of one object, the cells of its row, and the causes of its state, all from the
//! object alone.

use std::sync::Arc;

use jiff::Timestamp;

use super::custom;
use super::generic::NOT_OBSERVED;
use super::{
    Cause, CauseRule, Explanation, Finding, Recovery, Row, Rules, Status, Verdict, causes, compute,
    warning,
};
use crate::object::{EventFacts, Kind, Value, managed_fields};

/// The assessment of one object.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Assessment {
    /// Its state.
    pub verdict: Verdict,
    /// The cells of its row.
    pub row: Row,
    /// Why it is not well, the most useful cause first.
    pub causes: Vec<Cause>,
}

/// Why an object is no longer there.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Departure {
    /// It was deleted.
    Deleted,
    /// It exists, but no followed selector matches it any longer.
    LeftSelector,
}

/// Whether a status has no fields, or only empty ones.
fn is_empty(status: Value<'_>) -> bool {
    let is_nothing = |field: Value<'_>| match field.kind() {
        Kind::Null => true,
        Kind::Array => field.items().next().is_none(),
        Kind::Object | Kind::Bool | Kind::Number | Kind::String => false,
    };
    let mut fields = status.fields();
    is_nothing(status)
        || (status.kind() == Kind::Object && fields.all(|(_, field)| is_nothing(field)))
}

impl Assessment {
    /// Assesses an object as it is at `now`.
    pub fn of(object: Value<'_>, now: Timestamp, rules: Rules) -> Assessment {
        let verdict = compute(object, now, rules);
        Assessment {
            row: Row::of(object, verdict.status),
            causes: causes(object, &verdict, now),
            verdict,
        }
    }

    /// The same assessment with the problems of the objects around this one. Their causes come first: they explain
    /// what the object itself reports. An object that is being deleted needs nothing any more.
    #[must_use]
    pub fn with(self, findings: Vec<Finding>) -> Assessment {
        let Some(worst) = findings.iter().max_by_key(|finding| finding.status) else {
            return self;
        };
        let is_going = matches!(self.status(), Status::Terminating | Status::NotFound);
        if is_going {
            return self;
        }
        let mut row = self.row;
        let verdict = if worst.status > self.verdict.status {
            let verdict = Verdict::found(worst);
            if row.word == self.verdict.status.as_str() {
                verdict.status.as_str().clone_into(&mut row.word);
            }
            verdict
        } else {
            self.verdict
        };
        let causes = findings.into_iter().filter(|finding| finding.has_line);
        let mut causes: Vec<Cause> = causes.map(|finding| finding.cause).collect();
        let own = self.causes.into_iter();
        let own: Vec<Cause> = own
            .filter(|own| !causes.iter().any(|found| found.says_absence_of(own)))
            .collect();
        causes.extend(own);
        Cause::drop_bare(&mut causes);
        Assessment {
            verdict,
            row,
            causes,
        }
    }

    /// The same assessment of an object whose kind has a status, as discovery says. While the status is empty or a default, no
    /// controller has observed the object.
    #[must_use]
    pub fn expecting_status(self, object: Value<'_>) -> Assessment {
        // The API server fills in empty lists, and the defaults of the kind.
        let is_unobserved = object.get("status").is_none_or(is_empty)
            || managed_fields::is_default(object, "status");
        if !is_unobserved || self.status() != Status::Current || custom::leaves_status_empty(object)
        {
            return self;
        }
        let text = "not observed by its controller";
        self.with(vec![Finding::new(
            CauseRule::NotObserved,
            Status::InProgress,
            text,
        )])
    }

    /// The same assessment with facts that explain the state. They come after its causes, except that one which explains
    /// why a Pod has no node comes before the long sentence of the scheduler.
    #[must_use]
    pub fn with_facts(mut self, facts: Vec<Cause>) -> Assessment {
        for fact in facts {
            if !self.causes.contains(&fact) {
                self.causes.push(fact);
            }
        }
        if self.has_cause(CauseRule::Unschedulable) {
            self.causes
                .sort_by_key(|cause| cause.rule != CauseRule::Fact);
        }
        self
    }

    /// The new state in one line, with the old one: `InProgress 2/3 (was Current 3/3): cause`. `None` if both assessments give
    /// the same line.
    pub fn transition_from(&self, was: Option<&Assessment>) -> Option<String> {
        let cause = |assessment: &Assessment| {
            let first = assessment.causes.first();
            first.map(|cause| cause.text.clone())
        };
        let (summary, own) = (self.summary(), cause(self));
        if let Some(was) = was
            && was.summary() == summary
            && (own.is_none() || own == cause(was))
        {
            return None;
        }
        let was = was.map(Assessment::summary).filter(|was| *was != summary);
        let was = was.map_or(String::new(), |was| format!(" (was {was})"));
        Some(self.line(&was))
    }

    /// The state of a new object in one line: `Failed 0/1 (new): cause`.
    pub fn arrival(&self) -> String {
        self.line(" (new)")
    }

    /// The state in one line, with this remark before the cause.
    fn line(&self, remark: &str) -> String {
        let cause = self.causes.first();
        let cause = cause.map_or(String::new(), |cause| format!(": {}", cause.text));
        format!("{}{remark}{cause}", self.summary())
    }

    /// Whether it says the same as an earlier one. Times in its texts, such as an age, do not count.
    pub fn is_like(&self, was: &Assessment) -> bool {
        let rule = |assessment: &Assessment| assessment.causes.first().map(|cause| cause.rule);
        self.status() == was.status() && self.summary() == was.summary() && rule(self) == rule(was)
    }

    /// The state without its causes: `ImagePullBackOff 0/1 restarts 3`.
    pub fn summary(&self) -> String {
        let restarts = self.row.restarts.filter(|restarts| restarts.count > 0);
        let parts = [
            Some(self.row.word.clone()),
            self.row.ready.clone(),
            restarts.map(|restarts| format!("restarts {}", restarts.count)),
        ];
        let parts: Vec<String> = parts.into_iter().flatten().collect();
        parts.join(" ")
    }

    /// The same assessment with the warnings about the object. An object that is well needs no explanation.
    #[must_use]
    pub fn warned(mut self, warnings: &[Arc<EventFacts>]) -> Assessment {
        if !matches!(self.status(), Status::Current | Status::NotFound) {
            let known = warning::causes(warnings, &self.causes);
            self.causes.extend(known);
            Cause::drop_bare(&mut self.causes);
        }
        self
    }

    /// Whether a rule has found one of its causes.
    pub fn has_cause(&self, rule: CauseRule) -> bool {
        self.causes.iter().any(|cause| cause.rule == rule)
    }

    /// The assessment of an object whose text is not JSON.
    pub fn unreadable(error: &impl std::fmt::Display) -> Assessment {
        Assessment::bare(Verdict::unknown(error.to_string()))
    }

    /// The assessment of an object that has not been read yet.
    pub fn unread() -> Assessment {
        Assessment::bare(Verdict::unread("Resource is not read yet"))
    }

    /// The assessment of an object that does not exist.
    pub fn not_found() -> Assessment {
        Assessment::bare(Verdict::not_found())
    }

    /// The assessment of an object that an inventory lists and that does not exist.
    pub fn missing() -> Assessment {
        let mut assessment = Assessment::not_found();
        "Missing".clone_into(&mut assessment.row.word);
        assessment
    }

    /// The assessment of an object that an inventory lists and that was not read, for this reason.
    pub fn unread_member(why: &str) -> Assessment {
        Assessment {
            causes: vec![Cause::new(CauseRule::UnreadMember, why)],
            ..Assessment::unread()
        }
    }

    /// The assessment of an object that was there before.
    pub fn departed(how: Departure) -> Assessment {
        match how {
            Departure::Deleted => Assessment::not_found(),
            Departure::LeftSelector => {
                Assessment::bare(Verdict::unread("Resource no longer matches the selector"))
            }
        }
    }

    /// The state.
    pub fn status(&self) -> Status {
        self.verdict.status
    }

    /// The rules behind the state, each once: the one that decided, then those that found the causes.
    pub fn explanations(&self) -> Vec<&'static Explanation> {
        let causes = self.causes.iter().map(|cause| cause.rule.explanation());
        let mut rules: Vec<&Explanation> = Vec::new();
        for rule in self.verdict.explanation.into_iter().chain(causes) {
            if !rules.contains(&rule) {
                rules.push(rule);
            }
        }
        rules
    }

    /// The same as text, one line for each rule. The line of the rule that decided a Current state has its message.
    pub fn explained(&self) -> Vec<String> {
        let line = |(at, rule): (usize, &&Explanation)| {
            let Explanation {
                name,
                finds,
                source,
            } = rule;
            let message = match &*self.verdict.message {
                message if at == 0 && self.is_well() => format!("\"{message}\": "),
                _ => String::new(),
            };
            format!("rule {name}: {message}{finds} {source}")
        };
        self.explanations().iter().enumerate().map(line).collect()
    }

    /// Whether the object is as it should be.
    pub fn is_well(&self) -> bool {
        self.status() == Status::Current
    }

    /// Whether the object, which has failed, can get well without help. The problem with the least hope decides.
    pub fn recovery(&self) -> Recovery {
        let rules = self.causes.iter().map(|cause| cause.rule);
        let rules = rules.chain(self.verdict.rule);
        rules
            .map(CauseRule::recovery)
            .max()
            .unwrap_or(Recovery::Retried)
    }

    /// The lines below its row: its causes. Without any, the message of the rule that decided, if the cells of the row do not
    /// say what the object waits for.
    pub fn lines(&self) -> impl Iterator<Item = &str> {
        let causes = self.causes.iter().map(|cause| &*cause.text);
        let message = &*self.verdict.message;
        let is_bare = self.causes.is_empty() && self.row.word == Status::InProgress.as_str();
        let ready = self.row.ready.as_ref();
        let is_in_cells = message.is_empty() || ready.is_some_and(|ready| message.ends_with(ready));
        causes.chain((is_bare && !is_in_cells).then_some(message))
    }

    /// The first cause of the state, or the message of the rule that decided.
    pub fn reason(&self) -> &str {
        let cause = self.causes.first();
        cause.map_or(&*self.verdict.message, |cause| &*cause.text)
    }

    /// Whether the controller has observed the newest generation of the object, as far as the object shows it.
    pub fn is_observed(&self) -> bool {
        let mut conditions = self.verdict.conditions.iter();
        conditions.all(|condition| condition.reason != NOT_OBSERVED)
    }

    /// Whether the object needs attention. It does if it is Failed, or if it is a Pod with a cause more
    /// specific than "not ready".
    pub fn is_failing(&self) -> bool {
        let is_pod = self.row.restarts.is_some();
        let mut causes = self.causes.iter();
        match self.status() {
            Status::Failed => true,
            Status::InProgress | Status::Unknown => is_pod && causes.any(Cause::is_specific),
            Status::Current | Status::Terminating | Status::NotFound => false,
        }
    }

    /// Whether the object needs attention itself. A workload that fails because of its Pods does not.
    pub fn is_failing_itself(&self) -> bool {
        self.is_failing() && self.verdict.rule != Some(CauseRule::FailedPods)
    }

    fn bare(verdict: Verdict) -> Assessment {
        Assessment {
            row: Row {
                ready: None,
                word: verdict.status.as_str().to_owned(),
                restarts: None,
            },
            causes: Vec::new(),
            verdict,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::object::Doc;

    /// The state of a Gateway, whose kind has a status.
    fn expecting(metadata: &str, status: &str) -> Status {
        let text = format!(
            r#"{{"apiVersion":"gateway.networking.k8s.io/v1","kind":"Gateway","metadata":{{"name":"a"{metadata}}},"spec":{{}}{status}}}"#
        );
        let doc = Doc::parse(&*text).expect("valid");
        let now = "2026-03-02T12:00:00Z".parse().expect("a time");
        let assessment = Assessment::of(doc.root(), now, Rules::Spy);
        assessment.expecting_status(doc.root()).status()
    }

    #[test]
    fn a_status_that_nobody_wrote_is_not_observed() {
        let entry = |rest: &str| {
            format!(r#","managedFields":[{{"manager":"m","operation":"Update",{rest}}}]"#)
        };
        let creator = entry(r#""fieldsV1":{"f:spec":{}}"#);
        let controller = entry(r#""subresource":"status","fieldsV1":{"f:status":{"f:size":{}}}"#);
        let without_subresource = entry(r#""fieldsV1":{"f:status":{}}"#);
        let size = r#","status":{"size":0}"#;
        for (metadata, status, expected) in [
            ("", "", Status::InProgress),
            ("", r#","status":null"#, Status::InProgress),
            ("", r#","status":{"conditions":[]}"#, Status::InProgress),
            // Without entries it is unknown who wrote it.
            ("", size, Status::Current),
            (r#","managedFields":[]"#, size, Status::Current),
            (&creator, size, Status::InProgress),
            (&controller, size, Status::Current),
            (&without_subresource, size, Status::Current),
        ] {
            assert_eq!(expecting(metadata, status), expected, "{metadata} {status}");
        }
    }

    #[test]
    fn a_remark_about_the_change_comes_before_the_cause() {
        let assessment = |phase: &str| {
            let text = format!(
                r#"{{"apiVersion":"v1","kind":"Pod","metadata":{{"name":"a"}},"status":{{"phase":"{phase}","message":"low on memory"}}}}"#
            );
            let doc = Doc::parse(&*text).expect("valid");
            Assessment::of(doc.root(), Timestamp::UNIX_EPOCH, Rules::Spy)
        };
        let (failed, pending) = (assessment("Failed"), assessment("Pending"));
        let lines = [
            failed.arrival(),
            failed.transition_from(Some(&pending)).unwrap_or_default(),
            failed.transition_from(None).unwrap_or_default(),
        ];
        insta::assert_snapshot!(lines.join("\n"), @"
        Failed 0/0 (new): low on memory
        Failed 0/0 (was Pending 0/0): low on memory
        Failed 0/0: low on memory
        ");
    }

    #[test]
    fn a_default_condition_has_not_lasted_since_1970() {
        let waiting = |time: &str| {
            format!(
                r#","status":{{"conditions":[{{"type":"Programmed","status":"False","reason":"Pending","message":"Waiting for controller","lastTransitionTime":"{time}"}}]}}"#
            )
        };
        for (time, expected) in [
            ("1970-01-01T00:00:00Z", Status::InProgress),
            ("0001-01-01T00:00:00Z", Status::InProgress),
            ("2026-03-02T11:59:30Z", Status::InProgress),
            ("2026-03-02T11:00:00Z", Status::Failed),
        ] {
            assert_eq!(expecting("", &waiting(time)), expected, "{time}");
        }
    }
}
