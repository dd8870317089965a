//! The lines around the outline of a live view: its header, the sources that cannot be read, and its footer.

use super::age::{age, stopwatch};
use super::canvas::Canvas;
use super::count::counted;
use super::style::Look;
use super::text::escape_line;

/// The first line of a view: what it shows, where, and for how long. All texts are escaped here.
#[derive(Clone, Debug, Default)]
pub struct ViewHeader {
    /// What the view shows.
    pub name: String,
    /// Where it is and what it is. The last one gives way first.
    pub facts: Vec<String>,
    /// What gives way before everything else.
    pub context: Option<String>,
    /// What all of it amounts to, on the right.
    pub summary: String,
}

impl ViewHeader {
    /// The line. Where not all fits, the context goes first, then the clock, then the facts.
    pub fn line(&self, canvas: Canvas) -> String {
        let styles = canvas.look.styles;
        let name = styles.name(&escape_line(&self.name));
        let left = |facts: &[String], context: Option<&String>| {
            let facts = facts.iter().chain(context);
            facts.fold(name.clone(), |line, fact| {
                format!("{line}  {}", styles.dim(&escape_line(fact)))
            })
        };
        let clock = canvas
            .started
            .map(|started| stopwatch(canvas.now.duration_since(started)));
        let summary = Some(self.summary.clone()).filter(|summary| !summary.is_empty());
        let right: Vec<String> = summary.into_iter().chain(clock).collect();
        let right = right.join("  ");
        let facts = &self.facts[..];
        let shorter = (0..=facts.len()).rev();
        let shorter = shorter.map(|kept| (left(&facts[..kept], None), &self.summary));
        [
            (left(facts, self.context.as_ref()), &right),
            (left(facts, None), &right),
        ]
        .into_iter()
        .chain(shorter)
        .find_map(|(left, right)| canvas.spread(&left, right))
        .unwrap_or(name)
    }
}

/// How current a view is.
#[derive(Clone, Debug, Default)]
pub struct Connection {
    /// The state of the sources in a few words, painted.
    pub summary: String,
    /// The sources that cannot be read, a line each.
    pub refused: Vec<String>,
    /// How many sources there are.
    pub watches: usize,
    /// How many objects the view knows.
    pub objects: usize,
    /// When an object last changed.
    pub changed: Option<jiff::Timestamp>,
}

/// How many sources that cannot be read are named in a frame.
const NAMED: usize = 3;

impl Connection {
    /// The sources that cannot be read, a line each.
    pub fn refusals(&self, look: Look) -> Vec<String> {
        let lines = self.refused.iter();
        lines.map(|line| look.styles.dim(line)).collect()
    }

    /// The first of them, and how many more there are.
    pub fn first_refusals(&self, look: Look) -> Vec<String> {
        let mut lines = self.refusals(look);
        if lines.len() > NAMED {
            let more = lines.split_off(NAMED - 1).len();
            lines.push(
                look.styles
                    .dim(&format!("+ {more} more that cannot be read")),
            );
        }
        lines
    }

    /// The last line of a live view: how current it is, and how to end it.
    pub fn footer(&self, canvas: Canvas) -> String {
        let mut parts = vec![
            counted(self.objects, "object", "objects"),
            counted(self.watches, "watch", "watches"),
        ];
        if let Some(changed) = self.changed {
            parts.push(format!("last change {} ago", age(changed, canvas.now)));
        }
        let styles = canvas.look.styles;
        let left = format!("{}  {}", self.summary, styles.dim(&parts.join("  ")));
        canvas.line(&left, &styles.dim("Ctrl-C to end"))
    }
}
