//! `--at`: everything as it was at a time.

use jiff::Timestamp;

use super::connection::ClusterConnection;
use crate::commands::{CommandError, TimeOrAge};
use crate::watch::{End, Mux, SnapshotTransport};

/// The time that `--at` names. It fails for one that has not come yet.
pub(super) fn past_time(at: TimeOrAge, now: Timestamp) -> Result<Timestamp, CommandError> {
    let time = at.seen_from(now);
    if time > now {
        return Err(CommandError::usage(format!(
            "--at {time:.0} has not come yet: it is {now:.0}"
        )));
    }
    Ok(time)
}

/// The cluster as it was at a time, from the server's memory, and when its newest revision then was written. `present` reads
/// the cluster as it is now.
pub(super) async fn of_server(
    connection: &ClusterConnection,
    present: &Mux,
    time: Timestamp,
) -> Result<(SnapshotTransport, Timestamp), CommandError> {
    let dates = present.dates(&connection.cluster);
    let dates = dates.ok_or_else(|| forgotten(time))?;
    let revision = dates.snapshot_before(time).await;
    let revision = revision.map_err(untold)?;
    let (revision, written) = revision.ok_or_else(|| forgotten(time))?;
    let snapshot = SnapshotTransport::new(connection.transport(), revision, present.clone(), dates);
    Ok((snapshot, written))
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
    let hint = "--at needs to list leases in the namespace kube-system: their renewals have times";
    CommandError::failed(text).hint(hint)
}

fn forgotten(time: Timestamp) -> CommandError {
    CommandError::failed(format!(
        "error: the server has forgotten what was at {time:.0}"
    ))
    .hint("etcd keeps five to ten minutes, as a rule: try --at 3m")
}
