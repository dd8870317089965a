//! Tells objects that stopped matching a selector from deleted ones. A watch with a selector reports both as deletions.

use super::past_event::{PastEvent, Presence};
use super::read::{Archive, PastError};
use super::replay::{LastEvent, Replay};
use super::revision::{Revision, RevisionSpan};
use crate::source::Why;
use crate::watch::envelope::Verb;

impl Archive {
    /// Marks the deletions of objects that only stopped matching the selector.
    pub(in crate::watch) async fn mark_left_selector(
        &self,
        events: &mut [PastEvent],
    ) -> Result<(), PastError> {
        if !self.key.select.can_leave() {
            return Ok(());
        }
        for event in events.iter_mut().filter(|event| event.why == Why::Deleted) {
            let Some(at) = event.at else { continue };
            let object = &event.now.object;
            let unselected = self.unselected(object);
            let there = match unselected.object(object, at).await {
                Ok(there) => there,
                Err(unread) => unselected.object_in_cache(at).await.ok_or(unread)?,
            };
            if there.is_some_and(|there| there.object.uid == object.uid) {
                event.why = Why::LeftSelector;
            }
        }
        Ok(())
    }

    /// The one object of this archive after its event at a revision; `None` if the watch cache does not have it.
    async fn object_in_cache(&self, at: Revision) -> Option<Presence> {
        let span = RevisionSpan {
            after: at.back(1),
            upto: at,
        };
        let replay = Replay::read(self, span, LastEvent::At(at)).await?;
        let event = replay.events.into_iter().next_back()?;
        Some((event.verb != Verb::Deleted).then_some(event.version))
    }
}
