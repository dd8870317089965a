//! The records of `-o json` that stand between the past and what is live: how far back each source was
//! looked at, and where what is live begins.

use jiff::Timestamp;

use super::Found;
use super::divider::{Seam, refused};
use super::found::DatedRevision;
use super::skipped::Unread;
use crate::commands::changes::view::View;
use crate::commands::sources::describe;
use crate::render::age::rfc3339_millis;
use crate::render::json::RefRecord;
use crate::render::json::line::line;
use crate::render::json::notice::{MissingRecord, Said};
use crate::watch::End;

impl Seam<'_> {
    /// A record for each source, and one for the seam, after `versions` records of the past.
    pub(in crate::commands::changes) fn records(
        &self,
        view: &View,
        now: Timestamp,
        versions: usize,
    ) -> Vec<String> {
        let seen = rfc3339_millis(now);
        let record =
            |said: Said<'_>, source: Option<&str>| line(&said.record(&seen, &view.cluster, source));
        let read = self.found.iter().map(|found| {
            record(
                self.horizon(found, &view.cluster),
                Some(&describe(&found.key)),
            )
        });
        let unread = self
            .unread
            .iter()
            .map(|unread| record(not_read(unread), Some(&unread.source)));
        let seam = Said::Seam {
            versions,
            live: self.live.is_some(),
        };
        read.chain(unread).chain([record(seam, None)]).collect()
    }

    fn horizon(&self, found: &Found, cluster: &str) -> Said<'static> {
        let end = match &found.end {
            _ if found.is_cut => "interrupted",
            Some(End::Forgotten(_)) => "forgotten",
            Some(End::NotOffered(_)) => "notOffered",
            Some(End::Failed(_)) => "failed",
            Some(End::Limit) | None => "limit",
        };
        let number = |bound: Option<DatedRevision>| bound.map(|bound| bound.at.to_string());
        let time = |bound: Option<DatedRevision>| Some(rfc3339_millis(self.time(bound?)?));
        Said::Lookback {
            end,
            from: number(found.from),
            time: time(found.from),
            complete: number(found.complete),
            complete_time: time(found.complete),
            cause: refused(found),
            missing: (found.missing.iter())
                .map(|missing| MissingRecord {
                    object_ref: RefRecord::new(cluster, &missing.object),
                    cause: missing.cause.to_string(),
                })
                .collect(),
        }
    }
}

fn not_read(unread: &Unread) -> Said<'static> {
    Said::Lookback {
        end: "notRead",
        from: None,
        time: None,
        complete: None,
        complete_time: None,
        cause: Some(unread.cause.to_string()),
        missing: Vec::new(),
    }
}
