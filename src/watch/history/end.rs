//! Why a walk, or the look-back of a whole source, ended.

use std::sync::Arc;
use std::time::Duration;

use super::read::PastError;
use super::revision::Revision;
use crate::watch::error::SourceError;

/// Why a walk ended.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum End {
    /// It reached its oldest revision.
    Limit,
    /// It has made as many requests as it may. The server may have more.
    Spent,
    /// The server has compacted every revision before this one.
    Forgotten(Revision),
    /// The caller stopped waiting for it after this time. The server may have more.
    OutOfTime(Duration),
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
        PastError::Forgotten => End::Limit,
        PastError::Spent => End::Spent,
        PastError::NotOffered(cause) => End::NotOffered(cause),
        PastError::Failed(error) => End::Failed(error),
    }
}
