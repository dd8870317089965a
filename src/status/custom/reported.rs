//! What the fields of a status report: a state in one word, errors, truth values and counts.

use std::borrow::Cow;

use jiff::Timestamp;

use crate::object::{Kind, Value};
use crate::status::cause_rule::CauseRule;
use crate::status::parts::is_about_now;
use crate::status::polarity::Summary;
use crate::status::verdict::Verdict;
use crate::status::words::{Meaning, is_absence, meaning, words_of};
use crate::status::{parts, read};

use super::counts::Counts;

/// How the name of a field ends that has a state in one word: `phase`, `lifecycleState`, `PostgresClusterStatus`.
const STATES: &[&str] = &[
    "compliant",
    "health",
    "phase",
    "result",
    "robustness",
    "stage",
    "state",
    "status",
];

/// How the name of an object in a status ends whose state is that of the whole: `lastUpdate.state`, `cluster.status`.
const WHOLES: &[&str] = &[
    "application",
    "ceph",
    "cluster",
    "job",
    "operation",
    "sync",
    "update",
];

/// How the name of a kind ends whose objects run once and come to an end.
const RUNS: &[&str] = &[
    "backup",
    "build",
    "evaluation",
    "execution",
    "experiment",
    "job",
    "migration",
    "request",
    "restore",
    "run",
    "task",
    "workflow",
];

/// The fields that explain a state, the best first.
const EXPLANATIONS: [&str; 8] = [
    "message",
    "failureMessage",
    "errorMessage",
    "errorDescription",
    "error",
    "failureReason",
    "reason",
    "phaseReason",
];

/// The words of a state that its makers spell as a number, with `reportedBy` beside it
/// (<https://docs.solo.io/gloo-edge/latest/reference/api/github.com/solo-io/solo-kit/api/v1/status.proto.sk/>).
const NUMBERED: [&str; 4] = ["Pending", "Accepted", "Rejected", "Warning"];

/// Longer names of fields that say whether the whole object is switched on.
const POWER: &[&str] = &["powerState", "printableStatus"];

/// States that are Current when they say that they have reached what the spec demands.
const ARRIVED: &[&str] = &["AtLatestKnown", "UpToDate"];

/// The state of an object or of a part in one word.
struct StateWord<'a> {
    /// The field, for people: `phase`, `cluster.status`.
    field: String,
    word: Cow<'a, str>,
    meaning: Option<Meaning>,
    /// The object with the field, where its explanation is.
    holder: Value<'a>,
}

/// An object whose phase or state reports a failure, or work that is not done.
pub(super) fn of_whole(object: Value<'_>, _: Timestamp) -> Option<Verdict> {
    let words = own(object);
    let has = |wanted| words.iter().any(|word| word.meaning == Some(wanted));
    let is_paused = has(Meaning::Paused);
    let counting = words
        .iter()
        .filter(|word| !is_paused || !is_absence(&word.word));
    let verdicts = counting.filter_map(|word| word.verdict(object));
    let worst = verdicts.max_by_key(|verdict| verdict.status);
    worst.or_else(|| running(object, &words))
}

/// A run that is not over: a Job, a backup or a test run of any maker, as a Job of Kubernetes.
fn running(object: Value<'_>, words: &[StateWord<'_>]) -> Option<Verdict> {
    let kind = words_of(&object.str_at(&["kind"])?);
    let is_run = kind.last().is_some_and(|last| RUNS.contains(&&**last));
    let repeats = kind
        .iter()
        .any(|word| word == "cron" || word == "scheduled");
    let running = words
        .iter()
        .find(|word| word.word.eq_ignore_ascii_case("running"))?;
    let text = format!("its {} is {}", running.field, running.word);
    let is_unfinished = is_run && !repeats;
    is_unfinished.then(|| Verdict::in_progress(&*running.word, text).by(CauseRule::Unfinished))
}

/// An object with a part that has failed, or whose work is not done. What reports that it is well as a whole can do without.
pub(super) fn of_parts(object: Value<'_>, _: Timestamp) -> Option<Verdict> {
    if is_settled(object) {
        return None;
    }
    let verdicts = parts::of(object).into_iter().flat_map(|part| {
        let words = in_fields(part.value, &part.name).into_iter();
        words.filter_map(move |word| word.verdict(part.value))
    });
    verdicts.max_by_key(|verdict| verdict.status)
}

