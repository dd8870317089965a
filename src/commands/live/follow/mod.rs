//! The loop of every live verb: it turns events into lines and frames, until the output is complete or it is
//! stopped.

mod feed;

use std::future::pending;
use std::sync::Arc;
use std::time::Duration;

use futures::FutureExt;
use futures::stream::{FuturesUnordered, StreamExt};
use jiff::Timestamp;
use tokio::time::{Instant, Interval, MissedTickBehavior, interval, sleep_until};

use super::shutdown::Suspension;
use crate::commands::{
    CommandError, Ended, Need, Note, Session, Signal, Sources, Stop, Terminal, UnreadPart,
};
use crate::env::{Keys, Typed, restore_terminal};
use crate::model::Model;
use crate::render::canvas::ExitKey;
use crate::source::{Event, SourceKey};
use crate::watch::CatchUp;
use feed::LiveFeed;

/// Follows the sources that `view` wants, until the output is complete, the sources have ended, or `stop`
/// comes.
pub(crate) async fn follow(
    view: &mut impl Live,
    session: &Session,
    terminal: &mut Terminal<'_>,
    stop: &mut Stop,
) -> Result<Ended, CommandError> {
    let mut feed = LiveFeed::of(session, stop);
    let ended = feed.run(view, terminal).await;
    let ended = ended.and_then(|ended| feed.ending(ended));
    feed.report_met(terminal)?;
    let shown = feed.leave(view, terminal, &ended);
    match feed.stop.shutdown.wait().now_or_never() {
        // A terminal that has hung up accepts no more output.
        Some(Some(Signal::Hangup)) => return Ok(Ended::By(Signal::Hangup)),
        Some(_) | None => shown?,
    }
    tokio::select! {
        biased;
        wrote = terminal.wait_until_written() => wrote?,
        _ = feed.stop.shutdown.wait() => terminal.wait_while_read().await?,
    }
    let silence = match &ended {
        Ok(Ended::OutOfTime) if feed.stop.takes_silence => session.silence().await,
        Ok(_) | Err(_) => None,
    };
    if let Ok(ended) = &ended {
        let lines = feed.stop.last_lines(*ended, view.model(), session).await;
        terminal.notify_painted(|_| lines.clone());
    }
    let ended = ended.and_then(|ended| feed.stop.end(ended, &feed.sources, session));
    let lost = silence.filter(|_| feed.stop.unread.is_empty());
    feed.stop.unread.extend(lost.map(UnreadPart::Refused));
    feed.stop.unread.append(&mut feed.unread);
    ended
}

/// What was looked up about a missing object, or about a namespace in which there is nothing.
enum LookedUp {
    /// What the user may have meant by the name of an object.
    Names(Arc<SourceKey>, Vec<String>),
    /// That a namespace does not exist; `None` if it may.
    Namespace(Option<String>),
}

async fn look_up_names(session: &Session, key: Arc<SourceKey>) -> LookedUp {
    let suggestions = session.suggestions(&key).await.texts(None);
    LookedUp::Names(key, suggestions)
}

async fn look_up_namespace(session: &Session, namespace: Arc<str>) -> LookedUp {
    LookedUp::Namespace(session.absent_namespace(&namespace).await)
}

