//! `changes -o json`: one record per line.

use jiff::Timestamp;

use super::{Audience, Format, VersionView};
use crate::commands::changes::output::{DisplayOptions, Rendered};
use crate::commands::versions::{
    Compared, Occurrence, TimelineEntry, TwoLives, VersionEvent, WriteTime, known,
};
use crate::object::managed_fields::Writers;
use crate::object::{Doc, ParseError, ResourceVersion};
use crate::render::age::rfc3339_millis;
use crate::render::diff::{ChangeType, selected};
use crate::render::json::changes::{
    ChangeEntry, ChangeRecord, FormerRecord, NoticeBody, StatusChange, actors, entry, raw,
};
use crate::render::json::{RefRecord, VERSION, line};
use crate::source::Version;
use crate::status::{Rules, compute};

/// `-o json`: a record for every version, also for those with only noise.
pub(super) struct Json;

impl Format for Json {
    fn audience(&self) -> Audience {
        Audience::Records
    }

    fn prints(&self, compared: &Compared<'_>) -> bool {
        compared.is_by_named
    }

    fn version(&self, view: &VersionView<'_>) -> Rendered {
        Rendered::lines(vec![record(view).into()])
    }
}

/// The record of an entry without a version.
pub(crate) fn notice_record(options: &DisplayOptions, entry: &TimelineEntry) -> Option<String> {
    let body = match &entry.what {
        Occurrence::Version(_) => return None,
        Occurrence::Synced { count } => NoticeBody::Synced { count: *count },
        Occurrence::Gap(gap) => {
            let version = |version| known(version).map(ResourceVersion::as_str);
            NoticeBody::Gap {
                after: version(&gap.after),
                upto: version(&gap.upto),
                cause: gap.cause.name(),
            }
        }
        Occurrence::Undecodable { detail } => NoticeBody::Line { cause: detail },
        Occurrence::State(note) => NoticeBody::State {
            state: note.state,
            cause: note.cause.as_deref(),
        },
    };
    Some(notice(options, body, entry))
}

/// The record of a version that cannot be read.
pub(crate) fn unreadable_record(
    options: &DisplayOptions,
    entry: &TimelineEntry,
    event: &VersionEvent,
    error: &ParseError,
) -> String {
    let body = NoticeBody::Version {
        cause: &error.to_string(),
        event: event.change,
        object_ref: RefRecord::new(options.cluster.clone(), &event.now.object),
        from: event.old.as_deref().and_then(number),
        to: number(&event.now),
    };
    notice(options, body, entry)
}

/// The record of a version. It has the whole object if the previous version could not be read.
fn record(view: &VersionView<'_>) -> String {
    let (options, compared) = (view.options, view.compared);
    let event = compared.read.event;
    let past = compared.past(view.entry);
    let old = compared.read.old();
    let change = event.change;
    let is_whole = change.is_creation()
        || change == ChangeType::Deleted
        || (event.old.is_some() && old.is_none());
    // The last state of an object has no time of deletion.
    let is_dated = old.is_some() || !event.is_end();
    let written = compared.written.filter(|_| is_dated);
    let time = past.map(|past| past.time);
    let owned = |version: &Version| number(version).map(str::to_owned);
    line(&ChangeRecord {
        v: VERSION,
        change,
        past: past.is_some(),
        time: time
            .or_else(|| written.and_then(WriteTime::exact))
            .map(rfc3339_millis),
        time_until: past.and_then(|past| past.until).map(rfc3339_millis),
        seen: past.is_none().then(|| rfc3339_millis(view.entry.seen)),
        object_ref: RefRecord::new(options.cluster.clone(), &event.now.object),
        from: old.and_then(|old| owned(old.version)),
        to: owned(&event.now),
        actors: match change {
            ChangeType::Baseline => Vec::new(),
            _ => actors(&compared.writers),
        },
        changes: entries(options, compared),
        hidden: compared.counts.noise.clone(),
        status: status_change(compared, time.unwrap_or(view.entry.seen)),
        former: former(options, compared),
        object: is_whole.then(|| raw(options.redactor.shown(compared.read.doc.root()))),
    })
}

/// How a new version changes the status of its object, judged at this time.
fn status_change(compared: &Compared<'_>, at: Timestamp) -> Option<StatusChange> {
    let old = compared.read.old()?;
    let status = |doc: &Doc| compute(doc.root(), at, Rules::Spy).status;
    let (from, to) = (status(old.doc), status(&compared.read.doc));
    let is_change = compared.change() == ChangeType::Modified && from != to;
    is_change.then(|| StatusChange {
        from: from.as_str(),
        to: to.as_str(),
    })
}

fn entries(options: &DisplayOptions, compared: &Compared<'_>) -> Vec<ChangeEntry> {
    let Some(diff) = &compared.diff else {
        return Vec::new();
    };
    let changes = selected(diff, &options.shown.filter, &compared.noise);
    changes
        .map(|change| entry(diff, &compared.writers, &options.redactor, change))
        .collect()
}

/// How a re-created object differs from the deleted one. Nobody is the author of that.
fn former(options: &DisplayOptions, compared: &Compared<'_>) -> Option<FormerRecord> {
    let lives = TwoLives::of(compared.read)?;
    let nobody = Writers::of(None, None);
    let changes = selected(&lives.diff, &options.shown.filter, &compared.noise);
    Some(FormerRecord {
        version: number(lives.former).map(str::to_owned),
        changes: changes
            .map(|change| entry(&lives.diff, &nobody, &options.redactor, change))
            .collect(),
    })
}

fn notice(options: &DisplayOptions, body: NoticeBody<'_>, entry: &TimelineEntry) -> String {
    let (seen, source) = (rfc3339_millis(entry.seen), entry.key.to_string());
    line(&body.record(&seen, &options.cluster, Some(&source)))
}

fn number(version: &Version) -> Option<&str> {
    known(&version.version).map(ResourceVersion::as_str)
}
