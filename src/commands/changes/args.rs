//! The flags of `changes`.

use std::collections::BTreeSet;
use std::sync::Arc;

use clap::ValueEnum;
use jiff::{SignedDuration, Timestamp};

use super::fold::FoldMode;
use super::formats::{Audience, ChangesFormat};
use super::output::{Creation, DisplayOptions};
use crate::commands::flag_values::above_zero;
use crate::commands::versions::{
    ManagerFilter, ManagerPattern, Reach, ShownVersions, Since, parse_revision, parse_since,
};
use crate::commands::{
    CommandError, Ending, ObjectArgs, Session, Subject, TimeOrAge, WaitArgs, WatchArgs,
};
use crate::diff::{Filter, Noise, Redactor};
use crate::env::Clock;
use crate::object::list_keys::{Chosen, KindKeys};
use crate::object::path::Pattern;
use crate::render::diff::Fold;
use crate::watch::Revision;

/// Show what changed in objects, version by version, and by whom
#[derive(clap::Args, Clone, Debug)]
#[command(after_help = EXAMPLES)]
#[command(mut_arg("once", |arg| arg.help(ONCE)), mut_arg("exit_code", |arg| arg.help(EXIT_CODE)))]
pub(crate) struct ChangesArgs {
    #[command(flatten)]
    pub(super) objects: ObjectArgs,
    #[command(flatten)]
    pub(super) watch: WatchArgs,
    #[command(flatten)]
    pub(super) wait: WaitArgs,
    /// Exit after this many versions, for example 5 (default: no limit)
    #[arg(long, value_name = "N", value_parser = above_zero::<u64>)]
    pub(super) count: Option<u64>,
    /// Choose the output format
    #[arg(short, long, value_enum, default_value_t)]
    pub(super) output: ChangesFormat,
    /// Show only changes at or below this path, for example status, .spec.replicas or spec.**.image;
    /// repeat for several
    #[arg(long, value_name = "PATH")]
    pub(super) only: Vec<Pattern>,
    /// Hide changes at or below this path, for example status; repeat for several
    #[arg(long, value_name = "PATH")]
    pub(super) ignore: Vec<Pattern>,
    #[command(flatten)]
    pub(super) writers: WriterArgs,
    /// Print new objects whole (default: a summary of their fields)
    #[arg(long)]
    pub(super) full: bool,
    #[command(flatten)]
    pub(super) noise: NoiseArgs,
    /// Match items of the lists at PATH by these fields, for example .spec.servers=host,port; repeat
    /// for several (default: the keys of the API server's schema)
    #[arg(long, value_name = "PATH=KEY[,KEY]")]
    pub(super) list_key: Vec<Chosen>,
    /// Show the values of Secrets (default: hidden). Text formats decode them; json, yaml and patches
    /// keep base64
    #[arg(long)]
    pub(super) show_secrets: bool,
    /// Print long changes in full (default on a terminal: collapse a version of over 200 lines)
    #[arg(long)]
    pub(super) no_fold: bool,
    /// Start this far back (10m, 1d), at a time (2026-11-22T09:00:00Z), as far back as the server has
    /// (all), or from now (0). Without TYPE, show every kind in the namespace. Default: the last 20
    /// versions of each named object, otherwise from now
    #[arg(long, value_name = "DURATION|TIME|all|0", value_parser = parse_since)]
    pub(super) since: Option<Since>,
    /// Start after this resourceVersion, for example 4711
    #[arg(long, value_name = "VERSION", value_parser = parse_revision, conflicts_with = "since")]
    since_rv: Option<Revision>,
}

/// The help of `--once`: the earlier versions are what this verb prints of the past.
const ONCE: &str = "Print the earlier versions and exit; same as --watch=false";

/// The help of `--exit-code`.
const EXIT_CODE: &str =
    "Exit with 1 if something changed after the start, or after --since, and with 4 on an error";

const EXAMPLES: &str = "Examples:
  kubectl spy changes deploy/web                  its last versions, then every new one
  kubectl spy changes deploy/web --ignore status  hide what controllers report
  kubectl spy changes deploy/web --since 0        new versions only
  kubectl spy changes cm/gone --since 5m --once   the history of a deleted object
  kubectl spy changes cm/gone --once -o yaml      its last version, for kubectl create -f -
  kubectl spy changes --since 5m -n prod --once   one timeline of every kind in a namespace
  kubectl spy changes --since 5m --people -o short
                                                  what people did, one line for each version
  kubectl spy changes pods -l app=web             all Pods with a label, and new ones
  kubectl spy changes cm,secret -o json           one JSON record per line, for programs
  kubectl spy changes deploy/web --for=condition=Available --timeout=5m
                                                  exit when it is available or has failed
  helm template web ./chart | kubectl spy changes -f -
                                                  every object of a chart";

