//! `status`: the live table of objects and everything they own.

mod blocks;
mod cluster_status;
mod cluster_views;
mod columns;
mod documents;
mod file;
mod header;
mod live;
mod options;
mod package_documents;
mod rows;
mod served;
mod since;
mod sort_by;
mod state;
mod table;
#[cfg(test)]
mod tests;
mod transitions;
mod view;

use std::sync::Arc;

use super::live::cluster_group::{ClusterGroup, GroupOptions};
use super::live::clusters::Clusters;
use super::manifests::ObjectRequest;
use super::{
    Awaited, CommandError, ConnectionSetup, Context, Ended, Ending, EveryKind, Judge, ObjectArgs,
    Output, RecordUse, RequestedTime, Session, Shutdown, Stop, Subject, Terminal, TimeOrAge,
    UnreadPart, ViewOpening, WaitArgs, WatchArgs, follow, hint_at_record,
};
use crate::cluster::ContextConfig;
use crate::env::Env;
use crate::status::Rules;
use crate::watch::FileTransport;
pub(super) use cluster_status::own_namespace;
use cluster_status::{ServerColumns, StatusSetup};
use live::LiveStatus;
use options::{Detail, HealthFilter, Idle, RowOptions, StatusFormat, Titles};
use package_documents::MemberList;
pub(super) use served::{PLAIN, Publication, RowChange, ServedStatus};
use since::TimeComparison;
use sort_by::SortBy;
pub(super) use state::{RETENTION, StatusState};

/// Show whether objects and all they own are well, and if not, why
#[derive(clap::Args, Clone, Debug)]
#[command(after_help = EXAMPLES)]
#[expect(clippy::struct_excessive_bools, reason = "each is a flag")]
pub(crate) struct StatusArgs {
    #[command(flatten)]
    objects: ObjectArgs,
    #[command(flatten)]
    watch: WatchArgs,
    #[command(flatten)]
    wait: WaitArgs,
    /// Choose the output format
    #[arg(short, long, value_enum, default_value_t)]
    output: StatusFormat,
    /// Choose the health rules
    #[arg(long, value_enum, default_value_t)]
    rules: Rules,
    /// Also show idle replicasets kept for rollback (default: counted)
    #[arg(long)]
    show_idle: bool,
    /// Show the rule behind each state, and the document that the rule comes from
    #[arg(long)]
    explain: bool,
    /// Show only objects that are not Current, and the owners above them. Without TYPE, look at every kind
    #[arg(long)]
    unhealthy: bool,
    /// List the members in the documents of -o resourcegroup and -o configmap
    #[arg(long)]
    members: bool,
    /// Leave out the titles of the columns and the counts
    #[arg(long)]
    no_headers: bool,
    /// Print the objects that were in another state at a time or this long ago, and exit: 10m,
    /// 2026-03-02T12:00:00Z
    #[arg(long, value_name = "TIME|DURATION", value_parser = TimeOrAge::parse, conflicts_with_all = ["at", "goals"])]
    since: Option<TimeOrAge>,
    /// Sort the objects by this field instead of worst first, for example .metadata.creationTimestamp
    #[arg(long, value_name = "JSONPATH")]
    sort_by: Option<String>,
}

const EXAMPLES: &str = "Examples:
  kubectl spy status deploy/web                  a Deployment, its ReplicaSets and their Pods, live
  kubectl spy status deploy/web --once           print its current state and exit
  kubectl spy status pods -l app=web -A          all Pods with a label, and new ones
  kubectl spy status deploy/web --explain        the rules behind each state, and their sources
  kubectl spy status --unhealthy                 what is not well in the namespace, and why
  kubectl spy status deploy,sts -A --unhealthy   the same, of two types in all namespaces
  kubectl spy status deploy/web -o json          one JSON record per line, for programs
  kubectl spy status -f manifests/ --for=current --timeout=5m
                                                 exit when the objects of manifests are ready
  kubectl spy status pods -A --since 10m         which were in another state ten minutes ago
  kubectl spy status resourcegroup/web --once -o resourcegroup
                                                 the state of a package, for kubectl apply
  kubectl spy status helm:web                    the objects of a Helm release
  kubectl get all -o yaml | kubectl spy status --once --from -
                                                 objects from a file, without a cluster";

