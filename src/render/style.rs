//! How text is painted and which symbols it uses: named roles, never colours, at the call site.
//!
//! Only the sixteen ANSI foreground colours, bold, dim and underline: every terminal theme makes
//! them readable. Meaning never rests on colour alone: symbols and words carry it.

use colored::{Color, ColoredString, Colorize};

/// What a piece of text is, for painting.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Role {
    /// Ordinary text: never painted.
    #[default]
    Plain,
    /// The header line of a table or of a version.
    Heading,
    /// What a new version has and the old one has not.
    Added,
    /// What the old version had and the new one has not.
    Removed,
    /// What has another value in the new version.
    Changed,
    /// An item that stands at another place of its list.
    Moved,
    /// Another spelling of the same value.
    Equal,
    /// The part inside a line that matters: the changed words of a value.
    Emphasis,
    /// What may be overlooked: counters, context, what is idle.
    Dim,
    /// A state that is as it should be.
    Good,
    /// A state that has failed.
    Bad,
    /// A state on its way to another.
    Moving,
    /// The name of an object.
    Name,
    /// A warning of ours or of the server.
    Warning,
}

/// How a view is drawn: everything about the terminal that its text depends on.
#[derive(Clone, Copy, Debug)]
pub struct Look {
    /// How many columns of the terminal there are; `None` (not a terminal) leaves all text whole.
    pub width: Option<usize>,
    /// How text is painted.
    pub styles: Styles,
    /// Which symbols stand for states, marks and what is cut.
    pub symbols: &'static Symbols,
}

/// Paints text by its role. Whether it does is decided once, where the environment is read; plain
/// by default.
///
/// The `colored` crate has a switch of its own, which `run` turns on for good, so that this alone
/// decides. The text handed in is already escaped (`render::text`).
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
    /// Leaves all text as it is.
    pub const PLAIN: Styles = Styles { ink: Ink::None };

    /// Paints with ANSI colour sequences.
    pub const ANSI: Styles = Styles { ink: Ink::Ansi };

    /// The text in the colours of its role.
    pub fn paint(self, role: Role, text: &str) -> String {
        if self.ink == Ink::None || role == Role::Plain || text.is_empty() {
            return text.to_owned();
        }
        paint(role, text).to_string()
    }

    /// Whether no role differs from another.
    pub fn is_plain(self) -> bool {
        self.ink == Ink::None
    }

    /// Appends the text in the colours of its role.
    pub fn push(self, out: &mut String, role: Role, text: &str) {
        if self.ink == Ink::None || role == Role::Plain || text.is_empty() {
            out.push_str(text);
        } else {
            out.push_str(&self.paint(role, text));
        }
    }

    /// [`Role::Heading`].
    pub fn heading(self, text: &str) -> String {
        self.paint(Role::Heading, text)
    }

    /// [`Role::Added`].
    pub fn added(self, text: &str) -> String {
        self.paint(Role::Added, text)
    }

    /// [`Role::Removed`].
    pub fn removed(self, text: &str) -> String {
        self.paint(Role::Removed, text)
    }

    /// [`Role::Dim`].
    pub fn dim(self, text: &str) -> String {
        self.paint(Role::Dim, text)
    }

    /// [`Role::Good`].
    pub fn good(self, text: &str) -> String {
        self.paint(Role::Good, text)
    }

    /// [`Role::Bad`].
    pub fn bad(self, text: &str) -> String {
        self.paint(Role::Bad, text)
    }

    /// [`Role::Moving`].
    pub fn moving(self, text: &str) -> String {
        self.paint(Role::Moving, text)
    }

    /// [`Role::Name`].
    pub fn name(self, text: &str) -> String {
        self.paint(Role::Name, text)
    }

    /// [`Role::Warning`].
    pub fn warning(self, text: &str) -> String {
        self.paint(Role::Warning, text)
    }
}

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
    }
}

/// The symbols of a view, in Unicode or in ASCII; each takes the same columns wherever it stands.
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
    /// Where text is left out.
    pub ellipsis: &'static str,
    /// Before the count of fields or items that are left out.
    pub omitted: &'static str,
    /// Another spelling of the same value.
    pub equal: &'static str,
    /// An item at another place.
    pub moved: &'static str,
    /// A step that is done.
    pub done: &'static str,
    /// A step that is still to come, a line of little weight.
    pub dot: &'static str,
}

impl Symbols {
    /// For locales whose character set is UTF-8.
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
        moved: "↕",
        done: "✓",
        dot: "·",
    };

    /// For `--ascii` and all other locales.
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
        moved: "^",
        done: "+",
        dot: ".",
    };
}

#[cfg(test)]
pub(crate) mod testing;

#[cfg(test)]
mod tests {
    use super::testing::{ansi, explain};
    use super::*;
    use crate::render::text;

    #[test]
    fn plain_is_the_default() {
        assert_eq!(Styles::default(), Styles::PLAIN);
        assert_eq!(Styles::default().bad("Failed"), "Failed");
    }

    #[test]
    fn each_role_has_its_colours() {
        let styles = ansi();
        let painted = [
            styles.paint(Role::Plain, "plain"),
            styles.heading("heading"),
            styles.name("name"),
            styles.added("added"),
            styles.good("good"),
            styles.removed("removed"),
            styles.bad("bad"),
            styles.paint(Role::Changed, "changed"),
            styles.moving("moving"),
            styles.warning("warning"),
            styles.paint(Role::Moved, "moved"),
            styles.paint(Role::Equal, "equal"),
            styles.dim("dim"),
            styles.paint(Role::Emphasis, "emphasis"),
            styles.dim(""),
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
        ");
    }

    #[test]
    fn paint_inside_paint_goes_on_after_it() {
        let styles = ansi();
        let new = styles.paint(Role::Emphasis, "v2");
        let line = styles.paint(Role::Changed, &format!("image: {new} (new)"));
        insta::assert_snapshot!(
            explain(&line),
            @"(yellow)image: (bold underline)v2(normal)(yellow) (new)(normal)"
        );
    }

    #[test]
    fn a_symbol_is_as_wide_in_either_set_where_columns_depend_on_it() {
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
