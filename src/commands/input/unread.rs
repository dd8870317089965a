//! `UnreadFiles`: what of the user's files could not be read. A verb shows the rest, and then fails.

use std::collections::BTreeMap;
use std::path::Path;

use crate::commands::{CommandError, Ended, ErrorKind};
use crate::render::count::plural;

/// The most errors that are printed. The others are counted.
const MOST: usize = 10;

/// What could not be read.
#[derive(Debug, Default)]
pub(crate) struct UnreadFiles {
    errors: Vec<CommandError>,
    more: usize,
    /// Whether something of it is in a manifest.
    has_manifests: bool,
}

impl UnreadFiles {
    /// Adds the errors of a file, and the number of its further ones.
    pub(in crate::commands) fn add(
        &mut self,
        errors: impl IntoIterator<Item = CommandError>,
        more: usize,
    ) {
        self.more += more;
        for error in errors {
            if self.errors.len() < MOST {
                self.errors.push(error);
            } else {
                self.more += 1;
            }
        }
    }

    /// Adds the errors of a manifest.
    pub(in crate::commands) fn add_manifest(
        &mut self,
        errors: impl IntoIterator<Item = CommandError>,
        more: usize,
    ) {
        let before = self.errors.len() + self.more;
        self.add(errors, more);
        self.has_manifests |= self.errors.len() + self.more > before;
    }

    /// All of them as one error, if there are any.
    pub(in crate::commands) fn take(&mut self) -> Result<(), CommandError> {
        let errors = std::mem::take(&mut self.errors);
        let more = std::mem::take(&mut self.more);
        let error = errors.into_iter().reduce(CommandError::and);
        let error = error.map(|error| match more {
            0 => error,
            more => error.and(CommandError::failed(format!("and {more} more errors"))),
        });
        error.map_or(Ok(()), Err)
    }

    /// Fails at once if a manifest could not be read. A verb that goes on would not say so until its end.
    pub(crate) fn refuse_manifests(&mut self) -> Result<(), CommandError> {
        if self.has_manifests {
            self.take()
        } else {
            Ok(())
        }
    }

    /// The end of a verb, with these errors.
    pub(crate) fn conclude(
        &mut self,
        ended: Result<Ended, CommandError>,
    ) -> Result<Ended, CommandError> {
        match (ended, self.take()) {
            (Ok(Ended::By(signal)), _) => Ok(Ended::By(signal)),
            (Ok(_), Err(unread)) => Err(unread),
            (Err(error), Err(unread)) if error.kind() != ErrorKind::Usage => Err(error.and(unread)),
            (ended, _) => ended,
        }
    }
}

/// How many extensions have a number of their own.
const NAMED: usize = 3;

/// The files of directories that hold no objects, by their extensions.
#[derive(Debug, Default)]
pub(super) struct SkippedFiles {
    files: usize,
    of_extension: BTreeMap<String, usize>,
}

impl SkippedFiles {
    /// Counts a file.
    pub(super) fn add(&mut self, path: &Path) {
        self.files += 1;
        if let Some(extension) = path.extension() {
            let extension = extension.to_string_lossy().into_owned();
            *self.of_extension.entry(extension).or_default() += 1;
        }
    }

    /// A line with their number, and with those of the most frequent extensions; `None` if there are none.
    pub(super) fn line(&self) -> Option<String> {
        let mut extensions: Vec<_> = self.of_extension.iter().collect();
        extensions
            .sort_by_key(|(extension, count)| (std::cmp::Reverse(**count), extension.as_str()));
        let named = &extensions[..extensions.len().min(NAMED)];
        let others = self.files - named.iter().map(|(_, count)| **count).sum::<usize>();
        let named = named
            .iter()
            .map(|(extension, count)| format!("{count} .{extension}"));
        let others = (others > 0).then(|| format!("{others} others"));
        let parts: Vec<String> = named.chain(others).collect();
        let files = plural(self.files, "file");
        let hold = if self.files == 1 { "holds" } else { "hold" };
        let parts = parts.join(", ");
        (self.files > 0).then(|| format!("passed over: {files} that {hold} no objects ({parts})"))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_could_not_be_read_fails_the_verb_at_its_end() {
        let unread = |count: usize, more: usize| {
            let mut unread = UnreadFiles::default();
            let errors =
                (0..count).map(|at| CommandError::failed(format!("error: f{at}")).hint("h"));
            unread.add(errors, more);
            unread
        };
        let ended = |ended, mut unread: UnreadFiles| match unread.conclude(ended) {
            Ok(ended) => format!("{ended:?}"),
            Err(error) => format!("{error} {:?} {:?}", error.hints(), error.kind()),
        };
        assert_eq!(ended(Ok(Ended::Found), unread(0, 0)), "Found");
        assert_eq!(
            ended(Ok(Ended::Found), unread(1, 0)),
            "error: f0 [\"h\"] Failed"
        );
        let unmet = || Err(CommandError::goal_unmet("error: late"));
        assert_eq!(ended(unmet(), unread(0, 0)), "error: late [] GoalUnmet");
        assert_eq!(
            ended(unmet(), unread(1, 2)),
            "error: late\nerror: f0\nand 2 more errors [\"h\"] GoalUnmet"
        );
        let many = ended(Ok(Ended::Answered), unread(MOST + 3, 0));
        assert!(many.contains("error: f9\nand 3 more errors"), "{many}");
    }

    #[test]
    fn files_are_counted_by_their_extensions() {
        let check = |paths: &[&str], line: &str| {
            let mut passed_over = SkippedFiles::default();
            for path in paths {
                passed_over.add(Path::new(path));
            }
            assert_eq!(passed_over.line().unwrap_or_default(), line);
        };
        check(&[], "");
        check(
            &["a/x.log"],
            "passed over: 1 file that holds no objects (1 .log)",
        );
        check(
            &["a.txt", "b.log", "c.log", "version", "e.gz", "f.html", ".g"],
            "passed over: 7 files that hold no objects (2 .log, 1 .gz, 1 .html, 3 others)",
        );
    }
}
