//! Finds programs by Go's rules, which are kubectl's (<https://pkg.go.dev/os/exec#hdr-Executables_in_the_current_directory>).

use std::ffi::OsStr;
use std::path::{MAIN_SEPARATOR, Path, PathBuf};

/// Why a program cannot be run.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub(crate) enum ProgramError {
    /// No directory of `PATH` has it.
    #[error("executable file not found in $PATH")]
    NotFound,
    /// The first directory of `PATH` that has it is relative, such as `.` or an empty one. Its files may be anyone's.
    #[error("cannot run executable found relative to current directory")]
    Relative,
}

/// The suffixes of programs. A file without one is found first if its name has one.
const SUFFIXES: &[&str] = if cfg!(windows) {
    &["", ".exe", ".com", ".bat", ".cmd"]
} else {
    &[""]
};

/// The file of a program: the name itself if it contains a separator, else the first match in `path`. A match in a
/// directory that is not absolute is an error.
pub(crate) fn find(name: &str, path: Option<&OsStr>) -> Result<PathBuf, ProgramError> {
    if name.contains(MAIN_SEPARATOR) {
        return Ok(PathBuf::from(name));
    }
    let directories = path.into_iter().flat_map(std::env::split_paths);
    let files = directories.flat_map(|directory| {
        let file = |suffix: &&str| directory.join(format!("{name}{suffix}"));
        SUFFIXES.iter().map(file).collect::<Vec<PathBuf>>()
    });
    let mut found = files
        .filter(|_| !name.is_empty())
        .filter(|file| is_program(file));
    match found.next() {
        None => Err(ProgramError::NotFound),
        Some(file) if file.is_absolute() => Ok(file),
        Some(_) => Err(ProgramError::Relative),
    }
}

/// Whether a path is a file that may be run.
#[cfg(unix)]
fn is_program(path: &Path) -> bool {
    use std::os::unix::fs::PermissionsExt;
    let about = std::fs::metadata(path);
    about.is_ok_and(|about| about.is_file() && about.permissions().mode() & 0o111 != 0)
}

#[cfg(not(unix))]
fn is_program(path: &Path) -> bool {
    path.is_file()
}

#[cfg(all(test, unix))]
mod tests {
    use super::*;

    /// Finds `sh`, or the manifest of this package, which is in the current directory.
    fn check(name: &str, path: &str) -> Result<String, String> {
        let found = find(name, Some(path.as_ref()));
        found
            .map(|found| found.display().to_string())
            .map_err(|error| error.to_string())
    }

    #[test]
    fn only_absolute_directories_have_programs() {
        let relative =
            || Err("cannot run executable found relative to current directory".to_owned());
        let absent = || Err("executable file not found in $PATH".to_owned());
        let sh = || Ok("/bin/sh".to_owned());
        // `.ci/run` is a program of this repository.
        for (name, path, expect) in [
            ("sh", "/nowhere:/bin", sh()),
            ("sh", ":/bin:", sh()),
            ("run", ".ci", relative()),
            ("run", "./.ci:/bin", relative()),
            ("run", "/bin:.ci", relative()),
            ("run", "/bin", absent()),
            // Not executable, or a directory.
            ("Cargo.toml", ".", absent()),
            ("Cargo.toml", "", absent()),
            ("src", ".:", absent()),
            ("", "/bin", absent()),
            ("./run", "/bin", Ok("./run".to_owned())),
        ] {
            assert_eq!(check(name, path), expect, "{name} in {path}");
        }
        assert_eq!(find("sh", None), Err(ProgramError::NotFound));
    }
}
