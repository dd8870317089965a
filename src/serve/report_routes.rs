//! The pages that show what a verb answers to their reader.

use axum::Extension;
use axum::extract::{Path, State};
use axum::response::{IntoResponse, Response};
use http::header::CONTENT_TYPE;
use http::{StatusCode, Uri};
use jiff::SignedDuration;

use super::page::{ObjectPath, Report, nothing};
use super::params::Params;
use super::snapshot::Snapshot;
use super::web_server::{Asker, QuestionError, RecordVerb, Shared, text};
use crate::object::parse_duration;

/// How far back a timeline begins, if the reader chooses nothing.
const TIMELINE: &str = "1h";

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
    let since = query.first("since").unwrap_or(TIMELINE);
    let Some(length) = parse_duration(since) else {
        let words = format!("error: invalid value \"{since}\" of \"since\": expected a duration\n");
        return text(StatusCode::BAD_REQUEST, words);
    };
    let snapshot = server.snapshot();
    let place = match (query.first("namespace"), snapshot.namespace()) {
        (Some(namespace), _) => Some(("namespace", namespace)),
        (None, Some(_)) => None,
        (None, None) => Some(("all-namespaces", "true")),
    };
    let params = [("since", since)].into_iter().chain(place).collect();
    let records = server.answer(RecordVerb::Changes, params, reader).await;
    let length = SignedDuration::try_from(length).unwrap_or(SignedDuration::MAX);
    report(&Report::Timeline(length), records, &query, &snapshot)
}

/// A page of records, or the error in their place.
fn report(
    of: &Report<'_>,
    records: Result<String, QuestionError>,
    query: &Params,
    snapshot: &Snapshot,
) -> Response {
    let content = (CONTENT_TYPE, "text/html; charset=utf-8");
    match records {
        Ok(records) => {
            ([content], of.page(&records, query, snapshot).into_string()).into_response()
        }
        Err(QuestionError { code, words }) => {
            (code, [content], nothing(&words).into_string()).into_response()
        }
    }
}
