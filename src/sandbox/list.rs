//! LIST: consistent pages, reads at an exact revision, and invalid options.

use std::sync::Arc;

use jiff::Timestamp;
use serde_json::json;

use super::fault::Effect;
use super::route::Query;
use super::select::ListSelection;
use super::status::ApiFailure;
use super::store::{ListError, StoreKey, StoreListing, StoredVersion, VersionStore};
use super::view::ObjectView;

/// A continue token: the revision of the first page and the last key sent.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct ContinueToken {
    revision: u64,
    namespace: String,
    name: String,
}

impl ContinueToken {
    fn after(revision: u64, key: &StoreKey) -> Self {
        Self {
            revision,
            namespace: key.namespace.clone(),
            name: key.name.clone(),
        }
    }

    /// The token as hexadecimal digits, so that clients treat it as opaque.
    fn text(&self) -> String {
        let plain = format!("{}/{}/{}", self.revision, self.namespace, self.name);
        plain
            .bytes()
            .fold(String::new(), |text, byte| format!("{text}{byte:02x}"))
    }

    fn read(text: &str) -> Option<Self> {
        let digits = text.as_bytes().chunks(2);
        let bytes: Option<Vec<u8>> = digits
            .map(|pair| u8::from_str_radix(std::str::from_utf8(pair).ok()?, 16).ok())
            .collect();
        let plain = String::from_utf8(bytes?).ok()?;
        let mut parts = plain.splitn(3, '/').map(str::to_owned);
        Some(Self {
            revision: parts.next()?.parse().ok()?,
            namespace: parts.next()?,
            name: parts.next()?,
        })
    }
}

pub(super) struct ListRequest<'r> {
    pub(super) selection: &'r ListSelection,
    pub(super) query: &'r Query,
    /// The faults that hit it.
    pub(super) effects: &'r [Effect],
    /// The form of the answer.
    pub(super) view: &'r ObjectView,
}

/// Answers a LIST; returns only the body.
pub(super) fn list(
    store: &VersionStore,
    request: &ListRequest<'_>,
    now: Timestamp,
) -> Result<bytes::Bytes, ApiFailure> {
    let ListRequest {
        selection,
        query,
        effects,
        view,
    } = *request;
    let limit: Option<usize> = query.parsed("limit")?.filter(|limit| *limit > 0);
    let token = match query.get("continue") {
        Some(text) => Some(
            ContinueToken::read(text)
                .ok_or_else(|| ApiFailure::bad_request("continue key is not valid"))?,
        ),
        None => None,
    };
    let listing = read(store, request, token.as_ref())?;
    let items: Vec<&(StoreKey, Arc<StoredVersion>)> = listing
        .items
        .iter()
        .filter(|(key, version)| selection.covers(key) && selection.matches(version))
        .collect();
    let start = token.as_ref().map_or(0, |token| {
        let is_served =
            |key: &StoreKey| (&key.namespace, &key.name) <= (&token.namespace, &token.name);
        items.partition_point(|(key, _)| is_served(key))
    });
    let end = limit.map_or(items.len(), |limit| {
        items.len().min(start.saturating_add(limit))
    });
    let mut metadata = json!({"resourceVersion": view.version_text.of(listing.revision)});
    if let Some((key, _)) = items[start..end].last().filter(|_| end < items.len()) {
        metadata["continue"] = json!(ContinueToken::after(listing.revision, key).text());
        if selection.labels.is_empty() && selection.fields.is_empty() {
            metadata["remainingItemCount"] = json!(items.len() - end);
        }
    }
    let repeats = token.is_some() && effects.contains(&Effect::RepeatAcrossPages);
    let page = &items[start.saturating_sub(usize::from(repeats))..end];
    let page: Vec<&StoredVersion> = page.iter().map(|(_, version)| version.as_ref()).collect();
    Ok(view.list(&metadata, &page, now))
}

fn read(
    store: &VersionStore,
    request: &ListRequest<'_>,
    token: Option<&ContinueToken>,
) -> Result<StoreListing, ApiFailure> {
    let inner = store.lock();
    let ignores_past = request.effects.contains(&Effect::PresentInsteadOfPast);
    let asked = match token {
        Some(token) => Some(token.revision),
        None if ignores_past => None,
        None => past_revision(request, inner.revision)?,
    };
    inner
        .list(request.selection.kind, asked)
        .map_err(|unreadable| match (unreadable, token) {
            (ListError::Future(newest), _) => {
                ApiFailure::future_revision(asked.unwrap_or_default(), newest)
            }
            (ListError::Forgotten, None) => ApiFailure::list_expired(),
            (ListError::Forgotten, Some(token)) => {
                let resume = ContinueToken {
                    revision: inner.revision,
                    ..token.clone()
                };
                ApiFailure::page_expired(resume.text())
            }
        })
}

/// The revision of the past that `resourceVersion` and `resourceVersionMatch` select; `None` for the present.
fn past_revision(request: &ListRequest<'_>, newest: u64) -> Result<Option<u64>, ApiFailure> {
    let ListRequest { query, view, .. } = request;
    let revision = query.revision(view.version_text)?;
    match (query.get("resourceVersionMatch"), revision) {
        (None, None | Some(0)) | (Some("NotOlderThan"), Some(0)) => Ok(None),
        (Some("Exact"), Some(revision)) if revision > 0 => Ok(Some(revision)),
        (None | Some("NotOlderThan"), Some(revision)) if revision > newest => {
            Err(ApiFailure::future_revision(revision, newest))
        }
        (None | Some("NotOlderThan"), Some(_)) => Ok(None),
        (Some("Exact"), Some(_)) => Err(ApiFailure::invalid_options(
            "resourceVersionMatch",
            "resourceVersionMatch \"exact\" is forbidden for resourceVersion \"0\"",
        )),
        (Some(_), None) => Err(ApiFailure::invalid_options(
            "resourceVersionMatch",
            "resourceVersionMatch is forbidden unless resourceVersion is provided",
        )),
        (Some(_), Some(_)) => Err(ApiFailure::invalid_options(
            "resourceVersionMatch",
            "supported values: \"Exact\", \"NotOlderThan\", \"\"",
        )),
    }
}
