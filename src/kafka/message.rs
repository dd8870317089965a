//! `TopicMessage`: an entry of a record as a message. docs/kafka.md describes its headers.

use std::collections::BTreeMap;

use jiff::Timestamp;
use serde_json::json;

use crate::record::{
    EntryContent, EntryField, RecordEntry, RecordHeading, RecordedCluster, Redaction, TailEntry,
};
use crate::source::ClusterId;

/// The version of the headers.
const FORMAT: &str = "1";
/// What each type of a `CloudEvents` message begins with.
const EVENT_TYPE: &str = "io.kubectl-spy.";
/// What each header of a `CloudEvents` message begins with, in binary mode.
const EVENT_PREFIX: &str = "ce_";

/// The form of messages. A reader takes both.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum MessageFormat {
    /// The names of the headers are those of Kubernetes.
    #[default]
    Versions,
    /// `CloudEvents` in binary mode (<https://github.com/cloudevents/spec>).
    CloudEvents,
}

/// A message.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TopicMessage {
    /// The uid of the object, or the source.
    pub key: String,
    /// The object as JSON.
    pub value: Option<Vec<u8>>,
    /// The headers.
    pub headers: BTreeMap<String, Vec<u8>>,
}

/// The file of a record that an entry is from.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct FileLabel {
    /// The id of the cluster.
    pub cluster: String,
    /// The name of the file: when it begins, and the name of its recorder.
    pub file: String,
}

impl FileLabel {
    /// The name of the recorder.
    pub fn recorder(&self) -> &str {
        self.file.split_once('-').map_or("", |(_, name)| name)
    }

    /// Whether it is an earlier file of the same recorder.
    pub fn is_before(&self, other: &FileLabel) -> bool {
        let is_same = (&self.cluster, self.recorder()) == (&other.cluster, other.recorder());
        is_same && *self < *other
    }
}

/// What is sent of a file.
#[derive(Clone, Copy, Debug)]
pub struct FileSender<'f> {
    /// The file.
    pub label: &'f FileLabel,
    /// The name of the cluster.
    pub cluster: &'f str,
    /// Every entry with a lower number was in the topic before this message was sent.
    pub sent: i64,
    /// The form of the messages.
    pub format: MessageFormat,
}

/// A message as it was read.
#[derive(Clone, Debug)]
pub struct ReceivedMessage {
    /// The file.
    pub label: FileLabel,
    /// The number of the entry; 0 for the beginning of the file.
    pub number: i64,
    /// Every entry with a lower number was in the topic before this message was sent.
    pub sent: i64,
    /// What it says.
    pub content: MessageContent,
}

/// What a message says.
#[derive(Clone, Debug)]
pub enum MessageContent {
    /// A file begins.
    Begin(RecordHeading),
    /// An entry of the file.
    Entry(RecordEntry),
}

impl MessageContent {
    /// Whether it is an entry without a number of its own: how far a source has come.
    pub(super) fn is_reached(&self) -> bool {
        let MessageContent::Entry(entry) = self else {
            return false;
        };
        matches!(entry.content, EntryContent::Reached { .. })
    }
}

impl FileSender<'_> {
    /// The message with which a file begins.
    pub fn begin(&self, heading: &RecordHeading) -> TopicMessage {
        let redactions: Vec<String> = heading
            .redactions
            .iter()
            .map(Redaction::to_string)
            .collect();
        let fields = vec![
            ("type", "begin".to_owned()),
            ("server", heading.cluster.server.clone()),
            ("seen", heading.started.to_string()),
            ("redactions", json!(redactions).to_string()),
        ];
        let key = self.label.cluster.clone();
        self.message(key, 0, fields)
    }

    /// The message of an entry.
    pub fn entry(&self, entry: &TailEntry) -> TopicMessage {
        let TailEntry { position, entry } = entry;
        let key = match entry.object() {
            Some(object) => object.identity().as_str().to_owned(),
            None => format!(
                "{}/{}",
                self.label.cluster,
                entry.source.resource.group_resource()
            ),
        };
        let mut message = self.message(key, position.number(), entry.fields());
        message.value = entry.text().map(String::into_bytes);
        if self.format == MessageFormat::CloudEvents && message.value.is_some() {
            let json = b"application/json".to_vec();
            message.headers.insert("content-type".to_owned(), json);
        }
        message
    }

    /// A message without a value.
    fn message(&self, key: String, number: i64, mut fields: Vec<EntryField>) -> TopicMessage {
        fields.push(("v", FORMAT.to_owned()));
        fields.push(("cluster", self.cluster.to_owned()));
        fields.push(("clusterId", self.label.cluster.clone()));
        fields.push(("file", self.label.file.clone()));
        fields.push(("seq", number.to_string()));
        fields.push(("sent", self.sent.to_string()));
        let headers = match self.format {
            MessageFormat::Versions => {
                let named = fields.into_iter();
                named
                    .map(|(name, value)| (name.to_owned(), value.into_bytes()))
                    .collect()
            }
            MessageFormat::CloudEvents => cloud_event(fields, self.label, number),
        };
        TopicMessage {
            key,
            value: None,
            headers,
        }
    }
}

