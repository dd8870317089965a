//! `EventFacts`: an Event as core/v1 or events.k8s.io/v1 writes it.

use std::sync::Arc;

use jiff::Timestamp;

use super::{ObjectRef, Uid, Value};

/// The facts of an Event.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct EventFacts {
    /// The object. Some reporters know no uid, and the kubelet gives the name of its node in its place.
    pub about: ObjectRef,
    /// `Normal` or `Warning`.
    pub type_: Arc<str>,
    /// Why, in one word: `FailedMount`.
    pub reason: Arc<str>,
    /// Why, in a sentence.
    pub message: Arc<str>,
    /// How often it happened, at least once.
    pub count: i64,
    /// When it happened last; `None` if the event has no time.
    pub last: Option<Timestamp>,
}

impl EventFacts {
    /// Reads an Event of either group; `None` if it has no subject.
    pub fn of(event: Value<'_>) -> Option<EventFacts> {
        let text = |key| event.text_at(&[key]);
        let about = event
            .at(&["involvedObject"])
            .or_else(|| event.at(&["regarding"]))?;
        let message = text("message").or_else(|| text("note")).unwrap_or_default();
        // client-go puts this before the message of an event that stands for several.
        let message = message.trim_start_matches("(combined from similar events): ");
        let counts: [&[&str]; 3] = [&["series", "count"], &["count"], &["deprecatedCount"]];
        let count = counts.iter().find_map(|path| event.i64_at(path));
        let times: [&[&str]; 5] = [
            &["series", "lastObservedTime"],
            &["lastTimestamp"],
            &["deprecatedLastTimestamp"],
            &["eventTime"],
            &["metadata", "creationTimestamp"],
        ];
        Some(EventFacts {
            about: ObjectRef {
                api_version: about.text_at(&["apiVersion"]).unwrap_or_default(),
                kind: about.text_at(&["kind"])?,
                namespace: about.text_at(&["namespace"]),
                name: about.text_at(&["name"])?,
                uid: about.text_at(&["uid"]).map(Uid::new),
            },
            type_: text("type").unwrap_or_default(),
            reason: text("reason").unwrap_or_default(),
            message: message.into(),
            count: count.unwrap_or(1).max(1),
            last: times.iter().find_map(|path| event.time_at(path)),
        })
    }

    /// Whether something is wrong.
    pub fn is_warning(&self) -> bool {
        &*self.type_ == "Warning"
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::object::Doc;

    #[test]
    fn an_event_is_read_in_each_of_its_forms() {
        let series = r#","eventTime":"2026-11-21T14:00:00.5Z","series":{"count":7,"lastObservedTime":"2026-11-21T14:05:00Z"}"#;
        let deprecated = r#","deprecatedCount":2,"deprecatedLastTimestamp":"2026-11-21T14:02:00Z""#;
        let micro = r#","lastTimestamp":null,"eventTime":"2026-11-21T14:01:00Z""#;
        let core = r#","count":3,"lastTimestamp":"2026-11-21T14:00:00Z""#;
        let event = |text| EventFacts::of(Doc::parse(text).expect("a case is JSON").root());
        for (more, count, last) in [
            ("", 1, ""),
            (core, 3, "2026-11-21T14:00:00Z"),
            (series, 7, "2026-11-21T14:05:00Z"),
            (micro, 1, "2026-11-21T14:01:00Z"),
            (deprecated, 2, "2026-11-21T14:02:00Z"),
        ] {
            for subject in ["involvedObject", "regarding"] {
                let text = format!(r#"{{"{subject}":{{"kind":"Pod","name":"web"}}{more}}}"#);
                let event = event(text.clone()).expect("an event");
                assert_eq!(
                    (event.count, event.last),
                    (count, last.parse().ok()),
                    "{text}"
                );
            }
        }
        for text in [r#"{"type":"Warning"}"#, "7"] {
            assert_eq!(event(text.to_owned()), None, "{text}");
        }
    }
}
