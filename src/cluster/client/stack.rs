//! The layers between a request and the network.
//!
//! kube's own client speaks only HTTP/1.1, with one connection per watch. It has no keep-alive, and runs a
//! credential plugin three times. This stack consists of kube's parts, its credentials, TLS settings and base
//! URL, on a hyper client that speaks HTTP/2.

use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use http::HeaderValue;
use hyper_rustls::{FixedServerNameResolver, HttpsConnector, HttpsConnectorBuilder};
use hyper_util::client::legacy::connect::proxy::{SocksV5, Tunnel};
use hyper_util::client::legacy::connect::{Connect, HttpConnector};
use hyper_util::client::legacy::{Builder, Client as Hyper};
use hyper_util::rt::{TokioExecutor, TokioIo, TokioTimer};
use kube::Config;
use kube::client::middleware::{AuthLayer, ExtraHeadersLayer};
use kube::client::{Body, ConfigExt};
use kube::config::ExecConfig;
use rustls::client::danger::{HandshakeSignatureValid, ServerCertVerified, ServerCertVerifier};
use rustls::client::{WebPkiServerVerifier, verify_server_name};
use rustls::pki_types::{CertificateDer, ServerName, UnixTime};
use rustls::server::ParsedCertificate;
use rustls::{
    CertificateError, ClientConfig, DigitallySignedStruct, Error, OtherError, RootCertStore,
    SignatureScheme,
};
use tokio::net::TcpStream;
use tower::util::MapResponse;
use tower::{BoxError, ServiceBuilder};
use tower_http::decompression::DecompressionLayer;

use super::first_request::FirstRequestLayer;
use super::plugin::{self, Issued};
use super::request_error::setup_error;
use super::resting_stream::RestingStream;
use crate::cluster::kubeconfig::{
    ClusterConfig, ConfigError, basic_authorization, bearer, proxy_login, to_base64,
};
use crate::object::excerpt;

/// How long opening a TCP connection may take.
const CONNECT: Duration = Duration::from_secs(10);
/// How often an HTTP/2 connection is pinged, and how long the answer may take.
const PING: Duration = Duration::from_secs(30);
const PONG: Duration = Duration::from_secs(15);

/// How the answers of a connection are read.
#[derive(Clone, Copy, Debug)]
pub(super) struct ConnectionTuning {
    windows: Windows,
    /// Takes a socket that is connected.
    begin: fn(TokioIo<TcpStream>) -> TokioIo<RestingStream>,
}

impl ConnectionTuning {
    /// For lists and watches.
    pub(super) const OBJECTS: ConnectionTuning = ConnectionTuning {
        windows: Windows::OBJECTS,
        begin: RestingStream::restless,
    };

    /// For logs.
    pub(super) const LOGS: ConnectionTuning = ConnectionTuning {
        windows: Windows::LOGS,
        begin: RestingStream::resting,
    };
}

/// How many bytes a server may send before somebody reads them.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Windows {
    stream: u32,
    connection: u32,
}

impl Windows {
    /// For lists and watches. Unread streams must not stall the others. With these sizes 90 of them rarely fill the
    /// connection's window; with hyper's defaults five are enough.
    const OBJECTS: Windows = Windows {
        stream: 256 << 10,
        connection: 16 << 20,
    };

    /// For logs. Their lines arrive in frames of their own. Against floods of small frames, h2 ends a connection whose unread
    /// frames below 256 bytes lack half its window (`too_many_data_frames`): 40 unread logs of short lines are enough. So
    /// the connection's window is an allowance that nothing fills, and the streams bound the memory. Each byte of a small
    /// frame costs about nine.
    const LOGS: Windows = Windows {
        stream: 64 << 10,
        connection: 1 << 30,
    };
}

/// Everything that a connection needs, created once. The credential plugin has run when this exists.
pub(super) struct Stack {
    config: Config,
    auth: Option<AuthLayer>,
    headers: ExtraHeadersLayer,
    tls: ClientConfig,
}

/// How to reach the server. TLS with the server runs inside a tunnel too.
enum Connector {
    Direct(HttpsConnector<TcpConnector>),
    Tunnel(HttpsConnector<Tunnel<HttpsConnector<TcpConnector>>>),
    Socks(HttpsConnector<SocksV5<TcpConnector>>),
}

/// Connects, and then takes the socket as [`ConnectionTuning`] says.
type TcpConnector = MapResponse<HttpConnector, fn(TokioIo<TcpStream>) -> TokioIo<RestingStream>>;

