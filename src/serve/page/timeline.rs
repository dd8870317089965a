//! The timeline: a lane for each object that changed. Its bars are the states, its marks the versions.

use std::collections::BTreeMap;

use jiff::{SignedDuration, Timestamp};
use maud::{Markup, PreEscaped, html};

use super::Shown;
use super::changed_version::{ChangedVersion, ChangedVersions, TimeSpan};
use super::changes::known;
use super::lane_states::{LaneState, StateSpan, states};
use super::object_address::ObjectAddress;
use super::row::{class, cluster_cell, sign};
use crate::object::counted;
use crate::render::age::rfc3339;
use crate::serve::params::Params;
use crate::serve::served_row::ServedRow;
use crate::serve::snapshot::Snapshot;
use crate::status::Status;

/// The most lanes and marks of a view. A browser draws more of them slowly; the rest is counted.
const MAX_LANES: usize = 60;
const MAX_MARKS: usize = 1_000;

/// The width of a lane in its own units. The style gives it a width in pixels.
const WIDTH: i128 = 1_000;

/// The patterns of the states: meaning never rests on colour alone.
const PATTERNS: &str = r#"<svg class="patterns" width="0" height="0" aria-hidden="true" focusable="false"><defs>
<pattern id="p-failed" width="8" height="6" patternUnits="userSpaceOnUse"><rect width="8" height="6"/><path d="M0 3H8"/></pattern>
<pattern id="p-moving" width="8" height="20" patternUnits="userSpaceOnUse"><rect width="5" height="20"/></pattern>
<pattern id="p-other" width="8" height="8" patternUnits="userSpaceOnUse"><rect width="4" height="4"/></pattern>
<pattern id="p-unknown" width="8" height="8" patternUnits="userSpaceOnUse"><path d="M0 8L8 0"/></pattern>
</defs></svg>"#;

/// The time that a timeline shows.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::serve) enum TimelineTime {
    /// So long before now.
    Last(SignedDuration),
    /// Between two times.
    Between(TimeSpan),
}

impl TimelineTime {
    /// The begin and the end, if it is `now`.
    fn seen_at(self, now: Timestamp) -> TimeSpan {
        match self {
            TimelineTime::Last(length) => TimeSpan {
                since: now.saturating_sub(length).unwrap_or(Timestamp::UNIX_EPOCH),
                until: now,
            },
            TimelineTime::Between(time) => time,
        }
    }
}

/// Where a time lies in a lane.
fn x(time: TimeSpan, at: Timestamp) -> i128 {
    let whole = time.until.duration_since(time.since).as_millis().max(1);
    let part = at.duration_since(time.since).as_millis().clamp(0, whole);
    part * WIDTH / whole
}

/// The time that lies so many quarters after the begin. It may be before it, or after the end.
fn quarter(time: TimeSpan, quarters: i32) -> Timestamp {
    let whole = time.until.duration_since(time.since);
    let at = time.since.saturating_add(whole * quarters / 4);
    at.unwrap_or(time.until)
}

/// Whether a quarter of it is a second or more. Addresses have no shorter times.
fn is_divisible(time: TimeSpan) -> bool {
    time.until.duration_since(time.since).as_secs() >= 4
}

/// An object and its versions within the time, the newest first.
struct Lane<'v> {
    address: ObjectAddress,
    versions: Vec<&'v ChangedVersion>,
    states: Vec<StateSpan>,
    /// The state now of the object with its dependents, in a word, if it differs from that of the object alone.
    whole: Option<(Status, String)>,
}

/// The lanes of the objects, those with the newest decision first. Reports of controllers decide nothing.
fn lanes<'v>(all: &'v ChangedVersions, time: TimeSpan, snapshot: &Snapshot) -> Vec<Lane<'v>> {
    let mut objects: BTreeMap<String, (ObjectAddress, Vec<&ChangedVersion>)> = BTreeMap::new();
    let versions = all.versions.iter();
    for version in versions.filter(|version| !version.object_ref.is_event()) {
        let address = ObjectAddress::of_record(&version.object_ref);
        let of_object = objects.entry(address.path("o"));
        let (_, versions) = of_object.or_insert_with(|| (address, Vec::new()));
        versions.push(version);
    }
    let present = present_states(snapshot);
    let lanes = objects.into_iter().map(|(path, (address, mut versions))| {
        let now = present.get(&path);
        let states = states(&versions, now.map(|now| now.own), time);
        let is_within = |at: Timestamp| (time.since..=time.until).contains(&at);
        versions.retain(|version| version.at().is_some_and(is_within));
        Lane {
            address,
            versions,
            states,
            whole: now.and_then(PresentState::whole),
        }
    });
    let mut lanes: Vec<Lane<'_>> = lanes.filter(|lane| !lane.versions.is_empty()).collect();
    let decided = |lane: &Lane<'_>| {
        let mut versions = lane.versions.iter();
        versions.find(|it| !it.is_report()).and_then(|it| it.at())
    };
    lanes.sort_by_key(|lane| std::cmp::Reverse(decided(lane)));
    lanes
}

