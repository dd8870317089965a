//! `ServeConfig`: the file of `serve -f`. docs/serve.yaml.md describes it.

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use jiff::SignedDuration;
use serde::Deserialize;
use serde_saphyr::Spanned;

use crate::commands::{CommandError, KafkaEntry, Session, YamlFile, duration_with_days};
use crate::kafka::{MessageFormat, TopicSink};
use crate::model::PackageTool;
use crate::sink::{
    Outbox, SigningKey, Sink, TemplateError, TextTemplate, TransitionFilter, Webhook,
};
use crate::status::Status;

/// What the file says.
#[derive(Clone, Debug, Default)]
pub(super) struct ServeConfig {
    /// Who is told of changes of state.
    pub(super) sinks: Vec<Sink>,
    /// Which topics get the versions of the record.
    pub(super) topics: Vec<Arc<TopicSink>>,
    /// The types and objects to follow, in place of arguments.
    pub(super) kinds: Vec<String>,
    /// The packages that are reported.
    pub(super) packages: Vec<PackageTool>,
    /// The file of the outbox; `None` for the usual one.
    pub(super) outbox: Option<PathBuf>,
    /// The lines with these.
    kind_lines: Vec<u64>,
    /// The lines with the types of all sinks.
    sink_lines: Vec<u64>,
}

/// A type that a sink names.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct SinkType {
    pub(super) word: String,
    pub(super) line: u64,
}

/// The file as it is written.
#[derive(Debug, Default, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "camelCase", default)]
struct ConfigFile {
    kinds: Vec<Spanned<String>>,
    sinks: Vec<SinkEntry>,
    packages: PackagesEntry,
    outbox: Option<PathBuf>,
}

/// `packages`.
#[derive(Debug, Default, Deserialize)]
#[serde(deny_unknown_fields, default)]
struct PackagesEntry {
    from: Vec<PackageWord>,
}

/// One of `packages.from`.
#[derive(Debug, Deserialize)]
#[serde(rename_all = "kebab-case")]
enum PackageWord {
    #[serde(rename = "resourcegroup")]
    ResourceGroup,
    CliUtils,
    Flux,
    Argo,
    Helm,
    Label(String),
}

impl From<PackageWord> for PackageTool {
    fn from(word: PackageWord) -> PackageTool {
        match word {
            PackageWord::ResourceGroup => PackageTool::ResourceGroup,
            PackageWord::CliUtils => PackageTool::CliUtils,
            PackageWord::Flux => PackageTool::Flux,
            PackageWord::Argo => PackageTool::Argo,
            PackageWord::Helm => PackageTool::Helm,
            PackageWord::Label(key) => PackageTool::Label(key.into()),
        }
    }
}

/// One of `sinks`.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "camelCase")]
struct SinkEntry {
    name: Spanned<String>,
    webhook: Option<Spanned<String>>,
    webhook_file: Option<Spanned<PathBuf>>,
    kafka: Option<KafkaEntry>,
    #[serde(default)]
    format: FormatWord,
    when: Option<WhenEntry>,
    hmac_file: Option<Spanned<PathBuf>>,
    ca_file: Option<Spanned<PathBuf>>,
    timeout: Option<Spanned<String>>,
    text: Option<Spanned<String>>,
}

/// `format` of a sink with `kafka`.
#[derive(Clone, Copy, Debug, Default, Deserialize)]
#[serde(rename_all = "lowercase")]
enum FormatWord {
    #[default]
    Versions,
    CloudEvents,
}

impl From<FormatWord> for MessageFormat {
    fn from(word: FormatWord) -> MessageFormat {
        match word {
            FormatWord::Versions => MessageFormat::Versions,
            FormatWord::CloudEvents => MessageFormat::CloudEvents,
        }
    }
}

/// `when` of a sink.
#[derive(Debug, Default, Deserialize)]
#[serde(deny_unknown_fields, default)]
struct WhenEntry {
    to: Option<Spanned<Vec<StatusWord>>>,
    from: Vec<StatusWord>,
    #[serde(rename = "for")]
    lasts: Option<Spanned<String>>,
    kind: Vec<Spanned<String>>,
    namespace: Vec<String>,
}

/// A state in the file.
#[derive(Clone, Copy, Debug, Deserialize)]
enum StatusWord {
    Current,
    InProgress,
    Failed,
    Terminating,
    NotFound,
    Unknown,
}

