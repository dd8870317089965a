//! `PassedOver`: the files of a directory that hold no objects.

use std::collections::BTreeMap;
use std::path::Path;

use crate::render::count::plural;

/// How many extensions have a number of their own.
const NAMED: usize = 3;

/// The files of directories that hold no objects, by their extensions.
#[derive(Debug, Default)]
pub(super) struct PassedOver {
    files: usize,
    of_extension: BTreeMap<String, usize>,
}

impl PassedOver {
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
    fn files_are_counted_by_their_extensions() {
        let check = |paths: &[&str], line: &str| {
            let mut passed_over = PassedOver::default();
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
