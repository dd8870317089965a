//! `LiveStatus`: when and how to print: frames on a terminal, lines to a pipe, one table for `--once`.

use std::collections::BTreeMap;
use std::sync::Arc;

use futures::FutureExt;
use futures::future::select_all;
use jiff::Timestamp;

use super::cluster_status::{ClusterStatus, StatusSetup};
use super::cluster_views::ClusterViews;
use super::documents::{Documents, REDACTED};
use super::options::{HealthFilter, StatusFormat};
use super::since::{ComparedStates, PastStates, TimeComparison};
use super::state::StatusState;
use super::view::{LiveTable, nothing_unhealthy, table, view};
use crate::commands::live::cluster_group::JoinedCluster;
use crate::commands::live::session::silent_groups;
use crate::commands::live::sources::{named, nowhere, waiting};
use crate::commands::{Answer, CommandError, Ending, Live, Need, Sources, Terminal};
use crate::model::Model;
use crate::render::text::Text;
use crate::source::{Event, Scope, SourceKey};

/// The clusters of the view, and what was printed of them.
#[derive(Debug)]
pub(super) struct LiveStatus {
    /// The clusters that have joined, in the order of the request.
    clusters: Vec<ClusterStatus>,
    setup: StatusSetup,
    format: StatusFormat,
    table: LiveTable,
    /// The start of the view, by this machine's clock.
    started: Timestamp,
    documents: Documents,
    /// Whether to print which objects it waits for.
    pub(super) reports_waiting: bool,
    /// Whether it has printed that there is nothing to show, if so.
    has_reported: bool,
    is_answered: bool,
    /// With [`Ending::Once`], the objects that were requested by name and do not exist in any cluster.
    pub(super) missing: Vec<SourceKey>,
    comparison: TimeComparison,
    /// A line for each API group whose server does not answer.
    pub(super) silent: Vec<String>,
    /// How many of these lines were printed.
    reported_silent: usize,
}

impl LiveStatus {
    /// The view of several clusters, each of which joins later.
    pub(super) fn new(setup: StatusSetup, format: StatusFormat, started: Timestamp) -> LiveStatus {
        LiveStatus {
            clusters: Vec::new(),
            table: LiveTable::new(setup.options),
            setup,
            format,
            started,
            documents: Documents::new(),
            reports_waiting: true,
            has_reported: false,
            is_answered: false,
            missing: Vec::new(),
            comparison: TimeComparison::None,
            silent: Vec::new(),
            reported_silent: 0,
        }
    }

    /// The same view, of what this comparison prints.
    pub(super) fn comparing(self, comparison: TimeComparison) -> LiveStatus {
        LiveStatus { comparison, ..self }
    }

    /// The states of the earlier time, of each cluster that was read.
    pub(super) fn into_past(self) -> Vec<PastStates> {
        match self.comparison {
            TimeComparison::Before(past) => past,
            TimeComparison::None | TimeComparison::Since(_) => Vec::new(),
        }
    }

    /// Whether it is the view of several clusters.
    pub(super) fn is_of_several(&self) -> bool {
        self.shown().are_of_several()
    }

    /// Adds API groups whose server does not answer.
    pub(super) fn add_silent(&mut self, groups: &[String]) {
        self.silent.extend(silent_groups(groups));
    }

    /// Prints those of these lines that are new.
    pub(super) fn report_silent(
        &mut self,
        terminal: &mut Terminal<'_>,
    ) -> Result<(), CommandError> {
        for line in &self.silent[self.reported_silent..] {
            terminal.notify(line)?;
        }
        self.reported_silent = self.silent.len();
        Ok(())
    }

    /// The view of one cluster or file.
    pub(super) fn only(self, state: StatusState) -> LiveStatus {
        let only = ClusterStatus::only(state, self.setup.options);
        LiveStatus {
            clusters: vec![only],
            ..self
        }
    }

    /// Whether all requested objects are well, if there was any.
    pub(super) fn answer(&self, has_object: bool) -> Answer {
        let states = self.shown();
        if !has_object && !states.requested().any(|key| named(key).is_some()) {
            return Answer::NoObject;
        }
        Answer::from(!states.iter().all(StatusState::is_well))
    }

