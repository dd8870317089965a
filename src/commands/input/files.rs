//! Reads the files of `--from` as one.

use std::fs::DirEntry;
use std::io;
use std::path::{Path, PathBuf};

use glob::glob;

use super::unread::SkippedFiles;
use super::{text_of, unreadable};
use crate::cluster::os_words;
use crate::commands::{CommandError, Context, FileArgs};
use crate::object::without_secrets;
use crate::watch::{Faults, FileReader, FileTransport, Nameless, text_of as text_of_bytes};

/// How many bytes of objects directories may have.
const MOST: usize = 1 << 30;

/// Reads the files of `--from`. What cannot be read is an error at the end of the verb, or at once if nothing can.
pub(in crate::commands) async fn read_files(
    context: &mut Context<'_>,
    args: &FileArgs,
) -> Result<FileTransport, CommandError> {
    let paths = separated(&args.from);
    refuse_urls(&paths, "--from")?;
    if paths.iter().filter(|path| *path == "-").count() > 1 {
        let error = "standard input cannot be used for multiple arguments";
        return Err(CommandError::usage(error));
    }
    let mut files = ReadFiles::default();
    for path in expanded(&paths)? {
        if Path::new(&path).is_dir() {
            files.directory(context, &path).await?;
        } else {
            match text_of(context, &path, "--from").await {
                Ok(text) => files.text(context, &path, &text),
                Err(error) => context.unread.add([error], 0),
            }
        }
    }
    files.finish(context, &args.name())
}

/// What was read.
#[derive(Default)]
struct ReadFiles {
    reader: FileReader,
    passed_over: SkippedFiles,
    bytes: usize,
}

impl ReadFiles {
    /// Reads the files below a directory. It passes over those that hold no objects.
    async fn directory(
        &mut self,
        context: &mut Context<'_>,
        directory: &str,
    ) -> Result<(), CommandError> {
        let mut is_any = false;
        for file in files_below(Path::new(directory), Depth::All)? {
            let path = file.path();
            // What a link leads to may have no end, or be the directory itself.
            let is_file = std::fs::metadata(&path).is_ok_and(|about| about.is_file());
            if !is_file || !is_manifest(&path) {
                self.passed_over.add(&path);
                continue;
            }
            is_any = true;
            self.file(context, &path);
            if self.bytes > MOST {
                let error = format!(
                    "error: {directory}: more than {} MiB of objects",
                    MOST >> 20
                );
                return Err(CommandError::failed(error).hint("pass a directory in it"));
            }
            // A signal or a time limit may end the verb here.
            tokio::task::yield_now().await;
        }
        if is_any {
            Ok(())
        } else {
            let error = without_manifests(directory);
            Err(error.hint(format!(
                "{directory} has no record, either: name the directory that `kubectl spy record` writes"
            )))
        }
    }

    /// Reads a file in a directory. One without the right to read it does not hide the others.
    fn file(&mut self, context: &mut Context<'_>, path: &Path) {
        let name = path.to_string_lossy();
        let bytes = match std::fs::read(path) {
            Ok(bytes) => bytes,
            Err(error) => {
                let error = CommandError::failed(format!("error: {name}: {}", os_words(&error)));
                return context.unread.add([error], 0);
            }
        };
        self.bytes += bytes.len();
        let Ok(text) = text_of_bytes(bytes) else {
            return self.passed_over.add(path);
        };
        let (before, values) = (self.reader.count(), self.reader.values);
        let faults = self.reader.read(&name, &text, Nameless::NoObject);
        let has_objects = self.reader.count() > before;
        let is_list = self.reader.values > values && faults.first().is_empty();
        if has_objects || is_list || !faults.are_no_objects() {
            add(context, &name, &faults);
        } else {
            self.passed_over.add(path);
        }
    }

    fn text(&mut self, context: &mut Context<'_>, path: &str, text: &str) {
        let faults = self.reader.read(path, text, Nameless::Unreadable);
        add(context, path, &faults);
    }

    /// The files as one, with this name.
    fn finish(self, context: &mut Context<'_>, name: &str) -> Result<FileTransport, CommandError> {
        if let Some(line) = self.passed_over.line() {
            context.note(&line);
        }
        match self.reader.repeated() {
            0 => {}
            1 => context.note("1 object is in several files: its newest version counts"),
            count => {
                let line = format!(
                    "{count} objects are in several files: the newest version of each counts"
                );
                context.note(&line);
            }
        }
        if self.reader.count() == 0 {
            context.unread.take()?;
        }
        let failed = self.reader.failed_in();
        let name = failed.as_deref().unwrap_or(name);
        let file = self.reader.finish(name);
        file.map_err(|error| unreadable(name, &error, "--from"))
    }
}

