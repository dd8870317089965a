//! `ClusterRecorder`: the recorder of one cluster. It starts where an earlier one has stopped.

use std::collections::HashMap;
use std::sync::Arc;

use super::args::{RecordArgs, is_recorded_by_default};
use crate::commands::{CommandError, EveryKind, LastRecord, Session};
use crate::env::{Ahead, Clock, clock_ahead, shifted};
use crate::record::{
    RecordOptions, RecordProgress, Recorder, Redaction, ResumedSource, Store, StoreError,
};
use crate::source::{ClusterId, Event, SourceKey};

/// What the recorders of all clusters have in common.
pub(super) struct RecorderSetup<'a> {
    pub(super) args: &'a RecordArgs,
    pub(super) store: Store,
    /// This machine's clock.
    pub(super) clock: Clock,
}

/// What to record of a cluster.
pub(super) struct RecordPlan {
    /// The cluster, and what is recorded of it.
    pub(super) record: LastRecord,
    pub(super) keys: Vec<SourceKey>,
    /// The paths whose values are not recorded.
    pub(super) redactions: Vec<Redaction>,
}

/// A recorder, and what it records.
pub(super) struct ClusterRecorder {
    /// The context.
    pub(super) context: ClusterId,
    /// The id of the cluster, which other contexts may share.
    pub(super) id: String,
    pub(super) keys: Vec<SourceKey>,
    pub(super) recorder: Recorder,
    /// Whether kinds that are defined later are recorded, too.
    records_new_kinds: bool,
    /// How far the server's clock is ahead of this machine's.
    ahead: Ahead,
}

impl RecorderSetup<'_> {
    /// Starts the recorder of a cluster, whose sources then resume from its last record. Its times are by the server's clock,
    /// so that those of all recorders can be compared. `note` prints a message. It fails if its first file cannot be written.
    pub(super) fn start(
        &self,
        plan: RecordPlan,
        session: &Session,
        note: &mut dyn FnMut(&str),
    ) -> Result<ClusterRecorder, CommandError> {
        let LastRecord { cluster, known } = plan.record;
        let id = cluster.id.clone();
        let mut known = known.unwrap_or_else(|error| {
            note(&format!("not resumed: {error}"));
            HashMap::new()
        });
        known.retain(|key, _| plan.keys.contains(key));
        let resumed = known
            .iter()
            .map(|(key, known)| (key.clone(), ResumedSource::of(known)));
        let recorder = Recorder::start(RecordOptions {
            store: self.store.clone(),
            cluster,
            retention: self.args.retention(),
            resumed: resumed.collect(),
            redactions: plan.redactions,
            clock: clock_ahead(self.clock.clone(), session.ahead()),
            local_clock: self.clock.clone(),
        })?;
        for (key, known) in known {
            session.mux.resume(key, known);
        }
        Ok(ClusterRecorder {
            context: session.cluster.clone(),
            id,
            keys: plan.keys,
            recorder,
            records_new_kinds: self.args.means_every_kind(),
            ahead: session.ahead(),
        })
    }
}

impl ClusterRecorder {
    /// Records an event, and from now on the kind that it defines.
    pub(super) fn record(&mut self, key: &Arc<SourceKey>, mut event: Event) {
        if self.records_new_kinds
            && let Some(new) = key.of_new_kind(&event, &self.keys)
            && is_recorded_by_default(&new.resource)
        {
            self.keys.push(new);
        }
        if let Event::Object { seen, .. } = &mut event {
            *seen = shifted(*seen, (self.ahead)());
        }
        self.recorder.record(key, event);
    }

    /// Whether it records this source of the cluster with this id, which may have another context.
    pub(super) fn records(&self, id: &str, key: &SourceKey) -> bool {
        let renamed = SourceKey {
            cluster: self.context.clone(),
            ..key.clone()
        };
        self.id == id && self.keys.contains(&renamed)
    }

    /// How far several recorders have come together. The files of a cluster count once.
    pub(super) fn total(
        progresses: impl Iterator<Item = (String, RecordProgress)>,
    ) -> RecordProgress {
        let mut counted: Vec<String> = Vec::new();
        progresses.fold(RecordProgress::default(), |total, (id, mut progress)| {
            if counted.contains(&id) {
                (progress.bytes, progress.files) = (0, 0);
            } else {
                counted.push(id);
            }
            total.and(progress)
        })
    }

    /// Writes everything, and ends. Returns the id of the cluster, too.
    pub(super) fn finish(self) -> Result<(String, RecordProgress), StoreError> {
        Ok((self.id, self.recorder.finish()?))
    }
}

/// The lines about what cannot be recorded.
pub(super) fn unrecorded(every: &EveryKind) -> impl Iterator<Item = String> {
    let unwatched = every.unwatched.iter().map(|resource| {
        let name = resource.group_resource();
        format!("not recorded: {name}, which cannot be watched")
    });
    let silent = every.silent.iter();
    let silent = silent.map(|group| format!("not recorded: {group}, whose server does not answer"));
    unwatched.chain(silent)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_files_of_a_cluster_count_once() {
        let progress = |oldest: &str| RecordProgress {
            objects: 2,
            versions: 3,
            gaps: 1,
            bytes: 100,
            files: 4,
            oldest: oldest.parse().ok(),
            trouble: None,
            undeleted: None,
        };
        let of = |id: &str, oldest| (id.to_owned(), progress(oldest));
        let full = Some("the disk is full".to_owned());
        let mut last = of("b", "2026-03-02T11:00:00Z");
        last.1.trouble.clone_from(&full);
        let same = "2026-03-02T12:00:00Z";
        let total = ClusterRecorder::total([of("a", same), of("a", same), last].into_iter());
        let expect = RecordProgress {
            objects: 6,
            versions: 9,
            gaps: 3,
            bytes: 200,
            files: 8,
            oldest: "2026-03-02T11:00:00Z".parse().ok(),
            trouble: full,
            undeleted: None,
        };
        assert_eq!(total, expect);
    }
}