impl From<StatusWord> for Status {
    fn from(word: StatusWord) -> Status {
        match word {
            StatusWord::Current => Status::Current,
            StatusWord::InProgress => Status::InProgress,
            StatusWord::Failed => Status::Failed,
            StatusWord::Terminating => Status::Terminating,
            StatusWord::NotFound => Status::NotFound,
            StatusWord::Unknown => Status::Unknown,
        }
    }
}

/// A configuration and its file.
pub(super) struct LoadedConfig {
    pub(super) path: PathBuf,
    pub(super) content: ServeConfig,
}

impl LoadedConfig {
    /// Reads a file, before anything else happens.
    pub(super) fn read(path: PathBuf) -> Result<LoadedConfig, CommandError> {
        let content = ServeConfig::parse(&YamlFile { path: &path }.text()?, &path)?;
        Ok(LoadedConfig { path, content })
    }

    /// Reads a file again, while the program runs. An empty one is an error: it is about to be written.
    pub(super) fn read_again(path: &Path) -> Result<LoadedConfig, CommandError> {
        let content = ServeConfig::parse_again(&YamlFile { path }.text()?, path)?;
        let path = path.to_owned();
        Ok(LoadedConfig { path, content })
    }

    /// Finds the types of the sinks in a cluster. Fails for one that it does not serve.
    pub(super) async fn find_types(&mut self, session: &Session) -> Result<(), CommandError> {
        let types = self.content.sink_types();
        let mut found = Vec::new();
        for SinkType { word, line } in &types {
            let named = session.type_named(word).await;
            found.push(named.map_err(|error| self.at_line(*line, &error))?);
        }
        let sinks = self.content.sinks.iter_mut();
        let words = sinks.flat_map(|sink| &mut sink.when.kinds);
        for (word, found) in words.zip(found) {
            *word = found;
        }
        Ok(())
    }

    /// The types and objects to follow, with their lines.
    pub(super) fn kinds_with_lines(&self) -> impl Iterator<Item = (&String, u64)> {
        let lines = self.content.kind_lines.iter().copied();
        self.content.kinds.iter().zip(lines)
    }

    /// An error about a line of the file.
    pub(super) fn at_line(&self, line: u64, error: &CommandError) -> CommandError {
        let text = error.to_string();
        let text = text.strip_prefix("error: ").unwrap_or(&text);
        let at_line = YamlFile { path: &self.path }.at_line(line, text);
        error.hints().iter().fold(at_line, CommandError::hint)
    }
}

/// The kinds of a configuration, if there is one.
pub(super) fn kinds_of(config: Option<&LoadedConfig>) -> &[String] {
    config.map_or(&[], |config| &config.content.kinds)
}

impl ServeConfig {
    fn parse_again(text: &str, path: &Path) -> Result<ServeConfig, CommandError> {
        if text.trim().is_empty() {
            let error = format!("error: {}: the file is empty", path.display());
            return Err(CommandError::failed(error));
        }
        ServeConfig::parse(text, path)
    }

    /// Reads the text of a file, and the files that it names. Their paths are relative to its directory.
    fn parse(text: &str, path: &Path) -> Result<ServeConfig, CommandError> {
        let yaml = YamlFile { path };
        let file: ConfigFile = yaml.parse(text)?;
        let outbox = file.outbox.map(|path| yaml.relative(&path));
        let reader = ConfigReader { file: yaml };
        let (mut sinks, mut topics, mut names) = (Vec::new(), Vec::new(), Vec::new());
        let mut sink_lines = Vec::new();
        for entry in file.sinks {
            let name = &entry.name.value;
            if name.is_empty() || names.contains(name) {
                let error = format!("the name {name:?} of a sink is empty or used twice");
                let error = reader.file.error(&entry.name, error);
                return Err(error.hint("give each sink a name of its own"));
            }
            names.push(name.clone());
            if entry.kafka.is_some() {
                topics.push(Arc::new(reader.topic(entry)?));
            } else {
                let kinds = entry.when.iter().flat_map(|when| &when.kind);
                sink_lines.extend(kinds.map(|kind| kind.referenced.line()));
                sinks.push(reader.sink(entry)?);
            }
        }
        Ok(ServeConfig {
            kind_lines: file.kinds.iter().map(|it| it.referenced.line()).collect(),
            kinds: file.kinds.into_iter().map(|it| it.value).collect(),
            sinks,
            topics,
            packages: file
                .packages
                .from
                .into_iter()
                .map(PackageTool::from)
                .collect(),
            outbox,
            sink_lines,
        })
    }

