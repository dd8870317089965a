//! `changes`: each version of each object as a diff, with who made it.

mod footer;
mod noise;
mod record;
mod state;
mod told;
mod view;

use std::sync::Arc;

use clap::ValueEnum;
use jiff::Timestamp;

use super::sources::{describe, named};
use super::{
    CommandError, Context, Ended, Live, Note, ObjectArgs, Output, Session, Shutdown, Sources,
    Terminal, WatchArgs, follow,
};
use crate::diff::{Filter, Redactor};
use crate::object::list_keys::{Chosen, KindKeys};
use crate::object::path::Pattern;
use crate::render::diff::Fold;
use crate::watch::{Event, SourceKey};
use noise::{NoiseArgs, QuietRuns};
use state::{Happened, State, Step};
use view::View;

/// Show each version of an object as a diff, and who made it
#[derive(clap::Args, Clone, Debug)]
#[command(after_help = EXAMPLES)]
pub(crate) struct Args {
    #[command(flatten)]
    objects: ObjectArgs,
    #[command(flatten)]
    watch: WatchArgs,
    /// Output format
    #[arg(short, long, value_enum, default_value_t)]
    output: Format,
    /// Show only changes at or below this path: status, .spec.replicas, spec.**.image; may be repeated
    #[arg(long, value_name = "PATH")]
    only: Vec<Pattern>,
    /// Leave out changes at or below this path; may be repeated
    #[arg(long, value_name = "PATH")]
    ignore: Vec<Pattern>,
    #[command(flatten)]
    noise: NoiseArgs,
    /// Tell the items of the lists at PATH apart by these fields: .spec.servers=host,port; may be repeated
    #[arg(long, value_name = "PATH=KEY[,KEY]")]
    list_key: Vec<Chosen>,
    /// Show what Secrets hold
    #[arg(long)]
    show_secrets: bool,
    /// Tell every change and every line of a text, however many; on a terminal they are counted above 200
    #[arg(long)]
    no_fold: bool,
}

const EXAMPLES: &str = "Examples:
  kubectl spy changes deploy/web                 each version of a Deployment, from now on
  kubectl spy changes deploy/web --only status   its status alone
  kubectl spy changes pods -l app=web            all Pods of a label, those to come too
  kubectl spy changes cm,secret -o json          a record a line, for programs";

/// The values of `-o`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, ValueEnum)]
enum Format {
    /// A line a change, with its path
    #[default]
    Paths,
    /// A JSON object a line
    Json,
}

impl Args {
    /// The same about these objects, if none are named.
    pub(crate) fn about(mut self, objects: &[&str]) -> Args {
        self.objects.default_to(objects);
        self
    }
}

pub(crate) fn run(args: &Args, context: &mut Context<'_>) -> Result<Ended, CommandError> {
    context.block_on(async |context| {
        let shutdown = Shutdown::on_signal()?;
        show(args, context, &shutdown).await
    })
}

/// Shows changes until `shutdown`.
pub(crate) async fn show(
    args: &Args,
    context: &mut Context<'_>,
    shutdown: &Shutdown,
) -> Result<Ended, CommandError> {
    let session = if args.watch.ends() {
        Session::open(context, &args.objects.source).await?
    } else {
        Session::follow(context, &args.objects.source).await?
    };
    let targets = session
        .targets(&args.objects, ("changes", &mut *context))
        .await?;
    let keys = session.keys(&targets);
    let output = match args.output {
        Format::Paths => Output::Text,
        Format::Json => Output::Lines,
    };
    let mut changes = Changes::new(args, &session, keys);
    let mut terminal = Terminal::open(context, output);
    let ended = follow(&mut changes, &session, &mut terminal, shutdown).await;
    match &changes.missing[..] {
        [] => ended,
        missing => Err(session.not_found(missing).await),
    }
}

/// The verb while it runs.
struct Changes {
    keys: Vec<SourceKey>,
    state: State,
    view: View,
    format: Format,
    once: bool,
    /// What has come since the last time that lines were printed.
    pending: Vec<Happened>,
    /// What only noise has happened to since.
    quiet: QuietRuns,
    /// The sources of single objects that are not there, until it has been said.
    absent: Vec<Arc<SourceKey>>,
    /// With `--once`: the sources of objects that were asked for and are not there.
    missing: Vec<SourceKey>,
}

