//! `LogsArgs`: the arguments of `logs`, and what they ask for.

use std::fmt;
use std::str::FromStr;
use std::time::Duration;

use jiff::{SignedDuration, Timestamp};

use super::selected_pods::RevisionChoice;
use super::timeline::TimelineParts;
use crate::cluster::TypeWord;
use crate::commands::args::is_release;
use crate::commands::container_lines::{LineFilter, LogFormat, OrderChoice, StateChoice};
use crate::commands::versions::Since;
use crate::commands::{
    CommandError, Context, FailedAnswer, FileArgs, GoalArgs, ManifestArgs, MemoryArgs, MemoryStore,
    ObjectArgs, TimeOrAge,
};
use crate::logs::{ContainerFilter, LogLevel, ReadInstances, ReadOptions};
use crate::object::{parse_duration, well_known};
use crate::source::log::{LogSince, LogStart};

/// Show every line of everything that a workload runs
#[derive(clap::Args, Clone, Debug)]
#[command(after_help = EXAMPLES)]
#[expect(clippy::struct_excessive_bools, reason = "each is a flag")]
pub(crate) struct LogsArgs {
    /// A Pod by its name, or anything with Pods below it: TYPE/NAME…, TYPE NAME… or TYPE; helm:RELEASE stands for the
    /// objects of a Helm release
    #[arg(value_name = "TYPE/NAME")]
    objects: Vec<String>,
    /// Show only objects with these labels, for example app=web,tier!=cache; without TYPE, only Pods
    #[arg(short = 'l', long)]
    selector: Option<String>,
    /// Look in all namespaces, even if -n names one
    #[arg(short = 'A', long)]
    all_namespaces: bool,
    /// Show the logs of the objects that these manifests name: a file, a directory, a quoted pattern such as
    /// 'k8s/*.yaml', or - for standard input; repeat for several
    #[arg(long, value_name = "FILE", value_delimiter = ',')]
    filename: Vec<String>,
    /// With --filename: read subdirectories too
    #[arg(short = 'R', long)]
    recursive: bool,
    /// Show the logs of the objects that this kustomization names; needs kubectl, which builds it
    #[arg(short = 'k', long, value_name = "DIR")]
    kustomize: Option<String>,
    /// Keep showing new lines, of restarted containers and new Pods too, until you press Ctrl-C (default with --for)
    #[arg(short, long)]
    follow: bool,
    /// Show only these containers: a name or a pattern such as 'app-*'; '!NAME' leaves one out (default: the
    /// container that the Pod's annotation kubectl.kubernetes.io/default-container names, or else all)
    #[arg(
        short = 'c',
        long = "container",
        value_name = "NAME",
        value_delimiter = ','
    )]
    containers: Vec<String>,
    /// Show all containers, also those beside the default container
    #[arg(long)]
    all_containers: bool,
    /// Show the instance before the present one of each container, and exit
    #[arg(short, long)]
    previous: bool,
    /// Start this far back, for example 5m or 1h30m (default: with the first line)
    #[arg(long, value_name = "DURATION", value_parser = duration)]
    since: Option<Duration>,
    /// Start at this time, for example 2026-03-02T12:00:00Z
    #[arg(long, value_name = "TIME", conflicts_with = "since")]
    since_time: Option<Timestamp>,
    /// Start with this many of the newest lines of each container; -1: all (default: -1 for one Pod or with --since,
    /// 10 for several)
    #[arg(long, value_name = "LINES")]
    tail: Option<i64>,
    /// Show the time of each line
    #[arg(long)]
    timestamps: bool,
    /// Show the Pod and the container before each line, as kubectl does
    #[arg(long)]
    prefix: bool,
    /// Show at most this many bytes of each container; 0: all
    #[arg(long, value_name = "BYTES")]
    limit_bytes: Option<i64>,
    /// Read the logs of at most this many containers at the same time, and the others in turn
    #[arg(long, value_name = "COUNT", default_value_t = 200)]
    max_log_requests: usize,
    /// Exit with 0 even if a log cannot be read
    #[arg(long)]
    pub(super) ignore_errors: bool,
    /// With --follow: exit if no log can be read after this time, for example 20s (default: no limit)
    #[arg(long, value_name = "DURATION", value_parser = duration)]
    pod_running_timeout: Option<Duration>,
    /// Show only lines that match this regular expression; repeat for several, of which one must match
    #[arg(long, value_name = "REGEX")]
    grep: Vec<String>,
    /// Leave out lines that match this regular expression; repeat for several
    #[arg(long, value_name = "REGEX")]
    not: Vec<String>,
    /// Emphasise what matches this regular expression; repeat for several
    #[arg(long, value_name = "REGEX")]
    highlight: Vec<String>,
    /// Show only lines of this level and above. A line without a level belongs to the line before
    #[arg(long, value_enum)]
    level: Option<LevelChoice>,
    /// Of lines that are JSON, show only these fields, for example msg,err.code
    #[arg(long, value_name = "FIELD", value_delimiter = ',')]
    fields: Vec<String>,
    /// Show only containers in this state
    #[arg(long, value_enum)]
    pub(super) state: Option<StateChoice>,
    /// Show only the Pods of the current revision, which is the new one during a rollout
    #[arg(long)]
    current_revision: bool,
    #[command(flatten)]
    pub(super) goal: GoalArgs,
    /// Choose the output format
    #[arg(short, long, value_enum, default_value_t)]
    output: LogFormat,
    /// Show what happened between the lines, too: changes with their writers, warnings and states. The timeline begins at
    /// --since. Without that, it begins now with --follow, and else as far back as the server has versions
    #[arg(long, value_enum, value_name = "WHAT", value_delimiter = ',')]
    with: Vec<WithChoice>,
    /// Choose how the lines of several containers are ordered
    #[arg(long, value_enum, default_value_t)]
    pub(super) order: OrderChoice,
    /// Leave out messages about containers that start, end or restart
    #[arg(short, long)]
    pub(super) quiet: bool,
    #[command(flatten)]
    memory: MemoryArgs,
}