    /// The types that the sinks name.
    pub(super) fn sink_types(&self) -> Vec<SinkType> {
        let words = self.sinks.iter().flat_map(|sink| &sink.when.kinds);
        let types = words.zip(&self.sink_lines);
        let types = types.map(|(word, line)| SinkType {
            word: word.clone(),
            line: *line,
        });
        types.collect()
    }
}

/// Reads the entries of a file.
struct ConfigReader<'p> {
    file: YamlFile<'p>,
}

impl ConfigReader<'_> {
    /// A topic gets every version, as it is recorded.
    fn topic(&self, entry: SinkEntry) -> Result<TopicSink, CommandError> {
        let is_webhook = entry.webhook.is_some() || entry.webhook_file.is_some();
        let has_choice = entry.when.is_some() || entry.text.is_some();
        let has_setting =
            entry.hmac_file.is_some() || entry.ca_file.is_some() || entry.timeout.is_some();
        if is_webhook || has_choice || has_setting {
            let error = "a sink with kafka has only the keys name and format beside it";
            let error = self.file.error(&entry.name, error);
            return Err(error.hint("docs/serve.yaml.md describes all keys"));
        }
        let topic = entry
            .kafka
            .map(|kafka| kafka.topic(&self.file, &entry.name));
        let topic = topic.transpose()?;
        let missing = || CommandError::failed("error: the key \"kafka\" is missing");
        Ok(TopicSink {
            name: entry.name.value,
            topic: topic.ok_or_else(missing)?,
            format: entry.format.into(),
        })
    }

    fn sink(&self, entry: SinkEntry) -> Result<Sink, CommandError> {
        let (line, address) = self.address(&entry)?;
        let authority = entry.ca_file.as_ref().map(|file| self.file.authority(file));
        let webhook = Webhook::new(&address, authority.transpose()?.as_deref());
        let webhook = webhook.map_err(|error| {
            let hint = "write an address such as https://example.com/hook, without a login";
            self.file.at_line(line, error).hint(hint)
        })?;
        let key = entry.hmac_file.as_ref().map(|file| {
            let key = SigningKey::parse(&self.file.content(file)?);
            key.ok_or_else(|| {
                let error = self.file.error(file, "the file has no key");
                error.hint("write a random text into it: openssl rand -hex 32")
            })
        });
        let text = entry.text.as_ref().map(|text| self.template(text));
        let limit = entry.timeout.map(|text| self.duration(&text)).transpose()?;
        let limit = limit.and_then(|limit| Duration::try_from(limit).ok());
        Ok(Sink {
            name: entry.name.value,
            when: self.filter(entry.when.unwrap_or_default())?,
            webhook: webhook
                .signing_with(key.transpose()?)
                .with_text(text.transpose()?)
                .with_limit(limit),
        })
    }

    /// The address of a sink, and the line that names it.
    fn address(&self, entry: &SinkEntry) -> Result<(u64, String), CommandError> {
        match (&entry.webhook, &entry.webhook_file) {
            (Some(address), None) => Ok((address.referenced.line(), address.value.clone())),
            (None, Some(file)) => {
                let content = self.file.content(file)?;
                let address = String::from_utf8_lossy(&content).into_owned();
                Ok((file.referenced.line(), address))
            }
            (Some(_), Some(file)) => {
                let error = "webhook and webhookFile cannot be used together";
                Err(self.file.error(file, error).hint("remove one of them"))
            }
            (None, None) => {
                let error = "a sink needs an address";
                let error = self.file.error(&entry.name, error);
                Err(error.hint("write one of webhook: URL, webhookFile: FILE and kafka:"))
            }
        }
    }

    fn filter(&self, when: WhenEntry) -> Result<TransitionFilter, CommandError> {
        let states = |words: Vec<StatusWord>| words.into_iter().map(Status::from).collect();
        let to = match when.to {
            Some(to) if to.value.is_empty() => {
                let error = self
                    .file
                    .error(&to, "without a state, the sink gets nothing");
                return Err(error.hint("name the states, such as to: [Failed, Current]"));
            }
            Some(to) => to.value,
            None => vec![StatusWord::Failed],
        };
        let objects = when
            .kind
            .iter()
            .find(|kind| kind.value.contains(['/', ',']));
        if let Some(kind) = objects {
            let error = format!("\"{}\" is no type", kind.value);
            let error = self.file.error(kind, error);
            return Err(error.hint("write types alone, such as kind: [deploy, sts]"));
        }
        let lasts = when.lasts.map(|text| {
            let lasts = self.duration(&text)?;
            if lasts < Outbox::KEEP {
                return Ok(lasts);
            }
            let error = format!(
                "\"{}\" is not less than 7d, for which messages are kept",
                text.value
            );
            Err(self
                .file
                .error(&text, error)
                .hint("write a shorter time, such as 30s or 5m"))
        });
        Ok(TransitionFilter {
            from: states(when.from),
            to: states(to),
            lasts: lasts.transpose()?,
            kinds: when.kind.into_iter().map(|kind| kind.value).collect(),
            namespaces: when.namespace,
        })
    }

    fn duration(&self, text: &Spanned<String>) -> Result<SignedDuration, CommandError> {
        let duration = duration_with_days(&text.value);
        let duration = duration.filter(|duration| *duration > SignedDuration::ZERO);
        duration.ok_or_else(|| {
            let error = self
                .file
                .error(text, format!("invalid duration \"{}\"", text.value));
            error.hint("write a time with a unit, such as 30s or 5m")
        })
    }

    fn template(&self, text: &Spanned<String>) -> Result<TextTemplate, CommandError> {
        TextTemplate::parse(&text.value).map_err(|error| {
            let hint = match &error {
                TemplateError::Unknown {
                    nearest: Some(near),
                    ..
                } => format!("did you mean {{{{{near}}}}}?"),
                _ => format!("the parts are {}", TextTemplate::names()),
            };
            self.file.error(text, error).hint(hint)
        })
    }
}

