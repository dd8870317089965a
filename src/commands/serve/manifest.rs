//! `serve --print-manifest`: the server inside the cluster, with TLS and a Service.

use std::collections::BTreeMap;
use std::path::PathBuf;

use serde_json::{Value as Json, json};

use super::config::{LoadedConfig, ServeConfig};
use super::followed::find_targets;
use super::manifest_files::ManifestFiles;
use crate::commands::{
    Awaited, CommandError, Context, Ended, IMAGE, InClusterProgram, MountedVolume, ObjectArgs,
    ProgramParts, Session, Stop, parse_image,
};
use crate::object::well_known;

const VERB: &str = "serve";

/// The port in the container.
const PORT: u16 = 7780;

/// Where the certificate and the configuration are in the container.
const TLS: &str = "/tls";
const CONFIG: &str = "/config";
const CONFIG_FILE: &str = "serve.yaml";

/// The Secret with the files that the configuration names.
const FILES_SECRET: &str = "kubectl-spy-serve-files";

/// Room for the messages that wait for their receivers.
const OUTBOX_BYTES: u64 = 1 << 30;

/// The flags of `--print-manifest`
#[derive(clap::Args, Clone, Debug)]
pub(super) struct PrintManifestArgs {
    /// Print the objects of this server inside the cluster, for `kubectl apply`, and exit
    #[arg(long, requires = "tls_secret")]
    pub(super) print_manifest: bool,
    /// With --print-manifest: the Secret with the certificate of the server, of the type kubernetes.io/tls
    #[arg(long, value_name = "NAME", requires = "print_manifest")]
    tls_secret: Option<String>,
    /// With --print-manifest: the image of the container
    #[arg(long, requires = "print_manifest", default_value = IMAGE, value_parser = parse_image)]
    image: String,
}

/// The server whose objects are printed.
pub(super) struct PrintedServer {
    /// What it follows.
    pub(super) objects: ObjectArgs,
    /// Its other flags, but those about readers and files.
    pub(super) flags: Vec<String>,
    /// The file of its configuration.
    pub(super) config: Option<PathBuf>,
}

/// Prints the objects. The server runs in the namespace of `-n`, or in that of the context.
pub(super) async fn print_manifest(
    args: &PrintManifestArgs,
    server: &PrintedServer,
    context: &mut Context<'_>,
    stop: &Stop,
) -> Result<Ended, CommandError> {
    let mut config = match &server.config {
        Some(path) => {
            let loaded = LoadedConfig::read(path.clone())?;
            Some((loaded, std::fs::read_to_string(path)?))
        }
        None => None,
    };
    let connected = Box::pin(Session::connect(context));
    let session = stop.in_time(Awaited::Types, connected).await?;
    let loaded = config.as_mut().map(|(config, _)| config);
    let every = Box::pin(find_targets(&server.objects, loaded, &session, context));
    let every = stop.in_time(Awaited::Types, every).await?;
    let keys = session.keys(&every.targets);
    let is_of_one = keys.iter().any(|key| key.namespace().is_some());
    let own = is_of_one.then_some(&*session.namespace);
    let config = config.map(|(config, text)| PrintedConfig::new(&config.content, text));
    let config = config.transpose()?;
    let files = config.as_ref().map(|config| &config.files);
    if let Some(command) = files.and_then(|it| it.command(FILES_SECRET, &session.namespace)) {
        context.hint(&format!(
            "the server starts when there is this Secret: {command}"
        ));
    }
    let manifest = InClusterProgram {
        verb: VERB,
        keys: &keys,
        namespace: &session.namespace,
        image: &args.image,
        arguments: words(server, own),
        max_bytes: config.as_ref().map(|_| OUTBOX_BYTES),
        parts: args.parts(&session.namespace, config),
    };
    context.print(manifest.lines()?)?;
    Ok(Ended::Answered)
}

/// The configuration of the server in the container.
struct PrintedConfig {
    text: String,
    /// The files that it names.
    files: ManifestFiles,
}

