//! Why a text cannot be read as an object.

/// Why a text is not one JSON value.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum ParseError {
    /// The text ends inside a value.
    #[error("the JSON text ends too early, at byte {at}")]
    UnexpectedEnd {
        /// Offset in bytes.
        at: usize,
    },
    /// A byte that cannot stand here.
    #[error("invalid JSON at byte {at}")]
    UnexpectedByte {
        /// Offset in bytes.
        at: usize,
    },
    /// More than [`Doc::MAX_DEPTH`](super::Doc::MAX_DEPTH) levels of arrays and objects.
    #[error("JSON nested too deeply, at byte {at}")]
    TooDeep {
        /// Offset in bytes.
        at: usize,
    },
    /// The text is 4 GiB or longer.
    #[error("the JSON text is too long")]
    TooLong,
    /// An object whose `kind` and `apiVersion` are not those that it was received with: it repeats them.
    #[error("the object names two types")]
    TwoTypes,
}
