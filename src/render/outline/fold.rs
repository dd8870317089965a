//! Chooses the items to show if space is short: first those of named objects, then failing items, then items in
//! transition, then those that only repeat what others say; of these, first those with the fewest items above them.

use super::item::{ItemBody, OutlineItem, Weight, parents};
use crate::status::Status;

/// How much of an item is shown.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Fitted {
    /// The item with its first lines.
    With {
        /// The number of lines below it: causes, then rules.
        below: usize,
    },
    /// The item is hidden.
    No,
}

/// Chooses the items to show in at most `budget` lines of this width. An item is shown with all its ancestors. The causes of
/// items that are not well, and the changes that may have led to them, are shown and have room for their ends before items
/// that repeat others or are healthy.
pub(super) fn fold(items: &[OutlineItem], budget: usize, width: usize) -> Vec<Fitted> {
    let lines: usize = items.iter().map(|item| 1 + item.count_below()).sum();
    if lines <= budget {
        let whole = items.iter().map(|item| Fitted::With {
            below: item.count_below(),
        });
        return whole.collect();
    }
    let depths: Vec<usize> = items.iter().map(|item| item.depth).collect();
    let mut fold = Folding {
        items,
        parents: parents(&depths),
        fitted: vec![Fitted::No; items.len()],
        room: budget,
    };
    let mut order: Vec<usize> = (0..items.len()).collect();
    order.sort_by_key(|&place| {
        let item = &items[place];
        (!item.is_named, item.weight, item.depth)
    });
    let (urgent, others): (Vec<usize>, Vec<usize>) = order.into_iter().partition(|place| {
        let item = &items[*place];
        item.is_named || item.weight <= Weight::Moving
    });
    fold.show(&urgent);
    fold.explain(&urgent, width);
    fold.show(&others);
    fold.fitted
}

struct Folding<'i> {
    items: &'i [OutlineItem],
    /// The index of each item's parent.
    parents: Vec<Option<usize>>,
    fitted: Vec<Fitted>,
    /// How many lines are left.
    room: usize,
}

impl Folding<'_> {
    /// Shows items in this order, each with its ancestors, its first cause and its first change.
    fn show(&mut self, order: &[usize]) {
        for &place in order {
            if self.room == 0 {
                return;
            }
            let chain = self.missing(place);
            if chain.is_empty() || chain.len() > self.room {
                continue;
            }
            self.room -= chain.len();
            let below = self.items[place].count_essential().min(self.room);
            self.room -= below;
            for above in chain {
                self.fitted[above] = Fitted::With { below: 0 };
            }
            self.fitted[place] = Fitted::With { below };
        }
    }

    /// Shows all causes and changes of those of these items that are not well and are shown, and keeps room for long ones.
    fn explain(&mut self, order: &[usize], width: usize) {
        for &place in order {
            let item = &self.items[place];
            let Fitted::With { below } = &mut self.fitted[place] else {
                continue;
            };
            if item.weight <= Weight::Moving {
                let reasons = item.reasons().count();
                let more = (reasons - *below).min(self.room);
                *below += more;
                // The branches of the tree take some of the width.
                let width = width.saturating_sub(2 * item.depth + 4).max(1);
                let lines = item.reasons().take(*below);
                let ends = lines.map(|cause| cause.width() / width).sum();
                self.room -= more;
                self.room -= self.room.min(ends);
            }
        }
    }

    /// The item and its ancestors, as far as they are not shown yet. If they do not fit, one more than fit.
    fn missing(&self, place: usize) -> Vec<usize> {
        std::iter::successors(Some(place), |&at| self.parents[at])
            .take_while(|&at| self.fitted[at] == Fitted::No)
            .take(self.room + 1)
            .collect()
    }
}

