//! Finds the cluster from the kubeconfig, the flags and the environment, by kubectl's rules and with its
//! messages.

mod choose;
mod contexts;
mod error;
mod files;
mod headers;
mod overrides;
mod pem;
mod policy;
mod proxy;
#[cfg(any(test, feature = "testing"))]
mod testing;
#[cfg(test)]
pub(in crate::cluster) mod tests;

use std::ffi::OsStr;
use std::fmt;
use std::net::IpAddr;
use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use choose::{Choice, override_user};
use kube::Config;
use kube::config::{AuthInfo, Cluster, ExecAuthCluster, Kubeconfig};
use overrides::set;
use pem::{certificates, from_base64};

use super::request_path::PathSegment;

pub use contexts::ContextArgs;
pub use error::ConfigError;
pub(crate) use error::os_words;
pub(crate) use files::KubeconfigNames;
pub(crate) use headers::bearer;
pub(crate) use overrides::PluginRun;
pub use overrides::{Ambient, Credentials, Impersonate, Overrides};
pub(crate) use pem::to_base64;
pub(crate) use proxy::{basic_authorization, login as proxy_login};

/// The configuration of one cluster.
#[derive(Clone)]
pub struct ClusterConfig {
    config: Config,
    name: Arc<str>,
    namespace: Arc<str>,
    pub(crate) request_timeout: Option<Duration>,
    pub(crate) plugin_run: PluginRun,
    origin: Option<Arc<(Ambient, Overrides)>>,
}

/// A selected context, and the cluster that it is, or why it names none.
pub(crate) struct ContextConfig {
    /// The name of the context.
    pub(crate) name: Arc<str>,
    /// Its cluster.
    pub(crate) config: Result<ClusterConfig, ConfigError>,
}

impl ClusterConfig {
    /// Finds the clusters of the selected contexts. It fails if a named context does not exist, or if none is selected.
    pub(crate) fn load_each(
        ambient: &Ambient,
        overrides: &Overrides,
        selected: &ContextArgs,
    ) -> Result<Vec<ContextConfig>, ConfigError> {
        let file = files::read(ambient, overrides)?;
        let names = contexts::selected_contexts(&file, overrides, selected)?.into_iter();
        let found = names.map(|name| ContextConfig {
            config: ClusterConfig::of_file(&file, ambient, &overrides.of_context(&name)),
            name: name.into(),
        });
        Ok(found.collect())
    }

    /// Finds the cluster that kubectl would use: that of the kubeconfig with the flags. Without one it is the
    /// cluster of this pod, and outside of a pod `localhost:8080`.
    pub fn load(ambient: &Ambient, overrides: &Overrides) -> Result<ClusterConfig, ConfigError> {
        let file = files::read(ambient, overrides)?;
        ClusterConfig::of_file(&file, ambient, overrides)
    }

    /// The cluster of a kubeconfig that was read.
    fn of_file(
        file: &Kubeconfig,
        ambient: &Ambient,
        overrides: &Overrides,
    ) -> Result<ClusterConfig, ConfigError> {
        let request_timeout = overrides.request_timeout()?;
        let choice = choose::choose(file, overrides)?;
        let mut found = if set(choice.cluster.server.as_ref()).is_some() {
            from_choice(choice, ambient, overrides)?
        } else if let Some(pod) = in_pod(ambient, overrides)? {
            pod
        } else {
            ClusterConfig::plain("http://localhost:8080", "localhost:8080")?
        };
        let flag = set(overrides.namespace.as_ref());
        if let Some(namespace) = flag {
            found.namespace = namespace.into();
        }
        PathSegment::Namespace
            .check(&found.namespace)
            .map_err(|error| {
                let context = || format!("the namespace of context {:?}", &*found.name);
                let setting = flag.map_or_else(context, |_| "the value of -n".to_owned());
                ConfigError::Namespace { error, setting }
            })?;
        found.request_timeout = request_timeout;
        found.origin = Some(Arc::new((ambient.clone(), overrides.clone())));
        Ok(found)
    }

    /// A server that needs no credentials, with a given name: the embedded one.
    pub fn plain(server: &str, name: &str) -> Result<ClusterConfig, ConfigError> {
        let mut config = Config::new(choose::parse_server(server, name, &Cluster::default())?);
        config.default_retry = false;
        Ok(ClusterConfig {
            config,
            name: name.into(),
            namespace: "default".into(),
            request_timeout: None,
            plugin_run: PluginRun::Attended,
            origin: None,
        })
    }

    /// The same cluster for a user without credentials. It is never read again: the files have those of another user.
    #[must_use]
    pub(crate) fn without_login(&self) -> ClusterConfig {
        let mut config = self.config.clone();
        config.auth_info = AuthInfo::default();
        config.headers.clear();
        ClusterConfig {
            config,
            origin: None,
            ..self.clone()
        }
    }

