//! Compares scalars: whether two are equal, whether they are two spellings of one value, and in which format
//! a change reads best.

use jiff::Timestamp;

use crate::object::raw_str::RawStr;
use crate::object::{self, Decimal, Doc, Kind, Quantity, Value};

use super::{Diff, NodeId};

/// The format in which the values of a change are shown.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Fmt {
    /// As they are written.
    Plain,
    /// As a quantity of a resource: `500m`, `2Gi`.
    Quantity,
    /// As a time (RFC 3339).
    Time,
    /// As lines of text.
    Text,
    /// As an embedded JSON object or array.
    Json,
    /// As a placeholder for a Secret value.
    Secret,
}

/// The result of a comparison.
pub(super) enum Equality {
    Same,
    /// Both are spellings of the same quantity, time or number.
    Equivalent(Fmt),
    Different(Fmt),
}

/// Compares two values of which at least one is a scalar or hidden.
pub(super) fn compare(
    old: Value<'_>,
    new: Value<'_>,
    is_quantity: impl FnOnce() -> bool,
) -> Equality {
    if same(old, new) {
        return Equality::Same;
    }
    let numbers = old.kind() == Kind::Number && new.kind() == Kind::Number;
    if numbers && Decimal::parse(old.raw()).is_some_and(|a| Some(a) == Decimal::parse(new.raw())) {
        return Equality::Equivalent(Fmt::Plain);
    }
    if is_quantity()
        && let (Some(a), Some(b)) = (quantity(old), quantity(new))
    {
        return if a.equals(&b) {
            Equality::Equivalent(Fmt::Quantity)
        } else {
            Equality::Different(Fmt::Quantity)
        };
    }
    let (Some(a), Some(b)) = (old.raw_str(), new.raw_str()) else {
        return Equality::Different(Fmt::Plain);
    };
    match (time(a), time(b)) {
        (Some(a), Some(b)) if a == b => Equality::Equivalent(Fmt::Time),
        (Some(_), Some(_)) => Equality::Different(Fmt::Time),
        _ if is_json(a) && is_json(b) => Equality::Different(Fmt::Json),
        _ if a.has_line_feed() || b.has_line_feed() => Equality::Different(Fmt::Text),
        _ => Equality::Different(Fmt::Plain),
    }
}

/// The format of a value that is only in one version.
pub(super) fn fmt(value: Value<'_>) -> Fmt {
    match value.raw_str() {
        Some(text) if time(text).is_some() => Fmt::Time,
        Some(text) if is_json(text) => Fmt::Json,
        Some(text) if text.has_line_feed() => Fmt::Text,
        Some(_) | None => Fmt::Plain,
    }
}

/// Whether two values are equal. The escapes in strings and the order of fields do not matter. Numbers must
/// have the same digits.
pub(super) fn same(a: Value<'_>, b: Value<'_>) -> bool {
    if a.raw() == b.raw() {
        return true;
    }
    match (a.kind(), b.kind()) {
        (Kind::String, Kind::String) => match (a.raw_str(), b.raw_str()) {
            (Some(a), Some(b)) => a.is_same_text(b),
            _ => false,
        },
        (Kind::Array, Kind::Array) => {
            a.items().count() == b.items().count()
                && a.items().zip(b.items()).all(|(a, b)| same(a, b))
        }
        (Kind::Object, Kind::Object) => {
            a.fields().count() == b.fields().count()
                && a.fields()
                    .all(|(name, value)| b.get(&name).is_some_and(|other| same(value, other)))
        }
        _ => false,
    }
}

/// Parses a time as the API writes it, with or without a fraction of a second.
fn time(text: RawStr<'_>) -> Option<Timestamp> {
    let may_be_one = (20..40 * LONGEST_SPELLING).contains(&text.raw().len());
    let text = may_be_one.then(|| text.decoded())?;
    let bytes = text.as_bytes();
    let like_one = (20..40).contains(&bytes.len()) && bytes[4] == b'-' && bytes[10] == b'T';
    like_one.then(|| object::time(&text))?
}

/// The largest number of bytes of an escaped ASCII character: `\u0041`.
const LONGEST_SPELLING: usize = 6;

