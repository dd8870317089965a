//! Which rows are shown where not all fit: what fails first, then what moves.

/// How much a row matters, the most first.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Weight {
    /// It was asked for.
    Asked,
    /// It is failing.
    Failing,
    /// It is on its way somewhere.
    Moving,
    /// It is well, and has not been for long.
    Recent,
    /// It is well.
    Healthy,
}

/// A row that is to be fitted in.
#[derive(Clone, Debug)]
pub(super) struct Candidate {
    /// The row above it in the tree, by its place.
    pub(super) parent: Option<usize>,
    /// How much it matters.
    pub(super) weight: Weight,
    /// The lines that explain it.
    pub(super) causes: Vec<String>,
}

/// What is shown of a row.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Kept {
    /// The row, with so many of its causes.
    Row {
        /// How many.
        causes: usize,
    },
    /// Nothing.
    No,
}

/// Chooses what is shown in no more than `budget` lines. What is above a row in the tree is shown with
/// it, and a cause that siblings share once.
pub(super) fn fold(rows: &[Candidate], budget: usize) -> Vec<Kept> {
    let lines: usize = rows.iter().map(|row| 1 + row.causes.len()).sum();
    if lines <= budget {
        return rows
            .iter()
            .map(|row| Kept::Row {
                causes: row.causes.len(),
            })
            .collect();
    }
    let mut kept = vec![Kept::No; rows.len()];
    let mut room = budget;
    let mut order: Vec<usize> = (0..rows.len()).collect();
    order.sort_by_key(|&place| rows[place].weight);
    for place in order {
        if room == 0 {
            break;
        }
        let chain = missing(rows, &kept, place);
        if chain.is_empty() || chain.len() > room {
            continue;
        }
        room -= chain.len();
        let causes = usize::from(room > 0 && tells_something(rows, &kept, place));
        room -= causes;
        for above in chain {
            kept[above] = Kept::Row { causes: 0 };
        }
        kept[place] = Kept::Row { causes };
    }
    kept
}

/// The row and those above it that are not shown yet.
fn missing(rows: &[Candidate], kept: &[Kept], place: usize) -> Vec<usize> {
    std::iter::successors(Some(place), |&at| rows[at].parent)
        .take_while(|&at| kept[at] == Kept::No)
        .collect()
}

/// Whether the first cause of a row is one that no sibling tells already.
fn tells_something(rows: &[Candidate], kept: &[Kept], place: usize) -> bool {
    let row = &rows[place];
    let Some(cause) = row.causes.first() else {
        return false;
    };
    !rows.iter().zip(kept).any(|(other, kept)| {
        matches!(kept, Kept::Row { causes: 1.. })
            && other.parent == row.parent
            && other.causes.first() == Some(cause)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Rows as `parent weight causes`; the answer as a letter each: shown, with its cause, or not.
    fn check(rows: &[(Option<usize>, Weight, &str)], budget: usize, expect: &str) {
        let candidates: Vec<Candidate> = rows
            .iter()
            .map(|&(parent, weight, cause)| Candidate {
                parent,
                weight,
                causes: (!cause.is_empty())
                    .then(|| cause.to_owned())
                    .into_iter()
                    .collect(),
            })
            .collect();
        let kept = fold(&candidates, budget);
        let letter = |kept: &Kept| match kept {
            Kept::No => '.',
            Kept::Row { causes: 0 } => 'r',
            Kept::Row { .. } => 'c',
        };
        let shown: String = kept.iter().map(letter).collect();
        assert_eq!(shown, expect, "{budget} lines");
        let lines: usize = kept
            .iter()
            .map(|kept| match kept {
                Kept::No => 0,
                Kept::Row { causes } => 1 + causes,
            })
            .sum();
        assert!(lines <= budget, "{lines} lines in {budget}");
    }

    #[test]
    fn what_fails_comes_first_and_healthy_rows_fill_up() {
        use Weight::{Asked, Failing, Healthy, Moving, Recent};
        let rows = [
            (None, Asked, ""),
            (Some(0), Moving, ""),
            (Some(1), Healthy, ""),
            (Some(1), Failing, "no image"),
            (Some(1), Failing, "no image"),
            (Some(0), Healthy, ""),
            (Some(5), Recent, ""),
            (Some(5), Healthy, ""),
        ];
        check(&rows, 10, "rrrccrrr");
        check(&rows, 9, "rrrcrrrr");
        check(&rows, 8, "rrrcrrr.");
        check(&rows, 7, "rr.crrr.");
        check(&rows, 5, "rr.cr...");
        check(&rows, 4, "rr.c....");
        check(&rows, 3, "rr.r....");
        check(&rows, 1, "r.......");
        check(&rows, 0, "........");
    }
}