impl LiveFeed<'_> {
    async fn run<V: Live>(
        &mut self,
        view: &mut V,
        terminal: &mut Terminal<'_>,
    ) -> Result<Ended, CommandError> {
        let mut beat = interval(if terminal.is_live() { FRAME } else { BEAT });
        beat.set_missed_tick_behavior(MissedTickBehavior::Delay);
        let mut suspended = Suspension::listen()?;
        let session = self.session;
        let mut keyboard = Keyboard::listen(session, terminal);
        let mut lookups = FuturesUnordered::new();
        loop {
            tokio::select! {
                biased;
                wrote = terminal.wait_until_written() => wrote?,
                signal = self.stop.shutdown.wait() => return self.stopped(view, terminal, signal).await,
            }
            self.reconcile(view, terminal);
            tokio::select! {
                event = self.events.next(), if !self.waits_for_frame(view, terminal) => match event {
                    Some(event) => self.take(event, view, terminal)?,
                    // Output that is not printed yet may lead to other sources.
                    None if self.printing.is_owed => {
                        self.print_owed(view, terminal)?;
                        self.drawing.is_owed = true;
                    }
                    None => {
                        self.print_last(view, terminal)?;
                        return Ok(Ended::Answered);
                    }
                },
                () = sleep_until(self.printing.rests_until), if self.printing.is_owed => {}
                () = view.wait_for_other() => {
                    self.printing.is_owed = true;
                    self.print_owed(view, terminal)?;
                    self.drawing.is_owed = true;
                }
                now = beat.tick() => self.on_beat(now, view, terminal)?,
                Some(found) = lookups.next() => self.report(found, terminal)?,
                () = suspended.asked() => self.suspend(terminal).await?,
                typed = keyboard.typed(session) => {
                    if let Some(ended) = self.obey(typed, view, terminal).await? {
                        return Ok(ended);
                    }
                }
                signal = self.stop.shutdown.wait() => return self.stopped(view, terminal, signal).await,
            }
            self.print_if_due(view, terminal)?;
            self.fail_if_refused(view, terminal)?;
            if self.is_over(&*view)? {
                self.print_before_goal(view, terminal).await?;
                return Ok(Ended::Answered);
            }
            if view.reports_waiting() {
                let absent = self.sources.take_absent().into_iter();
                lookups.extend(absent.map(|key| look_up_names(session, key).boxed_local()));
                let empty = self.sources.take_empty_namespaces().into_iter();
                lookups.extend(empty.map(|name| look_up_namespace(session, name).boxed_local()));
            }
        }
    }

    /// Leaves the last frame on the screen, or clears a frame that shows nothing.
    fn leave(
        &self,
        view: &mut impl Live,
        terminal: &mut Terminal<'_>,
        ended: &Result<Ended, CommandError>,
    ) -> Result<(), CommandError> {
        if ended.is_ok() && terminal.is_live() {
            view.finish(&self.sources, terminal)?;
        }
        if ended.is_err() && !self.sources.is_read() {
            terminal.clear()?;
        }
        Ok(terminal.release()?)
    }
}

/// A verb that follows sources. Most methods depend only on events, so tests need no terminal.
pub(crate) trait Live {
    /// The pause after a print, as a multiple of the time that the print took. A view that goes over all
    /// objects at each print needs a pause: without one, the cost of a burst of events grows with its square.
    /// A view that prints only new events needs none.
    const REST: u32 = 0;

    /// The sources to follow now. The loop asks again after each batch of events, because a new object may
    /// lead to other sources.
    fn wanted(&self) -> Vec<SourceKey>;

    /// The sources of which the view needs every object since the last call, also those that it follows already.
    fn take_rereads(&mut self) -> Vec<SourceKey> {
        Vec::new()
    }

