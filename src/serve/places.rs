//! `Places`: how many streams, questions or connections may be open. No holder takes the places of all others.

use std::collections::HashMap;
use std::hash::Hash;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use axum::response::{IntoResponse, Response};
use http::StatusCode;
use http::header::RETRY_AFTER;

use super::reader::TokenHash;

/// After how many seconds a reader without a place may ask again.
const AGAIN: &str = "5";

/// How many things may be open, and how many are. `K` names their holders.
#[derive(Debug)]
pub struct Places<K> {
    limits: PlaceLimits,
    taken: Mutex<TakenPlaces<K>>,
}

/// The places of readers, by who they are.
pub type ReaderPlaces = Places<TokenHash>;

/// A place of a reader.
pub type ReaderPlace = HeldPlace<TokenHash>;

/// The most at a time.
#[derive(Clone, Copy, Debug)]
pub struct PlaceLimits {
    /// Of all.
    pub all: usize,
    /// Of one holder.
    pub of_one: usize,
}

#[derive(Debug)]
struct TakenPlaces<K> {
    all: usize,
    by_holder: HashMap<K, usize>,
}

/// One place. It is free again when this is dropped.
#[derive(Debug)]
pub struct HeldPlace<K: Copy + Eq + Hash> {
    places: Arc<Places<K>>,
    holder: Option<K>,
}

/// Why a reader gets no place.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum NoPlace {
    /// So many of all readers are open.
    All(usize),
    /// So many of this reader are open.
    OfOne(usize),
}

impl<K: Copy + Eq + Hash> Places<K> {
    /// Places that are all free.
    pub fn new(limits: PlaceLimits) -> Arc<Places<K>> {
        let taken = TakenPlaces {
            all: 0,
            by_holder: HashMap::new(),
        };
        Arc::new(Places {
            limits,
            taken: Mutex::new(taken),
        })
    }

    /// A place for this holder. Without one, only the places of all are counted.
    pub fn take(self: &Arc<Places<K>>, holder: Option<K>) -> Result<HeldPlace<K>, NoPlace> {
        let PlaceLimits { all, of_one } = self.limits;
        let mut taken = self.lock();
        if taken.all >= all {
            return Err(NoPlace::All(all));
        }
        if let Some(holder) = holder {
            let own = taken.by_holder.entry(holder).or_default();
            if *own >= of_one {
                return Err(NoPlace::OfOne(of_one));
            }
            *own += 1;
        }
        taken.all += 1;
        drop(taken);
        Ok(HeldPlace {
            places: self.clone(),
            holder,
        })
    }

    /// How many are taken.
    pub fn taken(&self) -> usize {
        self.lock().all
    }

    fn lock(&self) -> MutexGuard<'_, TakenPlaces<K>> {
        self.taken.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl<K: Copy + Eq + Hash> Drop for HeldPlace<K> {
    fn drop(&mut self) {
        let mut taken = self.places.lock();
        taken.all -= 1;
        let Some(holder) = self.holder else {
            return;
        };
        if let Some(own) = taken.by_holder.get_mut(&holder) {
            *own -= 1;
            if *own == 0 {
                taken.by_holder.remove(&holder);
            }
        }
    }
}

impl NoPlace {
    /// The code of the answer.
    pub fn code(self) -> StatusCode {
        match self {
            NoPlace::All(_) => StatusCode::SERVICE_UNAVAILABLE,
            NoPlace::OfOne(_) => StatusCode::TOO_MANY_REQUESTS,
        }
    }

    /// `you have 100 streams open, which is the most for one reader`.
    pub fn words(self, things: &str) -> String {
        match self {
            NoPlace::All(count) => {
                format!("{count} {things} are open, which is the most for all readers")
            }
            NoPlace::OfOne(count) => {
                format!("you have {count} {things} open, which is the most for one reader")
            }
        }
    }

    /// The answer for people and programs.
    pub(super) fn answer(self) -> Response {
        let words = self.error("streams", "close one, or try again in a moment");
        NoPlace::later((self.code(), words).into_response())
    }

    /// The words of the command line for it.
    pub(super) fn error(self, things: &str, hint: &str) -> String {
        format!("error: {}\nhint: {hint}\n", self.words(things))
    }

    /// An answer that says when to ask again.
    pub fn later(answer: Response) -> Response {
        ([(RETRY_AFTER, AGAIN)], answer).into_response()
    }
}

#[cfg(test)]
mod tests {
    use super::super::reader::{ReaderToken, WebReader};
    use super::*;

    fn user(token: &str) -> WebReader {
        WebReader::User(ReaderToken::new(token).expect("a token"))
    }

    fn places() -> Arc<ReaderPlaces> {
        ReaderPlaces::new(PlaceLimits { all: 5, of_one: 3 })
    }

    #[test]
    fn a_reader_leaves_places_to_others() {
        let places = places();
        let take = |reader: &WebReader| places.take(reader.holder());
        let mut held = Vec::new();
        for _ in 0..3 {
            held.push(take(&user("one")).expect("a place"));
        }
        let no_place = take(&user("one")).expect_err("he has three");
        assert_eq!(no_place, NoPlace::OfOne(3));
        held.push(take(&user("other")).expect("a place"));
        held.push(take(&user("other")).expect("a place"));
        assert_eq!(take(&user("third")).expect_err("none"), NoPlace::All(5));
        assert_eq!(places.taken(), 5);
        // A place is free again for anybody, and nothing stays of those who have gone.
        drop(held.swap_remove(0));
        drop(take(&user("third")).expect("a place"));
        drop(held);
        assert_eq!(places.taken(), 0);
        assert!(places.lock().by_holder.is_empty());
    }

    #[test]
    fn the_owner_may_have_all_places() {
        let places = places();
        let held: Vec<_> = (0..5)
            .map(|_| places.take(WebReader::Owner.holder()))
            .collect();
        assert!(held.iter().all(Result::is_ok));
        let full = places
            .take(WebReader::Owner.holder())
            .expect_err("none is free");
        assert_eq!(full, NoPlace::All(5));
    }

    #[test]
    fn an_answer_without_a_place_says_when_to_ask_again() {
        for (no_place, code) in [(NoPlace::All(5), 503), (NoPlace::OfOne(3), 429)] {
            let answer = no_place.answer();
            assert_eq!(answer.status(), code);
            assert_eq!(answer.headers()[RETRY_AFTER], AGAIN);
        }
    }
}
