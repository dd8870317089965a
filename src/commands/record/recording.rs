//! `LiveRecording`: passes the events of all sources to the recorder, and shows how far it has come.

use std::sync::Arc;
use std::time::Duration;

use futures::future::select_all;
use jiff::Timestamp;
use tokio::time::{Instant, sleep_until};

use super::cluster_recorder::{ClusterRecorder, RecordPlan, RecorderSetup, unrecorded};
use crate::commands::live::cluster_group::JoinedCluster;
use crate::commands::{CommandError, Live, Sources, Terminal};
use crate::record::{RecordProgress, UndeletedNews};
use crate::render::age::rfc3339;
use crate::render::count::{bytes, plural};
use crate::render::header_footer::{Freshness, ViewHeader};
use crate::render::style::Role;
use crate::render::text::Text;
use crate::source::{ClusterId, Event, SourceKey};
use crate::watch::{CatchUp, Subscriptions};

/// How often a pipe gets a line.
const LINE: Duration = Duration::from_secs(60);
/// How often the record learns that nothing has happened.
const HEARTBEAT: Duration = Duration::from_secs(10);

/// The recorders of all clusters.
pub(super) struct LiveRecording<'a> {
    setup: RecorderSetup<'a>,
    /// Of several clusters, those that have joined. Empty after the end.
    recorders: Vec<ClusterRecorder>,
    /// How many of them a pipe has a line about.
    announced: usize,
    /// Messages that are not printed yet.
    notes: Vec<String>,
    /// The directory of the store.
    place: String,
    started: Timestamp,
    /// The number of versions at the time of the last line, and that time.
    counted: (u64, Instant),
    next_line: Instant,
    next_heartbeat: Instant,
    /// Whether the last line said that nothing is written.
    has_trouble: bool,
    undeleted: UndeletedNews,
}

