//! Which objects the server follows, and their state before any event. `Retargeting` finds both again while the server runs.

use super::config::LoadedConfig;
use crate::commands::live::cluster_group::JoinedCluster;
use crate::commands::live::clusters::Clusters;
use crate::commands::status::{RETENTION, StatusState, own_namespace};
use crate::commands::{
    ClusterOrigin, CommandError, Context, Ending, EveryKind, FailedAnswer, FailureLogs,
    LastChanges, LogLineArgs, LookArgs, ObjectArgs, Session, Subject, UnreadFiles,
};
use crate::env::Env;
use crate::model::Model;
use crate::render::display::Stream;
use crate::source::SourceKey;
use crate::status::Rules;

/// The objects of the command line, or the kinds of the configuration in their place.
pub(super) fn with_kinds(
    objects: &ObjectArgs,
    kinds: &[String],
) -> Result<ObjectArgs, CommandError> {
    if kinds.is_empty() {
        return Ok(objects.clone());
    }
    if objects.subject() != Subject::Unnamed {
        let error = "the types are named twice: as arguments, and with kinds: in the configuration";
        return Err(CommandError::usage(error));
    }
    // As arguments, several words would be a type and names.
    let are_types = kinds.iter().all(|kind| !kind.contains('/'));
    Ok(ObjectArgs {
        objects: if are_types {
            vec![kinds.join(",")]
        } else {
            kinds.to_vec()
        },
        ..objects.clone()
    })
}

/// Finds the types of the sinks, and the targets of the command line, or of the kinds of the configuration in their place.
pub(super) async fn find_targets(
    objects: &ObjectArgs,
    config: Option<&mut LoadedConfig>,
    session: &Session,
    context: &mut Context<'_>,
) -> Result<EveryKind, CommandError> {
    let Some(config) = config else {
        return targets(objects, session, context).await;
    };
    config.find_types(session).await?;
    configured_targets(objects, config, session, context).await
}

/// The targets of a configuration. An error names the line of the first kind that is wrong.
async fn configured_targets(
    objects: &ObjectArgs,
    config: &LoadedConfig,
    session: &Session,
    context: &mut Context<'_>,
) -> Result<EveryKind, CommandError> {
    let all = with_kinds(objects, &config.content.kinds)?;
    let error = match targets(&all, session, context).await {
        Ok(every) => return Ok(every),
        Err(error) => error,
    };
    if !matches!(error.answer(), None | Some(FailedAnswer::UnknownType)) {
        return Err(error);
    }
    for (kind, line) in config.kinds_with_lines() {
        let alone = with_kinds(objects, std::slice::from_ref(kind))?;
        if let Err(error) = targets(&alone, session, context).await {
            return Err(config.at_line(line, &error));
        }
    }
    Err(error)
}

/// The requested objects and types; without any, every kind but Events, which have no state.
async fn targets(
    objects: &ObjectArgs,
    session: &Session,
    context: &mut Context<'_>,
) -> Result<EveryKind, CommandError> {
    let every = session.targets_or_every_kind(objects, "serve", context);
    let every = every.await?;
    Ok(match objects.subject() {
        Subject::Unnamed => every.without_events(),
        Subject::Words | Subject::Releases | Subject::Manifests => every,
    })
}

/// The state of these objects before any event. It looks up what changed before a failure, and what failed containers printed.
pub(super) async fn state(
    objects: &ObjectArgs,
    session: &Session,
    every: &EveryKind,
) -> StatusState {
    let requested = requested(objects.subject(), session, every);
    let mut model = session.model(&requested, Rules::Spy, RETENTION).await;
    if objects.subject() == Subject::Unnamed {
        model.request_new_kinds();
    }
    looking_back(model, requested, session)
}

/// The same of one of several clusters.
pub(super) fn joined_state(subject: Subject, joined: JoinedCluster<'_>) -> StatusState {
    let mut model = joined.model(Rules::Spy, RETENTION);
    if subject == Subject::Unnamed {
        model.request_new_kinds();
    }
    let every = match subject {
        Subject::Unnamed => joined.every.without_events(),
        Subject::Words | Subject::Releases | Subject::Manifests => joined.every,
    };
    let requested = requested(subject, joined.session, &every);
    looking_back(model, requested, joined.session)
}

/// The sources of the objects. If they are all of a namespace, it is among them.
fn requested(subject: Subject, session: &Session, every: &EveryKind) -> Vec<SourceKey> {
    let mut requested = session.keys(&every.targets);
    if subject == Subject::Unnamed {
        requested.extend(own_namespace(&requested));
    }
    requested
}

fn looking_back(model: Model, requested: Vec<SourceKey>, session: &Session) -> StatusState {
    let state = StatusState::new(model, requested);
    let mut state = state.looking_back(LastChanges::new(session.past().clone()));
    let feeds = session.failure_feeds();
    let logs = LogLineArgs::default();
    state.failure_logs = feeds.map(|feeds| FailureLogs::new(feeds, logs, Ending::Never));
    state
}

/// Finds the objects again when the configuration names other kinds.
pub(super) struct Retargeting<'s> {
    /// Where they are found.
    pub(super) clusters: Clusters<'s>,
    /// The objects of the command line.
    objects: ObjectArgs,
    /// The kinds that are followed now.
    kinds: Vec<String>,
    origin: ClusterOrigin,
    look: LookArgs,
    env: Env,
}

impl<'s> Retargeting<'s> {
    /// Finds objects like these of the command line, while the kinds of this configuration are followed. Those of several clusters
    /// stay.
    pub(super) fn new(
        clusters: Clusters<'s>,
        objects: &ObjectArgs,
        config: &LoadedConfig,
        context: &Context<'_>,
    ) -> Retargeting<'s> {
        Retargeting {
            clusters,
            objects: objects.clone(),
            kinds: config.content.kinds.clone(),
            origin: context.origin.clone(),
            look: context.look,
            env: context.env.detached(Stream::default(), Stream::default()),
        }
    }

    /// The state of the objects of these kinds; `None` if they are followed already. What is followed before and after is not
    /// read again from the cluster. The kinds are followed once [`Retargeting::follow`] says so.
    pub(super) async fn state(
        &self,
        config: &LoadedConfig,
    ) -> Result<Option<Box<StatusState>>, CommandError> {
        if self.kinds == config.content.kinds {
            return Ok(None);
        }
        let Some(session) = self.clusters.only() else {
            let error = "error: other kinds of several clusters need another start of the server";
            return Err(CommandError::failed(error));
        };
        let objects = with_kinds(&self.objects, &config.content.kinds)?;
        let mut env = self.env.detached(Stream::default(), Stream::default());
        let mut context = Context {
            origin: self.origin.clone(),
            look: self.look,
            env: &mut env,
            unread: UnreadFiles::default(),
        };
        let every = configured_targets(&self.objects, config, session, &mut context).await?;
        let state = state(&objects, session, &every).await;
        Ok(Some(Box::new(state)))
    }

    /// Finds the types of the sinks. Of several clusters, each may serve others, so any word may be a type.
    pub(super) async fn find_types(&self, config: &mut LoadedConfig) -> Result<(), CommandError> {
        match self.clusters.only() {
            Some(session) => config.find_types(session).await,
            None => Ok(()),
        }
    }

    /// From now on, these kinds are followed.
    pub(super) fn follow(&mut self, kinds: Vec<String>) {
        self.kinds = kinds;
    }
}
