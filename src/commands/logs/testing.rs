//! Sources and events for the tests of `logs`.

use std::sync::Arc;

use jiff::Timestamp;

use super::timeline::{TimelineItem, TimelineKind};
use crate::graph::well_known;
use crate::object::{Doc, ObjectRef, ResourceVersion, Uid};
use crate::source::log::LogContainer;
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

/// A container of a Pod in the namespace `shop`.
pub(super) fn container(pod: &str, name: &str) -> Arc<LogContainer> {
    let pod = ObjectRef {
        api_version: "v1".into(),
        kind: "Pod".into(),
        namespace: Some("shop".into()),
        name: pod.into(),
        uid: Some(Uid::new(pod)),
    };
    Arc::new(LogContainer {
        cluster: ClusterId("test".into()),
        pod: Arc::new(pod),
        name: name.into(),
    })
}

/// A new state of a Pod, just now.
pub(super) fn item(text: &str) -> TimelineItem {
    TimelineItem {
        order: Timestamp::UNIX_EPOCH,
        time: Timestamp::UNIX_EPOCH,
        until: None,
        kind: TimelineKind::Status,
        object: container("api-7d9c-x2k1", "app").pod.clone(),
        who: None,
        text: text.into(),
        is_bad: false,
        is_live: true,
    }
}
