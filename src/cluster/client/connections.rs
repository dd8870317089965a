//! Connections, each with a bounded number of streams.

use std::sync::{Arc, Mutex, PoisonError};

use super::stack::Stack;

/// A kube-apiserver takes 100 streams on a connection and lets the next one wait, for ever if all
/// are watches. hyper opens no second connection by itself.
const STREAMS: usize = 90;

/// The connections that one set of credentials has made.
pub(super) struct Connections {
    stack: Stack,
    open: Mutex<Vec<Lane>>,
}

struct Lane {
    client: kube::Client,
    /// Held once here and once by every stream.
    streams: Arc<()>,
}

/// A place for one stream, free again when it is dropped.
pub(super) struct ConnectionSlot {
    pub(super) client: kube::Client,
    _place: Arc<()>,
}

impl Connections {
    pub(super) fn new(stack: Stack) -> Connections {
        Connections {
            stack,
            open: Mutex::default(),
        }
    }

    /// Takes a place on the first connection that has one, or on a new one.
    pub(super) fn slot(&self) -> ConnectionSlot {
        // Nothing below can panic half-way: a poisoned list is a whole one.
        let mut open = self.open.lock().unwrap_or_else(PoisonError::into_inner);
        let free = |lane: &&Lane| Arc::strong_count(&lane.streams) <= STREAMS;
        if let Some(lane) = open.iter().find(free) {
            return lane.slot();
        }
        let lane = Lane {
            client: self.stack.client(),
            streams: Arc::new(()),
        };
        let slot = lane.slot();
        open.push(lane);
        slot
    }
}

impl Lane {
    fn slot(&self) -> ConnectionSlot {
        ConnectionSlot {
            client: self.client.clone(),
            _place: self.streams.clone(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::cluster::kubeconfig::ClusterConfig;

    #[tokio::test]
    async fn the_91st_stream_opens_a_second_connection() {
        let config = ClusterConfig::plain("http://127.0.0.1:1", "test").expect("a server");
        let stack = Stack::new(config.config().clone()).expect("no credentials");
        let connections = Connections::new(stack);
        let open = || connections.open.lock().expect("whole").len();
        let mut slots: Vec<ConnectionSlot> = (0..90).map(|_| connections.slot()).collect();
        assert_eq!(open(), 1);
        slots.push(connections.slot());
        assert_eq!(open(), 2);
        slots.truncate(10);
        slots.push(connections.slot());
        assert_eq!(open(), 2);
        assert_eq!(
            Arc::strong_count(&connections.open.lock().expect("whole")[0].streams),
            12
        );
    }
}
