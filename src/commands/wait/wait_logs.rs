//! `WaitLogs`: the lines of containers during a wait (`--logs=new` and `--logs=all`).

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;
use std::time::Duration;

use tokio::time::Instant;

use super::waiting::Waiting;
use crate::commands::container_lines::{
    ContainerChoice, LineFilter, LogFormat, LogLook, LogOutput, LogPrinter, OrderChoice, PodToRead,
    PrintOptions,
};
use crate::commands::failure_logs::{JudgedObject, ShownPart, StreamedPods};
use crate::commands::{CommandError, Session, Terminal};
use crate::env::QueuedStream;
use crate::logs::{ContainerFilter, PodLogs, ReadOptions};
use crate::model::Model;
use crate::object::{Uid, condition};
use crate::source::log::{LogContainer, LogStart};
use crate::source::{ClusterId, SourceKey, Version};

/// At most this many logs are followed; the others are read in turn. `logs` has the same number.
const MOST: usize = 200;

/// How long the log of a Pod that is ready is still read, with `--logs=new`: its last lines may be on their way.
const AFTER_READY: Duration = Duration::from_secs(1);

/// The Pods below the objects of a wait, and their logs.
pub(crate) struct WaitLogs {
    streamed: StreamedPods,
    printer: LogPrinter,
    /// The clusters whose first Pods are known: later ones are new.
    begun: BTreeSet<ClusterId>,
    pods: BTreeMap<PodKey, WaitPod>,
    filter: ContainerFilter,
    /// What waits for the reader of the lines. Meanwhile, the logs are not read: the lines wait on the node.
    stderr: QueuedStream,
}

/// A Pod of a cluster. Restored clusters have the same uids.
type PodKey = (ClusterId, Uid);

/// A Pod whose logs are read, or would be if it were not ready.
struct WaitPod {
    cluster: ClusterId,
    version: Arc<Version>,
    logs: PodLogs,
    read: ReadOptions,
    reading: PodReading,
}

/// How long the logs of a Pod are read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum PodReading {
    /// They were never read: the Pod was ready at the start.
    Never,
    On,
    /// They are read until then.
    Until(Instant),
    Over,
}

impl WaitLogs {
    /// The logs of no cluster yet.
    pub(crate) fn new(streamed: StreamedPods, terminal: &Terminal<'_>) -> WaitLogs {
        let look = LogLook {
            styles: terminal.note_styles(),
            format: LogFormat::Short,
            raw: None,
            is_of_notes: true,
            timestamps: false,
            clock: None,
            prefix: false,
            namespaces: false,
        };
        let options = PrintOptions {
            most: MOST,
            order: OrderChoice::Auto,
            is_followed: true,
            is_quiet: false,
            keeps_ended: true,
        };
        let output = LogOutput::new(look, LineFilter::default(), Vec::new());
        WaitLogs {
            streamed,
            printer: LogPrinter::new(options, output),
            begun: BTreeSet::new(),
            pods: BTreeMap::new(),
            filter: ContainerFilter::default().of_all(),
            stderr: terminal.stderr_queue(),
        }
    }

    /// Adds a cluster, unless it is a file or of the past. One of several has a short name.
    pub(crate) fn add_cluster(&mut self, session: &Session, label: Option<Arc<str>>) {
        if session.has_server() && !session.is_past() {
            self.printer.add_cluster(session);
        }
        if let Some(label) = label {
            self.printer.name_cluster(session.cluster.clone(), label);
        }
    }

