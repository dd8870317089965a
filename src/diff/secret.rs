//! Where the values of Secrets stand: in `data` and `stringData` of core/v1 Secrets, wherever such an
//! object is found, and in the copies of a Secret that annotations hold.

use crate::object::{Kind, Value};

/// What is known of a value by the way it was reached. It errs on the side of hiding.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Guard {
    /// Nothing; the value itself may turn out to be a Secret.
    Open,
    /// It is the metadata of something, and its annotations the next; of a Secret or not.
    Metadata(Owner),
    Annotations(Owner),
    /// A string that may hold JSON.
    Annotation(Owner),
    /// A `SecretList`, whose items need not say what they are, and those items.
    SecretList,
    SecretItems,
    /// A Secret, or something inside one that is not listed here.
    Secret,
    /// The map `data` or `stringData` of a Secret.
    Map(Coding),
    /// A value of it.
    Value(Coding),
}

/// What an annotation belongs to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Owner {
    Secret,
    Other,
}

/// How a Secret's value is written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Coding {
    Base64,
    Plain,
}

impl Guard {
    /// What is known once the value itself is seen, in both versions of it.
    pub(super) fn enter(self, old: Option<Value<'_>>, new: Option<Value<'_>>) -> Guard {
        if self != Guard::Open {
            return self;
        }
        let sides = [old, new].into_iter().flatten();
        sides
            .map(of_kind)
            .fold(Guard::Open, |found, guard| match (found, guard) {
                (Guard::Open, other) | (_, other @ Guard::Secret) => other,
                (found, _) => found,
            })
    }

    /// What is known of a field.
    pub(super) fn field(self, name: &str) -> Guard {
        match (self, name) {
            (Guard::Secret, "data") => Guard::Map(Coding::Base64),
            (Guard::Secret, "stringData") => Guard::Map(Coding::Plain),
            (Guard::Secret, "metadata") => Guard::Metadata(Owner::Secret),
            (Guard::Secret | Guard::SecretItems, _) => Guard::Secret,
            (Guard::Open | Guard::SecretList, "metadata") => Guard::Metadata(Owner::Other),
            (Guard::SecretList, "items") => Guard::SecretItems,
            (Guard::Metadata(owner), "annotations") => Guard::Annotations(owner),
            (Guard::Annotations(owner), _) => Guard::Annotation(owner),
            (Guard::Open | Guard::SecretList | Guard::Metadata(_), _) => Guard::Open,
            (Guard::Map(coding) | Guard::Value(coding), _) => Guard::Value(coding),
            (Guard::Annotation(_), _) => self,
        }
    }

    /// What is known of an item.
    pub(super) fn item(self) -> Guard {
        match self {
            Guard::SecretItems => Guard::Secret,
            Guard::Metadata(_) => Guard::Open,
            other => other,
        }
    }

    /// Whether the value may not be read at all.
    pub(super) fn hides(self, value: Value<'_>) -> bool {
        match self {
            Guard::Map(_) => !matches!(value.kind(), Kind::Object | Kind::Null),
            Guard::Value(_) => !value.is_null(),
            Guard::Open
            | Guard::Metadata(_)
            | Guard::Annotations(_)
            | Guard::Annotation(_)
            | Guard::SecretList
            | Guard::SecretItems
            | Guard::Secret => false,
        }
    }

    /// Whether a change of the value is a change of what a Secret holds.
    pub(super) fn is_secret(self) -> bool {
        matches!(self, Guard::Map(_) | Guard::Value(_))
    }
}

/// What an annotation's text holds, as far as it may be read.
pub(super) enum Note {
    /// Nothing that is secret.
    Text,
    /// JSON, whose root is guarded so.
    Json(Guard),
    /// Something that may hold a Secret and cannot be told apart from it.
    Hidden,
}

/// Judges the text of an annotation. Copies of the object are JSON objects
/// (`kubectl.kubernetes.io/last-applied-configuration` and its like); what looks like JSON and is none
/// is hidden.
pub(super) fn note(text: &str, owner: Owner, parses: impl FnOnce() -> bool) -> Note {
    let start = text.trim_start();
    let (object, array) = (start.starts_with('{'), start.starts_with('['));
    let may_hold_one = || text.contains("Secret") || text.contains("\\u");
    match owner {
        Owner::Secret if array => Note::Hidden,
        Owner::Secret if object => json(Guard::Secret, parses),
        Owner::Other if (object || array) && may_hold_one() => json(Guard::Open, parses),
        Owner::Secret | Owner::Other => Note::Text,
    }
}

fn json(guard: Guard, parses: impl FnOnce() -> bool) -> Note {
    if parses() {
        Note::Json(guard)
    } else {
        Note::Hidden
    }
}

/// What an object's own word makes of it, whatever was asked for. One that names a kind and no version may
/// be a part of a Secret.
fn of_kind(object: Value<'_>) -> Guard {
    let guard = match object.get("kind").and_then(Value::as_str).as_deref() {
        Some("Secret") => Guard::Secret,
        Some("SecretList") => Guard::SecretList,
        _ => return Guard::Open,
    };
    match object.get("apiVersion").and_then(Value::as_str).as_deref() {
        Some("v1" | "") | None => guard,
        Some(_) => Guard::Open,
    }
}