impl Stack {
    /// Collects credentials and certificates. It blocks while a plugin runs.
    pub(super) fn new(cluster: &ClusterConfig) -> Result<Stack, ConfigError> {
        let mut config = cluster.config().clone();
        if let Some(plugin) = config.auth_info.exec.take() {
            let issued = plugin::run(&plugin, cluster)?;
            log_in(&mut config, &plugin, issued)?;
        }
        let auth = config.auth_layer().map_err(|error| setup_error(&error))?;
        let headers = config
            .extra_headers_layer()
            .map_err(|error| setup_error(&error))?;
        // The layer has the provider's token, and renews it.
        config.auth_info.auth_provider = None;
        let unchecked =
            config.accept_invalid_certs || config.cluster_url.scheme_str() == Some("http");
        if unchecked && config.root_cert.is_none() {
            // Otherwise the system's root certificates would be read needlessly.
            config.root_cert = Some(Vec::new());
        }
        let mut tls = config
            .rustls_client_config()
            .map_err(|error| setup_error(&error))?;
        accept_roots(&mut tls, &config)?;
        Ok(Stack {
            config,
            auth,
            headers,
            tls,
        })
    }

    /// A client with its own connection. It must be called inside a tokio runtime.
    fn client(&self, connector: &Connector, windows: Windows) -> kube::Client {
        match connector {
            Connector::Direct(connector) => self.over(connector.clone(), windows),
            Connector::Tunnel(connector) => self.over(connector.clone(), windows),
            Connector::Socks(connector) => self.over(connector.clone(), windows),
        }
    }

    fn over<C>(&self, connector: C, windows: Windows) -> kube::Client
    where
        C: Connect + Clone + Send + Sync + 'static,
    {
        let mut builder: Builder = Hyper::builder(TokioExecutor::new());
        let hyper: Hyper<C, Body> = builder
            .timer(TokioTimer::new())
            .pool_timer(TokioTimer::new())
            .http2_initial_stream_window_size(windows.stream)
            .http2_initial_connection_window_size(windows.connection)
            .http2_keep_alive_interval(PING)
            .http2_keep_alive_timeout(PONG)
            .http2_keep_alive_while_idle(true)
            .build(connector);
        let gzip = !self.config.disable_compression;
        let service = ServiceBuilder::new()
            .layer(self.config.base_uri_layer())
            .layer(DecompressionLayer::new().gzip(gzip))
            .option_layer(self.auth.as_ref())
            .layer(self.headers.clone())
            .map_err(BoxError::from)
            .layer(FirstRequestLayer::default())
            .service(hyper);
        kube::Client::new(service, self.config.default_namespace.as_str())
    }
}

fn log_in(config: &mut Config, plugin: &ExecConfig, issued: Issued) -> Result<(), ConfigError> {
    if !issued.token.is_empty() {
        let program = plugin.command.as_deref().unwrap_or_default();
        let setting = format!("the token that {program} prints");
        config.headers.push(bearer(&issued.token, setting)?);
    }
    if !issued.client_certificate_data.is_empty() {
        let user = &mut config.auth_info;
        user.client_certificate = None;
        user.client_certificate_data = Some(to_base64(issued.client_certificate_data));
        user.client_key = None;
        user.client_key_data = Some(to_base64(issued.client_key_data).into());
    }
    Ok(())
}

impl Stack {
    fn connector(&self, reading: ConnectionTuning) -> Result<Connector, ConfigError> {
        let mut http = HttpConnector::new();
        http.enforce_http(false);
        http.set_nodelay(true);
        http.set_keepalive(Some(PING));
        http.set_connect_timeout(Some(CONNECT));
        let tcp = TcpConnector::new(http, reading.begin);
        let Some(proxy) = &self.config.proxy_url else {
            return self.https(tcp).map(Connector::Direct);
        };
        let login = proxy_login(proxy);
        if proxy.scheme_str() == Some("socks5") {
            let mut socks = SocksV5::new(proxy.clone(), tcp);
            if let Some((user, password)) = login {
                socks = socks.with_auth(user, password);
            }
            return self.https(socks).map(Connector::Socks);
        }
        let to_proxy = self
            .config
            .rustls_https_connector_with_connector(tcp)
            .map_err(|error| setup_error(&error))?;
        let mut tunnel = Tunnel::new(proxy.clone(), to_proxy);
        if let Some((user, password)) = login
            && let Ok(mut header) = HeaderValue::try_from(basic_authorization(&user, &password))
        {
            header.set_sensitive(true);
            tunnel = tunnel.with_auth(header);
        }
        self.https(tunnel).map(Connector::Tunnel)
    }