    /// Whether nobody between here and the server can read what is sent.
    pub(crate) fn is_private(&self) -> bool {
        let url = &self.config.cluster_url;
        let host = url.host().unwrap_or_default();
        let host = host.trim_start_matches('[').trim_end_matches(']');
        let is_local = host.parse::<IpAddr>().is_ok_and(|ip| ip.is_loopback());
        url.scheme_str() == Some("https") || is_local
    }

    /// The same cluster, with this default namespace.
    #[must_use]
    pub(crate) fn of_namespace(self, namespace: &str) -> ClusterConfig {
        ClusterConfig {
            namespace: namespace.into(),
            ..self
        }
    }

    /// Reads the configuration again, with its files and plugins. `None` if it does not come from files.
    pub(crate) fn reload(&self) -> Option<Result<ClusterConfig, ConfigError>> {
        let (ambient, overrides) = &**self.origin.as_ref()?;
        let loaded = ClusterConfig::load(ambient, overrides);
        Some(loaded.map(|config| config.running_plugins(self.plugin_run)))
    }

    /// The same cluster, with another way to run credential plugins.
    #[must_use]
    pub(crate) fn running_plugins(self, plugin_run: PluginRun) -> ClusterConfig {
        ClusterConfig { plugin_run, ..self }
    }

    /// Whether a plugin gives the credentials.
    pub(crate) fn runs_plugin(&self) -> bool {
        let login = &self.config.auth_info;
        login.exec.is_some() || login.auth_provider.is_some()
    }

    /// `PATH`, in which credential plugins are looked up.
    pub(crate) fn search_path(&self) -> Option<&OsStr> {
        self.origin.as_ref()?.0.path.as_deref()
    }

    /// The name of the cluster: its context, `in-cluster`, or else the server.
    pub fn name(&self) -> &Arc<str> {
        &self.name
    }

    /// The default namespace.
    pub fn namespace(&self) -> &Arc<str> {
        &self.namespace
    }

    /// `HOST:PORT` of the server, for messages.
    pub fn server(&self) -> String {
        let url = &self.config.cluster_url;
        // The part before an `@` is left out: it is a password.
        let port = url.port_u16().map(|port| format!(":{port}"));
        let host = url.host().unwrap_or_default();
        format!("{host}{}", port.unwrap_or_default())
    }

    /// The address of the server: [`ClusterConfig::server`] and the path prefix of its URL. The prefix identifies
    /// the cluster behind a proxy for many clusters.
    pub(crate) fn address(&self) -> String {
        let path = self.config.cluster_url.path();
        format!("{}{}", self.server(), path.trim_end_matches('/'))
    }

    /// The URL of the server, without a password.
    pub(crate) fn url(&self) -> String {
        let scheme = self.config.cluster_url.scheme_str();
        format!("{}://{}", scheme.unwrap_or("https"), self.address())
    }

    /// The certificates of its CA in DER form; none if the system decides which to trust.
    pub(crate) fn authority(&self) -> &[Vec<u8>] {
        self.config.root_cert.as_deref().unwrap_or_default()
    }

    pub(crate) fn config(&self) -> &Config {
        &self.config
    }
}

/// Leaves out the credentials.
impl fmt::Debug for ClusterConfig {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ClusterConfig")
            .field("name", &self.name)
            .field("server", &self.server())
            .field("namespace", &self.namespace)
            .finish_non_exhaustive()
    }
}

fn from_choice(
    choice: Choice,
    ambient: &Ambient,
    overrides: &Overrides,
) -> Result<ClusterConfig, ConfigError> {
    let Choice { cluster, user, .. } = choice;
    let origin = headers::HeaderSource {
        user_name: &choice.user_name,
        overrides,
    };
    let server = set(cluster.server.as_ref()).unwrap_or_default();
    let named = || format!("the server of cluster {:?}", choice.cluster_name);
    let setting = set(overrides.server.as_ref()).map_or_else(named, |_| "-s".to_owned());
    let mut config = Config::new(choose::parse_server(server, &setting, &cluster)?);
    config.default_retry = false;
    let url = &config.cluster_url;
    config.proxy_url = proxy::choose(&cluster, &choice.cluster_name, ambient, url)?;
    config.disable_compression = cluster.disable_compression.unwrap_or(false);
    if config.cluster_url.scheme_str() == Some("https") {
        config.accept_invalid_certs = cluster.insecure_skip_tls_verify.unwrap_or(false);
        config.root_cert = authority(&cluster, &choice.cluster_name)?;
        config.auth_info = credentials(user, &cluster)?;
        config.headers = headers::authorization(&mut config.auth_info, &origin)?;
        let plugin = config.auth_info.exec.as_ref();
        if let Some(command) = plugin.and_then(|exec| exec.command.as_ref()) {
            policy::check(command, ambient, overrides)?;
        }
        config.tls_server_name = set(cluster.tls_server_name.as_ref()).map(str::to_owned);
    } else {
        // As in kubectl, credentials are never sent without TLS.
        config.auth_info = AuthInfo {
            impersonate: user.impersonate,
            impersonate_uid: user.impersonate_uid,
            impersonate_groups: user.impersonate_groups,
            impersonate_user_extra: user.impersonate_user_extra,
            ..AuthInfo::default()
        };
    }
    config
        .headers
        .extend(headers::impersonation(&mut config.auth_info, &origin)?);
    let mut found = ClusterConfig {
        name: choice.context.as_str().into(),
        namespace: match set(choice.namespace.as_ref()) {
            Some(namespace) => namespace.into(),
            None => "default".into(),
        },
        config,
        request_timeout: None,
        plugin_run: PluginRun::Attended,
        origin: None,
    };
    if found.name.is_empty() {
        found.name = found.server().into();
    }
    Ok(found)
}

