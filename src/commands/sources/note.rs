//! What a verb reports about one source.

use std::sync::Arc;

/// How much a verb depends on a source.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Need {
    /// The user requested it. The verb ends if it can read no vital source.
    Vital,
    /// It decides the state of what the user requested: without it, `--exit-code` has no answer.
    Decisive,
    /// It adds to the view.
    Useful,
}

/// A change of a source's state, in words.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Note {
    /// The source: `deployments.apps/web in namespace "shop"`.
    pub(crate) source: String,
    /// The state's name: `live`, `retrying`.
    pub(crate) state: &'static str,
    /// The reason, if there is one.
    pub(crate) cause: Option<Arc<str>>,
}

/// A part of the request that the verb could not read: a source, or its earlier versions.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum UnreadPart {
    /// The server had not sent it when the time was over. The text names it: `pods in namespace "shop"`.
    Late(String),
    /// The server refused it or went away. The text is the whole message, in the server's words if it sent
    /// any.
    Refused(String),
    /// The server refused what decides the state of a requested object. The text is as for [`UnreadPart::Refused`].
    Undecided(String),
}
