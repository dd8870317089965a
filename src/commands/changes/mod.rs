//! `changes`: each version of each object as a diff, with who made it.

mod args;
mod footer;
mod judge;
mod past;
mod record;
mod since;
mod state;
mod story;
mod view;

use std::collections::BTreeSet;
use std::sync::Arc;

use jiff::Timestamp;

use super::sources::{describe, named};
use super::{
    CommandError, Context, Ended, Live, Note, Output, Session, Shutdown, Sources, Terminal, follow,
};
use crate::diff::{Filter, Redactor};
use crate::object::SourceState;
use crate::watch::{Event, Recall, SourceKey};
pub(crate) use args::Args;
use args::Format;
use past::LookBack;
use since::Reach;
use state::{Happened, State, Step};
use story::Seam;
use view::View;

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
    let session = Session::open(context, &args.objects.source).await?;
    let targets = if args.looks_back() && args.objects.objects.is_empty() {
        session.every_kind(&args.objects).await?
    } else {
        session.targets(&args.objects).await?
    };
    let keys = session.keys(&targets);
    let output = match args.output {
        Format::Paths => Output::Text,
        Format::Json => Output::Lines,
    };
    let reach = Reach::new(args.since, args.since_rv, context.env.now());
    let mut changes = Changes::new(args, &session, keys);
    changes.look_back(&session, reach);
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
    /// The sources of single objects that are not there, until it has been said.
    absent: Vec<Arc<SourceKey>>,
    /// With `--once`: the sources of objects that were asked for and are not there.
    missing: Vec<SourceKey>,
    /// What happened before, until it is told. What comes meanwhile waits.
    past: Option<LookBack>,
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
            once: args.watch.ends(),
            pending: Vec::new(),
            absent: Vec::new(),
            missing: Vec::new(),
            past: None,
        }
    }

    fn look_back(&mut self, session: &Session, reach: Option<Reach>) {
        let shown = (self.view.filter.clone(), self.view.noise.clone());
        let past = reach.map(|reach| LookBack::new(session.mux.clone(), reach, &self.keys, shown));
        self.past = past.filter(LookBack::is_wanted);
    }

    /// Tells the look-back what there is to begin with.
    fn begin(&mut self, key: &SourceKey, event: &Event) {
        let Some(past) = &mut self.past else { return };
        let is_named = named(key).is_some();
        match event {
            Event::Object { now, .. } if is_named => past.start(key, Some(now.clone())),
            Event::Synced { .. } => past.start(key, None),
            Event::State(
                SourceState::Forbidden { .. }
                | SourceState::Unserved { .. }
                | SourceState::Failed { .. }
                // The others need not wait for a server that does not answer.
                | SourceState::Retrying { attempt: 3.., .. },
            ) => past.skip(key),
            Event::Object { .. } | Event::State(_) | Event::Gap(_) | Event::Undecodable { .. } => {}
        }
    }

    /// Prints the past, once it is all there; says whether what is live may follow.
    fn tell_past(&mut self, terminal: &mut Terminal<'_>) -> Result<bool, CommandError> {
        let Some(past) = self.past.take_if(|past| past.is_over()) else {
            return Ok(self.past.is_none());
        };
        let now = terminal.env().now();
        let told = story::timeline(&past.found, now);
        for happened in &told {
            if let Step::Deleted { last, .. } = &happened.step {
                self.state.remember_deleted(&last.object);
            }
        }
        self.absent
            .retain(|key| !self.once || !told.iter().any(|happened| happened.key == *key));
        let mut lines = Vec::new();
        let (mut shown, mut first) = (0, None);
        for happened in &told {
            let own = self.lines(happened, terminal);
            shown += usize::from(!own.is_empty());
            first = first.or(happened.past.filter(|_| !own.is_empty()));
            lines.extend(own);
        }
        if self.format == Format::Paths {
            let has_past = |key: &SourceKey| told.iter().any(|happened| *happened.key == *key);
            self.pending.retain(|happened| match happened.step {
                Step::Baseline(_) => !has_past(&happened.key),
                Step::Synced { .. } => false,
                _ => true,
            });
            let seam = Seam {
                found: &past.found,
                shown,
                first: first.map(|first| first.time),
                live: (!self.once).then_some(now),
            };
            let look = terminal.look();
            let drawn = seam.lines(|time| view::clock(time, (look, terminal.env())));
            lines.extend(drawn.iter().map(|line| look.styles.dim(line)));
        }
        terminal.print(&lines)?;
        Ok(true)
    }

    fn lines(&self, happened: &Happened, terminal: &Terminal<'_>) -> Vec<String> {
        match self.format {
            Format::Paths => self.view.lines(happened, terminal),
            Format::Json => self.view.record(happened).into_iter().collect(),
        }
    }
}

impl Live for Changes {
    fn wanted(&self) -> Vec<SourceKey> {
        self.keys.clone()
    }

    fn apply(&mut self, key: &Arc<SourceKey>, event: Event, now: Timestamp) {
        let is_named = named(key).is_some();
        if let Event::Synced { epoch: 1, count: 0 } = event
            && is_named
        {
            self.absent.push(key.clone());
        }
        self.begin(key, &event);
        self.pending
            .extend(self.state.apply(key, event, (now, is_named)));
    }

    fn recall(&self) -> Recall {
        Recall::Every
    }

    async fn more(&mut self) {
        match &mut self.past {
            Some(past) => past.next().await,
            None => std::future::pending().await,
        }
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
                past: None,
            }),
        }
        Ok(())
    }

    fn print(&mut self, _: &Sources, terminal: &mut Terminal<'_>) -> Result<(), CommandError> {
        if !self.tell_past(terminal)? {
            return Ok(());
        }
        for key in std::mem::take(&mut self.absent) {
            if self.once {
                self.missing.push((*key).clone());
            } else if self.format == Format::Paths {
                terminal.say(&waiting(&key))?;
            }
        }
        let mut lines = Vec::new();
        for happened in std::mem::take(&mut self.pending) {
            let shown = self.lines(&happened, terminal);
            self.state.hidden += u64::from(happened.is_version() && shown.is_empty());
            lines.extend(shown);
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
        self.once && self.past.is_none() && sources.are_settled()
    }
}

/// What is said of a single object that is not there.
fn waiting(key: &SourceKey) -> String {
    format!("waiting for {}", describe(key))
}
