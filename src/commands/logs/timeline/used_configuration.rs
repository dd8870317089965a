//! `UsedConfiguration`: the `ConfigMap`s and Secrets that Pods use.

use std::collections::BTreeSet;

use crate::commands::logs::selected_pods::SelectedPods;
use crate::graph::{Links, ReferenceTarget, Tier};
use crate::object::{Doc, ServedTypes, Uid};
use crate::source::{ClusterId, Form, SourceKey};

/// How many of them are followed. Each costs a list and a watch.
const MOST: usize = 24;

/// The `ConfigMap`s and Secrets of the Pods so far.
#[derive(Debug, Default)]
pub(super) struct UsedConfiguration {
    /// The Pods whose references were read. They never change.
    pods: BTreeSet<Uid>,
    targets: BTreeSet<ReferenceTarget>,
    sources: Vec<SourceKey>,
    /// How many are beyond the limit, if that is not said yet.
    unsaid: Option<usize>,
}

impl UsedConfiguration {
    /// Takes the Pods that are selected now.
    pub(super) fn update(&mut self, selection: &SelectedPods) {
        let Some(cluster) = selection.cluster() else {
            return;
        };
        for pod in selection.pods() {
            let uid = pod.pod.identity();
            if !self.pods.contains(&uid)
                && let Some(doc) = selection.model.doc(&uid)
            {
                self.add_pod(&doc, cluster, selection.model.types());
                self.pods.insert(uid);
            }
        }
    }

    fn add_pod(&mut self, pod: &Doc, cluster: &ClusterId, types: &ServedTypes) {
        let references = Links::of(pod.root(), Tier::Trace, types).references;
        let targets = references.into_iter().map(|reference| reference.target);
        // Every Pod has the certificates of its cluster.
        let targets = targets.filter(|target| {
            let is_configuration = matches!(&*target.kind.kind, "ConfigMap" | "Secret");
            is_configuration && &*target.name != "kube-root-ca.crt"
        });
        for target in targets {
            let Some(source) = target.source(cluster, types) else {
                continue;
            };
            if !self.targets.insert(target) {
                continue;
            }
            if self.sources.len() < MOST {
                let form = Form::Full;
                self.sources.push(SourceKey { form, ..source });
            } else {
                self.unsaid = Some(self.targets.len() - MOST);
            }
        }
    }

    /// The sources of those that are followed.
    pub(super) fn sources(&self) -> &[SourceKey] {
        &self.sources
    }

    /// The message about those that are not followed, once for each number of them.
    pub(super) fn take_note(&mut self) -> Option<String> {
        let others = self.unsaid.take()?;
        Some(format!(
            "changes of {MOST} ConfigMaps and Secrets are shown, those of {others} more are not"
        ))
    }
}
