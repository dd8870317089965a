//! Why a walk, or a look-back at a whole source, goes no further.

use std::sync::Arc;

use super::read::Unread;
use super::revision::Revision;
use crate::watch::error::SourceError;

/// Why a walk went no further.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum End {
    /// It came to the revision, or the number of requests, that it was to go to.
    Limit,
    /// The server has forgotten all before this revision.
    Forgotten(Revision),
    /// There is no look-back here.
    NotOffered(Arc<str>),
    /// The server did not answer.
    Failed(SourceError),
}

/// What is told of a revision that could not be read.
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
