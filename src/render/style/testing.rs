//! Test helpers that make painted text readable.

use super::Styles;

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
