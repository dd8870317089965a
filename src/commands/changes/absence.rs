//! `Absence`: the meaning of a named object that does not exist.

use super::args::ChangesArgs;

/// What the verb does if a named object does not exist.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Absence {
    /// It waits for the object.
    Waits,
    /// It fails, because it does not wait for anything.
    Missing,
    /// It prints nothing: `--for` asks whether the object exists.
    Fine,
}

impl Absence {
    pub(super) fn of(args: &ChangesArgs) -> Absence {
        match args.is_once() {
            _ if args.ends.expects_absence() => Absence::Fine,
            true if args.ends.is_about_presence() => Absence::Fine,
            true => Absence::Missing,
            false => Absence::Waits,
        }
    }
}
