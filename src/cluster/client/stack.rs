//! The layers between a request and the network.
//!
//! kube's own client speaks only HTTP/1.1, with one connection per watch. It has no keep-alive, and runs a
//! credential plugin three times. This stack consists of kube's parts, its credentials, TLS settings and base
//! URL, on a hyper client that speaks HTTP/2.

use std::time::Duration;

use http::HeaderValue;
use hyper_rustls::{FixedServerNameResolver, HttpsConnector, HttpsConnectorBuilder};
use hyper_util::client::legacy::connect::proxy::{SocksV5, Tunnel};
use hyper_util::client::legacy::connect::{Connect, HttpConnector};
use hyper_util::client::legacy::{Builder, Client as Hyper};
use hyper_util::rt::{TokioExecutor, TokioTimer};
use kube::Config;
use kube::client::middleware::{AuthLayer, ExtraHeadersLayer};
use kube::client::{Body, ConfigExt};
use kube::config::ExecConfig;
use tower::{BoxError, ServiceBuilder};
use tower_http::decompression::DecompressionLayer;

use super::plugin::{self, Issued};
use super::request_error::setup_error;
use super::trusted_server::accept_roots;
use crate::cluster::kubeconfig::{
    ClusterConfig, ConfigError, basic_authorization, bearer, proxy_login, to_base64,
};
use crate::object::excerpt;

/// How long opening a TCP connection may take.
const CONNECT: Duration = Duration::from_secs(10);
/// How often an HTTP/2 connection is pinged, and how long the answer may take.
const PING: Duration = Duration::from_secs(30);
const PONG: Duration = Duration::from_secs(15);
/// Unread streams must not stall the others. With these sizes 90 of them rarely fill the connection's window;
/// with hyper's defaults five are enough.
const STREAM_WINDOW: u32 = 256 << 10;
const CONNECTION_WINDOW: u32 = 16 << 20;

/// Everything that a connection needs, created once. The credential plugin has run when this exists.
pub(super) struct Stack {
    config: Config,
    auth: Option<AuthLayer>,
    headers: ExtraHeadersLayer,
    connector: Connector,
}

/// How to reach the server. TLS with the server runs inside a tunnel too.
enum Connector {
    Direct(HttpsConnector<HttpConnector>),
    Tunnel(HttpsConnector<Tunnel<HttpsConnector<HttpConnector>>>),
    Socks(HttpsConnector<SocksV5<HttpConnector>>),
}

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
        let connector = connector(&config)?;
        Ok(Stack {
            config,
            auth,
            headers,
            connector,
        })
    }

    /// A client with its own connection. It must be called inside a tokio runtime.
    pub(super) fn client(&self) -> kube::Client {
        match &self.connector {
            Connector::Direct(connector) => self.over(connector.clone()),
            Connector::Tunnel(connector) => self.over(connector.clone()),
            Connector::Socks(connector) => self.over(connector.clone()),
        }
    }

    fn over<C>(&self, connector: C) -> kube::Client
    where
        C: Connect + Clone + Send + Sync + 'static,
    {
        let mut builder: Builder = Hyper::builder(TokioExecutor::new());
        let hyper: Hyper<C, Body> = builder
            .timer(TokioTimer::new())
            .pool_timer(TokioTimer::new())
            .http2_initial_stream_window_size(STREAM_WINDOW)
            .http2_initial_connection_window_size(CONNECTION_WINDOW)
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
            .service(hyper);
        kube::Client::new(service, self.config.default_namespace.as_str())
    }
}

/// Uses the credentials that a plugin issued.
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

fn connector(config: &Config) -> Result<Connector, ConfigError> {
    let mut http = HttpConnector::new();
    http.enforce_http(false);
    http.set_nodelay(true);
    http.set_keepalive(Some(PING));
    http.set_connect_timeout(Some(CONNECT));
    let Some(proxy) = &config.proxy_url else {
        return https(config, http).map(Connector::Direct);
    };
    let login = proxy_login(proxy);
    if proxy.scheme_str() == Some("socks5") {
        let mut socks = SocksV5::new(proxy.clone(), http);
        if let Some((user, password)) = login {
            socks = socks.with_auth(user, password);
        }
        return https(config, socks).map(Connector::Socks);
    }
    let to_proxy = config
        .rustls_https_connector_with_connector(http)
        .map_err(|error| setup_error(&error))?;
    let mut tunnel = Tunnel::new(proxy.clone(), to_proxy);
    if let Some((user, password)) = login
        && let Ok(mut header) = HeaderValue::try_from(basic_authorization(&user, &password))
    {
        header.set_sensitive(true);
        tunnel = tunnel.with_auth(header);
    }
    https(config, tunnel).map(Connector::Tunnel)
}

/// TLS with the server over `inner`, with HTTP/2 if the server offers it.
fn https<C>(config: &Config, inner: C) -> Result<HttpsConnector<C>, ConfigError> {
    let mut tls = config
        .rustls_client_config()
        .map_err(|error| setup_error(&error))?;
    accept_roots(&mut tls, config)?;
    let mut builder = HttpsConnectorBuilder::new()
        .with_tls_config(tls)
        .https_or_http();
    if let Some(name) = &config.tls_server_name {
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
