//! Parses what the program prints for people into claims.

use jiff::Timestamp;
use serde_json::Value;

use super::claim::{Change, Claim, Length, Word};
use super::objects::Kind;

/// The output of one run, in any format.
#[derive(Clone, Debug, Default)]
pub struct Printed {
    pub claims: Vec<Claim>,
    /// The parts of the divider, or `None` if there is none.
    pub divider: Option<Vec<String>>,
    /// The records that are not versions.
    pub notices: Vec<Value>,
    /// The lines that the law does not know.
    pub others: Vec<String>,
}

impl Printed {
    /// Parses records, one on each line.
    pub fn of_records(stdout: &str) -> Printed {
        let mut printed = Printed::default();
        for line in stdout.lines() {
            let record: Value = serde_json::from_str(line).unwrap();
            match Claim::of_record(&record) {
                Some(claim) => printed.claims.push(claim),
                None => printed.notices.push(record),
            }
        }
        printed
    }

    /// Parses text. Headings of `-o yaml` are comments.
    pub fn of_text(stdout: &str) -> Printed {
        let mut printed = Printed::default();
        for line in stdout.lines() {
            let text = line.strip_prefix("# ").unwrap_or(line);
            let last = printed.claims.last_mut();
            if let Some(parts) = divider(text) {
                printed.divider.get_or_insert_default().extend(parts);
            } else if let Some(claim) = heading(text).or_else(|| short(text)) {
                printed.claims.push(claim);
            } else if let (Some(change), Some(claim)) = (changed(text), last) {
                claim.changes.push(change);
            } else {
                printed.others.push(line.to_owned());
            }
        }
        printed
    }
}

/// The parts of `── a · b ──`.
fn divider(line: &str) -> Option<Vec<String>> {
    let inside = line.strip_prefix("── ")?.strip_suffix(" ──")?;
    Some(inside.split(" · ").map(str::to_owned).collect())
}

/// `TIME` or `TIME–TIME`.
fn times(text: &str) -> Option<(Timestamp, Option<Timestamp>)> {
    match text.split_once('–') {
        Some((from, until)) => Some((from.parse().ok()?, Some(until.parse().ok()?))),
        None => Some((text.parse().ok()?, None)),
    }
}

/// `configmap/app`
fn object(text: &str) -> Option<(Kind, String)> {
    let (kind, name) = text.split_once('/')?;
    let kind = kind.split('.').next()?;
    Some((Kind::of(kind)?, name.to_owned()))
}

/// `TIME MODIFIED configmap/app  1→2  +3s  4s ago  by alice  1 change, 2 hidden`
fn heading(line: &str) -> Option<Claim> {
    let mut parts = line.split("  ");
    let mut start = parts.next()?.split(' ');
    let (time, until) = times(start.next()?)?;
    let word = Word::of(start.next()?)?;
    let (kind, name) = object(start.next()?)?;
    let mut claim = Claim {
        line: line.to_owned(),
        word,
        kind: Some(kind),
        name,
        time: Some(time),
        until,
        ..Claim::default()
    };
    for part in parts {
        claim.add(part);
    }
    Some(claim)
}

impl Claim {
    fn add(&mut self, part: &str) {
        let arrow = part.split_once('→').unwrap_or(("", part));
        if let Ok(to) = arrow.1.parse() {
            (self.from, self.to) = (arrow.0.parse().ok(), Some(to));
        } else if let Some(since) = part.strip_prefix('+') {
            self.since = Length::read(since);
        } else if let Some(ago) = part.strip_suffix(" ago") {
            self.ago = Length::range(ago);
        } else if let Some(most) = part.strip_prefix("existed up to ") {
            self.existed_up_to = Length::read(most);
        } else if let Some(existed) = part.strip_prefix("existed ") {
            self.existed = Length::read(existed);
        } else if let Some(names) = written_by(part) {
            self.writers = names.split(", ").map(unquoted).collect();
        }
    }
}

/// `by a, b (status)` and `probably by a`: a guess may be right, too.
fn written_by(part: &str) -> Option<&str> {
    let part = part.strip_prefix("probably ").unwrap_or(part);
    part.strip_prefix("by ")
}

