//! The flags of `record`.

use std::fmt::Display;
use std::path::PathBuf;
use std::time::Duration;

use jiff::SignedDuration;

use crate::cluster::TypeWord;
use crate::commands::{
    CommandError, EveryKind, IMAGE, ManifestArgs, ObjectArgs, StoreArgs, duration_with_days,
    parse_image,
};
use crate::object::{Quantity, Resource, well_known};
use crate::record::{Redaction, RedactionError, RetentionPolicy};

/// Keep every version of objects in files, for days
#[derive(clap::Args, Clone, Debug)]
#[command(after_help = EXAMPLES)]
pub(crate) struct RecordArgs {
    /// Types and objects to record, as kubectl names them (default: every kind of the cluster, except
    /// Leases, Endpoints and metrics; with -n of that namespace)
    #[arg(value_name = "TYPE")]
    objects: Vec<String>,
    /// Record only objects with these labels, for example app=web
    #[arg(short = 'l', long)]
    selector: Option<String>,
    /// Record all namespaces, even if -n names one
    #[arg(short = 'A', long)]
    all_namespaces: bool,
    /// Delete files that ended this long ago, for example 12h or 30d
    #[arg(long, value_name = "DURATION", default_value = "7d", value_parser = parse_keep)]
    keep: Duration,
    /// Delete the oldest files when all files of the cluster are larger than this, for example 500Mi
    #[arg(long, value_name = "SIZE", default_value = "10Gi", value_parser = parse_size)]
    max_size: u64,
    /// Record only a digest of the values at this path, for example 'cm .data.token'; without a type, in
    /// all objects
    #[arg(long, value_name = "[TYPE ]PATH")]
    redact: Vec<String>,
    /// Do not record Secrets
    #[arg(long)]
    exclude_secrets: bool,
    /// Print the objects of a recorder inside the cluster, for `kubectl apply`, and exit
    #[arg(long)]
    pub(super) print_manifest: bool,
    /// With --print-manifest: the image of the container
    #[arg(long, requires = "print_manifest", default_value = IMAGE, value_parser = parse_image)]
    pub(super) image: String,
    #[command(flatten)]
    pub(super) topic: TopicArgs,
    #[command(flatten)]
    pub(super) store: StoreArgs,
}

/// The flags that read a topic in place of a cluster.
#[derive(clap::Args, Clone, Debug)]
pub(crate) struct TopicArgs {
    /// Read what other recorders have written to a topic of Kafka: `kafka://HOST:PORT,…/TOPIC`
    #[arg(
        long,
        value_name = "URL",
        conflicts_with_all = ["objects", "selector", "all_namespaces", "redact", "exclude_secrets", "print_manifest"]
    )]
    pub(super) from: Option<String>,
    /// With --from: read TLS and SASL settings from this file
    #[arg(long, value_name = "FILE", requires = "from")]
    pub(super) kafka: Option<PathBuf>,
    /// With --from: end when the topic is read
    #[arg(long, requires = "from")]
    pub(super) once: bool,
}

const EXAMPLES: &str = "Examples:
  kubectl spy record                        every kind of the cluster
  kubectl spy record -n prod --keep 30d     one namespace, for a month
  kubectl spy record deploy,cm,secret -A    three types of all namespaces
  kubectl spy record --contexts 'prod-*'    every kind of several clusters
  kubectl spy record --redact 'cm .data.token' --exclude-secrets
                                            nothing of Secrets, and a value of ConfigMaps only as a digest
  kubectl spy record -n prod --print-manifest | kubectl apply -f -
                                            the same inside the cluster, with the rights for it
  kubectl spy record --from kafka://broker:9092/spy.versions
                                            what the recorders of other clusters have sent to Kafka
  kubectl spy store ls                      what is recorded, and where the holes are";

/// No record is smaller: a file has a megabyte.
const SMALLEST: f64 = 16.0 * 1024.0 * 1024.0;

impl RecordArgs {
    /// The selected objects. Without a TYPE, and unless the user names a namespace, they are those of all namespaces.
    pub(super) fn objects(&self, names_namespace: bool) -> ObjectArgs {
        let is_everything = self.objects.is_empty() && !names_namespace;
        ObjectArgs {
            objects: self.objects.clone(),
            selector: self.selector.clone(),
            all_namespaces: self.all_namespaces || is_everything,
            manifests: ManifestArgs::default(),
            ..ObjectArgs::default()
        }
    }

    /// The same arguments as words, for another recorder of this namespace, or of all.
    pub(super) fn words(&self, namespace: Option<&str>) -> Vec<String> {
        let mut words = self.objects.clone();
        words.extend(namespace.map(|namespace| format!("--namespace={namespace}")));
        let selector = self.selector.iter();
        words.extend(selector.map(|selector| format!("--selector={selector}")));
        words.extend(self.all_namespaces.then(|| "--all-namespaces".to_owned()));
        words.push(format!("--keep={}s", self.keep.as_secs().max(1)));
        words.push(format!("--max-size={}", self.max_size));
        words.extend(self.redact.iter().map(|path| format!("--redact={path}")));
        words.extend(self.exclude_secrets.then(|| "--exclude-secrets".to_owned()));
        words
    }

