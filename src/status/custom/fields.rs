//! What other fields of a status report: errors, truth values and counts.

use jiff::Timestamp;

use crate::object::{Kind, Value};
use crate::status::cause::CauseRule;
use crate::status::parts::{self, is_about_now};
use crate::status::read;
use crate::status::verdict::Verdict;
use crate::status::words::words_of;

use super::counts::Counts;
use super::state_words::is_settled;

/// How the name of a field ends that holds an error: `failureMessage`, `error`, `lastSyncError`.
const ERRORS: &[&str] = &[
    "errordescription",
    "errormessage",
    "errorreason",
    "errors",
    "error",
    "failuremessage",
    "failurereason",
    "failure",
];

/// The errors of Cluster API from which no controller recovers
/// (<https://cluster-api.sigs.k8s.io/developer/providers/contracts/infra-machine>).
const TERMINAL: &[&str] = &["failureMessage", "failureReason"];

/// Texts that some controllers write instead of no error.
const NO_ERROR: &[&str] = &["", "<nil>", "n/a", "nil", "no error", "none", "null", "ok"];

/// Truth values that are false while the work is not done; the longer ones are those of Cluster API. Others that end in
/// `Ready` may be about what nobody wants.
const GOOD: &[&str] = &[
    "applied",
    "available",
    "bootstrapready",
    "bound",
    "configured",
    "connected",
    "controlplaneready",
    "created",
    "deployed",
    "healthy",
    "infrastructureready",
    "initialized",
    "installed",
    "provisioned",
    "reachable",
    "ready",
    "readytouse",
    "registered",
    "synced",
    "valid",
];

/// Truth values that are true after a failure.
const BAD: &[&str] = &[
    "broken",
    "degraded",
    "error",
    "failed",
    "invalid",
    "stalled",
    "unhealthy",
];

/// Conditions that say that an object has all that it wants when True.
const COMPLETE: &[&str] = &["Complete", "Completed", "Operational", "Ready", "Succeeded"];

/// An object whose status holds an error, or one of its parts. What is well as a whole has got over errors that may pass.
pub(super) fn error(object: Value<'_>, _: Timestamp) -> Option<Verdict> {
    let status = read::object_at(object, &["status"])?;
    let own = if is_settled(object) {
        let terminal = TERMINAL.iter();
        let mut terminal = terminal.filter_map(|key| Some((*key, error_text(status.get(key)?)?)));
        terminal.next().map(|(key, text)| (key.to_owned(), text))
    } else {
        error_in(status).or_else(|| {
            let parts = parts::of(object).into_iter();
            parts.map(|part| part.value).find_map(error_in)
        })
    };
    let (key, text) = own?;
    Some(Verdict::failed(key, text).by(CauseRule::Failed))
}

/// The first error among the fields of an object, with the name of its field. A message says more than a reason.
pub(super) fn error_in(holder: Value<'_>) -> Option<(String, String)> {
    let errors = holder.fields().filter(|(key, _)| is_error(key));
    let texts = errors.filter_map(|(key, value)| Some((key.into_owned(), error_text(value)?)));
    let mut texts: Vec<(String, String)> = texts.collect();
    texts.sort_by_key(|(key, _)| key.ends_with("Reason"));
    texts.into_iter().next()
}

fn is_error(key: &str) -> bool {
    let words = words_of(key);
    let whole = words.concat();
    let is_error = ERRORS.iter().any(|end| whole.ends_with(end));
    is_error && is_about_now(&words) && words.first().is_some_and(|first| first != "no")
}

/// The text of an error: a text that is not empty, or the first one in a list or an object.
fn error_text(value: Value<'_>) -> Option<String> {
    match value.kind() {
        Kind::String => {
            let text = value.as_str()?;
            let is_none = NO_ERROR.contains(&&*text.trim().to_lowercase());
            (!is_none).then(|| text.trim().to_owned())
        }
        Kind::Array => value.items().find_map(error_text),
        Kind::Object => {
            let keys = ["message", "description", "reason"].into_iter();
            let mut texts = keys.filter_map(|key| error_text(value.get(key)?));
            texts.next()
        }
        Kind::Null | Kind::Bool | Kind::Number => None,
    }
}

/// An object that is not ready or has failed by a truth value of its status, or of a part.
pub(super) fn flag(object: Value<'_>, _: Timestamp) -> Option<Verdict> {
    let status = read::object_at(object, &["status"])?;
    if is_settled(object) {
        return None;
    }
    let own = std::iter::once((String::new(), status));
    let parts = parts::of(object).into_iter();
    let holders = own.chain(parts.map(|part| (part.name, part.value)));
    let verdicts = holders.flat_map(|(name, holder)| {
        let fields = holder.fields();
        fields.filter_map(move |(key, value)| by_flag(&name, &key, value))
    });
    verdicts.max_by_key(|verdict| verdict.status)
}

fn by_flag(part: &str, key: &str, value: Value<'_>) -> Option<Verdict> {
    let words = words_of(key);
    let whole = words.concat();
    let is_true = value.as_bool().or_else(|| match &*value.as_str()? {
        "true" | "True" => Some(true),
        "false" | "False" => Some(false),
        _ => None,
    })?;
    let is_good = GOOD.contains(&&*whole);
    let field = match part {
        "" => key.to_owned(),
        part => format!("{part}: {key}"),
    };
    let text = format!("{field} is {is_true}");
    if is_good && !is_true && is_about_now(&words) {
        return Some(Verdict::in_progress(key, text).by(CauseRule::Unfinished));
    }
    (BAD.contains(&&*whole) && is_true).then(|| Verdict::failed(key, text).by(CauseRule::Failed))
}

/// An object with fewer working replicas, members or instances than it wants, by the counts of its status or of a part.
pub(super) fn count(object: Value<'_>, _: Timestamp) -> Option<Verdict> {
    let conditions = read::conditions(object).unwrap_or_default();
    let status = read::object_at(object, &["status"])?;
    let outweighs = |name: &&str| conditions.iter().any(|one| one.is(name, "True"));
    if COMPLETE.iter().any(outweighs) {
        return None;
    }
    let own = Counts {
        status,
        spec: read::object_at(object, &["spec"]),
    };
    let own = std::iter::once((String::new(), own));
    let parts = parts::of(object).into_iter().map(|part| {
        let counts = Counts {
            status: part.value,
            spec: None,
        };
        (part.name, counts)
    });
    let parts = parts.filter(|_| !is_settled(object));
    own.chain(parts).find_map(|(name, counts)| {
        let text = counts.too_few()?;
        let text = match &*name {
            "" => text,
            name => format!("{name}: {text}"),
        };
        Some(Verdict::in_progress("TooFew", text).by(CauseRule::Unfinished))
    })
}
