//! `-o markdown`: a list for reports: an item for each version, and below it its changes.

use super::paths::Paths;
use super::{Audience, Format, VersionView};
use crate::commands::changes::output::Rendered;
use crate::render::style::{Look, Styles};

/// `-o markdown`. The lines are those of `-o paths`. In code, nothing of them is markup.
pub(super) struct Markdown;

impl Format for Markdown {
    fn audience(&self) -> Audience {
        Audience::Documents
    }

    fn version(&self, view: &VersionView<'_>) -> Rendered {
        let rendered = Paths.version(&VersionView {
            look: Look {
                styles: Styles::PLAIN,
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
fn item(lines: &[String]) -> Vec<String> {
    let Some((heading, changes)) = lines.split_first() else {
        return Vec::new();
    };
    let fence = fence(std::slice::from_ref(heading), 1);
    let mut item = vec![format!("- {fence} {heading} {fence}")];
    if !changes.is_empty() {
        let fence = self::fence(changes, 3);
        item.push(format!("  {fence}diff"));
        item.extend(changes.iter().map(|line| format!("  {line}")));
        item.push(format!("  {fence}"));
    }
    item
}

/// More backticks than any of these lines has in a row, and at least this many.
fn fence(lines: &[String], least: usize) -> String {
    let runs = lines
        .iter()
        .flat_map(|line| line.split(|c| c != '`').map(str::len));
    "`".repeat(runs.map(|run| run + 1).max().unwrap_or(0).max(least))
}

#[cfg(test)]
mod tests {
    use super::item;

    #[test]
    fn an_item_is_a_heading_and_a_block_that_nothing_in_it_ends() {
        let check = |lines: &[&str]| {
            let lines: Vec<String> = lines.iter().map(ToString::to_string).collect();
            item(&lines).join("\n")
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