impl ChangesArgs {
    /// Takes `objects` as the default, and starts from now. Used by `demo`.
    pub(crate) fn about(mut self, objects: &[&str]) -> ChangesArgs {
        self.objects.default_to(objects);
        self.since.get_or_insert(Since::Now);
        self
    }

    /// Takes `objects` as the default, with their past, unless a flag asks for the past of all. Used by `demo`.
    pub(crate) fn about_past(mut self, objects: &[&str]) -> ChangesArgs {
        if !self.looks_back() {
            self.objects.default_to(objects);
        }
        self
    }

    /// Whether to read the record beside the server. It has no Secret values: neither to show, nor to judge.
    pub(super) fn uses_store(&self) -> bool {
        let needs_values = self.show_secrets || self.wait.needs_judgement();
        !needs_values && !self.objects.source.is_given()
    }

    /// Whether to print the current state and exit.
    pub(super) fn is_once(&self) -> bool {
        self.wait.looks_once() || self.watch.ending(&self.objects.source) == Ending::Once
    }

    /// How far back to start. `None`: from now.
    ///
    /// Output for programs starts from now, unless a flag asks for the past: documents, `--count`, and runs
    /// whose exit code is the answer. `--once -o yaml` of a deleted object prints its last version.
    pub(super) fn reach(&self, now: Timestamp) -> Option<Reach> {
        let is_decided = self.count.is_some() || self.wait.decides();
        let is_for_program = is_decided || self.output.audience() == Audience::Documents;
        if !is_for_program || self.looks_back() {
            return Reach::new(self.since, self.since_rv, now);
        }
        let prints_objects = self.is_once() && !is_decided && self.output == ChangesFormat::Yaml;
        (prints_objects && self.since.is_none()).then(Reach::to_the_last)
    }

    /// Fails if `--since` is a time that has not come yet.
    pub(super) fn check_since(&self, now: Timestamp) -> Result<(), CommandError> {
        match self.since {
            Some(Since::From(TimeOrAge::At(time))) if time > now => Err(CommandError::usage(
                format!("--since {time:.0} has not come yet: it is {now:.0}"),
            )),
            _ => Ok(()),
        }
    }

    /// What to do if the run starts from now and ends now. `are_named`: whether objects have names, which have a past by default.
    pub(super) fn vain_question(&self, are_named: bool) -> Option<&'static str> {
        let is_file = self.objects.source.is_given();
        let is_for_people = self.output.audience() == Audience::Person;
        match () {
            () if !self.is_once() || self.means_every_kind() || is_file => None,
            () if self.wait.asks_for_answer() => Some(
                "hint: --exit-code starts from now, and --once ends now; to ask what changed, add --since 10m",
            ),
            () if are_named || !is_for_people || self.wait.has_goal() => None,
            () if self.watch.at.is_some() => None,
            () => Some(
                "hint: types start from now, and --once ends now; to see what changed, add --since 10m",
            ),
        }
    }

    /// Adds what to do if the command names no object.
    pub(super) fn with_hint(&self, error: CommandError) -> CommandError {
        if self.objects.subject() == Subject::Unnamed && !self.objects.source.is_given() {
            error.hint("for one timeline of every kind in the namespace, add --since 5m")
        } else {
            error
        }
    }

    /// Whether it shows every kind, unless types are named.
    pub(super) fn means_every_kind(&self) -> bool {
        self.since.is_some() || self.since_rv.is_some()
    }

    /// Whether a flag asks for versions from before the start.
    pub(super) fn looks_back(&self) -> bool {
        self.since_rv.is_some() || !matches!(self.since, None | Some(Since::Now))
    }

    /// The display options of the flags, for a cluster with this clock.
    pub(super) fn display_options(&self, session: &Session, clock: Clock) -> DisplayOptions {
        DisplayOptions {
            cluster: session.cluster.0.to_string(),
            label: None,
            is_of_file: session.is_of_file(),
            is_stream: session.file().is_some_and(|file| !file.has_ended()),
            is_once: self.is_once(),
            redactor: if self.show_secrets {
                self.output.revealing()
            } else {
                Redactor::new()
            },
            shown: Arc::new(ShownVersions {
                filter: Filter {
                    only: self.only.clone(),
                    ignore: self.ignore.clone(),
                },
                by: self.writers.managers(),
                noise: self.noise.shown(),
                keys: KindKeys::new(self.list_key.clone()),
                clock: Some(clock),
            }),
            skew: SignedDuration::ZERO,
            creation: if self.full {
                Creation::Whole
            } else {
                Creation::RunSummary
            },
            timeline: self.fold_mode(),
            fold: if self.no_fold {
                Fold::Never
            } else {
                Fold::Many
            },
            namespace: (!self.objects.all_namespaces).then(|| session.namespace.clone()),
        }
    }

    /// What the timeline folds. `--only` and `--by` name what the user wants to see, so nothing of that is folded.
    pub(super) fn fold_mode(&self) -> FoldMode {
        let is_every_kind = self.objects.subject() == Subject::Unnamed
            && !self.objects.source.is_given()
            && self.means_every_kind();
        let is_chosen = self.writers.owned || !self.writers.by.is_empty() || !self.only.is_empty();
        match () {
            () if !is_every_kind || self.output.audience() != Audience::Person => FoldMode::Nothing,
            () if is_chosen => FoldMode::Events,
            () => FoldMode::Controllers,
        }
    }

    /// What the verb does if a named object does not exist.
    pub(super) fn absence(&self) -> IfMissing {
        match self.is_once() {
            _ if self.wait.expects_absence() => IfMissing::Fine,
            true if self.wait.is_about_presence() => IfMissing::Fine,
            true => IfMissing::Missing,
            false => IfMissing::Waits,
        }
    }
}

