//! `-o markdown`: a list for reports: an item for each version, and below it its changes.

use super::paths::Paths;
use super::{Audience, Format, VersionView};
use crate::commands::changes::output::Rendered;
use crate::render::style::{Look, Role};
use crate::render::text::Text;

/// `-o markdown`. The lines are those of `-o paths`. In code, nothing of them is markup.
pub(super) struct Markdown;

impl Format for Markdown {
    fn audience(&self) -> Audience {
        Audience::Documents
    }

    fn version(&self, view: &VersionView<'_>) -> Rendered {
        let rendered = Paths.version(&VersionView {
            look: Look {
                width: None,
                ..view.look
            },
            ..*view
        });
        Rendered {
            lines: item(&rendered.lines),
            ..rendered
        }
    }
}

/// A list item: the first of these lines, and the others in a block below it.
fn item(lines: &[Text]) -> Vec<Text> {
    let Some((heading, changes)) = lines.split_first() else {
        return Vec::new();
    };
    let fence = fence(std::slice::from_ref(heading), 1);
    let mut item = vec![Text::from(format!("- {fence} {heading} {fence}"))];
    if !changes.is_empty() {
        let fence = self::fence(changes, 3);
        item.push(format!("  {fence}diff").into());
        let changes = changes.iter();
        item.extend(changes.map(|line| (Text::from("  ") + line).in_role(Role::Plain)));
        item.push(format!("  {fence}").into());
    }
    item
}

/// More backticks than any of these lines has in a row, and at least this many.
fn fence(lines: &[Text], least: usize) -> String {
    let runs = lines
        .iter()
        .flat_map(|line| line.as_str().split(|c| c != '`').map(str::len));
    "`".repeat(runs.map(|run| run + 1).max().unwrap_or(0).max(least))
}

#[cfg(test)]
mod tests {
    use super::{Text, item};
    use crate::render::style::testing::plain;

    #[test]
    fn an_item_is_a_heading_and_a_block_that_nothing_in_it_ends() {
        let check = |lines: &[&str]| {
            let lines: Vec<Text> = lines.iter().map(Text::from).collect();
            plain(item(&lines))
        };
        assert_eq!(check(&[]), "");
        assert_eq!(check(&["DELETED pod/a"]), "- ` DELETED pod/a `");
        assert_eq!(
            check(&["MODIFIED pod/a", "~ .a: 1 → 2"]),
            "- ` MODIFIED pod/a `\n  ```diff\n  ~ .a: 1 → 2\n  ```"
        );
        assert_eq!(
            check(&["MODIFIED `x`", "+ .a: \"````\"", "- .b: `"]),
            "- `` MODIFIED `x` ``\n  `````diff\n  + .a: \"````\"\n  - .b: `\n  `````"
        );
    }
}
