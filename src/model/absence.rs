//! `Absence`: why the model does not have a named object.

use crate::source::SourceKey;

use super::{Model, Reading};

/// Why the model does not have a named object.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Absence {
    /// It does not exist.
    Missing,
    /// It is not in the file, and may exist.
    NotInFile,
    /// The server refuses to show it.
    Refused,
    /// The cluster does not serve its type.
    Unserved,
    /// It is not read, or not yet.
    Unread,
}

impl Absence {
    /// The words after the name of the object: `does not exist`.
    pub fn words(self) -> &'static str {
        match self {
            Absence::Missing => "does not exist",
            Absence::NotInFile => "not in the file",
            Absence::Refused => "cannot be read",
            Absence::Unserved => "type not served",
            Absence::Unread => "not read",
        }
    }
}

impl Model {
    /// Why the model does not have an object of a source. An object without a source is of a type that is not served.
    pub fn absence(&self, source: Option<&SourceKey>) -> Absence {
        let Some(source) = source else {
            return Absence::Unserved;
        };
        match self.coverage.reading(source) {
            Some(Reading::All) if self.knows_absence => Absence::Missing,
            Some(Reading::All) => Absence::NotInFile,
            Some(Reading::Refused) => Absence::Refused,
            Some(Reading::Partial | Reading::Retrying { .. }) | None => Absence::Unread,
        }
    }
}
