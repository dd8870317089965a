//! `--at`: everything as it was at a time.

use std::sync::Arc;

use jiff::Timestamp;

use super::connection::ClusterConnection;
use super::record;
use crate::commands::{CommandError, MemoryStore};
use crate::env::Clock;
use crate::record::{
    LayeredTransport, RecordedSnapshot, StaleCause, StaleSource, Store, StoreTransport,
};
use crate::render::age;
use crate::watch::{End, Mux, RecordBegin, SnapshotTransport, Transport};

/// Fails for a time that has not come yet.
pub(super) fn check_time(time: Timestamp, now: Timestamp) -> Result<(), CommandError> {
    if time > now {
        return Err(CommandError::usage(format!(
            "{time:.0} has not come yet: it is {now:.0}"
        )));
    }
    Ok(())
}

/// A past that can be read.
pub(super) struct PastView {
    /// Reads it.
    pub(super) transport: Arc<dyn Transport>,
    /// Its time: the requested one, or the last time before at which anything was recorded.
    pub(super) time: Timestamp,
    /// What the user must know about it.
    pub(super) notes: Vec<String>,
}

/// A cluster as it was at a time: from its record in a store where that is complete, and from the server's memory, or else from the
/// record alone. `present` reads the cluster as it is now.
pub(super) async fn of_cluster(
    connection: &ClusterConnection,
    present: &Mux,
    time: Timestamp,
    memory: Option<&MemoryStore>,
) -> Result<PastView, CommandError> {
    // A time in the past does not come nearer while somebody waits for the server to return.
    connection.check_login().await?;
    // A past record cannot ask what a reader may list.
    let memory = memory.filter(|_| !connection.is_of_reader);
    let (layers, mut notes) = match memory {
        Some(memory) => match record::of_cluster(connection, &memory.store).await {
            Ok(record) => (record.map(|record| (record, &memory.store)), Vec::new()),
            Err(error) => (None, memory.without(error)?),
        },
        None => (None, Vec::new()),
    };
    let of_server = of_server(connection, present, time, layers.as_ref()).await;
    let mut view = match (of_server, &layers) {
        (Ok(view), _) => view,
        (Err(_), Some((record, _))) => of_record(&Arc::new(record.clone()), time).await?,
        (Err(error), None) => return Err(error),
    };
    if let Some((record, _)) = &layers {
        notes.extend_from_slice(record.unread());
    }
    view.notes.extend(notes);
    Ok(view)
}

/// The same from the server's memory, over its record if there is one.
async fn of_server(
    connection: &ClusterConnection,
    present: &Mux,
    time: Timestamp,
    record: Option<&(StoreTransport, &Store)>,
) -> Result<PastView, CommandError> {
    let dates = present.dates(&connection.cluster);
    let dates = dates.ok_or_else(|| forgotten(time))?;
    let recorded = match record {
        Some((record, _)) => record.newest_at(time).await?,
        None => None,
    };
    let revision = dates.snapshot_before(time, recorded).await;
    let revision = revision.map_err(untold)?;
    let (revision, written) = revision.ok_or_else(|| forgotten(time))?;
    let transport: Arc<dyn Transport> = match record {
        Some((record, store)) => {
            let now: Clock = Arc::new(move || time);
            let layered = LayeredTransport::new(connection.transport(), record.clone(), store, now);
            Arc::new(layered.without_secrets())
        }
        None => connection.transport(),
    };
    let snapshot = SnapshotTransport::new(transport, revision, present.clone(), dates);
    let early = age::at_most(time.duration_since(written));
    let words = match recorded {
        Some(_) => {
            format!(
                "everything as it was at {time:.0}, or up to {early} before where it is not recorded"
            )
        }
        None => format!("everything as it was at {time:.0}, or up to {early} before"),
    };
    Ok(PastView {
        transport: Arc::new(snapshot),
        time,
        notes: vec![words],
    })
}

