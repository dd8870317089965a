//! Changes of one field that two managers write in turn.

use jiff::SignedDuration;

use crate::commands::field_fight::FieldWrite;
use crate::object::managed_fields::{OwnedField, entries};
use crate::render::text::escape_line;
use crate::source::Version;

use super::change::{LastChange, Made, What};

/// How soon somebody must undo a write to fight about it.
const SOON: SignedDuration = SignedDuration::from_mins(2);

impl LastChange {
    /// Whether the version before it shows that another manager had changed its first field a short time before. What created
    /// the object changed nothing.
    pub(super) fn is_contested(&self, older: &Version) -> bool {
        let change = self.paths.first().zip(self.first_write());
        let Some((path, write)) = change else {
            return false;
        };
        let Ok(doc) = older.doc() else {
            return false;
        };
        let owns = |fields: Vec<_>| {
            fields
                .iter()
                .any(|field: &OwnedField<'_>| field.path == *path)
        };
        let entries = entries(doc.root());
        let created = doc.root().time_at(&["metadata", "creationTimestamp"]);
        let mut others = entries.iter().filter(|entry| {
            let is_soon = entry.time().is_some_and(|before| {
                Some(before) > created && write.at[0].duration_since(before) <= SOON
            });
            is_soon && Some(&*entry.manager) != write.manager.as_deref()
        });
        others.any(|entry| owns(entry.owned_fields(doc.root())))
    }

    /// `kubectl had written 8`, if it takes back what another manager wrote in the change before it.
    pub(super) fn undoes(&self, before: &LastChange) -> Option<String> {
        let (What::Changed(own), What::Changed(former)) = (&self.what, &before.what) else {
            return None;
        };
        let ([own_old, own_new], [old, new]) = (own.first.first()?, former.first.first()?);
        let path = own_old.strip_suffix(&**new)?;
        let is_back = old.strip_suffix(&**own_new) == Some(path);
        let (by, manager) = (self.by.recorded()?, before.by.recorded()?);
        let manager_text = escape_line(&manager);
        (is_back && by != manager).then(|| format!("{manager_text} had written {new}"))
    }

    /// Whether its first field is that of another change.
    pub(super) fn changes_same_as(&self, other: &LastChange) -> bool {
        self.paths.first() == other.paths.first()
    }

    /// The write of its first field; `None` if the old value or the time is not known.
    pub(super) fn first_write(&self) -> Option<FieldWrite> {
        let What::Changed(fields) = &self.what else {
            return None;
        };
        let [_, new] = fields.first.first()?;
        let Some(Made::At(at)) = self.at else {
            return None;
        };
        Some(FieldWrite {
            manager: self.by.recorded(),
            value: new.clone(),
            at: [at, at],
        })
    }
}
