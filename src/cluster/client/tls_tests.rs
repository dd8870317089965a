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

/// A server that answers with the HTTP version of the request.
struct Server {
    url: String,
    connections: Arc<AtomicUsize>,
    _tasks: JoinSet<()>,
}

impl Server {
    async fn start() -> Server {
        let certificate = CertificateDer::from_pem_slice(CERTIFICATE.as_bytes()).expect("PEM");
        let key = PrivateKeyDer::from_pem_slice(KEY.as_bytes()).expect("PEM");
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
            url,
            connections,
            _tasks: tasks,
        }
    }

    async fn client(&self, change: impl FnOnce(&mut Overrides)) -> Client {
        let files = Files::new(&[("ca.crt", CERTIFICATE)]);
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
    let server = Server::start().await;
    let client = server.client(change).await;
    let error = client
        .get(&ApiRequest::new("/x"))
        .await
        .expect_err("not trusted");
    assert!(matches!(error, RequestError::Tls(_)), "{error:?}");
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