impl StatusArgs {
    /// The same arguments, with these objects if they name none.
    pub(crate) fn about(mut self, objects: &[&str]) -> StatusArgs {
        self.objects.default_to(objects);
        self
    }

    fn options(&self) -> RowOptions {
        RowOptions {
            idle: if self.show_idle {
                Idle::Shown
            } else {
                Idle::Counted
            },
            explains: self.explain,
            health: if self.unhealthy {
                HealthFilter::Unhealthy
            } else {
                HealthFilter::Any
            },
            titles: if self.no_headers {
                Titles::Hidden
            } else {
                Titles::Shown
            },
            detail: self.output.detail(),
            members: if self.members {
                MemberList::Listed
            } else {
                MemberList::Counted
            },
        }
    }

    /// What the states are made of.
    fn setup(&self, env: &Env) -> Result<StatusSetup, CommandError> {
        let is_for_people = self.output.is_for_people();
        let reads_logs = self.wait.logs.reads_any() && self.watch.at.is_none();
        Ok(StatusSetup {
            rules: self.rules,
            sort_by: SortBy::parse(self.sort_by.as_deref().unwrap_or_default())?,
            is_about_every_kind: self.is_about_every_kind(),
            printed: match self.output.detail() {
                _ if !(is_for_people && (env.size().is_some() || self.is_once())) => {
                    ServerColumns::None
                }
                Detail::Fitted => ServerColumns::ButOfPods,
                Detail::Whole => ServerColumns::All,
            },
            looks_back: is_for_people || self.output == StatusFormat::Json,
            logs: reads_logs.then_some(self.wait.logs),
            ending: self.ending(),
            options: self.options(),
        })
    }

    /// The requested objects and types. What is not well can be of every kind: Events are no objects with a state.
    async fn targets(
        &self,
        session: &Session,
        context: &mut Context<'_>,
    ) -> Result<EveryKind, CommandError> {
        let is_unnamed = self.objects.subject() == Subject::Unnamed;
        if self.is_about_every_kind() {
            let every = session.targets_or_every_kind(&self.objects, "status", context);
            return Ok(every.await?.without_events());
        }
        let targets = session.targets(&self.objects, "status", context).await;
        let targets = targets.map_err(|error| {
            if is_unnamed && !self.objects.source.is_given() {
                error.hint("use status --unhealthy to see what is not well in the namespace")
            } else {
                error
            }
        });
        Ok(targets?.into())
    }

    /// Whether to look for what is not well in objects of every kind.
    fn is_about_every_kind(&self) -> bool {
        self.unhealthy && self.objects.subject() == Subject::Unnamed
    }

    /// Whether to show all objects of a file, and not only some of them or what happens to them.
    fn is_about_objects_of(&self, file: &FileTransport) -> bool {
        let objects = &self.objects;
        let is_selected = objects.selector.is_some() || objects.field_selector.is_some();
        let is_picky = objects.subject() != Subject::Unnamed || is_selected;
        let is_plain = !self.wait.has_goal() && self.sort_by.is_none();
        is_plain && !is_picky && (self.is_once() || !file.has_events())
    }

    /// Whether to print the current state and exit.
    fn is_once(&self) -> bool {
        self.ending() == Ending::Once
    }

    /// How standard output is written.
    fn stdout(&self) -> Output {
        if self.output.is_for_people() {
            Output::Text
        } else {
            Output::Lines
        }
    }

    fn opening(&self) -> ViewOpening<'_> {
        ViewOpening {
            verb: "status",
            source: &self.objects.source,
            watch: &self.watch,
            wait: &self.wait,
            ending: self.ending(),
        }
    }

    fn ending(&self) -> Ending {
        if self.wait.looks_once() || self.since.is_some() {
            Ending::Once
        } else {
            self.watch.ending(&self.objects.source)
        }
    }
}

