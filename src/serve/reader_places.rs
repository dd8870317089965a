//! `ReaderPlaces`: the places of open streams. No reader takes those of all others.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use axum::response::{IntoResponse, Response};
use http::StatusCode;
use http::header::RETRY_AFTER;

use super::reader::{TokenHash, WebReader};

/// After how many seconds a reader without a place may ask again.
const AGAIN: &str = "5";

/// How many streams may be open, and how many are.
#[derive(Debug)]
pub struct ReaderPlaces {
    limits: PlaceLimits,
    taken: Mutex<TakenPlaces>,
}

/// The most streams at a time.
#[derive(Clone, Copy, Debug)]
pub struct PlaceLimits {
    /// Of all readers.
    pub all: usize,
    /// Of one reader with a token of his own. The owner is the only reader of a server, so all places are for him.
    pub of_reader: usize,
}

#[derive(Debug, Default)]
struct TakenPlaces {
    all: usize,
    /// Those of readers with tokens of their own, by who they are.
    by_reader: HashMap<TokenHash, usize>,
}

/// The place of one open stream. It is free again when this is dropped.
#[derive(Debug)]
pub struct ReaderPlace {
    places: Arc<ReaderPlaces>,
    reader: Option<TokenHash>,
}

/// Why a reader gets no place.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum NoPlace {
    /// So many streams of all readers are open.
    All(usize),
    /// So many of this reader are open.
    OfReader(usize),
}

impl ReaderPlaces {
    /// Places that are all free.
    pub fn new(limits: PlaceLimits) -> Arc<ReaderPlaces> {
        Arc::new(ReaderPlaces {
            limits,
            taken: Mutex::default(),
        })
    }

    /// A place for a stream of this reader.
    pub fn take(self: &Arc<ReaderPlaces>, reader: &WebReader) -> Result<ReaderPlace, NoPlace> {
        let PlaceLimits { all, of_reader } = self.limits;
        let mut taken = self.lock();
        if taken.all >= all {
            return Err(NoPlace::All(all));
        }
        let reader = match reader {
            WebReader::Owner => None,
            WebReader::User(user) => Some(user.holder()),
        };
        if let Some(reader) = reader {
            let own = taken.by_reader.entry(reader).or_default();
            if *own >= of_reader {
                return Err(NoPlace::OfReader(of_reader));
            }
            *own += 1;
        }
        taken.all += 1;
        drop(taken);
        Ok(ReaderPlace {
            places: self.clone(),
            reader,
        })
    }

    /// How many streams are open.
    pub fn taken(&self) -> usize {
        self.lock().all
    }

    fn lock(&self) -> MutexGuard<'_, TakenPlaces> {
        self.taken.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Drop for ReaderPlace {
    fn drop(&mut self) {
        let mut taken = self.places.lock();
        taken.all -= 1;
        let Some(reader) = self.reader else {
            return;
        };
        if let Some(own) = taken.by_reader.get_mut(&reader) {
            *own -= 1;
            if *own == 0 {
                taken.by_reader.remove(&reader);
            }
        }
    }
}

impl NoPlace {
    /// The code of the answer.
    pub fn code(self) -> StatusCode {
        match self {
            NoPlace::All(_) => StatusCode::SERVICE_UNAVAILABLE,
            NoPlace::OfReader(_) => StatusCode::TOO_MANY_REQUESTS,
        }
    }

    /// `you have 100 streams open, which is the most for one reader`.
    pub fn words(self, streams: &str) -> String {
        match self {
            NoPlace::All(count) => {
                format!("{count} {streams} are open, which is the most for all readers")
            }
            NoPlace::OfReader(count) => {
                format!("you have {count} {streams} open, which is the most for one reader")
            }
        }
    }

    /// The answer for people and programs.
    pub(super) fn answer(self) -> Response {
        let words = self.words("streams");
        let words = format!("error: {words}\nhint: close one, or try again in a moment\n");
        NoPlace::later((self.code(), words).into_response())
    }

    /// An answer that says when to ask again.
    pub fn later(answer: Response) -> Response {
        ([(RETRY_AFTER, AGAIN)], answer).into_response()
    }
}

#[cfg(test)]
mod tests {
    use super::super::reader::ReaderToken;
    use super::*;

    fn user(token: &str) -> WebReader {
        WebReader::User(ReaderToken::new(token).expect("a token"))
    }

    fn places() -> Arc<ReaderPlaces> {
        ReaderPlaces::new(PlaceLimits {
            all: 5,
            of_reader: 3,
        })
    }

    #[test]
    fn a_reader_leaves_places_to_others() {
        let places = places();
        let take = |reader: &WebReader| places.take(reader);
        let mut held = Vec::new();
        for _ in 0..3 {
            held.push(take(&user("one")).expect("a place"));
        }
        let no_place = take(&user("one")).expect_err("he has three");
        assert_eq!(no_place, NoPlace::OfReader(3));
        held.push(take(&user("other")).expect("a place"));
        held.push(take(&user("other")).expect("a place"));
        assert_eq!(take(&user("third")).expect_err("none"), NoPlace::All(5));
        assert_eq!(places.taken(), 5);
        // A place is free again for anybody, and nothing stays of those who have gone.
        drop(held.swap_remove(0));
        drop(take(&user("third")).expect("a place"));
        drop(held);
        assert_eq!(places.taken(), 0);
        assert!(places.lock().by_reader.is_empty());
    }

    #[test]
    fn the_owner_may_have_all_places() {
        let places = places();
        let held: Vec<_> = (0..5).map(|_| places.take(&WebReader::Owner)).collect();
        assert!(held.iter().all(Result::is_ok));
        let full = places.take(&WebReader::Owner).expect_err("none is free");
        assert_eq!(full, NoPlace::All(5));
    }

    #[test]
    fn an_answer_without_a_place_says_when_to_ask_again() {
        for (no_place, code) in [(NoPlace::All(5), 503), (NoPlace::OfReader(3), 429)] {
            let answer = no_place.answer();
            assert_eq!(answer.status(), code);
            assert_eq!(answer.headers()[RETRY_AFTER], AGAIN);
        }
    }
}