/// Whether a condition or a state says that the object as a whole is well.
pub(in crate::status) fn is_settled(object: Value<'_>) -> bool {
    let conditions = read::conditions(object).unwrap_or_default();
    Summary::of(&conditions).is_well || has(object, Meaning::Settled)
}

/// Whether a state of the object reports that it is paused.
pub(in crate::status) fn paused(object: Value<'_>) -> Option<String> {
    let mut words = own(object).into_iter();
    let found = words.find(|word| {
        let (_, name) = word.field.rsplit_once('.').unwrap_or(("", &word.field));
        let is_whole = words_of(name).len() == 1 || POWER.contains(&name);
        word.meaning == Some(Meaning::Paused) && is_whole
    })?;
    Some(format!("its {} is {}", found.field, found.word))
}

/// Whether a state says that the object has reached what its spec demands.
pub(in crate::status) fn has_arrived(object: Value<'_>) -> bool {
    own(object)
        .iter()
        .any(|word| ARRIVED.contains(&&*word.word))
}

fn has(object: Value<'_>, wanted: Meaning) -> bool {
    own(object).iter().any(|word| word.meaning == Some(wanted))
}

/// The states of the whole object: those in its status, and those one level down that are about the whole.
fn own(object: Value<'_>) -> Vec<StateWord<'_>> {
    let Some(status) = read::object_at(object, &["status"]) else {
        return Vec::new();
    };
    let mut found = in_fields(status, "");
    for (key, inner) in status.fields() {
        let words = words_of(&key);
        let is_whole =
            is_state(&words) || words.last().is_some_and(|last| WHOLES.contains(&&**last));
        if inner.kind() == Kind::Object && is_whole && is_about_now(&words) {
            found.extend(in_fields(inner, &key));
        }
    }
    found
}

/// The states in the fields of one object.
fn in_fields<'a>(holder: Value<'a>, place: &str) -> Vec<StateWord<'a>> {
    let mut found = Vec::new();
    for (key, value) in holder.fields() {
        let words = words_of(&key);
        if !is_state(&words) || !is_about_now(&words) {
            continue;
        }
        let Some(word) = value.as_str().or_else(|| numbered(holder, value)) else {
            continue;
        };
        let field = match place {
            "" => key.into_owned(),
            place => format!("{place}.{key}"),
        };
        // A volume of Longhorn that has lost a replica still works
        // (<https://longhorn.io/docs/latest/references/settings/>).
        let meaning = match &*word {
            "degraded" if words.concat() == "robustness" => Some(Meaning::Unfinished),
            word => meaning(word),
        };
        found.push(StateWord {
            field,
            word,
            meaning,
            holder,
        });
    }
    found
}

fn is_state(words: &[String]) -> bool {
    words.last().is_some_and(|last| STATES.contains(&&**last))
}

/// The word of a state that is spelt as a number.
fn numbered<'a>(holder: Value<'a>, value: Value<'a>) -> Option<Cow<'a, str>> {
    holder.get("reportedBy")?;
    let word = NUMBERED.get(usize::try_from(value.as_i64()?).ok()?)?;
    Some(Cow::Borrowed(word))
}

impl StateWord<'_> {
    /// The verdict on an object in this state; `None` if it is no problem.
    fn verdict(&self, object: Value<'_>) -> Option<Verdict> {
        let rule = match self.meaning? {
            Meaning::Failed => CauseRule::Failed,
            Meaning::Unfinished => CauseRule::Unfinished,
            Meaning::Settled | Meaning::Paused => return None,
        };
        let holders = [Some(self.holder), read::object_at(object, &["status"])];
        let texts = holders.into_iter().flatten().flat_map(|holder| {
            EXPLANATIONS
                .into_iter()
                .map(move |key| read::text_or(holder, &[key], ""))
        });
        let text = texts.into_iter().find(|text| !text.is_empty());
        let text = text.or_else(|| Some(error_in(self.holder)?.1.into()));
        let text = text.unwrap_or_else(|| format!("its {} is {}", self.field, self.word).into());
        let verdict: fn(_, _) -> Verdict = match rule {
            CauseRule::Failed => Verdict::failed,
            _ => Verdict::in_progress,
        };
        let word: &str = &self.word;
        Some(verdict(word, text.into_owned()).by(rule))
    }
}

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
