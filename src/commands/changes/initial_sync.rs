//! The lines that say what is watched: one for each of a few kinds, or one for many kinds together.

use std::sync::Arc;

use super::footer::plural;
use super::formats::Reader;
use super::page::Page;
use super::run::Changes;
use super::state::{Occurrence, TimelineEntry};
use crate::commands::sources::{named, place};
use crate::commands::{Sources, Terminal};
use crate::render::text::escape_line;
use crate::watch::SourceKey;

/// Up to this many kinds have a line each.
const FEW: usize = 3;

/// The kinds whose first listing is complete, until the line about them is printed.
#[derive(Debug, Default)]
pub(super) struct InitialSync {
    listed: Vec<Arc<SourceKey>>,
    /// How many objects they have.
    objects: u64,
    /// Whether the line was printed. Kinds that are listed later have a line of their own.
    is_printed: bool,
}

impl Changes {
    /// Takes the listing of one of many kinds, to print it with the others; returns whether the entry is one.
    pub(super) fn gather(&mut self, entry: &TimelineEntry) -> bool {
        let Occurrence::Synced { count } = entry.what else {
            return false;
        };
        let wide = self.keys.iter().filter(|key| named(key).is_none());
        let is_one = self.view.format.reader() != Reader::Records
            && named(&entry.key).is_none()
            && !self.initial_sync.is_printed
            && wide.count() > FEW;
        if is_one {
            self.initial_sync.listed.push(entry.key.clone());
            self.initial_sync.objects += count as u64;
        }
        is_one
    }

    /// Adds the line about many kinds, once each of them is listed or refused.
    pub(super) fn add_initial_sync(
        &mut self,
        page: &mut Page,
        sources: &Sources,
        terminal: &Terminal<'_>,
    ) {
        if self.initial_sync.listed.is_empty() || !sources.are_settled() {
            return;
        }
        self.initial_sync.is_printed = true;
        let listed = std::mem::take(&mut self.initial_sync.listed);
        let line = watching(&listed, self.initial_sync.objects);
        match self.view.format.reader() {
            Reader::Person => page
                .lines
                .push(terminal.look().styles.dim(&escape_line(&line))),
            Reader::Documents | Reader::Records => page.asides.push(line),
        }
    }
}

/// `watching 312 objects of 27 kinds in namespace "shop"`.
fn watching(listed: &[Arc<SourceKey>], objects: u64) -> String {
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
