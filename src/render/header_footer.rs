//! The lines around the outline of a live view: the header, the sources that cannot be read, and the footer.

use super::age::{age, stopwatch};
use super::canvas::Canvas;
use super::count::plural;
use super::style::Role;
use super::text::Text;

/// The first line of a view: what it shows, in which place, and for how long.
#[derive(Clone, Debug, Default)]
pub struct ViewHeader {
    /// What the view shows.
    pub name: String,
    /// Facts about the place and the object. If space is short, the last one is dropped first.
    pub facts: Vec<String>,
    /// The text that is dropped before all others if space is short.
    pub context: Option<String>,
    /// The overall result, on the right.
    pub summary: String,
}

impl ViewHeader {
    /// The line. If space is short, it drops the context first, then the clock, then the facts. Then it cuts the name, and
    /// drops it before the summary is cut.
    pub fn line(&self, canvas: Canvas) -> Text {
        let name = Text::new(Role::Name, &self.name);
        let summary = Text::from(&self.summary);
        let left = |facts: &[String], context: Option<&String>| {
            let facts = facts.iter().chain(context);
            facts.fold(name.clone(), |line, fact| line + "  " + Text::dim(fact))
        };
        let clock = canvas.started.map(|started| {
            let gap = if summary.is_empty() { "" } else { "  " };
            format!("{gap}{}", stopwatch(canvas.now.duration_since(started)))
        });
        let right = summary.clone() + clock.unwrap_or_default();
        let facts = &self.facts[..];
        let shorter = (0..=facts.len()).rev();
        let shorter = shorter.map(|kept| (left(&facts[..kept], None), &summary));
        [
            (left(facts, self.context.as_ref()), &right),
            (left(facts, None), &right),
        ]
        .into_iter()
        .chain(shorter)
        .find_map(|(left, right)| canvas.spread(&left, right))
        .unwrap_or_else(|| {
            let columns = canvas.look.width.unwrap_or(usize::MAX);
            let room = columns.saturating_sub(summary.width() + 2);
            if summary.is_empty() {
                name.clone()
            } else if room < SHORTEST_NAME {
                summary.clone()
            } else {
                let name = name.clone().fit(room, canvas.look.symbols.ellipsis);
                canvas.line(name, &summary)
            }
        })
    }
}

/// A name that is cut to fewer columns than this is dropped.
const SHORTEST_NAME: usize = 6;

/// How current a view is.
#[derive(Clone, Debug, Default)]
pub struct Freshness {
    /// The state of the sources in a few words.
    pub summary: Text,
    /// The clusters that cannot be read, one line each.
    pub clusters: Vec<Text>,
    /// The sources that cannot be read, one line each.
    pub refused: Vec<String>,
    /// The number of sources.
    pub watches: usize,
    /// The number of objects in the view.
    pub objects: usize,
    /// The number of versions so far, and how many of them are hidden; `None` if the view shows no versions.
    pub versions: Option<(usize, usize)>,
    /// The time at which an object last changed.
    pub changed: Option<jiff::Timestamp>,
}

/// The limit of unreadable sources that a frame names.
const NAMED: usize = 3;

impl Freshness {
    /// The clusters and the sources that cannot be read, one line each.
    pub fn refusals(&self) -> Vec<Text> {
        let sources = self.refused.iter().map(Text::dim);
        self.clusters.iter().cloned().chain(sources).collect()
    }

    /// The lines of the clusters, then the first ones of the sources, and the number of the others.
    pub fn first_refusals(&self) -> Vec<Text> {
        let mut lines = self.refusals();
        if self.refused.len() > NAMED {
            let more = lines.split_off(self.clusters.len() + NAMED - 1).len();
            lines.push(Text::dim(format!("+ {more} more that cannot be read")));
        }
        lines
    }

    /// The last line of a live view: how current the view is, and how to quit.
    pub fn footer(&self, canvas: Canvas) -> Text {
        let mut parts = vec![
            plural(self.objects, "object"),
            plural(self.watches, "watch"),
        ];
        if let Some((versions, hidden)) = self.versions {
            let hidden = match hidden {
                0 => String::new(),
                hidden => format!(" ({hidden} hidden)"),
            };
            parts.push(plural(versions, "version") + &hidden);
        }
        match self.changed {
            Some(changed) => parts.push(format!("last change {} ago", age(changed, canvas.now))),
            None if self.versions.is_some() => parts.push("no change yet".to_owned()),
            None => {}
        }
        let left = self.summary.clone() + "  " + Text::dim(parts.join("  "));
        canvas.line(left, &Text::dim(canvas.exit_key.hint()))
    }
}