pub(crate) fn run(args: &StatusArgs, context: &mut Context<'_>) -> Result<Ended, CommandError> {
    context.block_on(async |context| {
        let shutdown = Shutdown::on_signal(context.env)?;
        let ended = show(args, context, &shutdown).await;
        hint_at_record(ended, &args.objects, &args.watch.memory, context).await
    })
}

/// Shows the state of objects until `shutdown`.
pub(crate) async fn show(
    args: &StatusArgs,
    context: &mut Context<'_>,
    shutdown: &Shutdown,
) -> Result<Ended, CommandError> {
    args.wait.refuse_streams_without_goal()?;
    if args.members && args.output.package_form().is_none() {
        let error = CommandError::usage("--members needs -o resourcegroup or -o configmap");
        return Err(error);
    }
    let Some(since) = args.since else {
        let shown = Box::pin(show_at(args, TimeComparison::None, context, shutdown));
        return shown.await?.ended;
    };
    let is_of_documents = args.output.package_form().is_some();
    if is_of_documents || matches!(args.output, StatusFormat::Yaml | StatusFormat::Name) {
        return Err(CommandError::usage(
            "--since prints text or JSON: use -o json",
        ));
    }
    let (now, ahead) = (context.env.now.clone(), context.env.ahead.clone());
    // Nothing is printed of the earlier time.
    let stdout = std::mem::take(&mut context.env.stdout);
    let mut then = args.clone();
    then.watch.at = Some(since);
    let before = Box::pin(show_at(
        &then,
        TimeComparison::Before(Vec::new()),
        context,
        shutdown,
    ));
    let ShownStatus { ended, live } = before.await?;
    // Of several clusters, those that could be read are compared.
    let is_of_several = live.as_ref().is_some_and(LiveStatus::is_of_several);
    let past = live.map(LiveStatus::into_past).unwrap_or_default();
    if past.is_empty() || !is_of_several && ended.is_err() {
        return ended;
    }
    (context.env.now, context.env.ahead, context.env.stdout) = (now, ahead, stdout);
    let shown = Box::pin(show_at(
        args,
        TimeComparison::Since(past),
        context,
        shutdown,
    ));
    let shown = shown.await?.ended?;
    ended.map(|_| shown)
}

/// A view that has ended.
struct ShownStatus {
    ended: Result<Ended, CommandError>,
    /// The view, unless it was of a file.
    live: Option<LiveStatus>,
}

/// Shows the state of objects at one time.
async fn show_at(
    args: &StatusArgs,
    comparison: TimeComparison,
    context: &mut Context<'_>,
    shutdown: &Shutdown,
) -> Result<ShownStatus, CommandError> {
    let mut setup = args.setup(context.env)?;
    // A comparison has no causes.
    setup.looks_back &= matches!(comparison, TimeComparison::None);
    let mut stop = Stop::of(&args.wait, shutdown, context.env);
    if !args.objects.source.is_given() {
        let contexts = Box::pin(ClusterGroup::contexts(context));
        if let Some(contexts) = stop.in_time(Awaited::Server, contexts).await? {
            let several = SeveralClusters {
                setup,
                comparison,
                contexts,
            };
            return Box::pin(several.show(args, context, stop)).await;
        }
    }
    let session = args.opening().open(&stop, context).await?;
    stop.reads_file = session.is_of_file();
    if let Some(file) = session.file()
        && args.is_about_objects_of(file)
    {
        let ended = file::show_objects(args, &session, file, context);
        return Ok(ShownStatus { ended, live: None });
    }
    let targets = Box::pin(args.targets(&session, context));
    let every = stop
        .in_time(Awaited::targets(&args.objects), targets)
        .await?;
    if !args.is_once() || args.wait.has_goal() {
        context.unread.refuse_manifests()?;
    }
    let requested = setup.requested(session.keys(&every.targets));
    let model = async { Ok(session.model(&requested, args.rules, RETENTION).await) };
    let model = stop.in_time(Awaited::Types, Box::pin(model)).await?;
    let started = (context.env.now)();
    let state = setup.state(model, requested.clone(), &session);
    let mut live = LiveStatus::new(setup, args.output, started).only(state);
    live = live.comparing(comparison);
    live.add_silent(&every.silent);
    stop.wait_for(&requested, Judge::Model);
    let terminal = Terminal::open(context, args.stdout());
    let run = StatusRun { args, live, stop };
    run.follow((&session).into(), terminal).await
}