/// The numbers of hidden items, by state, with those `beyond` the items, which are healthy.
pub(super) fn omitted(items: &[OutlineItem], fitted: &[Fitted], beyond: usize) -> String {
    let (mut failing, mut moving, mut healthy, mut lines) = (0, 0, beyond, 0);
    for (item, _) in items
        .iter()
        .zip(fitted)
        .filter(|(_, fitted)| **fitted == Fitted::No)
    {
        match (&item.body, item.weight) {
            (ItemBody::Line { .. }, _) | (_, Weight::Line) => lines += 1,
            (ItemBody::Row { status, .. }, _) => match status {
                Status::Failed => failing += 1,
                Status::Current => healthy += 1,
                Status::InProgress | Status::Terminating | Status::NotFound | Status::Unknown => {
                    moving += 1;
                }
            },
        }
    }
    let counts = [
        (failing, "failing"),
        (moving, "in progress"),
        (healthy, "healthy"),
        (lines, "more"),
    ];
    let counts = counts.iter().filter(|(count, _)| *count > 0);
    let counts: Vec<String> = counts
        .map(|(count, what)| format!("{count} {what}"))
        .collect();
    format!("+ {}", counts.join(", "))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Items as `depth weight cause`. The result has one letter for each item: shown, shown with its cause,
    /// or hidden.
    fn check(rows: &[(usize, Weight, &str)], budget: usize, expect: &str) {
        let item = |&(depth, weight, cause): &(usize, Weight, &str)| {
            let row = OutlineItem::row(depth, Status::Current, Vec::new());
            row.weighing(weight).because([cause])
        };
        let items: Vec<OutlineItem> = rows.iter().map(item).collect();
        let fitted = fold(&items, budget, 80);
        let letter = |fitted: &Fitted| match fitted {
            Fitted::No => '.',
            Fitted::With { below: 0 } => 'r',
            Fitted::With { .. } => 'c',
        };
        let shown: String = fitted.iter().map(letter).collect();
        assert_eq!(shown, expect, "{budget} lines");
        let lines = fitted.iter().map(|fitted| match fitted {
            Fitted::No => 0,
            Fitted::With { below } => 1 + below,
        });
        let lines: usize = lines.sum();
        assert!(lines <= budget, "{lines} lines in {budget}");
    }

    #[test]
    fn failing_rows_come_first_and_healthy_rows_fill_the_rest() {
        use Weight::{Failing, Healthy, Moving, Recent};
        let rows = [
            (0, Moving, ""),
            (1, Moving, ""),
            (2, Healthy, ""),
            (2, Failing, "no image"),
            (2, Failing, ""),
            (1, Healthy, ""),
            (2, Recent, ""),
            (2, Healthy, ""),
        ];
        check(&rows, 10, "rrrcrrrr");
        check(&rows, 9, "rrrcrrrr");
        check(&rows, 8, "rrrcrrr.");
        check(&rows, 7, "rr.crrr.");
        check(&rows, 5, "rr.cr...");
        check(&rows, 4, "rr.c....");
        check(&rows, 3, "rr.r....");
        check(&rows, 1, "r.......");
        check(&rows, 0, "........");
    }

    #[test]
    fn a_named_row_that_fails_comes_before_one_that_is_healthy_and_each_counts_by_its_state() {
        use Weight::{Failing, Healthy, Moving};
        let named = [Healthy, Failing, Moving, Healthy, Failing];
        let item = |weight| {
            let status = match weight {
                Failing => Status::Failed,
                Moving => Status::InProgress,
                _ => Status::Current,
            };
            OutlineItem::row(0, status, Vec::new()).weighing(weight)
        };
        let mut items = vec![item(Failing)];
        items.extend(named.map(|weight| item(weight).named()));
        let check = |budget, expect: [bool; 6], count| {
            let fitted = fold(&items, budget, 80);
            let shown: Vec<bool> = fitted.iter().map(|it| *it != Fitted::No).collect();
            assert_eq!(shown, expect, "{budget} lines");
            let text = omitted(&items, &fitted, 0);
            assert_eq!(text, format!("+ {count}"));
        };
        let f = false;
        check(
            2,
            [f, f, true, f, f, true],
            "1 failing, 1 in progress, 2 healthy",
        );
        check(4, [f, true, true, true, f, true], "1 failing, 1 healthy");
    }

    #[test]
    fn a_row_in_progress_that_is_as_urgent_as_a_failure_counts_as_in_progress() {
        let row = OutlineItem::row(0, Status::InProgress, Vec::new());
        let items = [row.weighing(Weight::Failing)];
        assert_eq!(omitted(&items, &[Fitted::No], 0), "+ 1 in progress");
    }

    /// Three objects fail, each with two causes and a change. Another one and a Service only repeat the first of them.
    #[test]
    fn causes_and_changes_come_before_rows_that_repeat_them() {
        use Weight::{Failing, Healthy, Repeating};
        let item =
            |depth, weight| OutlineItem::row(depth, Status::Failed, Vec::new()).weighing(weight);
        let failing = |name: &str| {
            let causes = [format!("{name} fails"), format!("{name} fails so")];
            item(0, Failing).because(causes).after(["changed by bob"])
        };
        let items = [
            item(0, Healthy),
            failing("a"),
            item(1, Repeating).because(["a"]),
            failing("b"),
            failing("c"),
            item(0, Repeating).because(["a"]),
        ];
        let check = |budget, expect: [usize; 6]| {
            let fitted = fold(&items, budget, 80);
            let lines = |fitted: &Fitted| match fitted {
                Fitted::With { below } => 1 + below,
                Fitted::No => 0,
            };
            let shown: Vec<usize> = fitted.iter().map(lines).collect();
            assert_eq!(shown, expect, "{budget} lines");
        };
        check(17, [1, 4, 2, 4, 4, 2]);
        check(14, [0, 4, 0, 4, 4, 2]);
        check(12, [0, 4, 0, 4, 4, 0]);
        check(10, [0, 4, 0, 3, 3, 0]);
        check(6, [0, 3, 0, 3, 0, 0]);
        check(4, [0, 3, 0, 1, 0, 0]);
    }

    /// The work of folding grows with the shown items, not with all items.
    #[test]
    fn a_long_outline_is_folded_quickly() {
        let rows = vec![(1, Weight::Healthy, ""); 200_000];
        let item = |&(depth, weight, _): &(usize, Weight, &str)| {
            OutlineItem::row(depth, Status::Current, Vec::new()).weighing(weight)
        };
        let items: Vec<OutlineItem> = rows.iter().map(item).collect();
        let shown = fold(&items, 20, 80)
            .into_iter()
            .filter(|fitted| *fitted != Fitted::No);
        assert_eq!(shown.count(), 20);
    }
}
