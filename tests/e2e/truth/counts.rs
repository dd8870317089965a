//! Compares an answer with the true history: its counts and its exit code.

use std::collections::HashSet;

use super::claim::{Claim, Word};
use super::objects::Kind;
use super::question::{Filter, Fold, Format, Since};
use super::reach::is_count;
use super::verdict::Judge;
use super::write::{What, Write};

impl<'a> Judge<'a> {
    pub fn exit_code(&mut self, known: &[(&'a Claim, &'a Write)]) {
        let question = self.answer.question;
        if matches!(question.since, Since::Now | Since::Default) {
            return;
        }
        let is_shown = |claim: &Claim| match claim.word {
            Word::Existing => false,
            Word::Modified => question.format != Format::Json || !claim.changes.is_empty(),
            Word::Created | Word::Recreated | Word::Deleted | Word::Left => true,
        };
        let shown = known.iter().any(|(claim, _)| is_shown(claim));
        let counted = self.divider().iter().any(|part| part.contains("counted"));
        let events = !self.answer.printed.others.is_empty();
        let notices = &self.answer.printed.notices;
        // A write in the window counts although its version is compacted. Records and messages name it.
        let compacted = notices
            .iter()
            .any(|notice| notice.get("compacted").is_some())
            || self.answer.stderr.contains(" in the window, but ");
        match self.answer.code {
            0 if shown => self.note("exit code 0, although a change is printed"),
            1 if !shown && !counted && !events && !compacted => {
                self.note("exit code 1, although no change is printed");
            }
            0 | 1 => {}
            _ if self.answer.stderr.is_empty() => self.note("an error without a message"),
            _ => {}
        }
    }

    pub fn counts(&mut self, known: &[(&'a Claim, &'a Write)]) {
        let Some(count) = self.divider().iter().find(|part| is_count(part)) else {
            return;
        };
        let versions = known
            .iter()
            .filter(|(claim, _)| claim.word != Word::Existing);
        let first = count.split(' ').next().unwrap();
        if count.contains("earlier version") {
            let printed = versions.count().to_string();
            let printed = if printed == "0" { "no" } else { &printed };
            if first != printed {
                self.note(format!("{printed} versions are printed: {count}"));
            }
        } else if self.is_whole() {
            self.changed(count);
        }
    }

    /// Whether the answer claims to be about everything that ever happened.
    fn is_whole(&self) -> bool {
        let question = self.answer.question;
        let is_asked = question.since == Since::All && question.filter == Filter::Everyone;
        let limits = ["compacted", "history starts", "may be missing"];
        let is_part = |part: &String| limits.iter().any(|words| part.contains(words));
        is_asked && self.reach().is_some() && !self.divider().iter().any(is_part)
    }

    /// `8 of 9 objects changed, in 7 kinds (3 hidden), back to T`
    fn changed(&mut self, count: &str) {
        let names: HashSet<_> = self.truth.iter().map(|it| (it.kind, &it.name)).collect();
        let kinds: HashSet<Kind> = self.truth.iter().map(|write| write.kind).collect();
        let (objects, kinds) = (names.len(), kinds.len());
        let start = format!("{objects} of {objects} objects changed, in {kinds} kinds");
        if !count.starts_with(&start) {
            self.note(format!("{start}: {count}"));
        }
        if self.answer.question.fold == Fold::Nothing {
            return;
        }
        let number = |word: &str| {
            let before = count.split(word).next().filter(|it| it.len() < count.len());
            let number = before.and_then(|it| it.rsplit(['(', ' ']).next());
            number.and_then(|it| it.parse::<usize>().ok()).unwrap_or(0)
        };
        let is_line = |write: &&Write| {
            self.is_event_line(write.kind) && write.what != What::Deleted && write.is_shown()
        };
        let events = self.truth.iter().filter(is_line).count();
        let printed = self.answer.printed.claims.len();
        let all = printed + events + number(" counted") + number(" hidden");
        if all != self.truth.len() {
            let truth = self.truth.len();
            self.note(format!(
                "{printed} printed, {events} about Events, {truth} in all: {count}"
            ));
        }
    }
}
