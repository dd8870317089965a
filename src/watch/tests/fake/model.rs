//! The state of the server in memory, its history, and the script of its faults.

use std::collections::{BTreeMap, BTreeSet, VecDeque};
use std::time::Duration;

use crate::cluster::{ApiError, ApiStatus};
use crate::object::Doc;
use crate::source::{Matcher, Select, SourceKey};
use crate::watch::error::SourceError;

/// How often the server sends a bookmark on a quiet watch.
pub(super) const BOOKMARK: Duration = Duration::from_secs(60);

/// A key for all pods.
pub(in crate::watch) fn pods() -> SourceKey {
    SourceKey::all("", "Pod")
}

/// The error for a response with this code.
pub(in crate::watch) fn api_error(code: u16) -> SourceError {
    let error = ApiError {
        verb: "list",
        resource: "pods".into(),
        namespace: None,
        status: ApiStatus {
            code,
            reason: String::new(),
            message: format!("code {code}"),
        },
    };
    SourceError::answered(error, None)
}

/// A 429 with a `Retry-After`.
pub(in crate::watch) fn throttled(seconds: u64) -> SourceError {
    let after = Some(Duration::from_secs(seconds));
    match api_error(429) {
        SourceError::Throttled { error, .. } => SourceError::Throttled { error, after },
        other => other,
    }
}

/// What happened to an object.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::watch) enum Did {
    Added,
    Modified,
    Deleted,
}

/// One version of one object.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(in crate::watch) struct FakePod {
    pub(in crate::watch) name: String,
    pub(in crate::watch) uid: String,
    pub(in crate::watch) rv: u64,
    pub(in crate::watch) app: String,
    pub(in crate::watch) deleting: bool,
    /// The version of its last change. A deletion is not a change.
    pub(in crate::watch) at: u64,
}

impl FakePod {
    /// The pod as a watch event contains it.
    pub(in crate::watch) fn body(&self) -> String {
        format!(
            "{{\"kind\":\"Pod\",\"apiVersion\":\"v1\",{}",
            &self.listed()[1..]
        )
    }

    /// The pod as a listing contains it.
    pub(super) fn listed(&self) -> String {
        let FakePod {
            name,
            uid,
            rv,
            app,
            deleting,
            at,
        } = self;
        let deleting = if *deleting {
            r#""deletionTimestamp":"2026-01-01T00:00:00Z","#
        } else {
            ""
        };
        format!(
            r#"{{"metadata":{{"name":"{name}","namespace":"ns","uid":"{uid}","resourceVersion":"{rv}",{deleting}"labels":{{"app":"{app}"}}}}, "n":1.50,"at":{at}}}"#
        )
    }

    pub(super) fn matches(&self, key: &SourceKey) -> bool {
        let matches = || {
            let doc = Doc::parse(self.listed()).expect("valid");
            Matcher::new(&key.select).matches(doc.root())
        };
        key.select == Select::All || matches()
    }
}

/// One entry of the server's history.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(in crate::watch) struct LoggedWrite {
    pub(in crate::watch) did: Did,
    pub(in crate::watch) pod: FakePod,
}

/// The script of one watch.
#[derive(Clone, Debug)]
pub(in crate::watch) struct Plan {
    /// The watch is refused with this error.
    pub(in crate::watch) refuse: Option<SourceError>,
    /// How many earlier versions it sends again.
    pub(in crate::watch) replay: u64,
    /// How many events are sent before the fault.
    pub(in crate::watch) after: usize,
    pub(in crate::watch) fault: WatchFault,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::watch) enum WatchFault {
    None,
    /// The server ends the watch.
    Close,
    /// The connection breaks.
    Reset,
    /// Half a line, and the end.
    Half,
    /// The server sends nothing more.
    Stall,
    /// The next line is damaged; later ones are not.
    Garbage,
    /// The next line has an unknown type.
    UnknownType,
    /// The next line is too long.
    TooLong,
    /// An `ERROR` line with this code.
    Error(u16),
    /// The `ERROR` line that names the oldest version to start from.
    TooOld,
}

impl Plan {
    pub(in crate::watch) fn after(after: usize, fault: WatchFault) -> Plan {
        Plan {
            refuse: None,
            replay: 0,
            after,
            fault,
        }
    }

    pub(in crate::watch) fn refuse(error: SourceError) -> Plan {
        Plan {
            refuse: Some(error),
            ..Plan::after(0, WatchFault::None)
        }
    }

    pub(in crate::watch) fn replay(replay: u64) -> Plan {
        Plan {
            replay,
            ..Plan::after(0, WatchFault::None)
        }
    }
}

/// A request that the server received.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(in crate::watch) enum FakeRequest {
    List {
        limit: u32,
        next: Option<String>,
        fields: Option<String>,
    },
    /// A read of the newest version.
    Newest,
    Watch {
        from: String,
    },
}

