//! The last lines that stand before the error of a wait that failed, or that came to its time limit.

use std::borrow::Cow;
use std::cmp::Reverse;
use std::time::Duration;

use jiff::Timestamp;

use super::last_lines::{shortened, texts};
use super::tail_reader::{ReadTail, TailReader};
use super::unwell_instance::{JudgedObject, LineOrigin, UnwellInstance, UnwellInstanceKey};
use super::{FORBIDDEN, FailureLogs, LogLineArgs, MOST_OBJECTS, worst_state};
use crate::source::log::LogContainer;
use crate::watch::logs::LogFeeds;

/// How long the error may wait for logs.
const PATIENCE: Duration = Duration::from_secs(1);

/// The most characters of one line.
const LONGEST: usize = 2000;

/// How much of the log of an instance was shown during the wait.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum ShownPart {
    None,
    /// The lines up to this time.
    Until(Timestamp),
    /// All of it, or why it cannot be read.
    Whole,
}

/// The last lines of the containers that keep these objects from being well, with headings. It reads at most three
/// logs, and takes at most a second. Lines that were `shown` before are left out.
pub(crate) async fn lines_before_error(
    mut objects: Vec<JudgedObject<'_>>,
    feeds: LogFeeds,
    args: LogLineArgs,
    shown: impl Fn(&LogContainer, &str) -> ShownPart,
) -> Vec<String> {
    let shown = |unwell: &UnwellInstance| shown(&unwell.container, &unwell.instance.id);
    objects.sort_by_key(|object| Reverse(worst_state(object.model, &object.uid)));
    objects.truncate(MOST_OBJECTS);
    let chosen = distinct(UnwellInstance::late(&objects));
    let order: Vec<UnwellInstanceKey> = chosen.iter().map(UnwellInstance::key).collect();
    let place = NamespaceSpread::of(&chosen);
    let mut reader = TailReader::new(feeds);
    let is_shown = |unwell: &UnwellInstance| shown(unwell) == ShownPart::Whole;
    for unwell in chosen.into_iter().filter(|unwell| !is_shown(unwell)) {
        reader.open(unwell, args.before_error(), PATIENCE);
    }
    let mut read: Vec<ReadTail> = Vec::new();
    while reader.is_busy() {
        read.push(reader.next().await);
    }
    read.sort_by_key(|tail| order.iter().position(|key| *key == tail.unwell.key()));
    read.retain_mut(|tail| match shown(&tail.unwell) {
        ShownPart::None => true,
        ShownPart::Until(newest) => {
            tail.lines.retain(|line| line.time > newest);
            !tail.lines.is_empty()
        }
        ShownPart::Whole => false,
    });
    lines(&read, place)
}

/// The first few instances, one for each owner of Pods, name of a container and exit. The first one of each owner comes before
/// the others of any.
fn distinct(instances: Vec<UnwellInstance>) -> Vec<UnwellInstance> {
    let mut chosen: Vec<UnwellInstance> = Vec::new();
    let mut others: Vec<UnwellInstance> = Vec::new();
    for unwell in instances {
        let mut known = chosen.iter().chain(&others);
        if known.any(|other| other.kind == unwell.kind) {
            continue;
        }
        let is_known_owner = chosen
            .iter()
            .any(|other| other.kind.owner == unwell.kind.owner);
        let place = if is_known_owner {
            &mut others
        } else {
            &mut chosen
        };
        place.push(unwell);
    }
    chosen.append(&mut others);
    chosen.truncate(FailureLogs::MOST);
    chosen
}

/// Whether the Pods are in several namespaces.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum NamespaceSpread {
    One,
    Several,
}

impl NamespaceSpread {
    fn of(instances: &[UnwellInstance]) -> NamespaceSpread {
        let namespace = |unwell: &UnwellInstance| unwell.container.pod.namespace.clone();
        let mut pairs = instances.windows(2);
        if pairs.all(|pair| namespace(&pair[0]) == namespace(&pair[1])) {
            NamespaceSpread::One
        } else {
            NamespaceSpread::Several
        }
    }
}

/// What to print about these logs.
fn lines(read: &[ReadTail], place: NamespaceSpread) -> Vec<String> {
    let mut lines = Vec::new();
    let mut is_lack_said = false;
    for tail in read {
        let name = name(tail, place);
        if let Some(problem) = &tail.problem
            && tail.lines.is_empty()
        {
            let is_lack = problem.code == FORBIDDEN;
            if !(is_lack && is_lack_said) {
                lines.push(format!("no last lines of {name}: {}", problem.text));
            }
            is_lack_said |= is_lack;
            continue;
        }
        let texts = texts(&tail.lines);
        let texts: Vec<&String> = texts.iter().filter(|text| !text.is_empty()).collect();
        if texts.is_empty() {
            lines.push(format!("the log of {name} is empty"));
            continue;
        }
        lines.push(format!("last lines of {name}{}:", how(tail)));
        let texts = texts.into_iter();
        lines.extend(texts.map(|text| format!("  {}", shortened(text, LONGEST))));
    }
    lines
}

/// `pod/web-1 app`, with its namespace if there are several.
fn name(tail: &ReadTail, place: NamespaceSpread) -> Cow<'static, str> {
    let container = &tail.unwell.container;
    match (&container.pod.namespace, place) {
        (Some(namespace), NamespaceSpread::Several) => format!("{container} -n {namespace}").into(),
        _ => container.to_string().into(),
    }
}

/// ` (instance 3, exit 1)`. It claims nothing if the lines may be those of the next instance.
fn how(tail: &ReadTail) -> String {
    let instance = &tail.unwell.instance;
    match &instance.exit {
        None => " (running, not ready)".to_owned(),
        Some(_) if tail.unwell.origin(&tail.lines) == LineOrigin::Unknown => String::new(),
        Some(exit) => format!(" (instance {}, {exit})", instance.attempt.saturating_add(1)),
    }
}
