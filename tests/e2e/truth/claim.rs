//! What the program claims about one version, in any format.

use jiff::{SignedDuration, Timestamp};
use serde_json::Value;

use super::objects::Kind;

/// A printed version.
#[derive(Clone, Debug, Default)]
pub struct Claim {
    /// The line or record, for reports.
    pub line: String,
    pub word: Word,
    pub kind: Option<Kind>,
    pub name: String,
    pub uid: Option<String>,
    pub from: Option<u64>,
    /// The resourceVersion; `None` in the format `short`.
    pub to: Option<u64>,
    pub time: Option<Timestamp>,
    pub until: Option<Timestamp>,
    /// The writers, with their subresources.
    pub writers: Vec<String>,
    pub changes: Vec<Change>,
    /// The time since the version before.
    pub since: Option<Length>,
    /// The least and the greatest age.
    pub ago: Option<[Length; 2]>,
    pub existed: Option<Length>,
    /// The longest possible life.
    pub existed_up_to: Option<Length>,
}

/// The kind of a claim.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Word {
    #[default]
    Existing,
    Created,
    Recreated,
    Modified,
    Deleted,
    Left,
}

/// A printed change of a field.
#[derive(Clone, Debug, Default)]
pub struct Change {
    /// Its manager, with the subresource in text.
    pub by: Option<String>,
    /// The manager that owned the field before.
    pub was: Option<String>,
    /// The pointer into the newer object, and the value there.
    pub new: Option<(String, Value)>,
    /// The pointer into the older object, and the value there.
    pub old: Option<(String, Value)>,
}

/// A printed time span, and the length of its smallest unit.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Length {
    pub span: SignedDuration,
    pub unit: SignedDuration,
}

impl Word {
    /// Parses the word of a heading or a record, in any case.
    pub fn of(word: &str) -> Option<Word> {
        Some(match word.to_lowercase().as_str() {
            "existing" | "baseline" => Word::Existing,
            "created" => Word::Created,
            "recreated" => Word::Recreated,
            "modified" => Word::Modified,
            "deleted" => Word::Deleted,
            "left" => Word::Left,
            _ => return None,
        })
    }
}

impl Length {
    /// Parses `38s`, `4m12s`, `2h5m`, `1d3h`, `25y`.
    pub fn read(text: &str) -> Option<Length> {
        let (mut span, mut unit, mut digits) = (0, 0, String::new());
        for at in text.chars() {
            if at.is_ascii_digit() {
                digits.push(at);
                continue;
            }
            unit = match at {
                's' => 1,
                'm' => 60,
                'h' => 3600,
                'd' => 86_400,
                'y' => 365 * 86_400,
                _ => return None,
            };
            span += std::mem::take(&mut digits).parse::<i64>().ok()? * unit;
        }
        let is_read = unit > 0 && digits.is_empty();
        is_read.then(|| Length {
            span: SignedDuration::from_secs(span),
            unit: SignedDuration::from_secs(unit),
        })
    }
}

impl Length {
    /// Parses `38s` as both ends, and an interval: `27–38s`, `4m12s–5m2s`.
    pub fn range(text: &str) -> Option<[Length; 2]> {
        let Some((least, most)) = text.split_once('–') else {
            let length = Length::read(text)?;
            return Some([length; 2]);
        };
        let unit = most.trim_start_matches(|at: char| at.is_ascii_digit());
        let least = Length::read(least).or_else(|| Length::read(&format!("{least}{unit}")))?;
        Some([least, Length::read(most)?])
    }
}

impl Claim {
    /// Parses a version record; `None` for another record.
    pub fn of_record(record: &Value) -> Option<Claim> {
        let text = |name: &str| record[name].as_str();
        let time = |name: &str| text(name).map(|time| time.parse().unwrap());
        let revision = |name: &str| text(name).map(|revision| revision.parse().unwrap());
        let list = |name: &str| record[name].as_array().into_iter().flatten();
        let named = &record["ref"];
        let mut brief = record.clone();
        if let Some(fields) = brief.as_object_mut() {
            fields.retain(|name, _| !matches!(&**name, "object" | "hidden" | "v" | "seen"));
        }
        Some(Claim {
            line: brief.to_string(),
            word: Word::of(text("type")?)?,
            kind: Kind::of(named["kind"].as_str()?),
            name: named["name"].as_str()?.to_owned(),
            uid: named["uid"].as_str().map(str::to_owned),
            from: revision("from"),
            to: revision("to"),
            time: time("time"),
            until: time("timeUntil"),
            writers: list("actors").map(actor).collect(),
            changes: list("changes").map(change).collect(),
            ..Claim::default()
        })
    }
}

fn actor(actor: &Value) -> String {
    let manager = actor["manager"].as_str().unwrap();
    match actor["subresource"].as_str() {
        Some(subresource) => format!("{manager} ({subresource})"),
        None => manager.to_owned(),
    }
}

fn change(change: &Value) -> Change {
    let side = |name: &str| {
        let pointer = change["pointer"].as_str().unwrap().to_owned();
        change.get(name).map(|value| (pointer, value.clone()))
    };
    let is_removed = change["op"] == "remove";
    Change {
        by: change["by"].as_str().map(str::to_owned),
        was: None,
        new: side("new").filter(|_| !is_removed),
        old: side("old").filter(|_| is_removed),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_length_is_read_with_its_smallest_unit() {
        for (text, expect) in [
            ("38s", Some((38, 1))),
            ("4m12s", Some((252, 1))),
            ("2h5m", Some((7500, 60))),
            ("25y", Some((25 * 365 * 86_400, 365 * 86_400))),
            ("<invalid>", None),
            ("", None),
            ("38", None),
        ] {
            let read = Length::read(text).map(|it| (it.span.as_secs(), it.unit.as_secs()));
            assert_eq!(read, expect, "{text}");
        }
        let seconds = |text| Length::range(text).map(|ends| ends.map(|it| it.span.as_secs()));
        assert_eq!(seconds("27–38s"), Some([27, 38]));
        assert_eq!(seconds("27s–4m12s"), Some([27, 252]));
        assert_eq!(seconds("38s"), Some([38, 38]));
    }
}