/// Whether a string contains a JSON object or array.
fn is_json(text: RawStr<'_>) -> bool {
    let first = text.chars().find(|char| !char.is_whitespace());
    matches!(first, Some('{' | '[')) && Doc::parse(&*text.decoded()).is_ok()
}

/// Whether the API expects a quantity here: in the resource maps of containers, nodes, claims, volumes and
/// quotas.
pub(super) fn is_quantity(diff: &Diff<'_>, at: NodeId) -> bool {
    let mut names = diff.chain(at).filter_map(|at| diff.field(at));
    if names.next() == Some("sizeLimit") {
        return names.next() == Some("emptyDir");
    }
    names.take(2).any(|name| {
        matches!(
            name,
            "limits"
                | "requests"
                | "capacity"
                | "allocatable"
                | "allocatedResources"
                | "hard"
                | "used"
                | "overhead"
        )
    })
}

/// The quantity in a value; `None` if it holds none.
fn quantity(value: Value<'_>) -> Option<Quantity> {
    match value.kind() {
        Kind::Number => Quantity::parse(value.raw()),
        _ => Quantity::parse(&value.as_str()?),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn compared(old: &str, new: &str, place: Fmt) -> &'static str {
        let (old, new) = (
            Doc::parse(old).expect("the text is valid JSON"),
            Doc::parse(new).expect("the text is valid JSON"),
        );
        match compare(old.root(), new.root(), || place == Fmt::Quantity) {
            Equality::Same => "same",
            Equality::Equivalent(_) => "equivalent",
            Equality::Different(_) => "different",
        }
    }

    #[test]
    fn numbers_are_exact() {
        let cases = [
            ("1", "1.0", "equivalent"),
            ("1000", "1e3", "equivalent"),
            ("-0", "0.00e7", "equivalent"),
            ("120", "1.2E+2", "equivalent"),
            ("-1", "1", "different"),
            ("9007199254740993", "9007199254740992", "different"),
            ("18446744073709551617", "18446744073709551616", "different"),
            (
                "1e99999999999999999999",
                "1e99999999999999999998",
                "different",
            ),
        ];
        for (old, new, expected) in cases {
            assert_eq!(compared(old, new, Fmt::Plain), expected, "{old} {new}");
        }
    }

    #[test]
    fn quantities_are_compared_as_amounts() {
        let cases = [
            (r#""1000m""#, r#""1""#, "equivalent"),
            ("1", r#""1000m""#, "equivalent"),
            (r#""1Gi""#, r#""1024Mi""#, "equivalent"),
            (r#""1G""#, r#""1Gi""#, "different"),
            (r#""1e3""#, r#""1k""#, "equivalent"),
            (r#""1E""#, r#""1e18""#, "equivalent"),
            (r#""0.5""#, r#""500m""#, "equivalent"),
            (r#""100n""#, r#""0.1u""#, "equivalent"),
            (r#""0""#, r#""0Ki""#, "equivalent"),
            (r#""8Ei""#, r#""8192Pi""#, "equivalent"),
            (
                r#""99999999999999999999999999999999999Ei""#,
                r#""1""#,
                "different",
            ),
            (r#""1x""#, r#""1""#, "different"),
        ];
        for (old, new, expected) in cases {
            assert_eq!(compared(old, new, Fmt::Quantity), expected, "{old} {new}");
        }
        assert_eq!(compared(r#""1000m""#, r#""1""#, Fmt::Plain), "different");
    }

    #[test]
    fn times_are_compared_as_instants() {
        let at = |text: &str| format!("\"2024-05-01T14:02:{text}\"");
        assert_eq!(
            compared(&at("01Z"), &at("01.000000Z"), Fmt::Plain),
            "equivalent"
        );
        assert_eq!(compared(&at("01Z"), &at("02Z"), Fmt::Plain), "different");
    }

    #[test]
    fn escapes_and_field_order_make_no_difference() {
        assert_eq!(compared(r#""\u003c""#, r#""<""#, Fmt::Plain), "same");
        assert_eq!(
            compared(
                r#"{"a":1,"b":["\u0041"]}"#,
                r#"{"b":["A"],"a":1}"#,
                Fmt::Plain
            ),
            "same"
        );
        assert_eq!(compared("[1]", "[1,2]", Fmt::Plain), "different");
    }
}
