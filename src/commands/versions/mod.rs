//! The versions of objects: each with the previous one, its writers and its time, from before the start, too.
//!
//! Verbs that show versions take them from here: [`ChangesState`] makes an entry of each live event, [`LookBack`] reads what was
//! before, [`timeline`] brings both in one order, and [`ShownVersions`] compares.

mod author;
mod by;
mod compared;
mod lookback;
mod notice;
mod read_versions;
mod state;

pub(crate) use author::{Author, ControlledObject, KnownOwners, authors, is_event, is_report};
pub(crate) use by::{ManagerFilter, ManagerPattern};
pub(crate) use compared::{Compared, ShownVersions, WriteTime};
pub(crate) use lookback::{
    ClusterScoped, DatedRevision, LookBack, LookBackStart, PastVersion, Reach, Since,
    SkippedSource, SourcePast, parse_revision, parse_since, timeline, unfinished, unread_lines,
    unread_parts,
};
pub(crate) use notice::{known, notice, unreadable};
pub(crate) use read_versions::{DocCache, ReadVersions, TwoLives, VersionDoc};
pub(crate) use state::{ChangesState, Occurrence, PastTime, TimelineEntry, VersionEvent, When};