const EXAMPLES: &str = "Examples:
  kubectl spy logs web-7f45f79f9d-268rp          the log of one Pod
  kubectl spy logs deploy/web -f                 all Pods of a Deployment, of every revision, live
  kubectl spy logs svc/web --since 5m            the Pods that a Service selects
  kubectl spy logs -l app=web -c '!istio-proxy'  Pods with a label, without a sidecar
  kubectl spy logs cj/report -f                  the Jobs of a CronJob, and the next ones
  kubectl spy logs deploy/web -p                 the instances that have crashed
  kubectl spy logs deploy/web -f --with all      what changes and what happens, between the lines
  kubectl spy logs deploy/web --since 10m --with all
                                                 the story of the last ten minutes
  kubectl spy logs deploy/web --current-revision --for=current --timeout=5m
                                                 the new Pods, until the rollout is complete or has failed
  kubectl spy logs deploy/web --level warn       warnings and errors only
  kubectl spy logs deploy/web --grep 'timeout|refused' --timestamps
                                                 the lines that match, with their times
  kubectl spy logs pod/web-0 -o raw > web.log    every byte as the program wrote it";

/// The values of `--level`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, clap::ValueEnum)]
pub(super) enum LevelChoice {
    /// Everything
    Debug,
    /// Usual work, warnings and errors
    Info,
    /// Warnings and errors
    Warn,
    /// Errors
    Error,
}

impl LevelChoice {
    fn level(self) -> LogLevel {
        match self {
            LevelChoice::Debug => LogLevel::Debug,
            LevelChoice::Info => LogLevel::Info,
            LevelChoice::Warn => LogLevel::Warn,
            LevelChoice::Error => LogLevel::Error,
        }
    }
}

/// The values of `--with`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, clap::ValueEnum)]
pub(super) enum WithChoice {
    /// Changes of the objects, and of the configuration that their Pods use, with their writers
    Changes,
    /// Warnings about the objects
    Events,
    /// The states of the objects
    Status,
    /// All of these
    All,
}

