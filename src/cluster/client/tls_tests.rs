//! Tests of the client against a TLS server that speaks HTTP/2.

use std::convert::Infallible;
use std::sync::atomic::{AtomicUsize, Ordering};

use futures::future::join_all;
use http::Response;
use http_body_util::Full;
use hyper::server::conn::http2;
use hyper::service::service_fn;
use hyper_util::rt::{TokioExecutor, TokioIo};
use tokio::net::TcpListener;
use tokio::task::JoinSet;
use tokio_rustls::TlsAcceptor;
use tokio_rustls::rustls::ServerConfig;
use tokio_rustls::rustls::pki_types::pem::PemObject;
use tokio_rustls::rustls::pki_types::{CertificateDer, PrivateKeyDer};

use super::*;
use crate::cluster::kubeconfig::tests::Files;
use crate::cluster::kubeconfig::{Ambient, Overrides};

/// A certificate for `kubernetes.example.com`, valid from 2020 to 2120, and its key. They protect nothing: they
/// were created with `openssl ca -selfsign` for this test.
const CERTIFICATE: &str = "\
-----BEGIN CERTIFICATE-----
MIIBeDCCAR+gAwIBAgIBATAKBggqhkjOPQQDAjAbMRkwFwYDVQQDDBBrdWJlY3Rs
LXNweS10ZXN0MCAXDTIwMDEwMTAwMDAwMFoYDzIxMjAwMTAxMDAwMDAwWjAbMRkw
FwYDVQQDDBBrdWJlY3RsLXNweS10ZXN0MFkwEwYHKoZIzj0CAQYIKoZIzj0DAQcD
QgAElmAkwFdHflQ0+kfaBPr+9t1+FYyb8U2CbiwOEmcUCmhGNOreOiMbCTU3IKF1
o9CLMczcangs33yMXao4+ilba6NSMFAwIQYDVR0RBBowGIIWa3ViZXJuZXRlcy5l
eGFtcGxlLmNvbTAMBgNVHRMBAf8EAjAAMB0GA1UdDgQWBBSHjxQ/xgK/pVaowX/N
bPyvpK2eSjAKBggqhkjOPQQDAgNHADBEAiBy5lO5Ckf8j2GPurilLXxv1HmTXqhR
IJLw81G69Cw6mwIgan//7HCIlxhxtghBZPInwdH0lf3OGEnmho7oKRxxPSY=
-----END CERTIFICATE-----
";
const KEY: &str = "\
-----BEGIN PRIVATE KEY-----
MIGHAgEAMBMGByqGSM49AgEGCCqGSM49AwEHBG0wawIBAQQgluaz9/p720dkvBh3
nb3m4RVU0iI6Tz/7Yp5VXT9msWahRANCAASWYCTAV0d+VDT6R9oE+v723X4VjJvx
TYJuLA4SZxQKaEY06t46IxsJNTcgoXWj0IsxzNxqeCzffIxdqjj6KVtr
-----END PRIVATE KEY-----
";

/// A certificate and its key, made in the same way.
struct Pair {
    certificate: &'static str,
    key: &'static str,
}

const USUAL: Pair = Pair {
    certificate: CERTIFICATE,
    key: KEY,
};

/// The certificate may sign others: `basicConstraints=critical,CA:TRUE`.
const AUTHORITY: Pair = Pair {
    certificate: "\
-----BEGIN CERTIFICATE-----
MIIBjzCCATWgAwIBAgIUQ6Osm/OJd6bj/LKTG26KLh7kO5kwCgYIKoZIzj0EAwIw
GzEZMBcGA1UEAwwQa3ViZWN0bC1zcHktdGVzdDAgFw0yMDAxMDEwMDAwMDBaGA8y
MTIwMDEwMTAwMDAwMFowGzEZMBcGA1UEAwwQa3ViZWN0bC1zcHktdGVzdDBZMBMG
ByqGSM49AgEGCCqGSM49AwEHA0IABODUyUgZ+5z0GJDoh4G/DCh/Doui9pQ4dgJH
GMAEhMAgTmViRPjWL+g6Liw+m8fX/xN1fGu9yz0sDbYctp3JIJ+jVTBTMCEGA1Ud
EQQaMBiCFmt1YmVybmV0ZXMuZXhhbXBsZS5jb20wDwYDVR0TAQH/BAUwAwEB/zAd
BgNVHQ4EFgQUVquR3uBcx4k93dK0WVPmEx8xrfMwCgYIKoZIzj0EAwIDSAAwRQIg
RH4hUskVSWaQ+9dv0MsAPbjeoQE8fVOBtGztaZX3ZDECIQDVLT7xT/SzpdfC1XwY
nYELvernejIjXxiyZYD9NplWvg==
-----END CERTIFICATE-----
",
    key: "\
-----BEGIN PRIVATE KEY-----
MIGHAgEAMBMGByqGSM49AgEGCCqGSM49AwEHBG0wawIBAQQgR5Qte43DPWBIovKy
JdcDoRWQg+rIbuiu6JmczLe3VSehRANCAATg1MlIGfuc9BiQ6IeBvwwofw6LovaU
OHYCRxjABITAIE5lYkT41i/oOi4sPpvH1/8TdXxrvcs9LA22HLadySCf
-----END PRIVATE KEY-----
",
};

