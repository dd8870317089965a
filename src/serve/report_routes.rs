//! The pages that show what a verb answers to their reader.

use axum::Extension;
use axum::extract::{Path, State};
use axum::response::{IntoResponse, Response};
use http::header::CONTENT_TYPE;
use http::{StatusCode, Uri};
use jiff::{SignedDuration, Timestamp};

use super::page::{
    ObjectAddress, ObjectPath, Report, ReportedRecords, TIMELINE, TimeSpan, TimelineTime,
    event_names, nothing,
};
use super::params::{CLUSTER, Params};
use super::reader::WebReader;
use super::snapshot::Snapshot;
use super::web_server::{Answered, Asker, QuestionError, RecordVerb, Shared, WebServer, text};
use crate::object::parse_duration;

/// How many lines of each container a page shows, if the reader chooses nothing.
const LAST_LINES: &str = "50";

/// The versions of an object and of what it owns.
pub(super) async fn object_changes(
    State(server): Shared,
    Extension(reader): Asker,
    Path(path): Path<ObjectPath>,
    uri: Uri,
) -> Response {
    let (address, query) = (path.address(), Params::of(&uri));
    let since = query.first("since").map(|since| ("since", since));
    let argument = address.argument();
    let params = address.params(&argument).chain([("owned", "true")]);
    let params = params.chain(since).collect();
    let records = server.answer(RecordVerb::Changes, params, reader).await;
    report(
        &Report::Changes(&address),
        records,
        &query,
        &server.snapshot(),
    )
}

/// The Events about an object and its dependents.
pub(super) async fn object_events(
    State(server): Shared,
    Extension(reader): Asker,
    Path(path): Path<ObjectPath>,
    uri: Uri,
) -> Response {
    let (address, query) = (path.address(), Params::of(&uri));
    let snapshot = match server.seen_by(&reader, path.namespace()).await {
        Ok(snapshot) => snapshot,
        Err(error) => return server.unknown(&error),
    };
    let params = [
        ("object", "events"),
        (CLUSTER, &*address.cluster),
        ("namespace", address.event_namespace()),
        ("since", query.first("since").unwrap_or(TIMELINE)),
    ];
    let params = params.into_iter().collect();
    let records = server.answer(RecordVerb::Changes, params, reader).await;
    let names = event_names(&address, &snapshot);
    report(
        &Report::Events(&address, &names),
        records,
        &query,
        &snapshot,
    )
}

/// What the containers of an object printed last.
pub(super) async fn object_logs(
    State(server): Shared,
    Extension(reader): Asker,
    Path(path): Path<ObjectPath>,
    uri: Uri,
) -> Response {
    let (address, query) = (path.address(), Params::of(&uri));
    let argument = address.argument();
    let chosen = ["container", "previous"].into_iter();
    let chosen = chosen.filter_map(|name| Some((name, query.first(name)?)));
    let tail = ("tail", query.first("tail").unwrap_or(LAST_LINES));
    let params = address.params(&argument).chain([tail]).chain(chosen);
    let params = params.collect();
    let records = server.answer(RecordVerb::Logs, params, reader).await;
    report(&Report::Logs(&address), records, &query, &server.snapshot())
}

/// An object and what it owned at the time `at`.
pub(super) async fn past_object(
    server: &WebServer,
    reader: WebReader,
    address: &ObjectAddress,
    query: &Params,
) -> Option<Response> {
    let at = past_time(query)?;
    let argument = address.argument();
    let params = address.params(&argument).chain([("at", &*at)]).collect();
    let records = server.answer(RecordVerb::Trace, params, reader).await;
    let past = Report::Past(address, &at);
    Some(report(&past, records, query, &server.snapshot()))
}

/// The earlier time that an address asks for: a time, or how long ago. A slider sends seconds.
fn past_time(query: &Params) -> Option<String> {
    let given = |name| query.first(name).filter(|value| !value.is_empty());
    let seconds = given("ago").filter(|ago| ago.parse::<u32>().is_ok_and(|ago| ago > 0));
    let written = given("at").map(str::to_owned);
    written.or_else(|| seconds.map(|ago| format!("{ago}s")))
}

/// What an object is connected to.
pub(super) async fn object_graph(
    State(server): Shared,
    Extension(reader): Asker,
    Path(path): Path<ObjectPath>,
    uri: Uri,
) -> Response {
    let address = path.address();
    let argument = address.argument();
    let params = address.params(&argument).collect();
    let records = server.answer(RecordVerb::Trace, params, reader).await;
    let query = Params::of(&uri);
    report(
        &Report::Graph(&address),
        records,
        &query,
        &server.snapshot(),
    )
}