/// The server's state and script.
#[derive(Debug, Default)]
pub(in crate::watch) struct Model {
    /// Whether listings have no resourceVersion.
    pub(in crate::watch) unversioned: bool,
    pub(in crate::watch) rv: u64,
    pub(in crate::watch) log: Vec<LoggedWrite>,
    /// The oldest version from which a watch can start.
    pub(in crate::watch) forgotten: u64,
    /// The oldest version that can be read.
    pub(in crate::watch) compacted: u64,
    /// After this many reads of old versions, the server compacts up to this version.
    pub(in crate::watch) compacts_after: Option<(usize, u64)>,
    /// The error of every read of an old version.
    pub(in crate::watch) no_history: Option<SourceError>,
    /// How long a read of an old version takes.
    pub(in crate::watch) read_takes: Duration,
    /// One in this many reads of old versions fails; 0 for none.
    pub(in crate::watch) flaky: usize,
    /// How many old versions are read at the moment, and how many were at most.
    pub(super) open_reads: usize,
    pub(in crate::watch) most_reads: usize,
    /// The old versions that were read.
    pub(in crate::watch) reads: Vec<u64>,
    /// Whether a 410 is an HTTP status instead of a line.
    pub(in crate::watch) gone_as_status: bool,
    pub(in crate::watch) bookmarks: bool,
    /// The version in all bookmarks, whatever version the watch started from.
    pub(in crate::watch) bookmark_at: Option<u64>,
    /// The history before each restore.
    pub(in crate::watch) lost: Vec<Vec<LoggedWrite>>,
    /// Versions whose event is damaged each time it is sent.
    pub(in crate::watch) poison: BTreeSet<u64>,
    /// The most items of a page; 0 for as many as the client requests.
    pub(in crate::watch) page_items: usize,
    /// The additional time that opening a watch takes.
    pub(in crate::watch) opening: Duration,
    pub(in crate::watch) no_list: Option<SourceError>,
    pub(in crate::watch) no_watch: Option<SourceError>,
    /// The errors of the next listings.
    pub(in crate::watch) lists: VecDeque<SourceError>,
    /// The errors of the next pages after the first one.
    pub(in crate::watch) pages: VecDeque<SourceError>,
    /// The scripts of the next watches.
    pub(in crate::watch) plans: VecDeque<Plan>,
    /// An object that each page after the first repeats.
    pub(in crate::watch) doubled: Option<FakePod>,
    pub(in crate::watch) requests: Vec<FakeRequest>,
    pub(in crate::watch) times: Vec<tokio::time::Instant>,
    /// How many watches got a 410, and how many damaged lines were sent.
    pub(in crate::watch) expired: usize,
    pub(in crate::watch) damaged: usize,
    /// The version of the first listing that was read to its end.
    pub(in crate::watch) listed_at: Option<u64>,
    /// The number of cuts so far: each ends all open watches.
    pub(super) kills: u64,
    pub(super) uids: u64,
}

impl Model {
    /// The objects at a version.
    pub(in crate::watch) fn at(&self, rv: u64) -> BTreeMap<String, FakePod> {
        Model::replay(&self.log, rv)
    }

    /// The objects at a version of a history.
    pub(in crate::watch) fn replay(log: &[LoggedWrite], rv: u64) -> BTreeMap<String, FakePod> {
        let mut there = BTreeMap::new();
        for op in log.iter().take_while(|op| op.pod.rv <= rv) {
            match op.did {
                Did::Added | Did::Modified => there.insert(op.pod.name.clone(), op.pod.clone()),
                Did::Deleted => there.remove(&op.pod.name),
            };
        }
        there
    }

    pub(super) fn line(&mut self, key: &SourceKey, op: &LoggedWrite) -> Option<String> {
        let before = self.at(op.pod.rv - 1).remove(&op.pod.name);
        let before = before.filter(|pod| pod.uid == op.pod.uid && pod.matches(key));
        let matches = op.pod.matches(key);
        let (kind, pod) = match (op.did, before, matches) {
            (Did::Added | Did::Modified, None, true) => ("ADDED", op.pod.clone()),
            (Did::Added | Did::Modified, Some(_), true) => ("MODIFIED", op.pod.clone()),
            (Did::Added | Did::Modified, Some(before), false) => {
                let rv = op.pod.rv;
                ("DELETED", FakePod { rv, ..before })
            }
            (Did::Deleted, Some(_), _) => ("DELETED", op.pod.clone()),
            (_, None, _) => return None,
        };
        if self.poison.contains(&op.pod.rv) {
            self.damaged += 1;
            return Some(format!(r#"{{"type":"{kind}","object":{{"metadata":}}"#));
        }
        Some(format!(r#"{{"type":"{kind}","object":{}}}"#, pod.body()))
    }
}
