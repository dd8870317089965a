//! Draws the branches of a tree: the text before each row, and before the lines below a row.

use std::borrow::Cow;

use crate::render::style::Symbols;

/// The most levels of a tree that are drawn. A row further down has the number of the levels above it that are left out:
/// otherwise a chain of a thousand owners would be a million branches.
const MAX_LEVELS: usize = 64;

/// The text before a row of a tree and before the lines that belong to it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Prefix {
    /// Before the row itself: `│ └─`.
    pub(super) row: Cow<'static, str>,
    /// The text before each line below the row. It is as wide as the row's own prefix.
    pub(super) below: Cow<'static, str>,
}

/// The prefixes of rows in depth-first order, given by their depths. Rows of depth 0 are roots and have no
/// prefix.
pub(super) fn prefixes(depths: &[usize], symbols: &Symbols) -> Vec<Prefix> {
    let mut prefixes: Vec<Prefix> = Vec::with_capacity(depths.len());
    // The loop runs from the last row to the first. `later[depth]` is whether a row of that depth and the
    // same parent follows the current one.
    let mut later = Vec::new();
    for &depth in depths.iter().rev() {
        let has_children = later.len() > depth + 1;
        later.resize(depth + 1, false);
        let column = |is_drawn: bool| if is_drawn { symbols.trunk } else { BLANK };
        let left_out = depth.saturating_sub(MAX_LEVELS);
        let mut above = if left_out > 0 {
            format!("+{left_out} ")
        } else {
            String::new()
        };
        let levels = later[..depth].iter().skip(1 + left_out);
        above.extend(levels.map(|&more| column(more)));
        let own = match (depth, later[depth]) {
            (0, _) => None,
            (_, true) => Some((symbols.branch, symbols.trunk)),
            (_, false) => Some((symbols.last_branch, BLANK)),
        };
        let below = column(has_children);
        prefixes.push(match own {
            None => Prefix {
                row: "".into(),
                below: below.into(),
            },
            Some((row, own)) => Prefix {
                row: format!("{above}{row}").into(),
                below: format!("{above}{own}{below}").into(),
            },
        });
        later[depth] = true;
    }
    prefixes.reverse();
    prefixes
}

/// The index of the parent of each row: the last one of a lower depth.
pub(super) fn parents(depths: &[usize]) -> Vec<Option<usize>> {
    let mut above: Vec<usize> = Vec::new();
    let parent = |(place, &depth): (usize, &usize)| {
        while above.last().is_some_and(|&at| depths[at] >= depth) {
            above.pop();
        }
        let parent = above.last().copied();
        above.push(place);
        parent
    };
    depths.iter().enumerate().map(parent).collect()
}

/// An empty column of the tree, as wide as [`Symbols::trunk`].
const BLANK: &str = "  ";

#[cfg(test)]
mod tests {
    use super::*;

    fn draw(rows: &[(usize, &str)], symbols: &Symbols) -> String {
        let depths: Vec<usize> = rows.iter().map(|&(depth, _)| depth).collect();
        let (mark, note) = (symbols.failed, symbols.note);
        let prefixes = prefixes(&depths, symbols).into_iter().zip(rows);
        let lines = prefixes.flat_map(|(prefix, (_, name))| {
            [
                format!("{}{mark} {name}", prefix.row),
                format!("{}{note}why", prefix.below),
            ]
        });
        lines.collect::<Vec<String>>().join("\n")
    }

    /// The trees of a trace begin at depth 1, and none of them is the child of another.
    #[test]
    fn the_parent_of_a_row_is_the_last_one_of_lower_depth() {
        let expect = [None, Some(0), Some(0), None, Some(3)];
        assert_eq!(parents(&[1, 2, 2, 1, 3]), expect);
    }

    const ROWS: [(usize, &str); 7] = [
        (0, "deployment/web"),
        (1, "replicaset/new"),
        (2, "pod/new-1"),
        (2, "pod/new-2"),
        (1, "replicaset/old"),
        (2, "pod/old-1"),
        (0, "deployment/api"),
    ];

    #[test]
    fn rows_are_drawn_below_their_parents() {
        insta::assert_snapshot!(draw(&ROWS, &Symbols::UNICODE), @"
        ✗ deployment/web
        │ └ why
        ├─✗ replicaset/new
        │ │ └ why
        │ ├─✗ pod/new-1
        │ │   └ why
        │ └─✗ pod/new-2
        │     └ why
        └─✗ replicaset/old
          │ └ why
          └─✗ pod/old-1
              └ why
        ✗ deployment/api
          └ why
        ");
    }

    #[test]
    fn ascii_symbols_keep_the_shape() {
        insta::assert_snapshot!(draw(&ROWS[..4], &Symbols::ASCII), @"
        x deployment/web
        | ` why
        `-x replicaset/new
          | ` why
          |-x pod/new-1
          |   ` why
          `-x pod/new-2
              ` why
        ");
    }

    #[test]
    fn of_deep_rows_the_last_levels_are_drawn() {
        let depths: Vec<usize> = (0..=1_000).collect();
        let prefixes = prefixes(&depths, &Symbols::UNICODE);
        let widths = [64, 65, 1_000].map(|depth| prefixes[depth].row.chars().count());
        assert_eq!(widths, [128, 131, 133]);
        assert!(prefixes[1_000].row.starts_with("+936  "));
        assert!(prefixes[1_000].row.ends_with(" └─"));
    }

    #[test]
    fn depths_that_skip_a_level_are_drawn() {
        let rows = [(1, "a"), (3, "b"), (1, "c")];
        insta::assert_snapshot!(draw(&rows, &Symbols::UNICODE), @"
        ├─✗ a
        │ │ └ why
        │   └─✗ b
        │       └ why
        └─✗ c
            └ why
        ");
        assert!(prefixes(&[], &Symbols::UNICODE).is_empty());
    }
}
