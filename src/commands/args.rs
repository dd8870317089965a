//! The flags that all verbs share, spelled as in kubectl.

use std::path::PathBuf;

use clap::Args;

use super::flag_values::TimeOrAge;
use super::{CommandError, MemoryArgs};
use crate::cluster::{Ambient, ContextArgs, LogDetail, Overrides};
use crate::env::{ColorChoice, Env};
use crate::object::selector::{FieldSelector, LabelSelector};
use crate::record::Store;
use crate::render::style::{Look, Styles, Symbols};

/// kubectl's global flags. The user may put them anywhere after `spy`; `kubectl spy options` lists them.
#[derive(Args, Clone, Debug, Default)]
pub(crate) struct ClusterArgs {
    #[command(flatten)]
    pub(crate) overrides: Overrides,
    /// Several contexts.
    #[command(flatten)]
    pub(crate) contexts: ContextArgs,
    /// Keep the list of types and the schemas of custom kinds in this directory; empty: keep none
    /// (default: $KUBECACHEDIR, then ~/.kube/cache)
    #[arg(long, global = true, value_name = "DIR")]
    pub(crate) cache_dir: Option<String>,
    /// Log requests on standard error: 6 prints the URI, status and time of each, 8 also its headers
    #[arg(short, long = "v", global = true, value_name = "LEVEL")]
    pub(crate) verbosity: Option<i32>,
}

/// The levels of `-v` at which kubectl logs requests, and their headers.
const LOGS_REQUESTS: i32 = 6;
const LOGS_HEADERS: i32 = 8;

impl ClusterArgs {
    /// The directory for files that are kept between runs; `None` if the user turned it off.
    pub(crate) fn cache_dir(&self, ambient: &Ambient) -> Option<PathBuf> {
        let given = self.cache_dir.as_ref().map(PathBuf::from);
        let dir = given.or_else(|| ambient.cache_dir());
        dir.filter(|dir| !dir.as_os_str().is_empty())
    }

    /// How much to log about requests; `None`: nothing.
    pub(crate) fn log_detail(&self) -> Option<LogDetail> {
        match self.verbosity? {
            LOGS_HEADERS.. => Some(LogDetail::Headers),
            LOGS_REQUESTS.. => Some(LogDetail::Line),
            _ => None,
        }
    }
}

/// The flags about colour and symbols.
#[derive(Args, Clone, Copy, Debug, Default)]
pub(crate) struct LookArgs {
    #[arg(
        help = "Choose when to use colour; auto obeys NO_COLOR, CLICOLOR, CLICOLOR_FORCE, FORCE_COLOR and TERM=dumb",
        long,
        global = true,
        value_enum,
        default_value_t,
        value_name = "WHEN"
    )]
    color: ColorChoice,
    /// Use ASCII symbols only, for example * instead of ●
    #[arg(long, global = true)]
    ascii: bool,
}

impl LookArgs {
    /// How to draw standard output.
    pub(crate) fn stdout(self, env: &Env) -> Look {
        Look {
            width: env.size().map(|size| size.columns),
            styles: styles(env.color(self.color)),
            symbols: if self.ascii || env.ascii() {
                &Symbols::ASCII
            } else {
                &Symbols::UNICODE
            },
        }
    }

    /// The styles of standard error.
    pub(crate) fn stderr(self, env: &Env) -> Styles {
        styles(env.stderr_color(self.color))
    }
}

fn styles(color: bool) -> Styles {
    if color { Styles::ANSI } else { Styles::PLAIN }
}

/// The flags that select the objects of a verb.
#[derive(Args, Clone, Debug, Default)]
pub(crate) struct ObjectArgs {
    /// Objects to show, as kubectl names them: TYPE/NAME…, TYPE NAME… or TYPE; helm:RELEASE stands for the
    /// objects of a Helm release
    #[arg(value_name = "TYPE/NAME")]
    pub(crate) objects: Vec<String>,
    /// Show only objects with these labels, for example app=web,tier!=cache
    #[arg(short = 'l', long)]
    pub(crate) selector: Option<String>,
    /// Show only objects with these field values, for example status.phase=Running
    #[arg(long)]
    pub(crate) field_selector: Option<String>,
    /// Look in all namespaces, even if -n names one
    #[arg(short = 'A', long)]
    pub(crate) all_namespaces: bool,
    #[command(flatten)]
    pub(crate) manifests: ManifestArgs,
    #[command(flatten)]
    pub(crate) source: FileArgs,
}

/// How the arguments of a command name its objects.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Subject {
    /// By manifests, with `-f` or `-k`. A TYPE beside them is an error.
    Manifests,
    /// By Helm releases.
    Releases,
    /// By types and names on the command line.
    Words,
    /// Not at all: the verb shows everything, or fails. A selector may still select from everything.
    Unnamed,
}

impl ObjectArgs {
    /// How the arguments name the objects. Only this function decides that.
    pub(crate) fn subject(&self) -> Subject {
        match () {
            () if self.manifests.are_given() => Subject::Manifests,
            () if self.objects.is_empty() => Subject::Unnamed,
            () if self.objects.iter().any(|word| is_release(word)) => Subject::Releases,
            () => Subject::Words,
        }
    }

