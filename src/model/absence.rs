//! `Absence`: why the model does not have a named object.

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