/// The versions of all objects, of a namespace if the server follows one or the reader names one.
pub(super) async fn all_changes(
    State(server): Shared,
    Extension(reader): Asker,
    uri: Uri,
) -> Response {
    let query = Params::of(&uri);
    let time = match timeline_time(&query) {
        Ok(time) => time,
        Err(words) => return text(StatusCode::BAD_REQUEST, words),
    };
    let namespace = query.namespace();
    let snapshot = match server.seen_by(&reader, namespace).await {
        Ok(snapshot) => snapshot,
        Err(error) => return server.unknown(&error),
    };
    let place = match (namespace, snapshot.namespace()) {
        (Some(namespace), _) => Some(("namespace", namespace)),
        (None, Some(_)) => None,
        // Each of several clusters has the namespace of its context.
        (None, None) if snapshot.is_of_several() && *snapshot.place != *"-A" => None,
        (None, None) => Some(("all-namespaces", "true")),
    };
    let since = query.first("from").or(query.first("since"));
    let since = ("since", since.unwrap_or(TIMELINE));
    let cluster = query.first(CLUSTER).filter(|name| !name.is_empty());
    let cluster = cluster.map(|name| (CLUSTER, name));
    let params = [since].into_iter().chain(place).chain(cluster).collect();
    let records = server.answer(RecordVerb::Changes, params, reader).await;
    report(&Report::Timeline(time), records, &query, &snapshot)
}

/// The time that an address asks for.
fn timeline_time(query: &Params) -> Result<TimelineTime, String> {
    let invalid = |name: &str, value: &str, expected: &str| {
        format!("error: invalid value \"{value}\" of \"{name}\": expected {expected}\n")
    };
    let moment = |name: &str, value: &str| {
        let time = value.parse::<Timestamp>();
        time.map_err(|_| invalid(name, value, "a time, for example 2026-03-02T12:00:00Z"))
    };
    if let Some((from, to)) = query.first("from").zip(query.first("to")) {
        let (since, until) = (moment("from", from)?, moment("to", to)?);
        if since >= until {
            return Err(invalid("to", to, "a time after \"from\""));
        }
        return Ok(TimelineTime::Between(TimeSpan { since, until }));
    }
    let since = query.first("since").unwrap_or(TIMELINE);
    let length = parse_duration(since).ok_or_else(|| invalid("since", since, "a duration"))?;
    let length = SignedDuration::try_from(length).unwrap_or(SignedDuration::MAX);
    Ok(TimelineTime::Last(length))
}

/// A page of records, or the error in their place.
fn report(
    of: &Report<'_>,
    answered: Result<Answered, QuestionError>,
    query: &Params,
    snapshot: &Snapshot,
) -> Response {
    let content = (CONTENT_TYPE, "text/html; charset=utf-8");
    let (records, error) = match answered {
        Ok(Answered { records, absences }) => {
            let lines = absences.iter();
            let lines: Vec<String> = lines.map(|(name, why)| format!("{name}: {why}")).collect();
            let error = Some(lines.join("; ")).filter(|it| !it.is_empty());
            (records, error)
        }
        // One log of several cannot be read: the others are shown.
        Err(QuestionError { words, records, .. })
            if matches!(of, Report::Logs(_)) && !records.is_empty() =>
        {
            (records, Some(words))
        }
        Err(error) => return error.answer(([content], nothing(&error.words).into_string())),
    };
    let answer = ReportedRecords {
        records: &records,
        error: error.as_deref(),
    };
    ([content], of.page(&answer, query, snapshot).into_string()).into_response()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_address_names_an_earlier_time_or_none() {
        for (query, expect) in [
            ("", None),
            ("ago=0&at=", None),
            ("ago=600", Some("600s")),
            ("ago=soon", None),
            ("ago=600&at=3d", Some("3d")),
        ] {
            let query = Params::of(&format!("/?{query}").parse().expect("an address"));
            assert_eq!(past_time(&query).as_deref(), expect);
        }
    }

    #[test]
    fn a_timeline_has_a_begin_and_an_end() {
        let time = |query: &str| {
            let query = Params::of(&format!("/t?{query}").parse().expect("an address"));
            timeline_time(&query)
        };
        let (from, to) = ("2026-03-02T12:00:00Z", "2026-03-02T12:00:01Z");
        let between = TimeSpan {
            since: from.parse().expect("a time"),
            until: to.parse().expect("a time"),
        };
        let expect = Ok(TimelineTime::Between(between));
        assert_eq!(time(&format!("from={from}&to={to}&since=1h")), expect);
        let hour = TimelineTime::Last(SignedDuration::from_hours(1));
        assert_eq!(time(""), Ok(hour));
        assert_eq!(
            time(&format!("from={from}")),
            Ok(hour),
            "without an end it is no time"
        );
        for (query, error) in [
            ("since=soon", "expected a duration"),
            (
                &*format!("from=x&to={to}"),
                "invalid value \"x\" of \"from\"",
            ),
            (&*format!("from={to}&to={from}"), "expected a time after"),
        ] {
            let found = time(query).expect_err(query);
            assert!(found.contains(error), "{found}");
        }
    }
}