    /// The selector of `-l`. Fails with kubectl's error if it does not parse.
    pub(crate) fn labels(&self) -> Result<LabelSelector, CommandError> {
        let text = self.selector.as_deref().unwrap_or_default().trim();
        text.parse().map_err(|error| {
            let error = format!("error: the provided selector \"{text}\" is not valid: {error}");
            CommandError::failed(error)
                .hint("-l takes terms such as app=web,tier in (front,back),!legacy")
        })
    }

    /// Refuses selectors that do not parse. A server does that itself.
    pub(crate) fn check_selectors(&self) -> Result<(), CommandError> {
        self.labels()?;
        let text = self.field_selector.as_deref().unwrap_or_default().trim();
        let fields: Result<FieldSelector, _> = text.parse();
        fields.map(drop).map_err(|error| {
            CommandError::failed(format!("error: {error}")).hint(
                "--field-selector takes terms such as status.phase!=Running,metadata.name=web",
            )
        })
    }

    /// Takes `objects`, if the arguments name and select none.
    pub(crate) fn default_to(&mut self, objects: &[&str]) {
        if self.subject() == Subject::Unnamed && self.selector.is_none() {
            self.objects = objects.iter().map(|&object| object.to_owned()).collect();
        }
    }
}

/// The flags about manifests.
#[derive(Args, Clone, Debug, Default)]
pub(crate) struct ManifestArgs {
    /// Show the objects that these manifests name: a file, a directory, a quoted pattern such as
    /// 'k8s/*.yaml', or - for standard input; repeat for several
    #[arg(short = 'f', long, value_name = "FILE", value_delimiter = ',')]
    pub(super) filename: Vec<String>,
    /// With -f: read subdirectories too
    #[arg(short = 'R', long)]
    pub(super) recursive: bool,
    /// Show the objects that this kustomization names; needs kubectl, which builds it
    #[arg(short = 'k', long, value_name = "DIR")]
    pub(super) kustomize: Option<String>,
}

impl ManifestArgs {
    /// The flags of a verb that spells them in its own way.
    pub(crate) fn new(
        filename: &[String],
        recursive: bool,
        kustomize: Option<&String>,
    ) -> ManifestArgs {
        ManifestArgs {
            filename: filename.to_vec(),
            recursive,
            kustomize: kustomize.cloned(),
        }
    }

    /// Whether the command line has `-f` or `-k`.
    pub(crate) fn are_given(&self) -> bool {
        !self.filename.is_empty() || self.kustomize.is_some()
    }
}

/// What stands before the name of a release in an argument.
pub(crate) const RELEASE_PREFIX: &str = "helm:";

/// Whether an argument names a release: `helm:web`.
pub(crate) fn is_release(word: &str) -> bool {
    word.starts_with(RELEASE_PREFIX)
}

/// The flags that read a file instead of a cluster.
#[derive(Args, Clone, Debug, Default)]
pub(crate) struct FileArgs {
    /// Read objects or watch events from files instead of a cluster: a file, a directory, a quoted pattern, or - for
    /// standard input; repeat for several
    #[arg(long, value_name = "FILE")]
    pub(crate) from: Vec<String>,
    /// With --from: use this as the current time, for example 2026-03-02T12:00:00Z (default: the newest time in
    /// the file)
    #[arg(long, value_name = "TIME", requires = "from")]
    pub(crate) now: Option<jiff::Timestamp>,
}

impl FileArgs {
    /// Whether a file is read instead of a cluster.
    pub(crate) fn is_given(&self) -> bool {
        !self.from.is_empty()
    }

    /// The directory of the record that is read; `None` for other files, and for a cluster.
    pub(crate) fn record(&self) -> Option<PathBuf> {
        match &self.from[..] {
            [path] => Some(PathBuf::from(path)).filter(|path| Store::is_at(path)),
            _ => None,
        }
    }

    /// The name of the files, for messages and records.
    pub(crate) fn name(&self) -> String {
        self.from.join(",")
    }
}

/// The flags that make a verb watch, or exit after the current state.
#[derive(Args, Clone, Debug)]
pub(crate) struct WatchArgs {
    /// Keep watching until you press q or Ctrl-C: the default
    #[arg(short, long, default_value = "true", action = clap::ArgAction::SetTrue)]
    pub(crate) watch: bool,
    /// Print the current state and exit; same as --watch=false
    #[arg(long)]
    pub(crate) once: bool,
    /// Print how everything was at a time or this long ago, and exit: 3m, 2026-03-02T12:00:00Z
    #[arg(long, value_name = "TIME|DURATION", value_parser = TimeOrAge::parse, conflicts_with = "goals")]
    pub(crate) at: Option<TimeOrAge>,
    #[command(flatten)]
    pub(crate) memory: MemoryArgs,
}

impl WatchArgs {
    /// When a verb that reads `source` ends, by these flags alone. A time in the past and a record have no live versions.
    pub(crate) fn ending(&self, source: &FileArgs) -> Ending {
        if self.once || !self.watch || self.at.is_some() || source.record().is_some() {
            Ending::Once
        } else {
            Ending::Never
        }
    }
}

/// When a live verb ends.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Ending {
    /// After it has printed the current state once.
    Once,
    /// When the user stops it.
    Never,
}
