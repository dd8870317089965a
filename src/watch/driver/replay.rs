//! Reads a hole back from the server's ring: a watch from the old version is sent every event since, as far
//! as the ring reaches. That is one request for what walks take thousands for.

use std::time::Duration;

use futures::StreamExt;
use tokio::time::timeout;

use super::course::Course;
use super::fill::{Filler, Filling};
use crate::object::ResourceVersion;
use crate::watch::envelope::{Item, Line, Reader, Verb};
use crate::watch::event::Why;
use crate::watch::history::{Revision, Told, named_oldest};
use crate::watch::hole::Filled;
use crate::watch::queue::Follows;
use crate::watch::store::name;
use crate::watch::transport::LineStream;

/// After so long without an event all that the ring holds has been sent, unless one is known to lack.
const QUIET: Duration = Duration::from_secs(1);
/// How long one is waited for that is known to lack.
const PATIENCE: Duration = Duration::from_secs(5);
/// So many events are told at once.
const BATCH: usize = 256;

/// Where a watch from the old version came to.
enum Came {
    /// To the end of the hole.
    Through,
    /// It broke off before that.
    Off,
    /// Nowhere: the ring begins here, if the server says where.
    Expired(Option<Revision>),
}

impl Filler {
    /// Tells what the server's ring holds; says whether that was anything.
    pub(super) async fn replay(&self, filling: &mut Filling) -> bool {
        let began = filling.base;
        if filling.ring.is_none_or(|ring| ring > began) {
            return false;
        }
        let from = ResourceVersion::from(began);
        let came = match self.archive.transport.watch(&self.archive.key, &from).await {
            Ok(lines) => self.follow(filling, lines).await,
            Err(error) => Came::Expired(named_oldest(&error.to_string())),
        };
        match came {
            Came::Through => filling.base = filling.hole.upto,
            Came::Off if filling.base > began => {}
            // It is not asked again at the same place.
            Came::Off => filling.ring = None,
            Came::Expired(oldest) => filling.ring = oldest.filter(|oldest| *oldest > began),
        }
        filling.base > began
    }

    async fn follow(&self, filling: &mut Filling, mut lines: LineStream) -> Came {
        let mut reader = Reader::new(&self.archive.key);
        let mut batch = Vec::new();
        let mut lacking = filling
            .courses
            .values()
            .filter(|course| !course.is_over())
            .count();
        let mut last = filling.base;
        let came = loop {
            let patience = if lacking == 0 { QUIET } else { PATIENCE };
            let line = match timeout(self.pace.of(patience), lines.next()).await {
                Err(_) if lacking == 0 => break Came::Through,
                Err(_) | Ok(None | Some(Err(_))) => break Came::Off,
                Ok(Some(Ok(line))) => line,
            };
            let (verb, item) = match reader.line(&line) {
                Ok(Line::Object { verb, item }) => (verb, item),
                Ok(Line::Bookmark(version)) => match Revision::parse(&version) {
                    Some(at) if at >= filling.hole.upto => break Came::Through,
                    _ => continue,
                },
                Ok(Line::Error(status)) => break Came::Expired(named_oldest(&status.message)),
                Err(_) => break Came::Off,
            };
            let Some(at) = Revision::parse(&item.version.version) else {
                break Came::Off;
            };
            if at > filling.hole.upto {
                break Came::Through;
            }
            if at <= last {
                continue;
            }
            last = at;
            let course = filling.courses.entry(name(&item.version.object));
            let course = course.or_insert_with(|| Course::new(item.version.object.clone()));
            let was_over = course.is_over();
            batch.push(course.advance(verb, &item, at));
            match (was_over, course.is_over()) {
                (false, true) => lacking -= 1,
                (true, false) => lacking += 1,
                (true, true) | (false, false) => {}
            }
            if at == filling.hole.upto {
                break Came::Through;
            }
            if batch.len() >= BATCH && !self.tell(filling, &mut batch).await {
                return Came::Off;
            }
        };
        let is_told = self.tell(filling, &mut batch).await;
        match came {
            Came::Through if lacking > 0 || !is_told => Came::Off,
            came => came,
        }
    }

    /// Tells what has come, and waits for room; says whether to go on.
    async fn tell(&self, filling: &mut Filling, batch: &mut Vec<Told>) -> bool {
        let Some(upto) = batch.last().and_then(|told| told.at) else {
            return true;
        };
        let mut told = std::mem::take(batch);
        if self.archive.tell_why(&mut told).await.is_err() || self.check(filling).await.is_err() {
            // Subscribers still have what was there before.
            for told in told.into_iter().rev() {
                if let Some(course) = filling.courses.get_mut(&name(&told.now.object)) {
                    course.then = told.prev;
                }
            }
            return false;
        }
        let filled = Filled {
            told,
            ..Filled::default()
        };
        self.shared.fill(&mut filling.hole, filled, Follows::More);
        filling.base = upto;
        self.wait(filling).await;
        true
    }
}

impl Course {
    /// Takes in an event.
    fn advance(&mut self, verb: Verb, item: &Item, at: Revision) -> Told {
        let now = std::sync::Arc::new(item.version.unread());
        let prev = self.then.take();
        let why = match verb {
            Verb::Deleted => Why::Deleted,
            Verb::Added | Verb::Modified => {
                self.then = Some(now.clone());
                prev.as_ref().map_or(Why::Added, |_| Why::Modified)
            }
        };
        Told {
            why,
            at: Some(at),
            now,
            prev,
        }
    }
}
