//! `changes`: each version of each object as a diff, with who made it.

mod footer;
mod record;
mod state;
mod told;
mod view;

use std::collections::BTreeSet;
use std::sync::Arc;

use clap::ValueEnum;
use jiff::Timestamp;

use super::sources::{describe, named};
use super::{
    CommandError, Context, EndArgs, Ended, Live, Note, ObjectArgs, Output, Session, Shutdown,
    Sources, Terminal, Until, WatchArgs, follow,
};
use crate::diff::{Filter, Redactor};
use crate::object::path::Pattern;
use crate::watch::{Event, SourceKey};
use state::{Happened, State, Step};
use told::Told;
use view::View;

/// Show each version of an object as a diff, and who made it
#[derive(clap::Args, Clone, Debug)]
#[command(after_help = EXAMPLES)]
pub(crate) struct Args {
    #[command(flatten)]
    objects: ObjectArgs,
    #[command(flatten)]
    watch: WatchArgs,
    #[command(flatten)]
    ends: EndArgs,
    /// End after so many versions
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u64).range(1..))]
    count: Option<u64>,
    /// Output format
    #[arg(short, long, value_enum, default_value_t)]
    output: Format,
    /// Show only changes at or below this path: status, .spec.replicas, spec.**.image; may be repeated
    #[arg(long, value_name = "PATH")]
    only: Vec<Pattern>,
    /// Leave out changes at or below this path; may be repeated
    #[arg(long, value_name = "PATH")]
    ignore: Vec<Pattern>,
}

const EXAMPLES: &str = "Examples:
  kubectl spy changes deploy/web                 each version of a Deployment, from now on
  kubectl spy changes deploy/web --only status   its status alone
  kubectl spy changes pods -l app=web            all Pods of a label, those to come too
  kubectl spy changes cm,secret -o json          a record a line, for programs
  kubectl spy changes deploy/web --for=condition=Available --timeout=5m
                                                 until it is available, or has failed
  helm template web ./chart | kubectl spy changes -f -
                                                 all that a chart makes";

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

    /// Whether to show what is, and not to wait for what comes.
    fn is_once(&self) -> bool {
        self.watch.ends() || self.ends.looks_once()
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
    let stop = args.ends.stop(shutdown);
    let session = if args.is_once() {
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
    let changes = Changes::new(args, &session, keys.clone());
    let mut changes = Until::new(changes, (&args.ends, &stop), &keys).once(args.is_once());
    let mut terminal = Terminal::open(context, output);
    let ended = follow(&mut changes, &session, &mut terminal, &stop.shutdown).await;
    let (changes, ended) = changes.end(ended);
    match &changes.missing[..] {
        [] => Ok(args.ends.report(ended?, changes.told.is_changed.into())),
        missing => Err(session.not_found(missing).await),
    }
}

/// What a single object that is not there means.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Absence {
    /// It is waited for.
    Waits,
    /// It is an error, as nothing is waited for.
    Missing,
    /// It is what is asked about.
    Fine,
}

impl Absence {
    fn of(args: &Args) -> Absence {
        match args.is_once() {
            _ if args.ends.expects_absence() => Absence::Fine,
            true if args.ends.is_about_presence() => Absence::Fine,
            true => Absence::Missing,
            false => Absence::Waits,
        }
    }
}

/// The verb while it runs.
struct Changes {
    keys: Vec<SourceKey>,
    state: State,
    view: View,
    format: Format,
    once: bool,
    absence: Absence,
    told: Told,
    /// What has come since the last time that lines were printed.
    pending: Vec<Happened>,
    /// The sources of single objects that are not there, until it has been said.
    absent: Vec<Arc<SourceKey>>,
    /// With `--once`: the sources of objects that were asked for and are not there.
    missing: Vec<SourceKey>,
}

impl Changes {
    fn new(args: &Args, session: &Session, keys: Vec<SourceKey>) -> Changes {
        let view = View {
            cluster: session.cluster.0.to_string(),
            redactor: Redactor::new(),
            filter: Filter {
                only: args.only.clone(),
                ignore: args.ignore.clone(),
            },
            noise: BTreeSet::new(),
            namespace: (!args.objects.all_namespaces).then(|| session.namespace.clone()),
        };
        Changes {
            keys,
            state: State::default(),
            view,
            format: args.output,
            once: args.is_once(),
            absence: Absence::of(args),
            told: Told::up_to(args.count),
            pending: Vec::new(),
            absent: Vec::new(),
            missing: Vec::new(),
        }
    }
}

impl Live for Changes {
    fn wanted(&self) -> Vec<SourceKey> {
        self.keys.clone()
    }

    fn tells_waiting(&self) -> bool {
        self.absence == Absence::Waits && self.format == Format::Paths
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
            match self.absence {
                Absence::Missing => self.missing.push((*key).clone()),
                Absence::Waits if self.format == Format::Paths => terminal.say(&waiting(&key))?,
                Absence::Waits | Absence::Fine => {}
            }
        }
        let mut lines = Vec::new();
        for happened in std::mem::take(&mut self.pending) {
            if self.told.is_enough() {
                break;
            }
            match self.format {
                Format::Paths => {
                    let shown = self.view.lines(&happened, terminal);
                    self.state.hidden += u64::from(happened.is_version() && shown.is_empty());
                    if shown.is_empty() {
                        continue;
                    }
                    lines.extend(shown);
                }
                Format::Json => lines.push(self.view.record(&happened)),
            }
            self.told.note(&happened, &self.view);
        }
        if !lines.is_empty() {
            terminal.print(&lines)?;
        }
        Ok(())
    }

    fn draw(&mut self, sources: &Sources, terminal: &mut Terminal<'_>) -> Result<(), CommandError> {
        let footer = footer::footer(&self.state, sources, terminal);
        terminal.draw(footer)?;
        Ok(())
    }

    fn is_answered(&self, sources: &Sources) -> bool {
        self.told.is_enough() || (self.once && sources.are_settled())
    }
}

/// What is said of a single object that is not there.
fn waiting(key: &SourceKey) -> String {
    format!("waiting for {}", describe(key))
}
