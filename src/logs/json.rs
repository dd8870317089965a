//! The level of a line, and the fields of a line that is JSON.

use std::borrow::Cow;

use crate::object::{Doc, Kind, Value};

/// How important a line is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum LogLevel {
    /// For those who look for a fault.
    Debug,
    /// Usual work.
    Info,
    /// Something may be wrong.
    Warn,
    /// Something is wrong.
    Error,
}

impl LogLevel {
    /// The level of a word, of a number as pino and bunyan write them (10 to 60), or of the letter of klog.
    pub fn parse(word: &str) -> Option<LogLevel> {
        let word = word.trim().to_ascii_lowercase();
        Some(match word.as_str() {
            "trace" | "verbose" | "debug" | "dbug" | "dbg" | "finest" | "finer" | "fine" | "10"
            | "20" => LogLevel::Debug,
            "info" | "information" | "informational" | "notice" | "log" | "default" | "30" => {
                LogLevel::Info
            }
            "warn" | "warning" | "wrn" | "40" => LogLevel::Warn,
            "error" | "err" | "eror" | "severe" | "fatal" | "critical" | "crit" | "alert"
            | "emergency" | "emerg" | "panic" | "dpanic" | "50" | "60" => LogLevel::Error,
            _ => return None,
        })
    }
}

/// The names of the field with the level, the first that a line has.
const LEVELS: [&[&str]; 6] = [
    &["level"],
    &["severity"],
    &["lvl"],
    &["log.level"],
    &["log", "level"],
    &["@level"],
];

/// The names of the field with the message, and of the one with an error.
const MESSAGES: [&str; 4] = ["msg", "message", "@message", "event"];
const ERRORS: [&str; 4] = ["error", "err", "exception", "exc_info"];

/// A line that is one JSON object.
#[derive(Clone, Debug)]
pub struct JsonLine(Doc);

impl JsonLine {
    /// Parses a line; `None` if it is anything else than one JSON object.
    pub fn parse(line: &[u8]) -> Option<JsonLine> {
        if !line.trim_ascii_start().starts_with(b"{") {
            return None;
        }
        let doc = Doc::parse(std::str::from_utf8(line).ok()?).ok()?;
        (doc.root().kind() == Kind::Object).then_some(JsonLine(doc))
    }

    /// Its level, if it has one.
    pub fn level(&self) -> Option<LogLevel> {
        LogLevel::parse(&self.level_text()?)
    }

    fn level_text(&self) -> Option<Cow<'_, str>> {
        let root = self.0.root();
        LEVELS.iter().find_map(|path| root.at(path)).map(text_of)
    }

    /// `error: cannot start: dial tcp: refused`: its level as it is written, its message, and its error. `None` without a
    /// message.
    pub fn sentence(&self) -> Option<String> {
        let root = self.0.root();
        let first = |names: &[&str]| {
            let mut texts = names.iter().filter_map(|name| root.get(name)?.as_str());
            texts.find(|text| !text.trim().is_empty())
        };
        let message = first(&MESSAGES)?;
        let error = first(&ERRORS).filter(|error| !message.contains(&**error));
        let level = self.level_text().into_iter();
        let parts: Vec<Cow<'_, str>> = level.chain([message]).chain(error).collect();
        Some(parts.join(": "))
    }

    /// The text of a field, by a path such as `err.code`; a name with dots counts first. `None` if there is none.
    pub fn field(&self, path: &str) -> Option<Cow<'_, str>> {
        let root = self.0.root();
        let found = root.get(path).or_else(|| {
            let parts: Vec<&str> = path.split('.').collect();
            root.at(&parts)
        });
        found.map(text_of)
    }

    /// The object as it is written.
    pub fn text(&self) -> &str {
        self.0.text()
    }
}