/// A record as it was at a time. Of what nobody recorded then, the last state before counts, and the notes name it.
pub(super) async fn of_record(
    record: &Arc<StoreTransport>,
    time: Timestamp,
) -> Result<PastView, CommandError> {
    let snapshot = RecordedSnapshot::new(record.clone(), time);
    let Some(known) = snapshot.known_until().await? else {
        let error = match record.begin().await {
            Some(RecordBegin {
                since,
                unread: Some(cause),
            }) => format!(
                "error: what can be read of the record begins at {since:.0}, after {time:.0}: {cause}"
            ),
            Some(RecordBegin { since, .. }) => {
                format!("error: the record begins at {since:.0}, after {time:.0}")
            }
            None => format!("error: the record begins after {time:.0}"),
        };
        return Err(CommandError::failed(error));
    };
    let stale = snapshot.stale().await?;
    let again = stale.iter().filter_map(|source| source.again).min();
    let mut notes = Vec::new();
    if known == time {
        notes.push(format!("everything as it was recorded at {time:.0}"));
        notes.extend(stale_lines(&stale));
    } else {
        let unread = stale.iter().find_map(|source| match &source.cause {
            StaleCause::Unread(cause) => Some(cause.clone()),
            StaleCause::Unserved | StaleCause::Unrecorded | StaleCause::Lost => None,
        });
        let unread = unread.or(snapshot.unread_since(known).await);
        let unknown = match (again, unread) {
            (Some(again), Some(cause)) => format!("from then until {again:.0}, {cause}"),
            (None, Some(cause)) => format!("from then on, {cause}"),
            (Some(again), None) => format!("nobody recorded from then until {again:.0}"),
            (None, None) if record.until().is_some_and(|until| until > time) => {
                "what was written after it may have arrived late".to_owned()
            }
            (None, None) => "the record ends then".to_owned(),
        };
        notes.push(format!("everything as it was at {known:.0}: {unknown}"));
        let lost = stale.into_iter().filter(|it| it.cause == StaleCause::Lost);
        notes.extend(stale_lines(&lost.collect::<Vec<_>>()));
    }
    let snapshot = if known == time {
        snapshot
    } else {
        RecordedSnapshot::new(record.clone(), known)
    };
    Ok(PastView {
        transport: Arc::new(snapshot),
        time: known,
        notes,
    })
}

/// A line for each time from which on some sources were not recorded.
fn stale_lines(stale: &[StaleSource]) -> Vec<String> {
    let mut lines = Vec::new();
    let when = |source: &StaleSource| (source.until, source.again, source.cause.clone());
    for sources in stale.chunk_by(|one, next| when(one) == when(next)) {
        let names = sources.iter().map(|source| match source.key.namespace() {
            Some(_) => source.key.to_string(),
            None => source.key.resource.group_resource().clone(),
        });
        let names: Vec<String> = names.collect();
        lines.extend(sources.first().map(when).map(|(until, again, cause)| {
            let again = again.map(|again| format!(" until {again:.0}"));
            let (again, names) = (again.unwrap_or_default(), names.join(", "));
            match cause {
                StaleCause::Unserved => {
                    format!(
                        "as of {until:.0}, because their type no longer existed{again}: {names}"
                    )
                }
                StaleCause::Unread(cause) => format!("as of {until:.0}{again}: {names}: {cause}"),
                StaleCause::Lost => format!(
                    "some may be older or missing, because versions since {until:.0} are not in this copy of the record: {names}"
                ),
                StaleCause::Unrecorded => {
                    format!("as of {until:.0}, because nobody recorded them{again}: {names}")
                }
            }
        }));
    }
    lines
}

/// Without the Leases, nothing tells which revision is of which time.
fn untold(end: End) -> CommandError {
    let text = match end {
        End::Failed(error) => return CommandError::failed(error.to_string()),
        End::NotOffered(cause) => cause.to_string(),
        End::Limit | End::Spent | End::Forgotten(_) | End::OutOfTime(_) => {
            "error: the Leases did not tell in time which revision was the newest".to_owned()
        }
    };
    let hint = "the past needs the right to list leases in the namespace kube-system: their renewals have times";
    CommandError::failed(text).hint(hint)
}

fn forgotten(time: Timestamp) -> CommandError {
    CommandError::failed(format!(
        "error: the server has forgotten what was at {time:.0}"
    ))
    .hint(
        "etcd keeps five to ten minutes, as a rule: try 3m, or keep more with `kubectl spy record`",
    )
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::source::SourceKey;

    #[test]
    fn sources_of_one_time_share_a_line() {
        let time = |text: &str| text.parse::<Timestamp>().expect("a time");
        let stale = |kind, until, cause| StaleSource {
            key: SourceKey::all("", kind),
            until: time(until),
            again: None,
            cause,
        };
        let (noon, later) = ("2026-03-02T12:00:00Z", "2026-03-02T12:01:00Z");
        let lines = stale_lines(&[
            stale("ConfigMap", noon, StaleCause::Lost),
            stale("Pod", noon, StaleCause::Lost),
            stale("Secret", later, StaleCause::Unrecorded),
        ]);
        assert_eq!(
            lines,
            [
                "some may be older or missing, because versions since 2026-03-02T12:00:00Z are not in this copy of the record: configmaps, pods",
                "as of 2026-03-02T12:01:00Z, because nobody recorded them: secrets",
            ]
        );
    }
}
