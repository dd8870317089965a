//! Why a text cannot be parsed as an object.

/// Why a text is not one JSON value.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum ParseError {
    /// The text ends inside a value.
    #[error("the JSON text ends too early, at byte {at}")]
    UnexpectedEnd {
        /// The offset in bytes.
        at: usize,
    },
    /// A byte that is not allowed at its position.
    #[error("invalid JSON at byte {at}")]
    UnexpectedByte {
        /// The offset in bytes.
        at: usize,
    },
    /// More than [`Doc::MAX_DEPTH`](super::Doc::MAX_DEPTH) levels of arrays and objects.
    #[error("JSON nested too deeply, at byte {at}")]
    TooDeep {
        /// The offset in bytes.
        at: usize,
    },
    /// The text is 4 GiB or longer.
    #[error("the JSON text is too long")]
    TooLong,
    /// The object repeats `kind` or `apiVersion`, and the last ones differ from those that it was received with.
    #[error("the object names two types")]
    TwoTypes,
}
