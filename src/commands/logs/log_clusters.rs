//! `LogClusters`: the clusters of the view. A single cluster is one of them.

use futures::FutureExt;
use futures::future::{join_all, select_all};

use super::log_cluster::LogCluster;
use super::selected_pods::SelectedPods;
use super::timeline::LogTimeline;
use crate::commands::Need;
use crate::commands::live::sources::nowhere;
use crate::logs::PodLogs;
use crate::model::Model;
use crate::source::{ClusterId, SourceKey};

/// The clusters that have joined, in the order of the request.
#[derive(Default)]
pub(super) struct LogClusters(Vec<LogCluster>);

impl LogClusters {
    /// Adds a cluster.
    pub(super) fn add(&mut self, cluster: LogCluster) {
        let before = |known: &LogCluster| known.number() < cluster.number();
        let at = self.0.partition_point(before);
        self.0.insert(at, cluster);
    }

    /// All of them.
    pub(super) fn iter(&self) -> impl Iterator<Item = &LogCluster> {
        self.0.iter()
    }

    /// All of them, to change them.
    pub(super) fn iter_mut(&mut self) -> impl Iterator<Item = &mut LogCluster> {
        self.0.iter_mut()
    }

    /// The cluster with this name; `None` if it has not joined.
    pub(super) fn get(&self, id: &ClusterId) -> Option<&LogCluster> {
        self.iter().find(|cluster| cluster.id == *id)
    }

    /// Whether the command reads several clusters.
    pub(super) fn are_several(&self) -> bool {
        self.iter().any(|cluster| cluster.place.is_some())
    }

    /// The selected Pods of the clusters whose logs are read.
    pub(super) fn pods(&self) -> Vec<(&ClusterId, &PodLogs)> {
        let begun = self.iter().filter(|cluster| cluster.has_begun);
        let pods = begun.flat_map(|cluster| {
            let pods = cluster.selection.pods().into_iter();
            pods.map(|pod| (&cluster.id, pod))
        });
        pods.collect()
    }

    /// The objects that were requested by name and that no cluster has.
    pub(super) fn absent(&self) -> Vec<SourceKey> {
        let selections = || self.iter().map(|cluster| &cluster.selection);
        let absent = selections().flat_map(SelectedPods::absent).collect();
        nowhere(absent, selections().flat_map(SelectedPods::requested))
    }

    /// Whether all objects of all clusters have done their work.
    pub(super) fn are_finished(&self) -> bool {
        self.iter().all(|cluster| cluster.selection.is_finished())
    }

    /// Whether one has settled, and none may settle soon.
    pub(super) fn may_begin(&self) -> bool {
        self.iter().any(LogCluster::is_settled) && !self.iter().any(LogCluster::is_settling)
    }

    /// Begins with those that have settled. Returns whether there are any new ones.
    pub(super) fn begin(&mut self) -> bool {
        let new = self.iter_mut();
        let new = new.filter(|cluster| !cluster.has_begun && cluster.is_settled());
        new.map(LogCluster::begin).count() > 0
    }

    /// The sources that they need.
    pub(super) fn wanted(&self) -> Vec<SourceKey> {
        self.iter().flat_map(LogCluster::wanted).collect()
    }

    /// The sources to read again.
    pub(super) fn take_rereads(&mut self) -> Vec<SourceKey> {
        let models = self.iter_mut().map(|cluster| &mut cluster.selection.model);
        models.flat_map(Model::take_rereads).collect()
    }

    /// Tells how much the view depends on a source.
    pub(super) fn needs(&self) -> Box<dyn Fn(&SourceKey) -> Need + '_> {
        let models = self.iter();
        let models = models.map(|cluster| (&cluster.id, &cluster.selection.model));
        let plans = models.map(|(id, model)| (id, model, model.judgement()));
        let plans: Vec<_> = plans.collect();
        Box::new(move |key| {
            let of_cluster = plans.iter().find(|(id, ..)| **id == key.cluster);
            let Some((_, model, plan)) = of_cluster else {
                return Need::Vital;
            };
            match () {
                () if model.requested().contains(key) => Need::Vital,
                () if model.searches(key) => Need::Spare,
                () if !model.coverage().follows(key) => Need::Useful,
                () if plan.contains(key) && !plan.decides(key) => Need::Useful,
                () => Need::Decisive,
            }
        })
    }

    /// What happens between the lines, of each cluster.
    pub(super) fn timelines(&self) -> impl Iterator<Item = &LogTimeline> {
        self.iter().filter_map(|cluster| cluster.timeline.as_ref())
    }

    fn timelines_mut(&mut self) -> impl Iterator<Item = &mut LogTimeline> {
        let timelines = self.iter_mut();
        timelines.filter_map(|cluster| cluster.timeline.as_mut())
    }

    /// Whether the past of one is still read.
    pub(super) fn are_reading(&self) -> bool {
        self.timelines().any(LogTimeline::is_reading)
    }

    /// Waits for the past of one. There is one that is read.
    pub(super) async fn next(&mut self) {
        let reading = self
            .timelines_mut()
            .filter(|timeline| timeline.is_reading());
        let next = reading.map(|timeline| timeline.next().boxed_local());
        select_all(next).await;
    }

    /// Stops reading the past, and keeps what was found of it.
    pub(super) async fn wind_up(&mut self) {
        join_all(self.timelines_mut().map(LogTimeline::wind_up)).await;
    }

    /// Ends the reading of the past at once.
    pub(super) fn give_up(&mut self) {
        self.timelines_mut().for_each(LogTimeline::give_up);
    }
}