#[cfg(test)]
mod tests {
    use insta::assert_snapshot;

    use super::*;

    /// The error and the hints of a file, or `fine`.
    fn check(text: &str) -> String {
        match ServeConfig::parse(text, Path::new("serve.yaml")) {
            Ok(_) => "fine".to_owned(),
            Err(error) => format!("{error} | {}", error.hints().join("; ")),
        }
    }

    /// The same, of a file with one sink that has these lines, too.
    fn check_sink(lines: &str) -> String {
        let lines: String = lines.lines().flat_map(|line| ["  ", line, "\n"]).collect();
        check(&format!("sinks:\n- name: ops\n{lines}"))
    }

    #[test]
    fn a_wrong_key_or_value_has_its_line_and_the_nearest_right_one() {
        let found = [
            check(""),
            check("# nothing\n"),
            check("sinks: []"),
            check_sink(
                "webhook: https://example.com/x\nwhen: {to: [Failed, Current], for: 30s}\ntimeout: 5s",
            ),
            check(
                "packages: {from: [resourcegroup, flux, argo, helm, cli-utils, {label: app.kubernetes.io/part-of}]}",
            ),
            check("packages:\n  from: [fluxx]"),
            check("packages:\n  form: [flux]"),
            check_sink("wehbook: https://example.com/x"),
            check("sink: []"),
            check("colour: red"),
            check_sink("webhook: https://x.y/\nwhen:\n  to: [failed]"),
            check_sink("webhook: https://x.y/\nwhen:\n  to: []"),
            check_sink("webhook: https://x.y/\nwhen:\n  kind: [deploy, cm/x]"),
            check_sink("webhook: https://x.y/\nwhen:\n  for: 30"),
            check_sink("webhook: https://x.y/\ntimeout: soon"),
            check_sink("webhook: https://x.y/\ntimeout: '00:00:05'"),
            check_sink(""),
            check("sinks:\n- webhook: https://example.com/x\n"),
            check(
                "sinks:\n- {name: a, webhook: https://x.y/}\n- {name: a, webhook: https://x.y/}\n",
            ),
            check_sink("webhook: ftp://example.com"),
            check_sink("webhook: https://me:pass@example.com"),
            check_sink("webhook: https://x.y/\nwebhookFile: x"),
            check_sink("webhook: https://x.y/\nhmacFile: nowhere/key"),
            check_sink("webhook: https://x.y/\ncaFile: Cargo.toml"),
            check_sink("webhook: https://x.y/\ntext: \"{{mesage}}\""),
        ];
        assert_snapshot!(found.join("\n"), @r#"
        fine
        fine
        fine
        fine
        fine
        error: serve.yaml:2: unknown value "fluxx" | did you mean "flux"?
        error: serve.yaml:2: unknown key "form" | did you mean "from"?
        error: serve.yaml:3: unknown key "wehbook" | did you mean "webhook"?
        error: serve.yaml:1: unknown key "sink" | did you mean "sinks"?
        error: serve.yaml:1: unknown key "colour" | use one of kinds, sinks, packages, outbox
        error: serve.yaml:5: unknown value "failed" | did you mean "Failed"?
        error: serve.yaml:5: without a state, the sink gets nothing | name the states, such as to: [Failed, Current]
        error: serve.yaml:5: "cm/x" is no type | write types alone, such as kind: [deploy, sts]
        error: serve.yaml:5: invalid duration "30" | write a time with a unit, such as 30s or 5m
        error: serve.yaml:4: invalid duration "soon" | write a time with a unit, such as 30s or 5m
        error: serve.yaml:4: invalid duration "00:00:05" | write a time with a unit, such as 30s or 5m
        error: serve.yaml:2: a sink needs an address | write one of webhook: URL, webhookFile: FILE and kafka:
        error: serve.yaml:2: the key "name" is missing | docs/serve.yaml.md describes all keys
        error: serve.yaml:3: the name "a" of a sink is empty or used twice | give each sink a name of its own
        error: serve.yaml:3: not an address: expected https://HOST/PATH | write an address such as https://example.com/hook, without a login
        error: serve.yaml:3: not an address: expected https://HOST/PATH | write an address such as https://example.com/hook, without a login
        error: serve.yaml:4: webhook and webhookFile cannot be used together | remove one of them
        error: serve.yaml:4: nowhere/key: no such file or directory | a path is relative to the directory of the configuration
        error: serve.yaml:4: Cargo.toml: no certificate in PEM form | it must have the certificates of the authority, such as ca.crt
        error: serve.yaml:4: unknown part "mesage" | did you mean {{message}}?
        "#);
    }

    #[test]
    fn a_file_that_is_about_to_be_written_changes_nothing() {
        let again = |text| ServeConfig::parse_again(text, Path::new("serve.yaml"));
        let error = again("\n").expect_err("an error").to_string();
        assert_eq!(error, "error: serve.yaml: the file is empty");
        // Someone wants no sinks any more.
        assert!(again("sinks: []").is_ok());
    }

    #[test]
    fn a_state_lasts_less_long_than_messages_are_kept() {
        let check = |lasts| check_sink(&format!("webhook: https://x.y/\nwhen:\n  for: {lasts}"));
        assert_eq!(check("6d"), "fine");
        assert_snapshot!(check("7d"), @r#"error: serve.yaml:5: "7d" is not less than 7d, for which messages are kept | write a shorter time, such as 30s or 5m"#);
    }

    #[test]
    fn a_file_of_another_form_is_refused_in_plain_words() {
        let found = [
            "sinks: 7",
            "kinds: pods",
            "sinks: [",
            "kinds: [{a: b}]",
            "kinds: []\nkinds: []",
            "kinds: []\n---\nkinds: []",
            "outbox: [a]",
            "kinds",
            "kinds:\n\t- a",
        ]
        .map(check);
        assert_snapshot!(found.join("\n"), @r#"
        error: serve.yaml:1: expected a list | docs/serve.yaml.md describes all keys
        error: serve.yaml:1: expected a list | docs/serve.yaml.md describes all keys
        error: serve.yaml:1: unclosed bracket '[' | docs/serve.yaml.md describes all keys
        error: serve.yaml:1: expected a text | docs/serve.yaml.md describes all keys
        error: serve.yaml:2: key "kinds" already set in map | docs/serve.yaml.md describes all keys
        error: serve.yaml:3: expected one document | docs/serve.yaml.md describes all keys
        error: serve.yaml:1: expected a text | docs/serve.yaml.md describes all keys
        error: serve.yaml:1: expected a map | docs/serve.yaml.md describes all keys
        error: serve.yaml:2: tabs disallowed within this context (block indentation) | docs/serve.yaml.md describes all keys
        "#);
    }

    #[cfg(unix)]
    #[test]
    fn a_file_without_an_end_is_refused() {
        let found = check_sink("webhook: https://example.com/x\nhmacFile: /dev/zero");
        let expect = "/dev/zero: the file is larger than 1 MiB";
        assert!(found.contains(expect), "{found}");
    }

    #[test]
    fn a_topic_needs_brokers_and_a_build_with_kafka() {
        let kafka = |lines: &str| {
            let text = lines.replace('\n', "\n  ");
            check_sink(&format!("kafka:\n  {text}"))
        };
        let right = "brokers: [b:9092]\ntopic: t";
        if cfg!(not(feature = "kafka")) {
            let hint =
                "use a released archive, or build it with: cargo install --path . --features kafka";
            assert_eq!(
                kafka(right),
                format!("error: this build has no Kafka | {hint}")
            );
            return;
        }
        let found = [
            kafka(right),
            kafka("brokers: [b:9092]\ntopic: t\ntls: true"),
            check_sink("format: cloudevents\nkafka: {brokers: [b], topic: t}"),
            check_sink("format: json\nkafka: {brokers: [b], topic: t}"),
            check_sink("when: {to: [Failed]}\nkafka: {brokers: [b], topic: t}"),
            kafka("topic: t"),
            kafka("brokers: [\"me:pass@b:9092\"]\ntopic: t"),
            kafka("brokers: [b]\ntopic: a/b"),
            kafka("broker: [b]\ntopic: t"),
            kafka("brokers: [b]\ntopic: t\nsasl: {mechanism: PLAIN}"),
            kafka(
                "brokers: [b]\ntopic: t\nsasl: {mechanism: GSSAPI, userFile: u, passwordFile: p}",
            ),
            kafka(
                "brokers: [b]\ntopic: t\nsasl: {mechanism: PLAIN, userFile: Cargo.toml, passwordFile: Cargo.toml}",
            ),
            kafka("brokers: [b]\ntopic: t\ncaFile: nowhere"),
            kafka("brokers: [b]\ntopic: t\ncaFile: Cargo.toml"),
            kafka(
                "brokers: [b]\ntopic: t\nsasl: {mechanism: SCRAM-SHA-512, userFile: Cargo.toml, passwordFile: /dev/null}",
            ),
        ];
        assert_snapshot!(found.join("\n"), @r#"
        fine
        fine
        fine
        error: serve.yaml:3: unknown value "json" | use one of versions, cloudevents
        error: serve.yaml:2: a sink with kafka has only the keys name and format beside it | docs/serve.yaml.md describes all keys
        error: serve.yaml:2: no broker: expected HOST:PORT | write brokers as HOST:PORT, without a login
        error: serve.yaml:2: no broker: expected HOST:PORT | write brokers as HOST:PORT, without a login
        error: serve.yaml:2: no topic can have this name | a topic has letters, digits, dots, underscores and hyphens
        error: serve.yaml:4: unknown key "broker" | did you mean "brokers"?
        error: serve.yaml:6: the key "userFile" is missing | docs/serve.yaml.md describes all keys
        error: serve.yaml:6: unknown mechanism "GSSAPI" | use one of SCRAM-SHA-512, SCRAM-SHA-256 and PLAIN
        error: serve.yaml:2: PLAIN sends the password itself, so it needs TLS | set tls: true, or use SCRAM-SHA-512
        error: serve.yaml:6: nowhere: no such file or directory | a path is relative to the directory of the configuration
        error: serve.yaml:6: Cargo.toml: no certificate in PEM form | it must have the certificates of the authority, such as ca.crt
        error: serve.yaml:6: /dev/null: the file has no text | write the user or the password into it
        "#);
    }

    /// Each example of the document is right, and each key is in it.
    #[test]
    fn the_document_has_every_key() {
        let path = concat!(env!("CARGO_MANIFEST_DIR"), "/docs/serve.yaml.md");
        let document = std::fs::read_to_string(path).expect("the document");
        let examples: Vec<&str> = document.split("```yaml\n").skip(1).collect();
        assert!(!examples.is_empty());
        for example in examples {
            let example = example.split("```").next().unwrap_or_default();
            // The files that it names are those of its reader.
            let lines = example.lines().filter(|line| !line.contains("File:"));
            let example: String = lines.flat_map(|line| [line, "\n"]).collect();
            assert_eq!(check(&example), "fine", "{example}");
        }
        for wrong in [
            "x: 1",
            "packages: {x: 1}",
            "sinks: [{x: 1}]",
            "sinks: [{name: a, when: {x: 1}}]",
        ] {
            let refusal = serde_saphyr::from_str::<ConfigFile>(wrong).expect_err("a wrong key");
            let serde_saphyr::Error::SerdeUnknownField { expected, .. } = refusal.without_snippet()
            else {
                panic!("{refusal}");
            };
            for key in expected {
                assert!(document.contains(&format!("`{key}`")), "{key}");
            }
        }
    }
}
