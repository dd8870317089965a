//! `InClusterProgram`: the objects that run a verb inside the cluster, with no right that it does not need (`--print-manifest`).

use std::collections::{BTreeMap, BTreeSet};

use serde_json::{Map, Value as Json, json};

use crate::commands::CommandError;
use crate::diff::{Projection, Redactor};
use crate::object::Doc;
use crate::render::text::Text;
use crate::render::yaml::yaml;
use crate::source::SourceKey;

/// The image that the Dockerfile of the documents builds.
pub(crate) const IMAGE: &str = concat!("kubectl-spy:", env!("CARGO_PKG_VERSION"));

/// The user of the container. Files of the record belong to it.
const USER: u32 = 65532;
/// Where the files are in the container.
const STORE: &str = "/record";
/// The name of their volume.
const FILES: &str = "record";

/// A verb that runs inside the cluster.
pub(crate) struct InClusterProgram<'m> {
    /// The verb. The objects are named after it.
    pub(crate) verb: &'static str,
    /// What it reads.
    pub(crate) keys: &'m [SourceKey],
    /// The namespace in which it runs.
    pub(crate) namespace: &'m str,
    pub(crate) image: &'m str,
    /// The flags and words of the verb.
    pub(crate) arguments: Vec<String>,
    /// The most bytes that its files have; `None` if it writes none.
    pub(crate) max_bytes: Option<u64>,
    pub(crate) parts: ProgramParts,
}

/// What a program needs beside its sources and its files.
#[derive(Debug, Default)]
pub(crate) struct ProgramParts {
    /// Rules beside those of the sources, wherever these are.
    pub(crate) rules: Vec<Json>,
    /// Fields of the container.
    pub(crate) container: Map<String, Json>,
    /// The volumes of the Pod, each with the path at which the container has it.
    pub(crate) volumes: Vec<MountedVolume>,
    /// Other objects.
    pub(crate) objects: Vec<Json>,
}

/// A volume that the container reads.
#[derive(Debug)]
pub(crate) struct MountedVolume {
    /// The path in the container.
    pub(crate) path: &'static str,
    /// The volume, with its name.
    pub(crate) volume: Json,
}

