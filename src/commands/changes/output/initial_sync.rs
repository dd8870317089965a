//! `InitialSync`: one line with the number of watched objects, if there are many kinds. A few kinds have a line each.

use std::sync::Arc;

use crate::commands::changes::formats::Audience;
use crate::commands::changes::state::{Occurrence, TimelineEntry};
use crate::commands::sources::{named, place};
use crate::render::count::plural;
use crate::source::SourceKey;

/// Up to this many kinds have a line each.
const FEW: usize = 3;

/// The kinds whose first listing is complete, until the line about them is printed.
#[derive(Debug)]
pub(crate) struct InitialSync {
    /// Whether it still collects kinds. A kind that is listed after the line was printed has its own line.
    is_open: bool,
    listed: Vec<Arc<SourceKey>>,
    /// The number of their objects.
    objects: usize,
}

impl InitialSync {
    pub(crate) fn of(keys: &[SourceKey], audience: Audience) -> InitialSync {
        let wide = keys.iter().filter(|key| named(key).is_none());
        InitialSync {
            is_open: audience != Audience::Records && wide.count() > FEW,
            listed: Vec::new(),
            objects: 0,
        }
    }

    /// Takes the entry if it is the listing of one of many kinds. Returns whether it did.
    pub(super) fn gather(&mut self, entry: &TimelineEntry) -> bool {
        let Occurrence::Synced { count } = entry.what else {
            return false;
        };
        let is_one = self.is_open && named(&entry.key).is_none();
        if is_one {
            self.listed.push(entry.key.clone());
            self.objects += count;
        }
        is_one
    }

    /// The line about the collected kinds; `None` if there are none. After that it collects no more.
    pub(super) fn take_line(&mut self) -> Option<String> {
        if self.listed.is_empty() {
            return None;
        }
        self.is_open = false;
        let listed = std::mem::take(&mut self.listed);
        Some(watching(&listed, self.objects))
    }
}

/// `watching 312 objects of 27 kinds in namespace "shop"`.
fn watching(listed: &[Arc<SourceKey>], objects: usize) -> String {
    let mut places = listed.iter().map(|key| place(key));
    let first = places.next().unwrap_or_default();
    let common = Some(first).filter(|first| places.all(|place| place == *first));
    format!(
        "watching {} of {}{}",
        plural(objects, "object"),
        plural(listed.len(), "kind"),
        common.unwrap_or_default()
    )
}
