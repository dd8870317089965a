//! Keys from the command line.

use std::str::FromStr;

use crate::object::path::{Path, Pattern, PatternError};

use super::ListKey;

/// `PATH=KEY[,KEY]`: these fields identify the items of the lists at this path.
#[derive(Clone, Debug)]
pub struct Chosen {
    at: Pattern,
    pub(super) key: ListKey,
}

/// Why a text is not a list's path and its key.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum ChosenError {
    /// There is no `=`, or no key after it.
    #[error("expected PATH=KEY[,KEY], as in .spec.servers=host,port")]
    NoKey,
    /// The text before the `=` is not a path.
    #[error(transparent)]
    Path(#[from] PatternError),
}

impl Chosen {
    /// Whether this applies to the list at `path`.
    pub(super) fn names(&self, path: &Path<'_>) -> bool {
        self.at.names(path)
    }
}

impl FromStr for Chosen {
    type Err = ChosenError;

    fn from_str(text: &str) -> Result<Chosen, ChosenError> {
        let (path, key) = text.rsplit_once('=').ok_or(ChosenError::NoKey)?;
        let is_name = |field: &str| !field.is_empty() && !field.contains(['[', ']', '"']);
        if !key.split(',').all(is_name) {
            return Err(ChosenError::NoKey);
        }
        Ok(Chosen {
            at: path.parse()?,
            key: ListKey::required(key.split(',')),
        })
    }
}