/// The state of an object now.
struct PresentState<'s> {
    /// From the object alone.
    own: Status,
    row: &'s ServedRow,
}

impl PresentState<'_> {
    /// The state with the dependents, if it is another one.
    fn whole(&self) -> Option<(Status, String)> {
        let is_other = self.row.status() != self.own;
        is_other.then(|| (self.row.status(), self.row.assessment.row.word.clone()))
    }
}

/// The states now, by the addresses of the objects.
fn present_states(snapshot: &Snapshot) -> BTreeMap<String, PresentState<'_>> {
    let rows = snapshot.rows.iter();
    let states = rows.map(|row| {
        let own = row.own_assessment().status();
        (
            ObjectAddress::of_row(row).path("o"),
            PresentState { own, row },
        )
    });
    states.collect()
}

/// The timeline of these records.
pub(super) fn timeline(
    records: &str,
    shown: TimelineTime,
    query: &Params,
    snapshot: &Snapshot,
) -> Markup {
    let all = ChangedVersions::of(records);
    let newest = all.versions.first().and_then(ChangedVersion::at);
    let time = shown.seen_at(all.now.or(newest).unwrap_or_default());
    let lanes = lanes(&all, time, snapshot);
    let shown = &lanes[..lanes.len().min(MAX_LANES)];
    let marks: usize = shown.iter().map(Lane::marks).sum();
    let mut left = MAX_MARKS;
    html! {
        (moves(query, time))
        (known(&all))
        @if lanes.is_empty() { p.empty { "No version is known from this time." } }
        @else {
            (PreEscaped(PATTERNS))
            (legend())
            table.rows.lanes data-from=(rfc3339(time.since)) data-to=(rfc3339(time.until)) {
                thead {
                    tr {
                        th scope="col" { "Object" }
                        @if snapshot.is_of_several() { th.cluster scope="col" { "Cluster" } }
                        th.axis scope="col" { (axis(query, time)) }
                        th scope="col" { "Last change" }
                    }
                }
                @for lane in shown {
                    (drawn(lane, &LanePicture { all: &all, time, most: left, snapshot }))
                    @let () = left = left.saturating_sub(lane.marks());
                }
            }
        }
        @if lanes.len() > shown.len() { p { "and " (lanes.len() - shown.len()) " more objects: choose a shorter time" } }
        @if marks > MAX_MARKS { p { "and " (marks - MAX_MARKS) " more marks: choose a shorter time" } }
    }
}

/// Links that move the shown time, or make it longer or shorter.
fn moves(query: &Params, time: TimeSpan) -> Markup {
    let link = |from: i32, to: i32| query.between(quarter(time, from), quarter(time, to));
    html! {
        nav.chips aria-label="Range" {
            a href=(link(-2, 2)) { "‹ Earlier" }
            a href=(link(2, 6)) { "Later ›" }
            @if is_divisible(time) { a href=(link(1, 3)) { "Zoom in" } }
            a href=(link(-4, 8)) { "Zoom out" }
            span.dim { (rfc3339(time.since)) " – " (rfc3339(time.until)) }
        }
    }
}

/// The times above the lanes. Each leads to its quarter.
fn axis(query: &Params, time: TimeSpan) -> Markup {
    html! {
        div.times {
            @for part in 0..4 {
                @let (from, to) = (quarter(time, part), quarter(time, part + 1));
                @let text = rfc3339(from);
                @let short = text.get(11..19).unwrap_or(&text);
                @if is_divisible(time) { a href=(query.between(from, to)) title={ "Zoom to " (text) } { (short) } }
                @else { span { (short) } }
            }
        }
    }
}

/// What the bars and marks mean.
fn legend() -> Markup {
    let bar = |class: &str| html! { svg.key width="24" height="20" aria-hidden="true" { (PreEscaped(bar(class, 0, 24))) } };
    html! {
        p.legend {
            span { (bar("failed")) " Failed" }
            span { (bar("moving")) " InProgress" }
            span { (bar("current")) " Current" }
            span { (bar("other")) " other" }
            span { (bar("unknown")) " not every version is known" }
            span { svg.key width="6" height="20" aria-hidden="true" { rect.change width="4" height="20" {} } " change" }
            span { svg.key width="6" height="20" aria-hidden="true" { rect.report y="15" width="4" height="5" {} } " report of a controller" }
            span.dim { "bars: each object alone; beside a name: what it is now with its dependents" }
        }
    }
}

