//! That kinds are watched: of a few a line each, of many one line for all.

use std::sync::Arc;

use super::footer::plural;
use super::formats::Reader;
use super::page::Page;
use super::run::Changes;
use super::state::{Happened, Step};
use crate::commands::sources::{named, place};
use crate::commands::{Sources, Terminal};
use crate::render::text::escape_line;
use crate::watch::SourceKey;

/// So many kinds are told each in a line of its own.
const FEW: usize = 3;

/// The kinds that have been listed, until it is told.
#[derive(Debug, Default)]
pub(super) struct Arrivals {
    listed: Vec<Arc<SourceKey>>,
    /// How many objects they have.
    objects: u64,
    /// What is listed later is told by itself.
    is_told: bool,
}

impl Changes {
    /// Takes that one of many kinds was listed, to tell it with the others; says whether that is what has
    /// happened.
    pub(super) fn gather(&mut self, happened: &Happened) -> bool {
        let Step::Synced { count } = happened.step else {
            return false;
        };
        let wide = self.keys.iter().filter(|key| named(key).is_none());
        let is_one = self.view.format.reader() != Reader::Records
            && named(&happened.key).is_none()
            && !self.arrivals.is_told
            && wide.count() > FEW;
        if is_one {
            self.arrivals.listed.push(happened.key.clone());
            self.arrivals.objects += count as u64;
        }
        is_one
    }

    /// Adds the line of many kinds, once each of them is listed or refused.
    pub(super) fn tell_arrivals(
        &mut self,
        page: &mut Page,
        sources: &Sources,
        terminal: &Terminal<'_>,
    ) {
        if self.arrivals.listed.is_empty() || !sources.are_settled() {
            return;
        }
        self.arrivals.is_told = true;
        let listed = std::mem::take(&mut self.arrivals.listed);
        let line = watching(&listed, self.arrivals.objects);
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
