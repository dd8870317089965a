//! The lines that draw a tree: what stands before each row, and before the lines below it.

use crate::render::style::Symbols;

/// What stands before a row of a tree and before the lines that belong to it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Prefix {
    /// Before the row itself: `│ └─`.
    pub(super) row: String,
    /// Before each line below the row that explains it, up to the column in which the row's own
    /// text starts.
    pub(super) below: String,
}

/// The prefixes of rows in depth-first order, each given by its depth; rows of depth 0 are roots and
/// have none.
pub(super) fn prefixes(depths: &[usize], symbols: &Symbols) -> Vec<Prefix> {
    let mut prefixes: Vec<Prefix> = Vec::with_capacity(depths.len());
    // From the last row to the first: `later[depth]` is whether a row of that depth, and of the same
    // parent, comes below the one at hand.
    let mut later = Vec::new();
    for &depth in depths.iter().rev() {
        let has_children = later.len() > depth + 1;
        later.resize(depth + 1, false);
        let column = |is_drawn: bool| if is_drawn { symbols.trunk } else { BLANK };
        let above: String = later
            .iter()
            .take(depth)
            .skip(1)
            .map(|&more| column(more))
            .collect();
        let (row, own) = match (depth, later[depth]) {
            (0, _) => ("", ""),
            (_, true) => (symbols.branch, symbols.trunk),
            (_, false) => (symbols.last_branch, BLANK),
        };
        prefixes.push(Prefix {
            row: format!("{above}{row}"),
            below: format!("{above}{own}{}", column(has_children)),
        });
        later[depth] = true;
    }
    prefixes.reverse();
    prefixes
}

/// A column of the tree that holds nothing, as wide as [`Symbols::trunk`].
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
    fn rows_hang_from_their_parents() {
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
    fn ascii_keeps_the_shape() {
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
