//! What is known of a value before it is read: whether it is, or may hold, what a Secret holds.

/// What is known of a value by the way it was reached. It errs on the side of hiding.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Guard {
    /// Nothing; the value itself may turn out to be a Secret.
    Open,
    /// It is the metadata of something, and its annotations the next; of a Secret or not.
    Metadata(AnnotationOwner),
    Annotations(AnnotationOwner),
    /// A string that may hold a copy of a Secret.
    Annotation(Annotation),
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
pub(super) enum AnnotationOwner {
    Secret,
    Other,
}

/// How a Secret's value is written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Coding {
    Base64,
    Plain,
}

/// What the object and the key say about an annotation.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Annotation {
    /// The object is no Secret. The text may be JSON that has a Secret in it.
    OfOther,
    /// A Secret's, under a key that is known to be harmless.
    Harmless,
    /// A Secret's, and what `kubectl apply` was given.
    LastApplied,
    /// A Secret's, under any other key.
    Private,
}
