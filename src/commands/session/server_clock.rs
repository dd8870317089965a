//! The server's clock, by which states are judged: every time in an object is the server's.

use std::sync::Arc;

use jiff::SignedDuration;

use super::{Session, SessionPlace};
use crate::env::{Ahead, Clock, Env};
use crate::render::age;
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

    /// How far the server's clock is ahead of this machine's, as far as its responses show it.
    fn ahead(&self) -> Ahead {
        match &self.place {
            SessionPlace::Cluster(client) => {
                let client = client.clone();
                Arc::new(move || client.skew())
            }
            SessionPlace::File(_) => Arc::new(|| SignedDuration::ZERO),
        }
    }

    /// The server's clock; for a file, that of the file.
    pub(crate) fn clock(&self, env: &Env) -> Clock {
        env.clock_ahead(self.ahead())
    }

    /// The message about clocks that differ, if the server's counts.
    pub(crate) fn clock_note(&self) -> Option<String> {
        let difference = clock_difference((self.ahead())()).filter(|_| self.is_by_server)?;
        Some(format!("{difference}; states and ages are by the server's"))
    }
}

/// The beginning of a message about clocks that differ: the server's is `ahead` of this machine's.
pub(crate) fn clock_difference(ahead: SignedDuration) -> Option<String> {
    let by = age::human(ahead.abs());
    let way = match ahead.signum() {
        0 => return None,
        1 => "behind",
        _ => "ahead of",
    };
    Some(format!("this machine's clock is {by} {way} the server's"))
}
