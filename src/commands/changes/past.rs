//! What happened before the program was started, read back from the server's memory.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use jiff::Timestamp;
use tokio::sync::OnceCell;
use tokio::task::JoinSet;
use tokio::time::{Instant, sleep_until};

use super::look::Look;
use super::since::{Reach, Whose};
use super::unread::Unread;
use crate::commands::sources::named;
use crate::diff::{Filter, Noise};
use crate::object::ResourceVersion;
use crate::watch::{Between, Dates, End, Mux, Revision, SourceError, SourceKey, Told, Version};

/// How long live events wait for the versions before them, unless more was asked for.
pub(super) const PATIENCE: Duration = Duration::from_secs(1);

/// The look-back of one run.
pub(super) struct LookBack {
    mux: Mux,
    reach: Reach,
    shown: Arc<(Filter, BTreeSet<Noise>)>,
    /// The sources whose walk has not begun.
    waiting: Vec<SourceKey>,
    walks: JoinSet<Found>,
    deadline: Option<Instant>,
    /// What dates the revisions of its cluster.
    dates: Option<Arc<Dates>>,
    pub(super) found: Vec<Found>,
    /// What could not be read.
    pub(super) unread: Vec<Unread>,
}

/// What is known of a source when the look-back begins.
pub(super) enum Start {
    /// Its one object is there.
    Version(Arc<Version>),
    /// It has been listed at this version.
    Listing(ResourceVersion),
}

/// What was found of one source.
#[derive(Debug)]
pub(super) struct Found {
    pub(super) key: Arc<SourceKey>,
    /// What happened, the oldest first, of each object.
    pub(super) told: Vec<Told>,
    /// Why there is no more.
    pub(super) end: Option<End>,
    /// Of a wide source: how many objects it has.
    pub(super) objects: Option<usize>,
    /// From which revision on all versions are told of what was there then, or is there now.
    pub(super) from: Option<Revision>,
    /// From which revision on nothing is missing that came and went, either, where that is known.
    pub(super) complete: Option<Revision>,
    /// When revisions were written, where that is known.
    pub(super) dated: BTreeMap<Revision, Between>,
}

impl Found {
    /// Whether something may be missing that came and went.
    pub(super) fn is_short(&self) -> bool {
        self.complete.is_none() || self.complete > self.from
    }

    /// Of this source, nothing yet.
    pub(super) fn new(key: Arc<SourceKey>) -> Found {
        Found {
            key,
            told: Vec::new(),
            end: None,
            objects: None,
            from: None,
            complete: None,
            dated: BTreeMap::new(),
        }
    }
}

impl LookBack {
    /// The look-back of these sources.
    pub(super) fn new(
        mux: Mux,
        reach: Reach,
        keys: &[SourceKey],
        shown: (Filter, BTreeSet<Noise>),
    ) -> LookBack {
        let has_past = |key: &&SourceKey| {
            let wanted = reach.whose == Whose::All || named(key).is_some();
            wanted && mux.history(key).is_some()
        };
        let waiting: Vec<SourceKey> = keys.iter().filter(has_past).cloned().collect();
        let dates = waiting.first().and_then(|key| mux.dates(&key.cluster));
        LookBack {
            dates: dates.map(Arc::new),
            unread: Vec::new(),
            reach,
            shown: Arc::new(shown),
            waiting,
            walks: JoinSet::new(),
            deadline: None,
            found: Vec::new(),
            mux,
        }
    }

    /// Whether the past was asked for.
    pub(super) fn is_asked(&self) -> bool {
        !self.reach.brief
    }

    /// What happened before this was not asked for.
    pub(super) fn since(&self) -> Option<Timestamp> {
        self.reach.time
    }

    /// Whether there is anything to look back at, or to say of it.
    pub(super) fn is_wanted(&self) -> bool {
        !self.waiting.is_empty() || self.is_asked()
    }

    /// Whether all has been found that is waited for.
    pub(super) fn is_over(&self) -> bool {
        self.waiting.is_empty() && self.walks.is_empty()
    }

    /// Begins with a source, once it is known what is there. What comes after that is told as it comes.
    pub(super) fn start(&mut self, key: &SourceKey, from: Start) {
        let Some(at) = self.waiting.iter().position(|waiting| waiting == key) else {
            return;
        };
        let key = self.waiting.swap_remove(at);
        if self.reach.whose == Whose::Gone && matches!(from, Start::Version(_)) {
            return;
        }
        let Some(history) = self.mux.history(&key) else {
            return;
        };
        let deadline = self.reach.brief.then(|| Instant::now() + PATIENCE);
        self.deadline = self.deadline.or(deadline);
        let look = Look {
            history,
            dates: self.dates.clone(),
            reach: self.reach,
            shown: self.shown.clone(),
            deadline,
            is_dated: OnceCell::new(),
            dated: Mutex::default(),
        };
        self.walks.spawn(look.run(from));
    }

    /// Leaves out a source that cannot be read.
    pub(super) fn skip(&mut self, key: &SourceKey, cause: &Arc<str>) {
        if self.is_waiting_for(key) {
            self.waiting.retain(|waiting| waiting != key);
            self.unread.push(Unread::refused(key, cause));
        }
    }

    /// Whether a source is still to be looked back at.
    fn is_waiting_for(&self, key: &SourceKey) -> bool {
        self.waiting.contains(key)
    }

    /// Whether it says itself that a source cannot be read.
    pub(super) fn tells_of(&self, key: &SourceKey) -> bool {
        let is_unread = |unread: &Unread| unread.is_of(key);
        self.is_asked() && (self.is_waiting_for(key) || self.unread.iter().any(is_unread))
    }

    /// Waits until something more was found, or there is no more time.
    pub(super) async fn next(&mut self) {
        let late = async {
            match self.deadline {
                // The walks themselves end with what they have.
                Some(deadline) => sleep_until(deadline + PATIENCE / 4).await,
                None => std::future::pending().await,
            }
        };
        if self.is_over() {
            return std::future::pending().await;
        }
        tokio::select! {
            Some(walked) = self.walks.join_next() => self.found.extend(walked.ok()),
            () = late => {
                let late = SourceError::Timeout { after: PATIENCE }.to_string().into();
                let unread = self.waiting.drain(..).map(|key| Unread::refused(&key, &late));
                self.unread.extend(unread);
                self.walks.abort_all();
                while self.walks.join_next().await.is_some() {}
            }
        }
    }
}