/// The headers of a `CloudEvents` message. Names of attributes have only small letters and digits.
fn cloud_event(
    fields: Vec<EntryField>,
    label: &FileLabel,
    number: i64,
) -> BTreeMap<String, Vec<u8>> {
    let mut headers = BTreeMap::new();
    let mut add = |name: &str, value: String| {
        // A text of an event has no line breaks.
        let value = value.replace(char::is_control, " ");
        headers.insert(format!("{EVENT_PREFIX}{name}"), value.into_bytes());
    };
    // An entry without a number of its own has its time and its source in its id.
    let value = |name: &str| {
        fields
            .iter()
            .find(|(own, _)| *own == name)
            .map(|(_, it)| it)
    };
    let watch = value("watch").map_or(0, |watch| crc32fast::hash(watch.as_bytes()));
    let seen = value("seen").filter(|_| value("type").is_some_and(|it| it == "reached"));
    let part = seen.map(|seen| format!("/{watch:08x}/{seen}"));
    add("specversion", "1.0".to_owned());
    add(
        "id",
        format!("{}/{number}{}", label.file, part.unwrap_or_default()),
    );
    add("source", format!("/clusters/{}", label.cluster));
    for (name, value) in fields {
        match name {
            "type" => add("type", format!("{EVENT_TYPE}{value}")),
            "seen" => add("time", value),
            name => add(&name.to_ascii_lowercase(), value),
        }
    }
    headers
}

impl TopicMessage {
    /// The header with this name, in either form; `None` if it is missing or not UTF-8.
    fn field(&self, name: &str) -> Option<String> {
        let text = |name: &str| String::from_utf8(self.headers.get(name)?.clone()).ok();
        let is_event = self.headers.contains_key("ce_specversion");
        let event = |name: &str| text(&format!("{EVENT_PREFIX}{name}"));
        match name {
            name if !is_event => text(name),
            "type" => Some(event("type")?.strip_prefix(EVENT_TYPE)?.to_owned()),
            "seen" => event("time"),
            name => event(&name.to_ascii_lowercase()),
        }
    }

    /// Reads a message; `None` if it is of another program, or of a later version of this one.
    pub fn read(&self) -> Option<ReceivedMessage> {
        let field = |name: &str| self.field(name);
        if field("v")? != FORMAT {
            return None;
        }
        let cluster = ClusterId(field("cluster")?.into());
        let label = FileLabel {
            cluster: field("clusterId")?,
            file: field("file")?,
        };
        let number = |name: &str| field(name)?.parse().ok().filter(|number| *number >= 0);
        let content = match &*field("type")? {
            "begin" => {
                let started: Timestamp = field("seen")?.parse().ok()?;
                let redactions: Vec<String> = serde_json::from_str(&field("redactions")?).ok()?;
                let redactions = redactions.iter().map(|text| text.parse().ok());
                MessageContent::Begin(RecordHeading {
                    cluster: RecordedCluster {
                        id: label.cluster.clone(),
                        name: cluster.0.to_string(),
                        server: field("server")?,
                    },
                    started,
                    redactions: redactions.collect::<Option<_>>()?,
                })
            }
            _ => {
                MessageContent::Entry(RecordEntry::parse(&field, self.value.as_deref(), &cluster)?)
            }
        };
        let is_begin = matches!(content, MessageContent::Begin(_));
        let (number, sent) = (number("seq")?, number("sent")?);
        (is_begin == (number == 0)).then_some(ReceivedMessage {
            label,
            number,
            sent,
            content,
        })
    }

    /// The same message of the same file about another entry; `None` if it is no message of a file.
    pub fn replaced(&self, entry: &TailEntry) -> Option<TopicMessage> {
        let label = FileLabel {
            cluster: self.field("clusterId")?,
            file: self.field("file")?,
        };
        let is_event = self.headers.contains_key("ce_specversion");
        let sender = FileSender {
            label: &label,
            cluster: &self.field("cluster")?,
            sent: self.field("sent")?.parse().ok()?,
            format: if is_event {
                MessageFormat::CloudEvents
            } else {
                MessageFormat::Versions
            },
        };
        Some(sender.entry(entry))
    }

