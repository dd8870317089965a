//! The objects to trace: those with the requested names, and those that selectors match at the start.

use super::super::{CommandError, Need, Session, Sources};
use crate::cluster::{Names, Target as Asked};
use crate::env::Env;
use crate::object::ObjectRef;
use crate::source::{Event, SourceKey};
use crate::watch::{CatchUp, Patience, Subscriptions, Terms};

/// The most objects of one trace. Each has a block of its own.
const MAX_OBJECTS: usize = 16;

/// The sources of the requested objects, one for each object.
pub(super) async fn sources(
    session: &mut Session,
    asked: &[Asked],
    env: &Env,
) -> Result<Vec<SourceKey>, CommandError> {
    let mut sources: Vec<SourceKey> = Vec::new();
    for asked in asked {
        let keys = session.keys(std::slice::from_ref(asked));
        let found = match &asked.names {
            Names::Named(_) => keys,
            Names::All => {
                let mut named = Vec::new();
                for key in keys {
                    named.extend(matching(session, asked, key, env).await?);
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
        0 => Err(nothing(session, asked)),
        many if many > MAX_OBJECTS => {
            let error =
                format!("error: {many} objects match, but a trace shows at most {MAX_OBJECTS}");
            Err(CommandError::failed(error).hint("name some of them, or use `kubectl spy status`"))
        }
        _ => Ok(sources),
    }
}

/// The sources of the objects that a source shows now.
async fn matching(
    session: &mut Session,
    asked: &Asked,
    key: SourceKey,
    env: &Env,
) -> Result<Vec<SourceKey>, CommandError> {
    let is_picky = asked.labels.is_some() || asked.fields.is_some();
    let objects = match session.held(asked).filter(|_| !is_picky) {
        Some(objects) => objects,
        None => listed(session, key, env).await?,
    };
    session.rewind(env);
    let named = |object: ObjectRef| Asked {
        namespace: object.namespace.or_else(|| Some(session.namespace.clone())),
        names: Names::Named(vec![object.name]),
        labels: None,
        fields: None,
        ..asked.clone()
    };
    let named: Vec<Asked> = objects.into_iter().map(named).collect();
    Ok(session.keys(&named))
}

/// The objects of a source, as listed once.
async fn listed(
    session: &Session,
    key: SourceKey,
    env: &Env,
) -> Result<Vec<ObjectRef>, CommandError> {
    let source = session.mux.open_idle(key);
    let mut sources = Sources::default();
    sources.add(source.key(), Need::Vital);
    let mut subscriptions = Subscriptions::default();
    let terms = Terms {
        patience: Patience::Pipe,
        catch_up: CatchUp::Newest,
    };
    subscriptions.add(&source, terms);
    source.start();
    let mut objects = Vec::new();
    while let Some((key, event)) = subscriptions.next().await {
        sources.apply(&key, &event, env.now());
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

fn nothing(session: &Session, asked: &[Asked]) -> CommandError {
    let namespace = asked.iter().find_map(|asked| asked.namespace.as_ref());
    let place = namespace.map(|namespace| format!(" in namespace \"{namespace}\""));
    let place = place.unwrap_or_default();
    if session.is_of_file() {
        let file = &session.cluster.0;
        let error = CommandError::failed(format!("error: nothing to trace in {file}{place}"));
        return error.hint("name a type or an object: trace TYPE/NAME --from FILE");
    }
    let error = CommandError::failed(format!("error: no object matches{place}"));
    error.hint("to wait until an object is created, name it: trace TYPE/NAME")
}