/// A text as it is, and any other value as JSON.
fn text_of(value: Value<'_>) -> Cow<'_, str> {
    value.as_str().unwrap_or_else(|| Cow::Borrowed(value.raw()))
}

/// The level of a line of any format, if it shows one at its start: JSON, logfmt, klog, or a word in capitals.
pub fn level_of(line: &[u8]) -> Option<LogLevel> {
    if let Some(json) = JsonLine::parse(line) {
        return json.level();
    }
    let head = &line[..line.len().min(HEAD)];
    let head = String::from_utf8_lossy(head);
    klog(&head)
        .or_else(|| logfmt(&head))
        .or_else(|| capitals(&head))
}

/// How much of a line is searched for its level.
const HEAD: usize = 160;

/// `E1126 22:41:52.123456 …`.
fn klog(head: &str) -> Option<LogLevel> {
    let (letter, day) = head.as_bytes().split_first()?;
    let is_klog = day.get(..4)?.iter().all(u8::is_ascii_digit) && day.get(4) == Some(&b' ');
    match letter {
        b'I' if is_klog => Some(LogLevel::Info),
        b'W' if is_klog => Some(LogLevel::Warn),
        b'E' | b'F' if is_klog => Some(LogLevel::Error),
        _ => None,
    }
}

/// `time=… level=warn msg=…`.
fn logfmt(head: &str) -> Option<LogLevel> {
    let words = head.split_ascii_whitespace();
    words
        .filter_map(|word| word.split_once('='))
        .find_map(|(name, value)| {
            let is_level = ["level", "lvl", "severity"].contains(&name);
            is_level
                .then(|| LogLevel::parse(value.trim_matches('"')))
                .flatten()
        })
}

/// `[ERROR]`, `WARN:`, `2026-11-25 INFO main`: one of the first words. Colours of the program may stand around it.
fn capitals(head: &str) -> Option<LogLevel> {
    let head = without_colours(head);
    let words = head
        .split(|c: char| !c.is_ascii_alphabetic())
        .filter(|word| word.len() > 2);
    let mut first = words.take(6);
    first.find_map(|word| {
        let is_shouted = word.bytes().all(|byte| byte.is_ascii_uppercase());
        let is_panic = word == "panic";
        (is_shouted || is_panic)
            .then(|| LogLevel::parse(word))
            .flatten()
    })
}

/// The text without the escape sequences of its colours: `^[31m`.
fn without_colours(head: &str) -> Cow<'_, str> {
    if !head.contains('\u{1b}') {
        return Cow::Borrowed(head);
    }
    let mut parts = head.split('\u{1b}');
    let first = parts.next().unwrap_or_default();
    let rest = parts.map(|part| part.split_once('m').map_or(part, |(_, text)| text));
    Cow::Owned(std::iter::once(first).chain(rest).collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_line_shows_its_level() {
        use LogLevel::{Debug, Error, Info, Warn};
        for (line, expect) in [
            (r#"{"level":"warn","msg":"x"}"#, Some(Warn)),
            (r#"{"level":50,"msg":"x"}"#, Some(Error)),
            (r#" {"severity":"NOTICE"}"#, Some(Info)),
            (r#"{"log.level":"debug"}"#, Some(Debug)),
            (r#"{"log":{"level":"fatal"}}"#, Some(Error)),
            (r#"{"msg":"ERROR"}"#, None),
            (r#"{"level":"error""#, None),
            ("E1126 22:41:52.123456 1 x.go:1] lost", Some(Error)),
            (
                "I1126 22:41:52.123456 1 x.go:1] ERROR in a text",
                Some(Info),
            ),
            ("time=\"x\" level=warning msg=\"no\"", Some(Warn)),
            ("lvl=dbug msg=x", Some(Debug)),
            ("2026-11-25 22:41:52 [WARN] main: slow", Some(Warn)),
            ("\u{1b}[31mERROR\u{1b}[0m no", Some(Error)),
            ("panic: runtime error: index out of range", Some(Error)),
            ("GET /error 200 INFO", Some(Info)),
            ("an error occurred", None),
            ("", None),
        ] {
            assert_eq!(level_of(line.as_bytes()), expect, "{line}");
        }
        assert_eq!(level_of(b"\xff\xfe ERROR"), Some(Error));
    }

    #[test]
    fn an_object_is_a_sentence() {
        for (line, expect) in [
            (r#"{"level":"warn","msg":"slow"}"#, Some("warn: slow")),
            (
                r#"{"severity":"FATAL","message":"cannot start","error":"dial tcp: refused"}"#,
                Some("FATAL: cannot start: dial tcp: refused"),
            ),
            (
                r#"{"level":"error","msg":"no db","err":"no db"}"#,
                Some("error: no db"),
            ),
            (
                r#"{"level":50,"msg":"no","err":{"code":7}}"#,
                Some("50: no"),
            ),
            (r#"{"msg":" ","message":"x"}"#, Some("x")),
            (r#"{"level":"error","code":7}"#, None),
        ] {
            let object = JsonLine::parse(line.as_bytes()).expect("an object");
            assert_eq!(object.sentence().as_deref(), expect, "{line}");
        }
    }

    #[test]
    fn fields_are_found_by_their_paths() {
        let line =
            JsonLine::parse(br#"{"msg":"a \"b\"","err":{"code":7,"tags":["x"]},"a.b":true}"#);
        let line = line.expect("an object");
        for (path, expect) in [
            ("msg", Some("a \"b\"")),
            ("err.code", Some("7")),
            ("err.tags", Some(r#"["x"]"#)),
            ("a.b", Some("true")),
            ("err.gone", None),
            ("", None),
        ] {
            assert_eq!(line.field(path).as_deref(), expect, "{path}");
        }
        for other in ["[1]", "7", "{", "", "{} x"] {
            assert!(JsonLine::parse(other.as_bytes()).is_none(), "{other}");
        }
    }
}
