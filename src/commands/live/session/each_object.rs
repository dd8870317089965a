//! One source for each requested object: those with the requested names, and those that selectors match at the start.

use super::Session;
use crate::cluster::{Names, Target};
use crate::commands::{CommandError, Need, Sources};
use crate::env::Clock;
use crate::object::ObjectRef;
use crate::source::{Event, SourceKey};
use crate::watch::{CatchUp, Mux, Patience, SubscribeOptions, Subscriptions};

/// The most objects of one view. Each has a block of its own.
const MAX_OBJECTS: usize = 16;

impl Session {
    /// The sources of the requested objects, one for each object. There are none if nothing matches. It fails if there are too
    /// many, and if the objects cannot be listed.
    pub(crate) async fn each_object(
        &self,
        requested: &[Target],
        now: &Clock,
    ) -> Result<Vec<SourceKey>, CommandError> {
        let mut sources: Vec<SourceKey> = Vec::new();
        for target in requested {
            let keys = self.keys(std::slice::from_ref(target));
            let found = match &target.names {
                Names::Named(_) => keys,
                Names::All => {
                    let mut named = Vec::new();
                    for key in keys {
                        named.extend(self.matching(target, key, now).await?);
                    }
                    named
                }
            };
            for source in found {
                if !sources.contains(&source) {
                    sources.push(source);
                }
            }
        }
        match sources.len() {
            many if many > MAX_OBJECTS => {
                let error =
                    format!("error: {many} objects match, but a trace shows at most {MAX_OBJECTS}");
                let hint = "name some of them, or use `kubectl spy status`";
                Err(CommandError::failed(error).hint(hint))
            }
            _ => Ok(sources),
        }
    }

    /// The words about requested objects of which none exists.
    pub(crate) fn nothing_matches(&self, requested: &[Target]) -> String {
        let mut namespaces = requested.iter().filter_map(|it| it.namespace.as_ref());
        let place = namespaces.next();
        let place = place.map(|namespace| format!(" in namespace \"{namespace}\""));
        let place = place.unwrap_or_default();
        if self.is_of_file() {
            format!("nothing to trace in {}{place}", self.cluster.0)
        } else {
            format!("no object matches{place}")
        }
    }

    /// The sources of the objects that a source shows now.
    async fn matching(
        &self,
        requested: &Target,
        key: SourceKey,
        now: &Clock,
    ) -> Result<Vec<SourceKey>, CommandError> {
        let is_picky = requested.labels.is_some() || requested.fields.is_some();
        let objects = match self.held(requested).filter(|_| !is_picky) {
            Some(objects) => objects,
            None => self.listed_once(key, now).await?,
        };
        let named = |object: ObjectRef| Target {
            namespace: object.namespace.or_else(|| Some(self.namespace.clone())),
            names: Names::Named(vec![object.name]),
            labels: None,
            fields: None,
            ..requested.clone()
        };
        let named: Vec<Target> = objects.into_iter().map(named).collect();
        Ok(self.keys(&named))
    }

    /// The objects of a source, as listed once.
    async fn listed_once(
        &self,
        key: SourceKey,
        now: &Clock,
    ) -> Result<Vec<ObjectRef>, CommandError> {
        // A source at the end of a file has no more events, so the view must not share it.
        let mux = if self.is_of_file() {
            let transport = self.transport.clone();
            Mux::new([(self.cluster.clone(), transport)], now.clone())
        } else {
            self.mux.clone()
        };
        let source = mux.open_idle(key);
        let mut sources = Sources::default();
        sources.add(source.key(), Need::Vital);
        let mut subscriptions = Subscriptions::default();
        let options = SubscribeOptions {
            patience: Patience::Pipe,
            catch_up: CatchUp::Newest,
        };
        subscriptions.add(&source, options);
        source.start();
        let mut objects = Vec::new();
        while let Some((key, event)) = subscriptions.next().await {
            sources.apply(&key, &event, now());
            if let Event::Object { now, .. } = &event {
                objects.push(ObjectRef::clone(&now.object));
            }
            if let Some(error) = sources.refusal() {
                return Err(error);
            }
            if sources.is_read() {
                break;
            }
        }
        Ok(objects)
    }
}
