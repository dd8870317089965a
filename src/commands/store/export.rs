//! `store export`: prints the recorded versions and the holes between them.

use std::sync::Arc;

use crate::cluster::{Filters, Namespaces, Resolver, TypePlace, parse_arguments};
use crate::commands::{
    ClusterOrigin, CommandError, Context, Ended, StoreArgs, TimeOrAge, recorded_types,
};
use crate::diff::{Projection, Redactor};
use crate::object::{Resource, counted};
use crate::record::{ExportQuery, ExportedEvent, RecordExport, RecordedCluster, RecordedVersion};
use crate::render::age::rfc3339_millis;
use crate::render::json::changes::raw;
use crate::render::json::export::ExportBody;
use crate::render::json::line;
use crate::render::text::Text;
use crate::render::yaml::yaml;
use crate::source::{ClusterId, Form, Select, SourceKey};
use crate::watch::source_keys;

/// Print the recorded versions, and the holes between them
#[derive(clap::Args, Clone, Debug)]
pub(super) struct ExportArgs {
    /// Types and objects to print, as kubectl names them (default: everything, with -n of that
    /// namespace)
    #[arg(value_name = "TYPE")]
    objects: Vec<String>,
    /// Choose the output format
    #[arg(short, long, value_enum, default_value_t, value_name = "FORMAT")]
    output: ExportFormat,
    /// Print what arrived this long ago or later (3d), or since this time (2026-11-22T09:00:00Z)
    #[arg(long, value_name = "DURATION|TIME", value_parser = TimeOrAge::parse)]
    since: Option<TimeOrAge>,
    /// Print what arrived this long ago or earlier (1h), or until this time (2026-11-22T10:00:00Z)
    #[arg(long, value_name = "DURATION|TIME", value_parser = TimeOrAge::parse)]
    until: Option<TimeOrAge>,
    #[command(flatten)]
    store: StoreArgs,
}

/// The values of `--output`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, clap::ValueEnum)]
enum ExportFormat {
    /// One JSON record per line
    #[default]
    Json,
    /// Each version as a YAML document below a comment
    Yaml,
}

pub(super) fn run(args: &ExportArgs, context: &mut Context<'_>) -> Result<Ended, CommandError> {
    let store = args.store.open(context.env)?;
    let (chosen, namespace) = match &context.origin {
        ClusterOrigin::Kubeconfig(flags) => {
            let flags = &flags.overrides;
            let chosen = flags.context.clone().or_else(|| flags.cluster.clone());
            (chosen, flags.namespace.clone())
        }
        ClusterOrigin::Plain { .. } => (None, None),
    };
    let namespace = namespace.filter(|namespace| !namespace.is_empty());
    let mut printer = Printer::new(args.output);
    let (mut clusters, mut is_found) = (Vec::new(), false);
    for files in store.clusters()? {
        let export = RecordExport::open(&files)?;
        let cluster = export.cluster().cloned();
        let is_chosen = |chosen: &String| cluster.iter().any(|it| it.is_called(chosen));
        if chosen.as_ref().is_none_or(is_chosen) {
            is_found = true;
            let query = args.query(&export, namespace.as_deref(), context)?;
            let name = cluster.as_ref().map_or("", |cluster| &cluster.name);
            printer.print(name, export.select(query), context)?;
        }
        clusters.extend(cluster);
    }
    let names = RecordedCluster::words(&clusters);
    match chosen {
        Some(_) if !is_found && !names.is_empty() => {
            let error = CommandError::failed("error: nothing is recorded of this context");
            Err(error.hint(format!("choose one with --context: {}", names.join(", "))))
        }
        Some(_) | None => {
            if printer.versions == 0 {
                context.note("no recorded version fits");
            }
            printer.conclude()
        }
    }
}

impl ExportArgs {
    /// What to read of a cluster. Its types are those that its files have.
    fn query(
        &self,
        export: &RecordExport,
        namespace: Option<&str>,
        context: &mut Context<'_>,
    ) -> Result<ExportQuery, CommandError> {
        let now = context.env.now();
        let time = |time: Option<TimeOrAge>| time.map(|time| time.seen_from(now));
        let query = ExportQuery {
            keys: None,
            since: time(self.since),
            until: time(self.until),
        };
        let cluster = export.cluster().map_or("", |cluster| &cluster.name);
        let cluster = ClusterId(cluster.into());
        if self.objects.is_empty() {
            let inside = namespace.map(|namespace| {
                let sources = export.sources().iter().map(|key| &key.resource);
                let inside = sources.filter(|resource| resource.namespaced);
                let key = |resource: &Resource| {
                    let namespace = Some(Arc::from(namespace));
                    SourceKey::of(&cluster, resource.clone(), namespace, Select::All)
                };
                inside.map(key).collect()
            });
            return Ok(ExportQuery {
                keys: inside,
                ..query
            });
        }
        // A name alone means the objects of all namespaces, which kubectl does not allow.
        let filters = Filters {
            labels: None,
            fields: None,
            namespaces: Namespaces::One(Arc::from("default")),
        };
        let resolver = Resolver::of(TypePlace::Record, recorded_types(export.sources()));
        let arguments = parse_arguments(&self.objects, &filters)?;
        let mut targets =
            context.block_on(async |_| Ok(arguments.resolve(&resolver, &filters).await?))?;
        for target in &mut targets {
            target.namespace = namespace
                .filter(|_| target.resource.namespaced)
                .map(Arc::from);
        }
        let keys = |target| source_keys(&cluster, target, Form::Full);
        Ok(ExportQuery {
            keys: Some(targets.iter().flat_map(keys).collect()),
            ..query
        })
    }
}