impl PrintedConfig {
    /// Fails if the container has no place for something that the configuration names.
    fn new(config: &ServeConfig, text: String) -> Result<PrintedConfig, CommandError> {
        if config.outbox.is_some() {
            let error = "error: the container has no place for the file of outbox:";
            return Err(CommandError::failed(error)
                .hint("leave outbox: out: the manifest has a volume for the messages"));
        }
        let files = ManifestFiles::of(&text)?;
        Ok(PrintedConfig { text, files })
    }
}

/// The arguments of the server in the container.
fn words(server: &PrintedServer, namespace: Option<&str>) -> Vec<String> {
    let objects = &server.objects;
    let mut words = objects.objects.clone();
    words.extend(namespace.map(|namespace| format!("--namespace={namespace}")));
    let selector = objects.selector.iter();
    words.extend(selector.map(|selector| format!("--selector={selector}")));
    words.extend(
        objects
            .all_namespaces
            .then(|| "--all-namespaces".to_owned()),
    );
    words.extend(server.flags.iter().cloned());
    words.extend([
        format!("--listen=0.0.0.0:{PORT}"),
        "--auth=kube".to_owned(),
        format!("--tls-cert={TLS}/tls.crt"),
        format!("--tls-key={TLS}/tls.key"),
    ]);
    words.push(if server.config.is_some() {
        format!("--config={CONFIG}/{CONFIG_FILE}")
    } else {
        "--no-store".to_owned()
    });
    words
}

impl PrintManifestArgs {
    /// The Service, the certificate, the configuration, and the rights that states are explained with.
    fn parts(&self, namespace: &str, config: Option<PrintedConfig>) -> ProgramParts {
        let name = InClusterProgram::name_of(VERB);
        let metadata = json!({"name": name, "namespace": namespace, "labels": InClusterProgram::labels_of(VERB)});
        let probe =
            |path: &str| json!({"httpGet": {"path": path, "port": "https", "scheme": "HTTPS"}});
        let container = json!({
            "ports": [{"name": "https", "containerPort": PORT}],
            "readinessProbe": probe("/readyz"),
            "livenessProbe": probe("/livez"),
        });
        let mut parts = ProgramParts {
            rules: rules(),
            container: container.as_object().cloned().unwrap_or_default(),
            volumes: vec![MountedVolume {
                path: TLS,
                volume: json!({"name": "tls", "secret": {"secretName": self.tls_secret}}),
            }],
            objects: vec![json!({
                "apiVersion": "v1", "kind": "Service", "metadata": metadata,
                "spec": {
                    "selector": InClusterProgram::labels_of(VERB),
                    "ports": [{"name": "https", "port": 443, "targetPort": "https"}],
                },
            })],
        };
        if let Some(PrintedConfig { text, files }) = config {
            parts.volumes.push(MountedVolume {
                path: CONFIG,
                volume: files.volume(&name, FILES_SECRET),
            });
            parts.objects.push(json!({
            "apiVersion": "v1", "kind": "ConfigMap", "metadata": metadata, "data": {CONFIG_FILE: text},
        }));
        }
        parts
    }
}

/// What states are decided and explained with: the types of Kubernetes itself without Secrets, and the logs of failed containers.
fn rules() -> Vec<Json> {
    let mut groups: BTreeMap<&str, Vec<&str>> = BTreeMap::new();
    for found in well_known() {
        let resource = &found.resource;
        let plurals = groups.entry(&resource.group).or_default();
        if &*resource.plural != "secrets" && !plurals.contains(&&*resource.plural) {
            plurals.push(&resource.plural);
        }
    }
    let read = groups.iter().map(
        |(group, plurals)| json!({"apiGroups": [group], "resources": plurals, "verbs": ["list", "watch"]}),
    );
    let logs = json!({"apiGroups": [""], "resources": ["pods/log"], "verbs": ["get"]});
    read.chain([logs]).collect()
}
