//! The flags of `changes`.

use jiff::Timestamp;

use super::formats::{Audience, ChangesFormat};
use super::lookback::{Reach, Since, parse_revision, parse_since};
use super::noise::NoiseArgs;
use crate::commands::{EndArgs, ObjectArgs, WatchArgs};
use crate::object::list_keys::Chosen;
use crate::object::path::Pattern;
use crate::watch::Revision;

/// Show each version of an object as a diff, and who made it
#[derive(clap::Args, Clone, Debug)]
#[command(after_help = EXAMPLES)]
pub(crate) struct ChangesArgs {
    #[command(flatten)]
    pub(super) objects: ObjectArgs,
    #[command(flatten)]
    pub(super) watch: WatchArgs,
    #[command(flatten)]
    pub(super) ends: EndArgs,
    /// End after so many versions
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u64).range(1..))]
    pub(super) count: Option<u64>,
    /// Output format
    #[arg(short, long, value_enum, default_value_t)]
    pub(super) output: ChangesFormat,
    /// Show only what is at or below this path, and the versions that change it: status, .spec.replicas,
    /// spec.**.image; may be repeated
    #[arg(long, value_name = "PATH")]
    pub(super) only: Vec<Pattern>,
    /// Leave out what is at or below this path; may be repeated
    #[arg(long, value_name = "PATH")]
    pub(super) ignore: Vec<Pattern>,
    /// Show only what this manager wrote, as "by" names it; may be repeated
    #[arg(long, value_name = "MANAGER")]
    pub(super) by: Vec<String>,
    /// Show the whole of new objects, not the parts they are made of
    #[arg(long)]
    pub(super) full: bool,
    #[command(flatten)]
    pub(super) noise: NoiseArgs,
    /// Tell the items of the lists at PATH apart by these fields: .spec.servers=host,port; may be repeated
    #[arg(long, value_name = "PATH=KEY[,KEY]")]
    pub(super) list_key: Vec<Chosen>,
    /// Show what Secrets hold: decoded for people, as it is stored in yaml, json and patches
    #[arg(long)]
    pub(super) show_secrets: bool,
    /// Tell every change and every line of a text, however many; on a terminal they are counted above 200
    #[arg(long)]
    pub(super) no_fold: bool,
    /// Begin so long ago (10m, 1h30m), with all the server remembers (all), or now (0); without a TYPE it is
    /// about every kind in the namespace. By default named objects begin with their last 20 versions
    #[arg(long, value_name = "DURATION|all|0", value_parser = parse_since)]
    pub(super) since: Option<Since>,
    /// Begin after this resourceVersion
    #[arg(long, value_name = "VERSION", value_parser = parse_revision, conflicts_with = "since")]
    pub(super) since_rv: Option<Revision>,
}

const EXAMPLES: &str = "Examples:
  kubectl spy changes deploy/web                  its last versions, and each to come
  kubectl spy changes deploy/web --ignore status  what people and tools did to it
  kubectl spy changes deploy/web --since 0        from now on
  kubectl spy changes cm/gone --since 5m --once   an object that is gone
  kubectl spy changes --since 5m -n prod --once   what changed in a namespace, of every kind
  kubectl spy changes pods -l app=web             all Pods of a label, those to come too
  kubectl spy changes cm,secret -o json           a record a line, for programs
  kubectl spy changes deploy/web --for=condition=Available --timeout=5m
                                                  until it is available, or has failed
  helm template web ./chart | kubectl spy changes -f -
                                                  all that a chart makes";

impl ChangesArgs {
    /// The same about these objects, if none are named.
    pub(crate) fn about(mut self, objects: &[&str]) -> ChangesArgs {
        self.objects.default_to(objects);
        self.since.get_or_insert(Since::Now);
        self
    }

    /// Whether to show what is, and not to wait for what comes.
    pub(super) fn is_once(&self) -> bool {
        self.watch.ends() || self.ends.looks_once()
    }

    /// How far back to begin. What programs go by begins with now, unless the past is asked for:
    /// documents, a count, and what an exit code tells. The YAML of what is gone is its last version's.
    pub(super) fn reach(&self, now: Timestamp) -> Option<Reach> {
        let is_decided = self.count.is_some() || self.ends.decides();
        let is_for_program = is_decided || self.output.audience() == Audience::Documents;
        if !is_for_program || self.looks_back() {
            return Reach::new(self.since, self.since_rv, now);
        }
        let shows_what_is = self.is_once() && !is_decided && self.output == ChangesFormat::Yaml;
        (shows_what_is && self.since.is_none()).then(Reach::to_the_last)
    }

    /// Whether the past was asked for.
    pub(super) fn looks_back(&self) -> bool {
        self.since_rv.is_some() || !matches!(self.since, None | Some(Since::Now))
    }
}