    fn shown(&self) -> ClusterViews<'_> {
        self.clusters.iter().map(ClusterStatus::shown).collect()
    }

    /// Fails if no object has the field to sort by.
    fn check_sorting(&self, terminal: &mut Terminal<'_>) -> Result<(), CommandError> {
        let states = || self.clusters.iter().map(|cluster| &cluster.state);
        let errors = states().map(StatusState::sort_error);
        let mut errors: Vec<CommandError> = errors.flatten().collect();
        let with_objects = states().filter(|state| state.model.objects().next().is_some());
        if errors.len() < with_objects.count() {
            return Ok(());
        }
        match errors.pop() {
            Some(error) => {
                terminal.clear()?;
                Err(error)
            }
            None => Ok(()),
        }
    }

    /// Whether all clusters are read, as far as they can be.
    fn is_settled(&self, sources: &Sources) -> bool {
        sources.clusters.have_joined() && self.shown().are_settled()
    }

    /// Whether every source that may still answer is read: all that the models want are followed, and are settled.
    fn is_read_apart_from_silence(&self, sources: &Sources) -> bool {
        let is_read = |model: &Model| {
            let is_known = model.is_fresh() && model.is_searched();
            is_known && model.sources().all(|key| sources.has(key))
        };
        let mut models = self.clusters.iter().map(|cluster| &cluster.state.model);
        sources.are_settled() && models.all(is_read)
    }

    /// Prints everything once, when what was looked up about it is known.
    fn print_looked_up(
        &mut self,
        sources: &Sources,
        terminal: &mut Terminal<'_>,
    ) -> Result<(), CommandError> {
        self.check_sorting(terminal)?;
        let now = terminal.env().now();
        let clusters = self.clusters.iter_mut();
        if !clusters.fold(true, |all, cluster| cluster.look_up(now) & all) {
            return Ok(());
        }
        self.print_once(sources, terminal)
    }

    /// Prints everything once.
    fn print_once(
        &mut self,
        sources: &Sources,
        terminal: &mut Terminal<'_>,
    ) -> Result<(), CommandError> {
        let now = terminal.env().now();
        let is_empty = self.shown().iter().all(|state| {
            let rows = state.rows();
            rows.iter().all(|row| row.known.is_none())
        });
        if !matches!(self.comparison, TimeComparison::None) {
            return self.print_compared(terminal);
        }
        let lines = match self.format {
            StatusFormat::Json
            | StatusFormat::Yaml
            | StatusFormat::Name
            | StatusFormat::ResourceGroup
            | StatusFormat::ConfigMap => self.changed(now),
            StatusFormat::Text | StatusFormat::Wide if is_empty => Vec::new(),
            StatusFormat::Text | StatusFormat::Wide => {
                let canvas = terminal.canvas();
                let mut connection = sources.connection(canvas);
                if !terminal.is_live() {
                    // Standard error has these lines.
                    connection.refused.clear();
                    connection.clusters.clear();
                }
                table(&self.shown(), &connection, self.table.options, canvas)
            }
        };
        terminal.print(lines)?;
        self.warn_of_secrets(terminal)?;
        self.is_answered = true;
        let absent = self.clusters.iter().flat_map(|it| it.state.absent());
        let absent = absent.map(|(_, key)| key.clone()).collect();
        self.missing = nowhere(absent, self.shown().requested());
        self.report_if_empty(terminal)
    }

    /// Keeps the states of the earlier time, or prints what differs from them.
    fn print_compared(&mut self, terminal: &mut Terminal<'_>) -> Result<(), CommandError> {
        let now = terminal.env().now();
        let options = self.table.options;
        self.is_answered = true;
        let views = self.clusters.iter().map(ClusterStatus::shown);
        let past = match &mut self.comparison {
            TimeComparison::None => return Ok(()),
            TimeComparison::Before(past) => {
                *past = views.map(PastStates::of).collect();
                return Ok(());
            }
            TimeComparison::Since(past) => past,
        };
        let compared = views.filter_map(|view| {
            let name = view.cluster.map_or("", |cluster| cluster.name);
            let past = past.iter().find(|past| past.are_of(name))?;
            Some(ComparedStates::new(view, past))
        });
        let compared: Vec<ComparedStates<'_>> = compared.collect();
        let lines = if self.format == StatusFormat::Json {
            let records = compared.iter().zip(&self.clusters);
            let records = records.flat_map(|(it, cluster)| it.records(options, cluster.now(now)));
            records.collect()
        } else {
            ComparedStates::lines(&compared, options, terminal.look().symbols)
        };
        terminal.print(lines)?;
        let absent = self.clusters.iter().flat_map(|it| it.state.absent());
        let absent = absent.map(|(_, key)| key.clone()).collect();
        let mut missing = nowhere(absent, self.shown().requested());
        missing.retain(|key| !self.existed(key));
        self.missing = missing;
        Ok(())
    }

    /// Whether an object that was requested by name existed at the earlier time.
    fn existed(&self, requested: &SourceKey) -> bool {
        match (&self.comparison, requested.named_object()) {
            (TimeComparison::Since(past), Some(object)) => past.iter().any(|it| it.has(&object)),
            _ => false,
        }
    }

    fn print_transitions(&mut self, terminal: &mut Terminal<'_>) -> Result<(), CommandError> {
        let now = terminal.env().now();
        let has_frame = self.format.is_for_people() && terminal.is_live();
        let lines = if has_frame {
            Vec::new()
        } else {
            self.changed(now)
        };
        terminal.print(lines)?;
        self.warn_of_secrets(terminal)?;
        for cluster in self.clusters.iter_mut().filter(|it| it.has_begun) {
            let absent: BTreeMap<usize, &SourceKey> = cluster.state.absent().collect();
            for (index, key) in &absent {
                if self.reports_waiting && !cluster.waited_for.contains(index) {
                    terminal.notify(&cluster.about(&waiting(key)))?;
                }
            }
            cluster.waited_for = absent.into_keys().collect();
        }
        Ok(())
    }

    /// The lines about the objects that are new or have another state.
    fn changed(&mut self, now: Timestamp) -> Vec<Text> {
        let health = self.table.options.health;
        let mut lines = Vec::new();
        for cluster in &mut self.clusters {
            if !cluster.has_begun && self.setup.ending == Ending::Never {
                continue;
            }
            let now = cluster.now(now);
            lines.extend(match self.format {
                StatusFormat::Text | StatusFormat::Wide => cluster.lines(now),
                StatusFormat::Json => cluster.records(now),
                StatusFormat::Yaml => cluster.documents(&mut self.documents, health),
                StatusFormat::Name => cluster.names(health),
                StatusFormat::ResourceGroup | StatusFormat::ConfigMap => {
                    let form = self.format.package_form();
                    let members = self.table.options.members;
                    form.map_or_else(Vec::new, |form| {
                        cluster.packages(&mut self.documents, form, members)
                    })
                }
            });
        }
        lines
    }

    /// Begins to print the clusters whose initial objects are read. Returns whether there are any.
    fn begin(&mut self, terminal: &mut Terminal<'_>) -> Result<bool, CommandError> {
        let is_ready = |cluster: &&mut ClusterStatus| {
            !cluster.has_begun && cluster.state.model.is_presentable()
        };
        let new: Vec<&mut ClusterStatus> = self.clusters.iter_mut().filter(is_ready).collect();
        if new.is_empty() {
            return Ok(false);
        }
        for cluster in new {
            cluster.has_begun = true;
        }
        self.check_sorting(terminal)?;
        Ok(true)
    }

    fn warn_of_secrets(&mut self, terminal: &mut Terminal<'_>) -> Result<(), CommandError> {
        let documents = &mut self.documents;
        if documents.has_secret && !std::mem::replace(&mut documents.has_warned, true) {
            terminal.notify(REDACTED)?;
        }
        Ok(())
    }

    /// Prints that there is nothing to show, or to a pipe that nothing is unhealthy, once all clusters have begun.
    fn report_nothing(
        &mut self,
        sources: &Sources,
        terminal: &mut Terminal<'_>,
    ) -> Result<(), CommandError> {
        let have_begun = self.clusters.iter().all(|cluster| cluster.has_begun);
        if self.has_reported || !have_begun || !sources.clusters.have_joined() {
            return Ok(());
        }
        self.has_reported = true;
        let health = self.table.options.health;
        let is_of_lines = self.format.is_for_people() && !terminal.is_live();
        if is_of_lines && health == HealthFilter::Unhealthy && !self.is_empty() {
            let states = self.shown();
            let mut rows = states.iter().flat_map(StatusState::rows);
            if !rows.any(|row| health.includes(&row)) {
                terminal.notify(&nothing_unhealthy(&states))?;
            }
        }
        self.report_if_empty(terminal)
    }

    /// Whether no cluster has objects of the requested types.
    fn is_empty(&self) -> bool {
        self.shown().iter().all(StatusState::is_empty)
    }

    fn report_if_empty(&self, terminal: &mut Terminal<'_>) -> Result<(), CommandError> {
        if self.format.is_for_people()
            && self.is_empty()
            && let Some(key) = self.shown().requested().next()
        {
            terminal.notify(&match &key.scope {
                Scope::Namespace(namespace) if self.clusters.len() < 2 => {
                    format!("No resources found in {namespace} namespace.")
                }
                Scope::Namespace(_) | Scope::Cluster => "No resources found".to_owned(),
            })?;
        }
        Ok(())
    }
}

