//! Why a walk, or the look-back of a whole source, ended.

use std::sync::Arc;

use super::read::Unread;
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
pub(super) fn end(unread: Unread, at: Revision) -> End {
    match unread {
        Unread::Forgotten => End::Forgotten(at.next()),
        other => ended(other),
    }
}

pub(super) fn ended(unread: Unread) -> End {
    match unread {
        Unread::Forgotten | Unread::Spent => End::Limit,
        Unread::NotOffered(cause) => End::NotOffered(cause),
        Unread::Failed(error) => End::Failed(error),
    }
}
