//! Chooses the context, the cluster and the user from a kubeconfig, and applies the flags to them, in the order
//! of kubectl's `DirectClientConfig`.

use http::Uri;
use kube::config::{AuthInfo, Cluster, Kubeconfig};
use secrecy::ExposeSecret;

use super::ConfigError;
use super::error::os_words;
use super::overrides::{Impersonate, Overrides, set};
use super::pem::from_base64;
use crate::object::{excerpt, shown_url};

/// The chosen entries. Messages use the names; a name is empty if no entry has one.
#[derive(Default)]
pub(super) struct Choice {
    pub(super) context: String,
    pub(super) namespace: Option<String>,
    pub(super) cluster_name: String,
    pub(super) cluster: Cluster,
    pub(super) user_name: String,
    pub(super) user: AuthInfo,
}

/// Chooses from `config`. An empty kubeconfig gives an empty choice.
pub(super) fn choose(config: &Kubeconfig, overrides: &Overrides) -> Result<Choice, ConfigError> {
    let mut choice = Choice::default();
    let named = set(overrides.context.as_ref());
    if let Some(name) = named.or(set(config.current_context.as_ref())) {
        let context = config.contexts.iter().find(|context| context.name == name);
        let Some(context) = context.and_then(|found| found.context.as_ref()) else {
            let all = config.contexts.iter().map(|found| &*found.name);
            return Err(match named {
                Some(_) => ConfigError::no_context(&all.collect::<Vec<_>>(), name),
                None => ConfigError::NoCurrentContext(name.to_owned()),
            });
        };
        name.clone_into(&mut choice.context);
        choice.namespace.clone_from(&context.namespace);
        choice.cluster_name.clone_from(&context.cluster);
        choice.user_name = context.user.clone().unwrap_or_default();
    }
    if let Some(name) = set(overrides.cluster.as_ref()) {
        name.clone_into(&mut choice.cluster_name);
    }
    let user_flag = set(overrides.user.as_ref());
    if let Some(name) = user_flag {
        name.clone_into(&mut choice.user_name);
    }
    choice.cluster = cluster(config, &choice.cluster_name, overrides)?;
    let mut users = config.auth_infos.iter();
    choice.user = match users.find(|user| user.name == choice.user_name) {
        Some(user) => user.auth_info.clone().unwrap_or_default(),
        // A context may name a missing user: the requests are then anonymous.
        None if user_flag.is_none() => AuthInfo::default(),
        None => return Err(ConfigError::NoUser(choice.user_name)),
    };
    override_user(&mut choice.user, overrides);
    validate(&choice)?;
    Ok(choice)
}

fn cluster(config: &Kubeconfig, name: &str, overrides: &Overrides) -> Result<Cluster, ConfigError> {
    let found = config.clusters.iter().find(|cluster| cluster.name == name);
    let mut cluster = match found {
        Some(found) => found.cluster.clone().unwrap_or_default(),
        None if name.is_empty() => Cluster::default(),
        None => return Err(ConfigError::NoCluster(name.to_owned())),
    };
    let server = set(overrides.server.as_ref());
    let name = set(overrides.tls_server_name.as_ref());
    if server.is_some() || name.is_some() {
        // The kubeconfig's name for the certificate does not apply to a server from the command line.
        cluster.tls_server_name = name.map(str::to_owned);
    }
    if let Some(server) = server {
        cluster.server = Some(server.to_owned());
    }
    let authority = set(overrides.certificate_authority.as_ref());
    if authority.is_some() || overrides.insecure_skip_tls_verify {
        cluster.certificate_authority = authority.map(str::to_owned);
        cluster.certificate_authority_data = None;
        cluster.insecure_skip_tls_verify = Some(overrides.insecure_skip_tls_verify);
    }
    if overrides.disable_compression {
        cluster.disable_compression = Some(true);
    }
    Ok(cluster)
}

/// Applies the flags for credentials to a user.
pub(super) fn override_user(user: &mut AuthInfo, overrides: &Overrides) {
    let flags = &overrides.credentials;
    if let Some(token) = set(flags.token.as_ref()) {
        user.token = Some(token.to_owned().into());
        user.token_file = None;
        user.exec = None;
        user.auth_provider = None;
    }
    if let Some(name) = set(flags.username.as_ref()) {
        user.username = Some(name.to_owned());
    }
    if let Some(password) = set(flags.password.as_ref()) {
        user.password = Some(password.to_owned().into());
    }
    if let Some(path) = set(overrides.client_certificate.as_ref()) {
        user.client_certificate = Some(path.to_owned());
        user.client_certificate_data = None;
    }
    if let Some(path) = set(overrides.client_key.as_ref()) {
        user.client_key = Some(path.to_owned());
        user.client_key_data = None;
    }
    impersonate(user, &overrides.impersonate);
}

