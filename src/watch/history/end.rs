//! Why a walk, or the look-back of a whole source, ended.

use std::sync::Arc;

use super::read::PastError;
use super::revision::Revision;
use crate::watch::error::SourceError;

/// Why a walk ended.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum End {
    /// It reached its oldest revision, or its number of requests.
    Limit,
    /// The server has compacted every revision before this one.
    Forgotten(Revision),
    /// This source has no look-back.
    NotOffered(Arc<str>),
    /// The server did not answer, or answered with an error.
    Failed(SourceError),
}

/// The end of a walk at a revision that could not be read.
pub(super) fn end(unread: PastError, at: Revision) -> End {
    match unread {
        PastError::Forgotten => End::Forgotten(at.next()),
        other => ended(other),
    }
}

pub(super) fn ended(unread: PastError) -> End {
    match unread {
        PastError::Forgotten | PastError::Spent => End::Limit,
        PastError::NotOffered(cause) => End::NotOffered(cause),
        PastError::Failed(error) => End::Failed(error),
    }
}
