//! Writes two texts as a unified diff, the format of `diff -u`, patch tools and pagers
//! (<https://www.gnu.org/software/diffutils/manual/html_node/Detailed-Unified.html>).

use std::time::Duration;

use similar::{Algorithm, ChangeTag, TextDiff};

use super::style::Role;
use super::text::Text;

/// The number of unchanged lines around a change.
const CONTEXT: usize = 3;

/// The time limit of the comparison. After it, the remaining lines are shown as replaced.
const PATIENCE: Duration = Duration::from_millis(200);

/// One version of a text.
#[derive(Clone, Copy)]
pub struct UnifiedSide<'a> {
    /// Its name.
    pub name: &'a str,
    /// Its lines, without line feeds.
    pub lines: &'a [Text],
}

/// The unified diff from `old` to `new`, with their names; empty if they are equal.
pub fn unified(old: UnifiedSide<'_>, new: UnifiedSide<'_>) -> Vec<Text> {
    let diff = TextDiff::configure()
        .algorithm(Algorithm::Histogram)
        .timeout(PATIENCE)
        .diff_slices(&texts(old.lines), &texts(new.lines));
    let mut unified = diff.unified_diff();
    unified.context_radius(CONTEXT);
    let mut lines = Vec::new();
    for hunk in unified.iter_hunks() {
        if lines.is_empty() {
            lines.push(Text::new(Role::Heading, format!("--- {}", old.name)));
            lines.push(Text::new(Role::Heading, format!("+++ {}", new.name)));
        }
        lines.push(Text::new(Role::Moving, hunk.header().to_string()));
        lines.extend(hunk.iter_changes().map(|change| {
            let (role, mark) = match change.tag() {
                ChangeTag::Equal => (Role::Plain, ' '),
                ChangeTag::Delete => (Role::Removed, '-'),
                ChangeTag::Insert => (Role::Added, '+'),
            };
            Text::data(format!("{mark}{}", change.value())).in_role(role)
        }));
    }
    lines
}

fn texts(lines: &[Text]) -> Vec<&str> {
    lines.iter().map(Text::as_str).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    use crate::render::style::testing::plain;

    fn lines(text: &str) -> Vec<Text> {
        Text::lines(text).collect()
    }

    #[test]
    fn changes_are_shown_with_context() {
        let old = lines("a\nb\nc\nd\ne\nf\ng\nh\ni\nj\nk\n");
        let new = lines("a\nb\nc\nd\nE\nf\ng\nh\ni\nj\nk\nl\n");
        let side = |name: &'static str, lines| UnifiedSide { name, lines };
        let diff = unified(
            side("deployment/web 1", &old),
            side("deployment/web 2", &new),
        );
        insta::assert_snapshot!(plain(diff), @"
        --- deployment/web 1
        +++ deployment/web 2
        @@ -2,10 +2,11 @@
         b
         c
         d
        -e
        +E
         f
         g
         h
         i
         j
         k
        +l
        ");
        assert!(unified(side("a", &old), side("b", &old)).is_empty());
    }
}
