//! The counts of a status: how many replicas, members or nodes work, and how many there should be.

use crate::object::Value;
use crate::status::words::words_of;

/// First words of counts of what works, of which there should be as many as there are.
const WORKING: &[&str] = &["available", "ready", "updated"];

/// What is counted, in the last words of the names: not bytes or addresses, of which some are left over on purpose.
const NOUNS: &[&str] = &[
    "agents",
    "brokers",
    "clusters",
    "components",
    "count",
    "instances",
    "machines",
    "members",
    "nodes",
    "pods",
    "replicas",
    "servers",
    "shards",
    "workers",
];

/// First words of counts of what is there or works, which may stand for those that are left out.
const PRESENT: &[&str] = &[
    "active",
    "available",
    "current",
    "healthy",
    "ready",
    "running",
    "updated",
];

/// The names of counts of what is wanted, beside a count without a noun: `ready` of `size`.
const SIZES: &[&str] = &["size", "replicas", "desired", "total"];

/// The counts of a `DaemonSet` and of what is made after it.
const SCHEDULED: &[(&str, &str)] = &[
    ("currentNumberScheduled", "scheduled"),
    ("updatedNumberScheduled", "updated"),
    ("numberReady", "ready"),
    ("numberAvailable", "available"),
];

/// An object with counts, and the spec of the whole.
#[derive(Clone, Copy)]
pub(super) struct Counts<'a> {
    pub(super) status: Value<'a>,
    pub(super) spec: Option<Value<'a>>,
}

impl Counts<'_> {
    /// `2 of 3 replicas are ready`, if there are fewer than there should be.
    pub(super) fn too_few(self) -> Option<String> {
        let mut fields = self.status.fields();
        let found = fields.find_map(|(key, value)| match value.as_i64() {
            Some(is) => self.of_number(&key, is),
            None => fraction(&key, &value.as_str()?),
        });
        found.or_else(|| self.scheduled())
    }

    /// The problem in one count.
    fn of_number(self, key: &str, is: i64) -> Option<String> {
        let words = words_of(key);
        let (first, noun) = match words.split_first()? {
            // `updatedReadyReplicas`: those that are both.
            (first, [ready, rest @ ..]) if first == "updated" && WORKING.contains(&&**ready) => {
                (ready, rest)
            }
            split => split,
        };
        let is_counted = noun
            .last()
            .map_or(first == "ready", |last| NOUNS.contains(&&**last));
        if !is_counted || noun.len() > 2 {
            return None;
        }
        let spoken = match noun {
            [] => "replicas".to_owned(),
            [.., what, count] if count == "count" => format!("{what}s"),
            noun => noun.join(" "),
        };
        let verb = match &**first {
            "unavailable" if is > 0 => return Some(format!("{is} {spoken} are unavailable")),
            // A count of 0 may be left out.
            "expected" if is > 0 && !self.has_present() => {
                return Some(format!("0 of {is} {spoken} are available"));
            }
            verb if WORKING.contains(&verb) => verb,
            _ => return None,
        };
        let wanted = self.wanted(noun)?;
        // A partition keeps the others at the old revision.
        let kept = match verb {
            "updated" => self.number_in_spec(&["updateStrategy", "rollingUpdate", "partition"]),
            _ => None,
        };
        let wanted = wanted.saturating_sub(kept.unwrap_or(0).max(0));
        (is < wanted).then(|| format!("{is} of {wanted} {spoken} are {verb}"))
    }

    /// How many there should be: by the status, which knows more, else by the spec.
    fn wanted(self, noun: &[String]) -> Option<i64> {
        let names: Vec<String> = if noun.is_empty() {
            SIZES.iter().map(|&name| name.to_owned()).collect()
        } else {
            let before = ["desired", "expected", "total", ""].into_iter();
            before.map(|before| camel_case(before, noun)).collect()
        };
        let mut in_status = names.iter();
        let in_status = in_status.find_map(|name| self.status.i64_at(&[name]));
        let mut in_spec = names.iter();
        in_status.or_else(|| in_spec.find_map(|name| self.number_in_spec(&[name])))
    }

    fn number_in_spec(self, path: &[&str]) -> Option<i64> {
        self.spec?.i64_at(path)
    }

    /// Whether another count says how many there are.
    fn has_present(self) -> bool {
        let mut fields = self.status.fields();
        fields.any(|(key, value)| {
            let words = words_of(&key);
            let first = words.first().map_or("", String::as_str);
            value.as_i64().is_some() && PRESENT.contains(&first)
        })
    }

    /// The problem in the counts of what runs on each node.
    fn scheduled(self) -> Option<String> {
        let wanted = self.status.i64_at(&["desiredNumberScheduled"])?;
        let mut counts = SCHEDULED.iter();
        let (is, verb) = counts.find_map(|(key, verb)| {
            let is = self.status.i64_at(&[key])?;
            (is < wanted).then_some((is, verb))
        })?;
        Some(format!("{is} of {wanted} pods are {verb}"))
    }
}

/// The problem in a text such as `1/3`.
fn fraction(key: &str, text: &str) -> Option<String> {
    let (is, wanted) = text.split_once('/')?;
    let (is, wanted): (u32, u32) = (is.trim().parse().ok()?, wanted.trim().parse().ok()?);
    let words = words_of(key);
    let counts = words
        .iter()
        .any(|word| matches!(&**word, "available" | "ready" | "replicas"));
    (counts && is < wanted).then(|| format!("{key} is {text}"))
}

/// `desiredReplicas`; `machineCount` if nothing comes before it.
fn camel_case(before: &str, noun: &[String]) -> String {
    let mut name = before.to_owned();
    for word in noun {
        match word.split_at_checked(1) {
            Some((first, rest)) if !name.is_empty() => name += &(first.to_uppercase() + rest),
            _ => name += word,
        }
    }
    name
}
