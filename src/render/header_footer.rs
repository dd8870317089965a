//! The lines around the outline of a live view: the header, the sources that cannot be read, and the footer.

use super::age::{age, stopwatch};
use super::canvas::Canvas;
use super::count::plural;
use super::style::Look;
use super::text::{cut_end, escape_line, width};

/// The first line of a view: what it shows, in which place, and for how long. This type escapes all its
/// texts.
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
        .or_else(|| self.cut_name(canvas))
        .unwrap_or(name)
    }

    /// The beginning of the name beside the whole summary, or the summary alone; `None` without a summary.
    fn cut_name(&self, canvas: Canvas) -> Option<String> {
        let columns = canvas.look.width.filter(|_| !self.summary.is_empty())?;
        let room = columns.saturating_sub(width(&self.summary) + 2);
        if room < SHORTEST_NAME {
            return Some(self.summary.clone());
        }
        let name = escape_line(&self.name);
        let name = cut_end(&name, room, canvas.look.symbols.ellipsis);
        canvas.spread(&canvas.look.styles.name(&name), &self.summary)
    }
}

/// A name that is cut to fewer columns than this is dropped.
const SHORTEST_NAME: usize = 6;

/// How current a view is.
#[derive(Clone, Debug, Default)]
pub struct Freshness {
    /// The state of the sources in a few words, painted.
    pub summary: String,
    /// The clusters that cannot be read, one painted line each.
    pub clusters: Vec<String>,
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
    pub fn refusals(&self, look: Look) -> Vec<String> {
        let sources = self.refused.iter().map(|line| look.styles.dim(line));
        self.clusters.iter().cloned().chain(sources).collect()
    }

    /// The lines of the clusters, then the first ones of the sources, and the number of the others.
    pub fn first_refusals(&self, look: Look) -> Vec<String> {
        let mut lines = self.refusals(look);
        if self.refused.len() > NAMED {
            let more = lines.split_off(self.clusters.len() + NAMED - 1).len();
            lines.push(
                look.styles
                    .dim(&format!("+ {more} more that cannot be read")),
            );
        }
        lines
    }

    /// The last line of a live view: how current the view is, and how to quit.
    pub fn footer(&self, canvas: Canvas) -> String {
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
        let styles = canvas.look.styles;
        let left = format!("{}  {}", self.summary, styles.dim(&parts.join("  ")));
        canvas.line(&left, &styles.dim(canvas.exit_key.hint()))
    }
}
