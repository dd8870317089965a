//! `LiveRecording`: passes the events of all sources to the recorder, and shows how far it has come.

use std::sync::Arc;
use std::time::Duration;

use jiff::Timestamp;
use tokio::time::{Instant, sleep_until};

use crate::commands::{CommandError, Live, Sources, Terminal};
use crate::record::{RecordProgress, Recorder};
use crate::render::age::rfc3339;
use crate::render::count::{bytes, plural};
use crate::render::header_footer::{Freshness, ViewHeader};
use crate::source::{Event, SourceKey};
use crate::watch::{CatchUp, Subscriptions};

/// How often a pipe gets a line.
const LINE: Duration = Duration::from_secs(60);
/// How often the record learns that nothing has happened.
const HEARTBEAT: Duration = Duration::from_secs(10);

/// The sources that are recorded, and the recorder.
pub(super) struct LiveRecording {
    keys: Vec<SourceKey>,
    /// `None` after the end.
    recorder: Option<Recorder>,
    /// The directory of the store.
    place: String,
    started: Timestamp,
    /// The number of versions at the time of the last line, and that time.
    counted: (u64, Instant),
    next_line: Instant,
    next_heartbeat: Instant,
    /// Whether the last line said that nothing is written.
    has_trouble: bool,
}

impl LiveRecording {
    pub(super) fn new(
        keys: Vec<SourceKey>,
        recorder: Recorder,
        place: String,
        started: Timestamp,
    ) -> LiveRecording {
        let now = Instant::now();
        LiveRecording {
            keys,
            recorder: Some(recorder),
            place,
            started,
            counted: (0, now),
            next_line: now + LINE,
            next_heartbeat: now,
            has_trouble: false,
        }
    }

    /// Writes everything, and says how much there is. It fails if something could not be written.
    pub(super) fn finish(&mut self, terminal: &mut Terminal<'_>) -> Result<(), CommandError> {
        let Some(recorder) = self.recorder.take() else {
            return Ok(());
        };
        let progress = recorder.finish()?;
        let line = progress_words(&progress, &rfc3339).join(", ");
        terminal.notify(&format!("recorded {line}"))?;
        match progress.trouble {
            Some(trouble) => Err(CommandError::failed(format!("error: {trouble}"))),
            None => Ok(()),
        }
    }

    fn progress(&self) -> RecordProgress {
        self.recorder
            .as_ref()
            .map(Recorder::progress)
            .unwrap_or_default()
    }

    /// The number of versions in each second since the last line: `35.2/s`.
    fn rate(&self, progress: &RecordProgress) -> String {
        let (versions, since) = self.counted;
        let seconds = since.elapsed().as_secs_f64().max(1.0);
        let new = u32::try_from(progress.versions.saturating_sub(versions)).unwrap_or(u32::MAX);
        format!("{:.1}/s", f64::from(new) / seconds)
    }

    /// Reports that nothing can be written, and that it can be again.
    fn report_trouble(
        &mut self,
        progress: &RecordProgress,
        terminal: &mut Terminal<'_>,
    ) -> Result<(), CommandError> {
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

impl Live for LiveRecording {
    fn wanted(&self) -> Vec<SourceKey> {
        self.keys.clone()
    }

    fn reports_waiting(&self) -> bool {
        false
    }

    fn catch_up(&self) -> CatchUp {
        CatchUp::Every
    }

    fn apply(&mut self, key: &Arc<SourceKey>, event: Event, _now: Timestamp) {
        if let Some(recorder) = &self.recorder {
            recorder.record(key, event);
        }
    }

    fn holds(&self, _key: &SourceKey) -> bool {
        self.recorder.as_ref().is_some_and(Recorder::is_full)
    }

    fn reach(&mut self, subscriptions: &Subscriptions) {
        let now = Instant::now();
        let Some(recorder) = self
            .recorder
            .as_ref()
            .filter(|_| now >= self.next_heartbeat)
        else {
            return;
        };
        self.next_heartbeat = now + HEARTBEAT;
        for (key, version) in subscriptions.reached() {
            recorder.reach(key, version);
        }
    }

    async fn wait_for_other(&mut self) {
        match &self.recorder {
            Some(recorder) if recorder.is_full() => recorder.room().await,
            Some(_) | None => sleep_until(self.next_line).await,
        }
    }

    fn print(
        &mut self,
        _sources: &Sources,
        terminal: &mut Terminal<'_>,
    ) -> Result<(), CommandError> {
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
        let words = progress_words(&progress, &rfc3339).join(", ");
        Ok(terminal.print(&[format!("{time} {words}, {rate}")])?)
    }

    fn draw(&mut self, sources: &Sources, terminal: &mut Terminal<'_>) -> Result<(), CommandError> {
        let progress = self.progress();
        let canvas = terminal.frame_canvas(self.started);
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
        let mut frame = vec![header.line(canvas), words.join("  ")];
        if let Some(trouble) = &progress.trouble {
            let trouble = crate::render::text::escape_line(trouble);
            frame.push(canvas.look.styles.bad(&format!("not recording: {trouble}")));
        }
        frame.extend(connection.refusals(canvas.look));
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