impl Live for LiveStatus {
    const REST: u32 = 4;

    fn wanted(&self) -> Vec<SourceKey> {
        let sources = self.clusters.iter();
        let sources = sources.flat_map(|cluster| cluster.state.model.sources());
        sources.cloned().collect()
    }

    fn take_rereads(&mut self) -> Vec<SourceKey> {
        let clusters = self.clusters.iter_mut();
        let rereads = clusters.flat_map(|cluster| cluster.state.model.take_rereads());
        rereads.collect()
    }

    fn needs(&self) -> Box<dyn Fn(&SourceKey) -> Need + '_> {
        Box::new(|key| {
            let mut clusters = self.clusters.iter();
            let cluster = clusters.find(|cluster| cluster.is(&key.cluster));
            cluster.map_or(Need::Vital, |cluster| cluster.state.need_of(key))
        })
    }

    fn reports_waiting(&self) -> bool {
        let goes_on = self.setup.ending == Ending::Never;
        self.reports_waiting && goes_on && self.format != StatusFormat::Json
    }

    fn has_begun(&self) -> bool {
        self.clusters.iter().any(|cluster| cluster.has_begun) || self.is_answered
    }

    fn model(&self, source: &SourceKey) -> Option<&Model> {
        let mut clusters = self.clusters.iter();
        let of_cluster = clusters.find(|known| known.is(&source.cluster))?;
        Some(&of_cluster.state.model)
    }

    fn join(&mut self, joined: JoinedCluster<'_>) -> Result<Option<Vec<SourceKey>>, CommandError> {
        self.silent.extend(joined.silent_groups());
        let cluster = ClusterStatus::joined(joined, &self.setup);
        let requested = cluster.state.requested().to_vec();
        let place = |cluster: &ClusterStatus| cluster.name.as_ref().map(|name| name.place);
        let before = |known: &ClusterStatus| place(known) < place(&cluster);
        let at = self.clusters.partition_point(before);
        self.clusters.insert(at, cluster);
        Ok(Some(requested))
    }

    async fn wait_for_other(&mut self) {
        match &mut self.clusters[..] {
            [] => std::future::pending().await,
            [only] => only.state.wait_for_lookups().await,
            several => {
                let waits = several.iter_mut();
                let waits = waits.map(|cluster| cluster.state.wait_for_lookups().boxed_local());
                select_all(waits).await;
            }
        }
    }

    fn stop_waiting(&mut self) -> bool {
        let clusters = self.clusters.iter_mut();
        clusters.fold(false, |any, cluster| cluster.state.give_up_lookups() | any)
    }

    fn is_about_every_kind(&self) -> bool {
        self.setup.is_about_every_kind
    }

    fn prints_once(&self) -> bool {
        self.setup.ending == Ending::Once
    }

    fn apply(&mut self, key: &Arc<SourceKey>, event: Event, now: Timestamp) {
        let mut clusters = self.clusters.iter_mut();
        if let Some(cluster) = clusters.find(|cluster| cluster.is(&key.cluster)) {
            cluster.apply(key, &event, now);
        }
    }

    fn print(
        &mut self,
        sources: &Sources,
        terminal: &mut Terminal<'_>,
    ) -> Result<(), CommandError> {
        self.report_silent(terminal)?;
        let now = terminal.env().now();
        let clusters = self.clusters.iter_mut();
        let has_changed = clusters.fold(false, |any, cluster| cluster.refresh(now) | any);
        match self.setup.ending {
            _ if sources.refusal().is_some() => Ok(()), // the loop ends with it
            Ending::Once if self.is_answered => Ok(()),
            Ending::Once if self.is_settled(sources) => self.print_looked_up(sources, terminal),
            // A source that does not answer leaves the others as they are.
            Ending::Once if self.is_read_apart_from_silence(sources) => match sources.silence() {
                Some(error) => {
                    self.print_looked_up(sources, terminal)?;
                    if self.is_answered { Err(error) } else { Ok(()) }
                }
                None => Ok(()),
            },
            Ending::Once => Ok(()),
            Ending::Never => {
                let is_new = self.begin(terminal)?;
                if is_new || (self.has_begun() && has_changed) {
                    self.print_transitions(terminal)?;
                }
                if is_new {
                    for cluster in self.clusters.iter_mut().filter(|it| it.has_begun) {
                        cluster.look_up(now);
                    }
                    self.report_nothing(sources, terminal)?;
                }
                Ok(())
            }
        }
    }

    fn draw(&mut self, sources: &Sources, terminal: &mut Terminal<'_>) -> Result<(), CommandError> {
        if !self.format.is_for_people() || self.setup.ending == Ending::Once {
            return Ok(());
        }
        let canvas = terminal.frame_canvas(self.started);
        let connection = sources.connection(canvas);
        let states = self.clusters.iter().map(ClusterStatus::shown).collect();
        terminal.draw(view(&states, connection, &mut self.table, canvas))?;
        Ok(())
    }

    fn is_answered(&self, _sources: &Sources) -> bool {
        self.is_answered
    }
}