/// A view of several clusters.
struct SeveralClusters {
    setup: StatusSetup,
    comparison: TimeComparison,
    contexts: Vec<ContextConfig>,
}

impl SeveralClusters {
    /// Shows the state of objects.
    async fn show(
        mut self,
        args: &StatusArgs,
        context: &mut Context<'_>,
        mut stop: Stop,
    ) -> Result<ShownStatus, CommandError> {
        if let TimeComparison::Since(past) = &self.comparison {
            // A cluster that could not be read then has its line already.
            let is_known = |it: &ContextConfig| past.iter().any(|past| past.are_of(&it.name));
            self.contexts.retain(is_known);
        }
        let request = Box::pin(ObjectRequest::read(&args.objects, "status", context));
        let awaited = Awaited::targets(&args.objects);
        let request = stop.in_time(awaited, request).await?;
        let (memory, now) = (args.watch.memory.open(context)?, (context.env.now)());
        let options = GroupOptions {
            means_every_kind: args.is_about_every_kind(),
            watches: !args.is_once(),
            each_object: false,
            continues: None,
            memory: memory.map(|memory| (memory, RecordUse::LookBacks)),
            past: args.watch.at.map(|at| RequestedTime { at, now }),
        };
        let setup = ConnectionSetup::of(context);
        let group = ClusterGroup::new(self.contexts, setup, request, options);
        if args.watch.at.is_some() {
            context.env.now = Arc::new(move || now);
        }
        let started = (context.env.now)();
        let live = LiveStatus::new(self.setup, args.output, started).comparing(self.comparison);
        stop.wait_for_clusters(&group, Judge::Model);
        let terminal = Terminal::open(context, args.stdout());
        let run = StatusRun { args, live, stop };
        run.follow((&group).into(), terminal).await
    }
}

/// The verb, ready to read.
struct StatusRun<'a> {
    args: &'a StatusArgs,
    live: LiveStatus,
    stop: Stop,
}

impl StatusRun<'_> {
    /// Shows the state of objects until the end.
    async fn follow(
        self,
        clusters: Clusters<'_>,
        mut terminal: Terminal<'_>,
    ) -> Result<ShownStatus, CommandError> {
        let StatusRun {
            args,
            mut live,
            mut stop,
        } = self;
        let wait = &args.wait;
        if wait.expects_absence() {
            live.reports_waiting = false;
        }
        stop.looks_once = args.is_once();
        live.report_silent(&mut terminal)?;
        let ended = follow(&mut live, clusters, &mut terminal, &mut stop).await;
        let missing = match &live.missing[..] {
            _ if wait.is_about_presence() => &[],
            missing => missing,
        };
        if args.since.is_some()
            && let Some(error) = clusters.not_found(missing).await
        {
            return Err(error);
        }
        let absence = stop.explain_absence(clusters, missing, &ended);
        terminal.notify_if(absence.await?)?;
        let answer = live.answer(stop.shown.has_object);
        let silent = live.silent.iter();
        let silent = silent.map(|line| UnreadPart::Refused(format!("error: {line}")));
        let unread: Vec<UnreadPart> = stop.unread.into_iter().chain(silent).collect();
        let ended = ended.and_then(|ended| wait.conclude(ended, answer, unread));
        let live = Some(live);
        Ok(ShownStatus { ended, live })
    }
}
