//! `Pager`: the part of a frame that a terminal shows if the whole does not fit and the user turns pages.

use super::text::Text;

/// How many lines at the top of a frame stay: its title and the titles of its columns.
const HEAD: usize = 2;

/// The page that is open.
#[derive(Clone, Copy, Debug, Default)]
pub struct Pager {
    /// The first line below the head; `None` while the frame fits itself to the screen.
    from: Option<usize>,
    /// How many lines the last page had.
    height: usize,
}

/// What a key does with the page.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Turn {
    /// To the next page. The first one shows the beginning of the whole.
    NextPage,
    /// To the page before, and from the first one to the fitted frame.
    PageBefore,
    /// One line on.
    NextLine,
    /// One line back.
    LineBefore,
    /// To the first page.
    First,
    /// To the last page.
    Last,
}

impl Pager {
    /// Whether a page is open, so that a frame must be whole.
    pub fn is_open(&self) -> bool {
        self.from.is_some()
    }

    /// Turns the page.
    pub fn turn(&mut self, turn: Turn) {
        let page = self.height.max(1);
        self.from = match (self.from, turn) {
            (_, Turn::Last) => Some(usize::MAX),
            (None, Turn::PageBefore | Turn::LineBefore) | (Some(0), Turn::PageBefore) => None,
            (None, Turn::NextPage | Turn::NextLine | Turn::First) | (_, Turn::First) => Some(0),
            (Some(from), Turn::NextPage) => Some(from.saturating_add(page)),
            (Some(from), Turn::PageBefore) => Some(from.saturating_sub(page)),
            (Some(from), Turn::NextLine) => Some(from.saturating_add(1)),
            (Some(from), Turn::LineBefore) => Some(from.saturating_sub(1)),
        };
    }

    /// The lines of a frame that the open page shows, at most `rows`: the head, the page, its place and the last line. A
    /// frame that fits closes the page.
    pub fn page(&mut self, mut frame: Vec<Text>, rows: usize) -> Vec<Text> {
        let Some(from) = self.from else {
            return frame;
        };
        let around = HEAD + 2;
        if frame.len() <= rows || rows <= around {
            self.from = None;
            return frame;
        }
        let lines = frame.len() - HEAD - 1;
        self.height = rows - around;
        let from = from.min(lines - self.height);
        self.from = Some(from);
        let until = from + self.height;
        let place = format!(
            "lines {}-{until} of {lines} (space: next page, b: back)",
            from + 1
        );
        let last = frame.split_off(HEAD + lines);
        frame.truncate(HEAD + until);
        frame.drain(HEAD..HEAD + from);
        frame.push(Text::dim(place));
        frame.extend(last);
        frame
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The pages of a frame with eleven lines on a screen with seven rows, after each of these turns.
    fn pages(turns: &[Turn]) -> Vec<String> {
        let lines = [
            "title", "columns", "1", "2", "3", "4", "5", "6", "7", "8", "end",
        ];
        let mut pager = Pager::default();
        let page = |turn: &Turn| {
            pager.turn(*turn);
            let frame = lines.map(Text::from).to_vec();
            let rows = pager.page(frame, 7);
            assert!(!pager.is_open() || rows.len() == 7, "{rows:?}");
            assert_eq!(rows.last().map(Text::as_str), Some("end"));
            let body = &rows[HEAD..rows.len() - 1];
            let body: Vec<&str> = body.iter().map(Text::as_str).collect();
            body.join(" ").replace(" (space: next page, b: back)", "")
        };
        turns.iter().map(page).collect()
    }

    #[test]
    fn pages_go_on_and_back() {
        use Turn::{First, Last, LineBefore, NextLine, NextPage, PageBefore};
        let [first, second, end] = [
            "1 2 3 lines 1-3 of 8",
            "4 5 6 lines 4-6 of 8",
            "6 7 8 lines 6-8 of 8",
        ];
        assert_eq!(
            pages(&[NextPage, NextPage, NextPage, NextPage, PageBefore]),
            [first, second, end, end, "3 4 5 lines 3-5 of 8"]
        );
        let fitted = "1 2 3 4 5 6 7 8";
        assert_eq!(
            pages(&[PageBefore, NextLine, NextLine, LineBefore, PageBefore]),
            [fitted, first, "2 3 4 lines 2-4 of 8", first, fitted]
        );
        assert_eq!(pages(&[Last, First]), [end, first]);
    }

    #[test]
    fn a_frame_that_fits_closes_the_page() {
        let mut pager = Pager::default();
        for rows in [0, 3, 4, 5] {
            pager.turn(Turn::NextPage);
            let frame = ["title", "columns", "end"].map(Text::from).to_vec();
            assert_eq!(pager.page(frame, rows).len(), 3);
            assert!(!pager.is_open());
        }
    }
}
