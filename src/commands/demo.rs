//! `demo`: plays a scenario on the embedded cluster and watches it with one of the verbs.

use std::num::NonZeroU32;
use std::time::Duration;

use clap::{FromArgMatches, Subcommand};

use super::{ClusterOrigin, CommandError, Context, Ended, Shutdown, changes, logs, status, trace};
use crate::sandbox::scenario::{self, Scenario, Stage};
use crate::sandbox::{Options, Request, Sandbox};

/// Play a scenario on an embedded cluster; no Kubernetes needed
#[derive(clap::Args, Clone, Debug)]
#[command(subcommand_precedence_over_arg = true, after_help = EXAMPLES)]
pub(crate) struct DemoArgs {
    /// Choose the scenario: rollout, config or crash
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
  kubectl spy demo crash             a program panics again and again, shown by logs";

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
    let verb = args.verb.clone().unwrap_or_else(|| usual_verb(scenario));
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
        let is_watched =
            |requests: &[Request]| requests.iter().any(|one| one.path.contains("watch="));
        sandbox.requests_until(is_watched).await;
        let played = stage.faster(speed).play(std::future::pending()).await;
        tokio::time::sleep((LAST_FRAME / speed.get()).max(LAST_FRAME_AT_LEAST)).await;
        drop(over);
        played.map_err(CommandError::failed)
    };
    let watched = async {
        match verb {
            DemoVerb::Changes(args) => {
                changes::show(&args.about(objects), context, &shutdown).await
            }
            DemoVerb::Status(args) => status::show(&args.about(objects), context, &shutdown).await,
            DemoVerb::Trace(args) => {
                let args = args.about(objects);
                Box::pin(trace::show(&args, context, &shutdown)).await
            }
            DemoVerb::Logs(args) => {
                let args = args.about(objects);
                Box::pin(logs::show(&args, context, &shutdown)).await
            }
        }
    };
    tokio::pin!(scenario_run, watched);
    tokio::select! {
        ended = &mut watched => ended,
        played = &mut scenario_run => {
            played?;
            watched.await
        }
    }
}
