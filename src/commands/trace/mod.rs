//! `trace`: the chain of one thing, live. For a Service what it sends to and why not; for a Deployment
//! how its rollout goes.

mod deployment;
mod objects;
mod outline;
mod page;
mod record;
mod service;
mod target;

use std::sync::Arc;

use jiff::Timestamp;

use super::{
    CommandError, Context, Ended, Live, ObjectArgs, Output, Session, Shutdown, Sources, Terminal,
    WatchArgs, follow,
};
use crate::cluster::{Names, Target as Asked};
use crate::render::age;
use crate::render::json::trace::{Graph, Phase};
use crate::render::style::Look;
use crate::watch::{Event, SourceKey};

use objects::Objects;
use page::Page;
use target::{Presence, Target};

/// Follow the chain of one object: what a Service sends to, how a Deployment rolls out
#[derive(clap::Args, Clone, Debug)]
pub(crate) struct Args {
    #[command(flatten)]
    objects: ObjectArgs,
    /// Output format
    #[arg(short, long, value_enum, default_value_t, value_name = "FORMAT")]
    output: Format,
    #[command(flatten)]
    watch: WatchArgs,
}

/// What is printed.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, clap::ValueEnum)]
enum Format {
    /// Text for people.
    #[default]
    Text,
    /// The graph as a line of JSON, each time it has changed.
    Json,
}

/// The trace of one object: a function of the events of its sources.
trait Chain {
    /// The sources that show the chain, as far as it is known.
    fn wanted(&self) -> Vec<SourceKey>;

    /// Takes one event.
    fn apply(&mut self, key: &Arc<SourceKey>, event: &Event);

    /// Which object it is the trace of.
    fn target(&self) -> &Target;

    /// Whether that object is there.
    fn presence(&self) -> &Presence;

    /// Everything that is known.
    fn objects(&self) -> &Objects;

    /// A line for each thing that has changed since the last call, with the time.
    fn news(&mut self, now: Timestamp) -> Vec<String>;

    /// Takes stock after a batch of events, and now and then as time goes on.
    fn settle(&mut self, _now: Timestamp) {}

    /// The whole view but its footer.
    fn frame(&self, page: &Page) -> Vec<String>;

    /// The phases that records show; none for what has no phases.
    fn phases(&self) -> Vec<Phase> {
        Vec::new()
    }
}

/// A type that can be traced.
struct Traceable {
    group: &'static str,
    kind: &'static str,
    /// How it is written on the command line.
    usage: &'static str,
    open: fn(Target) -> Box<dyn Chain>,
}

/// Everything that can be traced.
const TRACEABLE: [Traceable; 2] = [
    Traceable {
        group: "",
        kind: "Service",
        usage: "svc/NAME",
        open: |target| Box::new(service::State::new(target)),
    },
    Traceable {
        group: "apps",
        kind: "Deployment",
        usage: "deploy/NAME",
        open: |target| Box::new(deployment::State::new(target)),
    },
];

impl Args {
    /// The same about these objects, if none are named.
    pub(crate) fn about(mut self, objects: &[&str]) -> Args {
        self.objects.default_to(objects);
        self
    }
}

/// Runs the verb.
pub(crate) fn run(args: &Args, context: &mut Context<'_>) -> Result<Ended, CommandError> {
    context.block_on(async |context| {
        let shutdown = Shutdown::on_signal()?;
        show(args, context, &shutdown).await
    })
}

/// Shows the trace until `shutdown`.
pub(crate) async fn show(
    args: &Args,
    context: &mut Context<'_>,
    shutdown: &Shutdown,
) -> Result<Ended, CommandError> {
    let session = Session::open(context, &args.objects.source).await?;
    let asked = session.targets(&args.objects).await?;
    let chain = open(target(&session, &asked)?)?;
    let output = match (args.output, args.watch.ends()) {
        (Format::Text, false) => Output::Text,
        (Format::Text, true) | (Format::Json, _) => Output::Lines,
    };
    let mut terminal = Terminal::open(context, output);
    let mut tracer = Tracer::new(chain, args, terminal.env().now());
    let ended = follow(&mut tracer, &session, &mut terminal, shutdown).await;
    match tracer.missing {
        Some(missing) => Err(session.not_found(&[missing]).await),
        None => ended,
    }
}

/// Opens the trace of an object, if there is one of its type.
fn open(target: Target) -> Result<Box<dyn Chain>, CommandError> {
    let kind = target.resource.group_kind();
    let traceable = TRACEABLE
        .iter()
        .find(|one| one.group == &*kind.group && one.kind == &*kind.kind);
    match traceable {
        Some(traceable) => Ok((traceable.open)(target)),
        None => Err(not_traceable(&target.resource.group_resource())),
    }
}

fn not_traceable(what: &str) -> CommandError {
    let usages: Vec<_> = TRACEABLE.iter().map(|one| one.usage).collect();
    CommandError::failed(format!("error: {what} cannot be traced"))
        .hint(format!("what can be traced: {}", usages.join(", ")))
}

/// The one object that is asked for. A file may be asked for as a whole if it holds just one that
/// can be traced.
fn target(session: &Session, asked: &[Asked]) -> Result<Target, CommandError> {
    let names = asked.iter().flat_map(|asked| match &asked.names {
        Names::Named(names) => names.iter().map(|name| (asked, name.clone())).collect(),
        Names::All => Vec::new(),
    });
    match &names.collect::<Vec<_>>()[..] {
        [(asked, name)] => Ok(Target {
            cluster: session.cluster.clone(),
            resource: asked.resource.clone(),
            namespace: asked.namespace.clone().unwrap_or_default(),
            name: name.clone(),
        }),
        [] => Err(CommandError::usage(
            "the name of an object is missing: trace TYPE/NAME",
        )),
        _ => Err(CommandError::usage("one object is traced at a time")),
    }
}

