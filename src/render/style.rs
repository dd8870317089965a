//! Paints text by its role and chooses the symbols. Callers name roles, never colours.
//!
//! Only the sixteen ANSI foreground colours, bold, dim and underline are used, because every terminal theme
//! makes them readable. Symbols and words carry the meaning too, so that it never depends on colour alone.

#[cfg(test)]
pub(crate) mod testing;

use colored::{Color, ColoredString, Colorize};

use crate::status::Status;

/// The role of a piece of text, which decides how it is painted.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Role {
    /// Ordinary text: never painted.
    #[default]
    Plain,
    /// The header line of a table or of a version.
    Heading,
    /// A value that only the new version has.
    Added,
    /// A value that only the old version has.
    Removed,
    /// A value that differs between the versions.
    Changed,
    /// An item that has moved in its list.
    Moved,
    /// Another spelling of the same value.
    Equal,
    /// The important part of a line: the changed words of a value.
    Emphasis,
    /// Secondary text: counters, context, idle objects.
    Dim,
    /// A healthy state.
    Good,
    /// A failed state.
    Bad,
    /// A state in transition.
    Moving,
    /// The name of an object.
    Name,
    /// A warning from this program or from the server.
    Warning,
    /// The name of the source with this number. Neighbours have different colours; red is left to errors.
    Source(u8),
}

/// The properties of the terminal that the text of a view depends on.
#[derive(Clone, Copy, Debug)]
pub struct Look {
    /// The number of columns; `None` (not a terminal) leaves all text uncut.
    pub width: Option<usize>,
    /// The styles of the text.
    pub styles: Styles,
    /// The symbols for states, marks and cuts.
    pub symbols: &'static Symbols,
}

/// Paints text by its role, or leaves all text plain, which is the default. The choice is made once, where
/// the environment is read.
///
/// The `colored` crate has a switch of its own, which `run` turns on permanently. So this type alone decides.
/// The caller has already escaped the text (`render::text`).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Styles {
    ink: Ink,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
enum Ink {
    #[default]
    None,
    Ansi,
}

impl Styles {
    /// Leaves all text unpainted.
    pub const PLAIN: Styles = Styles { ink: Ink::None };

    /// Paints with ANSI colour sequences.
    pub const ANSI: Styles = Styles { ink: Ink::Ansi };

    /// Paints a text in the colours of its role.
    pub fn paint(self, role: Role, text: &str) -> String {
        if self.ink == Ink::None || role == Role::Plain || text.is_empty() {
            return text.to_owned();
        }
        paint(role, text).to_string()
    }

    /// Whether all roles look the same.
    pub fn is_plain(self) -> bool {
        self.ink == Ink::None
    }

    /// Appends a text in the colours of its role.
    pub fn push(self, out: &mut String, role: Role, text: &str) {
        if self.ink == Ink::None || role == Role::Plain || text.is_empty() {
            out.push_str(text);
        } else {
            out.push_str(&self.paint(role, text));
        }
    }
}

/// The colours of sources.
const SOURCES: [Color; 10] = [
    Color::Cyan,
    Color::Green,
    Color::Magenta,
    Color::Yellow,
    Color::Blue,
    Color::BrightCyan,
    Color::BrightGreen,
    Color::BrightMagenta,
    Color::BrightYellow,
    Color::BrightBlue,
];

fn paint(role: Role, text: &str) -> ColoredString {
    match role {
        Role::Plain => ColoredString::from(text),
        Role::Heading | Role::Name => text.bold(),
        Role::Added | Role::Good => text.color(Color::Green),
        Role::Removed | Role::Bad => text.color(Color::Red),
        Role::Changed | Role::Moving | Role::Warning => text.color(Color::Yellow),
        Role::Moved => text.color(Color::Cyan),
        Role::Equal | Role::Dim => text.dimmed(),
        Role::Emphasis => text.bold().underline(),
        Role::Source(number) => text.color(SOURCES[usize::from(number) % SOURCES.len()]),
    }
}

/// The symbols of a view, in Unicode or in ASCII. Where alignment depends on it, both have the same width.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Symbols {
    /// Status Current.
    pub current: &'static str,
    /// Status `InProgress`.
    pub in_progress: &'static str,
    /// Status Failed.
    pub failed: &'static str,
    /// Status Terminating.
    pub terminating: &'static str,
    /// Status `NotFound`.
    pub not_found: &'static str,
    /// Status Unknown.
    pub unknown: &'static str,
    /// Before a row of a tree that has a later sibling.
    pub branch: &'static str,
    /// Before the last row of its parent.
    pub last_branch: &'static str,
    /// Below a row that has a later sibling.
    pub trunk: &'static str,
    /// Before a line that explains the row above it.
    pub note: &'static str,
    /// From an old value to a new one.
    pub arrow: &'static str,
    /// In place of omitted text.
    pub ellipsis: &'static str,
    /// Before the number of omitted fields or items.
    pub omitted: &'static str,
    /// Another spelling of the same value.
    pub equal: &'static str,
    /// Before the longest that a time may be.
    pub at_most: &'static str,
    /// A moved item.
    pub moved: &'static str,
    /// A step that is done.
    pub done: &'static str,
    /// A pending step, or a less important line.
    pub dot: &'static str,
}

