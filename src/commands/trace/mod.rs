//! `trace`: the chain of one object, live. For a Service, it shows which Pods get traffic and why others do
//! not. For a Deployment, it shows the progress of its rollout.

mod chain;
mod deployment;
mod headline;
mod record;
mod service;
#[cfg(test)]
mod testing;
mod traced;
mod tracer;
mod transitions;

use super::{
    CommandError, Context, Ended, Ending, ErrorKind, ObjectArgs, Output, Session, Shutdown, Stop,
    Terminal, WatchArgs, follow,
};
use crate::cluster::{Names, Target as Asked};
use crate::object::{ObjectRef, Resource};
use crate::source::SourceKey;

use chain::Chain;
use tracer::{TraceFormat, Tracer};

/// Follow one object: where a Service sends traffic, or how a Deployment rolls out
#[derive(clap::Args, Clone, Debug)]
#[command(after_help = EXAMPLES)]
pub(crate) struct Args {
    #[command(flatten)]
    objects: ObjectArgs,
    /// Choose the output format
    #[arg(short, long, value_enum, default_value_t, value_name = "FORMAT")]
    output: TraceFormat,
    #[command(flatten)]
    watch: WatchArgs,
}

const EXAMPLES: &str = "Examples:
  kubectl spy trace svc/api               the Pods that get traffic, and why others do not
  kubectl spy trace deploy/web            the phases of a rollout, live
  kubectl spy trace deploy/web --once     print its current state and exit
  kubectl get svc,endpointslices,deploy,rs,po -o yaml | kubectl spy trace --once --from -
                                          each Service and Deployment of a file, in turn";

/// A type that can be traced.
struct Traceable {
    group: &'static str,
    kind: &'static str,
    /// Its form on the command line.
    usage: &'static str,
    open: fn(SourceKey) -> Box<dyn Chain>,
}

/// All types that can be traced.
const TRACEABLE: [Traceable; 2] = [
    Traceable {
        group: "",
        kind: "Service",
        usage: "svc/NAME",
        open: |source| Box::new(service::ServiceTrace::new(source)),
    },
    Traceable {
        group: "apps",
        kind: "Deployment",
        usage: "deploy/NAME",
        open: |source| Box::new(deployment::DeploymentTrace::new(source)),
    },
];

impl Args {
    /// Whether the output is pages, not single lines.
    fn shows_pages(&self, terminal: &Terminal<'_>) -> bool {
        self.output == TraceFormat::Text && (self.watch.ends() || terminal.is_live())
    }

    /// The same arguments, with these objects if they name none.
    pub(crate) fn about(mut self, objects: &[&str]) -> Args {
        self.objects.default_to(objects);
        self
    }
}

/// Runs the verb.
pub(crate) fn run(args: &Args, context: &mut Context<'_>) -> Result<Ended, CommandError> {
    context.block_on(async |context| {
        let shutdown = Shutdown::on_signal(context.env)?;
        show(args, context, &shutdown).await
    })
}

/// Shows the trace until `shutdown`.
pub(crate) async fn show(
    args: &Args,
    context: &mut Context<'_>,
    shutdown: &Shutdown,
) -> Result<Ended, CommandError> {
    let mut session = Session::open(context, &args.objects.source).await?;
    let asked = session.targets(&args.objects, "trace", context).await?;
    let chains = chains(&session, &asked)?;
    let ending = args.watch.ending();
    let output = match (args.output, ending) {
        (TraceFormat::Text, Ending::Never) => Output::Text,
        (TraceFormat::Text, Ending::Once) | (TraceFormat::Json, _) => Output::Lines,
    };
    let mut terminal = Terminal::open(context, output);
    let mut ended = Ended::Answered;
    let mut unread = None;
    let mut stop = Stop::at(shutdown);
    for (at, chain) in chains.into_iter().enumerate() {
        if at > 0 {
            session.rewind(terminal.env());
            if args.shows_pages(&terminal) {
                terminal.print(&[String::new()])?;
            }
        }
        let mut tracer = Tracer::new(chain, args.output, ending, terminal.env().now());
        let end = follow(&mut tracer, &session, &mut terminal, &mut stop).await;
        if let Some(missing) = tracer.missing {
            return Err(session.not_found(&[missing]).await);
        }
        ended = match end {
            // The other objects of the file are traced all the same.
            Err(error) if session.is_of_file() && error.kind() == ErrorKind::Failed => {
                unread.get_or_insert(error);
                continue;
            }
            end => end?,
        };
        if ended != Ended::Answered {
            break;
        }
    }
    unread.map_or(Ok(ended), Err)
}

/// The traces of the requested objects. In a cluster, one object is allowed. In a file, any number is
/// allowed, because each trace ends.
fn chains(session: &Session, asked: &[Asked]) -> Result<Vec<Box<dyn Chain>>, CommandError> {
    let mut chains = Vec::new();
    for asked in asked {
        let found = match &asked.names {
            Names::Named(_) => session.keys(std::slice::from_ref(asked)),
            Names::All => session.keys(&held(session, asked)),
        };
        let open = traceable(&asked.resource);
        match (open, &asked.names) {
            (Some(open), _) => chains.extend(found.into_iter().map(open)),
            (None, Names::All) => {} // other types of the file may be traceable
            (None, Names::Named(_)) => {
                let what = asked.resource.group_resource();
                return Err(not_traceable(&format!("{what} cannot be traced")));
            }
        }
    }
    let is_picky = |asked: &Asked| asked.labels.is_some() || asked.fields.is_some();
    match chains.len() {
        0 if session.is_of_file() && !asked.iter().any(is_picky) => {
            let file = &session.cluster.0;
            let namespace = asked.iter().find_map(|asked| asked.namespace.as_ref());
            let place = namespace.map(|namespace| format!(", namespace \"{namespace}\","));
            let place = place.unwrap_or_default();
            Err(not_traceable(&format!(
                "nothing in {file}{place} can be traced"
            )))
        }
        0 => Err(CommandError::usage("name one object: trace TYPE/NAME")),
        2.. if !session.is_of_file() => {
            Err(CommandError::usage("name only one object: trace TYPE/NAME"))
        }
        _ => Ok(chains),
    }
}

/// The function that opens the trace of an object of this type.
fn traceable(resource: &Resource) -> Option<fn(SourceKey) -> Box<dyn Chain>> {
    let kind = resource.group_kind();
    let mut known = TRACEABLE.iter();
    let found = known.find(|one| one.group == &*kind.group && one.kind == &*kind.kind);
    found.map(|one| one.open)
}

fn not_traceable(what: &str) -> CommandError {
    let usages = TRACEABLE.map(|one| one.usage).join(", ");
    CommandError::failed(format!("error: {what}")).hint(format!("trace one of these: {usages}"))
}

/// The objects of a file that were requested without names.
fn held(session: &Session, asked: &Asked) -> Vec<Asked> {
    let named = |object: ObjectRef| Asked {
        namespace: object.namespace.or_else(|| Some(session.namespace.clone())),
        names: Names::Named(vec![object.name]),
        ..asked.clone()
    };
    let is_picky = asked.labels.is_some() || asked.fields.is_some();
    let objects = session.held(asked).filter(|_| !is_picky);
    objects.into_iter().flatten().map(named).collect()
}
