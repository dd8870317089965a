//! The flags about the log lines of failed containers.

use crate::commands::flag_values::above_zero;

/// `--logs` and `--log-lines`.
#[derive(clap::Args, Clone, Copy, Debug, Default)]
pub(crate) struct LogLineArgs {
    /// Show the last log lines of these containers. With --for, they come before the error. new and all also show
    /// lines during the wait, on standard error
    #[arg(long = "logs", value_enum, value_name = "WHICH", default_value_t)]
    which: LogChoice,
    /// Show this many lines of each container (default: 10 before the error of --for, and 1 elsewhere, the one that
    /// says why)
    #[arg(long = "log-lines", value_name = "N", value_parser = parse_lines)]
    lines: Option<u16>,
}

/// The most lines of one container. `kubectl spy logs` shows more.
const MOST_LINES: u16 = 1000;

fn parse_lines(text: &str) -> Result<u16, String> {
    match above_zero(text)? {
        lines if lines > MOST_LINES => Err(format!("must be at most {MOST_LINES}")),
        lines => Ok(lines),
    }
}

/// Of which containers the last lines are shown.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, clap::ValueEnum)]
pub(crate) enum LogChoice {
    /// Those that have failed, and those that are late at the end of --timeout
    #[default]
    Failed,
    /// As failed. With --for, also each line of the Pods of the new revision until they are ready
    New,
    /// As failed. With --for, also each line of every Pod below the objects
    All,
    /// None: no log is read
    None,
}

/// The lines of which Pods are shown during a wait.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum StreamedPods {
    /// Those of the current revision, until they are ready.
    OfNewRevision,
    /// All below the objects of the wait.
    All,
}

/// How many lines are shown of one container.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum LineCount {
    /// The one that says why.
    Telling,
    /// The last ones.
    Last(usize),
}

/// How many lines come before an error, unless the user wants another number.
const BEFORE_ERROR: usize = 10;

impl LogLineArgs {
    /// No log is read.
    pub(crate) const NONE: LogLineArgs = LogLineArgs {
        which: LogChoice::None,
        lines: None,
    };

    /// Whether any log is read.
    pub(crate) fn reads_any(self) -> bool {
        self.which != LogChoice::None
    }

    /// Whether the user has set one of the flags.
    pub(crate) fn is_given(self) -> bool {
        self.lines.is_some() || self.which != LogChoice::Failed
    }

    /// The Pods whose lines are shown during a wait; `None` if no lines are.
    pub(crate) fn streamed(self) -> Option<StreamedPods> {
        match self.which {
            LogChoice::New => Some(StreamedPods::OfNewRevision),
            LogChoice::All => Some(StreamedPods::All),
            LogChoice::Failed | LogChoice::None => None,
        }
    }

    /// How many lines are shown below a cause.
    pub(crate) fn below_cause(self) -> LineCount {
        self.lines.map_or(LineCount::Telling, |lines| {
            LineCount::Last(usize::from(lines))
        })
    }

    /// How many lines are shown before an error.
    pub(crate) fn before_error(self) -> usize {
        self.lines.map_or(BEFORE_ERROR, usize::from)
    }
}
