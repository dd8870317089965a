//! Writes two texts as a unified diff, the format of `diff -u`, patch tools and pagers
//! (<https://www.gnu.org/software/diffutils/manual/html_node/Detailed-Unified.html>).

use similar::udiff::UnifiedHunkHeader;
use similar::{ChangeTag, group_diff_ops};

use super::style::Role;
use super::text::Text;
use crate::diff::line_ops;

/// The number of unchanged lines around a change.
const CONTEXT: usize = 3;

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
    let (olds, news) = (texts(old.lines), texts(new.lines));
    let hunks = group_diff_ops(line_ops(&olds, &news), CONTEXT);
    if hunks.is_empty() {
        return Vec::new();
    }
    let mut lines = vec![
        Text::new(Role::Heading, format!("--- {}", old.name)),
        Text::new(Role::Heading, format!("+++ {}", new.name)),
    ];
    for hunk in hunks {
        let header = UnifiedHunkHeader::new(&hunk).to_string();
        lines.push(Text::new(Role::Moving, header));
        let slices = hunk
            .iter()
            .flat_map(|op| op.iter_slices(&olds[..], &news[..]));
        lines.extend(slices.flat_map(|(tag, slice)| {
            let (role, mark) = match tag {
                ChangeTag::Equal => (Role::Plain, ' '),
                ChangeTag::Delete => (Role::Removed, '-'),
                ChangeTag::Insert => (Role::Added, '+'),
            };
            let line = move |line: &&str| Text::data(format!("{mark}{line}")).in_role(role);
            slice.iter().map(line)
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