/// A bar with the form of a class. The words of the class are our own.
fn bar(class: &str, from: i128, to: i128) -> String {
    let (y, height) = match class {
        "failed" | "unknown" => (0, 20),
        "moving" | "other" => (4, 12),
        _ => (7, 6),
    };
    let width = (to - from).max(1);
    format!(r#"<rect class="bar {class}" x="{from}" y="{y}" width="{width}" height="{height}"/>"#)
}

impl Lane<'_> {
    /// The number of its bars and marks.
    fn marks(&self) -> usize {
        self.states.len() + self.versions.len()
    }

    /// The same as words.
    fn words(&self) -> String {
        let spans = self.states.iter().map(|span| {
            let word = match span.state {
                LaneState::In(status) => status.as_str(),
                LaneState::Absent => "absent",
                LaneState::Unknown => "not known",
            };
            format!("{word} until {}", rfc3339(span.time.until))
        });
        let spans: Vec<String> = spans.collect();
        let versions = counted(self.versions.len(), "version", "versions");
        format!("{}; {versions}", spans.join(", "))
    }
}

/// What a lane is drawn in.
struct LanePicture<'d> {
    all: &'d ChangedVersions,
    time: TimeSpan,
    /// The most bars and marks.
    most: usize,
    snapshot: &'d Snapshot,
}

fn drawn(lane: &Lane<'_>, drawing: &LanePicture<'_>) -> Markup {
    let last = lane.versions.iter().find(|version| !version.is_report());
    let last = last.or(lane.versions.first());
    html! {
        tbody.row {
            tr {
                td.name {
                    a href=(lane.address.path("c")) { (Shown(&lane.address.display())) }
                    @if let Some((status, word)) = &lane.whole {
                        " " span.(class(*status)) { "now " (sign(*status)) " " (Shown(word)) }
                    }
                }
                @if drawing.snapshot.is_of_several() {
                    @let name = &*lane.address.cluster;
                    @let cluster = drawing.snapshot.cluster_named(name);
                    (cluster_cell(cluster.map_or(name, |cluster| &cluster.label), name))
                }
                td.lane { (picture(lane, drawing)) }
                td.wide {
                    @if let Some(last) = last {
                        div.two-lines {
                            (last.time()) " " span.dim { (Shown(&last.who())) } " " (Shown(&last.line()))
                        }
                    }
                }
            }
        }
    }
}

fn picture(lane: &Lane<'_>, drawing: &LanePicture<'_>) -> Markup {
    let time = drawing.time;
    let bars = lane.states.len().min(drawing.most);
    html! {
        svg viewBox="0 0 1000 20" preserveAspectRatio="none" role="img" aria-label=(lane.words()) {
            @for span in &lane.states[..bars] {
                @if let LaneState::In(status) = span.state {
                    (PreEscaped(bar(class(status), x(time, span.time.since), x(time, span.time.until))))
                }
            }
            (unknown(lane, drawing))
            @for version in lane.versions.iter().take(drawing.most - bars) { (mark(version, time)) }
        }
    }
}

/// The times of which not every version is known: before the versions are complete, and the holes of the record.
fn unknown(lane: &Lane<'_>, drawing: &LanePicture<'_>) -> Markup {
    let time = drawing.time;
    let before = drawing.all.complete_since.unwrap_or(time.until);
    let holes = drawing.all.holes.iter().map(|hole| hole.time);
    let begin = TimeSpan {
        since: time.since,
        until: before,
    };
    let states = lane.states.iter();
    let unknown = states.filter(|span| span.state == LaneState::Unknown);
    let spans = std::iter::once(begin)
        .chain(holes)
        .chain(unknown.map(|span| span.time));
    html! {
        @for span in spans {
            @let (from, to) = (x(time, span.since), x(time, span.until));
            @if to > from { (PreEscaped(bar("unknown", from, to))) }
        }
    }
}

