//! `Message`: what is said about a log on standard error.

use jiff::Timestamp;

use crate::commands::{CommandError, Terminal};
use crate::render::style::Role;
use crate::render::text::Text;
use crate::source::log::{LogEnd, LogGap};

/// A message on standard error.
pub(in crate::commands) struct Message {
    pub(in crate::commands) text: String,
    pub(in crate::commands) is_problem: bool,
}

impl Message {
    /// About a log that begins or ends: `--quiet` leaves it out.
    pub(in crate::commands) fn start(text: String) -> Message {
        Message {
            text,
            is_problem: false,
        }
    }

    /// About lines that are missing, or may be.
    pub(in crate::commands) fn problem(text: String) -> Message {
        Message {
            text,
            is_problem: true,
        }
    }

    pub(in crate::commands) fn about(self, sign: &str, container: &str) -> Message {
        let text = format!("{sign} {container}: {}", self.text);
        Message { text, ..self }
    }

    pub(in crate::commands) fn print(
        &self,
        terminal: &mut Terminal<'_>,
    ) -> Result<(), CommandError> {
        let role = if self.is_problem {
            Role::Warning
        } else {
            Role::Dim
        };
        Ok(terminal.notify_text(Text::new(role, &self.text))?)
    }
}

/// What to say about the end of an instance.
pub(in crate::commands) fn ended(end: &LogEnd, is_followed: bool) -> Option<Message> {
    match end {
        LogEnd::Exited(Some(exit)) => is_followed.then(|| Message::start(exit.to_string())),
        LogEnd::Exited(None) => is_followed.then(|| Message::start("ended".to_owned())),
        LogEnd::PodGone => is_followed.then(|| Message::start("the Pod is gone".to_owned())),
        LogEnd::Lost(text) => Some(Message::problem(text.to_string())),
        LogEnd::Read | LogEnd::Limited => None,
    }
}

/// `gap from 10:02:11Z to 10:02:13Z (log rotated)`, or `lines after 10:02:11Z may be missing (restarted more than once)`.
pub(in crate::commands) fn gap_words(gap: &LogGap) -> String {
    let clock = |time: Timestamp| format!("{}Z", &format!("{time:.0}")[11..19]);
    let (after, cause) = (clock(gap.after), gap.cause.words());
    match gap.upto {
        Some(upto) => format!("gap from {after} to {} ({cause})", clock(upto)),
        None => format!("lines after {after} may be missing ({cause})"),
    }
}
