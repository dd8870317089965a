//! The flags of `record`.

use std::time::Duration;

use jiff::SignedDuration;

use crate::commands::duration_with_days;
use crate::commands::{ManifestArgs, ObjectArgs, StoreArgs};
use crate::object::Quantity;
use crate::record::RetentionPolicy;

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
    #[command(flatten)]
    pub(super) store: StoreArgs,
}

const EXAMPLES: &str = "Examples:
  kubectl spy record                        every kind of the cluster
  kubectl spy record -n prod --keep 30d     one namespace, for a month
  kubectl spy record deploy,cm,secret -A    three types of all namespaces
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

    /// How long to keep the files.
    pub(super) fn retention(&self) -> RetentionPolicy {
        RetentionPolicy {
            keep: self.keep,
            max_bytes: self.max_size,
        }
    }
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
