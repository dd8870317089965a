//! `status`: the live table of objects and everything they own.

mod columns;
mod file;
mod header;
mod live;
mod rows;
mod state;
mod table;
mod transitions;
mod view;

use super::{
    Answer, CommandError, Context, Ended, Ending, ObjectArgs, Output, Session, Shutdown, Subject,
    Terminal, WaitArgs, WatchArgs, follow,
};
use crate::status::Rules;
use live::{LiveStatus, StatusFormat};
use state::StatusState;
use table::Idle;

/// Show the state of objects and of everything they own, live
#[derive(clap::Args, Clone, Debug)]
#[command(after_help = EXAMPLES)]
pub(crate) struct Args {
    #[command(flatten)]
    objects: ObjectArgs,
    #[command(flatten)]
    watch: WatchArgs,
    #[command(flatten)]
    ends: WaitArgs,
    /// Choose the output format
    #[arg(short, long, value_enum, default_value_t)]
    output: StatusFormat,
    /// Choose the health rules
    #[arg(long, value_enum, default_value_t)]
    rules: Rules,
    /// Also show idle replicasets kept for rollback (default: counted)
    #[arg(long)]
    show_idle: bool,
}

const EXAMPLES: &str = "Examples:
  kubectl spy status deploy/web                  a Deployment, its ReplicaSets and their Pods, live
  kubectl spy status deploy/web --once           print its current state and exit
  kubectl spy status pods -l app=web -A          all Pods with a label, and new ones
  kubectl spy status deploy/web -o json          one JSON record per line, for programs
  kubectl spy status -f web.yaml --for=condition=Ready --timeout=5m
                                                 exit when the objects of a manifest are ready
  kubectl get all -o yaml | kubectl spy status --once --from -
                                                 objects from a file, without a cluster";

impl Args {
    /// The same arguments, with these objects if they name none.
    pub(crate) fn about(mut self, objects: &[&str]) -> Args {
        self.objects.default_to(objects);
        self
    }

    fn idle(&self) -> Idle {
        if self.show_idle {
            Idle::Shown
        } else {
            Idle::Counted
        }
    }

    /// Whether to assess each object of a file on its own.
    fn is_about_documents(&self) -> bool {
        let objects = &self.objects;
        let is_selected = objects.selector.is_some() || objects.field_selector.is_some();
        let is_picky = objects.subject() != Subject::Unnamed || is_selected;
        objects.source.from.is_some() && self.is_once() && !is_picky && !self.ends.has_goal()
    }

    /// Whether to print the current state and exit.
    fn is_once(&self) -> bool {
        self.ending() == Ending::Once
    }

    fn ending(&self) -> Ending {
        if self.ends.looks_once() {
            Ending::Once
        } else {
            self.watch.ending()
        }
    }
}

pub(crate) fn run(args: &Args, context: &mut Context<'_>) -> Result<Ended, CommandError> {
    if args.is_about_documents() {
        return file::assess_each(args, context);
    }
    context.block_on(async |context| {
        let shutdown = Shutdown::on_signal(context.env)?;
        show(args, context, &shutdown).await
    })
}

/// Shows the state of objects until `shutdown`.
pub(crate) async fn show(
    args: &Args,
    context: &mut Context<'_>,
    shutdown: &Shutdown,
) -> Result<Ended, CommandError> {
    let mut stop = args.ends.stop(shutdown);
    let session = Session::open(context, &args.objects.source).await?;
    let targets = Box::pin(session.targets(&args.objects, "status", context));
    let targets = args.ends.in_time(&stop, targets).await?;
    let requested = session.keys(&targets);
    let mut state = StatusState::new(requested.clone(), args.rules, context.env.now());
    if session.is_of_file() {
        state = state.of_excerpt();
    }
    let output = match args.output {
        StatusFormat::Text => Output::Text,
        StatusFormat::Json => Output::Lines,
    };
    let mut live = LiveStatus::new(state, args.output, args.idle(), args.ending());
    if args.ends.expects_absence() {
        live = live.expecting_absence();
    }
    stop.wait_for(&args.ends, &requested);
    stop.looks_once = args.is_once();
    let mut terminal = Terminal::open(context, output);
    let ended = follow(&mut live, &session, &mut terminal, &mut stop).await;
    match live.missing() {
        missing if missing.is_empty() || args.ends.is_about_presence() => {
            let answer = Answer::from(!live.is_well());
            args.ends.conclude(ended?, answer, stop.unread)
        }
        missing => Err(session.not_found(missing).await),
    }
}

#[cfg(test)]
mod tests;
