//! `Awaited`: what a verb waits for before it can show anything.

use crate::commands::{CommandError, FileArgs, ObjectArgs, Subject};

/// What a verb waits for before it can show anything.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Awaited<'a> {
    /// The input of `--from`.
    Input(&'a str),
    /// The connection to the server.
    Server,
    /// The manifests of `-f` or `-k`, and the types of their objects.
    Manifests,
    /// The types of the objects.
    Types,
    /// The objects that selectors match.
    Objects,
}

impl<'a> Awaited<'a> {
    /// What opening a session waits for.
    pub(crate) fn session(source: &'a FileArgs) -> Awaited<'a> {
        let first = source.from.first();
        first.map_or(Awaited::Server, |path| Awaited::Input(path))
    }

    /// What resolving these arguments waits for.
    pub(crate) fn targets(args: &ObjectArgs) -> Awaited<'static> {
        match args.subject() {
            Subject::Manifests => Awaited::Manifests,
            Subject::Releases | Subject::Words | Subject::Unnamed => Awaited::Types,
        }
    }

    /// The error of a wait that took too long; `error` makes it of its message.
    pub(super) fn late(self, error: impl FnOnce(String) -> CommandError) -> CommandError {
        let (what, hint) = match self {
            Awaited::Input("-") => ("standard input", WRITER),
            Awaited::Input(path) => (path, WRITER),
            Awaited::Manifests => ("the manifests and the types of their objects", WRITER),
            Awaited::Server => ("the server", SERVER),
            Awaited::Types => ("the server's list of types", SERVER),
            Awaited::Objects => ("the server's list of objects", SERVER),
        };
        error(format!("error: timed out waiting for {what}")).hint(hint)
    }
}

const WRITER: &str = "check the command that writes the input, or use a longer --timeout";
const SERVER: &str = "check that the server answers: kubectl get --raw /readyz";