impl Changes {
    fn new(args: &Args, session: &Session, keys: Vec<SourceKey>) -> Changes {
        let view = View {
            cluster: session.cluster.0.to_string(),
            redactor: if args.show_secrets {
                Redactor::revealing()
            } else {
                Redactor::new()
            },
            keys: KindKeys::new(args.list_key.clone()),
            filter: Filter {
                only: args.only.clone(),
                ignore: args.ignore.clone(),
            },
            noise: args.noise.shown(),
            fold: if args.no_fold {
                Fold::Never
            } else {
                Fold::Many
            },
            namespace: (!args.objects.all_namespaces).then(|| session.namespace.clone()),
        };
        Changes {
            keys,
            state: State::default(),
            view,
            format: args.output,
            once: args.watch.ends(),
            pending: Vec::new(),
            quiet: QuietRuns::default(),
            absent: Vec::new(),
            missing: Vec::new(),
        }
    }
}

impl Changes {
    /// The lines of what has happened. A version of nothing but noise is counted, on a terminal in one
    /// line that stands until the object changes.
    fn told(&mut self, happened: &Happened, terminal: &Terminal<'_>) -> Vec<String> {
        let told = self.view.told(happened, terminal);
        let Some(object) = happened.object() else {
            return told.lines;
        };
        if let Some(counts) = told.quiet {
            self.state.hidden += 1;
            if terminal.is_live() && counts.hidden() > 0 && counts.filtered == 0 {
                self.quiet.count(object, happened.seen, &counts);
            }
        }
        let (zone, look) = (&terminal.env().zone, terminal.look());
        let ended = match &told.lines[..] {
            [] => None,
            _ => self.quiet.end(object, zone, look),
        };
        ended.into_iter().chain(told.lines).collect()
    }
}

impl Live for Changes {
    fn wanted(&self) -> Vec<SourceKey> {
        self.keys.clone()
    }

    fn tells_waiting(&self) -> bool {
        !self.once && self.format == Format::Paths
    }

    fn apply(&mut self, key: &Arc<SourceKey>, event: Event, now: Timestamp) {
        let is_named = named(key).is_some();
        if let Event::Synced { epoch: 1, count: 0 } = event
            && is_named
        {
            self.absent.push(key.clone());
        }
        self.pending
            .extend(self.state.apply(key, event, (now, is_named)));
    }

    fn note(
        &mut self,
        key: &Arc<SourceKey>,
        note: Note,
        terminal: &mut Terminal<'_>,
    ) -> Result<(), CommandError> {
        match self.format {
            Format::Paths => terminal.note(&note)?,
            Format::Json => self.pending.push(Happened {
                seen: terminal.env().now(),
                key: key.clone(),
                step: Step::State(note),
            }),
        }
        Ok(())
    }

    fn print(&mut self, _: &Sources, terminal: &mut Terminal<'_>) -> Result<(), CommandError> {
        for key in std::mem::take(&mut self.absent) {
            if self.once {
                self.missing.push((*key).clone());
            } else if self.format == Format::Paths {
                terminal.say(&waiting(&key))?;
            }
        }
        let mut lines = Vec::new();
        for happened in std::mem::take(&mut self.pending) {
            match self.format {
                Format::Paths => lines.extend(self.told(&happened, terminal)),
                Format::Json => lines.push(self.view.record(&happened)),
            }
        }
        if !lines.is_empty() {
            terminal.print(&lines)?;
        }
        Ok(())
    }

    fn draw(&mut self, sources: &Sources, terminal: &mut Terminal<'_>) -> Result<(), CommandError> {
        let mut frame = self.quiet.lines(&terminal.env().zone, terminal.look());
        frame.extend(footer::footer(&self.state, sources, terminal));
        terminal.draw(frame)?;
        Ok(())
    }

    fn is_answered(&self, sources: &Sources) -> bool {
        self.once && sources.are_settled()
    }
}

/// What is said of a single object that is not there.
fn waiting(key: &SourceKey) -> String {
    format!("waiting for {}", describe(key))
}