/// The certificate has expired with the year 2020.
const EXPIRED: Pair = Pair {
    certificate: "\
-----BEGIN CERTIFICATE-----
MIIBizCCATCgAwIBAgIUAW7sLJT9HyV887zJuajioQMtBiQwCgYIKoZIzj0EAwIw
GzEZMBcGA1UEAwwQa3ViZWN0bC1zcHktdGVzdDAeFw0yMDAxMDEwMDAwMDBaFw0y
MTAxMDEwMDAwMDBaMBsxGTAXBgNVBAMMEGt1YmVjdGwtc3B5LXRlc3QwWTATBgcq
hkjOPQIBBggqhkjOPQMBBwNCAAQ5e2HZxeIqXcWdZK1RvGKy0PN4Fo8oJjmx3Twx
HDL00zyJxLPR2eDLRivcD1OgLg9Pvts4XIvhd3zjQdFyjpXTo1IwUDAhBgNVHREE
GjAYghZrdWJlcm5ldGVzLmV4YW1wbGUuY29tMAwGA1UdEwEB/wQCMAAwHQYDVR0O
BBYEFHM04VU3q1He648Vyco/dDeCJ5VVMAoGCCqGSM49BAMCA0kAMEYCIQDWQgTc
p9obt89ozjjMWFboqxSsC+Qpy04+0V6vAX/bbAIhAJBl2CjYjcYz5Xz56eo+kP1R
MYR+qfUcGpCX5WPWCc1X
-----END CERTIFICATE-----
",
    key: "\
-----BEGIN PRIVATE KEY-----
MIGHAgEAMBMGByqGSM49AgEGCCqGSM49AwEHBG0wawIBAQQg7JuzDpqFIxsRXoKR
KWo/b3ne5E/XC1JTFeTRQEFJhL+hRANCAAQ5e2HZxeIqXcWdZK1RvGKy0PN4Fo8o
Jjmx3TwxHDL00zyJxLPR2eDLRivcD1OgLg9Pvts4XIvhd3zjQdFyjpXT
-----END PRIVATE KEY-----
",
};

/// A server that answers with the HTTP version of the request.
struct Server {
    certificate: &'static str,
    url: String,
    connections: Arc<AtomicUsize>,
    _tasks: JoinSet<()>,
}

impl Server {
    async fn start() -> Server {
        Server::with(USUAL).await
    }

    async fn with(pair: Pair) -> Server {
        let certificate = CertificateDer::from_pem_slice(pair.certificate.as_bytes()).expect("PEM");
        let key = PrivateKeyDer::from_pem_slice(pair.key.as_bytes()).expect("PEM");
        let mut tls = ServerConfig::builder()
            .with_no_client_auth()
            .with_single_cert(vec![certificate], key)
            .expect("a pair");
        tls.alpn_protocols = vec![b"h2".to_vec()];
        let acceptor = TlsAcceptor::from(Arc::new(tls));
        let listener = TcpListener::bind("127.0.0.1:0").await.expect("a port");
        let url = format!("https://{}", listener.local_addr().expect("bound"));
        let connections = Arc::new(AtomicUsize::new(0));
        let count = connections.clone();
        let mut tasks = JoinSet::new();
        tasks.spawn(async move {
            let mut open = JoinSet::new();
            while let Ok((stream, _)) = listener.accept().await {
                let acceptor = acceptor.clone();
                let count = count.clone();
                open.spawn(async move {
                    let Ok(stream) = acceptor.accept(stream).await else {
                        return;
                    };
                    count.fetch_add(1, Ordering::Relaxed);
                    let service = service_fn(|request: http::Request<_>| async move {
                        drop::<hyper::body::Incoming>(request.into_body());
                        Ok::<_, Infallible>(Response::new(Full::new(Bytes::from_static(b"ok"))))
                    });
                    http2::Builder::new(TokioExecutor::new())
                        .serve_connection(TokioIo::new(stream), service)
                        .await
                        .unwrap_or_default();
                });
            }
        });
        Server {
            certificate: pair.certificate,
            url,
            connections,
            _tasks: tasks,
        }
    }

