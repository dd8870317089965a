//! The files that paths, directories and patterns name.

use std::fs::DirEntry;
use std::io;
use std::path::{Path, PathBuf};

use glob::glob;

use crate::commands::CommandError;
use crate::object::without_secrets;

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
        CommandError::failed(format!("error: error reading {directory:?}: {error}"))
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
pub(super) fn without_manifests(directory: &str) -> CommandError {
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
pub(super) fn is_manifest(path: &Path) -> bool {
    let extension = path.extension().and_then(|extension| extension.to_str());
    extension.is_some_and(|extension| EXTENSIONS.contains(&extension))
}
