//! `TimelinePage`: a lane for each object that changed, with a mark for each version. A table below it says the same.

use std::collections::BTreeMap;

use jiff::{SignedDuration, Timestamp};
use maud::{Markup, html};

use super::Shown;
use super::changed_version::{ChangedVersion, ChangedVersions};
use super::changes::known;
use super::object_address::ObjectAddress;
use crate::render::age::rfc3339;

/// The most lanes and marks of a view. A browser draws more of them slowly; the rest is counted.
const MAX_LANES: usize = 60;
const MAX_MARKS: usize = 1_000;

/// The sizes in pixels: of the names, of the time, and of a lane.
const NAMES: i64 = 280;
const TIME: i64 = 800;
const LANE: i64 = 22;
const AXIS: i64 = 24;

/// The times between which a view shows.
#[derive(Clone, Copy, Debug)]
struct ShownTime {
    since: Timestamp,
    until: Timestamp,
}

impl ShownTime {
    /// The time that ends at this moment and begins so long before.
    fn last(length: SignedDuration, until: Timestamp) -> ShownTime {
        let since = until.saturating_sub(length);
        ShownTime {
            since: since.unwrap_or(Timestamp::UNIX_EPOCH),
            until,
        }
    }

    /// Where a time lies, in pixels.
    fn x(self, time: Timestamp) -> i64 {
        let whole = self.until.duration_since(self.since).as_millis().max(1);
        let part = time.duration_since(self.since).as_millis().clamp(0, whole);
        NAMES + i64::try_from(part * i128::from(TIME) / whole).unwrap_or_default()
    }
}

/// An object and its versions, the newest first.
struct Lane<'v> {
    address: ObjectAddress,
    versions: Vec<&'v ChangedVersion>,
}

/// The lanes of the objects, those with the newest decision first. Reports of controllers decide nothing.
fn lanes(all: &ChangedVersions) -> Vec<Lane<'_>> {
    let mut lanes: BTreeMap<String, Lane<'_>> = BTreeMap::new();
    let objects = all.versions.iter();
    for version in objects.filter(|version| !version.object.is_event()) {
        let address = ObjectAddress::of_record(&version.object);
        let lane = lanes.entry(address.path("o")).or_insert_with(|| Lane {
            address,
            versions: Vec::new(),
        });
        lane.versions.push(version);
    }
    let mut lanes: Vec<Lane<'_>> = lanes.into_values().collect();
    let decided = |lane: &Lane<'_>| {
        let mut versions = lane.versions.iter();
        versions.find(|it| !it.is_report()).and_then(|it| it.at())
    };
    lanes.sort_by_key(|lane| std::cmp::Reverse(decided(lane)));
    lanes
}

/// The lanes of these records.
pub(super) fn timeline(records: &str, length: SignedDuration) -> Markup {
    let all = ChangedVersions::of(records);
    let newest = all.versions.first().and_then(ChangedVersion::at);
    let time = ShownTime::last(length, all.now.or(newest).unwrap_or_default());
    let lanes = lanes(&all);
    let shown = &lanes[..lanes.len().min(MAX_LANES)];
    let height = AXIS + LANE * i64::try_from(shown.len()).unwrap_or_default() + 4;
    let marks: usize = shown.iter().map(|lane| lane.versions.len()).sum();
    let mut left = MAX_MARKS;
    html! {
        (known(&all))
        @if lanes.is_empty() { p.empty { "No version is known from this time." } }
        div.picture {
            svg viewBox=(format!("0 0 {} {height}", NAMES + TIME + 10)) width=(NAMES + TIME + 10) height=(height) aria-hidden="true" {
                (unknown(&all, time, height))
                @for part in 0..=4 { (tick(time, part, height)) }
                @for (number, lane) in shown.iter().enumerate() {
                    @let y = AXIS + LANE * i64::try_from(number).unwrap_or_default();
                    @let marks = lane.versions.len().min(left);
                    (drawn(lane, &lane.versions[..marks], time, y))
                    @let () = left -= marks;
                }
            }
        }
        @if lanes.len() > shown.len() { p { "and " (lanes.len() - shown.len()) " more objects: choose a shorter time" } }
        @if marks > MAX_MARKS { p { "and " (marks - MAX_MARKS) " more versions" } }
        (table(shown))
    }
}

