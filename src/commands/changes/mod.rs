//! `changes`: shows each version of each object as a diff, with its writer.

mod args;
mod divider;
mod fold;
mod formats;
mod line_style;
mod output;
mod run;
mod schemas;

use std::sync::Arc;

use jiff::SignedDuration;

use super::{
    Awaited, CommandError, Context, Ended, Judge, RecordUse, Session, Shutdown, Stop, Terminal,
    follow,
};
use crate::commands::versions::ShownVersions;
use crate::diff::{Filter, Redactor};
use crate::env::Env;
use crate::object::list_keys::KindKeys;
use crate::render::diff::Fold;
pub(crate) use args::ChangesArgs;
use output::{Creation, DisplayOptions, Renderer};
use run::{Changes, Span};

pub(crate) fn run(args: &ChangesArgs, context: &mut Context<'_>) -> Result<Ended, CommandError> {
    context.block_on(async |context| {
        let shutdown = Shutdown::on_signal(context.env)?;
        show(args, context, &shutdown).await
    })
}

/// Shows changes until `shutdown`.
pub(crate) async fn show(
    args: &ChangesArgs,
    context: &mut Context<'_>,
    shutdown: &Shutdown,
) -> Result<Ended, CommandError> {
    args.wait.refuse_logs_without_goal()?;
    let mut stop = Stop::of(&args.wait, shutdown, context.env);
    let session = open_session(args, &stop, context).await?;
    stop.reads_file = session.is_of_file();
    let awaited = Awaited::targets(&args.objects);
    let every = if args.looks_back() {
        let kinds = Box::pin(session.targets_or_every_kind(&args.objects, "changes", context));
        stop.in_time(awaited, kinds).await?
    } else {
        let targets = Box::pin(session.targets(&args.objects, "changes", context));
        let targets = stop.in_time(awaited, targets).await;
        targets.map_err(|error| args.with_hint(error))?.into()
    };
    if !args.is_once() || args.wait.has_goal() {
        context.unread.refuse_manifests()?;
    }
    let keys = session.keys(&every.targets);
    let span = match (args.is_once(), session.is_of_file()) {
        (false, _) => Span::On,
        (true, false) => Span::Once,
        (true, true) => Span::File,
    };
    let mut renderer = Renderer::new(
        options(args, &session, context.env),
        args.output,
        &keys,
        context.env.now(),
    );
    renderer.summary.limit = args.count;
    let mut changes = Changes::new(keys.clone(), renderer, args.absence(), span);
    changes.look_back(&session, args.reach(context.env.now()), &every);
    changes.ask_for_schemas(&session);
    if args.wait.needs_judgement() {
        let judged = Box::pin(changes.judge(&session, context.env));
        stop.in_time(Awaited::Types, judged).await?;
        stop.wait_for(&keys, Judge::Model);
    } else {
        stop.wait_for(&keys, Judge::Versions);
    }
    stop.looks_once = args.is_once();
    let mut terminal = Terminal::open(context, args.output.output());
    if let Some(hint) = args.vain_question() {
        terminal.notify(hint)?;
    }
    let ended = follow(&mut changes, &session, &mut terminal, &mut stop).await;
    if ended.is_ok() {
        changes.close(&mut terminal).await?;
    }
    let missing = changes.missing(args, &stop, &ended);
    let absence = stop.explain_absence(&session, &missing, &ended).await?;
    terminal.notify_if(absence)?;
    let answer = changes.answer(&stop);
    let unread = changes.unread.into_iter().chain(stop.unread);
    args.wait.conclude(ended?, answer, unread)
}

/// The cluster or the file to read. A pipe is read as it comes, unless everything is printed at once.
async fn open_session(
    args: &ChangesArgs,
    stop: &Stop,
    context: &mut Context<'_>,
) -> Result<Session, CommandError> {
    let source = &args.objects.source;
    let opened = async {
        if args.is_once() {
            Session::open(context, source).await
        } else {
            Session::follow(context, source).await
        }
    };
    let opened = stop.in_time(Awaited::session(source), Box::pin(opened));
    let mut session = opened.await?;
    args.wait.refuse_nothing(&session, "changes")?;
    let store = args.watch.memory.path(context.env);
    if let Some(at) = args.watch.at {
        let looking = Box::pin(session.look_at(at, store.as_deref(), context));
        stop.in_time(Awaited::session(source), looking).await?;
    } else if let Some(store) = store.filter(|_| args.uses_store()) {
        let now = context.env.now.clone();
        let remembered = async { Ok(session.remember(&store, now, RecordUse::Everything).await) };
        let remembered = stop.in_time(Awaited::session(source), Box::pin(remembered));
        if let Some(note) = remembered.await? {
            context.note(&note);
        }
    }
    Ok(session)
}

/// The display options of the flags.
fn options(args: &ChangesArgs, session: &Session, env: &Env) -> DisplayOptions {
    DisplayOptions {
        cluster: session.cluster.0.to_string(),
        is_of_file: session.is_of_file(),
        is_once: args.is_once(),
        redactor: if args.show_secrets {
            args.output.revealing()
        } else {
            Redactor::new()
        },
        shown: Arc::new(ShownVersions {
            filter: Filter {
                only: args.only.clone(),
                ignore: args.ignore.clone(),
            },
            by: args.writers.managers(),
            noise: args.noise.shown(),
            keys: KindKeys::new(args.list_key.clone()),
            clock: Some(session.clock(env)),
        }),
        skew: SignedDuration::ZERO,
        creation: if args.full {
            Creation::Whole
        } else {
            Creation::RunSummary
        },
        timeline: args.fold_mode(),
        fold: if args.no_fold {
            Fold::Never
        } else {
            Fold::Many
        },
        namespace: (!args.objects.all_namespaces).then(|| session.namespace.clone()),
    }
}
