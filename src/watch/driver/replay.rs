//! Reads a hole back from the server's ring: a watch from the old version is sent every event since, as far
//! as the ring reaches. That is one request for what walks take thousands for.

use std::sync::Arc;

use super::course::Course;
use super::fill::{Filler, Filling};
use crate::watch::envelope::Verb;
use crate::watch::event::Why;
use crate::watch::history::{CachedEvent, Lacks, Quiet, Short, Span, Told, WatchCache};
use crate::watch::hole::Filled;
use crate::watch::queue::Follows;
use crate::watch::store::name;

/// So many events are told at once.
const BATCH: usize = 256;

impl Filler {
    /// Tells what the server's ring holds; says whether that was anything.
    pub(super) async fn replay(&self, filling: &mut Filling) -> bool {
        let began = filling.base;
        if filling.ring.is_none_or(|ring| ring > began) {
            return false;
        }
        match self.follow(filling).await {
            Ok(()) => filling.base = filling.hole.upto,
            Err(Short::Only(oldest)) => {
                filling.ring = Some(oldest).filter(|oldest| *oldest > began);
            }
            Err(Short::Never | Short::Broken) if filling.base > began => {}
            // It is not asked again at the same place.
            Err(Short::Never | Short::Broken) => filling.ring = None,
        }
        filling.base > began
    }

    /// Tells every event up to the end of the hole, or as far as they come.
    async fn follow(&self, filling: &mut Filling) -> Result<(), Short> {
        let span = Span {
            after: filling.base,
            upto: filling.hole.upto,
        };
        let mut cache = WatchCache::open(&self.archive, span, Quiet::Long(self.pace)).await?;
        let open = filling.courses.values().filter(|course| !course.is_over());
        let mut lacking = open.count();
        let mut batch = Vec::new();
        let came = loop {
            let lacks = match lacking {
                0 => Lacks::Nothing,
                _ => Lacks::AnEvent,
            };
            let event = match cache.next(lacks).await {
                Ok(Some(event)) => event,
                Ok(None) if lacking > 0 => break Err(Short::Broken),
                Ok(None) => break Ok(()),
                Err(short) => break Err(short),
            };
            let object = &event.version.object;
            let course = filling.courses.entry(name(object));
            let course = course.or_insert_with(|| Course::new(object.clone()));
            let was_over = course.is_over();
            batch.push(course.advance(&event));
            match (was_over, course.is_over()) {
                (false, true) => lacking -= 1,
                (true, false) => lacking += 1,
                (true, true) | (false, false) => {}
            }
            if batch.len() >= BATCH && !self.tell(filling, &mut batch).await {
                return Err(Short::Broken);
            }
        };
        if self.tell(filling, &mut batch).await {
            came
        } else {
            Err(Short::Broken)
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
    fn advance(&mut self, event: &CachedEvent) -> Told {
        let now = Arc::new(event.version.unread());
        let prev = self.then.take();
        let why = match event.verb {
            Verb::Deleted => Why::Deleted,
            Verb::Added | Verb::Modified => {
                self.then = Some(now.clone());
                prev.as_ref().map_or(Why::Added, |_| Why::Modified)
            }
        };
        Told {
            why,
            at: Some(event.at),
            now,
            prev,
        }
    }
}
