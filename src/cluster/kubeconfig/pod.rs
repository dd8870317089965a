//! The configuration of a program that runs in a pod.

use std::path::Path;

use kube::config::{AuthInfo, Cluster};

use super::ambient::Ambient;
use super::choose::{self, Choice};
use super::overrides::{Overrides, set};
use super::{ClusterConfig, ConfigError, from_choice};

/// The cluster of this pod, from the files that the kubelet puts into every pod with a service account
/// (<https://kubernetes.io/docs/tasks/run-application/access-api-from-pod/>). `None` outside of a pod.
pub(super) fn find(
    ambient: &Ambient,
    overrides: &Overrides,
) -> Result<Option<ClusterConfig>, ConfigError> {
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
    choose::override_user(&mut choice.user, overrides);
    let own_authority = set(overrides.certificate_authority.as_ref());
    if let Some(path) = own_authority {
        choice.cluster.certificate_authority = Some(path.to_owned());
    }
    let mut found = from_choice(choice, ambient, overrides)?;
    // The kubelet renews the file, and kube reads it again from time to time.
    found.config.root_cert_file = Some(authority).filter(|_| own_authority.is_none());
    Ok(Some(found))
}
