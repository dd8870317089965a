//! `demo`: plays a scenario on the embedded cluster and watches it with one of the verbs.

mod incident;

use std::num::NonZeroU32;
use std::time::Duration;

use clap::{FromArgMatches, Subcommand};

use super::{
    ClusterOrigin, CommandError, Context, Ended, STORE, Shutdown, changes, logs, status, trace,
};
use crate::render::display::Stream;
use crate::sandbox::scenario::{self, Scenario, Stage};
use crate::sandbox::{Options, Request, Sandbox};
use incident::{RecordedNight, SharedStdout};

/// Play a scenario on an embedded cluster; no Kubernetes needed
#[derive(clap::Args, Clone, Debug)]
#[command(subcommand_precedence_over_arg = true, after_help = EXAMPLES)]
pub(crate) struct DemoArgs {
    /// Choose the scenario: rollout, config, crash or incident
    #[arg(default_value = "rollout")]
    scenario: String,
    /// List the scenarios and exit
    #[arg(long)]
    list: bool,
    /// Play this many times faster, for example 4
    #[arg(long, value_name = "TIMES", default_value = "1")]
    speed: NonZeroU32,
    #[command(subcommand)]
    verb: Option<DemoVerb>,
}

const EXAMPLES: &str = "Examples:
  kubectl spy demo                   a rollout fails and is then fixed, shown by status
  kubectl spy demo rollout changes   the same rollout, shown by changes
  kubectl spy demo rollout logs      what its containers print
  kubectl spy demo config            edits of a ConfigMap, a Secret and an autoscaler
  kubectl spy demo crash             a program panics again and again, shown by logs
  kubectl spy demo incident          something broke hours ago; a record shows what changed";

/// The verb to watch the scenario with. Without arguments it shows the objects of the scenario.
#[derive(Subcommand, Clone, Debug)]
enum DemoVerb {
    Changes(changes::ChangesArgs),
    Status(status::StatusArgs),
    Trace(trace::TraceArgs),
    Logs(logs::LogsArgs),
}

/// How long the last frame stays before the demo exits, at speed 1.
const LAST_FRAME: Duration = Duration::from_secs(3);
/// How long it stays at any speed: the verb must have drawn it, on a busy machine too.
const LAST_FRAME_AT_LEAST: Duration = Duration::from_secs(1);

pub(crate) fn run(args: &DemoArgs, context: &mut Context<'_>) -> Result<Ended, CommandError> {
    let scenarios = scenario::all();
    if args.list {
        let lines = scenarios.iter();
        let lines = lines.map(|scenario| format!("{:10}{}", scenario.name, scenario.about));
        context.print(lines)?;
        return Ok(Ended::Answered);
    }
    let Some(scenario) = scenarios
        .iter()
        .find(|scenario| scenario.name == args.scenario)
    else {
        let names: Vec<_> = scenarios.iter().map(|scenario| scenario.name).collect();
        return Err(
            CommandError::usage(format!("unknown scenario \"{}\"", args.scenario))
                .hint(format!("use one of {}", names.join(", "))),
        );
    };
    let verb = args.verb.clone();
    if scenario.name == "incident" {
        return context
            .block_on(async |context| Box::pin(look_back(scenario, verb, context)).await);
    }
    let verb = verb.unwrap_or_else(|| usual_verb(scenario));
    context.block_on(async |context| Box::pin(play(scenario, args.speed, verb, context)).await)
}

/// The verb for a scenario when the command line names none.
fn usual_verb(scenario: &Scenario) -> DemoVerb {
    let verb = match scenario.name {
        "config" => "changes",
        "crash" => "logs",
        _ => "status",
    };
    parsed(&["demo", verb])
}

/// Parses a verb as if the user had typed it.
fn parsed(words: &[&str]) -> DemoVerb {
    let command = DemoVerb::augment_subcommands(clap::Command::new("demo"));
    let matches = command.get_matches_from(words);
    DemoVerb::from_arg_matches(&matches).expect("the words are a verb and objects of ours")
}

/// The objects of a scenario that each verb shows by default.
fn subject(scenario: &Scenario, verb: &DemoVerb) -> &'static [&'static str] {
    match (scenario.name, verb) {
        ("config", DemoVerb::Changes(_)) => &[
            "cm/api-config",
            "cm/flags",
            "secret/db",
            "hpa/api",
            "deploy/api",
        ],
        ("config", DemoVerb::Status(_)) => &["deploy/api", "hpa/api"],
        ("config", DemoVerb::Logs(_)) => &["deploy/api"],
        ("config", DemoVerb::Trace(_)) => &["svc/api"],
        (_, DemoVerb::Trace(_)) => &["svc/web"],
        (_, DemoVerb::Changes(_) | DemoVerb::Status(_) | DemoVerb::Logs(_)) => &["deploy/web"],
    }
}

