//! LIST: consistent pages, reads at an exact revision, and what is refused.

use std::sync::Arc;

use jiff::Timestamp;
use serde_json::json;

use super::fault::Effect;
use super::log::{Key, Version};
use super::route::Query;
use super::select::Selection;
use super::status::Failure;
use super::store::{Listing, Store, Unreadable};
use super::view::View;

/// A page's token: the revision of the first page and the last key served.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Token {
    revision: u64,
    namespace: String,
    name: String,
}

impl Token {
    fn after(revision: u64, key: &Key) -> Self {
        Self {
            revision,
            namespace: key.namespace.clone(),
            name: key.name.clone(),
        }
    }

    /// Opaque to clients: hexadecimal digits.
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

/// Which state a LIST reads.
enum At {
    Now,
    Exactly(u64),
}

/// Answers a LIST with the body and nothing else.
pub(super) fn list(
    store: &Store,
    selection: &Selection,
    (query, effects): (&Query, &[Effect]),
    (view, now): (&View, Timestamp),
) -> Result<bytes::Bytes, Failure> {
    let limit: Option<usize> = query.parsed("limit")?.filter(|limit| *limit > 0);
    let token = match query.get("continue") {
        Some(text) => Some(
            Token::read(text).ok_or_else(|| Failure::bad_request("continue key is not valid"))?,
        ),
        None => None,
    };
    let listing = read(store, selection.kind, query, token.as_ref())?;
    let items: Vec<&(Key, Arc<Version>)> = listing
        .items
        .iter()
        .filter(|(key, version)| selection.covers(key) && selection.matches(version))
        .collect();
    let start = token.as_ref().map_or(0, |token| {
        let is_served = |key: &Key| (&key.namespace, &key.name) <= (&token.namespace, &token.name);
        items.partition_point(|(key, _)| is_served(key))
    });
    let end = limit.map_or(items.len(), |limit| {
        items.len().min(start.saturating_add(limit))
    });
    let mut metadata = json!({"resourceVersion": listing.revision.to_string()});
    if let Some((key, _)) = items[start..end].last().filter(|_| end < items.len()) {
        metadata["continue"] = json!(Token::after(listing.revision, key).text());
        if !selection.is_selective() {
            metadata["remainingItemCount"] = json!(items.len() - end);
        }
    }
    let repeats = token.is_some() && effects.contains(&Effect::RepeatAcrossPages);
    let page = &items[start.saturating_sub(usize::from(repeats))..end];
    let page: Vec<&Version> = page.iter().map(|(_, version)| version.as_ref()).collect();
    Ok(view.list(&metadata, &page, now))
}

fn read(
    store: &Store,
    kind: usize,
    query: &Query,
    token: Option<&Token>,
) -> Result<Listing, Failure> {
    let inner = store.lock();
    let at = match token {
        Some(token) => At::Exactly(token.revision),
        None => state(query, inner.revision())?,
    };
    let asked = match at {
        At::Now => None,
        At::Exactly(revision) => Some(revision),
    };
    inner
        .list(kind, asked)
        .map_err(|unreadable| match (unreadable, token) {
            (Unreadable::Future(newest), _) => {
                Failure::future_revision(asked.unwrap_or_default(), newest)
            }
            (Unreadable::Forgotten, None) => Failure::list_expired(),
            (Unreadable::Forgotten, Some(token)) => {
                let resume = Token {
                    revision: inner.revision(),
                    ..token.clone()
                };
                Failure::page_expired(resume.text())
            }
        })
}

/// The state that `resourceVersion` and `resourceVersionMatch` ask for.
fn state(query: &Query, newest: u64) -> Result<At, Failure> {
    let revision: Option<u64> = query.parsed("resourceVersion")?;
    match (query.get("resourceVersionMatch"), revision) {
        (None, None | Some(0)) | (Some("NotOlderThan"), Some(0)) => Ok(At::Now),
        (Some("Exact"), Some(revision)) if revision > 0 => Ok(At::Exactly(revision)),
        (None | Some("NotOlderThan"), Some(revision)) if revision > newest => {
            Err(Failure::future_revision(revision, newest))
        }
        (None | Some("NotOlderThan"), Some(_)) => Ok(At::Now),
        (Some("Exact"), Some(_)) => Err(Failure::invalid_options(
            "resourceVersionMatch",
            "resourceVersionMatch \"exact\" is forbidden for resourceVersion \"0\"",
        )),
        (Some(_), None) => Err(Failure::invalid_options(
            "resourceVersionMatch",
            "resourceVersionMatch is forbidden unless resourceVersion is provided",
        )),
        (Some(_), Some(_)) => Err(Failure::invalid_options(
            "resourceVersionMatch",
            "supported values: \"Exact\", \"NotOlderThan\", \"\"",
        )),
    }
}
