//! The server's schemas of kinds that are not built in: how the items of their lists are told apart. They are
//! requested beside everything else, and waited for no longer than a reader would notice.

use std::collections::{BTreeMap, BTreeSet, HashSet};
use std::sync::Arc;
use std::time::Duration;

use tokio::task::JoinSet;
use tokio::time::{Instant, sleep_until};

use super::state::TimelineEntry;
use crate::commands::Session;
use crate::object::list_keys::{KindKeys, Schema, is_built_in};
use crate::object::{GroupKind, Resource};
use crate::source::SourceKey;

/// How long the first version that is compared waits for the schema of its kind.
const PATIENCE: Duration = Duration::from_millis(300);

/// The schemas that were requested.
#[derive(Default)]
pub(super) struct Schemas {
    asked: JoinSet<Answer>,
    /// The kinds whose schema may be waited for.
    awaited: HashSet<GroupKind>,
    /// Until when, once anything waits.
    until: Option<Instant>,
}

/// The schema of these kinds; `None` if the server has none.
type Answer = (BTreeSet<GroupKind>, Option<Arc<Schema>>);

impl Schemas {
    /// Asks for those of the kinds of these sources. Nothing is asked about built-in ones.
    pub(super) fn of(session: &Session, keys: &[SourceKey]) -> Schemas {
        let mut schemas = Schemas::default();
        let Some(openapi) = session.openapi() else {
            return schemas;
        };
        for ((group, version), kinds) in not_built_in(keys) {
            let openapi = openapi.clone();
            schemas.ask(kinds, async move { openapi.schema(&group, &version).await });
        }
        schemas
    }

    fn ask(
        &mut self,
        kinds: BTreeSet<GroupKind>,
        schema: impl Future<Output = Option<Arc<Schema>>> + Send + 'static,
    ) {
        self.awaited.extend(kinds.iter().cloned());
        self.asked.spawn(async move { (kinds, schema.await) });
    }

    /// Waits until a schema has come, or it is too late for those that have not. One that comes later is
    /// learnt all the same, for kinds that nothing was compared of.
    pub(super) async fn next(&mut self, keys: &KindKeys) {
        let until = self.until.filter(|_| !self.awaited.is_empty());
        let late = async {
            match until {
                Some(until) => sleep_until(until).await,
                None => std::future::pending().await,
            }
        };
        tokio::select! {
            Some(answer) = self.asked.join_next() => {
                if let Ok(answer) = answer {
                    self.take(answer, keys);
                }
            }
            () = late => self.awaited.clear(),
        }
    }

    fn take(&mut self, (kinds, schema): Answer, keys: &KindKeys) {
        for kind in kinds {
            self.awaited.remove(&kind);
            if let Some(schema) = &schema {
                keys.learn(&kind, schema.clone());
            }
        }
    }

    /// Whether versions of this kind are not to be compared yet. From the first that is not on, there is
    /// only so much time for all.
    pub(super) fn holds(&mut self, kind: &GroupKind, keys: &KindKeys) -> bool {
        while let Some(answer) = self.asked.try_join_next() {
            if let Ok(answer) = answer {
                self.take(answer, keys);
            }
        }
        if !self.awaited.contains(kind) {
            return false;
        }
        let now = Instant::now();
        let is_late = now >= *self.until.get_or_insert(now + PATIENCE);
        if is_late {
            self.awaited.clear();
        }
        !is_late
    }

    /// Takes the entries that can be printed by now: in order, up to the first version that waits for a schema.
    pub(super) fn due(
        &mut self,
        pending: &mut Vec<TimelineEntry>,
        keys: &KindKeys,
    ) -> Vec<TimelineEntry> {
        let waits = |entry: &TimelineEntry| {
            let is_compared = entry.version().is_some_and(|event| event.old.is_some());
            is_compared && self.holds(&entry.key.resource.group_kind(), keys)
        };
        let due = pending.iter().position(waits);
        let later = due.map(|due| pending.split_off(due));
        std::mem::replace(pending, later.unwrap_or_default())
    }

    /// Waits for no schema any more; returns whether one was waited for.
    pub(super) fn give_up(&mut self) -> bool {
        let was_awaited = !self.awaited.is_empty();
        self.awaited.clear();
        was_awaited
    }
}