    /// The bytes that it takes before compression, about.
    pub fn size(&self) -> usize {
        let headers = self.headers.iter();
        let headers = headers.map(|(name, value)| name.len() + value.len());
        self.key.len() + self.value.as_ref().map_or(0, Vec::len) + headers.sum::<usize>()
    }
}

/// The partition of a key, as the clients of Kafka in Java choose it: other programs find the versions of an object there.
pub fn partition_of(key: &str, partitions: usize) -> usize {
    let count = u32::try_from(partitions).unwrap_or(u32::MAX).max(1);
    let place = (murmur2(key.as_bytes()) & 0x7fff_ffff) % count;
    usize::try_from(place).unwrap_or_default()
}

/// `Utils.murmur2` of <https://github.com/apache/kafka>.
fn murmur2(data: &[u8]) -> u32 {
    const M: u32 = 0x5bd1_e995;
    let length = u32::try_from(data.len()).unwrap_or(u32::MAX);
    let mut hash = 0x9747_b28c ^ length;
    let (words, rest) = data.as_chunks::<4>();
    for word in words {
        let mut part = u32::from_le_bytes(*word).wrapping_mul(M);
        part ^= part >> 24;
        hash = hash.wrapping_mul(M) ^ part.wrapping_mul(M);
    }
    for (at, byte) in rest.iter().enumerate() {
        hash ^= u32::from(*byte) << (8 * at);
    }
    if !rest.is_empty() {
        hash = hash.wrapping_mul(M);
    }
    hash ^= hash >> 13;
    hash = hash.wrapping_mul(M);
    hash ^ (hash >> 15)
}

#[cfg(test)]
pub(super) mod tests {
    use std::sync::Arc;

    use super::*;
    use crate::record::{RecordedVersion, RecordedWhy, TailPosition};
    use crate::source::{SourceKey, Why};
    use crate::watch::Reader;

    /// A version of a `ConfigMap` as the entry with this number.
    pub(in crate::kafka) fn version(number: i64, name: &str) -> TailEntry {
        let source = Arc::new(SourceKey::all("", "ConfigMap"));
        let text = format!(
            r#"{{"apiVersion":"v1","kind":"ConfigMap","metadata":{{"name":"{name}","namespace":"shop","uid":"u-{name}","resourceVersion":"{number}"}}}}"#
        );
        let version = Reader::new(&source).item(text).expect("an object");
        TailEntry {
            position: TailPosition {
                versions: number,
                marks: 0,
            },
            entry: RecordEntry {
                source,
                content: EntryContent::Version(RecordedVersion {
                    why: RecordedWhy {
                        why: Why::Modified,
                        past: true,
                    },
                    seen: "2026-03-02T12:00:00.000123Z".parse().expect("a time"),
                    version: Arc::new(version),
                }),
            },
        }
    }

    /// The label of a file.
    pub(in crate::kafka) fn label(file: &str) -> FileLabel {
        FileLabel {
            cluster: "c1".to_owned(),
            file: file.to_owned(),
        }
    }

    fn heading() -> RecordHeading {
        RecordHeading {
            cluster: RecordedCluster {
                id: "c1".to_owned(),
                name: "prod".to_owned(),
                server: "localhost:6443".to_owned(),
            },
            started: "2026-03-02T12:00:00Z".parse().expect("a time"),
            redactions: vec![
                ".data.a".parse().expect("a path"),
                "Pod .spec".parse().expect("a path"),
            ],
        }
    }

    #[test]
    fn a_message_is_read_as_it_was_sent() {
        for format in [MessageFormat::Versions, MessageFormat::CloudEvents] {
            let label = label("20260302T120000000-abc");
            let sender = FileSender {
                label: &label,
                cluster: "prod",
                sent: 3,
                format,
            };
            let entry = version(7, "web");
            let read = sender.entry(&entry).read().expect("a message");
            assert_eq!((&read.label, read.number, read.sent), (&label, 7, 3));
            let MessageContent::Entry(found) = read.content else {
                panic!("an entry");
            };
            assert_eq!(found.fields(), entry.entry.fields());
            assert_eq!(found.text(), entry.entry.text());
            let read = sender.begin(&heading()).read().expect("a message");
            assert_eq!((read.number, read.label.recorder()), (0, "abc"));
            let MessageContent::Begin(found) = read.content else {
                panic!("a beginning");
            };
            assert_eq!(format!("{found:?}"), format!("{:?}", heading()));
        }
    }

