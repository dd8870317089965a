//! The records of `-o json`: one object on each line. Each kind of record has a JSON Schema in docs/schema.
//! Fields are only added, never removed.

pub mod changes;
pub mod export;
pub mod logs;
pub mod packages;
pub mod status;
pub mod trace;

use std::io;
use std::sync::Arc;

use serde::Serialize;
use serde_json::ser::{CompactFormatter, Formatter};

use super::text::is_unsafe;
use crate::object::{ObjectRef, Uid};

/// The version of the record format, in the field `v`.
pub const VERSION: u32 = 1;

/// Identifies an object and its cluster. Unknown parts are omitted.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct RefRecord {
    /// The name of the context, or of the file.
    pub cluster: Arc<str>,
    /// The `apiVersion`.
    #[serde(skip_serializing_if = "str::is_empty")]
    pub api_version: Arc<str>,
    /// The kind.
    #[serde(skip_serializing_if = "str::is_empty")]
    pub kind: Arc<str>,
    /// The namespace; `None` for cluster-scoped objects.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub namespace: Option<Arc<str>>,
    /// The name.
    pub name: Arc<str>,
    /// The uid, if known.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub uid: Option<Arc<str>>,
}

impl RefRecord {
    /// The record of an object reference.
    pub fn new(cluster: impl Into<Arc<str>>, object: &ObjectRef) -> RefRecord {
        RefRecord {
            cluster: cluster.into(),
            api_version: object.api_version.clone(),
            kind: object.kind.clone(),
            namespace: object.namespace.clone(),
            name: object.name.clone(),
            uid: object.uid.as_ref().map(Uid::text),
        }
    }
}

/// The record as one line of JSON, without a line feed. JSON escapes replace every character that a terminal
/// may obey or hide: the C0 controls, and those that [`escape_line`](crate::render::text::escape_line) makes
/// visible.
pub fn line(record: &impl Serialize) -> String {
    let mut bytes = Vec::with_capacity(512);
    record
        .serialize(&mut serde_json::Serializer::with_formatter(
            &mut bytes, Harmless,
        ))
        .expect("records have text keys, and memory takes any text");
    String::from_utf8(bytes).expect("JSON is UTF-8")
}

/// Compact JSON without characters that a terminal may obey.
struct Harmless;

impl Formatter for Harmless {
    fn write_string_fragment<W: ?Sized + io::Write>(
        &mut self,
        writer: &mut W,
        fragment: &str,
    ) -> io::Result<()> {
        let mut rest = fragment;
        while let Some(at) = rest.find(is_unsafe) {
            let (safe, unsafe_on) = rest.split_at(at);
            CompactFormatter.write_string_fragment(writer, safe)?;
            let length = unsafe_on.chars().next().map_or(0, char::len_utf8);
            let (character, after) = unsafe_on.split_at(length);
            for unit in character.encode_utf16() {
                write!(writer, "\\u{unit:04x}")?;
            }
            rest = after;
        }
        CompactFormatter.write_string_fragment(writer, rest)
    }

    /// Raw JSON contains such characters only inside its strings.
    fn write_raw_fragment<W: ?Sized + io::Write>(
        &mut self,
        writer: &mut W,
        fragment: &str,
    ) -> io::Result<()> {
        self.write_string_fragment(writer, fragment)
    }
}

/// A change of an object, or of an object that it needs.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct LastChangeRecord {
    /// The changed object; absent if it is the failed one.
    #[serde(rename = "ref", skip_serializing_if = "Option::is_none")]
    pub object: Option<RefRecord>,
    /// When it was changed; absent if that is not known.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub time: Option<String>,
    /// Whether the server recorded no time: `time` is that of another write before it.
    pub about: bool,
    /// The latest time at which it was changed, if no time is recorded; absent if that may be just now.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub until: Option<String>,
    /// The field manager that changed it; absent if the server recorded none.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub by: Option<String>,
    /// Whether it was created. After one that was deleted, `changes` has the differences that the failure is about.
    pub created: bool,
    /// Whether it was deleted.
    pub deleted: bool,
    /// The first changed fields with their old and new values, as the text views show them.
    pub changes: Vec<String>,
    /// The first written fields, if their old values are compacted. The manager owns them, and wrote then or before.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub written: Vec<String>,
    /// How many more fields changed, or were written.
    pub more: usize,
    /// What two managers do with the first field: `flipped 9 times in 25s between …`; absent if they do not fight.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub fight: Option<String>,
    /// What ties it to the failure.
    pub sign: SignRecord,
}

/// What the instance of a container printed last before it failed.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct LastLinesRecord {
    /// The name of the container.
    pub container: String,
    /// The ID of its instance.
    pub instance: String,
    /// The exit code of the instance.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub exit_code: Option<i64>,
    /// The line that says why, or the last lines.
    pub lines: Vec<String>,
}

impl LastLinesRecord {
    /// `app log: panic: no db`: one text for each line.
    pub fn texts(&self) -> Vec<String> {
        let text = |line: &String| format!("{} log: {line}", self.container);
        self.lines.iter().map(text).collect()
    }
}

/// What ties a change to a failure.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum SignRecord {
    /// Nothing: it was only made before the failure.
    None,
    /// It changed the failed object, or an object that the kind of the failure is about.
    Possible,
    /// The failure or its words are about what it changed.
    Tied,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn text_is_preserved_without_terminal_commands() {
        for text in [
            "plain",
            "a\u{1b}[31mred\n\"quoted\" \\ back",
            "\u{9b}31m \u{202e}evil\u{2028} \u{feff}",
            "tag \u{e0041} ünïcode ⚠️",
            "",
        ] {
            let line = line(&text);
            assert!(!line.contains(is_unsafe), "{line:?}");
            assert_eq!(
                serde_json::from_str::<String>(&line).expect("the line is JSON"),
                text,
                "{line}"
            );
        }
        assert_eq!(line(&"\u{9b}\u{e0041}"), r#""\u009b\udb40\udc41""#);
    }
}
