//! `changes`: each version of each object as a diff, with who made it.

mod args;
mod body;
mod by;
mod documents;
mod earlier;
mod footer;
mod formats;
mod judge;
mod noise;
mod page;
mod past;
mod record;
mod since;
mod state;
mod story;
mod summary;
mod told;
mod view;

use std::sync::Arc;

use jiff::Timestamp;

use super::sources::{describe, named};
use super::{
    CommandError, Context, Ended, Live, Note, Session, Shutdown, Sources, Terminal, follow,
};
use crate::diff::{Filter, Redactor};
use crate::object::list_keys::KindKeys;
use crate::render::diff::{Counts, Fold};
use crate::watch::{Event, Recall, SourceKey};
pub(crate) use args::Args;
use by::By;
use formats::Reader;
use noise::QuietRuns;
use past::LookBack;
use state::{Happened, State, Step};
use summary::Summary;
use told::Told;
use view::{Creation, View};

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
    let asking = ("changes", &mut *context);
    let targets = if args.looks_back() && args.objects.objects.is_empty() {
        session.every_kind(&args.objects, asking).await?
    } else {
        session.targets(&args.objects, asking).await?
    };
    let keys = session.keys(&targets);
    let view = view(args, &session);
    let mut changes = Changes::new((args, view), keys, context.env.now());
    changes.look_back(&session, args.reach(context.env.now()));
    let mut terminal = Terminal::open(context, args.output.output());
    let ended = follow(&mut changes, &session, &mut terminal, shutdown).await;
    match &changes.missing[..] {
        [] => ended,
        missing => Err(session.not_found(missing).await),
    }
}

/// How changes are to be shown.
fn view(args: &Args, session: &Session) -> View {
    View {
        cluster: session.cluster.0.to_string(),
        redactor: if args.show_secrets {
            args.output.revealing()
        } else {
            Redactor::new()
        },
        keys: KindKeys::new(args.list_key.clone()),
        filter: Filter {
            only: args.only.clone(),
            ignore: args.ignore.clone(),
        },
        by: By::new(&args.by),
        format: args.output,
        creation: if args.full {
            Creation::Whole
        } else {
            Creation::Summary
        },
        noise: args.noise.shown(),
        fold: if args.no_fold {
            Fold::Never
        } else {
            Fold::Many
        },
        namespace: (!args.objects.all_namespaces).then(|| session.namespace.clone()),
    }
}

/// The verb while it runs.
struct Changes {
    keys: Vec<SourceKey>,
    state: State,
    view: View,
    summary: Summary,
    /// Whether a document has been printed.
    has_document: bool,
    /// Whether it has been said that what is printed lacks what Secrets hold.
    has_warned: bool,
    once: bool,
    /// What has come since the last time that lines were printed.
    pending: Vec<Happened>,
    /// What only noise has happened to since.
    quiet: QuietRuns,
    /// The sources of single objects that are not there, until it has been said.
    absent: Vec<Arc<SourceKey>>,
    /// With `--once`: the sources of objects that were asked for and are not there.
    missing: Vec<SourceKey>,
    /// What happened before, until it is told. What comes meanwhile waits.
    past: Option<LookBack>,
    /// How many earlier versions were told.
    earlier: u64,
}

impl Changes {
    fn new((args, view): (&Args, View), keys: Vec<SourceKey>, started: Timestamp) -> Changes {
        Changes {
            keys,
            state: State::default(),
            view,
            summary: Summary::since(started),
            has_document: false,
            has_warned: false,
            once: args.watch.ends(),
            pending: Vec::new(),
            quiet: QuietRuns::default(),
            absent: Vec::new(),
            missing: Vec::new(),
            past: None,
            earlier: 0,
        }
    }
}

impl Changes {
    /// What is told of what has happened.
    fn told(&mut self, happened: &Happened, terminal: &Terminal<'_>) -> Told {
        let told = if !self.view.by.wrote(happened) {
            Told::quiet(Counts {
                filtered: 1,
                ..Counts::default()
            })
        } else {
            match self.view.format.reader() {
                Reader::Person => self.view.told(happened, terminal),
                Reader::Records => Told::lines(vec![self.view.record(happened)]),
                Reader::Documents => self.view.document(happened, terminal),
            }
        };
        self.summary.count(&told);
        self.framed(told, happened, terminal)
    }

    /// A version of nothing but noise is counted, on a terminal in one line that stands until the object
    /// changes. Documents are kept apart.
    fn framed(&mut self, mut told: Told, happened: &Happened, terminal: &Terminal<'_>) -> Told {
        if told.starts_document {
            if self.has_document {
                told.lines.insert(0, "---".to_owned());
            }
            self.has_document = true;
        }
        let Some(object) = happened.object() else {
            return told;
        };
        if let Some(counts) = &told.quiet {
            self.state.hidden += 1;
            if terminal.is_live() && counts.hidden() > 0 && counts.filtered == 0 {
                self.quiet.count(object, happened.seen, counts);
            }
        }
        if !told.lines.is_empty() && self.view.format.reader() == Reader::Person {
            let (zone, look) = (&terminal.env().zone, terminal.look());
            let ended = self.quiet.end(object, zone, look);
            told.lines.splice(0..0, ended);
        }
        told
    }
}

impl Live for Changes {
    fn wanted(&self) -> Vec<SourceKey> {
        self.keys.clone()
    }

    fn tells_waiting(&self) -> bool {
        !self.once && self.view.format.reader() != Reader::Records
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
        match self.view.format.reader() {
            Reader::Person | Reader::Documents => terminal.note(&note)?,
            Reader::Records => self.pending.push(Happened {
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
            } else if self.view.format.reader() != Reader::Records {
                terminal.say(&waiting(&key))?;
            }
        }
        let happened = std::mem::take(&mut self.pending);
        let page = self.page(&happened, terminal);
        page.print(terminal)
    }

    fn draw(&mut self, sources: &Sources, terminal: &mut Terminal<'_>) -> Result<(), CommandError> {
        let mut frame = self.quiet.lines(&terminal.env().zone, terminal.look());
        frame.extend(footer::footer(&self.state, sources, terminal));
        terminal.draw(frame)?;
        Ok(())
    }

    fn finish(
        &mut self,
        sources: &Sources,
        terminal: &mut Terminal<'_>,
    ) -> Result<(), CommandError> {
        let (look, now) = (terminal.look(), terminal.env().now());
        let mut frame = self.quiet.lines(&terminal.env().zone, look);
        frame.extend(footer::refused(sources, terminal));
        let versions = [(self.earlier, "earlier"), (self.state.versions, "live")];
        frame.push(self.summary.line(&versions, look.symbols.dot, now));
        terminal.draw(frame)?;
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