impl<'a> LiveRecording<'a> {
    /// No cluster is recorded yet.
    pub(super) fn new(
        setup: RecorderSetup<'a>,
        place: String,
        started: Timestamp,
    ) -> LiveRecording<'a> {
        let now = Instant::now();
        LiveRecording {
            setup,
            recorders: Vec::new(),
            announced: 0,
            notes: Vec::new(),
            place,
            started,
            counted: (0, now),
            next_line: now + LINE,
            next_heartbeat: now,
            has_trouble: false,
            undeleted: UndeletedNews::default(),
        }
    }

    /// The same, with a recorder that runs and has its line.
    pub(super) fn with(mut self, recorder: ClusterRecorder) -> LiveRecording<'a> {
        self.recorders.push(recorder);
        self.announced += 1;
        self
    }

    /// Writes everything, and prints how much there is. It fails if something could not be written.
    pub(super) fn finish(&mut self, terminal: &mut Terminal<'_>) -> Result<(), CommandError> {
        if self.recorders.is_empty() {
            return Ok(());
        }
        // An error of one recorder must not end the others before they have written everything.
        let finished = self.recorders.drain(..).map(ClusterRecorder::finish);
        let finished: Vec<_> = finished.collect();
        let finished: Vec<_> = finished.into_iter().collect::<Result<_, _>>()?;
        let progress = ClusterRecorder::total(finished.into_iter());
        if let Some(trouble) = progress.trouble {
            // Not all that was counted is in the files.
            return Err(CommandError::failed(format!("error: {trouble}")));
        }
        let line = progress_words(&progress, &rfc3339).join(", ");
        // The last frame stays above it.
        terminal.notify_lines([format!("recorded {line}")]);
        Ok(())
    }

    fn progress(&self) -> RecordProgress {
        let all = self.recorders.iter();
        ClusterRecorder::total(all.map(|it| (it.id.clone(), it.recorder.progress())))
    }

    fn recorder_mut(&mut self, key: &SourceKey) -> Option<&mut ClusterRecorder> {
        let mut all = self.recorders.iter_mut();
        all.find(|it| it.context == key.cluster)
    }

    fn recorder(&self, key: &SourceKey) -> Option<&ClusterRecorder> {
        let mut all = self.recorders.iter();
        all.find(|it| it.context == key.cluster)
    }

    /// What to record of a cluster that has joined: what no other context records; `None` if that is nothing. `notes` gets the
    /// messages. It fails if a value to redact is of a kind that the cluster does not have.
    fn plan(
        &self,
        joined: JoinedCluster<'_>,
        notes: &mut Vec<String>,
    ) -> Result<Option<RecordPlan>, CommandError> {
        let unknown = || CommandError::failed("error: the cluster has no identity");
        let record = joined.record.ok_or_else(unknown)?;
        let args = self.setup.args;
        let every = args.recorded(joined.every)?;
        // In other clusters the kind may exist.
        let redactions = args.redactions(&every).map_err(CommandError::failed)?;
        let mut keys = joined.session.keys(&every.targets);
        let is_recorded = |key: &SourceKey| {
            let mut all = self.recorders.iter();
            all.any(|it| it.records(&record.cluster.id, key))
        };
        keys.retain(|key| !is_recorded(key));
        if keys.is_empty() {
            let mut all = self.recorders.iter();
            let other = all.find(|it| it.id == record.cluster.id);
            notes.extend(other.map(|other| {
                format!("the same cluster as {}, which is recorded", other.context.0)
            }));
            return Ok(None);
        }
        notes.extend(unrecorded(&every));
        Ok(Some(RecordPlan {
            record,
            keys,
            redactions,
        }))
    }

    /// The number of versions in each second since the last line: `35.2/s`.
    fn rate(&self, progress: &RecordProgress) -> String {
        let (versions, since) = self.counted;
        let seconds = since.elapsed().as_secs_f64().max(1.0);
        let new = u32::try_from(progress.versions.saturating_sub(versions)).unwrap_or(u32::MAX);
        format!("{:.1}/s", f64::from(new) / seconds)
    }

    /// Reports that nothing can be written, or that old files stay, and the end of both.
    fn report_trouble(
        &mut self,
        progress: &RecordProgress,
        terminal: &mut Terminal<'_>,
    ) -> Result<(), CommandError> {
        if let Some(line) = self.undeleted.line(progress.undeleted.as_deref()) {
            terminal.notify(&line)?;
        }
        // Each try fails with a file of its own; one line is enough.
        if progress.trouble.is_some() == self.has_trouble {
            return Ok(());
        }
        self.has_trouble = progress.trouble.is_some();
        let line = match &progress.trouble {
            Some(trouble) => format!("not recording: {trouble}"),
            None => "recording again; the record has a hole".to_owned(),
        };
        Ok(terminal.notify(&line)?)
    }
}