/// What the arguments ask for.
#[derive(Debug)]
pub(super) struct LogsPlan {
    pub(super) objects: ObjectArgs,
    pub(super) read: ReadOptions,
    pub(super) tail: TailChoice,
    pub(super) containers: ContainerFilter,
    pub(super) filter: LineFilter,
    pub(super) fields: Vec<String>,
    /// What is shown between the lines.
    pub(super) timeline: TimelineParts,
    /// How far back that begins; `None` if it begins now.
    pub(super) past: Option<Since>,
    pub(super) format: LogFormat,
    pub(super) most: usize,
    pub(super) running_timeout: Option<Duration>,
}

/// How many lines to begin with.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum TailChoice {
    /// This many, or all.
    Given(Option<u64>),
    /// All of one Pod, and a few of each container of several.
    ByPods,
}

impl LogsArgs {
    /// The same arguments, live and about these objects if they name none.
    pub(crate) fn about(mut self, objects: &[&str]) -> LogsArgs {
        if self.objects.is_empty() && self.selector.is_none() {
            self.objects = objects.iter().map(|&object| object.to_owned()).collect();
            self.follow = true;
        }
        self
    }

    /// Whether the time of each line is shown.
    pub(super) fn has_timestamps(&self) -> bool {
        self.timestamps
    }

    /// Whether kubectl's prefix is shown.
    pub(super) fn has_prefix(&self) -> bool {
        self.prefix
    }

    /// Of which revisions the Pods are shown.
    pub(super) fn revisions(&self) -> RevisionChoice {
        if self.current_revision {
            RevisionChoice::Current
        } else {
            RevisionChoice::Every
        }
    }

    /// What the arguments ask for, or kubectl's error.
    pub(super) fn plan(&self) -> Result<LogsPlan, CommandError> {
        let (objects, container) = self.subject()?;
        let containers = self.containers.iter().map(String::as_str).chain(container);
        let containers = ContainerFilter::parse(containers.filter(|word| !word.is_empty()));
        let containers = containers.map_err(|error| {
            CommandError::usage(format!("invalid pattern for --container: {error}"))
        })?;
        if self.limit_bytes.is_some_and(i64::is_negative) {
            return Err(CommandError::usage("--limit-bytes must be greater than 0"));
        }
        let tail = match self.tail {
            Some(lines) if lines < -1 => {
                return Err(CommandError::usage(
                    "--tail must be greater than or equal to -1",
                ));
            }
            Some(lines) => TailChoice::Given(u64::try_from(lines).ok()),
            None if self.has_since() => TailChoice::Given(None),
            None => TailChoice::ByPods,
        };
        let level = self.level.map(LevelChoice::level);
        if self.previous && self.goal.has_goal() {
            let error = "only one of --for or --previous is allowed";
            return Err(CommandError::usage(error));
        }
        let (timeline, past) = (self.timeline_parts(), self.past());
        if self.output == LogFormat::Raw && !timeline.is_empty() {
            return Err(CommandError::usage("--with needs -o short or -o json"));
        }
        Ok(LogsPlan {
            objects: self.with_manifests(objects),
            read: self.read_options(past.filter(|_| !timeline.is_empty())),
            tail,
            containers: if self.all_containers {
                containers.of_all()
            } else {
                containers
            },
            filter: LineFilter::parse(&self.grep, &self.not, &self.highlight, level)?,
            fields: self.fields.clone(),
            timeline,
            past,
            format: self.output,
            most: self.max_log_requests.max(1),
            running_timeout: self.pod_running_timeout.filter(|_| self.follows()),
        })
    }

    /// The store, if what happened before is shown.
    pub(super) fn memory(
        &self,
        plan: &LogsPlan,
        context: &mut Context<'_>,
    ) -> Result<Option<MemoryStore>, CommandError> {
        let reads_past = !plan.timeline.is_empty() && plan.past.is_some();
        Ok(self.memory.open(context)?.filter(|_| reads_past))
    }