/// The server's name for a client without one is in quotes.
fn unquoted(name: &str) -> String {
    name.replace('"', "")
}

/// `TIME configmap/app  alice  a: "1" → "2" (+1)`, `TIME configmap/app  deleted  existed 3s`
fn short(line: &str) -> Option<Claim> {
    let parts: Vec<&str> = line.split("  ").collect();
    let (first, rest) = parts.split_first()?;
    let (time, of) = first.split_once(' ')?;
    let (time, until) = times(time)?;
    let (kind, name) = object(of)?;
    let word = |part: &&str| Word::of(part).filter(|word| *word != Word::Modified);
    let at = rest.iter().position(|part| word(part).is_some());
    let at = at.or(rest.iter().position(|part| part.contains(" → ")));
    let at = at.or(rest.iter().position(|part| are_keys(part)))?;
    let mut claim = Claim {
        line: line.to_owned(),
        word: word(&rest[at]).unwrap_or(Word::Modified),
        kind: Some(kind),
        name,
        time: Some(time),
        until,
        ..Claim::default()
    };
    if let Some(who) = rest[..at].last().filter(|who| !who.starts_with("(was ")) {
        let who = who.strip_prefix("probably ").unwrap_or(who);
        claim.writers = who.split(", ").map(unquoted).collect();
    }
    for part in &rest[at..] {
        claim.add(part);
    }
    Some(claim)
}

/// `-token, +password`: the keys of a Secret.
fn are_keys(part: &str) -> bool {
    part.split(", ").all(|key| key.starts_with(['+', '-', '~']))
}

/// `~ .data.a: "1" → "2"  by alice (was bob's)`
fn changed(line: &str) -> Option<Change> {
    let (op, text) = line.split_once(' ')?;
    if !matches!(op, "+" | "-" | "~" | "↕" | "≈") {
        return None;
    }
    let mut change = Change::default();
    for part in text.split("  ").skip(1) {
        let (by, was) = match part.split_once("(was ") {
            Some((by, was)) => (by.trim_end(), was.strip_suffix("'s)").map(unquoted)),
            None => (part, None),
        };
        change.by = change.by.or(written_by(by).map(unquoted));
        change.was = change.was.or(was);
    }
    Some(change)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_heading_is_read() {
        let line = "2026-03-02T12:05:00.000Z–2026-03-02T12:05:09.000Z MODIFIED configmap/app  1→2  +3s  3m52s–4m1s ago  probably by alice (status)  1 change, 2 hidden";
        let printed = Printed::of_text(&format!(
            "{line}\n~ .data.a: \"1\" → \"2\"  by bob (was helm's)"
        ));
        let claim = &printed.claims[0];
        assert_eq!((claim.from, claim.to), (Some(1), Some(2)));
        assert_eq!(claim.writers, ["alice (status)"]);
        assert!(claim.until.is_some() && claim.since.is_some() && claim.ago.is_some());
        assert_eq!(claim.changes[0].by.as_deref(), Some("bob"));
        assert_eq!(claim.changes[0].was.as_deref(), Some("helm"));
    }

    #[test]
    fn a_short_line_is_read() {
        let time = "2026-03-02T12:05:00.000Z";
        let read = |rest: &str| short(&format!("{time} {rest}")).unwrap();
        let claim = read("deployment/web  kubectl (scale)  replicas: 3 → 4");
        assert_eq!(claim.writers, ["kubectl (scale)"]);
        assert_eq!(claim.word, Word::Modified);
        let claim = read("secret/db  alice  -token, +password (+1)");
        assert_eq!(claim.writers, ["alice"]);
        let claim = read(
            "job/migrate  deleted  existed 94s"
                .replace("job", "pod")
                .as_str(),
        );
        assert_eq!(claim.word, Word::Deleted);
        assert_eq!(claim.existed, Length::read("94s"));
    }

    #[test]
    fn the_parts_of_a_divider_are_read() {
        let printed = Printed::of_text("── 3 earlier versions, back to T · complete since T ──");
        let parts = printed.divider.unwrap();
        assert_eq!(parts, ["3 earlier versions, back to T", "complete since T"]);
    }
}
