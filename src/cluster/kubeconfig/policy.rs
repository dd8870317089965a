//! The user's policy for credential plugins: `credentialPluginPolicy` of kuberc, which kubectl supports from 1.35
//! on (<https://kubernetes.io/docs/reference/kubectl/kuberc/#credential-plugin-policy>).

use std::path::{Path, PathBuf};

use serde::Deserialize;

use super::error::{ConfigError, os_words};
use super::overrides::{Ambient, Overrides};
use crate::cluster::program;

#[derive(Debug, Default, Deserialize)]
#[serde(rename_all = "camelCase", default)]
struct Preference {
    credential_plugin_policy: String,
    credential_plugin_allowlist: Option<Vec<AllowlistEntry>>,
}

/// `name` is the older spelling of `command`. If an entry has both, both must match.
#[derive(Debug, Default, Deserialize)]
#[serde(default)]
struct AllowlistEntry {
    name: String,
    command: String,
}

/// Refuses `command` if the user's policy forbids it.
pub(super) fn check(
    command: &str,
    ambient: &Ambient,
    overrides: &Overrides,
) -> Result<(), ConfigError> {
    let Some(preference) = preference(ambient, overrides)? else {
        return Ok(());
    };
    allowed(command, &preference, ambient).map_err(ConfigError::Credential)
}

fn allowed(command: &str, preference: &Preference, ambient: &Ambient) -> Result<(), String> {
    let policy = preference.credential_plugin_policy.as_str();
    let list = preference.credential_plugin_allowlist.as_deref();
    match (policy, list) {
        ("" | "AllowAll", None) => Ok(()),
        ("DenyAll", None) => Err(format!("plugin {command:?} not allowed: policy set to \"DenyAll\"")),
        ("" | "AllowAll" | "DenyAll", Some(_)) => Err(format!(
            "misconfigured credential plugin allowlist: plugin policy is {policy:?} but allowlist is non-nil"
        )),
        ("Allowlist", None) => Err(
            "credential plugin policy set to \"Allowlist\", but allowlist is unspecified".to_owned(),
        ),
        ("Allowlist", Some([])) => Err(
            "credential plugin policy set to \"Allowlist\", but allowlist is empty; use \"DenyAll\" policy instead"
                .to_owned(),
        ),
        ("Allowlist", Some(entries)) => listed(command, entries, ambient),
        _ => Err(format!("unknown plugin policy: {policy:?}")),
    }
}

fn listed(command: &str, entries: &[AllowlistEntry], ambient: &Ambient) -> Result<(), String> {
    if let Some(index) = entries
        .iter()
        .position(|entry| entry.name.is_empty() && entry.command.is_empty())
    {
        return Err(format!(
            "misconfigured credential plugin allowlist: empty allowlist entry #{}",
            index + 1
        ));
    }
    let plugin = look_path(command, ambient).ok_or_else(|| {
        format!("plugin path {command:?} cannot be resolved for credential plugin allowlist check")
    })?;
    let fits = |wanted: &str| {
        wanted.is_empty() || look_path(wanted, ambient).as_deref() == Some(plugin.as_path())
    };
    if entries
        .iter()
        .any(|entry| fits(&entry.name) && fits(&entry.command))
    {
        Ok(())
    } else {
        Err(format!(
            "plugin path {:?} is not permitted by the credential plugin allowlist",
            plugin.display().to_string()
        ))
    }
}

/// The file of a command; `None` if it cannot run.
fn look_path(command: &str, ambient: &Ambient) -> Option<PathBuf> {
    let found = program::find(command, ambient.path.as_deref()).ok();
    found.filter(|path| path.is_file())
}

/// Reads kuberc. As in kubectl, a file from a flag or a variable must be readable, and an unreadable one in the
/// home directory is ignored.
fn preference(ambient: &Ambient, overrides: &Overrides) -> Result<Option<Preference>, ConfigError> {
    let asked_for = match &overrides.kuberc {
        Some(path) if !path.is_empty() => Some(PathBuf::from(path)),
        _ => match &ambient.kuberc {
            Some(off) if off == "off" => return Ok(None),
            other => other.as_ref().map(PathBuf::from),
        },
    };
    if let Some(path) = asked_for {
        return read(&path).map(Some).map_err(|detail| {
            ConfigError::invalid(format!("kuberc error kuberc: {}: {detail}", path.display()))
        });
    }
    let default = ambient.home.as_ref().map(|home| home.join(".kube/kuberc"));
    Ok(default.and_then(|path| read(&path).ok()))
}

fn read(path: &Path) -> Result<Preference, String> {
    let text = std::fs::read_to_string(path).map_err(|error| os_words(&error))?;
    let documents: Vec<Preference> =
        serde_saphyr::from_multiple(&text).map_err(|_| "not a Preference".to_owned())?;
    Ok(documents.into_iter().next().unwrap_or_default())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(policy: &str, command: &str) -> String {
        let preference: Preference = serde_saphyr::from_str(policy).expect("valid");
        let ambient = Ambient {
            path: Some("/usr/bin:/bin".into()),
            ..Ambient::default()
        };
        match allowed(command, &preference, &ambient) {
            Ok(()) => "runs".to_owned(),
            Err(error) => error,
        }
    }

    #[test]
    fn policies_are_applied_as_in_kubectl() {
        assert_eq!(check("{}", "anything"), "runs");
        assert_eq!(
            check("{credentialPluginPolicy: AllowAll}", "anything"),
            "runs"
        );
        assert_eq!(
            check("{credentialPluginPolicy: DenyAll}", "aws"),
            "plugin \"aws\" not allowed: policy set to \"DenyAll\""
        );
        assert_eq!(
            check("{credentialPluginPolicy: Allowlist}", "aws"),
            "credential plugin policy set to \"Allowlist\", but allowlist is unspecified"
        );
        assert_eq!(
            check("{credentialPluginPolicy: Never}", "aws"),
            "unknown plugin policy: \"Never\""
        );
        assert_eq!(
            check("{credentialPluginAllowlist: [{name: aws}]}", "aws"),
            "misconfigured credential plugin allowlist: plugin policy is \"\" but allowlist is non-nil"
        );
    }

    #[test]
    fn the_allowlist_compares_resolved_paths() {
        let list = |entries: &str| {
            format!("{{credentialPluginPolicy: Allowlist, credentialPluginAllowlist: {entries}}}")
        };
        assert_eq!(check(&list("[{command: sh}]"), "sh"), "runs");
        assert_eq!(check(&list("[{name: cat}, {name: sh}]"), "sh"), "runs");
        assert_eq!(
            check(&list("[{command: cat}]"), "/bin/no-such-plugin"),
            "plugin path \"/bin/no-such-plugin\" cannot be resolved for credential plugin allowlist check"
        );
        assert!(
            check(&list("[{command: cat}]"), "sh")
                .ends_with("is not permitted by the credential plugin allowlist")
        );
        assert!(check(&list("[{command: cat, name: sh}]"), "sh").ends_with("allowlist"));
        assert_eq!(
            check(&list("[{}]"), "sh"),
            "misconfigured credential plugin allowlist: empty allowlist entry #1"
        );
    }
}