    /// Tells how much the view depends on a source.
    fn needs(&self) -> Box<dyn Fn(&SourceKey) -> Need + '_> {
        Box::new(|_| Need::Vital)
    }

    /// Whether to report the objects that the verb waits for.
    fn reports_waiting(&self) -> bool;

    /// Which versions a subscription delivers after an interruption. Most verbs need only the newest.
    fn catch_up(&self) -> CatchUp {
        CatchUp::Newest
    }

    /// Whether the initial objects are shown, so that the verb may end.
    fn has_begun(&self) -> bool {
        true
    }

    /// The model that judges the objects for `--for`, which may not be up to date; `None` if the verb has no model.
    fn model(&self) -> Option<&Model> {
        None
    }

    /// Whether it prints once, when everything is read. Until then, a print only finds out what to read next, so the pause
    /// after it ends as soon as no event waits.
    fn prints_once(&self) -> bool {
        false
    }

    /// Applies one event.
    fn apply(&mut self, key: &Arc<SourceKey>, event: Event, now: Timestamp);

    /// Whether to pause the events of a source, because the view has to show something else first. They wait
    /// in the source's bounded queue. Events that do not fit are read back later.
    fn holds(&self, _key: &SourceKey) -> bool {
        false
    }

    /// Whether to report states as they come. Otherwise they wait until a vital source is read. If none is
    /// ever read, the final error reports them instead.
    fn reports_states_at_once(&self) -> bool {
        false
    }

    /// Reports a change of a source's state to the user, unless the verb has records for it.
    fn note(
        &mut self,
        _key: &Arc<SourceKey>,
        note: Note,
        terminal: &mut Terminal<'_>,
    ) -> Result<(), CommandError> {
        Ok(terminal.note(&note)?)
    }

    /// Waits for results of other work than events, if the verb has such work. The loop may drop the future
    /// at any point.
    fn wait_for_other(&mut self) -> impl Future<Output = ()> {
        std::future::pending()
    }

    /// Ends such other work early and keeps its results so far. The user or the time limit has stopped the
    /// verb, so this may take only a moment.
    fn wind_up(&mut self) -> impl Future<Output = ()> {
        std::future::ready(())
    }

    /// Takes the output from before the end of `--for` that is still on its way. Returns whether there may be any. It takes
    /// a moment at most.
    fn take_last_output(&mut self) -> impl Future<Output = bool> {
        std::future::ready(false)
    }

    /// Announces the end: output that waits for other work is printed without it. Returns whether any output
    /// may have waited.
    fn stop_waiting(&mut self) -> bool {
        false
    }

    /// Prints new output, which stays. The loop calls it after one or more batches of events.
    fn print(&mut self, sources: &Sources, terminal: &mut Terminal<'_>)
    -> Result<(), CommandError>;

    /// Draws the frame. The loop calls it only on a terminal, at most ten times a second.
    fn draw(&mut self, sources: &Sources, terminal: &mut Terminal<'_>) -> Result<(), CommandError>;

    /// Draws the last frame, which stays on the terminal.
    fn finish(
        &mut self,
        sources: &Sources,
        terminal: &mut Terminal<'_>,
    ) -> Result<(), CommandError> {
        self.draw(sources, terminal)
    }

    /// Whether the output is complete. Only settled sources can show that.
    fn is_answered(&self, sources: &Sources) -> bool;
}

/// How often the keyboard is read.
const READ: Duration = Duration::from_millis(100);

/// Waits for keys. Without a frame on a terminal they never come.
pub(super) struct Keyboard {
    keys: Option<Keys>,
    reads: Interval,
}

impl Keyboard {
    /// Listens, if the view has a frame and standard input is not its data. The frame then names the keys.
    pub(super) fn listen(session: &Session, terminal: &mut Terminal<'_>) -> Keyboard {
        let is_live = terminal.is_live() && !session.is_of_file();
        let mut reads = interval(READ);
        reads.set_missed_tick_behavior(MissedTickBehavior::Delay);
        let keys = is_live.then(Keys::of_stdin);
        terminal.exit_key = match &keys {
            Some(keys) if keys.are_typed() => ExitKey::Q,
            Some(_) | None => ExitKey::CtrlC,
        };
        Keyboard { keys, reads }
    }

    /// Waits until the user presses a key that means something. While a login may ask the user a question, the keyboard
    /// belongs to it.
    pub(super) async fn typed(&mut self, session: &Session) -> Typed {
        let Some(keys) = &mut self.keys else {
            return pending().await;
        };
        loop {
            self.reads.tick().await;
            if session.is_logging_in() {
                restore_terminal();
            } else if let Some(typed) = keys.take() {
                return typed;
            }
        }
    }
}

/// The longest time between two frames, because ages change. Also the longest pause.
const BEAT: Duration = Duration::from_secs(1);

/// The longest time until a frame shows an event after a quiet time.
pub(super) const FRAME: Duration = Duration::from_millis(100);

/// The time between two frames while events keep coming. Nobody reads a table more often.
pub(super) const BUSY_FRAME: Duration = Duration::from_millis(200);

/// When an action runs that is due: at once, unless the last run took long and has just ended.
pub(super) struct RedrawPace {
    /// Whether anything is new since the last run.
    pub(super) is_owed: bool,
    /// The end of the pause after the last run.
    rests_until: Instant,
    done: Option<Instant>,
}

impl Default for RedrawPace {
    fn default() -> RedrawPace {
        RedrawPace {
            is_owed: false,
            rests_until: Instant::now(),
            done: None,
        }
    }
}

impl RedrawPace {
    /// Whether the pause after the last run is not over.
    pub(super) fn rests(&self, now: Instant) -> bool {
        now < self.rests_until
    }

    /// Whether a run is needed and the pause is over.
    pub(super) fn is_due(&self, now: Instant) -> bool {
        self.is_owed && !self.rests(now)
    }

    /// Whether the last run was at least a beat ago.
    pub(super) fn is_overdue(&self, now: Instant) -> bool {
        self.done
            .is_none_or(|done| now.duration_since(done) >= BEAT)
    }

    /// Ends the pause.
    pub(super) fn end_rest(&mut self) {
        self.rests_until = Instant::now();
    }

    /// Extends the pause to this time.
    pub(super) fn rest_until(&mut self, until: Instant) {
        self.rests_until = self.rests_until.max(until);
    }

    /// Records a run that started at `begun`. The pause is `times` as long as the run took, and at most a
    /// beat.
    pub(super) fn done(&mut self, begun: Instant, times: u32) {
        let end = Instant::now();
        let rest = end.duration_since(begun).saturating_mul(times);
        *self = RedrawPace {
            is_owed: false,
            rests_until: end + rest.min(BEAT),
            done: Some(begun),
        };
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use tokio::time::advance;

    use super::*;

    /// The pause in milliseconds after a run of `took` milliseconds.
    async fn due_after(took: u64, times: u32) -> u64 {
        let mut pace = RedrawPace::default();
        let begun = Instant::now();
        advance(Duration::from_millis(took)).await;
        pace.done(begun, times);
        assert!(!pace.is_due(Instant::now()), "nothing is owed");
        pace.is_owed = true;
        let mut after = 0;
        while !pace.is_due(Instant::now()) {
            advance(Duration::from_millis(1)).await;
            after += 1;
        }
        after
    }

    #[tokio::test(start_paused = true)]
    async fn the_pause_is_a_multiple_of_the_run() {
        assert_eq!(due_after(0, 4).await, 0);
        assert_eq!(due_after(20, 4).await, 80);
        assert_eq!(due_after(20, 0).await, 0);
        assert_eq!(due_after(3_000, 4).await, 1_000, "no longer than a beat");
    }

    #[tokio::test(start_paused = true)]
    async fn a_pause_can_be_extended_and_never_shortened() {
        let mut pace = RedrawPace::default();
        let begun = Instant::now();
        pace.is_owed = true;
        pace.rest_until(begun + FRAME);
        pace.rest_until(begun);
        assert!(!pace.is_due(begun) && pace.is_due(begun + FRAME));
    }

    #[tokio::test(start_paused = true)]
    async fn a_pause_can_be_ended() {
        let mut pace = RedrawPace::default();
        let begun = Instant::now();
        pace.is_owed = true;
        pace.rest_until(begun + FRAME);
        assert!(pace.rests(begun));
        pace.end_rest();
        assert!(!pace.rests(begun) && pace.is_due(begun));
    }

    #[tokio::test(start_paused = true)]
    async fn a_run_is_overdue_after_a_beat() {
        let mut pace = RedrawPace::default();
        assert!(pace.is_overdue(Instant::now()), "it was never done");
        pace.done(Instant::now(), 4);
        assert!(!pace.is_overdue(Instant::now()));
        advance(BEAT).await;
        assert!(pace.is_overdue(Instant::now()));
    }
}
