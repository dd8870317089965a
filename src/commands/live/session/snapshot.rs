//! `--at`: everything as it was at a time.

use std::sync::Arc;

use jiff::{SignedDuration, Timestamp};

use super::{Session, SessionPlace};
use crate::commands::{CommandError, Context, TimeOrAge};
use crate::render::age;
use crate::watch::{End, HttpTransport, Mux, MuxOptions, SnapshotTransport, Transport};

impl Session {
    /// From now on, everything is as it was at a time, the clock too. This comes before all subscriptions.
    pub(crate) async fn look_at(
        &mut self,
        at: TimeOrAge,
        context: &mut Context<'_>,
    ) -> Result<(), CommandError> {
        let SessionPlace::Cluster(client) = &self.place else {
            return Err(CommandError::usage(
                "--at needs a cluster: it cannot be used with --from",
            ));
        };
        let env = &mut *context.env;
        let now = self.clock(env)();
        let time = at.seen_from(now);
        if time > now {
            return Err(CommandError::usage(format!(
                "--at {time:.0} has not come yet: it is {now:.0}"
            )));
        }
        let (present, dates) = (self.mux.clone(), self.mux.dates(&self.cluster));
        let dates = dates.ok_or_else(|| forgotten(time))?;
        let revision = dates.snapshot_before(time).await;
        let revision = revision.map_err(untold)?;
        let (revision, written) = revision.ok_or_else(|| forgotten(time))?;
        let transport: Arc<dyn Transport> = Arc::new(HttpTransport::new(client.clone()));
        let snapshot = SnapshotTransport::new(transport, revision, present, dates);
        let transport: Arc<dyn Transport> = Arc::new(snapshot);
        env.now = Arc::new(move || time);
        env.ahead = Arc::new(|| SignedDuration::ZERO);
        let options = MuxOptions {
            watches: false,
            ..MuxOptions::default()
        };
        let transports = [(self.cluster.clone(), transport)];
        self.mux = Mux::with_options(transports, env.now.clone(), options);
        self.server_clock = None;
        (self.is_by_server, self.is_past) = (false, true);
        let early = age::human(time.duration_since(written));
        context.note(&format!(
            "everything as it was at {time:.0}, or up to {early} before"
        ));
        Ok(())
    }
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