impl Live for LiveRecording<'_> {
    fn wanted(&self) -> Vec<SourceKey> {
        let all = self.recorders.iter();
        all.flat_map(|it| it.keys.iter().cloned()).collect()
    }

    fn join(&mut self, joined: JoinedCluster<'_>) -> Result<Option<Vec<SourceKey>>, CommandError> {
        let (session, mut notes) = (joined.session, Vec::new());
        let mut keys = None;
        if let Some(plan) = self.plan(joined, &mut notes)? {
            let mut note = |text: &str| notes.push(text.to_owned());
            let recorder = self.setup.start(plan, session, &mut note)?;
            keys = Some(recorder.keys.clone());
            self.recorders.push(recorder);
        }
        let notes = notes.iter();
        let notes = notes.map(|note| format!("{}: {note}", session.cluster.0));
        self.notes.extend(notes);
        Ok(keys)
    }

    fn reports_waiting(&self) -> bool {
        false
    }

    fn catch_up(&self) -> CatchUp {
        CatchUp::Every
    }

    fn apply(&mut self, key: &Arc<SourceKey>, event: Event, _now: Timestamp) {
        if let Some(recorder) = self.recorder_mut(key) {
            recorder.record(key, event);
        }
    }

    fn holds(&self, key: &SourceKey) -> bool {
        self.recorder(key).is_some_and(|it| it.recorder.is_full())
    }

    fn reach(&mut self, subscriptions: &Subscriptions) {
        let now = Instant::now();
        if now < self.next_heartbeat {
            return;
        }
        self.next_heartbeat = now + HEARTBEAT;
        for (key, version) in subscriptions.reached() {
            if let Some(recorder) = self.recorder(key) {
                recorder.recorder.reach(key, version);
            }
        }
    }

    async fn wait_for_other(&mut self) {
        let recorders = self.recorders.iter().map(|it| &it.recorder);
        let full = recorders.filter(|recorder| recorder.is_full());
        let rooms: Vec<_> = full.map(|recorder| Box::pin(recorder.room())).collect();
        if rooms.is_empty() {
            sleep_until(self.next_line).await;
        } else {
            select_all(rooms).await;
        }
    }

    fn print(
        &mut self,
        sources: &Sources,
        terminal: &mut Terminal<'_>,
    ) -> Result<(), CommandError> {
        for note in std::mem::take(&mut self.notes) {
            terminal.notify(&note)?;
        }
        for new in &self.recorders[self.announced..] {
            if !terminal.is_live() {
                terminal.notify(&recording_line(&new.context, &self.place))?;
            }
        }
        self.announced = self.recorders.len();
        let progress = self.progress();
        self.report_trouble(&progress, terminal)?;
        let now = Instant::now();
        if now < self.next_line {
            return Ok(());
        }
        self.next_line = now + LINE;
        let rate = self.rate(&progress);
        self.counted = (progress.versions, now);
        if terminal.is_live() {
            return Ok(());
        }
        let time = rfc3339(terminal.env().now());
        let mut words = progress_words(&progress, &rfc3339);
        words.push(rate);
        words.extend(sources.live_clusters());
        Ok(terminal.print([format!("{time} {}", words.join(", "))])?)
    }

    fn draw(&mut self, sources: &Sources, terminal: &mut Terminal<'_>) -> Result<(), CommandError> {
        let progress = self.progress();
        let canvas = terminal.frame_canvas(self.started).narrowed();
        let connection = sources.connection(canvas);
        let header = ViewHeader {
            name: "recording".to_owned(),
            facts: vec![self.place.clone()],
            ..ViewHeader::default()
        };
        let zone = terminal.env().zone.clone();
        let time = |time: Timestamp| {
            let time = time.to_zoned(zone.clone());
            time.strftime("%a %Y-%m-%d %H:%M").to_string()
        };
        let mut words = progress_words(&progress, &time);
        words.push(self.rate(&progress));
        let mut frame = vec![header.line(canvas), words.join("  ").into()];
        if let Some(trouble) = &progress.trouble {
            frame.push(Text::new(Role::Bad, format!("not recording: {trouble}")));
        }
        if let Some(cause) = &progress.undeleted {
            let line = format!("cannot delete old files: {cause}");
            frame.push(Text::new(Role::Warning, line));
        }
        frame.extend(connection.refusals());
        let footer = Freshness {
            objects: progress.objects,
            ..connection
        };
        frame.push(footer.footer(canvas));
        Ok(terminal.draw(canvas.cut(frame))?)
    }

    fn is_answered(&self, _sources: &Sources) -> bool {
        false
    }
}

/// `recording prod-eu in /var/lib/spy`.
pub(super) fn recording_line(context: &ClusterId, place: &str) -> String {
    format!("recording {} in {place}", context.0)
}

/// How far a recording has come, in words.
fn progress_words(progress: &RecordProgress, time: &dyn Fn(Timestamp) -> String) -> Vec<String> {
    let count = |count: u64| usize::try_from(count).unwrap_or(usize::MAX);
    let mut words = vec![
        plural(progress.objects, "object"),
        plural(count(progress.versions), "version"),
        format!(
            "{} in {}",
            bytes(progress.bytes),
            plural(progress.files, "file")
        ),
        plural(count(progress.gaps), "gap"),
    ];
    words.extend(
        progress
            .oldest
            .map(|oldest| format!("since {}", time(oldest))),
    );
    words
}