fn impersonate(user: &mut AuthInfo, flags: &Impersonate) {
    if let Some(name) = set(flags.user.as_ref()) {
        user.impersonate = Some(name.to_owned());
    }
    if let Some(uid) = set(flags.uid.as_ref()) {
        user.impersonate_uid = Some(uid.to_owned());
    }
    if !flags.groups.is_empty() {
        user.impersonate_groups = Some(flags.groups.clone());
    }
    for pair in &flags.extra {
        let (key, value) = pair.split_once('=').unwrap_or((pair, ""));
        user.impersonate_user_extra
            .get_or_insert_default()
            .entry(key.to_owned())
            .or_default()
            .push(value.to_owned());
    }
}

/// The checks that kubectl makes before it connects, with its messages.
fn validate(choice: &Choice) -> Result<(), ConfigError> {
    let mut problems = Vec::new();
    validate_user(&choice.user_name, &choice.user, &mut problems);
    let (cluster, name) = (&choice.cluster, &choice.cluster_name);
    let (user, user_name) = (&choice.user, &choice.user_name);
    for (what, path, of) in [
        ("client-cert", &user.client_certificate, user_name),
        ("client-key", &user.client_key, user_name),
        (
            "certificate-authority",
            &cluster.certificate_authority,
            name,
        ),
    ] {
        if let Some(path) = set(path.as_ref())
            && let Err(error) = std::fs::File::open(path)
        {
            problems.push(format!(
                "unable to read {what} {path} for {of} due to open {path}: {}",
                os_words(&error)
            ));
        }
    }
    if set(cluster.server.as_ref()).is_none() && !name.is_empty() {
        problems.push(format!("no server found for cluster {name:?}"));
    }
    if problems.is_empty() {
        Ok(())
    } else {
        Err(ConfigError::Invalid(problems))
    }
}

fn validate_user(name: &str, user: &AuthInfo, problems: &mut Vec<String>) {
    let has = |text: Option<&String>| set(text).is_some();
    let certificate =
        has(user.client_certificate.as_ref()) || has(user.client_certificate_data.as_ref());
    if certificate && !has(user.client_key.as_ref()) && user.client_key_data.is_none() {
        problems.push(format!(
            "client-key-data or client-key must be specified for {name} to use the clientCert \
             authentication method."
        ));
    }
    let key = user.client_key_data.as_ref();
    for (field, data) in [
        (
            "client-certificate-data",
            user.client_certificate_data.as_deref(),
        ),
        ("client-key-data", key.map(ExposeSecret::expose_secret)),
    ] {
        if data.is_some_and(|data| from_base64(data).is_none()) {
            problems.push(format!("{field} of user {name:?}: illegal base64 data"));
        }
    }
    if let Some(exec) = &user.exec {
        let missing = |what: &str| {
            format!("{what} must be specified for {name} to use exec authentication plugin")
        };
        if !has(exec.command.as_ref()) {
            problems.push(missing("command"));
        }
        if !has(exec.api_version.as_ref()) {
            problems.push(missing("apiVersion"));
        }
        let stable = exec.api_version.as_deref() == Some("client.authentication.k8s.io/v1");
        if stable && exec.interactive_mode.is_none() {
            problems.push(missing("interactiveMode"));
        }
    }
    if user.token.is_some() && (has(user.username.as_ref()) || user.password.is_some()) {
        problems.push(format!(
            "more than one authentication method found for {name}; found [token basicAuth], only \
             one is allowed"
        ));
    }
    let details = user.impersonate_uid.is_some()
        || user.impersonate_groups.is_some()
        || user.impersonate_user_extra.is_some();
    if details && !has(user.impersonate.as_ref()) {
        problems.push(format!(
            "requesting uid, groups or user-extra for {name} without impersonating a user"
        ));
    }
}

/// The most bytes of a server's URL, which precedes every path.
const LONGEST_URL: usize = 4 << 10;

/// Parses the server of a setting. A URL without a scheme is `https://` if the cluster has a setting for its
/// certificate.
pub(super) fn parse_server(
    text: &str,
    setting: &str,
    cluster: &Cluster,
) -> Result<Uri, ConfigError> {
    let secure = cluster.insecure_skip_tls_verify == Some(true)
        || cluster.certificate_authority.is_some()
        || cluster.certificate_authority_data.is_some();
    let full = match (text.contains("://"), secure) {
        (true, _) => text.to_owned(),
        (false, true) => format!("https://{text}"),
        (false, false) => format!("http://{text}"),
    };
    let is_one = |url: &Uri| {
        matches!(url.scheme_str(), Some("http" | "https"))
            && url.host().is_some_and(|host| !host.is_empty())
            && full.len() <= LONGEST_URL
    };
    full.parse::<Uri>()
        .ok()
        .filter(is_one)
        .ok_or_else(|| ConfigError::Url {
            problem: "host must be a URL or a host:port pair",
            shown: excerpt(&shown_url(text), 200),
            setting: setting.to_owned(),
            wanted: "http:// or https:// with a host, or HOST:PORT",
        })
}
