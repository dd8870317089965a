//! The records of `-o json` between earlier and live versions: `lookback` for each source, then `seam`.

use jiff::Timestamp;

use super::SourcePast;
use super::divider::Divider;
use super::source_past::DatedRevision;
use super::unread::SkippedSource;
use crate::commands::changes::output::DisplayOptions;
use crate::commands::sources::describe;
use crate::render::age::rfc3339_millis;
use crate::render::json::RefRecord;
use crate::render::json::line::line;
use crate::render::json::notice::{CompactedRecord, MissingRecord, NoticeBody};
use crate::watch::End;

impl Divider<'_> {
    /// A record for each source, then the `seam`. `versions` is the number of version records before them.
    pub(crate) fn records(
        &self,
        options: &DisplayOptions,
        now: Timestamp,
        versions: usize,
    ) -> Vec<String> {
        let seen = rfc3339_millis(now);
        let record = |body: NoticeBody<'_>, source: Option<&str>| {
            line(&body.record(&seen, &options.cluster, source))
        };
        let read = self.found.iter().map(|found| {
            record(
                self.lookback_record(found, &options.cluster),
                Some(&describe(&found.key)),
            )
        });
        let skipped = self
            .skipped
            .iter()
            .map(|skipped| record(skipped_record(skipped), Some(&skipped.source)));
        let end = NoticeBody::Divider {
            versions,
            live: self.live.is_some(),
            left_out: self.left_out.records(),
        };
        read.chain(skipped).chain([record(end, None)]).collect()
    }

    fn lookback_record(&self, found: &SourcePast, cluster: &str) -> NoticeBody<'static> {
        let end = match &found.end {
            _ if found.is_cut => "interrupted",
            Some(End::Forgotten(_)) => "forgotten",
            Some(End::NotOffered(_)) => "notOffered",
            Some(End::Failed(_)) => "failed",
            Some(End::Spent | End::OutOfTime(_)) => "interrupted",
            Some(End::Limit) | None => "limit",
        };
        let number = |bound: Option<DatedRevision>| bound.map(|bound| bound.at.to_string());
        let time = |bound: Option<DatedRevision>| Some(rfc3339_millis(self.time(found, bound?)?));
        NoticeBody::Lookback {
            end,
            from: number(found.from),
            time: time(found.from),
            complete: number(found.complete),
            complete_time: time(found.complete),
            cause: (found.refusal()).or_else(|| Some(found.shortfall()?.cause())),
            missing: (found.missing.iter())
                .map(|missing| MissingRecord {
                    object_ref: RefRecord::new(cluster, &missing.object),
                    cause: missing.cause.to_string(),
                })
                .collect(),
            compacted: (found.compacted.iter())
                .map(|write| CompactedRecord {
                    object_ref: RefRecord::new(cluster, &write.object),
                    is_creation: write.is_creation,
                })
                .collect(),
        }
    }
}

fn skipped_record(skipped: &SkippedSource) -> NoticeBody<'static> {
    NoticeBody::Lookback {
        end: "notRead",
        from: None,
        time: None,
        complete: None,
        complete_time: None,
        cause: Some(skipped.cause.to_string()),
        missing: Vec::new(),
        compacted: Vec::new(),
    }
}
