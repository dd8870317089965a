//! Which named objects a check lacks, and what `--exit-code` answers.

use super::args::ChangesArgs;
use super::run::Changes;
use crate::commands::{Answer, CommandError, Ended, Stop};
use crate::source::SourceKey;

impl Changes {
    /// The sources of named objects without which there is no answer: a check of an object that never existed would always
    /// pass.
    pub(super) fn missing(
        &self,
        args: &ChangesArgs,
        stop: &Stop,
        ended: &Result<Ended, CommandError>,
    ) -> Vec<SourceKey> {
        let is_over = matches!(ended, Ok(Ended::Answered | Ended::OutOfTime));
        let may_be_absent = is_over && args.wait.asks_for_answer();
        if !(self.missing.is_empty() && may_be_absent) {
            return self.missing.clone();
        }
        let absent = stop.shown.absent.iter();
        let absent = absent.filter(|key| !self.with_past.contains(key) && stop.unread.is_empty());
        absent.cloned().collect()
    }

    /// Whether something changed, if there was anything that could.
    pub(super) fn answer(&self, stop: &Stop) -> Answer {
        match self.renderer.summary.is_changed {
            false if !stop.shown.has_object && self.earlier == 0 => Answer::NoObject,
            is_changed => Answer::from(is_changed),
        }
    }
}