    /// Whether new lines are shown, too.
    fn follows(&self) -> bool {
        let follows = self.follow || self.goal.has_goal();
        follows && !self.previous && !self.goal.looks_once()
    }

    /// What to read of each container, for a timeline that begins in the past or for none.
    fn read_options(&self, past: Option<Since>) -> ReadOptions {
        let ago = self.since.filter(|since| !since.is_zero());
        let second = self.since_time.map(Timestamp::as_second);
        let since = ago.map(LogSince::Ago).or(second.map(LogSince::Second));
        ReadOptions {
            follow: self.follows(),
            instances: match past {
                _ if self.previous => ReadInstances::Previous,
                Some(_) => ReadInstances::Both, // the last instance is a part of the timeline
                None => ReadInstances::Present,
            },
            start: LogStart { tail: None, since },
            since_time: self.since_time,
            unchecked: false,
            limit: self
                .limit_bytes
                .and_then(|bytes| u64::try_from(bytes).ok())
                .filter(|bytes| *bytes > 0),
            is_new: false,
        }
    }

    fn timeline_parts(&self) -> TimelineParts {
        let has = |part| {
            self.with
                .iter()
                .any(|with| [part, WithChoice::All].contains(with))
        };
        TimelineParts {
            changes: has(WithChoice::Changes),
            events: has(WithChoice::Events),
            status: has(WithChoice::Status),
        }
    }

    fn past(&self) -> Option<Since> {
        let ago = self.since.filter(|since| !since.is_zero());
        let ago = ago.and_then(|since| SignedDuration::try_from(since).ok());
        let given = ago
            .map(TimeOrAge::Ago)
            .or(self.since_time.map(TimeOrAge::At));
        let given = given.map(Since::From);
        given.or((!self.follows()).then_some(Since::All))
    }

    fn has_since(&self) -> bool {
        self.since.is_some_and(|since| !since.is_zero()) || self.since_time.is_some()
    }

    /// The words that name the objects, and the container if it stands behind them. As in kubectl, a single word without
    /// a type is a Pod, and a second word behind `TYPE/NAME` is a container.
    fn subject(&self) -> Result<(Vec<String>, Option<&str>), CommandError> {
        let words = &self.objects;
        let is_named = |word: &str| word.contains('/') || is_release(word);
        match &words[..] {
            [] if self.selector.is_some() => Ok((vec!["pods".to_owned()], None)),
            [] if !self.filename.is_empty() || self.kustomize.is_some() => Ok((Vec::new(), None)),
            [] => Err(CommandError::usage("expected 'logs (POD | TYPE/NAME)'")
                .hint("name a workload, for example kubectl spy logs deploy/web, or select Pods with -l")),
            [word] if !is_named(word) && !is_type(word) => Ok((vec![format!("pod/{word}")], None)),
            [word, container] if word.contains('/') && !is_named(container) => {
                Ok((vec![word.clone()], Some(container)))
            }
            words => Ok((words.to_vec(), None)),
        }
    }

    /// An error about a type that does not exist, with what the words mean in kubectl: `POD CONTAINER`.
    pub(super) fn hint_at_container(&self, error: CommandError) -> CommandError {
        match &self.objects[..] {
            [pod, container]
                if !pod.contains('/') && error.answer() == Some(FailedAnswer::UnknownType) =>
            {
                error.hint(format!(
                    "to read the container {container} of the Pod {pod}: kubectl spy logs {pod} -c {container}"
                ))
            }
            _ => error,
        }
    }

    fn with_manifests(&self, objects: Vec<String>) -> ObjectArgs {
        ObjectArgs {
            objects,
            selector: self.selector.clone(),
            field_selector: None,
            all_namespaces: self.all_namespaces,
            manifests: ManifestArgs::new(&self.filename, self.recursive, self.kustomize.as_ref()),
            source: FileArgs::default(),
        }
    }
}

