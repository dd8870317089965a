//! `FoldedRun`: what controllers did about one object, as one line.

use std::time::Duration;

use jiff::Timestamp;
use tokio::time::Instant;

use super::folded_objects::{FoldedObject, FoldedObjects};
use super::{RunsEnd, TimelinePart};
use crate::commands::changes::compared::Compared;
use crate::commands::changes::line_style::LineStyle;
use crate::commands::changes::state::TimelineEntry;
use crate::object::ObjectRef;
use crate::render::count::plural;
use crate::render::diff::ChangeType;
use crate::status::{Assessment, Rules};

/// The flag that shows the folded versions.
const SHOW: &str = "(show: --owned)";

/// The folded versions about one object, since its last printed version.
pub(super) struct FoldedRun {
    /// The object, without its uid.
    pub(super) owner: ObjectRef,
    /// The number of lines of the current page above the run's line; `None` if an earlier page has that place.
    pub(super) at: Option<usize>,
    /// Whether the line is below the owner's own version.
    pub(super) is_below_owner: bool,
    first: Timestamp,
    last: Timestamp,
    /// The owned objects.
    objects: FoldedObjects,
    /// The number of their versions.
    versions: usize,
    /// The number of versions in which controllers report about the owner.
    reports: usize,
    events: usize,
    /// The number of Warnings that repeat one with a line of its own.
    warnings: usize,
    /// Whether a version of the owner was printed before it.
    pub(super) follows_change: bool,
    /// When the last version was added, for the end of the run.
    pub(super) touched: Instant,
}

/// A run of which nothing came for this long is complete.
const SETTLED: Duration = Duration::from_secs(10);

impl FoldedRun {
    pub(super) fn new(owner: ObjectRef, first: Timestamp) -> FoldedRun {
        FoldedRun {
            owner,
            at: None,
            is_below_owner: false,
            first,
            last: first,
            objects: FoldedObjects::default(),
            versions: 0,
            reports: 0,
            events: 0,
            warnings: 0,
            follows_change: false,
            touched: Instant::now(),
        }
    }

    /// Adds a version.
    pub(super) fn add(
        &mut self,
        part: TimelinePart,
        entry: &TimelineEntry,
        compared: &Compared<'_>,
    ) {
        self.last = self.last.max(entry.latest());
        if part == TimelinePart::Report
            && compared.read.event.now.object.without_uid() == self.owner
        {
            self.reports += 1;
            return;
        }
        self.versions += 1;
        let (event, plural) = (compared.read.event, entry.key.resource.plural.clone());
        let object = &event.now.object;
        if event.change == ChangeType::Deleted {
            return self.objects.add_deletion(object, plural);
        }
        let assessed = (!event.is_end())
            .then(|| Assessment::of(compared.read.doc.root(), self.last, Rules::Spy));
        let failing = assessed.filter(Assessment::is_failing);
        let failing = failing.map(|failing| failing.row.word);
        self.objects
            .add(object.clone(), FoldedObject { plural, failing });
    }

    /// Counts an Event.
    pub(super) fn add_event(&mut self, entry: &TimelineEntry) {
        self.last = self.last.max(entry.latest());
        self.events += 1;
    }

    /// Counts a Warning that repeats one with a line of its own.
    pub(super) fn add_warning(&mut self, entry: &TimelineEntry) {
        self.last = self.last.max(entry.latest());
        self.warnings += 1;
    }

    /// Whether it is complete if nothing comes for a while. The footer of a terminal has runs that follow no change.
    pub(super) fn can_settle(&self, ends: RunsEnd) -> bool {
        match ends {
            RunsEnd::All | RunsEnd::Settled => true,
            RunsEnd::SettledChanges => self.follows_change,
        }
    }

    /// When the run is complete, if nothing comes until then.
    pub(super) fn settles_at(&self) -> Instant {
        self.touched + SETTLED
    }

    /// The page with its place is printed.
    pub(super) fn leave_page(&mut self) {
        self.at = None;
        self.is_below_owner = false;
    }

    /// `  12 versions of 6 pods and 1 replicaset, 5 status reports, 2 failing (CrashLoopBackOff) (show: --owned)`. If that is too
    /// long for the line, it has only the number of objects, or only the sum.
    pub(super) fn line(&self, style: &LineStyle<'_>) -> String {
        let head = self.head(style);
        let failing = self.objects.failing();
        let (reported, evented) = (self.reported(), self.evented());
        let sum = self.versions + self.reports + self.events + self.warnings;
        let others = [reported, evented, self.warned(), failing.clone()];
        let with = |owned: Option<String>| [&[owned][..], &others].concat();
        let (whole, brief) = (with(self.owned()), with(self.owned_in_brief()));
        let least = vec![Some(plural(sum, "version")), failing];
        let line = |parts: Vec<Option<String>>| {
            let parts: Vec<String> = parts.into_iter().flatten().collect();
            format!("{head}{} {SHOW}", parts.join(", "))
        };
        let [whole, brief, least] = [whole, brief, least].map(line);
        let mut lines = [whole, brief].into_iter();
        let line = lines.find(|line| style.fits(line)).unwrap_or(least);
        style.look.styles.dim(&line)
    }

    /// The times and the name of the owner, unless its own version is above the line.
    fn head(&self, style: &LineStyle<'_>) -> String {
        if self.is_below_owner {
            return "  ".to_owned();
        }
        let mut times = vec![style.clock(self.first), style.clock(self.last)];
        times.dedup();
        let dot = style.look.symbols.dot;
        format!("{dot}  {} {}: ", times.join("-"), style.name(&self.owner))
    }

    /// `12 versions of 6 pods and 1 replicaset`
    fn owned(&self) -> Option<String> {
        let versions = plural(self.versions, "version");
        (self.versions > 0).then(|| format!("{versions} of {}", self.objects.by_kind()))
    }

    /// `12 versions of 7 objects`
    fn owned_in_brief(&self) -> Option<String> {
        let versions = plural(self.versions, "version");
        (self.versions > 0).then(|| format!("{versions} of {}", self.objects.in_brief()))
    }

    fn reported(&self) -> Option<String> {
        (self.reports > 0).then(|| plural(self.reports, "status report"))
    }

    fn warned(&self) -> Option<String> {
        (self.warnings > 0).then(|| plural(self.warnings, "more warning"))
    }

    fn evented(&self) -> Option<String> {
        (self.events > 0).then(|| plural(self.events, "event"))
    }
}
