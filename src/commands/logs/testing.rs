//! Sources and events for the tests of `logs`.

use std::sync::Arc;

use jiff::Timestamp;

use crate::graph::well_known;
use crate::object::{Doc, ObjectRef, ResourceVersion};
use crate::source::{ClusterId, Event, Matcher, Select, SourceKey, Version, Why};

/// The source of one object in the namespace `shop`.
pub(super) fn key(group: &str, kind: &str, name: &str) -> SourceKey {
    let cluster = ClusterId("test".into());
    SourceKey::of(
        &cluster,
        well_known(group, kind),
        Some("shop".into()),
        Select::Name(name.into()),
    )
}

/// The event that lists an object; `None` if the source does not have it.
pub(super) fn listed(source: &SourceKey, object: &str) -> Option<Event> {
    let doc = Doc::parse(object).expect("a test's object is JSON");
    let reference = ObjectRef::of(doc.root());
    let is_of_type = reference.kind == source.resource.kind;
    if !is_of_type || !Matcher::new(&source.select).matches(doc.root()) {
        return None;
    }
    let version = Version {
        object: Arc::new(reference),
        version: ResourceVersion::new("1"),
        body: doc.into(),
    };
    Some(Event::Object {
        why: Why::Listed,
        past: false,
        seen: Timestamp::UNIX_EPOCH,
        now: Arc::new(version),
        prev: None,
    })
}