impl Symbols {
    /// For locales with the UTF-8 character set.
    pub const UNICODE: Symbols = Symbols {
        current: "●",
        in_progress: "~",
        failed: "✗",
        terminating: "−",
        not_found: "∅",
        unknown: "?",
        branch: "├─",
        last_branch: "└─",
        trunk: "│ ",
        note: "└ ",
        arrow: "→",
        ellipsis: "…",
        omitted: "⋯",
        equal: "≈",
        at_most: "≤",
        moved: "↕",
        done: "✓",
        dot: "·",
    };

    /// For `--ascii`, and for all other locales.
    pub const ASCII: Symbols = Symbols {
        current: "*",
        in_progress: "~",
        failed: "x",
        terminating: "-",
        not_found: "0",
        unknown: "?",
        branch: "|-",
        last_branch: "`-",
        trunk: "| ",
        note: "` ",
        arrow: "->",
        ellipsis: "...",
        omitted: "...",
        equal: "=",
        at_most: "<=",
        moved: "^",
        done: "+",
        dot: ".",
    };

    /// The symbol of a state.
    pub fn of(&self, status: Status) -> &'static str {
        match status {
            Status::Current => self.current,
            Status::InProgress => self.in_progress,
            Status::Failed => self.failed,
            Status::Terminating => self.terminating,
            Status::NotFound => self.not_found,
            Status::Unknown => self.unknown,
        }
    }
}

/// The role in which a state is painted.
pub fn role(status: Status) -> Role {
    match status {
        Status::Current => Role::Good,
        Status::InProgress | Status::Terminating => Role::Moving,
        Status::Failed => Role::Bad,
        Status::NotFound | Status::Unknown => Role::Warning,
    }
}

#[cfg(test)]
mod tests {
    use super::testing::{ansi, explain};
    use super::*;
    use crate::render::text;

    #[test]
    fn plain_is_the_default() {
        assert_eq!(Styles::default(), Styles::PLAIN);
        assert_eq!(Styles::default().paint(Role::Bad, "Failed"), "Failed");
    }

    #[test]
    fn each_role_has_its_colours() {
        let styles = ansi();
        let painted = [
            styles.paint(Role::Plain, "plain"),
            styles.paint(Role::Heading, "heading"),
            styles.paint(Role::Name, "name"),
            styles.paint(Role::Added, "added"),
            styles.paint(Role::Good, "good"),
            styles.paint(Role::Removed, "removed"),
            styles.paint(Role::Bad, "bad"),
            styles.paint(Role::Changed, "changed"),
            styles.paint(Role::Moving, "moving"),
            styles.paint(Role::Warning, "warning"),
            styles.paint(Role::Moved, "moved"),
            styles.paint(Role::Equal, "equal"),
            styles.paint(Role::Dim, "dim"),
            styles.paint(Role::Emphasis, "emphasis"),
            styles.paint(Role::Source(0), "source"),
            styles.paint(Role::Source(11), "source"),
            styles.paint(Role::Dim, ""),
        ];
        insta::assert_snapshot!(explain(&painted.join("\n")), @"
        plain
        (bold)heading(normal)
        (bold)name(normal)
        (green)added(normal)
        (green)good(normal)
        (red)removed(normal)
        (red)bad(normal)
        (yellow)changed(normal)
        (yellow)moving(normal)
        (yellow)warning(normal)
        (cyan)moved(normal)
        (dim)equal(normal)
        (dim)dim(normal)
        (bold underline)emphasis(normal)
        (cyan)source(normal)
        (green)source(normal)
        ");
    }

    #[test]
    fn outer_paint_continues_after_inner_paint() {
        let styles = ansi();
        let new = styles.paint(Role::Emphasis, "v2");
        let line = styles.paint(Role::Changed, &format!("image: {new} (new)"));
        insta::assert_snapshot!(
            explain(&line),
            @"(yellow)image: (bold underline)v2(normal)(yellow) (new)(normal)"
        );
    }

    #[test]
    fn aligned_symbols_have_the_same_width_in_both_sets() {
        let columns = |symbols: &Symbols| {
            [
                symbols.current,
                symbols.in_progress,
                symbols.failed,
                symbols.terminating,
                symbols.not_found,
                symbols.unknown,
                symbols.branch,
                symbols.last_branch,
                symbols.trunk,
                symbols.note,
            ]
            .map(text::width)
        };
        assert_eq!(columns(&Symbols::UNICODE), columns(&Symbols::ASCII));
        assert_eq!(columns(&Symbols::ASCII), [1, 1, 1, 1, 1, 1, 2, 2, 2, 2]);
    }
}