    /// How long to keep the files.
    pub(super) fn retention(&self) -> RetentionPolicy {
        RetentionPolicy {
            keep: self.keep,
            max_bytes: self.max_size,
        }
    }

    /// The kinds to record. Without a TYPE, some are left out: Leases are most of all writes, `EndpointSlices` have what
    /// Endpoints have, and metrics have no versions. It fails if nothing is left.
    pub(super) fn recorded(&self, mut every: EveryKind) -> Result<EveryKind, CommandError> {
        let is_left_out = |resource: &Resource| {
            let is_secret = resource.group.is_empty() && &*resource.plural == "secrets";
            (self.means_every_kind() && !is_recorded_by_default(resource))
                || (self.exclude_secrets && is_secret)
        };
        every
            .targets
            .retain(|target| !is_left_out(&target.resource));
        every.unwatched.retain(|resource| !is_left_out(resource));
        match every.targets[..] {
            [] if self.means_every_kind() => Err(CommandError::failed(
                "error: nothing to record: the server has no kind that can be watched",
            )),
            [] => Err(CommandError::usage(
                "nothing to record: --exclude-secrets leaves out every object that you name",
            )
            .hint("name another type, or leave out --exclude-secrets")),
            _ => Ok(every),
        }
    }

    /// Whether no type is named.
    pub(super) fn means_every_kind(&self) -> bool {
        self.objects.is_empty()
    }

    /// The paths whose values are not recorded, each with a kind that is recorded. It fails for a kind that is not: its
    /// values would be recorded elsewhere.
    pub(super) fn redactions(&self, every: &EveryKind) -> Result<Vec<Redaction>, CommandError> {
        let redaction = |text: &String| {
            let mut redaction = parse_redaction(text)?;
            if let Some(word) = &redaction.kind {
                let kind = recorded_kind(word, every);
                let unknown = || format!("no recorded kind is {word}");
                redaction.kind = Some(kind.ok_or_else(|| refused_redaction(text, &unknown()))?);
            }
            Ok(redaction)
        };
        self.redact.iter().map(redaction).collect()
    }

    /// Fails if a text of `--redact` is no path.
    pub(super) fn check_redactions(&self) -> Result<(), CommandError> {
        let mut texts = self.redact.iter();
        texts.try_for_each(|text| parse_redaction(text).map(drop))
    }
}

/// Whether a kind is recorded that nobody named. The others change all the time and say little.
pub(super) fn is_recorded_by_default(resource: &Resource) -> bool {
    match (&*resource.group, &*resource.plural) {
        ("coordination.k8s.io", "leases") | ("", "endpoints") => false,
        (group, _) => !group.ends_with("metrics.k8s.io"),
    }
}

fn parse_redaction(text: &str) -> Result<Redaction, CommandError> {
    let parsed = text.parse();
    parsed.map_err(|error: RedactionError| refused_redaction(text, &error))
}

fn refused_redaction(text: &str, why: &dyn Display) -> CommandError {
    let error = CommandError::usage(format!("--redact {text:?}: {why}"));
    error.hint("write a type and a path, for example --redact 'cm .data.token'")
}

/// The recorded kind that a word means, as kubectl reads it.
fn recorded_kind(word: &str, every: &EveryKind) -> Option<String> {
    let known = TypeWord::new(word).find(well_known());
    let known = known.map(|found| &found.resource);
    let mut resources = every.targets.iter().map(|target| &target.resource);
    let found = resources.find(|resource| {
        let is_known = known.is_some_and(|known| {
            (&known.group, &known.plural) == (&resource.group, &resource.plural)
        });
        let is_named = |name: &str| name.eq_ignore_ascii_case(word);
        is_known || is_named(&resource.kind) || is_named(&resource.plural)
    });
    found.map(|resource| resource.kind.to_string())
}

fn parse_keep(text: &str) -> Result<Duration, String> {
    let keep = duration_with_days(text).filter(SignedDuration::is_positive);
    let keep = keep.and_then(|keep| Duration::try_from(keep).ok());
    keep.ok_or_else(|| "expected a duration, for example 12h, 7d or 1d12h".to_owned())
}

fn parse_size(text: &str) -> Result<u64, String> {
    let bytes = Quantity::parse(text).map(|size| size.approximate());
    match bytes {
        #[expect(
            clippy::cast_possible_truncation,
            clippy::cast_sign_loss,
            reason = "a float becomes the nearest number of bytes"
        )]
        Some(bytes) if bytes >= SMALLEST => Ok(bytes as u64),
        Some(_) => Err("expected at least 16Mi".to_owned()),
        None => Err("expected a size, for example 500Mi or 10Gi".to_owned()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_time_and_a_size_have_units() {
        for (text, hours) in [
            ("7d", Some(168)),
            ("12h", Some(12)),
            ("7", None),
            ("-1h", None),
            ("09:00:00", None),
        ] {
            let keep = parse_keep(text).ok();
            assert_eq!(
                keep,
                hours.map(|hours| Duration::from_secs(hours * 3600)),
                "{text}"
            );
        }
        for (text, bytes) in [
            ("10Gi", Some(10 << 30)),
            ("500M", Some(500_000_000)),
            ("1Mi", None),
            ("many", None),
            ("", None),
        ] {
            assert_eq!(parse_size(text).ok(), bytes, "{text}");
        }
    }
}