    /// TLS with the server over `inner`, with HTTP/2 if the server offers it.
    fn https<C>(&self, inner: C) -> Result<HttpsConnector<C>, ConfigError> {
        let mut builder = HttpsConnectorBuilder::new()
            .with_tls_config(self.tls.clone())
            .https_or_http();
        if let Some(name) = &self.config.tls_server_name {
            let shown = excerpt(name, 100);
            let name = name.clone().try_into();
            let name = name.map_err(|_| {
                ConfigError::invalid(format!(
                    "invalid --tls-server-name or tls-server-name \"{shown}\""
                ))
            })?;
            builder = builder.with_server_name_resolver(FixedServerNameResolver::new(name));
        }
        Ok(builder.enable_all_versions().wrap_connector(inner))
    }
}

/// A kube-apiserver accepts 100 streams on a connection. The next one waits, for ever if all are watches. hyper
/// never opens a second connection by itself.
const STREAMS: usize = 90;

/// The connections of one kind that use one set of credentials.
pub(super) struct Connections {
    stack: Arc<Stack>,
    connector: Connector,
    windows: Windows,
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
    pub(super) fn new(
        stack: &Arc<Stack>,
        reading: ConnectionTuning,
    ) -> Result<Connections, ConfigError> {
        Ok(Connections {
            stack: stack.clone(),
            connector: stack.connector(reading)?,
            windows: reading.windows,
            open: Mutex::default(),
        })
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
            client: self.stack.client(&self.connector, self.windows),
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

/// Checks certificates as usual, but also accepts one of the roots as that of the server.
///
/// A self-signed server certificate is often its own `certificate-authority`. Go accepts it, because it is one of the roots.
/// webpki refuses it with `CaUsedAsEndEntity` if it may sign others, as those of most tools may.
#[derive(Debug)]
struct TrustedServer {
    usual: Arc<WebPkiServerVerifier>,
    roots: Vec<CertificateDer<'static>>,
}

/// Makes the client accept a server whose certificate is one of the roots of `config`, if it has roots of its own.
fn accept_roots(tls: &mut ClientConfig, config: &Config) -> Result<(), ConfigError> {
    let Some(roots) = &config.root_cert else {
        return Ok(());
    };
    if config.accept_invalid_certs || config.root_cert_file.is_some() || roots.is_empty() {
        return Ok(());
    }
    let roots = roots.iter().map(|root| CertificateDer::from(root.clone()));
    let roots: Vec<CertificateDer<'static>> = roots.collect();
    let mut store = RootCertStore::empty();
    for root in &roots {
        store.add(root.clone()).map_err(|error| invalid(&error))?;
    }
    let provider = tls.crypto_provider().clone();
    let usual = WebPkiServerVerifier::builder_with_provider(Arc::new(store), provider).build();
    let usual = usual.map_err(|error| invalid(&error))?;
    let verifier = Arc::new(TrustedServer { usual, roots });
    tls.dangerous().set_certificate_verifier(verifier);
    Ok(())
}

fn invalid(error: &dyn std::error::Error) -> ConfigError {
    ConfigError::invalid(format!("TLS settings of the kubeconfig: {error}"))
}

/// Whether the only fault is that the certificate may sign others. webpki checks its dates before.
fn is_authority(error: &Error) -> bool {
    let Error::InvalidCertificate(CertificateError::Other(OtherError(cause))) = error else {
        return false;
    };
    cause.downcast_ref::<webpki::Error>() == Some(&webpki::Error::CaUsedAsEndEntity)
}

impl ServerCertVerifier for TrustedServer {
    fn verify_server_cert(
        &self,
        end_entity: &CertificateDer<'_>,
        intermediates: &[CertificateDer<'_>],
        server_name: &ServerName<'_>,
        ocsp_response: &[u8],
        now: UnixTime,
    ) -> Result<ServerCertVerified, Error> {
        let usual = &self.usual;
        match usual.verify_server_cert(end_entity, intermediates, server_name, ocsp_response, now) {
            Err(error) if is_authority(&error) && self.roots.contains(end_entity) => {
                verify_server_name(&ParsedCertificate::try_from(end_entity)?, server_name)?;
                Ok(ServerCertVerified::assertion())
            }
            verified => verified,
        }
    }

    fn verify_tls12_signature(
        &self,
        message: &[u8],
        certificate: &CertificateDer<'_>,
        signature: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, Error> {
        self.usual
            .verify_tls12_signature(message, certificate, signature)
    }

    fn verify_tls13_signature(
        &self,
        message: &[u8],
        certificate: &CertificateDer<'_>,
        signature: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, Error> {
        self.usual
            .verify_tls13_signature(message, certificate, signature)
    }

    fn supported_verify_schemes(&self) -> Vec<SignatureScheme> {
        self.usual.supported_verify_schemes()
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
        let connections =
            Connections::new(&Arc::new(stack), ConnectionTuning::OBJECTS).expect("a connector");
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