impl InClusterProgram<'_> {
    /// The lines of all documents, for `kubectl apply`. Fails if the server refuses the name of the namespace.
    pub(crate) fn lines(&self) -> Result<Vec<Text>, CommandError> {
        check_namespace(self.namespace)?;
        let redactor = Redactor::new();
        let mut lines = Vec::new();
        for object in self.objects() {
            // A JSON value is a JSON text.
            let Ok(doc) = Doc::parse(object.to_string()) else {
                continue;
            };
            if !lines.is_empty() {
                lines.push("---".into());
            }
            let shown = redactor.shown(doc.root());
            lines.extend(yaml(shown, &Projection::default()));
        }
        Ok(lines)
    }

    fn objects(&self) -> Vec<Json> {
        let mut objects = vec![json!({
            "apiVersion": "v1", "kind": "ServiceAccount", "metadata": self.metadata(),
        })];
        let scopes: BTreeSet<Option<&str>> = self.keys.iter().map(SourceKey::namespace).collect();
        for scope in scopes {
            objects.extend(self.permissions(scope));
        }
        objects.extend(self.max_bytes.map(|bytes| self.volume_claim(bytes)));
        objects.extend(self.parts.objects.iter().cloned());
        objects.push(self.deployment());
        objects
    }

    /// The name of the objects of a verb.
    pub(crate) fn name_of(verb: &str) -> String {
        format!("kubectl-spy-{verb}")
    }

    /// The labels of these objects, by which a Service selects the Pod.
    pub(crate) fn labels_of(verb: &str) -> Json {
        json!({"app.kubernetes.io/name": InClusterProgram::name_of(verb)})
    }

    fn metadata(&self) -> Json {
        let (name, labels) = (
            InClusterProgram::name_of(self.verb),
            InClusterProgram::labels_of(self.verb),
        );
        json!({"name": name, "namespace": self.namespace, "labels": labels})
    }

    /// A `ClusterRole` for the sources of a namespace, or those of the whole cluster, and its binding.
    fn permissions(&self, scope: Option<&str>) -> [Json; 2] {
        let account = InClusterProgram::name_of(self.verb);
        // Two of them in one cluster have roles of their own.
        let name = match scope {
            Some(scope) => format!("{account}:{}:{scope}", self.namespace),
            None => format!("{account}:{}", self.namespace),
        };
        let keys = self.keys.iter().filter(|key| key.namespace() == scope);
        let labels = InClusterProgram::labels_of(self.verb);
        let mut rules = rules(keys);
        rules.extend(self.parts.rules.iter().cloned());
        let role = json!({
            "apiVersion": "rbac.authorization.k8s.io/v1", "kind": "ClusterRole",
            "metadata": {"name": name, "labels": labels}, "rules": rules,
        });
        let mut metadata = json!({"name": name, "labels": labels});
        if let Some(scope) = scope {
            metadata["namespace"] = scope.into();
        }
        let binding = json!({
            "apiVersion": "rbac.authorization.k8s.io/v1",
            "kind": if scope.is_some() { "RoleBinding" } else { "ClusterRoleBinding" },
            "metadata": metadata,
            "roleRef": {"apiGroup": "rbac.authorization.k8s.io", "kind": "ClusterRole", "name": name},
            "subjects": [{"kind": "ServiceAccount", "name": account, "namespace": self.namespace}],
        });
        [role, binding]
    }

    /// Room for the files, and for the log and the index of the one that is being written.
    fn volume_claim(&self, max_bytes: u64) -> Json {
        let mebibytes = (max_bytes + max_bytes / 10).div_ceil(1 << 20);
        json!({
            "apiVersion": "v1", "kind": "PersistentVolumeClaim", "metadata": self.metadata(),
            "spec": {
                "accessModes": ["ReadWriteOnce"],
                "resources": {"requests": {"storage": format!("{mebibytes}Mi")}},
            },
        })
    }

    fn container(&self) -> Json {
        let mut arguments = vec![self.verb.to_owned()];
        arguments.extend(self.arguments.iter().cloned());
        arguments.extend(self.max_bytes.map(|_| format!("--store={STORE}")));
        arguments.push("--cache-dir=".to_owned());
        let files = self
            .max_bytes
            .map(|_| json!({"name": FILES, "mountPath": STORE}));
        let read = self.parts.volumes.iter().map(|mounted| {
            json!({"name": mounted.volume["name"], "mountPath": mounted.path, "readOnly": true})
        });
        let mounts: Vec<Json> = files.into_iter().chain(read).collect();
        let mut container = json!({
            "name": self.verb,
            "image": self.image,
            "args": arguments,
            "resources": {
                "requests": {"cpu": "50m", "memory": "128Mi"},
                "limits": {"memory": "1Gi"},
            },
            "securityContext": {
                "allowPrivilegeEscalation": false,
                "capabilities": {"drop": ["ALL"]},
                "readOnlyRootFilesystem": true,
            },
            "volumeMounts": mounts,
        });
        if let Some(fields) = container.as_object_mut() {
            fields.extend(self.parts.container.clone());
        }
        container
    }

    fn deployment(&self) -> Json {
        let (name, labels) = (
            InClusterProgram::name_of(self.verb),
            InClusterProgram::labels_of(self.verb),
        );
        let files = self
            .max_bytes
            .map(|_| json!({"name": FILES, "persistentVolumeClaim": {"claimName": name}}));
        let read = self
            .parts
            .volumes
            .iter()
            .map(|mounted| mounted.volume.clone());
        let volumes: Vec<Json> = files.into_iter().chain(read).collect();
        json!({
            "apiVersion": "apps/v1", "kind": "Deployment", "metadata": self.metadata(),
            "spec": {
                "replicas": 1,
                // Two would write the same files.
                "strategy": {"type": "Recreate"},
                "selector": {"matchLabels": labels},
                "template": {
                    "metadata": {"labels": labels},
                    "spec": {
                        "serviceAccountName": name,
                        "securityContext": {
                            "runAsNonRoot": true, "runAsUser": USER, "runAsGroup": USER, "fsGroup": USER,
                            "seccompProfile": {"type": "RuntimeDefault"},
                        },
                        "containers": [self.container()],
                        "volumes": volumes,
                    },
                },
            },
        })
    }
}

