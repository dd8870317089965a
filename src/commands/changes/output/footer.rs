//! The footer of a live `changes`: how current what stands above it is.

use std::fmt::Display;

use crate::commands::changes::state::ChangesState;
use crate::commands::{Sources, Terminal};
use crate::render::age;

/// The last line of a live screen: how current what stands above it is.
pub(in crate::commands::changes) fn footer(
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
        look.styles.dim("Ctrl-C to end"),
    ));
    lines
}

/// So many kinds that may not be read are told, each in a line.
const REFUSED: usize = 3;

/// A line for each kind that may not be read; those that are too many are counted.
pub(in crate::commands::changes) fn refused(
    sources: &Sources,
    terminal: &Terminal<'_>,
) -> Vec<String> {
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

/// `1 watch`, `2 watches`.
pub(in crate::commands::changes) fn plural<N: Copy + Display + PartialEq + From<u8>>(
    count: N,
    unit: &str,
) -> String {
    match unit {
        _ if count == N::from(1) => format!("1 {unit}"),
        _ if unit.ends_with("ch") => format!("{count} {unit}es"),
        _ => format!("{count} {unit}s"),
    }
}

/// A number with its thousands set apart: `1,204`.
pub(in crate::commands::changes) fn grouped(number: usize) -> String {
    let digits = number.to_string();
    let mut text = String::with_capacity(digits.len() + digits.len() / 3);
    for (at, digit) in digits.chars().enumerate() {
        if at > 0 && (digits.len() - at).is_multiple_of(3) {
            text.push(',');
        }
        text.push(digit);
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn thousands_are_set_apart() {
        for (number, text) in [
            (0, "0"),
            (999, "999"),
            (1000, "1,000"),
            (1_234_567, "1,234,567"),
        ] {
            assert_eq!(grouped(number), text);
        }
    }
}
