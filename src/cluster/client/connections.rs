//! Connections, each with a bounded number of streams.

use std::sync::{Arc, Mutex, PoisonError};

use super::stack::Stack;

/// A kube-apiserver accepts 100 streams on a connection. The next one waits, for ever if all are watches. hyper
/// never opens a second connection by itself.
const STREAMS: usize = 90;

/// The connections that use one set of credentials.
pub(super) struct Connections {
    stack: Stack,
    open: Mutex<Vec<Connection>>,
}

struct Connection {
    client: kube::Client,
    /// Shared by this connection and each of its streams, to count them.
    streams: Arc<()>,
}

/// The place of one stream. Dropping it frees the place.
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

    /// Takes a place on the first connection with a free one, or on a new connection.
    pub(super) fn slot(&self) -> ConnectionSlot {
        // Nothing below can panic half way, so the list is consistent even after a panic.
        let mut open = self.open.lock().unwrap_or_else(PoisonError::into_inner);
        let free = |connection: &&Connection| Arc::strong_count(&connection.streams) <= STREAMS;
        if let Some(connection) = open.iter().find(free) {
            return connection.slot();
        }
        let connection = Connection {
            client: self.stack.client(),
            streams: Arc::new(()),
        };
        let slot = connection.slot();
        open.push(connection);
        slot
    }
}

impl Connection {
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
        let stack = Stack::new(&config).expect("no credentials");
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
