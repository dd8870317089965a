//! How a driver notices a restored server, and what it does then. See [`super::continuity`] for the evidence.

use super::Driver;
use super::continuity::is_set_back;
use crate::object::ResourceVersion;
use crate::object::managed_fields::newest_time;
use crate::source::Version;
use crate::watch::error::SourceError;
use crate::watch::history::Revision;

impl Driver {
    /// Whether the server was restored since the source reached this version.
    pub(super) async fn is_restored(
        &mut self,
        from: &ResourceVersion,
    ) -> Result<bool, SourceError> {
        let is_restored = match Revision::parse(from) {
            Some(from) => is_set_back(&self.archive, from).await? || self.is_overtaken().await,
            None => false,
        };
        if is_restored {
            self.shared.set_back();
        }
        Ok(is_restored)
    }

    /// Whether the newest version in the store is missing from the server's history.
    ///
    /// An error does not count: the server has just served a watch and a listing, so the watch continues.
    async fn is_overtaken(&self) -> bool {
        let Some((at, held)) = self.shared.newest_held() else {
            return false;
        };
        let archive = self.archive.alone(&held.object).metadata();
        let there = archive.object(&held.object, at).await;
        there.is_ok_and(|there| !there.is_some_and(|there| is_same_write(&held, &there)))
    }

    /// Reports that the server's history was restored, and forgets what was known of the lost history.
    pub(super) fn announce_restore(&self) {
        let resource = &self.shared.key.resource;
        self.archive.compacted.restart(resource);
        self.connecting("the server's storage was restored or replaced".into());
    }
}

/// Whether two versions are the same write. Two histories may use one revision for different writes of an object.
/// The times of the writes distinguish them, if both versions have one.
fn is_same_write(held: &Version, there: &Version) -> bool {
    let time = |version: &Version| newest_time(version.doc().ok()?.root());
    let is_another_time =
        matches!((time(held), time(there)), (Some(held), Some(there)) if held != there);
    held.object.uid == there.object.uid && held.version == there.version && !is_another_time
}
