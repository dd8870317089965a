//! `PluginRun`: how credential plugins run.

use std::time::Duration;

/// How a credential plugin runs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum PluginRun {
    /// As kubectl runs it: it may use the terminal, and take any time.
    Attended,
    /// Without the terminal, for at most this long. A plugin that needs the terminal is an error.
    Unattended(Duration),
}
