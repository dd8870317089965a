//! Knows where Secret values are: in `data` and `stringData` of core/v1 Secrets, wherever such an object
//! occurs, and in the copies of a Secret that annotations contain ([`Annotation`]).

use crate::object::{Kind, Value};

pub(super) use super::guard::{Annotation, AnnotationOwner, Coding, Guard};

impl Guard {
    /// The guard once both versions of the value are known: an open guard may turn out to protect a Secret.
    #[inline]
    pub(super) fn enter(self, old: Option<Value<'_>>, new: Option<Value<'_>>) -> Guard {
        if self != Guard::Open {
            return self;
        }
        let of = |side: Option<Value<'_>>| match side {
            Some(object) if object.kind() == Kind::Object => of_kind(object),
            Some(_) | None => Guard::Open,
        };
        match (of(old), of(new)) {
            (found, Guard::Open | Guard::SecretList) if found != Guard::Open => found,
            (_, found) => found,
        }
    }

    /// The guard of a field.
    pub(super) fn field(self, name: &str) -> Guard {
        match (self, name) {
            (Guard::Secret, "data") => Guard::Map(Coding::Base64),
            (Guard::Secret, "stringData") => Guard::Map(Coding::Plain),
            (Guard::Secret, "metadata") => Guard::Metadata(AnnotationOwner::Secret),
            (Guard::Secret | Guard::SecretItems, _) => Guard::Secret,
            (Guard::Open | Guard::SecretList, "metadata") => {
                Guard::Metadata(AnnotationOwner::Other)
            }
            (Guard::SecretList, "items") => Guard::SecretItems,
            (Guard::Metadata(owner), "annotations") => Guard::Annotations(owner),
            (Guard::Annotations(owner), key) => Guard::Annotation(Annotation::new(owner, key)),
            (Guard::Open | Guard::SecretList | Guard::Metadata(_), _) => Guard::Open,
            (Guard::Map(coding) | Guard::Value(coding), _) => Guard::Value(coding),
            (Guard::Annotation(_), _) => self,
        }
    }

    /// The guard of an item.
    pub(super) fn item(self) -> Guard {
        match self {
            Guard::SecretItems => Guard::Secret,
            Guard::Metadata(_) => Guard::Open,
            other => other,
        }
    }

    /// Whether the value is hidden as a whole.
    #[inline]
    pub(super) fn hides(self, value: Value<'_>) -> bool {
        self != Guard::Open && self.hides_some(value)
    }

    fn hides_some(self, value: Value<'_>) -> bool {
        match self {
            Guard::Map(_) => !matches!(value.kind(), Kind::Object | Kind::Null),
            Guard::Value(_) => !value.is_null(),
            Guard::Annotations(AnnotationOwner::Secret) => {
                !matches!(value.kind(), Kind::Object | Kind::Null)
            }
            Guard::Annotation(annotation) => annotation.hides(value),
            Guard::Open
            | Guard::Metadata(_)
            | Guard::Annotations(AnnotationOwner::Other)
            | Guard::SecretList
            | Guard::SecretItems
            | Guard::Secret => false,
        }
    }

    /// Whether a change of this value is a change of a Secret value.
    pub(super) fn is_secret(self) -> bool {
        matches!(self, Guard::Map(_) | Guard::Value(_))
    }
}

/// The guard that an object's own `kind` and `apiVersion` ask for. An object with a kind and no version
/// counts as a Secret, because it may be part of one.
pub(super) fn of_kind(object: Value<'_>) -> Guard {
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
