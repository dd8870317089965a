//! The records of `-o json` that stand between the past and what is live: how far back each source was
//! looked at, and where what is live begins.

use jiff::Timestamp;
use serde_json::{Value, json};

use super::past::Found;
use super::seam::{Seam, refused};
use super::unread::Unread;
use super::view::View;
use crate::commands::sources::describe;
use crate::render::age::rfc3339_millis;
use crate::render::json::VERSION;
use crate::render::json::line::line;
use crate::watch::{End, Revision};

impl Seam<'_> {
    /// A record for each source, and one for the seam, after `versions` records of the past.
    pub(super) fn records(&self, view: &View, now: Timestamp, versions: usize) -> Vec<String> {
        let seen = rfc3339_millis(now);
        let record = |kind: &str, fields: Value| {
            let mut record = json!({
                "v": VERSION,
                "type": kind,
                "seen": seen,
                "cluster": view.cluster,
            });
            if let (Value::Object(record), Value::Object(fields)) = (&mut record, fields) {
                record.extend(fields);
            }
            line(&record)
        };
        let read = self.found.iter().map(|found| self.horizon(found));
        let unread = self.unread.iter().map(unread);
        let mut records: Vec<String> = read
            .chain(unread)
            .map(|fields| record("lookback", fields))
            .collect();
        let seam = json!({ "versions": versions, "live": self.live.is_some() });
        records.push(record("seam", seam));
        records
    }

    fn horizon(&self, found: &Found) -> Value {
        let end = match &found.end {
            Some(End::Forgotten(_)) => "forgotten",
            Some(End::NotOffered(_)) => "notOffered",
            Some(End::Failed(_)) => "failed",
            Some(End::Limit) | None => "limit",
        };
        let number = |at: Option<Revision>| at.map(|at| at.to_string());
        let mut record = json!({
            "source": describe(&found.key),
            "end": end,
            "from": number(found.from),
            "complete": number(found.complete),
        });
        let time = |at: Option<Revision>| Some(rfc3339_millis(self.time(found, at?)?));
        let rest = [
            ("time", time(found.from)),
            ("completeTime", time(found.complete)),
            ("cause", refused(found)),
        ];
        if let Value::Object(record) = &mut record {
            let known = rest.into_iter();
            record.extend(known.filter_map(|(name, value)| Some((name.to_owned(), value?.into()))));
        }
        record
    }
}

fn unread(unread: &Unread) -> Value {
    json!({
        "source": unread.source,
        "end": "notRead",
        "from": null,
        "complete": null,
        "cause": &*unread.cause,
    })
}
