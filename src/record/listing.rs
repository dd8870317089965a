//! `Listing`: the objects that a source selects at one revision of a record.

use std::collections::HashSet;

use bytes::Bytes;

use super::covered_source::{CoveredSource, PlacedRow};
use super::error::StoreError;
use super::past::ClusterPast;
use crate::object::Uid;
use crate::source::{Form, Matcher, Scope, Select, SourceKey, Version};
use crate::watch::{ListPage, Page, Revision};

/// A question for the objects of a source at a revision.
pub(super) struct Listing<'k> {
    pub(super) key: &'k SourceKey,
    pub(super) at: Revision,
    pub(super) page: &'k Page,
}

impl Listing<'_> {
    /// Reads the objects of a recorded revision, whose state is that at the other one, too.
    pub(super) fn read(
        &self,
        past: &mut ClusterPast,
        covered: &CoveredSource,
        known: Revision,
    ) -> Result<ListPage, StoreError> {
        let is_probe = self.key.form == Form::Metadata && self.page.limit == 1;
        let items = if is_probe {
            Vec::new()
        } else {
            let state = past.state(covered, known)?;
            KeyFilter::new(self.key).items(past, &state)?
        };
        Ok(ListPage {
            version: self.at.into(),
            items,
            next: None,
        })
    }
}

/// The objects that match the selector of a source at a revision.
pub(super) fn selected(
    past: &mut ClusterPast,
    covered: &CoveredSource,
    key: &SourceKey,
    at: Revision,
) -> Result<HashSet<Uid>, StoreError> {
    let known = covered.coverage.at_or_before(at).unwrap_or(at);
    let filter = KeyFilter::new(key);
    let mut selected = HashSet::new();
    for row in past.state(covered, known)? {
        let version = past.read(&row)?.version;
        if filter.selects(&version) {
            selected.insert(version.object.identity());
        }
    }
    Ok(selected)
}

/// Which objects belong to a source.
pub(super) struct KeyFilter<'k> {
    key: &'k SourceKey,
    matcher: Matcher<'k>,
}

impl<'k> KeyFilter<'k> {
    pub(super) fn new(key: &'k SourceKey) -> KeyFilter<'k> {
        KeyFilter {
            key,
            matcher: Matcher::new(&key.select),
        }
    }

    /// Whether an object lies in the namespace of the source.
    pub(super) fn is_inside(&self, version: &Version) -> bool {
        match &self.key.scope {
            Scope::Cluster => true,
            Scope::Namespace(namespace) => version.object.namespace.as_ref() == Some(namespace),
        }
    }

    pub(super) fn selects(&self, version: &Version) -> bool {
        let matches = || {
            version
                .doc()
                .is_ok_and(|doc| self.matcher.matches(doc.root()))
        };
        self.is_inside(version)
            && match &self.key.select {
                Select::All => true,
                Select::Name(name) => *version.object.name == **name,
                Select::Selector(_) => matches(),
            }
    }

    pub(super) fn item(&self, version: &Version) -> Option<Bytes> {
        let text = || Bytes::copy_from_slice(version.body.text().as_bytes());
        self.selects(version).then(text)
    }

    pub(super) fn items(
        &self,
        past: &mut ClusterPast,
        rows: &[PlacedRow],
    ) -> Result<Vec<Bytes>, StoreError> {
        let mut items = Vec::new();
        for row in rows {
            let version = past.read(row)?.version;
            items.extend(self.item(&version));
        }
        Ok(items)
    }
}
