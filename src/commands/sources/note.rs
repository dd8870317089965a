//! What a verb says of one source.

use std::sync::Arc;

/// How much a verb depends on a source.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Need {
    /// It is what was asked for: a verb that can read no such source ends.
    Vital,
    /// It adds to what is shown.
    Useful,
}

/// A source that has gone from one state to another, in words.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Note {
    /// The source: `deployments.apps/web in namespace "shop"`.
    pub(crate) source: String,
    /// The state's name: `live`, `retrying`.
    pub(crate) state: &'static str,
    /// Why, where there is a reason.
    pub(crate) cause: Option<Arc<str>>,
}

/// A part of what was asked that the verb could not read.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Unknown {
    /// The time was over before the server had sent it. It is named: `pods in namespace "shop"`.
    Late(String),
    /// The server refused it or went away. The whole line says so, in the server's words if it sent some.
    Refused(String),
}