fn authority(cluster: &Cluster, name: &str) -> Result<Option<Vec<Vec<u8>>>, ConfigError> {
    let data = set(cluster.certificate_authority_data.as_ref());
    let path = set(cluster.certificate_authority.as_ref()).filter(|_| data.is_none());
    let unreadable = || {
        let place = path.unwrap_or(name);
        ConfigError::invalid(format!(
            "unable to load root certificates of {place:?}: no PEM certificate in them"
        ))
    };
    let pem = if let Some(data) = data {
        from_base64(data).ok_or_else(unreadable)?
    } else if let Some(path) = path {
        read(Path::new(path))?
    } else {
        return Ok(None);
    };
    let certificates = certificates(&String::from_utf8_lossy(&pem));
    certificates.map(Some).ok_or_else(unreadable)
}

/// Decides which of several credentials to use, as client-go does. A readable token file takes precedence over a
/// token, and a token over a plugin.
fn credentials(mut user: AuthInfo, cluster: &Cluster) -> Result<AuthInfo, ConfigError> {
    if user.username.as_ref().is_some_and(String::is_empty) {
        user.username = None;
    }
    if user.username.is_some() && user.password.is_none() {
        user.password = Some(String::new().into());
    }
    if let Some(path) = set(user.token_file.as_ref()) {
        match read(Path::new(path)) {
            Ok(_) => user.token = None,
            Err(_) if user.token.is_some() => user.token_file = None,
            Err(error) => return Err(error),
        }
    }
    if user.token.is_some() || user.token_file.is_some() {
        user.exec = None;
    }
    if let Some(provider) = &user.auth_provider
        && provider.name != "oidc"
    {
        let name = &provider.name;
        let words = format!("no Auth Provider found for name {name:?}");
        return Err(ConfigError::invalid(words));
    }
    if let Some(exec) = &mut user.exec
        && exec.provide_cluster_info
    {
        exec.cluster = ExecAuthCluster::try_from(cluster).ok();
    }
    Ok(user)
}

fn read(path: &Path) -> Result<Vec<u8>, ConfigError> {
    std::fs::read(path).map_err(|error| {
        ConfigError::invalid(format!("open {}: {}", path.display(), os_words(&error)))
    })
}

/// The cluster of this pod, from the files that the kubelet puts into every pod with a service account
/// (<https://kubernetes.io/docs/tasks/run-application/access-api-from-pod/>). `None` outside of a pod.
fn in_pod(ambient: &Ambient, overrides: &Overrides) -> Result<Option<ClusterConfig>, ConfigError> {
    let token = ambient.service_account.join("token");
    let (Some(host), Some(port)) = (&ambient.service_host, &ambient.service_port) else {
        return Ok(None);
    };
    if !token.is_file() {
        return Ok(None);
    }
    let host = if host.contains(':') {
        format!("[{host}]")
    } else {
        host.clone()
    };
    let authority = ambient.service_account.join("ca.crt");
    let path = |path: &Path| Some(path.to_string_lossy().into_owned());
    let mut choice = Choice {
        context: "in-cluster".to_owned(),
        namespace: ambient.pod_namespace.clone().or_else(|| {
            let text = std::fs::read_to_string(ambient.service_account.join("namespace")).ok()?;
            Some(text.trim().to_owned())
        }),
        cluster: Cluster {
            server: Some(format!("https://{host}:{port}")),
            certificate_authority: path(&authority),
            ..Cluster::default()
        },
        user: AuthInfo {
            token_file: path(&token),
            ..AuthInfo::default()
        },
        ..Choice::default()
    };
    override_user(&mut choice.user, overrides);
    let own_authority = set(overrides.certificate_authority.as_ref());
    if let Some(path) = own_authority {
        choice.cluster.certificate_authority = Some(path.to_owned());
    }
    let mut found = from_choice(choice, ambient, overrides)?;
    // The kubelet renews the file, and kube reads it again from time to time.
    found.config.root_cert_file = Some(authority).filter(|_| own_authority.is_none());
    Ok(Some(found))
}