/// What the verb does if a named object does not exist.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum IfMissing {
    /// It waits for the object.
    Waits,
    /// It fails, because it does not wait for anything.
    Missing,
    /// It prints nothing: `--for` asks whether the object exists.
    Fine,
}

/// The flags about noise.
#[derive(clap::Args, Clone, Debug)]
pub(super) struct NoiseArgs {
    /// Also show noise: all of it, or only these classes, for example heartbeat,order (default: hidden
    /// and counted)
    #[arg(
        long,
        value_enum,
        value_name = "CLASS",
        num_args = 0..=1,
        require_equals = true,
        default_missing_value = "all",
        value_delimiter = ','
    )]
    show_noise: Vec<Class>,
    /// Also show changes of metadata.managedFields (default: hidden and counted)
    #[arg(long)]
    show_managed_fields: bool,
}

/// The values of `--show-noise`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum Class {
    /// Everything
    All,
    /// Counters of the server: resourceVersion, generation, observedGeneration
    Version,
    /// metadata.managedFields: the record of who wrote which field
    #[value(name = "managedFields")]
    ManagedFields,
    /// Probe times, heartbeat times and renewed leases
    Heartbeat,
    /// A new order of items in a list whose order has no meaning
    Order,
    /// Another spelling of the same quantity, time or number
    Equivalent,
}

impl NoiseArgs {
    /// The classes of noise to show.
    pub(super) fn shown(&self) -> BTreeSet<Noise> {
        let classes = self.show_noise.iter().flat_map(|class| class.noise());
        let managed = self.show_managed_fields.then_some(Noise::ManagedFields);
        classes.copied().chain(managed).collect()
    }
}

impl Class {
    fn noise(self) -> &'static [Noise] {
        match self {
            Class::All => &Noise::ALL,
            Class::Version => &[Noise::Version],
            Class::ManagedFields => &[Noise::ManagedFields],
            Class::Heartbeat => &[Noise::Heartbeat],
            Class::Order => &[Noise::Order],
            Class::Equivalent => &[Noise::Equivalent],
        }
    }
}

/// The flags about the managers that wrote a version.
#[derive(clap::Args, Clone, Debug)]
pub(super) struct WriterArgs {
    /// Show only changes by this field manager, for example kubectl-edit or 'kubectl*'; repeat for
    /// several
    #[arg(long, value_name = "MANAGER")]
    by: Vec<ManagerPattern>,
    /// Leave out the work of controllers, but not what GitOps tools write
    #[arg(long, conflicts_with = "by")]
    people: bool,
    /// Without TYPE: also show owned objects, status reports and all Events (default: one counted line
    /// for each owner)
    #[arg(long)]
    owned: bool,
}

impl WriterArgs {
    /// The managers whose versions are shown.
    pub(super) fn managers(&self) -> ManagerFilter {
        match &self.by[..] {
            _ if self.people => ManagerFilter::People,
            [] => ManagerFilter::Everyone,
            names => ManagerFilter::Named(names.to_vec()),
        }
    }
}