/// The times of which not every version is known: before the versions are complete, and where nobody recorded.
fn unknown(all: &ChangedVersions, time: ShownTime, height: i64) -> Markup {
    let before = all.complete_since.unwrap_or(time.until);
    let holes = all.holes.iter().map(|hole| (hole.since, hole.until));
    let spans = std::iter::once((time.since, before)).chain(holes);
    html! {
        @for (since, until) in spans {
            @let (from, to) = (time.x(since), time.x(until));
            @if to > from {
                rect.unknown x=(from) y="0" width=(to - from) height=(height) { title { "not every version is known" } }
            }
        }
    }
}

/// A line for a time of the axis.
fn tick(time: ShownTime, part: i32, height: i64) -> Markup {
    let whole = time.until.duration_since(time.since);
    let at = time
        .since
        .saturating_add(whole * part / 4)
        .unwrap_or(time.until);
    let x = time.x(at);
    let text = rfc3339(at);
    html! {
        line.axis x1=(x) y1="18" x2=(x) y2=(height) {}
        text.axis x=(x.min(NAMES + TIME - 60)) y="14" { (text.get(11..19).unwrap_or(&text)) }
    }
}

fn drawn(lane: &Lane<'_>, versions: &[&ChangedVersion], time: ShownTime, y: i64) -> Markup {
    html! {
        text.lane x="4" y=(y + 15) { (Shown(&lane.address.display())) }
        line.lane x1=(NAMES) y1=(y + 11) x2=(NAMES + TIME) y2=(y + 11) {}
        a href=(lane.address.path("c")) tabindex="-1" {
            @for version in versions {
                @if let Some(at) = version.at() {
                    @let x = time.x(at);
                    @let words = format!("{} {} {}", rfc3339(at), version.who(), version.line());
                    @if version.is_report() {
                        circle.report cx=(x) cy=(y + 11) r="3" { title { (Shown(&words)) } }
                    } @else {
                        rect.change x=(x - 2) y=(y + 3) width="5" height="16" { title { (Shown(&words)) } }
                    }
                }
            }
        }
    }
}

/// The same as words.
fn table(lanes: &[Lane<'_>]) -> Markup {
    html! {
        table {
            thead { tr { th scope="col" { "Object" } th scope="col" { "Versions" } th scope="col" { "Last change" } } }
            tbody {
                @for lane in lanes {
                    @let last = lane.versions.iter().find(|version| !version.is_report()).or(lane.versions.first());
                    tr {
                        td.name { a href=(lane.address.path("c")) { (Shown(&lane.address.display())) } }
                        td { (lane.versions.len()) }
                        td { @if let Some(last) = last { (last.time()) " " span.dim { (Shown(&last.who())) } " " (Shown(&last.line())) } }
                    }
                }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::serve::page::changed_version::testing::RECORDS;

    #[test]
    fn each_object_has_a_lane_with_a_mark_for_each_version() {
        let html = timeline(RECORDS, SignedDuration::from_mins(10)).into_string();
        assert_eq!(html.matches("class=\"lane\" x=").count(), 2, "{html}");
        assert_eq!(
            html.matches("class=\"change\"").count(),
            2,
            "an edit and a deletion"
        );
        assert_eq!(html.matches("class=\"report\"").count(), 1);
        // Nobody recorded for a minute; before the look-back begins there is nothing to show.
        assert_eq!(html.matches("class=\"unknown\"").count(), 1);
        // The newest decision is the deletion.
        assert!(
            html.find("pod/web-1").expect("a lane") < html.find("deployment/web").expect("a lane")
        );
    }

    #[test]
    fn marks_lie_within_the_time() {
        let now: Timestamp = "2026-03-02T12:05:00Z".parse().expect("a time");
        let time = ShownTime::last(SignedDuration::from_mins(10), now);
        let half: Timestamp = "2026-03-02T12:00:00Z".parse().expect("a time");
        assert_eq!(
            [time.since, half, now].map(|at| time.x(at)),
            [NAMES, NAMES + TIME / 2, NAMES + TIME]
        );
        assert_eq!(time.x(Timestamp::UNIX_EPOCH), NAMES);
    }
}
