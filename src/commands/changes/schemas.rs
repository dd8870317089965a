//! `Schemas`: the server's schemas of custom kinds, which have the keys of their lists. The requests run beside everything
//! else, and a version waits for them no longer than a reader would notice.

use std::collections::{BTreeMap, BTreeSet, HashSet};
use std::io;
use std::sync::Arc;
use std::time::Duration;

use tokio::task::JoinSet;
use tokio::time::{Instant, sleep_until};

use crate::cluster::OpenApi;
use crate::commands::versions::{TimelineEntry, VersionEvent};
use crate::commands::{Session, Terminal};
use crate::object::list_keys::{KindKeys, Schema};
use crate::object::{GroupKind, Resource, is_kubernetes_own};
use crate::source::SourceKey;

/// How long the first compared version waits for the schema of its kind.
const PATIENCE: Duration = Duration::from_millis(300);

/// The requested schemas.
#[derive(Default)]
pub(super) struct Schemas {
    asked: JoinSet<Answer>,
    /// The kinds whose versions may still wait for a schema.
    awaited: HashSet<GroupKind>,
    /// The end of the wait; `None` until a version waits.
    until: Option<Instant>,
    /// Where they come from, until an error is reported.
    openapi: Option<Arc<OpenApi>>,
}

/// The schema of these kinds; `None` if the server has none.
type Answer = (BTreeSet<GroupKind>, Option<Arc<Schema>>);

impl Schemas {
    /// Requests the schemas for these sources. Built-in kinds need none.
    pub(super) fn of(session: &Session, keys: &[SourceKey]) -> Schemas {
        let mut schemas = Schemas::default();
        let Some(openapi) = session.openapi() else {
            return schemas;
        };
        for ((group, version), kinds) in not_built_in(keys) {
            let openapi = openapi.clone();
            schemas.openapi = Some(openapi.clone());
            schemas.ask(kinds, async move { openapi.schema(&group, &version).await });
        }
        schemas
    }

    /// Prints once why the keys of lists in custom kinds are guessed.
    pub(super) fn report(&mut self, terminal: &mut Terminal<'_>) -> io::Result<()> {
        let read = |openapi: &mut Arc<OpenApi>| openapi.problem().is_some();
        let Some(openapi) = self.openapi.take_if(read) else {
            return Ok(());
        };
        let why = openapi
            .problem()
            .map_or_else(String::new, ToString::to_string);
        terminal.notify(&format!(
            "the keys of lists in custom kinds are guessed, because their schemas cannot be read: {why}"
        ))
    }

    fn ask(
        &mut self,
        kinds: BTreeSet<GroupKind>,
        schema: impl Future<Output = Option<Arc<Schema>>> + Send + 'static,
    ) {
        self.awaited.extend(kinds.iter().cloned());
        self.asked.spawn(async move { (kinds, schema.await) });
    }

    /// Waits until a schema arrives or the wait ends. A later schema still counts for kinds without a compared version.
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

    /// Whether versions of this kind must wait. The first one that waits starts the clock for all kinds.
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

    /// Takes the entries that can be printed now: in order, up to the first version that waits for a schema.
    pub(super) fn due(
        &mut self,
        pending: &mut Vec<TimelineEntry>,
        keys: &KindKeys,
    ) -> Vec<TimelineEntry> {
        let waits = |entry: &TimelineEntry| {
            let is_compared = entry.version().is_some_and(VersionEvent::is_compared);
            is_compared && self.holds(&entry.key.resource.group_kind(), keys)
        };
        let due = pending.iter().position(waits);
        let later = due.map(|due| pending.split_off(due));
        std::mem::replace(pending, later.unwrap_or_default())
    }

    /// Ends the wait. Returns whether any kind was waiting.
    pub(super) fn give_up(&mut self) -> bool {
        let was_awaited = !self.awaited.is_empty();
        self.awaited.clear();
        was_awaited
    }
}

/// The custom kinds of sources, by group and version.
fn not_built_in(keys: &[SourceKey]) -> BTreeMap<(Arc<str>, Arc<str>), BTreeSet<GroupKind>> {
    let mut found: BTreeMap<_, BTreeSet<_>> = BTreeMap::new();
    let resources = keys.iter().map(|key| &key.resource);
    for resource in resources.filter(|resource| !is_kubernetes_own(&resource.group)) {
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

    /// Schemas with one open request, and the sender of its answer.
    fn asked() -> (Schemas, oneshot::Sender<Arc<Schema>>) {
        let (answer, coming) = oneshot::channel();
        let mut schemas = Schemas::default();
        schemas.ask(BTreeSet::from([route()]), async { coming.await.ok() });
        (schemas, answer)
    }

    /// How many milliseconds a version of the kind waits from now.
    async fn held(schemas: &mut Schemas, keys: &KindKeys) -> u64 {
        let mut millis = 0;
        while schemas.holds(&route(), keys) {
            advance(Duration::from_millis(1)).await;
            millis += 1;
        }
        millis
    }

    #[tokio::test(start_paused = true)]
    async fn versions_wait_300_ms_once() {
        let keys = KindKeys::default();
        let (mut schemas, _silent) = asked();
        advance(Duration::from_secs(9)).await;
        assert_eq!(held(&mut schemas, &keys).await, 300);
        assert_eq!(held(&mut schemas, &keys).await, 0);
    }

    #[tokio::test(start_paused = true)]
    async fn the_end_of_the_wait_wakes_the_loop() {
        let keys = KindKeys::default();
        let (mut schemas, _silent) = asked();
        assert!(schemas.holds(&route(), &keys));
        let begun = Instant::now();
        schemas.next(&keys).await;
        // Timers have a resolution of a millisecond.
        let waited = begun.elapsed().as_millis();
        assert!((300..=301).contains(&waited), "{waited}");
        assert!(!schemas.holds(&route(), &keys));
        assert!(!schemas.give_up());
    }

    #[tokio::test(start_paused = true)]
    async fn an_arrived_schema_ends_the_wait() {
        let keys = KindKeys::default();
        let (mut schemas, answer) = asked();
        assert!(schemas.holds(&route(), &keys));
        answer.send(schema()).expect("it waits");
        schemas.next(&keys).await;
        assert!(!schemas.holds(&route(), &keys));
        assert!(keys.of(&route()).reads_paths(), "its schema is known");
    }

    #[tokio::test(start_paused = true)]
    async fn a_failed_request_ends_the_wait() {
        let keys = KindKeys::default();
        let (mut schemas, answer) = asked();
        assert!(schemas.holds(&route(), &keys));
        drop(answer);
        schemas.next(&keys).await;
        assert!(!schemas.holds(&route(), &keys));
    }

    #[tokio::test(start_paused = true)]
    async fn a_late_schema_counts_only_for_kinds_without_a_compared_version() {
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
    async fn kinds_without_a_request_do_not_wait() {
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
