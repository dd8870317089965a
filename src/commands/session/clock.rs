//! The clock by which states are judged: every time in an object is the server's.

use std::sync::Arc;

use jiff::SignedDuration;

use super::{ServerClock, Session, SessionPlace};
use crate::env::{Ahead, Clock, Env};
use crate::watch::{HttpTransport, Mux, Transport};

impl Session {
    /// From now on, the server's clock counts. This comes before all subscriptions. The clock of a file stays.
    pub(crate) fn use_server_clock(&mut self, env: &mut Env) {
        if let SessionPlace::Cluster(client) = &self.place {
            env.ahead = self.ahead();
            let transport: Arc<dyn Transport> = Arc::new(HttpTransport::new(client.clone()));
            self.mux = Mux::new([(self.cluster.clone(), transport)], self.clock(env));
            self.is_by_server = true;
        }
    }

    /// How far the server's clock is ahead of this machine's, as far as that is known.
    pub(crate) fn ahead(&self) -> Ahead {
        match self.server_clock.clone() {
            Some(clock) => Arc::new(move || clock.ahead()),
            None => Arc::new(|| SignedDuration::ZERO),
        }
    }

    /// The server's clock; for a file, that of the file.
    pub(crate) fn clock(&self, env: &Env) -> Clock {
        env.clock_ahead(self.ahead())
    }

    /// The server's clock, if it must be compared with this machine's before an event is judged.
    pub(crate) fn unclear_clock(&self) -> Option<&ServerClock> {
        self.server_clock
            .as_deref()
            .filter(|clock| clock.is_unclear())
    }

    /// The clock of the cluster's server; `None` for a file.
    pub(crate) fn server_clock(&self) -> Option<Arc<ServerClock>> {
        self.server_clock.clone()
    }

    /// The message about clocks that differ, if the server's counts.
    pub(crate) fn clock_note(&self) -> Option<String> {
        let clock = self.server_clock.as_ref().filter(|_| self.is_by_server);
        clock?.note()
    }
}