/// Prints events, and counts the versions and what cannot be read.
struct Printer {
    format: ExportFormat,
    redactor: Redactor,
    versions: usize,
    damaged: usize,
}

impl Printer {
    fn new(format: ExportFormat) -> Printer {
        Printer {
            format,
            redactor: Redactor::new(),
            versions: 0,
            damaged: 0,
        }
    }

    fn print(
        &mut self,
        cluster: &str,
        export: RecordExport,
        context: &mut Context<'_>,
    ) -> Result<(), CommandError> {
        for event in export {
            self.versions += usize::from(matches!(event, ExportedEvent::Version(_)));
            self.damaged += usize::from(matches!(event, ExportedEvent::Damage(_)));
            let lines = match self.format {
                ExportFormat::Json => vec![self.record(cluster, &event).into()],
                ExportFormat::Yaml => self.document(cluster, &event),
            };
            context.print(lines)?;
        }
        Ok(())
    }

    fn record(&self, cluster: &str, event: &ExportedEvent) -> String {
        let body = match event {
            ExportedEvent::Version(recorded) => return self.version(cluster, recorded),
            ExportedEvent::Hole(key, hole) => ExportBody::Hole {
                cluster,
                source: key.resource.group_resource().clone(),
                namespace: key.namespace(),
                after: hole.after.to_string(),
                upto: hole.upto.to_string(),
                since: rfc3339_millis(hole.since),
                until: rfc3339_millis(hole.until),
                cause: hole.cause.as_deref(),
            },
            ExportedEvent::Damage(error) => damaged(error),
        };
        line(&body.record())
    }

    fn version(&self, cluster: &str, recorded: &RecordedVersion) -> String {
        let version = &recorded.version;
        let doc = match version.doc() {
            Ok(doc) => doc,
            // The reader of the file has parsed it, so this does not happen.
            Err(error) => return line(&damaged(&error).record()),
        };
        let object = &version.object;
        let managers = recorded.managers();
        let body = ExportBody::Version {
            time: rfc3339_millis(recorded.seen),
            cluster,
            api_version: &object.api_version,
            kind: &object.kind,
            namespace: object.namespace.as_deref(),
            name: &object.name,
            managers: managers
                .split(',')
                .filter(|name| !name.is_empty())
                .collect(),
            revision: version.version.as_str(),
            why: recorded.why.name(),
            past: recorded.why.past,
            object: raw(self.redactor.shown(doc.root())),
        };
        line(&body.record())
    }

    /// A version as a YAML document below a comment; a hole as a comment.
    fn document(&self, cluster: &str, event: &ExportedEvent) -> Vec<Text> {
        let comment = |words: String| Text::from(format!("# {words}"));
        match event {
            ExportedEvent::Version(recorded) => {
                let version = &recorded.version;
                let words = [
                    rfc3339_millis(recorded.seen),
                    recorded.why.name().to_owned(),
                    version.object.resource_name(),
                    cluster.to_owned(),
                ];
                let mut lines = vec!["---".into(), comment(words.join(" "))];
                if let Ok(doc) = version.doc() {
                    let shown = self.redactor.shown(doc.root());
                    lines.extend(yaml(shown, &Projection::default()));
                }
                lines
            }
            ExportedEvent::Hole(key, hole) => {
                let resource = key.resource.group_resource();
                let (since, until) = (rfc3339_millis(hole.since), rfc3339_millis(hole.until));
                let cause = hole.cause.as_deref().map(|cause| format!(": {cause}"));
                let cause = cause.unwrap_or_default();
                vec![comment(format!(
                    "{resource}: versions may be missing from {since} to {until}{cause}"
                ))]
            }
            ExportedEvent::Damage(error) => vec![comment(error.to_string())],
        }
    }

    /// Fails if something could not be read.
    fn conclude(&self) -> Result<Ended, CommandError> {
        if self.damaged == 0 {
            return Ok(Ended::Answered);
        }
        let parts = counted(self.damaged, "part", "parts");
        let error = CommandError::failed(format!("error: {parts} of the record cannot be read"));
        Err(error.hint("list the damaged files with `kubectl spy store check`"))
    }
}

fn damaged<'r>(error: &dyn std::error::Error) -> ExportBody<'r> {
    ExportBody::Damaged {
        cause: error.to_string(),
    }
}