    /// Takes the Pods below the objects of a wait as they are now: opens the logs of new ones, and ends those of Pods that are
    /// ready.
    pub(crate) fn refresh<'m>(
        &mut self,
        waiting: &Waiting,
        model: impl Fn(&SourceKey) -> Option<&'m Model>,
    ) {
        let mut present = BTreeSet::new();
        for JudgedObject { model, uid } in waiting.objects(&model) {
            for pod in self.pods_below(model, &uid) {
                present.extend(self.take(model, &pod));
            }
        }
        let is_read = |key: &&SourceKey| model(key).is_some_and(Model::is_up_to_date);
        let read = waiting.keys().filter(is_read);
        self.begun.extend(read.map(|key| key.cluster.clone()));
        self.pods.retain(|key, _| present.contains(key));
        self.end_ready();
        let read = self.pods.values();
        let read = read.filter(|pod| pod.reading != PodReading::Never);
        let read = read.map(|pod| PodToRead {
            cluster: &pod.cluster,
            pod: &pod.logs,
            read: pod.read,
        });
        let read: Vec<PodToRead<'_>> = read.collect();
        let choice = ContainerChoice {
            filter: &self.filter,
            state: None,
        };
        self.printer.sync(&read, choice);
    }

    /// The Pods that an object is or that are below it, and those that its Services select.
    fn pods_below(&self, model: &Model, object: &Uid) -> BTreeSet<Uid> {
        let graph = model.graph();
        let mut below: BTreeSet<Uid> = match self.streamed {
            StreamedPods::OfNewRevision => graph.current_dependents(object).into_iter().collect(),
            StreamedPods::All => graph.with_below([object]),
        };
        below.insert(object.clone());
        let nodes = below.iter().filter_map(|uid| graph.node(uid));
        let services = nodes.filter(|node| node.service().is_some());
        let behind = services.flat_map(|service| graph.selected_pods(&service.uid));
        let behind: Vec<Uid> = behind.map(|pod| pod.uid.clone()).collect();
        below.extend(behind);
        below
    }

    /// Takes the newest version of an object, if it is a Pod that is there.
    fn take(&mut self, model: &Model, uid: &Uid) -> Option<PodKey> {
        let object = model.object(uid);
        let object = object.filter(|object| object.departure.is_none())?;
        let is_pod = &*object.object.kind == "Pod" && object.object.group().is_empty();
        let (source, version) = object.source_version().filter(|_| is_pod)?;
        let key = (source.cluster.clone(), uid.clone());
        let known = self.pods.get(&key);
        if known.is_some_and(|known| Arc::ptr_eq(&known.version, version)) {
            return Some(key);
        }
        let doc = model.doc(uid)?;
        let ready = condition(doc.root(), "Ready");
        let is_ready = ready.is_some_and(|ready| ready.status == "True");
        let (read, reading) = match known {
            Some(known) => (known.read, known.reading),
            None => self.start(&source.cluster, is_ready),
        };
        let reading = match reading {
            PodReading::On if is_ready && self.streamed == StreamedPods::OfNewRevision => {
                PodReading::Until(Instant::now() + AFTER_READY)
            }
            reading => reading,
        };
        let pod = WaitPod {
            cluster: source.cluster.clone(),
            version: version.clone(),
            logs: PodLogs::of(doc.root()),
            read,
            reading,
        };
        self.pods.insert(key.clone(), pod);
        Some(key)
    }

    /// What to read of a Pod that is new to the wait. The lines of one that is ready at the start are old.
    fn start(&self, cluster: &ClusterId, is_ready: bool) -> (ReadOptions, PodReading) {
        let is_new = self.begun.contains(cluster);
        let tail = (is_ready && !is_new).then_some(0);
        let read = ReadOptions {
            follow: true,
            is_new,
            start: LogStart { tail, since: None },
            ..ReadOptions::default()
        };
        let reading = match self.streamed {
            StreamedPods::OfNewRevision if tail.is_some() => PodReading::Never,
            StreamedPods::OfNewRevision | StreamedPods::All => PodReading::On,
        };
        (read, reading)
    }

    /// Ends the logs of the Pods that have been ready for a moment. A reader that does not read has not had their last lines.
    fn end_ready(&mut self) {
        let now = Instant::now();
        let is_unread = self.stderr.is_behind();
        for pod in self.pods.values_mut() {
            if let PodReading::Until(end) = &mut pod.reading
                && is_unread
            {
                *end = now + AFTER_READY;
            }
            if matches!(pod.reading, PodReading::Until(end) if end <= now) {
                pod.reading = PodReading::Over;
                self.printer.close_pod(&pod.cluster, &pod.logs.pod);
            }
        }
    }

    /// Waits until there is something to print, and standard error has room for it. It is cancel safe.
    pub(crate) async fn due(&self) {
        // Without a reader, what is printed is dropped.
        let _closed_pipe = self.stderr.wait_until_written().await;
        self.printer.due().await;
    }

    /// Prints the lines that are due.
    pub(crate) fn print(&mut self, terminal: &mut Terminal<'_>) -> Result<(), CommandError> {
        self.printer.print(terminal)
    }

    /// Prints what has come until the end of the wait, as [`LogPrinter::finish`] does.
    pub(crate) async fn finish(&mut self, terminal: &mut Terminal<'_>) -> Result<(), CommandError> {
        self.printer.finish(terminal).await
    }

    /// Prints what has come until now.
    pub(crate) fn stop(&mut self, terminal: &mut Terminal<'_>) -> Result<(), CommandError> {
        self.printer.stop();
        self.printer.print(terminal)
    }

    /// How much of the log of an instance was printed.
    pub(crate) fn shown_part(&self, container: &LogContainer, instance: &str) -> ShownPart {
        self.printer.shown_part(container, instance)
    }
}
