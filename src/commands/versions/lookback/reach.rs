//! `Reach`: how far back `changes` starts, from `--since` and `--since-rv`.

use std::time::Duration;

use jiff::{SignedDuration, Timestamp};

use crate::commands::TimeOrAge;
use crate::env::shifted;
use crate::watch::{Revision, WalkLimits};

/// How many earlier versions of a named object are shown by default.
const SHOWN: usize = 20;
/// How many requests the default look-back makes for an object at most.
pub(crate) const REQUESTS: u32 = 100;

/// How long live events wait for the default look-back.
pub(crate) const PATIENCE: Duration = Duration::from_secs(1);

/// The value of `--since`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Since {
    /// From now.
    Now,
    /// From this time.
    From(TimeOrAge),
    /// As far back as the server has versions.
    All,
}

/// Parses `10m`, `1h30m`, `1d`, `2026-11-22T09:00:00Z`, `all` or `0`. Fails with a hint for a number without a unit.
pub(crate) fn parse_since(text: &str) -> Result<Since, String> {
    match text {
        "all" => return Ok(Since::All),
        "0" => return Ok(Since::Now),
        _ if !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit()) => {
            return Err(format!(
                "add a unit: {text}s or {text}m; for a resourceVersion, use --since-rv"
            ));
        }
        _ => {}
    }
    TimeOrAge::parse(text).map(Since::From).map_err(|error| {
        if text.contains(':') {
            return error;
        }
        "expected a duration (90s, 10m, 1h30m, 1d), a time (2026-11-22T09:00:00Z), all or 0"
            .to_owned()
    })
}

/// Parses the resourceVersion of `--since-rv`.
pub(crate) fn parse_revision(text: &str) -> Result<Revision, String> {
    Revision::read(text)
        .ok_or_else(|| "expected a number, as in metadata.resourceVersion".to_owned())
}

/// How far back the walk of each object goes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Reach {
    /// The most versions to show.
    pub(crate) shown: usize,
    /// The most requests to make.
    pub(crate) requests: u32,
    /// The oldest time to show.
    pub(crate) time: Option<Timestamp>,
    /// The oldest revision to show.
    pub(crate) revision: Revision,
    /// Whether live events wait only [`PATIENCE`] for the look-back.
    pub(crate) brief: bool,
    /// The objects of the look-back.
    pub(crate) whose: Whose,
}

/// The objects of a look-back.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Whose {
    /// All selected objects.
    All,
    /// Named objects.
    Named,
    /// Named objects that do not exist.
    Gone,
}

impl Reach {
    /// As far back as the server has versions.
    fn all() -> Reach {
        Reach {
            shown: usize::MAX,
            requests: u32::MAX,
            time: None,
            revision: WalkLimits::default().floor,
            brief: false,
            whose: Whose::All,
        }
    }

    /// The reach of the flags; `None` for no look-back.
    pub(crate) fn new(
        since: Option<Since>,
        revision: Option<Revision>,
        now: Timestamp,
    ) -> Option<Reach> {
        match (revision, since) {
            (Some(revision), _) => Some(Reach {
                revision,
                ..Reach::all()
            }),
            (None, Some(Since::Now)) => None,
            (None, Some(Since::All)) => Some(Reach::all()),
            (None, Some(Since::From(past))) => Some(Reach {
                time: Some(whole_second(past.seen_from(now))),
                ..Reach::all()
            }),
            (None, None) => Some(Reach {
                shown: SHOWN,
                requests: REQUESTS,
                brief: true,
                whose: Whose::Named,
                ..Reach::all()
            }),
        }
    }

    /// The same reach by the server's clock, which is ahead of this machine's by `skew`.
    pub(crate) fn by_server(self, skew: SignedDuration) -> Reach {
        let time = self.time.map(|time| whole_second(shifted(time, skew)));
        Reach { time, ..self }
    }

    /// The same reach with another start: this time, or the oldest version.
    pub(crate) fn since(self, time: Option<Timestamp>) -> Reach {
        let revision = WalkLimits::default().floor;
        Reach {
            time: time.map(whole_second),
            revision,
            ..self
        }
    }

    /// Back to the last version of deleted objects.
    pub(crate) fn to_the_last() -> Reach {
        Reach {
            shown: 1,
            requests: REQUESTS,
            whose: Whose::Gone,
            ..Reach::all()
        }
    }
}

/// The time in whole seconds, like the write times that the server records.
fn whole_second(time: Timestamp) -> Timestamp {
    Timestamp::from_second(time.as_second()).unwrap_or(time)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_duration_needs_a_unit() {
        let minutes = |minutes| {
            Ok(Since::From(TimeOrAge::Ago(SignedDuration::from_mins(
                minutes,
            ))))
        };
        for (text, since) in [
            ("all", Ok(Since::All)),
            ("0", Ok(Since::Now)),
            ("10m", minutes(10)),
            ("1h30m", minutes(90)),
            ("60s", minutes(1)),
            ("1d", minutes(24 * 60)),
            ("1d2h", minutes(26 * 60)),
            ("2d30m", minutes(48 * 60 + 30)),
        ] {
            assert_eq!(parse_since(text), since, "{text}");
        }
        let noon = "2026-03-02T12:00:00Z";
        assert_eq!(
            parse_since(noon),
            Ok(Since::From(TimeOrAge::At(noon.parse().expect("a time"))))
        );
        for text in [
            "5",
            "300",
            "",
            "x",
            "-5m",
            "0s",
            "d",
            "-1d",
            "999999999999999999d",
            "2026-03-02",
            "10 lightyears",
        ] {
            assert!(parse_since(text).is_err(), "{text}");
        }
        assert!(parse_since("300").is_err_and(|error| error.contains("300s or 300m")));
        assert!(parse_since("00:00:40").is_err_and(|error| error.contains("needs a date")));
    }

    #[test]
    fn a_revision_is_a_positive_number() {
        assert!(parse_revision("90120").is_ok());
        for text in ["", "0", "-1", "1.5", "abc"] {
            assert!(parse_revision(text).is_err(), "{text}");
        }
    }
}
