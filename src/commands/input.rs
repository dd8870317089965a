//! Reads the input of `--from` and `-f`: a file, a pipe or standard input.
//!
//! A pipe may stay silent, or have no writer. So it is opened and read on a thread of its own, and a verb can stop meanwhile.

use std::fs::File;
use std::io::{self, Read};
use std::path::PathBuf;

use tokio::task::spawn_blocking;

use jiff::{SignedDuration, Timestamp};

use super::{CommandError, Context, FileArgs};
use crate::env::{Env, shifted};
use crate::object::Doc;
use crate::watch::{self, FileError, LONGEST_INPUT};

/// Every document of `--from`, also those that lack a kind or a name. Fails if the input cannot be read or parsed.
pub(crate) async fn documents(
    context: &mut Context<'_>,
    file: &FileArgs,
) -> Result<Vec<Doc>, CommandError> {
    let path = file.from.as_deref().unwrap_or("-");
    let text = text_of(context, path).await?;
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

/// Standard input (`-`) or a pipe as a stream. `None` if the path is a regular file.
pub(super) fn stream_of(context: &mut Context<'_>, path: &str) -> Option<Box<dyn Read + Send>> {
    match path {
        "-" => {
            let stdin = std::mem::replace(&mut context.env.stdin, Box::new(io::empty()));
            Some(stdin)
        }
        path if is_pipe(path) => Some(Box::new(Pipe::Closed(path.into()))),
        _ => None,
    }
}

/// Whether a path is a pipe or a device, whose length is not known beforehand.
fn is_pipe(path: &str) -> bool {
    let about = std::fs::metadata(path);
    about.is_ok_and(|about| !about.is_file() && !about.is_dir())
}

/// A pipe that is opened by the first read, because opening it waits for a writer.
enum Pipe {
    Closed(PathBuf),
    Open(File),
}

impl Read for Pipe {
    fn read(&mut self, bytes: &mut [u8]) -> io::Result<usize> {
        if let Pipe::Closed(path) = self {
            *self = Pipe::Open(File::open(path)?);
        }
        match self {
            Pipe::Closed(_) => Ok(0),
            Pipe::Open(file) => file.read(bytes),
        }
    }
}

/// The whole text of a file, a pipe, or standard input (`-`).
pub(super) async fn text_of(context: &mut Context<'_>, path: &str) -> Result<String, CommandError> {
    let read = match stream_of(context, path) {
        Some(input) => match spawn_blocking(move || whole(input)).await {
            Ok(read) => read,
            Err(stopped) => Err(stopped.into()),
        },
        None => std::fs::read_to_string(path),
    };
    read.map_err(|error| match error.kind() {
        io::ErrorKind::NotFound => {
            CommandError::failed(format!("error: the path \"{path}\" does not exist"))
        }
        io::ErrorKind::FileTooLarge => CommandError::failed(format!("error: {path}: {error}"))
            .hint("save it to a file, and pass the name of the file"),
        _ => CommandError::failed(format!("error: {path}: {error}")),
    })
}

/// Reads to the end. Fails if that does not come soon enough.
fn whole(input: impl Read) -> io::Result<String> {
    let mut text = String::new();
    let limit = LONGEST_INPUT as u64;
    input.take(limit + 1).read_to_string(&mut text)?;
    if text.len() > LONGEST_INPUT {
        let error = format!("more than {} MiB", LONGEST_INPUT >> 20);
        return Err(io::Error::new(io::ErrorKind::FileTooLarge, error));
    }
    Ok(text)
}
