//! `LiveChanges`: the running verb. Each cluster has [`Changes`] of its own, because nothing of one explains a version of another;
//! the lines of all come in the order of their arrival.

use std::sync::Arc;

use futures::FutureExt;
use futures::future::{join_all, select_all};
use jiff::Timestamp;

use super::args::{ChangesArgs, IfMissing};
use super::formats::Audience;
use super::output::{Renderer, RunSummary};
use super::run::{Changes, Span};
use super::schemas::Schemas;
use crate::commands::live::cluster_group::JoinedCluster;
use crate::commands::live::sources::nowhere;
use crate::commands::{
    Answer, CommandError, Ended, EveryKind, Live, Need, Note, Session, Sources, Stop, Subject,
    Terminal, UnreadPart,
};
use crate::env::{Clock, clock_ahead};
use crate::model::{Model, Retention};
use crate::render::header_footer::Freshness;
use crate::source::{ClusterId, Event, SourceKey};
use crate::status::Rules;
use crate::watch::CatchUp;

/// The changes of the clusters that have joined, or of the only one.
pub(super) struct LiveChanges<'a> {
    pub(super) args: &'a ChangesArgs,
    /// This machine's clock.
    now: Clock,
    started: Timestamp,
    joined: Vec<ClusterChanges>,
}

/// The changes of one cluster.
struct ClusterChanges {
    /// Its place in the request.
    place: usize,
    cluster: ClusterId,
    changes: Changes,
}

impl<'a> LiveChanges<'a> {
    /// No cluster has joined yet.
    pub(super) fn new(args: &'a ChangesArgs, now: Clock) -> LiveChanges<'a> {
        LiveChanges {
            args,
            started: now(),
            now,
            joined: Vec::new(),
        }
    }

    fn all(&self) -> impl Iterator<Item = &Changes> {
        self.joined.iter().map(|joined| &joined.changes)
    }

    fn all_mut(&mut self) -> impl Iterator<Item = &mut Changes> {
        self.joined.iter_mut().map(|joined| &mut joined.changes)
    }

    fn of(&self, cluster: &ClusterId) -> Option<&Changes> {
        let mut joined = self.joined.iter();
        Some(&joined.find(|known| known.cluster == *cluster)?.changes)
    }

    fn of_mut(&mut self, cluster: &ClusterId) -> Option<&mut Changes> {
        let mut joined = self.joined.iter_mut();
        Some(&mut joined.find(|known| known.cluster == *cluster)?.changes)
    }

    /// The changes, unless several clusters are requested.
    fn only(&self) -> Option<&Changes> {
        let mut all = self.all();
        all.find(|changes| changes.renderer.options.label.is_none())
    }

    /// The number of printed versions, without those that existed at the start.
    fn printed(&self) -> u64 {
        let printed = self.all().map(|changes| changes.renderer.summary.printed);
        printed.sum()
    }

    /// Prints what follows the last version of each cluster.
    pub(super) async fn close(&mut self, terminal: &mut Terminal<'_>) -> Result<(), CommandError> {
        for changes in self.all_mut() {
            changes.close(terminal).await?;
        }
        Ok(())
    }

    /// The sources of named objects that no cluster has, and without which there is no answer.
    pub(super) fn missing(
        &self,
        stop: &Stop,
        ended: &Result<Ended, CommandError>,
    ) -> Vec<SourceKey> {
        if let Some(only) = self.only() {
            return only.missing(self.args, stop, ended);
        }
        let missing = self.all().flat_map(|changes| {
            let missing = changes.missing(self.args, stop, ended).into_iter();
            missing.filter(|key| changes.keys.contains(key))
        });
        nowhere(missing.collect(), self.keys())
    }

    /// The followed sources.
    pub(super) fn keys(&self) -> impl Iterator<Item = &SourceKey> {
        self.all().flat_map(|changes| &changes.keys)
    }

    /// Whether something changed in any cluster, if there was anything that could.
    pub(super) fn answer(&self, stop: &Stop) -> Answer {
        let answers: Vec<Answer> = self.all().map(|changes| changes.answer(stop)).collect();
        let is_any = |wanted: Answer| answers.contains(&wanted);
        match () {
            () if is_any(Answer::Something) => Answer::Something,
            () if is_any(Answer::Nothing) => Answer::Nothing,
            () => Answer::NoObject,
        }
    }

    /// The parts of the past that could not be read.
    pub(super) fn unread(&mut self) -> Vec<UnreadPart> {
        let unread = self.all_mut();
        let unread = unread.flat_map(|changes| std::mem::take(&mut changes.unread));
        unread.collect()
    }

    /// Whether the error at the end names the sources that the server refuses.
    fn has_refusal_error(&self) -> bool {
        let args = self.args;
        let is_error = !self.is_about_every_kind() || args.wait.asks_for_answer();
        args.is_once() && !args.wait.has_goal() && is_error
    }

    /// Begins to show a cluster.
    pub(super) fn add(&mut self, new: NewCluster<'_>) {
        let (args, session, keys) = (self.args, new.session, new.keys);
        let clock = clock_ahead(self.now.clone(), session.ahead());
        let mut options = args.display_options(session, clock.clone());
        options.label = new.label;
        let mut renderer = Renderer::new(options, args.output, &keys, self.started);
        renderer.summary.limit = args.count;
        let span = match (args.is_once(), session.is_of_file()) {
            (false, _) => Span::On,
            (true, false) => Span::Once,
            (true, true) => Span::File,
        };
        let mut changes = Changes::new(keys, renderer, args.absence(), span);
        changes.look_back(session, args.reach((self.now)()), new.every);
        changes.has_refusal_error = self.has_refusal_error();
        // Only a run that compares versions needs them.
        if span == Span::On || changes.past.is_some() {
            changes.schemas = Schemas::of(session, &changes.keys);
        }
        if let Some(model) = new.model {
            changes.judge(model, clock);
        }
        let before = |known: &ClusterChanges| known.place < new.place;
        let at = self.joined.partition_point(before);
        let joined = ClusterChanges {
            place: new.place,
            cluster: session.cluster.clone(),
            changes,
        };
        self.joined.insert(at, joined);
    }
}

/// A cluster to show.
pub(super) struct NewCluster<'a> {
    /// Its place in the request.
    pub(super) place: usize,
    /// Its short name, of several.
    pub(super) label: Option<Arc<str>>,
    pub(super) session: &'a Session,
    pub(super) every: &'a EveryKind,
    pub(super) keys: Vec<SourceKey>,
    /// The model that judges the objects for `--for`.
    pub(super) model: Option<Model>,
}