/// A version: a decision is a line over the whole lane, a report a short one at its foot.
fn mark(version: &ChangedVersion, time: TimeSpan) -> Markup {
    let Some(at) = version.at() else {
        return html! {};
    };
    let words = format!("{} {} {}", rfc3339(at), version.who(), version.line());
    let x = (x(time, at) - 2).max(0);
    html! {
        @if version.is_report() {
            rect.report x=(x) y="15" width="4" height="5" { title { (Shown(&words)) } }
        } @else {
            rect.change x=(x) y="0" width="4" height="20" { title { (Shown(&words)) } }
        }
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use super::*;
    use crate::serve::page::changed_version::testing::RECORDS;
    use crate::serve::served_row::OwnState;
    use crate::serve::snapshot::testing::{failed_pod, snapshot};

    fn shown(time: TimelineTime) -> String {
        let html = timeline(RECORDS, time, &Params::default(), &Snapshot::default());
        html.into_string()
    }

    fn time(text: &str) -> Timestamp {
        text.parse().expect("a time")
    }

    #[test]
    fn each_object_has_a_lane_with_its_states_and_a_mark_for_each_version() {
        let html = shown(TimelineTime::Last(SignedDuration::from_mins(10)));
        assert_eq!(html.matches("class=\"lane\"").count(), 2, "{html}");
        // An edit and a deletion; the legend has one of each, too.
        assert_eq!(html.matches("class=\"change\"").count(), 3);
        assert_eq!(html.matches("class=\"report\"").count(), 2);
        // The Deployment was well and is not any more, the Pod is gone.
        assert!(
            html.contains("aria-label=\"Current until 2026-03-02T12:00:04Z, InProgress until 2026-03-02T12:05:00Z; 2 versions\""),
            "{html}"
        );
        assert!(html.contains("absent until 2026-03-02T12:05:00Z; 1 version\""));
        // Nobody recorded for a minute, in both lanes.
        assert_eq!(html.matches("class=\"bar unknown\"").count(), 3, "{html}");
        // The newest decision is the deletion.
        assert!(
            html.find("pod/web-1").expect("a lane") < html.find("deployment/web").expect("a lane")
        );
    }

    #[test]
    fn an_owner_that_its_dependents_make_worse_says_so() {
        let mut web = failed_pod("web", "its Pod fails");
        web.object_ref.kind = "Deployment".into();
        web.object_ref.api_version = "apps/v1".into();
        web.object_ref.cluster = "c".into();
        Arc::make_mut(&mut web.assessment).row.word = "<Failed>".to_owned();
        let whole = |web: ServedRow| {
            let time = TimelineTime::Last(SignedDuration::from_mins(10));
            let html = timeline(RECORDS, time, &Params::default(), &snapshot(vec![web]));
            html.into_string()
        };
        assert!(!whole(web.clone()).contains(">now "), "both are the same");
        let mut own = web.assessment.clone();
        Arc::make_mut(&mut own).verdict.status = Status::InProgress;
        web.own = Some(OwnState {
            assessment: own,
            is_unhealthy: true,
        });
        let html = whole(web);
        let expect = "<span class=\"failed\">now ✗ &lt;Failed&gt;</span>";
        assert!(html.contains(expect), "{html}");
    }

    #[test]
    fn a_time_between_two_others_has_only_its_versions() {
        let html = shown(TimelineTime::Between(TimeSpan {
            since: time("2026-03-02T12:00:00Z"),
            until: time("2026-03-02T12:00:04Z"),
        }));
        assert!(
            html.contains("deployment/web") && !html.contains("pod/web-1"),
            "{html}"
        );
        // Half of the time, in the middle; and the same length, half of it earlier.
        for link in [
            "?from=2026-03-02T12%3A00%3A01Z&amp;to=2026-03-02T12%3A00%3A03Z",
            "?from=2026-03-02T11%3A59%3A58Z&amp;to=2026-03-02T12%3A00%3A02Z",
        ] {
            assert!(html.contains(link), "{link}: {html}");
        }
    }

    #[test]
    fn a_short_time_is_not_divided() {
        let html = shown(TimelineTime::Between(TimeSpan {
            since: time("2026-03-02T12:00:02Z"),
            until: time("2026-03-02T12:00:05Z"),
        }));
        assert!(
            !html.contains("Zoom in") && html.contains("Zoom out"),
            "{html}"
        );
    }

    #[test]
    fn marks_lie_within_the_time() {
        let shown = TimelineTime::Last(SignedDuration::from_mins(10));
        let span = shown.seen_at(time("2026-03-02T12:05:00Z"));
        let half = time("2026-03-02T12:00:00Z");
        assert_eq!(
            [span.since, half, span.until].map(|at| x(span, at)),
            [0, 500, 1_000]
        );
        assert_eq!(x(span, Timestamp::UNIX_EPOCH), 0);
    }
}
