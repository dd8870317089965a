//! Reserves the server's port while no listener uses it.

use std::io;
use std::net::{Ipv4Addr, SocketAddr};

use tokio::net::{TcpListener, TcpSocket};

/// The number of connections that may wait for accept.
pub(super) const BACKLOG: u32 = 1024;

pub(super) struct LoopbackPort {
    pub(super) address: SocketAddr,
    /// A bound socket that does not listen. Connections to it are refused, and the system assigns the port to
    /// no other socket, in particular not to an outgoing connection. Only on Linux can a second socket of the
    /// process listen on the port then.
    _held: Option<TcpSocket>,
}

impl LoopbackPort {
    /// Finds a free port and binds the first listener to it.
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
}

pub(super) fn bound(address: SocketAddr) -> io::Result<TcpSocket> {
    let socket = TcpSocket::new_v4()?;
    // Without this option, connections of the earlier listener would block the port for a while. Windows does
    // not block it, and there the option would let other processes bind the port.
    #[cfg(not(windows))]
    socket.set_reuseaddr(true)?;
    socket.bind(address)?;
    Ok(socket)
}

#[cfg(all(test, target_os = "linux"))]
mod tests;