impl Live for LiveChanges<'_> {
    fn wanted(&self) -> Vec<SourceKey> {
        self.all().flat_map(Changes::wanted).collect()
    }

    fn take_rereads(&mut self) -> Vec<SourceKey> {
        self.all_mut().flat_map(Changes::take_rereads).collect()
    }

    fn needs(&self) -> Box<dyn Fn(&SourceKey) -> Need + '_> {
        Box::new(|key| match self.of(&key.cluster) {
            Some(changes) => changes.needs()(key),
            None => Need::Vital,
        })
    }

    fn model(&self, source: &SourceKey) -> Option<&Model> {
        self.of(&source.cluster)?.model()
    }

    fn join(&mut self, joined: JoinedCluster<'_>) -> Result<Option<Vec<SourceKey>>, CommandError> {
        let judges = self.args.wait.needs_judgement();
        let model = judges.then(|| joined.model(Rules::Spy, Retention::None));
        self.add(NewCluster {
            place: joined.place,
            label: Some(joined.label),
            session: joined.session,
            every: &joined.every,
            keys: joined.keys.clone(),
            model,
        });
        Ok(Some(joined.keys))
    }

    fn reports_waiting(&self) -> bool {
        let is_any = self.all().any(Changes::reports_waiting);
        is_any && self.args.absence() == IfMissing::Waits
    }

    fn apply(&mut self, key: &Arc<SourceKey>, event: Event, now: Timestamp) {
        if let Some(changes) = self.of_mut(&key.cluster) {
            changes.apply(key, event, now);
        }
    }

    fn has_begun(&self) -> bool {
        !self.joined.is_empty() && self.all().all(Changes::has_begun)
    }

    fn catch_up(&self) -> CatchUp {
        CatchUp::Every
    }

    fn holds(&self, key: &SourceKey) -> bool {
        self.of(&key.cluster)
            .is_some_and(|changes| changes.holds(key))
    }

    fn reports_refusals_last(&self) -> bool {
        // Records have the states of the sources.
        let has_notes = self.args.output.audience() != Audience::Records;
        has_notes && self.has_refusal_error() && !self.is_about_every_kind()
    }

    fn reports_states_at_once(&self) -> bool {
        self.all().any(Changes::reports_states_at_once)
    }

    async fn wait_for_other(&mut self) {
        if self.joined.is_empty() {
            return std::future::pending().await;
        }
        let waits = self.all_mut();
        let waits = waits.map(|changes| changes.wait_for_other().boxed_local());
        select_all(waits).await;
    }

    async fn wind_up(&mut self) {
        join_all(self.all_mut().map(Changes::wind_up)).await;
    }

    fn stop_waiting(&mut self) -> bool {
        self.all_mut()
            .fold(false, |any, changes| changes.stop_waiting() | any)
    }

    fn is_about_every_kind(&self) -> bool {
        self.args.objects.subject() == Subject::Unnamed
    }

    fn note(&mut self, key: &Arc<SourceKey>, note: Note, now: Timestamp) -> Option<Note> {
        match self.of_mut(&key.cluster) {
            Some(changes) => changes.note(key, note, now),
            None => Some(note),
        }
    }

    fn print(
        &mut self,
        sources: &Sources,
        terminal: &mut Terminal<'_>,
    ) -> Result<(), CommandError> {
        // Earlier versions come cluster after cluster, in the order of the request.
        let mut waits = sources.clusters.are_joining();
        for place in 0..self.joined.len() {
            if waits && self.joined[place].changes.past.is_some() {
                continue;
            }
            let printed = self.printed();
            let summary = &mut self.joined[place].changes.renderer.summary;
            // The others count, too.
            let others = printed - summary.printed;
            summary.limit = self.args.count.map(|count| count.saturating_sub(others));
            self.joined[place].changes.print(sources, terminal)?;
            waits |= self.joined[place].changes.past.is_some();
        }
        Ok(())
    }

    fn draw(&mut self, sources: &Sources, terminal: &mut Terminal<'_>) -> Result<(), CommandError> {
        let lines = self.all().map(|changes| changes.open_lines(terminal));
        let mut frame = lines.collect::<Vec<_>>().concat();
        let canvas = terminal.frame_canvas(self.started).narrowed();
        let states = || self.all().map(|changes| &changes.state);
        let connection = Freshness {
            objects: states().map(|state| state.objects).sum(),
            versions: Some((
                states().map(|state| state.versions).sum(),
                states().map(|state| state.hidden).sum(),
            )),
            changed: states().filter_map(|state| state.last).max(),
            ..sources.connection(canvas)
        };
        let left_out = self.only();
        let left_out = left_out.and_then(|only| only.left_out_line(canvas.look.symbols));
        let mut end = Vec::from_iter(left_out);
        end.extend(connection.first_refusals());
        end.push(connection.footer(canvas));
        frame.extend(canvas.cut(end));
        terminal.draw(frame)?;
        Ok(())
    }

    fn finish(
        &mut self,
        sources: &Sources,
        terminal: &mut Terminal<'_>,
    ) -> Result<(), CommandError> {
        let (dot, now) = (terminal.look().symbols.dot, terminal.env().now());
        let lines = self.all().map(|changes| changes.last_lines(terminal));
        let mut frame = lines.collect::<Vec<_>>().concat();
        frame.extend(sources.connection(terminal.canvas()).first_refusals());
        let earlier = self.all().map(|changes| changes.earlier).sum();
        let live = self.all().map(|changes| changes.state.versions).sum();
        let versions = [(earlier, "earlier"), (live, "live")];
        let summaries = self.all().map(|changes| &changes.renderer.summary);
        let summary = RunSummary::of_all(self.started, summaries);
        frame.push(summary.line(&versions, dot, now).into());
        terminal.draw(frame)?;
        Ok(())
    }

    fn is_answered(&self, sources: &Sources) -> bool {
        let is_full = self.args.count.is_some_and(|count| self.printed() >= count);
        let are_answered = !self.joined.is_empty() && sources.are_settled();
        let mut all = self.all();
        is_full || (are_answered && all.all(|changes| changes.is_answered(sources)))
    }
}
