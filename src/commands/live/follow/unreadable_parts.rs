//! `UnreadableParts`: what of a file or a stream could not be read. The verb shows the rest, and then fails.

use std::sync::Arc;

use crate::commands::CommandError;
use crate::render::count::plural;
use crate::watch::FileTransport;

/// What to do about a stream with other texts between its objects.
const HINT: &str = "hint: make the command before the pipe print only objects: its messages belong on standard error";

/// The parts that could not be read.
#[derive(Debug, Default)]
pub(super) struct UnreadableParts {
    /// The name of a stream that goes on. Its user may never see the end, so each part is printed at once.
    stream: Option<Arc<str>>,
    /// The errors of the parts, each once; of a stream, only the newest one.
    details: Vec<Arc<str>>,
    count: usize,
}

impl UnreadableParts {
    /// No part of this input.
    pub(super) fn of(file: Option<&Arc<FileTransport>>) -> UnreadableParts {
        let stream = file.filter(|file| !file.has_ended());
        UnreadableParts {
            stream: stream.map(|file| file.name.clone()),
            ..UnreadableParts::default()
        }
    }

    /// Adds a part, and returns the lines to print at once. Several sources may report the same part.
    pub(super) fn add(&mut self, detail: &Arc<str>) -> Vec<String> {
        if self.details.contains(detail) {
            return Vec::new();
        }
        self.count += 1;
        if self.stream.is_none() {
            self.details.push(detail.clone());
            return Vec::new();
        }
        self.details = vec![detail.clone()];
        let hint = (self.count == 1).then(|| HINT.to_owned());
        [format!("error: {detail}")]
            .into_iter()
            .chain(hint)
            .collect()
    }

    /// The error at the end, if there is any part.
    pub(super) fn error(&self) -> Option<CommandError> {
        let lines = match &self.stream {
            Some(_) if self.count == 0 => Vec::new(),
            Some(name) => {
                let parts = plural(self.count, "part");
                vec![format!("error: {name}: {parts} could not be read")]
            }
            None => {
                let details = self.details.iter();
                details.map(|detail| format!("error: {detail}")).collect()
            }
        };
        (!lines.is_empty()).then(|| CommandError::failed(lines.join("\n")))
    }
}