/// The rules for exactly these sources: one for each API group, and one for each named object of a type.
fn rules<'k>(keys: impl Iterator<Item = &'k SourceKey>) -> Vec<Json> {
    let mut groups: BTreeMap<&str, BTreeSet<&str>> = BTreeMap::new();
    let mut named: BTreeMap<(&str, &str), BTreeSet<&str>> = BTreeMap::new();
    for key in keys {
        let (group, plural) = (&*key.resource.group, &*key.resource.plural);
        match key.select.name() {
            Some(name) => named.entry((group, plural)).or_default().insert(name),
            None => groups.entry(group).or_default().insert(plural),
        };
    }
    let verbs = ["list", "watch"];
    let whole = groups.iter().map(
        |(group, plurals)| json!({"apiGroups": [group], "resources": plurals, "verbs": verbs}),
    );
    let is_covered = |(group, plural): &(&str, &str)| {
        let covered = groups.get(group);
        covered.is_some_and(|plurals| plurals.contains(plural))
    };
    let named = named.iter().filter(|(place, _)| !is_covered(place));
    let named = named.map(|((group, plural), names)| {
        json!({"apiGroups": [group], "resources": [plural], "resourceNames": names, "verbs": verbs})
    });
    whole.chain(named).collect()
}

/// Parses `--image`. The server refuses a Pod without an image, and one with a space around it.
pub(crate) fn parse_image(text: &str) -> Result<String, String> {
    if text.is_empty() || text.trim() != text {
        return Err(format!("expected an image, for example {IMAGE}"));
    }
    Ok(text.to_owned())
}

/// The most letters of the name of a namespace.
const LONGEST_LABEL: usize = 63;

