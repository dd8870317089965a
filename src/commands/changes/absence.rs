//! Objects that are named and not there.

use super::args::ChangesArgs;

/// What a single object that is not there means.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Absence {
    /// It is waited for.
    Waits,
    /// It is an error, as nothing is waited for.
    Missing,
    /// It is the answer that `--for` waits for.
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
