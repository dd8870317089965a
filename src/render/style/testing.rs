//! Test helpers that make painted text readable.

use super::Styles;
use crate::render::text::Text;

/// The lines without their colours.
pub(crate) fn plain(lines: impl IntoIterator<Item = Text>) -> String {
    painted(lines, Styles::PLAIN)
}

/// The lines with the colours of these styles.
pub(crate) fn painted(lines: impl IntoIterator<Item = Text>, styles: Styles) -> String {
    let lines = lines.into_iter().map(|line| line.paint(styles));
    lines.collect::<Vec<_>>().join("\n")
}

impl PartialEq<&str> for Text {
    fn eq(&self, text: &&str) -> bool {
        self.as_str() == *text
    }
}

/// Styles that paint. The switch of the `colored` crate is on, as `run` sets it.
pub(crate) fn ansi() -> Styles {
    colored::control::set_override(true);
    Styles::ANSI
}

/// Spells out the colour sequences of painted text, for snapshots: `(red)0/1(normal)`.
pub(crate) fn explain(painted: &str) -> String {
    let mut plain = String::new();
    for (index, part) in painted.split("\u{1b}[").enumerate() {
        let (codes, text) = match (index, part.split_once('m')) {
            (1.., Some(parts)) => parts,
            _ => ("", part),
        };
        if !codes.is_empty() {
            let names: Vec<&str> = codes.split(';').map(code_name).collect();
            plain.extend(["(", &names.join(" "), ")"]);
        }
        plain.push_str(text);
    }
    plain
}

fn code_name(code: &str) -> &str {
    match code {
        "0" => "normal",
        "1" => "bold",
        "2" => "dim",
        "4" => "underline",
        "31" => "red",
        "32" => "green",
        "33" => "yellow",
        "36" => "cyan",
        other => other,
    }
}
