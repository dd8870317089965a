//! The newest time that an object has recorded.

use jiff::Timestamp;

use super::Value;

/// The first words of fields that record when something happened, in camel case: `lastTransitionTime`, `startedAt`. Other
/// times may be in the future: `notAfter`, `renewalTime`, `deletionTimestamp`.
const RECORDED: [&str; 12] = [
    "acquire",
    "completed",
    "completion",
    "creation",
    "created",
    "event",
    "finished",
    "first",
    "last",
    "observed",
    "start",
    "started",
];

/// The newest time at which something had happened to an object: it was written, its state changed, or its Lease was
/// renewed. What people write into a spec or into data does not count.
pub fn newest_time(object: Value<'_>) -> Option<Timestamp> {
    let is_lease = object.str_at(&["kind"]).as_deref() == Some("Lease");
    let written = object.items_at(&["metadata", "managedFields"]);
    let written = written.filter_map(|entry| entry.time_at(&["time"]));
    let created = object.time_at(&["metadata", "creationTimestamp"]);
    let renewed = object.time_at(&["spec", "renewTime"]);
    let status = object.at(&["status"]).and_then(newest_below);
    // The times of an Event are at its top.
    let own = object.fields().filter_map(|(name, value)| match &*name {
        "series" => newest_below(value),
        name => recorded(name, value),
    });
    let times = written.chain(created).chain(status).chain(own);
    times.chain(renewed.filter(|_| is_lease)).max()
}

/// The newest recorded time in a value.
fn newest_below(value: Value<'_>) -> Option<Timestamp> {
    let fields = value.fields().filter_map(|(name, field)| {
        let own = recorded(&name, field);
        own.or_else(|| newest_below(field))
    });
    fields.chain(value.items().filter_map(newest_below)).max()
}

/// The time of a field that records one.
fn recorded(name: &str, value: Value<'_>) -> Option<Timestamp> {
    let end = name.find(|letter: char| letter.is_ascii_uppercase());
    let word = &name[..end.unwrap_or(name.len())];
    let text = RECORDED.contains(&word).then(|| value.as_str())??;
    super::time(&text)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::object::Doc;

    #[test]
    fn the_newest_time_is_one_at_which_something_happened() {
        let check = |text: &str, expect: &str| {
            let doc = Doc::parse(text).expect("an object");
            let newest = newest_time(doc.root());
            let newest = newest.map_or("none".to_owned(), |time| time.to_string());
            assert_eq!(newest, expect, "{text}");
        };
        let (old, new) = ("2026-03-01T00:00:00Z", "2026-03-02T00:00:00Z");
        for object in [
            r#"{"metadata":{"creationTimestamp":"NEW"}}"#,
            r#"{"metadata":{"managedFields":[{"time":"OLD"},{"time":"NEW"}]}}"#,
            r#"{"status":{"conditions":[{"lastTransitionTime":"NEW"},{"lastTransitionTime":"OLD"}]}}"#,
            r#"{"status":{"containerStatuses":[{"state":{"terminated":{"finishedAt":"NEW"}}}]}}"#,
            r#"{"status":{"lastScheduleTime":"NEW","notAfter":"2027-01-01T00:00:00Z"}}"#,
            r#"{"kind":"Event","eventTime":null,"lastTimestamp":"NEW","firstTimestamp":"OLD"}"#,
            r#"{"kind":"Event","eventTime":"OLD","series":{"count":3,"lastObservedTime":"NEW"}}"#,
            r#"{"kind":"Lease","spec":{"renewTime":"NEW","acquireTime":"OLD"}}"#,
            r#"{"metadata":{"creationTimestamp":"NEW","deletionTimestamp":"2026-03-02T00:00:30Z"},"spec":{"lastTime":"2026-03-03T00:00:00Z"}}"#,
        ] {
            check(&object.replace("NEW", new).replace("OLD", old), new);
        }
        check(
            r#"{"kind":"ConfigMap","data":{"lastTime":"2026-03-02T00:00:00Z"}}"#,
            "none",
        );
        check(
            r#"{"status":{"lastProbeTime":null,"lastWord":"no"}}"#,
            "none",
        );
        check("[]", "none");
    }
}
