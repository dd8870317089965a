//! `ManifestFiles`: the files that a configuration names, from a Secret beside it in the container.

use std::collections::BTreeMap;
use std::path::{Component, Path};

use serde_json::{Value as Json, json};

use crate::commands::CommandError;
use crate::render::text::shell_word;

/// The last part of the name of each key that names a file: `hmacFile`, `caFile`, `webhookFile`, `passwordFile`.
const FILE: &str = "File";

/// The files, by their paths in the directory of the configuration, each with its key in the Secret.
#[derive(Debug, Default, PartialEq, Eq)]
pub(super) struct ManifestFiles(BTreeMap<String, String>);

impl ManifestFiles {
    /// The files that the text of a valid configuration names. It fails for a path that leads out of its directory: the container
    /// has nothing there.
    pub(super) fn of(text: &str) -> Result<ManifestFiles, CommandError> {
        let config: Json = serde_saphyr::from_str(text).unwrap_or_default();
        let mut paths = Vec::new();
        collect(&config, &mut paths);
        let mut files = BTreeMap::new();
        for path in paths {
            let inside = inside(path).ok_or_else(|| outside(path))?;
            let key = key(&inside);
            let is_used = files
                .iter()
                .any(|(other, used)| *other != inside && *used == key);
            if is_used {
                let error = format!(
                    "error: two files of the configuration have one key in a Secret: {key}"
                );
                return Err(CommandError::failed(error).hint("give them names that differ in more"));
            }
            files.insert(inside, key);
        }
        Ok(ManifestFiles(files))
    }

    /// The volume with the configuration of this `ConfigMap`, and with the files of this Secret if there are any.
    pub(super) fn volume(&self, config_map: &str, secret: &str) -> Json {
        if self.0.is_empty() {
            return json!({"name": "config", "configMap": {"name": config_map}});
        }
        let items = self.0.iter();
        let items = items.map(|(path, key)| json!({"key": key, "path": path}));
        let items: Json = items.collect();
        let secret = json!({"secret": {"name": secret, "items": items}});
        let config_map = json!({"configMap": {"name": config_map}});
        json!({"name": "config", "projected": {"sources": [config_map, secret]}})
    }

    /// The command that makes the Secret, run in the directory of the configuration; `None` without files.
    pub(super) fn command(&self, secret: &str, namespace: &str) -> Option<String> {
        let files = self.0.iter();
        let files = files.map(|(path, key)| format!(" --from-file={key}={}", shell_word(path)));
        let files: String = files.collect();
        let command = format!("kubectl create secret generic {secret} -n {namespace}{files}");
        (!self.0.is_empty()).then_some(command)
    }
}

/// The values of all keys that name files.
fn collect<'j>(value: &'j Json, found: &mut Vec<&'j str>) {
    match value {
        Json::Object(fields) => {
            for (name, inner) in fields {
                match inner.as_str().filter(|_| name.ends_with(FILE)) {
                    Some(path) => found.push(path),
                    None => collect(inner, found),
                }
            }
        }
        Json::Array(items) => items.iter().for_each(|item| collect(item, found)),
        Json::Null | Json::Bool(_) | Json::Number(_) | Json::String(_) => {}
    }
}

/// A path without `./`; `None` if it leads out of its directory.
fn inside(path: &str) -> Option<String> {
    let mut parts = Vec::new();
    for part in Path::new(path).components() {
        match part {
            Component::CurDir => {}
            Component::Normal(part) => parts.push(part.to_str()?),
            Component::ParentDir | Component::RootDir | Component::Prefix(_) => return None,
        }
    }
    (!parts.is_empty()).then(|| parts.join("/"))
}

fn outside(path: &str) -> CommandError {
    let error =
        format!("error: the container has no place for the file {path:?} of the configuration");
    CommandError::failed(error)
        .hint("put it into the directory of the configuration, and write its path without .. or a leading /")
}

/// The key of a file: it has only letters, digits, `-`, `_` and `.`.
fn key(path: &str) -> String {
    let allowed = |c: char| match c {
        '/' => '.',
        c if c.is_ascii_alphanumeric() || "-_.".contains(c) => c,
        _ => '-',
    };
    path.chars().map(allowed).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_file_is_in_the_secret_and_at_its_path() {
        let text = "sinks:\n- {name: a, webhookFile: ./hook url, hmacFile: keys/ops.key}\n- name: b\n  kafka: {caFile: ca.crt, sasl: {passwordFile: ca.crt}}\n";
        let files = ManifestFiles::of(text).expect("inside");
        assert_eq!(
            files.volume("c", "s"),
            json!({"name": "config", "projected": {"sources": [
                {"configMap": {"name": "c"}},
                {"secret": {"name": "s", "items": [
                    {"key": "ca.crt", "path": "ca.crt"},
                    {"key": "hook-url", "path": "hook url"},
                    {"key": "keys.ops.key", "path": "keys/ops.key"},
                ]}},
            ]}})
        );
        assert_eq!(
            files.command("s", "shop").as_deref(),
            Some(
                "kubectl create secret generic s -n shop --from-file=ca.crt=ca.crt --from-file=hook-url='hook url' --from-file=keys.ops.key=keys/ops.key"
            )
        );
    }

    #[test]
    fn without_files_there_is_no_secret() {
        let files = ManifestFiles::of("kinds: [deploy]\n").expect("nothing");
        assert_eq!(files, ManifestFiles::default());
        assert_eq!(files.command("s", "shop"), None);
        let volume = files.volume("c", "s");
        assert_eq!(volume["configMap"]["name"], "c");
    }

    #[test]
    fn a_file_outside_has_no_place() {
        for path in ["/etc/key", "../key", "a/../../key", ".", "''"] {
            let text = format!("sinks: [{{name: a, hmacFile: {path}}}]");
            assert!(ManifestFiles::of(&text).is_err(), "{path}");
        }
        let alike = "sinks: [{name: a, hmacFile: a/b, caFile: a.b}]";
        assert!(ManifestFiles::of(alike).is_err());
    }
}
