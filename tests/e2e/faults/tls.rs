//! A proxy between two TLS connections. It shows the API server's own certificate, so that it can read the
//! traffic.

use std::net::{IpAddr, Ipv4Addr, SocketAddr};
use std::path::Path;
use std::sync::Arc;

use tokio_rustls::rustls::pki_types::pem::PemObject;
use tokio_rustls::rustls::pki_types::{CertificateDer, PrivateKeyDer, ServerName};
use tokio_rustls::rustls::{ClientConfig, RootCertStore, ServerConfig};
use tokio_rustls::{TlsAcceptor, TlsConnector};

use crate::support::fault_proxy::{Sides, Stream};

/// Both sides of a proxy for the API server with this certificate. Neither side offers HTTP/2.
pub fn sides(server: SocketAddr, certificate: &Path) -> Sides {
    let chain = CertificateDer::pem_file_iter(certificate).unwrap();
    let chain: Vec<_> = chain.map(Result::unwrap).collect();
    let key = PrivateKeyDer::from_pem_file(certificate.with_extension("key")).unwrap();
    let mut roots = RootCertStore::empty();
    roots.add_parsable_certificates(chain.clone());
    let config = ClientConfig::builder().with_root_certificates(roots);
    let connector = TlsConnector::from(Arc::new(config.with_no_client_auth()));
    let config = ServerConfig::builder().with_no_client_auth();
    let acceptor = TlsAcceptor::from(Arc::new(config.with_single_cert(chain, key).unwrap()));
    let name = ServerName::from(IpAddr::from(Ipv4Addr::LOCALHOST));
    Sides {
        server,
        to_server: Arc::new(move |tcp| {
            let connecting = connector.connect(name.clone(), tcp);
            Box::pin(async { Ok(Box::new(connecting.await?) as Box<dyn Stream>) })
        }),
        from_client: Arc::new(move |tcp| {
            let accepting = acceptor.accept(tcp);
            Box::pin(async { Ok(Box::new(accepting.await?) as Box<dyn Stream>) })
        }),
    }
}
