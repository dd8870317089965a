//! `LineStyle`: how times and names are written in lines. [`message_lines`]: a message in lines.

use std::sync::Arc;

use jiff::{SignedDuration, Timestamp};

use crate::env::Env;
use crate::object::ObjectRef;
use crate::render::age;
use crate::render::style::{Look, Role};
use crate::render::text::{Text, wrap};

/// The columns that both ends of an interval may have in common, `15:10:` or `15:`, and the length from which on they can have
/// them by chance.
const SHARED: [(usize, SignedDuration); 2] = [
    (6, SignedDuration::from_mins(1)),
    (3, SignedDuration::from_hours(1)),
];

/// The columns of a time of day.
const TIME: usize = 8;

/// How times and names are written in lines.
#[derive(Clone, Copy)]
pub(crate) struct LineStyle<'s> {
    pub(crate) look: Look,
    pub(crate) env: &'s Env,
    /// The namespace that lines need not name.
    pub(crate) namespace: Option<&'s Arc<str>>,
    /// The short name of the cluster, of several.
    pub(crate) cluster: Option<&'s Arc<str>>,
}

impl LineStyle<'_> {
    /// A time for a line.
    pub(crate) fn clock(&self, time: Timestamp) -> String {
        clock(time, self.look, self.env)
    }

    /// A time for a line, or the interval in which something happened: `15:10:00–15:10:09`. On a terminal, the end is without
    /// the hours and minutes that both times have: `15:10:00–09`.
    pub(crate) fn interval(&self, from: Timestamp, until: Option<Timestamp>) -> String {
        let start = self.clock(from);
        let Some(until) = until else {
            return self.in_cluster(start);
        };
        let (end, length) = (self.clock(until), until.duration_since(from));
        // A time of another day begins with its date.
        let date = start.len().saturating_sub(TIME);
        let same = match self.look.width {
            Some(_) => SHARED.into_iter().find(|(columns, longest)| {
                let columns = date + columns;
                length < *longest && start.get(..columns) == end.get(..columns)
            }),
            None => None,
        };
        let columns = same.map_or(0, |(columns, _)| date + columns);
        self.in_cluster(format!(
            "{start}–{}",
            end.get(columns..).unwrap_or_default()
        ))
    }

    /// A time, with the cluster if there are several: `15:10:00 us`.
    pub(crate) fn in_cluster(&self, time: String) -> String {
        match self.cluster {
            Some(cluster) => format!("{time} {cluster}"),
            None => time,
        }
    }

    /// The name of an object, with the flag for its namespace if lines must name it.
    pub(crate) fn name(&self, object: &ObjectRef) -> String {
        match self.place(object) {
            Some(place) => format!("{object}  {place}"),
            None => object.to_string(),
        }
    }

    /// The flag for the object's namespace, such as `-n shop`. `None` if lines need not name it.
    pub(crate) fn place(&self, object: &ObjectRef) -> Option<String> {
        let namespace = object.namespace.as_ref()?;
        (Some(namespace) != self.namespace).then(|| format!("-n {namespace}"))
    }
}

/// A message in as many lines as it needs. A word that is wider than the terminal is cut in its middle.
pub(crate) fn message_lines(role: Role, message: &str, look: Look) -> Vec<Text> {
    let columns = look.width.unwrap_or(usize::MAX);
    let lines = wrap(message, columns, usize::MAX).into_iter();
    let lines = lines.map(|line| Text::new(role, line));
    lines
        .map(|line| line.fit_middle(columns, look.symbols.ellipsis))
        .collect()
}

/// A time for the output: with the date, unless there is a terminal and it is of today.
pub(crate) fn clock(time: Timestamp, look: Look, env: &Env) -> String {
    match look.width {
        Some(_) => age::clock_since(time, env.now(), &env.zone),
        None => age::rfc3339_brief(time),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::render::style::testing::plain;
    use crate::render::style::{Styles, Symbols};

    #[test]
    fn a_message_has_as_many_lines_as_it_needs() {
        let lines = |width| {
            let look = Look {
                width,
                styles: Styles::PLAIN,
                symbols: &Symbols::UNICODE,
            };
            let name =
                "deployment/very-long-release-name-frontend-web-canary-blue-7f9d8c6b5d-x2k4q";
            let message =
                format!("created in the window, but the server has compacted that version: {name}");
            plain(message_lines(Role::Dim, &message, look))
        };
        insta::assert_snapshot!(lines(None), @"created in the window, but the server has compacted that version: deployment/very-long-release-name-frontend-web-canary-blue-7f9d8c6b5d-x2k4q");
        insta::assert_snapshot!(lines(Some(80)), @"
        created in the window, but the server has compacted that version:
        deployment/very-long-release-name-frontend-web-canary-blue-7f9d8c6b5d-x2k4q
        ");
        insta::assert_snapshot!(lines(Some(60)), @"
        created in the window, but the server has compacted that
        version:
        deployment/very-long-release-…b-canary-blue-7f9d8c6b5d-x2k4q
        ");
    }
}
