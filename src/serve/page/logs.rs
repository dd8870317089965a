//! The last lines of the containers of an object, as `logs` reads them.

use std::collections::BTreeSet;

use jiff::Timestamp;
use maud::{Markup, html};
use serde::Deserialize;
use serde_json::Value as Json;

use super::{MAX_ROWS, Shown};
use crate::render::age::rfc3339;
use crate::serve::params::Params;

/// A record of `logs -o json`, as far as the page shows it.
#[derive(Clone, Debug, Deserialize)]
struct LoggedLine {
    time: Option<Timestamp>,
    #[serde(default)]
    pod: String,
    #[serde(default)]
    container: String,
    line: Option<String>,
    /// The line, if it is a JSON object.
    fields: Option<Json>,
    /// A message about the log.
    message: Option<String>,
}

impl LoggedLine {
    fn text(&self) -> Option<String> {
        let fields = || self.fields.as_ref().map(Json::to_string);
        self.line.clone().or_else(fields)
    }
}

/// The lines of these records, the newest last.
pub(super) fn logs(records: &str, query: &Params) -> Markup {
    let all = records.lines();
    let all: Vec<LoggedLine> = all
        .filter_map(|line| serde_json::from_str(line).ok())
        .collect();
    let (lines, messages): (Vec<_>, Vec<_>) = all.iter().partition(|it| it.text().is_some());
    let beyond = lines.len().saturating_sub(MAX_ROWS);
    html! {
        (instances(query))
        (containers(&lines, query))
        @if lines.is_empty() { p.empty { "No container has printed a line." } }
        @if beyond > 0 { p { "the last " (MAX_ROWS) " lines; " (beyond) " lines are before them" } }
        ol.log { @for line in &lines[beyond..] { (shown(line)) } }
        @for message in messages.iter().filter_map(|it| it.message.as_ref()).take(MAX_ROWS) { p.dim { (Shown(message)) } }
    }
}

/// Links to what runs, and to what ran before it.
fn instances(query: &Params) -> Markup {
    let is_previous = query.first("previous") == Some("true");
    let current = |is_it: bool| is_it.then_some("true");
    html! {
        nav.chips aria-label="Instances" {
            a href=(query.with("previous", "false")) aria-current=[current(!is_previous)] { "Running" }
            a href=(query.with("previous", "true")) aria-current=[current(is_previous)] { "Before the last restart" }
        }
    }
}

/// Links to the lines of one container, if there are several.
fn containers(lines: &[&LoggedLine], query: &Params) -> Markup {
    let names: BTreeSet<&str> = lines.iter().map(|line| &*line.container).collect();
    let chosen = query.first("container");
    html! {
        @if names.len() > 1 || chosen.is_some() {
            nav.chips aria-label="Containers" {
                a href="?" aria-current=[chosen.is_none().then_some("true")] { "every container" }
                @for name in names {
                    a href=(query.with("container", name)) aria-current=[(chosen == Some(name)).then_some("true")] { (Shown(name)) }
                }
            }
        }
    }
}

fn shown(line: &LoggedLine) -> Markup {
    html! {
        li {
            span.dim {
                @if let Some(time) = line.time { time datetime=(rfc3339(time)) { (rfc3339(time)) } " " }
                (Shown(&line.pod)) " " (Shown(&line.container))
            }
            " " code { (Shown(&line.text().unwrap_or_default())) }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A line, as records have it.
    fn line(number: usize) -> String {
        format!(
            r#"{{"v":1,"type":"log","time":"2026-03-02T12:00:01.5Z","cluster":"c","namespace":"n","pod":"web","container":"app","line":"line <{number}>"}}"#
        )
    }

    #[test]
    fn the_newest_lines_are_shown_and_the_others_counted() {
        let mut records: Vec<String> = (0..203).map(line).collect();
        records.push(line(203).replace(r#""line":"line <203>""#, r#""fields":{"level":"warn"}"#));
        records.push(r#"{"v":1,"type":"source","cluster":"c","namespace":"n","pod":"web","container":"b","event":"refused","message":"not found"}"#.to_owned());
        let html = logs(&records.join("\n"), &Params::default()).into_string();
        assert_eq!(html.matches("<li>").count(), MAX_ROWS);
        for part in [
            "4 lines are before them",
            "line &lt;202&gt;",
            "{&quot;level&quot;:&quot;warn&quot;}",
            "<p class=\"dim\">not found</p>",
        ] {
            assert!(html.contains(part), "{part}: {html}");
        }
        assert!(!html.contains("line &lt;3&gt;"), "it is an old line");
        assert!(!html.contains("every container"), "there is one");
        let other = line(1).replace(r#""app""#, r#""<b>""#);
        let both = [line(0), other].join("\n");
        let html = logs(&both, &Params::default()).into_string();
        assert!(html.contains("href=\"?container=%3Cb%3E\""), "{html}");
        let empty = logs("", &Params::default()).into_string();
        assert!(empty.contains("No container has printed a line."));
    }
}
