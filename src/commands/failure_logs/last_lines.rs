//! `LastLines`: what an instance of a container printed last, as text.

use std::sync::Arc;

use super::args::LineCount;
use super::unwell_instance::UnwellInstance;
use crate::logs::telling_line;
use crate::render::json::LastLinesRecord;
use crate::render::log_text::without_colours;
use crate::source::log::{LogExit, LogLine};

/// The most characters of one line.
const LONGEST: usize = 300;

/// The last lines of a failed instance.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct LastLines {
    /// The name of the container.
    pub(crate) container: Arc<str>,
    instance: Arc<str>,
    exit: Option<LogExit>,
    /// The lines without the colours of the program.
    pub(crate) lines: Vec<String>,
}

impl LastLines {
    /// So many of these lines; `None` if all are empty.
    pub(super) fn of(
        unwell: &UnwellInstance,
        lines: &[LogLine],
        count: LineCount,
    ) -> Option<LastLines> {
        let texts = texts(lines);
        let lines: Vec<String> = match count {
            LineCount::Telling => {
                let texts: Vec<&str> = texts.iter().map(String::as_str).collect();
                let telling = telling_line(&texts);
                telling
                    .iter()
                    .map(|line| shortened(line, LONGEST))
                    .collect()
            }
            LineCount::Last(count) => {
                let texts = texts.iter().filter(|text| !text.trim().is_empty());
                let texts: Vec<String> = texts.map(|text| shortened(text, LONGEST)).collect();
                texts[texts.len().saturating_sub(count)..].to_vec()
            }
        };
        (!lines.is_empty()).then(|| LastLines {
            container: unwell.container.name.clone(),
            instance: unwell.instance.id.clone(),
            exit: unwell.instance.exit.clone(),
            lines,
        })
    }

    /// `app log: panic: no db`: one text for each line.
    pub(crate) fn texts(&self) -> Vec<String> {
        self.record().texts()
    }

    /// The record.
    pub(crate) fn record(&self) -> LastLinesRecord {
        LastLinesRecord {
            container: self.container.to_string(),
            instance: self.instance.to_string(),
            exit_code: self.exit.as_ref().map(|exit| exit.code),
            lines: self.lines.clone(),
        }
    }
}

/// The texts of lines without the colours of the program.
pub(super) fn texts(lines: &[LogLine]) -> Vec<String> {
    let text = |line: &LogLine| {
        let text = String::from_utf8_lossy(&line.text);
        without_colours(&text).trim_end().to_owned()
    };
    lines.iter().map(text).collect()
}

/// A line of at most so many characters.
pub(super) fn shortened(line: &str, most: usize) -> String {
    match line.char_indices().nth(most) {
        Some((end, _)) => format!("{}…", &line[..end]),
        None => line.to_owned(),
    }
}