async fn play(
    scenario: &Scenario,
    speed: NonZeroU32,
    verb: DemoVerb,
    context: &mut Context<'_>,
) -> Result<Ended, CommandError> {
    let sandbox = Sandbox::start(Options::new(context.env.now.clone())).await?;
    context.origin = ClusterOrigin::Plain {
        server: sandbox.url(),
        name: "demo",
        namespace: scenario.namespace,
    };
    let (over, is_over) = tokio::sync::oneshot::channel::<()>();
    let shutdown = Shutdown::on_signal(context.env)?.or(async move {
        let _dropped = is_over.await;
    });
    let objects = subject(scenario, &verb);
    let stage = Stage::set(&sandbox, scenario).map_err(CommandError::failed)?;
    let scenario_run = async {
        // On a busy machine, the scenario would otherwise be over before the verb shows anything.
        sandbox.requests_until(is_watched).await;
        let played = stage.faster(speed).play(std::future::pending()).await;
        tokio::time::sleep((LAST_FRAME / speed.get()).max(LAST_FRAME_AT_LEAST)).await;
        drop(over);
        played.map_err(CommandError::failed)
    };
    let watched = watch(verb, objects, context, &shutdown);
    tokio::pin!(scenario_run, watched);
    tokio::select! {
        ended = &mut watched => ended,
        played = &mut scenario_run => {
            played?;
            watched.await
        }
    }
}

fn is_watched(requests: &[Request]) -> bool {
    requests.iter().any(|one| one.path.contains("watch="))
}

/// Runs a verb, which shows these objects if the command line names none.
async fn watch(
    verb: DemoVerb,
    objects: &[&str],
    context: &mut Context<'_>,
    shutdown: &Shutdown,
) -> Result<Ended, CommandError> {
    match verb {
        DemoVerb::Changes(args) => {
            Box::pin(changes::show(&args.about(objects), context, shutdown)).await
        }
        DemoVerb::Status(args) => {
            Box::pin(status::show(&args.about(objects), context, shutdown)).await
        }
        DemoVerb::Trace(args) => {
            Box::pin(trace::show(&args.about(objects), context, shutdown)).await
        }
        DemoVerb::Logs(args) => Box::pin(logs::show(&args.about(objects), context, shutdown)).await,
    }
}

/// Plays a night at once, records it, and looks back at it: with a verb, or with the commands that tell the story.
async fn look_back(
    scenario: &Scenario,
    verb: Option<DemoVerb>,
    context: &mut Context<'_>,
) -> Result<Ended, CommandError> {
    let night = Box::pin(RecordedNight::pass(scenario, context)).await?;
    let store = night.store.0.clone().into();
    let variables = &mut context.env.variables;
    variables.insert(STORE.into(), store);
    let shutdown = Shutdown::on_signal(context.env)?;
    if let Some(verb) = verb {
        return look_back_with(verb, &night, context, shutdown).await;
    }
    let (now, ahead) = (context.env.now.clone(), context.env.ahead.clone());
    let stdout = SharedStdout::of(&mut context.env.stdout);
    for (place, command) in night.commands().into_iter().enumerate() {
        // Each command takes the stream.
        context.env.stdout = Stream::new(stdout.clone());
        let title = format!("$ kubectl spy {}", command.words.join(" "));
        let gap = (place > 0).then(String::new);
        context.print(gap.into_iter().chain([command.about.to_owned(), title]))?;
        let words = command.words.iter().map(String::as_str);
        let words: Vec<&str> = ["demo"].into_iter().chain(words).collect();
        let ended = match parsed(&words) {
            DemoVerb::Changes(args) => Box::pin(changes::show(&args, context, &shutdown)).await,
            verb => watch(verb, &[], context, &shutdown).await,
        };
        // `--at` sets the clock.
        (context.env.now, context.env.ahead) = (now.clone(), ahead.clone());
        match ended? {
            Ended::Answered | Ended::Found | Ended::OutOfTime => {}
            stopped @ Ended::By(_) => return Ok(stopped),
        }
    }
    Ok(Ended::Answered)
}

/// Looks back at a night with a verb. A view on a terminal goes on until the user ends it.
async fn look_back_with(
    verb: DemoVerb,
    night: &RecordedNight,
    context: &mut Context<'_>,
    shutdown: Shutdown,
) -> Result<Ended, CommandError> {
    let is_live = context.env.is_live();
    let (over, is_over) = tokio::sync::oneshot::channel::<()>();
    let shutdown = shutdown.or(async move {
        let _dropped = is_over.await;
    });
    let ends = async {
        night.sandbox.requests_until(is_watched).await;
        if is_live {
            std::future::pending::<()>().await;
        }
        tokio::time::sleep(LAST_FRAME_AT_LEAST).await;
        drop(over);
    };
    let shown = async {
        match verb {
            DemoVerb::Changes(args) => {
                let args = args.about_past(&["deploy/web"]);
                Box::pin(changes::show(&args, context, &shutdown)).await
            }
            verb => watch(verb, &["deploy/web"], context, &shutdown).await,
        }
    };
    tokio::pin!(ends, shown);
    tokio::select! {
        ended = &mut shown => ended,
        () = &mut ends => shown.await,
    }
}
