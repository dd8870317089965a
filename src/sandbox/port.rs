//! The server's port, which stays its own while nobody listens.

use std::io;
use std::net::{Ipv4Addr, SocketAddr};

use tokio::net::{TcpListener, TcpSocket};

/// Connections that may wait to be accepted.
const BACKLOG: u32 = 1024;

/// A port of the loopback interface.
pub(super) struct LoopbackPort {
    address: SocketAddr,
    /// Bound, and not listening: a connection to it is refused, and the system gives the port to nobody,
    /// as an outgoing connection's own end least of all. Only Linux lets a second socket of the same
    /// process listen on it then.
    _held: Option<TcpSocket>,
}

impl LoopbackPort {
    /// A free one, with the first listener on it.
    pub(super) fn free() -> io::Result<(LoopbackPort, TcpListener)> {
        let socket = bound((Ipv4Addr::LOCALHOST, 0).into())?;
        let address = socket.local_addr()?;
        let (held, socket) = if cfg!(target_os = "linux") {
            (Some(socket), bound(address)?)
        } else {
            (None, socket)
        };
        let port = LoopbackPort {
            address,
            _held: held,
        };
        Ok((port, socket.listen(BACKLOG)?))
    }

    /// Listens again, once the listener before has been dropped.
    pub(super) fn listen(&self) -> io::Result<TcpListener> {
        bound(self.address)?.listen(BACKLOG)
    }

    /// The address of its listeners.
    pub(super) fn address(&self) -> SocketAddr {
        self.address
    }
}

fn bound(address: SocketAddr) -> io::Result<TcpSocket> {
    let socket = TcpSocket::new_v4()?;
    // Else the connections of the listener before would hold the port for a while. Windows does not
    // make anyone wait, and lets others in on it.
    #[cfg(not(windows))]
    socket.set_reuseaddr(true)?;
    socket.bind(address)?;
    Ok(socket)
}

#[cfg(all(test, target_os = "linux"))]
mod tests {
    use std::io::ErrorKind;
    use std::net::{SocketAddr, TcpStream};

    use tokio::net::TcpSocket;

    use super::LoopbackPort;

    #[tokio::test]
    async fn the_port_is_kept_while_nobody_listens() {
        let (port, listener) = LoopbackPort::free().unwrap();
        drop(listener);
        let address = port.address();
        let refused = TcpStream::connect(address).unwrap_err();
        assert_eq!(refused.kind(), ErrorKind::ConnectionRefused);
        assert!(!is_free(address), "it was given away");
        drop(port.listen().unwrap());
        drop(port);
        assert!(is_free(address), "nobody holds it");
    }

    /// Whether a socket gets the port that does not share it.
    fn is_free(address: SocketAddr) -> bool {
        TcpSocket::new_v4().expect("a socket").bind(address).is_ok()
    }
}