/// Keeps the faults of a file for the end of the verb.
fn add(context: &mut Context<'_>, path: &str, faults: &Faults) {
    let errors = faults.first().iter();
    let errors = errors.map(|error| unreadable(path, error, "--from"));
    context.unread.add(errors, faults.more());
}

/// The extensions of files with objects in a directory, as in kubectl.
const EXTENSIONS: [&str; 3] = ["json", "yaml", "yml"];

/// How deep to look into a directory.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::commands) enum Depth {
    /// Only at the files in it.
    Files,
    /// Also at the directories in it.
    All,
}

/// Refuses URLs. `flag` is the flag of the paths.
pub(in crate::commands) fn refuse_urls(paths: &[String], flag: &str) -> Result<(), CommandError> {
    let is_url = |path: &&String| path.starts_with("http://") || path.starts_with("https://");
    let Some(url) = paths.iter().find(is_url) else {
        return Ok(());
    };
    let error = CommandError::failed(format!(
        "error: {}: URLs are not supported",
        without_secrets(url)
    ));
    Err(error.hint(format!(
        "fetch it first: curl -sSfL URL | kubectl spy … {flag} -"
    )))
}

/// The paths, which commas may separate. A file that exists may have commas in its name.
pub(super) fn separated(paths: &[String]) -> Vec<String> {
    let each = paths.iter().flat_map(|path| {
        let is_one = Path::new(path).exists();
        path.split(move |char| char == ',' && !is_one)
    });
    each.map(str::to_owned).collect()
}

/// The paths, with a pattern such as `'k8s/*.yaml'` replaced by the files that match it, sorted. As in kubectl, only a
/// path that does not exist is a pattern.
pub(in crate::commands) fn expanded(paths: &[String]) -> Result<Vec<String>, CommandError> {
    let mut found = Vec::new();
    for path in paths {
        if path == "-" || Path::new(path).exists() || !path.contains(['*', '?', '[']) {
            found.push(path.clone());
            continue;
        }
        let matches = glob(path).map_err(|_| {
            CommandError::failed(format!(
                "error: pattern {path:?} is not valid: syntax error in pattern"
            ))
        })?;
        let before = found.len();
        found.extend(
            matches
                .flatten()
                .map(|file| file.to_string_lossy().into_owned()),
        );
        if found.len() == before {
            return Err(CommandError::failed(format!(
                "error: the path {path:?} does not exist"
            )));
        }
    }
    Ok(found)
}

/// The files below a directory, sorted by name. Like kubectl, it treats links as files.
pub(in crate::commands) fn files_below(
    directory: &Path,
    depth: Depth,
) -> Result<Vec<DirEntry>, CommandError> {
    let mut found = Vec::new();
    walk(directory, depth, &mut found).map_err(|error| {
        let directory = directory.to_string_lossy();
        let words = os_words(&error);
        CommandError::failed(format!("error: error reading {directory:?}: {words}"))
    })?;
    Ok(found)
}

/// The files below a directory that hold objects by their extensions. Fails without any, in kubectl's words.
pub(in crate::commands) fn manifests_below(
    directory: &str,
    depth: Depth,
) -> Result<Vec<PathBuf>, CommandError> {
    let files = files_below(Path::new(directory), depth)?.into_iter();
    let paths = files.map(|file| file.path());
    let found: Vec<PathBuf> = paths.filter(|path| is_manifest(path)).collect();
    if found.is_empty() {
        return Err(without_manifests(directory));
    }
    Ok(found)
}

/// kubectl's error about a directory without files that hold objects by their extensions.
fn without_manifests(directory: &str) -> CommandError {
    CommandError::failed(format!(
        "error: error reading [{directory}]: recognized file extensions are [.json .yaml .yml]"
    ))
}

fn walk(directory: &Path, depth: Depth, found: &mut Vec<DirEntry>) -> io::Result<()> {
    let entries = std::fs::read_dir(directory)?;
    let mut entries = entries.collect::<io::Result<Vec<_>>>()?;
    entries.sort_by_key(DirEntry::file_name);
    for entry in entries {
        if !entry.file_type()?.is_dir() {
            found.push(entry);
        } else if depth == Depth::All {
            walk(&entry.path(), depth, found)?;
        }
    }
    Ok(())
}

/// Whether a file in a directory holds objects by its extension.
fn is_manifest(path: &Path) -> bool {
    let extension = path.extension().and_then(|extension| extension.to_str());
    extension.is_some_and(|extension| EXTENSIONS.contains(&extension))
}
