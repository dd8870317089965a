//! Reads the input of `--from` and `-f`: a file, a directory, a pipe or standard input.
//!
//! A pipe may stay silent, or have no writer. So it is opened and read on a thread of its own, and a verb can stop meanwhile.

mod files;
mod unread;

use std::fs::File;
use std::io;
use std::io::Read;
use std::path::PathBuf;

use jiff::{SignedDuration, Timestamp};
use tokio::task::spawn_blocking;

use super::{CommandError, Context};
use crate::cluster::os_words;
use crate::env::{Env, shifted};
use crate::watch;
use crate::watch::{FileError, Foreign, LONGEST_INPUT};
pub(super) use files::{Depth, expanded, manifests_below, read_files, refuse_urls};
pub(crate) use unread::UnreadFiles;

/// A time that is further ahead of this machine's clock than this is wrong.
const MAX_AHEAD: SignedDuration = SignedDuration::from_hours(24);

/// The newest of the times in a file: the time at which a file is judged, unless `--now` sets another one.
pub(crate) fn newest_of(times: impl Iterator<Item = Timestamp>, env: &Env) -> Option<Timestamp> {
    let latest = shifted(env.now(), MAX_AHEAD);
    times.filter(|time| *time <= latest).max()
}

/// The error of a part of a file that cannot be read. `flag` is the flag that reads standard input.
pub(super) fn unreadable(path: &str, error: &FileError, flag: &str) -> CommandError {
    let (line, words) = (error.line, error.words());
    let document = error.document.map(|number| format!("document {number}: "));
    let document = document.unwrap_or_default();
    let said = CommandError::failed(format!("error: {path}: line {line}: {document}{words}"));
    match error.foreign {
        Some(foreign) => said.hint(remedy(foreign, flag)),
        None => said,
    }
}

/// What a text is instead of objects, and what to do about it.
pub(super) fn remedy(foreign: Foreign, flag: &str) -> String {
    let Foreign { what, remedy } = foreign;
    let reader = remedy
        .ends_with('|')
        .then(|| format!(" kubectl spy … {flag} -"));
    format!("{what}: {remedy}{}", reader.unwrap_or_default())
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

/// The whole text of a file, a pipe, or standard input (`-`). `flag` is the flag that names it.
pub(super) async fn text_of(
    context: &mut Context<'_>,
    path: &str,
    flag: &str,
) -> Result<String, CommandError> {
    let read = match stream_of(context, path) {
        Some(input) => match spawn_blocking(move || whole(input)).await {
            Ok(read) => read,
            Err(stopped) => Err(stopped.into()),
        },
        None => std::fs::read(path),
    };
    let bytes = read.map_err(|error| match error.kind() {
        io::ErrorKind::NotFound => {
            CommandError::failed(format!("error: the path \"{path}\" does not exist"))
        }
        io::ErrorKind::FileTooLarge => CommandError::failed(format!("error: {path}: {error}"))
            .hint("save it to a file, and pass the name of the file"),
        _ => CommandError::failed(format!("error: {path}: {}", os_words(&error))),
    })?;
    watch::text_of(bytes).map_err(|error| unreadable(path, &error, flag))
}

/// Reads to the end. Fails if that does not come soon enough.
fn whole(input: impl Read) -> io::Result<Vec<u8>> {
    let mut bytes = Vec::new();
    let limit = LONGEST_INPUT as u64;
    input.take(limit + 1).read_to_end(&mut bytes)?;
    if bytes.len() > LONGEST_INPUT {
        let error = format!("more than {} MiB", LONGEST_INPUT >> 20);
        return Err(io::Error::new(io::ErrorKind::FileTooLarge, error));
    }
    Ok(bytes)
}
