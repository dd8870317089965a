//! A server in memory with scripted faults, for tests under a paused clock.

mod connection;
mod model;
mod past;
mod shared_model;

use std::sync::MutexGuard;
use std::time::Duration;

use bytes::Bytes;
use futures::future::BoxFuture;
use futures::stream;
use tokio::sync::watch;
use tokio::time::sleep;

use crate::object::ResourceVersion;
use crate::source::{Form, SourceKey};
use crate::watch::error::SourceError;
use crate::watch::transport::{At, LineStream, ListPage, Page, Transport};
use connection::FakeConnection;
pub(in crate::watch) use model::{
    Did, FakePod, FakeRequest, LoggedWrite, Model, Plan, WatchFault, api_error, pods, throttled,
};
use shared_model::SharedModel;

/// The server in memory.
#[derive(Clone)]
pub(in crate::watch) struct Fake {
    model: SharedModel,
    moved: watch::Sender<u64>,
}

impl Fake {
    pub(in crate::watch) fn new() -> Fake {
        let model = Model {
            rv: 100,
            forgotten: 100,
            compacted: 100,
            bookmarks: true,
            ..Model::default()
        };
        Fake {
            model: SharedModel::new(model),
            moved: watch::Sender::new(0),
        }
    }

    pub(in crate::watch) fn model(&self) -> MutexGuard<'_, Model> {
        self.model.lock()
    }

    fn wake(&self) {
        self.moved.send_modify(|moves| *moves += 1);
    }

    fn write(&self, did: Did, mut pod: FakePod) -> u64 {
        let mut model = self.model();
        model.rv += 1;
        pod.rv = model.rv;
        if did != Did::Deleted {
            pod.at = model.rv;
        }
        model.log.push(LoggedWrite { did, pod });
        let rv = model.rv;
        drop(model);
        self.wake();
        rv
    }

    pub(in crate::watch) fn get(&self, name: &str) -> Option<FakePod> {
        let model = self.model();
        model.at(model.rv).remove(name)
    }

    /// Creates a pod, or changes the one with that name. Returns the new version.
    pub(in crate::watch) fn apply(&self, name: &str) -> u64 {
        if let Some(pod) = self.get(name) {
            return self.write(Did::Modified, pod);
        }
        let mut model = self.model();
        model.uids += 1;
        let pod = FakePod {
            name: name.to_owned(),
            uid: format!("uid-{}", model.uids),
            rv: 0,
            app: "web".to_owned(),
            deleting: false,
            at: 0,
        };
        drop(model);
        self.write(Did::Added, pod)
    }

    /// Changes a pod's label.
    pub(in crate::watch) fn label(&self, name: &str, app: &str) -> u64 {
        let pod = self.get(name).expect("there");
        let app = app.to_owned();
        self.write(Did::Modified, FakePod { app, ..pod })
    }

    /// Marks a pod for deletion.
    pub(in crate::watch) fn terminate(&self, name: &str) -> u64 {
        let pod = self.get(name).expect("there");
        let deleting = true;
        self.write(Did::Modified, FakePod { deleting, ..pod })
    }

    pub(in crate::watch) fn delete(&self, name: &str) -> u64 {
        self.write(Did::Deleted, self.get(name).expect("there"))
    }

    /// Advances the version, as a write to another resource does.
    pub(in crate::watch) fn elsewhere(&self) {
        self.model().rv += 1;
        self.wake();
    }

    /// Adds the script of the next watch.
    pub(in crate::watch) fn plan(&self, plan: Plan) {
        self.model().plans.push_back(plan);
    }

    /// Cuts all watches. Requests are refused until [`Fake::revive`].
    pub(in crate::watch) fn kill(&self) {
        let down = SourceError::Connect {
            detail: "connection refused".into(),
        };
        let mut model = self.model();
        model.kills += 1;
        model.no_list = Some(down.clone());
        model.no_watch = Some(down);
        drop(model);
        self.wake();
    }

    /// Cuts all watches.
    pub(in crate::watch) fn cut(&self) {
        self.model().kills += 1;
        self.wake();
    }

    pub(in crate::watch) fn revive(&self) {
        let mut model = self.model();
        model.no_list = None;
        model.no_watch = None;
    }

    /// How many lists and how many watches were requested.
    pub(in crate::watch) fn asked(&self) -> (usize, usize) {
        let model = self.model();
        let count = |is: fn(&&FakeRequest) -> bool| model.requests.iter().filter(is).count();
        let lists = count(|request| matches!(request, FakeRequest::List { .. }));
        let watches = count(|request| matches!(request, FakeRequest::Watch { .. }));
        (lists, watches)
    }

    /// Answers a request that only reads the newest version.
    fn newest(&self) -> Result<ListPage, SourceError> {
        let mut model = self.model();
        model.requests.push(FakeRequest::Newest);
        model.times.push(tokio::time::Instant::now());
        match &model.no_list {
            Some(error) => Err(error.clone()),
            None => Ok(ListPage {
                version: ResourceVersion::new(model.rv.to_string()),
                items: Vec::new(),
                next: None,
            }),
        }
    }

    fn list_now(&self, key: &SourceKey, page: &Page) -> Result<ListPage, SourceError> {
        if page.limit == 1 && key.form == Form::Metadata {
            return self.newest();
        }
        let mut model = self.model();
        model.requests.push(FakeRequest::List {
            limit: page.limit,
            next: page.next.as_deref().map(str::to_owned),
            fields: key.select.field_selector().map(Into::into),
        });
        model.times.push(tokio::time::Instant::now());
        if let Some(error) = &model.no_list {
            return Err(error.clone());
        }
        let script = match page.next {
            None => &mut model.lists,
            Some(_) => &mut model.pages,
        };
        if let Some(error) = script.pop_front() {
            return Err(error);
        }
        let (rv, from) = match page.next.as_deref().and_then(|next| next.split_once(':')) {
            Some((rv, from)) => (rv.parse().expect("ours"), from.parse().expect("ours")),
            None => (model.rv, 0_usize),
        };
        let mut pods: Vec<FakePod> = model.at(rv).into_values().collect();
        pods.retain(|pod| pod.matches(key));
        let limit = match (page.limit as usize, model.page_items) {
            (0, _) => pods.len(),
            (asked, 0) => asked,
            (asked, items) => asked.min(items),
        };
        let upto = pods.len().min(from + limit);
        let mut items: Vec<Bytes> = pods[from..upto]
            .iter()
            .map(|pod| pod.listed().into())
            .collect();
        if let Some(pod) = model.doubled.as_ref().filter(|_| from > 0) {
            items.push(pod.listed().into());
        }
        if upto == pods.len() {
            model.listed_at.get_or_insert(rv);
        }
        Ok(ListPage {
            version: if model.unversioned {
                ResourceVersion::new("")
            } else {
                ResourceVersion::new(rv.to_string())
            },
            items,
            next: (upto < pods.len()).then(|| format!("{rv}:{upto}").into()),
        })
    }

    fn watch_now(&self, key: &SourceKey, from: &str) -> Result<LineStream, SourceError> {
        let mut model = self.model();
        model.requests.push(FakeRequest::Watch {
            from: from.to_owned(),
        });
        model.times.push(tokio::time::Instant::now());
        if let Some(error) = &model.no_watch {
            return Err(error.clone());
        }
        let mut plan = model
            .plans
            .pop_front()
            .unwrap_or_else(|| Plan::after(0, WatchFault::None));
        if let Some(error) = plan.refuse {
            return Err(error);
        }
        let from: u64 = from.parse().expect("ours");
        if from < model.forgotten {
            model.expired += 1;
            if model.gone_as_status {
                return Err(api_error(410));
            }
            plan = Plan::after(0, WatchFault::TooOld);
        }
        let connection = FakeConnection {
            model: self.model.clone(),
            moved: self.moved.subscribe(),
            key: key.clone(),
            at: from - plan.replay.min(from.saturating_sub(100)),
            kills: model.kills,
            plan,
            sent: 0,
            over: false,
        };
        Ok(Box::pin(stream::unfold(connection, FakeConnection::next)))
    }
}

impl Transport for Fake {
    fn list<'a>(
        &'a self,
        key: &'a SourceKey,
        at: At,
        page: Page,
    ) -> BoxFuture<'a, Result<ListPage, SourceError>> {
        Box::pin(async move {
            sleep(Duration::from_millis(2)).await;
            match at {
                At::Latest => self.list_now(key, &page),
                At::Exact(revision) => {
                    let takes = self.model().begin_read();
                    sleep(takes).await;
                    self.model().open_reads -= 1;
                    self.read_back(key, revision.to_string().parse().expect("a number"))
                }
            }
        })
    }

    fn watch<'a>(
        &'a self,
        key: &'a SourceKey,
        from: &'a ResourceVersion,
    ) -> BoxFuture<'a, Result<LineStream, SourceError>> {
        Box::pin(async move {
            let opening = self.model().opening;
            sleep(opening + Duration::from_millis(1)).await;
            self.watch_now(key, from.as_str())
        })
    }
}
