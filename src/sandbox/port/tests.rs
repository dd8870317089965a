//! A port that is reserved refuses connections.

use std::io::ErrorKind;
use std::net::{SocketAddr, TcpStream};

use tokio::net::TcpSocket;

use super::LoopbackPort;

#[tokio::test]
async fn the_port_stays_reserved_without_a_listener() {
    let (port, listener) = LoopbackPort::free().unwrap();
    drop(listener);
    let address = port.address;
    let refused = TcpStream::connect(address).unwrap_err();
    assert_eq!(refused.kind(), ErrorKind::ConnectionRefused);
    assert!(!is_free(address), "it was given away");
    drop(port.listen().unwrap());
    drop(port);
    assert!(is_free(address), "nobody holds it");
}

/// Whether a socket without address reuse can bind the port.
fn is_free(address: SocketAddr) -> bool {
    TcpSocket::new_v4().expect("a socket").bind(address).is_ok()
}