    #[test]
    fn a_version_has_the_headers_of_its_document() {
        let label = label("20260302T120000000-abc");
        let shown = |format| {
            let sender = FileSender {
                label: &label,
                cluster: "prod",
                sent: 3,
                format,
            };
            let message = sender.entry(&version(7, "web"));
            let headers = message.headers.iter();
            let headers =
                headers.map(|(name, value)| format!("{name}: {}", String::from_utf8_lossy(value)));
            format!(
                "{}\n{}",
                message.key,
                headers.collect::<Vec<_>>().join("\n")
            )
        };
        insta::assert_snapshot!(shown(MessageFormat::Versions), @r#"
        u-web
        apiVersion: v1
        cluster: prod
        clusterId: c1
        file: 20260302T120000000-abc
        kind: ConfigMap
        name: web
        namespace: shop
        past: true
        rv: 7
        seen: 2026-03-02T12:00:00.000123Z
        sent: 3
        seq: 7
        type: version
        v: 1
        watch: {"group":"","version":"v1","resource":"configmaps","kind":"ConfigMap","namespaced":true}
        why: Modified
        "#);
        insta::assert_snapshot!(shown(MessageFormat::CloudEvents), @r#"
        u-web
        ce_apiversion: v1
        ce_cluster: prod
        ce_clusterid: c1
        ce_file: 20260302T120000000-abc
        ce_id: 20260302T120000000-abc/7
        ce_kind: ConfigMap
        ce_name: web
        ce_namespace: shop
        ce_past: true
        ce_rv: 7
        ce_sent: 3
        ce_seq: 7
        ce_source: /clusters/c1
        ce_specversion: 1.0
        ce_time: 2026-03-02T12:00:00.000123Z
        ce_type: io.kubectl-spy.version
        ce_v: 1
        ce_watch: {"group":"","version":"v1","resource":"configmaps","kind":"ConfigMap","namespaced":true}
        ce_why: Modified
        content-type: application/json
        "#);
    }

    #[test]
    fn an_event_has_no_control_characters_and_a_type_of_content_only_with_a_value() {
        let label = label("20260302T120000000-abc");
        let sender = FileSender {
            label: &label,
            cluster: "prod",
            sent: 3,
            format: MessageFormat::CloudEvents,
        };
        let TailEntry { position, entry } = version(7, "web");
        let EntryContent::Version(recorded) = entry.content else {
            panic!("a version");
        };
        let entry = RecordEntry {
            source: entry.source,
            content: EntryContent::Missing {
                version: recorded.version.version.clone(),
                seen: recorded.seen,
                cause: "one\ntwo".to_owned(),
            },
        };
        let missing = sender.entry(&TailEntry { position, entry });
        for message in [sender.begin(&heading()), missing] {
            assert!(!message.headers.contains_key("content-type"));
            let text = message.headers.values().flatten();
            assert!(text.copied().all(|byte| byte >= b' '), "{message:?}");
        }
    }

    #[test]
    fn a_message_of_another_program_is_none() {
        let label = label("f-a");
        let sender = FileSender {
            label: &label,
            cluster: "prod",
            sent: 3,
            format: MessageFormat::Versions,
        };
        let message = sender.entry(&version(7, "web"));
        for name in [
            "v",
            "clusterId",
            "file",
            "seq",
            "sent",
            "type",
            "watch",
            "seen",
            "why",
            "past",
        ] {
            let mut other = message.clone();
            other.headers.remove(name);
            assert!(other.read().is_none(), "{name}");
            other.headers.insert(name.to_owned(), b"\xff".to_vec());
            assert!(other.read().is_none(), "{name}");
        }
        let other = TopicMessage {
            value: Some(b"{}".to_vec()),
            ..message
        };
        assert!(other.read().is_none());
    }

    /// The values of `UtilsTest.testMurmur2` of Kafka.
    #[test]
    fn a_key_has_the_partition_that_java_chooses() {
        for (key, hash) in [
            ("21", -973_932_308),
            ("foobar", -790_332_482),
            ("a-little-bit-long-string", -985_981_536),
            ("a-little-bit-longer-string", -1_486_304_829),
            (
                "lkjh234lh9fiuh90y23oiuhsafujhadof229phr9h19h89h8",
                -58_897_971,
            ),
            ("abc", 479_470_107),
        ] {
            assert_eq!(murmur2(key.as_bytes()).cast_signed(), hash, "{key}");
        }
        assert_eq!((partition_of("21", 7), partition_of("abc", 6)), (3, 3));
        assert_eq!(partition_of("x", 0), 0);
    }
}