/// Whether a word is a type of Kubernetes.
fn is_type(word: &str) -> bool {
    TypeWord::new(word).find(well_known()).is_some()
}

/// Reads a duration as kubectl does.
fn duration(text: &str) -> Result<Duration, InvalidDuration> {
    parse_duration(text).ok_or_else(|| InvalidDuration(text.to_owned()))
}

/// A text that is no duration, with the message of Go's parser, or a negative one.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
struct InvalidDuration(String);

impl fmt::Display for InvalidDuration {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let InvalidDuration(text) = self;
        if f64::from_str(text).is_ok() {
            write!(f, "time: missing unit in duration {text:?}")
        } else if text.strip_prefix('-').and_then(parse_duration).is_some() {
            f.write_str("must be greater than 0")
        } else {
            write!(f, "time: invalid duration {text:?}")
        }
    }
}

#[cfg(test)]
mod tests {
    use clap::{Args, FromArgMatches};

    use super::*;

    fn parsed(words: &[&str]) -> Result<LogsArgs, clap::Error> {
        let command = LogsArgs::augment_args(clap::Command::new("logs"));
        let matches = command.try_get_matches_from([&["logs"], words].concat())?;
        LogsArgs::from_arg_matches(&matches)
    }

    /// The objects, the containers and the start that the arguments ask for.
    fn check(words: &[&str]) -> String {
        let args = match parsed(words) {
            Ok(args) => args,
            Err(error) => {
                return error
                    .to_string()
                    .lines()
                    .next()
                    .unwrap_or_default()
                    .to_owned();
            }
        };
        match args.plan() {
            Ok(plan) => {
                let read = plan.read;
                let follow = if read.follow { " -f" } else { "" };
                format!(
                    "{}{follow} {:?} {:?}",
                    plan.objects.objects.join(","),
                    plan.tail,
                    read.start.since
                )
            }
            Err(error) => error.to_string(),
        }
    }

    #[test]
    fn words_name_pods_objects_and_containers() {
        for (words, expect) in [
            (&["web"][..], "pod/web ByPods None"),
            (&["deploy/web", "-f"], "deploy/web -f ByPods None"),
            (&["deploy/web", "app"], "deploy/web ByPods None"),
            (&["deploy", "web"], "deploy,web ByPods None"),
            (&["pods"], "pods ByPods None"),
            (&["-l", "app=web"], "pods ByPods None"),
            (&["helm:web", "--tail=-1"], "helm:web Given(None) None"),
            (&["web", "--tail", "0"], "pod/web Given(Some(0)) None"),
            (
                &["web", "--since", "1m30s"],
                "pod/web Given(None) Some(Ago(90s))",
            ),
            (&["web", "--since", "0"], "pod/web ByPods None"),
            (
                &["web", "--since-time", "1970-01-01T00:00:07.5Z"],
                "pod/web Given(None) Some(Second(7))",
            ),
            (&["web", "-f", "-p"], "pod/web ByPods None"),
            (&["web", "--for=current"], "pod/web -f ByPods None"),
            (
                &["web", "-f", "--for=current", "--timeout=0"],
                "pod/web ByPods None",
            ),
            (
                &["web", "-p", "--for=current"],
                "error: only one of --for or --previous is allowed",
            ),
            (
                &["web", "--tail=-2"],
                "error: --tail must be greater than or equal to -1",
            ),
            (
                &["web", "--limit-bytes=-1"],
                "error: --limit-bytes must be greater than 0",
            ),
            (&[], "error: expected 'logs (POD | TYPE/NAME)'"),
            (
                &["web", "-c", "["],
                "error: invalid pattern for --container: Pattern syntax error near position 0: invalid range pattern",
            ),
            (
                &["web", "--since", "5"],
                "error: invalid value '5' for '--since <DURATION>': time: missing unit in duration \"5\"",
            ),
            (
                &["web", "--since=-5m"],
                "error: invalid value '-5m' for '--since <DURATION>': must be greater than 0",
            ),
        ] {
            assert_eq!(check(words), expect, "{words:?}");
        }
    }
}