    async fn client(&self, change: impl FnOnce(&mut Overrides)) -> Client {
        let files = Files::new(&[("ca.crt", self.certificate)]);
        let authority = files.path("ca.crt").to_string_lossy().into_owned();
        let mut overrides = Overrides {
            server: Some(self.url.clone()),
            certificate_authority: Some(authority),
            ..Overrides::default()
        };
        change(&mut overrides);
        let config = ClusterConfig::load(&Ambient::default(), &overrides).expect("valid");
        Client::new(config).await.expect("a client")
    }
}

fn trusting(overrides: &mut Overrides) {
    overrides.tls_server_name = Some("kubernetes.example.com".to_owned());
}

#[tokio::test]
async fn streams_share_one_connection_and_tls_server_name_is_verified() {
    let server = Server::start().await;
    let client = server.client(trusting).await;
    let request = ApiRequest::new("/x");
    let first = client.get(&request).await.expect("an answer");
    assert_eq!(&*first, b"ok");
    let answers = join_all((0..30).map(|_| client.open(&request))).await;
    assert!(answers.iter().all(Result::is_ok));
    assert_eq!(server.connections.load(Ordering::Relaxed), 1);
}

async fn refused(change: impl FnOnce(&mut Overrides)) -> String {
    refused_by(Server::start().await, change).await
}

async fn refused_by(server: Server, change: impl FnOnce(&mut Overrides)) -> String {
    let client = server.client(change).await;
    let error = client
        .get(&ApiRequest::new("/x"))
        .await
        .expect_err("not trusted");
    assert!(matches!(error, RequestError::Connect(_)), "{error:?}");
    error.to_string()
}

#[tokio::test]
async fn invalid_certificates_have_kubectls_messages() {
    let x509 = "Unable to connect to the server: tls: failed to verify certificate: x509:";
    assert_eq!(
        refused(|_| ()).await,
        format!("{x509} certificate is not valid for 127.0.0.1")
    );
    assert_eq!(
        refused(|overrides| overrides.tls_server_name = Some("other.example.com".to_owned())).await,
        format!("{x509} certificate is not valid for other.example.com")
    );
    let without_authority = |overrides: &mut Overrides| {
        overrides.certificate_authority = None;

        trusting(overrides);
    };
    assert_eq!(
        refused(without_authority).await,
        format!("{x509} certificate signed by unknown authority")
    );
}

#[tokio::test]
async fn verification_can_be_switched_off() {
    let server = Server::start().await;
    let insecure = |overrides: &mut Overrides| {
        overrides.certificate_authority = None;
        overrides.insecure_skip_tls_verify = true;
    };
    let client = server.client(insecure).await;
    assert!(client.get(&ApiRequest::new("/x")).await.is_ok());
}

/// As in Go, a certificate that is one of the roots is trusted, whatever it may sign.
#[tokio::test]
async fn a_server_may_be_its_own_authority() {
    let server = Server::with(AUTHORITY).await;
    let client = server.client(trusting).await;
    let answer = client.get(&ApiRequest::new("/x")).await;
    assert_eq!(&*answer.expect("an answer"), b"ok");
    // Its name is still checked, and another authority is none.
    let x509 = "Unable to connect to the server: tls: failed to verify certificate: x509:";
    assert_eq!(
        refused_by(Server::with(AUTHORITY).await, |_| ()).await,
        format!("{x509} certificate is not valid for 127.0.0.1")
    );
    let mut other = Server::with(AUTHORITY).await;
    other.certificate = CERTIFICATE;
    let error = refused_by(other, trusting).await;
    assert!(!error.contains("not valid for"), "{error}");
}

#[tokio::test]
async fn the_error_about_an_expired_certificate_has_the_dates() {
    let error = refused_by(Server::with(EXPIRED).await, trusting).await;
    let (words, now) = error.split_once(": current time 20").expect("a time");
    assert_eq!(
        words,
        "Unable to connect to the server: tls: failed to verify certificate: x509: certificate has expired or is not \
         yet valid"
    );
    assert!(now.ends_with("Z is after 2021-01-01T00:00:00Z"), "{error}");
}
