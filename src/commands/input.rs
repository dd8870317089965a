//! Reads the input of `--from`: a file, a pipe or standard input.

use std::io::Read;

use jiff::{SignedDuration, Timestamp};

use super::{CommandError, Context, FileArgs};
use crate::env::{Env, shifted};
use crate::object::Doc;
use crate::watch::{self, FileError};

/// Every document of `--from`, also those that lack a kind or a name. Fails if the input cannot be read or parsed.
pub(crate) fn documents(
    context: &mut Context<'_>,
    file: &FileArgs,
) -> Result<Vec<Doc>, CommandError> {
    let path = file.from.as_deref().unwrap_or("-");
    let text = text_of(context, path)?;
    watch::documents(&text).map_err(|error| unreadable(path, &error))
}

/// A time that is further ahead of this machine's clock than this is wrong.
const MAX_AHEAD: SignedDuration = SignedDuration::from_hours(24);

/// The newest of the times in a file: the time at which a file is judged, unless `--now` sets another one.
pub(crate) fn newest_of(times: impl Iterator<Item = Timestamp>, env: &Env) -> Option<Timestamp> {
    let latest = shifted(env.now(), MAX_AHEAD);
    times.filter(|time| *time <= latest).max()
}

/// The error of a file that cannot be parsed.
pub(super) fn unreadable(path: &str, error: &FileError) -> CommandError {
    CommandError::failed(format!(
        "error: {path}: line {}: {}",
        error.line, error.detail
    ))
}

/// Opens standard input (`-`) or a pipe as a stream. `None` if the path is a regular file.
pub(super) fn stream_of(
    context: &mut Context<'_>,
    path: &str,
) -> Result<Option<Box<dyn Read + Send>>, CommandError> {
    Ok(match path {
        "-" => Some(std::mem::replace(
            &mut context.env.stdin,
            Box::new(std::io::empty()),
        )),
        path if is_pipe(path) => Some(Box::new(std::fs::File::open(path)?)),
        _ => None,
    })
}

/// Whether a path is a pipe, whose length is not known beforehand.
fn is_pipe(path: &str) -> bool {
    let about = std::fs::metadata(path);
    about.is_ok_and(|about| !about.is_file() && !about.is_dir())
}

/// The whole text of `--from`; `-` is standard input.
pub(super) fn text_of(context: &mut Context<'_>, path: &str) -> Result<String, CommandError> {
    let mut text = String::new();
    let read = match path {
        "-" => context.env.stdin.read_to_string(&mut text).map(drop),
        path => std::fs::read_to_string(path).map(|read| text = read),
    };
    match read {
        Ok(()) => Ok(text),
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => Err(CommandError::failed(
            format!("error: the path \"{path}\" does not exist"),
        )),
        Err(error) => Err(CommandError::failed(format!("error: {path}: {error}"))),
    }
}
