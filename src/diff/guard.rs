//! Marks values that are, or may contain, the data of a Secret, before they are read.

/// How a value is protected, known from its path alone. If in doubt, it is hidden.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Guard {
    /// Not protected so far; the value itself may turn out to be a Secret.
    Open,
    /// The metadata of an object, a Secret or not.
    Metadata(AnnotationOwner),
    /// The annotations of that object.
    Annotations(AnnotationOwner),
    /// One annotation, whose text may contain a copy of a Secret.
    Annotation(Annotation),
    /// A `SecretList`. Its items may lack `kind`, and are Secrets all the same.
    SecretList,
    /// The items of a `SecretList`.
    SecretItems,
    /// A Secret, or a part of one that has no variant of its own.
    Secret,
    /// The map `data` or `stringData` of a Secret.
    Map(Coding),
    /// A value of that map.
    Value(Coding),
}

/// The owner of an annotation.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum AnnotationOwner {
    Secret,
    Other,
}

/// The encoding of a Secret's value.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Coding {
    Base64,
    Plain,
}

/// The kind of an annotation, by its owner and its key.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Annotation {
    /// An annotation of another object. The text may be JSON that contains a Secret.
    OfOther,
    /// A Secret's annotation under a key that is known to be harmless.
    Harmless,
    /// A Secret's annotation in which `kubectl apply` keeps the applied manifest.
    LastApplied,
    /// A Secret's annotation under any other key.
    Private,
}
