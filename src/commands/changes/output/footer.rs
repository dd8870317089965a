//! The footer of a live `changes`: the state of its sources and its counts.

use crate::commands::changes::state::ChangesState;
use crate::commands::{Sources, Terminal};
use crate::render::age;
use crate::render::count::plural;

/// The footer: a line for each kind you may not read, then the state of the sources and the counts.
pub(crate) fn footer(
    state: &ChangesState,
    sources: &Sources,
    terminal: &Terminal<'_>,
) -> Vec<String> {
    let now = terminal.env().now();
    let look = terminal.look();
    let last = state.last.map_or_else(
        || "no change yet".to_owned(),
        |last| format!("last change {} ago", age::human(now.duration_since(last))),
    );
    let mut lines = refused(sources, terminal);
    let hidden = match state.hidden {
        0 => String::new(),
        hidden => format!(" ({hidden} hidden)"),
    };
    lines.push(format!(
        "{}  {}  {}  {}{hidden}  {last}  {}",
        sources.summary(now, look),
        plural(state.objects, "object"),
        plural(sources.count(), "watch"),
        plural(state.versions, "version"),
        look.styles.dim(terminal.exit_key.hint()),
    ));
    lines
}

/// How many forbidden kinds have their own line.
const REFUSED: usize = 3;

/// A line for each forbidden kind. If there are too many, the last line counts the rest.
pub(crate) fn refused(sources: &Sources, terminal: &Terminal<'_>) -> Vec<String> {
    let styles = terminal.look().styles;
    let count = sources.refused().count();
    let most = if count > REFUSED {
        REFUSED - 1
    } else {
        REFUSED
    };
    let others = count.saturating_sub(most);
    let others = (others > 0).then(|| format!("and {others} more that cannot be read"));
    let lines = sources.refused().take(most).chain(others);
    lines.map(|line| styles.dim(&line)).collect()
}
