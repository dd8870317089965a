//! `StoryLine`: a line between the headline and the outline of a frame, and which of these lines a short screen leaves out.

use crate::object::counted;
use crate::render::canvas::Canvas;
use crate::render::text::Text;

/// A screen with fewer rows leaves out lines that say little, if the whole frame does not fit.
const SHORT: usize = 30;

/// A line of the story of an object.
pub(super) struct StoryLine {
    text: Text,
    /// What it is, if a short screen may leave it out.
    extra: Option<Extra>,
}

/// A line that says little.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Extra {
    /// A phase that has not begun.
    Phase,
    /// A condition that only repeats the headline.
    Condition,
}

impl From<Text> for StoryLine {
    fn from(text: Text) -> StoryLine {
        StoryLine { text, extra: None }
    }
}

impl StoryLine {
    /// The same line, of which a short screen may only show the number.
    pub(super) fn extra(self, extra: Extra) -> StoryLine {
        StoryLine {
            extra: Some(extra),
            ..self
        }
    }

    /// The lines for a canvas on which the rest of the frame takes `others` lines. Those without room are counted, the last
    /// ones first.
    pub(super) fn fit(lines: Vec<StoryLine>, others: usize, canvas: Canvas) -> Vec<Text> {
        let room = canvas.rows.filter(|rows| *rows < SHORT);
        let excess = room.map_or(0, |rows| (lines.len() + others).saturating_sub(rows));
        let extras = lines.iter().filter(|line| line.extra.is_some()).count();
        // The line that counts them takes the place of one.
        let left_out = if excess > 0 && extras > 1 {
            extras.min(excess + 1)
        } else {
            0
        };
        let mut shown = extras - left_out;
        let (mut texts, mut rest) = (Vec::new(), Vec::new());
        for line in lines {
            match line.extra {
                Some(extra) if shown == 0 => rest.push(extra),
                Some(_) => {
                    shown -= 1;
                    texts.push(line.text);
                }
                None => texts.push(line.text),
            }
        }
        let words = |of, one, many| {
            let count = rest.iter().filter(|extra| **extra == of).count();
            (count > 0).then(|| counted(count, one, many))
        };
        let words = [
            words(Extra::Phase, "phase", "phases"),
            words(Extra::Condition, "condition", "conditions"),
        ];
        let words: Vec<String> = words.into_iter().flatten().collect();
        let count = format!("+ {} ({})", words.join(", "), canvas.exit_key.reads_on());
        texts.extend((!words.is_empty()).then(|| Text::dim(count)));
        texts
    }
}
