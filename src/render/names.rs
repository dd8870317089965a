//! Cuts the names in a line, so that its reasons and counts have room.

use std::borrow::Cow;
use std::ops::Range;

use super::style::Look;
use super::text::{cut_middle, width};

/// The columns that a name keeps.
const LEAST: usize = 16;

/// A text whose names are cut until it fits into a line after `start`. `start` may be painted, the text may not.
pub fn fit_names<'t>(start: &str, text: &'t str, look: Look) -> Cow<'t, str> {
    match look.width {
        Some(columns) => {
            let room = columns.saturating_sub(width(start));
            shorten_names(text, room, look.symbols.ellipsis)
        }
        None => Cow::Borrowed(text),
    }
}

/// Cuts the longest names in unpainted text in the middle until the text is at most `columns` wide, but no name to fewer
/// than 16 columns. A name is a word with a dash or a slash: the words for states and reasons have neither.
fn shorten_names<'t>(text: &'t str, columns: usize, ellipsis: &str) -> Cow<'t, str> {
    let mut shortened = Cow::Borrowed(text);
    loop {
        let excess = width(&shortened).saturating_sub(columns);
        let Some(name) = longest_name(&shortened).filter(|_| excess > 0) else {
            return shortened;
        };
        let room = width(&shortened[name.clone()]).saturating_sub(excess);
        let cut = cut_middle(&shortened[name.clone()], room.max(LEAST), ellipsis).into_owned();
        shortened.to_mut().replace_range(name, &cut);
    }
}

/// The place of the longest name that can be cut.
fn longest_name(text: &str) -> Option<Range<usize>> {
    let mut end = 0;
    let words = text.split(' ').map(|word| {
        let start = end;
        end = start + word.len() + 1;
        start..start + word.len()
    });
    let is_name = |word: &Range<usize>| {
        let word = &text[word.clone()];
        word.contains(['-', '/']) && width(word) > LEAST
    };
    words
        .filter(is_name)
        .max_by_key(|word| width(&text[word.clone()]))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_give_way_to_reasons_and_counts() {
        for (text, columns, expect) in [
            (
                "0/3 pulled; frontend-7c5ddbdf54-bbl4w ErrImagePull",
                50,
                "0/3 pulled; frontend-7c5ddbdf54-bbl4w ErrImagePull",
            ),
            (
                "0/3 pulled; frontend-7c5ddbdf54-bbl4w ErrImagePull",
                44,
                "0/3 pulled; frontend-…f54-bbl4w ErrImagePull",
            ),
            (
                "0/3 pulled; frontend-7c5ddbdf54-bbl4w CreateContainerConfigError",
                20,
                "0/3 pulled; fronten…54-bbl4w CreateContainerConfigError",
            ),
            (
                "owners: deployment/frontend > replicaset/frontend-7c5ddbdf54 #2   1/1 pods",
                62,
                "owners: deployment/frontend > replicas…c5ddbdf54 #2   1/1 pods",
            ),
            (
                "owners: deployment/frontend > replicaset/frontend-7c5ddbdf54 #2   1/1 pods",
                40,
                "owners: deploym…frontend > replica…5ddbdf54 #2   1/1 pods",
            ),
        ] {
            assert_eq!(shorten_names(text, columns, "…"), expect, "{columns}");
        }
    }
}