/// A trace on its way to the terminal.
struct Tracer {
    chain: Box<dyn Chain>,
    format: Format,
    once: bool,
    started: Timestamp,
    /// Everything has been read once: from now on, changes are told.
    settled: bool,
    /// What is to be printed.
    lines: Vec<String>,
    /// The last record, to print none twice.
    record: Option<Graph>,
    /// When an object last changed.
    changed: Option<Timestamp>,
    /// Whether it was said that the object is not there.
    said_absent: bool,
    /// With `--once`: the source of the object, if that is not there.
    missing: Option<SourceKey>,
}

impl Tracer {
    fn new(chain: Box<dyn Chain>, args: &Args, started: Timestamp) -> Tracer {
        Tracer {
            chain,
            format: args.output,
            once: args.watch.ends(),
            started,
            settled: false,
            lines: Vec::new(),
            record: None,
            changed: None,
            said_absent: false,
            missing: None,
        }
    }

    /// Whether everything that is wanted has been read, or cannot be.
    fn is_settled(&self, sources: &Sources) -> bool {
        sources.are_settled() && sources.count() == self.chain.wanted().len()
    }

    /// Collects what is new for a reader of lines.
    fn collect(&mut self, look: Look, now: Timestamp) -> Result<(), CommandError> {
        match (self.format, self.once) {
            (Format::Json, _) => self.collect_record(now)?,
            (Format::Text, false) => self.lines.extend(self.chain.news(now)),
            (Format::Text, true) => {
                let page = Page {
                    look,
                    now,
                    started: None,
                    rows: None,
                };
                self.lines = self.chain.frame(&page);
            }
        }
        Ok(())
    }

    fn collect_record(&mut self, now: Timestamp) -> Result<(), CommandError> {
        let graph = Graph {
            phases: self.chain.phases(),
            ..record::graph(self.chain.target(), self.chain.objects(), now)
        };
        if self.record.as_ref() != Some(&graph) {
            let line = graph.line(&age::rfc3339_millis(now));
            self.lines
                .push(line.map_err(|error| CommandError::failed(format!("error: {error}")))?);
            self.record = Some(graph);
        }
        Ok(())
    }

    /// Says that the object is not there, once; who does not want to wait gets an error.
    fn say_absent(&mut self, terminal: &mut Terminal<'_>) -> Result<(), CommandError> {
        let is_absent = *self.chain.presence() == Presence::Absent;
        if !is_absent || self.said_absent {
            self.said_absent &= is_absent;
            return Ok(());
        }
        let target = self.chain.target();
        let missing = format!(
            "{} \"{}\" not found",
            target.resource.group_resource(),
            target.name
        );
        if self.once {
            self.missing = Some(target.source());
            return Ok(());
        }
        self.said_absent = true;
        let namespace = &target.namespace;
        let text = format!("{missing} in namespace \"{namespace}\": waiting for it to be created");
        if !terminal.is_live() {
            terminal.say(&text)?;
        }
        Ok(())
    }

    fn footer(&self, sources: &Sources, page: &Page) -> String {
        let changed = self
            .changed
            .map(|changed| format!("  last change {} ago", age::age(changed, page.now)));
        let counts = format!(
            "  {} objects  {} watches{}",
            self.chain.objects().len(),
            sources.count(),
            changed.unwrap_or_default()
        );
        let styles = page.look.styles;
        let left = format!(
            "{}{}",
            sources.summary(page.now, page.look),
            styles.dim(&counts)
        );
        page.spread(&left, &styles.dim("Ctrl-C to end"))
    }
}

impl Live for Tracer {
    fn wanted(&self) -> Vec<SourceKey> {
        self.chain.wanted()
    }

    fn apply(&mut self, key: &Arc<SourceKey>, event: Event, now: Timestamp) {
        self.chain.apply(key, &event);
        if self.settled && matches!(event, Event::Object { .. }) {
            self.changed = Some(now);
        }
    }

    fn print(
        &mut self,
        sources: &Sources,
        terminal: &mut Terminal<'_>,
    ) -> Result<(), CommandError> {
        self.settled |= self.is_settled(sources);
        if !self.settled {
            return Ok(());
        }
        self.chain.settle(terminal.env().now());
        self.say_absent(terminal)?;
        if terminal.is_live() || self.missing.is_some() {
            return Ok(());
        }
        self.collect(terminal.look(), terminal.env().now())?;
        if self.once && self.format == Format::Text {
            self.lines.extend(sources.refused());
        }
        let lines = std::mem::take(&mut self.lines);
        if !lines.is_empty() {
            terminal.print(&lines)?;
        }
        Ok(())
    }

    fn draw(&mut self, sources: &Sources, terminal: &mut Terminal<'_>) -> Result<(), CommandError> {
        let look = terminal.look();
        let size = terminal.env().size();
        let refused: Vec<String> = sources
            .refused()
            .map(|line| look.styles.dim(&line))
            .collect();
        let footer_rows = 1 + refused.len();
        let page = Page {
            // A line that fills the last column would wrap.
            look: Look {
                width: look.width.map(|width| width.saturating_sub(1)),
                ..look
            },
            now: terminal.env().now(),
            started: Some(self.started),
            // A row for the cursor, and one for the user's own last line.
            rows: size.map(|(_, rows)| usize::from(rows).saturating_sub(2 + footer_rows)),
        };
        let mut frame = self.chain.frame(&page);
        frame.extend(refused);
        frame.push(self.footer(sources, &page));
        terminal.draw(frame)?;
        Ok(())
    }

    fn is_answered(&self, sources: &Sources) -> bool {
        self.once && self.settled && self.is_settled(sources)
    }
}
