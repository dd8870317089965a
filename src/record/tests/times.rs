//! The law of times: a record of many files tells when something was written, and what was so at a time, as the server knows it.

use std::path::Path;

use jiff::{SignedDuration, Timestamp};
use proptest::prelude::*;

use super::Folder;
use super::played_faults::{Run, Server, Start, Step, WallClock, step};
use crate::object::ResourceVersion;
use crate::record::Store;
use crate::record::recorded_history::RecordedHistory;
use crate::source::{Select, SourceKey};
use crate::watch::{At, Page, Revision};

/// A history, and when each revision of it was written.
#[derive(Default)]
pub(super) struct DatedServer {
    pub(super) server: Server,
    written: Vec<(u64, Timestamp)>,
}

impl DatedServer {
    fn note(&mut self, now: Timestamp) {
        let newest = self.server.revision();
        if self.written.last().is_none_or(|(known, _)| *known < newest) {
            self.written.push((newest, now));
        }
    }

    /// The newest revision that was written before a time, or up to it.
    fn newest(&self, is_inside: impl Fn(Timestamp) -> bool) -> u64 {
        let inside = self.written.iter().filter(|(_, time)| is_inside(*time));
        inside.map(|(revision, _)| *revision).max().unwrap_or(1)
    }
}

/// Plays the steps. Recorders that run see each write at once.
pub(super) fn play_timely(path: &Path, steps: &[Step]) -> DatedServer {
    let mut dated = DatedServer::default();
    let clock = WallClock::new();
    dated.server.write(0, "first");
    dated.note(clock.now());
    let mut runs: [Option<Run>; 2] = [None, None];
    let mut at = 0;
    for step in steps {
        match step {
            Step::Write(name, data) => dated.server.write(*name, data),
            Step::Delete(name) => dated.server.delete(*name),
            Step::Forget => dated.server.oldest = dated.server.revision(),
            Step::Clock(seconds) => {
                clock.step(*seconds);
                runs.iter_mut().flatten().for_each(Run::beat);
            }
            Step::Other => at = 1 - at,
            Step::Start(start) if runs[at].is_none() => {
                runs[at] = Some(Run::start(path, &dated.server, &clock, *start));
            }
            Step::Stop | Step::Kill(_) => {
                if let Some(run) = runs[at].take() {
                    run.recording.finish().expect("written");
                }
            }
            Step::Reach => runs.iter_mut().flatten().for_each(Run::reach),
            Step::Commit => runs.iter_mut().flatten().for_each(Run::commit),
            Step::Deliver | Step::Start(_) => {}
        }
        dated.note(clock.now());
        for run in runs.iter_mut().flatten() {
            run.deliver(&dated.server);
        }
    }
    let last = runs[at].take();
    let mut last = last.unwrap_or_else(|| Run::start(path, &dated.server, &clock, Start::Resumed));
    last.deliver(&dated.server);
    last.reach();
    for run in runs.into_iter().flatten().chain([last]) {
        run.recording.finish().expect("written");
    }
    dated
}

pub(super) fn revision(number: u64) -> Revision {
    let version = ResourceVersion::new(number.to_string());
    Revision::parse(&version).expect("a number")
}

pub(super) fn check_times(
    record: &RecordedHistory,
    dated: &DatedServer,
) -> Result<(), TestCaseError> {
    let key = SourceKey::all("", "ConfigMap");
    for (number, written) in &dated.written {
        let Some(told) = record.time_of(&key, revision(*number)) else {
            continue;
        };
        let is_inside = told.from <= *written && told.until.is_none_or(|until| *written <= until);
        // What was there when the record began is older than it.
        let begin = record.begin_of(&key).expect("a beginning").since;
        prop_assert!(
            is_inside || *written <= begin,
            "{number} {written} {told:?}"
        );
    }
    for second in [-1, 0, 1, 20] {
        for (_, written) in &dated.written {
            let later = written.checked_add(SignedDuration::from_secs(second));
            let time = later.expect("a time");
            let Ok(Some(moment)) = record.moment(&key, time) else {
                continue;
            };
            prop_assert!(moment.until <= time);
            let oldest = revision(dated.newest(|written| written < moment.until));
            let newest = revision(dated.newest(|written| written <= time));
            let shown = moment.revision;
            prop_assert!(
                oldest <= shown && shown <= newest,
                "{time}: {oldest} {newest} {moment:?}"
            );
        }
    }
    Ok(())
}

/// The texts of an object that exist at a revision; `None` if that is not recorded.
fn listed(record: &RecordedHistory, key: &SourceKey, at: u64) -> Option<Vec<String>> {
    let page = record.page(key, &At::Exact(revision(at)), &Page::default());
    let page = page.ok()?;
    let texts = page.items.iter();
    Some(
        texts
            .map(|item| String::from_utf8_lossy(item).into_owned())
            .collect(),
    )
}

/// Whether questions about one object have the answers of those about all.
fn check_names(record: &RecordedHistory, dated: &DatedServer) -> Result<(), TestCaseError> {
    let all = SourceKey::all("", "ConfigMap");
    for at in 2..=dated.server.revision() {
        let Some(expect) = listed(record, &all, at) else {
            continue;
        };
        for name in 0..4 {
            let name = format!("flags-{name}");
            let one = SourceKey {
                select: Select::Name(name.as_str().into()),
                ..all.clone()
            };
            let named = format!(r#""name":"{name}""#);
            let expect: Vec<&String> = expect.iter().filter(|it| it.contains(&named)).collect();
            let shown = listed(record, &one, at).expect("recorded");
            prop_assert_eq!(
                shown.iter().collect::<Vec<_>>(),
                expect,
                "{} at {}",
                name,
                at
            );
        }
    }
    Ok(())
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(40))]

    #[test]
    fn times_and_revisions_find_each_other_in_many_files(
        steps in prop::collection::vec(step(1..40_000), 1..60),
    ) {
        let folder = Folder::new();
        let dated = play_timely(folder.path(), &steps);
        let store = Store::open(folder.path()).expect("a store");
        let record = RecordedHistory::open(&store.cluster("c1")).expect("files");
        let record = record.expect("a record");
        check_times(&record, &dated)?;
        check_names(&record, &dated)?;
    }
}