/// The kinds of sources by their group and version, but for built-in ones.
fn not_built_in(keys: &[SourceKey]) -> BTreeMap<(Arc<str>, Arc<str>), BTreeSet<GroupKind>> {
    let mut found: BTreeMap<_, BTreeSet<_>> = BTreeMap::new();
    let resources = keys.iter().map(|key| &key.resource);
    for resource in resources.filter(|resource| !is_built_in(&resource.group)) {
        let Resource { group, version, .. } = resource;
        let kinds = found.entry((group.clone(), version.clone())).or_default();
        kinds.insert(resource.group_kind());
    }
    found
}

#[cfg(test)]
mod tests {
    use tokio::sync::oneshot;
    use tokio::time::advance;

    use super::*;
    use crate::object::Doc;

    fn route() -> GroupKind {
        GroupKind {
            group: "example.com".into(),
            kind: "Route".into(),
        }
    }

    fn schema() -> Arc<Schema> {
        let text = r#"{"components":{"schemas":{"R":{
            "x-kubernetes-group-version-kind":[{"group":"example.com","version":"v1","kind":"Route"}]}}}}"#;
        Arc::new(Schema::read(Doc::parse(text).expect("JSON").root()))
    }

    /// Schemas of which one is asked for, and the server's side of it.
    fn asked() -> (Schemas, oneshot::Sender<Arc<Schema>>) {
        let (answer, coming) = oneshot::channel();
        let mut schemas = Schemas::default();
        schemas.ask(BTreeSet::from([route()]), async { coming.await.ok() });
        (schemas, answer)
    }

    /// For how many milliseconds a version of the kind waits that comes now.
    async fn held(schemas: &mut Schemas, keys: &KindKeys) -> u64 {
        let mut millis = 0;
        while schemas.holds(&route(), keys) {
            advance(Duration::from_millis(1)).await;
            millis += 1;
        }
        millis
    }

    #[tokio::test(start_paused = true)]
    async fn the_first_version_waits_and_no_longer() {
        let keys = KindKeys::default();
        let (mut schemas, _silent) = asked();
        advance(Duration::from_secs(9)).await;
        assert_eq!(held(&mut schemas, &keys).await, 300);
        assert_eq!(held(&mut schemas, &keys).await, 0);
    }

    #[tokio::test(start_paused = true)]
    async fn the_loop_is_woken_when_it_is_too_late() {
        let keys = KindKeys::default();
        let (mut schemas, _silent) = asked();
        assert!(schemas.holds(&route(), &keys));
        let begun = Instant::now();
        schemas.next(&keys).await;
        // Timers go by whole milliseconds.
        let waited = begun.elapsed().as_millis();
        assert!((300..=301).contains(&waited), "{waited}");
        assert!(!schemas.holds(&route(), &keys));
        assert!(!schemas.give_up());
    }

    #[tokio::test(start_paused = true)]
    async fn a_schema_that_is_there_is_not_waited_for() {
        let keys = KindKeys::default();
        let (mut schemas, answer) = asked();
        assert!(schemas.holds(&route(), &keys));
        answer.send(schema()).expect("it waits");
        schemas.next(&keys).await;
        assert!(!schemas.holds(&route(), &keys));
        assert!(keys.of(&route()).reads_paths(), "its schema is known");
    }

    #[tokio::test(start_paused = true)]
    async fn a_server_that_does_not_tell_is_not_waited_for() {
        let keys = KindKeys::default();
        let (mut schemas, answer) = asked();
        assert!(schemas.holds(&route(), &keys));
        drop(answer);
        schemas.next(&keys).await;
        assert!(!schemas.holds(&route(), &keys));
    }

    #[tokio::test(start_paused = true)]
    async fn a_late_schema_is_for_kinds_that_nothing_was_told_of() {
        for is_settled in [true, false] {
            let keys = KindKeys::default();
            let (mut schemas, answer) = asked();
            held(&mut schemas, &keys).await;
            if is_settled {
                keys.of(&route());
            }
            answer.send(schema()).expect("it is still asked for");
            schemas.next(&keys).await;
            assert_eq!(keys.of(&route()).reads_paths(), !is_settled);
        }
    }

    #[tokio::test(start_paused = true)]
    async fn other_kinds_wait_for_nothing() {
        let keys = KindKeys::default();
        let (mut schemas, _silent) = asked();
        let other = GroupKind {
            group: "apps".into(),
            kind: "Deployment".into(),
        };
        assert!(!schemas.holds(&other, &keys));
        assert_eq!(
            schemas.until, None,
            "the time of those that wait has not begun"
        );
    }
}