/// Fails in Kubernetes' words if a text is no name of a namespace.
fn check_namespace(name: &str) -> Result<(), CommandError> {
    let is_inner = |c: char| c.is_ascii_lowercase() || c.is_ascii_digit() || c == '-';
    let has_ends = !name.is_empty() && !name.starts_with('-') && !name.ends_with('-');
    let fault = match () {
        () if name.len() > LONGEST_LABEL => "must be no more than 63 characters",
        () if has_ends && name.chars().all(is_inner) => return Ok(()),
        () => {
            "a lowercase RFC 1123 label must consist of lower case alphanumeric characters or '-', and must \
             start and end with an alphanumeric character (e.g. 'my-name',  or '123-abc', regex used for \
             validation is '[a-z0-9]([-a-z0-9]*[a-z0-9])?')"
        }
    };
    let error = CommandError::failed(format!("error: invalid namespace {name:?}: {fault}"));
    Err(error.hint("name the namespace of the program with -n"))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::source::{Scope, Select};

    fn key(group: &str, kind: &str, namespace: Option<&str>, name: Option<&str>) -> SourceKey {
        SourceKey {
            scope: namespace.map_or(Scope::Cluster, |it| Scope::Namespace(it.into())),
            select: name.map_or(Select::All, |it| Select::Name(it.into())),
            ..SourceKey::all(group, kind)
        }
    }

    fn objects(keys: &[SourceKey]) -> Vec<Json> {
        let manifest = InClusterProgram {
            verb: "record",
            keys,
            namespace: "spy",
            image: "kubectl-spy:1",
            arguments: vec!["deploy".to_owned()],
            max_bytes: Some(10 << 30),
            parts: ProgramParts::default(),
        };
        manifest.objects()
    }

    #[test]
    fn the_rules_are_those_of_the_sources_and_nothing_else() {
        let keys = [
            key("", "Node", None, None),
            key("", "Pod", Some("prod"), None),
            key("apps", "Deployment", Some("prod"), Some("web")),
            key("apps", "Deployment", Some("prod"), Some("api")),
            key("apps", "StatefulSet", Some("prod"), None),
            key("apps", "StatefulSet", Some("prod"), Some("db")),
        ];
        let all = objects(&keys);
        let of_kind =
            |kind: &str| -> Vec<&Json> { all.iter().filter(|it| it["kind"] == kind).collect() };
        let roles = of_kind("ClusterRole");
        let granted: Vec<&Json> = roles.iter().map(|role| &role["rules"]).collect();
        assert_eq!(
            granted,
            [
                &json!([{"apiGroups": [""], "resources": ["nodes"], "verbs": ["list", "watch"]}]),
                &json!([
                    {"apiGroups": [""], "resources": ["pods"], "verbs": ["list", "watch"]},
                    {"apiGroups": ["apps"], "resources": ["statefulsets"], "verbs": ["list", "watch"]},
                    {"apiGroups": ["apps"], "resources": ["deployments"], "resourceNames": ["api", "web"],
                        "verbs": ["list", "watch"]},
                ]),
            ]
        );
        // Each role has a binding where its sources are.
        let bindings = [of_kind("ClusterRoleBinding"), of_kind("RoleBinding")].concat();
        let places: Vec<&Json> = bindings
            .iter()
            .map(|it| &it["metadata"]["namespace"])
            .collect();
        assert_eq!(places, [&Json::Null, &json!("prod")]);
        for (role, binding) in roles.iter().zip(&bindings) {
            assert_eq!(role["metadata"]["name"], binding["roleRef"]["name"]);
            assert_eq!(binding["subjects"][0]["namespace"], "spy");
        }
    }

    #[test]
    fn a_namespace_is_a_label() {
        let longest = "a".repeat(63);
        for name in ["spy", "a", "1-b", &*longest] {
            assert!(check_namespace(name).is_ok(), "{name}");
        }
        let too_long = "a".repeat(64);
        for name in ["Acc_Bad Name", "", "-a", "a-", "a.b", "ä", &*too_long] {
            assert!(check_namespace(name).is_err(), "{name}");
        }
    }

    #[test]
    fn an_image_has_a_name() {
        assert_eq!(parse_image("a:1"), Ok("a:1".to_owned()));
        for text in ["", " ", "a ", " a"] {
            assert!(parse_image(text).is_err(), "{text:?}");
        }
    }

    /// `docker` is not part of the tests. What it reads is, and what the manifest expects of it.
    #[test]
    fn the_image_is_the_one_that_the_manifest_runs() {
        let file = include_str!("../../.ci/Dockerfile");
        let line = |start: &str| {
            let mut lines = file.lines().filter_map(|line| line.strip_prefix(start));
            lines.next_back().unwrap_or_else(|| panic!("{start}"))
        };
        assert_eq!(line("FROM "), "scratch");
        assert_eq!(line("USER "), format!("{USER}:{USER}"));
        assert_eq!(line("ENTRYPOINT "), r#"["/kubectl-spy"]"#);
        // The host of this image links statically, so that the program needs no library.
        assert!(file.contains("FROM rust:1-alpine AS build"));
        assert_eq!(line("COPY --from=build "), "/kubectl-spy /kubectl-spy");
        assert!(line("RUN .ci/dist ").ends_with("cp target/*/dist/kubectl-spy /kubectl-spy"));
        let ignored = include_str!("../../.ci/Dockerfile.dockerignore");
        let ignored: Vec<&str> = ignored
            .lines()
            .filter(|line| !line.starts_with('#'))
            .collect();
        assert_eq!(ignored, ["target", "fuzz/target", ".git"]);
    }

    #[test]
    fn the_container_has_no_rights_and_room_for_the_record() {
        let all = objects(&[key("", "Pod", None, None)]);
        let kinds: Vec<&Json> = all.iter().map(|it| &it["kind"]).collect();
        assert_eq!(
            kinds,
            [
                "ServiceAccount",
                "ClusterRole",
                "ClusterRoleBinding",
                "PersistentVolumeClaim",
                "Deployment"
            ]
        );
        let pod = &all[4]["spec"]["template"]["spec"];
        assert_eq!(pod["securityContext"]["runAsNonRoot"], true);
        let container = &pod["containers"][0];
        assert_eq!(container["securityContext"]["readOnlyRootFilesystem"], true);
        assert_eq!(
            container["args"],
            json!(["record", "deploy", "--store=/record", "--cache-dir="])
        );
        let claim = &all[3]["spec"]["resources"]["requests"]["storage"];
        assert_eq!(claim, "11264Mi");
    }
}
