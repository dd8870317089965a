//! Tells objects that started or stopped matching a selector from created and deleted ones. A watch with a selector reports
//! both as additions and deletions.

use super::past_event::{PastEvent, Presence};
use super::read::{Archive, PastError};
use super::replay::{LastEvent, Replay};
use super::revision::{Revision, RevisionSpan};
use super::watch_cache::CachedEvent;
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

    /// Turns the creations of objects that only started to match the selector into changes of the version before. If that
    /// cannot be read, what came before the version is unknown.
    pub(in crate::watch) async fn mark_joined_selector(&self, events: &mut [PastEvent]) {
        if !self.key.select.can_leave() {
            return;
        }
        for event in events.iter_mut().filter(|event| event.why == Why::Added) {
            let Some(at) = event.at else { continue };
            let object = &event.now.object;
            let unselected = self.unselected(object);
            match unselected.object(object, at.back(1)).await {
                Ok(Some(before)) if before.object.uid == object.uid => {
                    (event.why, event.prev) = (Why::Modified, Some(before));
                }
                Ok(_) => {}
                Err(_) => {
                    let cached = unselected.event_in_cache(at).await;
                    if cached.is_none_or(|event| event.verb != Verb::Added) {
                        event.why = Why::Listed;
                    }
                }
            }
        }
    }

    /// The one object of this archive after its event at a revision; `None` if the watch cache does not have it.
    async fn object_in_cache(&self, at: Revision) -> Option<Presence> {
        let event = self.event_in_cache(at).await?;
        Some((event.verb != Verb::Deleted).then_some(event.version))
    }

    /// The event at a revision of the one object of this archive; `None` if the watch cache does not have it.
    async fn event_in_cache(&self, at: Revision) -> Option<CachedEvent> {
        let span = RevisionSpan {
            after: at.back(1),
            upto: at,
        };
        let replay = Replay::read(self, span, LastEvent::At(at)).await?;
        replay.events.into_iter().next_back()
    }
}
