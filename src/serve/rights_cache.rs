//! `RightsCache`: asks the API server what a reader may read, and remembers each answer for half a minute.
//!
//! One question is asked once, however many requests wait for its answer. Only the hash of a token is remembered. Anyone can
//! invent tokens: so questions about tokens that the API server has not accepted yet wait apart from the others, and are few.

use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use futures::future::{BoxFuture, try_join_all};
use tokio::sync::{OnceCell, Semaphore, SemaphorePermit};
use tokio::time::Instant;

use super::reader::{ReaderToken, TokenHash, WebReader};
use super::rights::{GrantedRights, ReadRight, ReaderRights, SourcePlace};
use super::snapshot::Snapshot;
use crate::object::Resource;

/// How long an answer counts for a request.
const LIFETIME: Duration = Duration::from_secs(30);

/// How long it counts for a stream that asks again.
const FRESH: Duration = Duration::from_secs(5);

/// The most answers in memory.
const MAX_ANSWERS: usize = 100_000;

/// How many questions the API server gets at a time about tokens that it knows.
const AT_ONCE: usize = 32;

/// How many it gets at a time about other tokens.
const STRANGERS_AT_ONCE: usize = 8;

/// The most questions about other tokens that wait, with those that are asked.
const STRANGERS: usize = 256;

/// How long the API server knows a token after it has accepted it.
const KNOWN: Duration = Duration::from_secs(600);

/// The most tokens that are remembered as known, unless more were accepted within that time.
const MAX_KNOWN: usize = 10_000;

/// In how many namespaces a reader is asked about, who may not list all of them and names none.
const MAX_NAMESPACES: usize = 32;

/// What the API server answers about a right.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RightsAnswer {
    /// The reader has it.
    Granted,
    /// He does not have it.
    Denied,
    /// The API server does not know the token.
    Unknown,
}

/// Answers what the owner of a token may read.
pub trait RightsSource: Send + Sync + 'static {
    /// Whether he has a right. Fails if the API server does not answer.
    fn answer<'a>(
        &'a self,
        token: &'a ReaderToken,
        right: &'a ReadRight,
    ) -> BoxFuture<'a, Result<RightsAnswer, String>>;
}

/// Why the rights of a reader are not known.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum RightsError {
    /// The API server does not know his token.
    UnknownToken,
    /// The API server does not answer. This is its error.
    Unavailable(String),
}

/// A question about all that a reader may read.
#[derive(Clone, Copy, Debug)]
pub struct RightsQuestion<'a> {
    /// The reader.
    pub reader: &'a WebReader,
    /// The namespace that he asks for; `None` for all.
    pub namespace: Option<&'a str>,
    /// For what it is asked.
    pub asker: RightsAsker,
}

impl<'a> RightsQuestion<'a> {
    /// The question of a request.
    pub fn of_request(reader: &'a WebReader, namespace: Option<&'a str>) -> RightsQuestion<'a> {
        RightsQuestion {
            reader,
            namespace,
            asker: RightsAsker::Request,
        }
    }
}

/// For what rights are asked. It decides how old an answer may be.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RightsAsker {
    /// A request.
    Request,
    /// A stream that has been open for some time.
    OpenStream,
}

impl RightsAsker {
    /// How old an answer may be.
    fn oldest_answer(self) -> Duration {
        match self {
            RightsAsker::Request => LIFETIME,
            RightsAsker::OpenStream => FRESH,
        }
    }
}

/// The answers of the last half minute.
pub struct RightsCache {
    source: Arc<dyn RightsSource>,
    answers: Mutex<Answers>,
    turns: Semaphore,
    stranger_turns: Semaphore,
    stranger_places: Semaphore,
}

/// What is remembered.
struct Answers {
    held: HashMap<(TokenHash, ReadRight), Held>,
    /// When the API server last accepted a token.
    accepted: HashMap<TokenHash, Instant>,
    /// The most answers.
    most: usize,
}

/// A question that is asked now. The next one follows when it is dropped.
struct QuestionTurn<'c> {
    _turn: Option<SemaphorePermit<'c>>,
    _place: Option<SemaphorePermit<'c>>,
}

/// An answer, or a question on its way.
#[derive(Clone)]
struct Held {
    asked: Instant,
    answer: Arc<OnceCell<Result<RightsAnswer, String>>>,
}

impl RightsCache {
    /// Nothing was asked yet.
    pub fn new(source: Arc<dyn RightsSource>) -> RightsCache {
        RightsCache::of_size(source, MAX_ANSWERS)
    }

    /// The same with room for this number of answers.
    fn of_size(source: Arc<dyn RightsSource>, most: usize) -> RightsCache {
        let answers = Answers {
            held: HashMap::new(),
            accepted: HashMap::new(),
            most,
        };
        RightsCache {
            source,
            answers: Mutex::new(answers),
            turns: Semaphore::new(AT_ONCE),
            stranger_turns: Semaphore::new(STRANGERS_AT_ONCE),
            stranger_places: Semaphore::new(STRANGERS),
        }
    }

    /// Whether the owner of a token has a right. All who wait for one question get its error, and who asks later asks again.
    pub async fn ask(
        &self,
        token: &ReaderToken,
        right: &ReadRight,
        asker: RightsAsker,
    ) -> Result<RightsAnswer, RightsError> {
        let held = self.held(token, right, asker.oldest_answer());
        let answer = held.answer.get_or_init(async || {
            let _turn = self.turn(token).await?;
            let answer = self.source.answer(token, right).await;
            self.answers().note(token, &answer);
            answer
        });
        let answer = answer.await.clone();
        if answer.is_err() {
            let mut answers = self.answers();
            let key = (token.hash(), right.clone());
            let is_held = |known: &Held| Arc::ptr_eq(&known.answer, &held.answer);
            if answers.held.get(&key).is_some_and(is_held) {
                answers.held.remove(&key);
            }
        }
        answer.map_err(RightsError::Unavailable)
    }

    /// Waits until a question about a token may be asked. Fails if too many about unknown ones wait.
    async fn turn(&self, token: &ReaderToken) -> Result<QuestionTurn<'_>, String> {
        let (turns, place) = if self.answers().knows(token) {
            (&self.turns, None)
        } else {
            let place = self.stranger_places.try_acquire().map_err(|_| {
                let words = "error: too many readers ask whose tokens the server does not know yet";
                words.to_owned()
            })?;
            (&self.stranger_turns, Some(place))
        };
        Ok(QuestionTurn {
            _turn: turns.acquire().await.ok(),
            _place: place,
        })
    }

    fn answers(&self) -> MutexGuard<'_, Answers> {
        self.answers.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn held(&self, token: &ReaderToken, right: &ReadRight, age: Duration) -> Held {
        let now = Instant::now();
        let mut answers = self.answers();
        answers.make_room(now);
        let fresh = || Held {
            asked: now,
            answer: Arc::default(),
        };
        let key = (token.hash(), right.clone());
        let held = answers.held.entry(key).or_insert_with(fresh);
        if now >= held.asked + age {
            *held = fresh();
        }
        held.clone()
    }

    /// Fails unless the API server knows the token.
    pub async fn check(&self, token: &ReaderToken, known: &ReadRight) -> Result<(), RightsError> {
        match self.ask(token, known, RightsAsker::Request).await? {
            RightsAnswer::Granted | RightsAnswer::Denied => Ok(()),
            RightsAnswer::Unknown => Err(RightsError::UnknownToken),
        }
    }

    /// What a reader may read of a snapshot.
    pub async fn rights(
        &self,
        question: RightsQuestion<'_>,
        snapshot: &Snapshot,
    ) -> Result<ReaderRights, RightsError> {
        let token = match question.reader {
            WebReader::Owner => return Ok(ReaderRights::Everything),
            WebReader::User(token) => token,
        };
        let mut granted = GrantedRights::default();
        let places = AskedPlaces::of(snapshot, question.namespace);
        for right in self.granted(token, places.first(), question.asker).await? {
            granted.grant(right);
        }
        let everywhere = ReaderRights::Only(Arc::new(granted.clone()));
        let narrow = places.narrower(|place| everywhere.may_list(place));
        for right in self.granted(token, narrow, question.asker).await? {
            granted.grant(right);
        }
        Ok(ReaderRights::Only(Arc::new(granted)))
    }

    /// Those of these rights that the owner of a token has.
    async fn granted(
        &self,
        token: &ReaderToken,
        rights: Vec<ReadRight>,
        asker: RightsAsker,
    ) -> Result<Vec<ReadRight>, RightsError> {
        // One question is enough to find out that nobody has such a token.
        if let Some(first) = rights.first().filter(|_| !self.answers().knows(token))
            && self.ask(token, first, asker).await? == RightsAnswer::Unknown
        {
            return Err(RightsError::UnknownToken);
        }
        let questions = rights.iter();
        let questions = questions.map(|right| self.ask(token, right, asker));
        let answers = try_join_all(questions).await?;
        if answers.contains(&RightsAnswer::Unknown) {
            return Err(RightsError::UnknownToken);
        }
        let answered = rights.into_iter().zip(answers);
        let granted = answered.filter(|(_, answer)| *answer == RightsAnswer::Granted);
        Ok(granted.map(|(right, _)| right).collect())
    }
}

impl Answers {
    /// Whether the API server has accepted a token lately.
    fn knows(&self, token: &ReaderToken) -> bool {
        let accepted = self.accepted.get(&token.hash());
        accepted.is_some_and(|at| at.elapsed() < KNOWN)
    }

    /// Remembers whether the API server knows a token.
    fn note(&mut self, token: &ReaderToken, answer: &Result<RightsAnswer, String>) {
        match answer {
            Ok(RightsAnswer::Granted | RightsAnswer::Denied) => {
                if self.accepted.len() >= MAX_KNOWN {
                    self.accepted.retain(|_, at| at.elapsed() < KNOWN);
                }
                self.accepted.insert(token.hash(), Instant::now());
            }
            Ok(RightsAnswer::Unknown) => drop(self.accepted.remove(&token.hash())),
            Err(_) => {}
        }
    }

    /// Makes room for another answer: those that are too old go, then a tenth. Those about unknown tokens go first, the oldest
    /// before the others.
    fn make_room(&mut self, now: Instant) {
        if self.held.len() < self.most {
            return;
        }
        self.held.retain(|_, held| now < held.asked + LIFETIME);
        if self.held.len() < self.most {
            return;
        }
        let Answers { held, accepted, .. } = self;
        let rank = |token: &TokenHash, held: &Held| (accepted.contains_key(token), held.asked);
        let ranks = held.iter().map(|((token, _), held)| rank(token, held));
        let mut ranks: Vec<(bool, Instant)> = ranks.collect();
        ranks.sort_unstable();
        let mut going = ranks.len() / 10 + 1;
        let last = ranks[going - 1];
        held.retain(|(token, _), held| {
            let goes = going > 0 && rank(token, held) <= last;
            going -= usize::from(goes);
            !goes
        });
    }
}

/// The types of a snapshot, and where they are.
struct AskedPlaces {
    types: BTreeMap<Resource, TypePlaces>,
    /// The namespaces in which logs are shown.
    logs: BTreeSet<Arc<str>>,
}

/// Where the objects of a type are.
#[derive(Default)]
struct TypePlaces {
    /// Whether the server lists them in all namespaces, or they are cluster-scoped.
    is_everywhere: bool,
    namespaces: BTreeSet<Arc<str>>,
}

impl AskedPlaces {
    fn of(snapshot: &Snapshot, namespace: Option<&str>) -> AskedPlaces {
        let mut by_kind: BTreeMap<(&str, &str), BTreeSet<Arc<str>>> = BTreeMap::new();
        let mut logs = BTreeSet::new();
        let is_asked_for = |name: &str| namespace.is_none_or(|asked| name == asked);
        for row in &snapshot.rows {
            let object = &row.object_ref;
            let own = object.namespace.as_deref();
            let Some(own) = own.filter(|own| is_asked_for(own)) else {
                continue;
            };
            let known = by_kind.entry((row.group(), &object.kind)).or_default();
            if !known.contains(own) {
                known.insert(own.into());
            }
            if !row.last_lines.is_empty() {
                logs.insert(Arc::from(own));
            }
        }
        let mut types: BTreeMap<Resource, TypePlaces> = BTreeMap::new();
        for place in snapshot.places.iter() {
            let of_type = types.entry(place.resource.clone()).or_default();
            of_type.is_everywhere |= place.namespace.is_none();
            let own = place.namespace.clone();
            of_type
                .namespaces
                .extend(own.filter(|own| is_asked_for(own)));
        }
        for (resource, of_type) in &mut types {
            let found = by_kind.get(&(&*resource.group, &*resource.kind));
            of_type
                .namespaces
                .extend(found.into_iter().flatten().cloned());
            of_type.namespaces.extend(namespace.map(Arc::from));
        }
        AskedPlaces { types, logs }
    }

    /// The rights that may be enough: each type everywhere, or in its namespaces if the server does not list it everywhere.
    fn first(&self) -> Vec<ReadRight> {
        let everywhere = self.types.iter().filter(|(_, of)| of.is_everywhere);
        let everywhere = everywhere.map(|(resource, _)| list(resource, None));
        let within = self.types.iter().filter(|(_, of)| !of.is_everywhere);
        let within = within.flat_map(|(resource, of)| {
            let namespaces = of.namespaces.iter().take(MAX_NAMESPACES);
            namespaces.map(|name| list(resource, Some(name)))
        });
        let logs = self.logs.iter().take(MAX_NAMESPACES).cloned();
        let logs = logs.map(ReadRight::Logs);
        everywhere.chain(within).chain(logs).collect()
    }

    /// The namespaces of each type that is not granted everywhere. Too many are left out: the reader sees nothing of them
    /// unless he names one.
    fn narrower(&self, is_granted: impl Fn(&SourcePlace) -> bool) -> Vec<ReadRight> {
        let mut all: BTreeSet<&Arc<str>> = BTreeSet::new();
        let mut rights = Vec::new();
        for (resource, of) in self.types.iter().filter(|(_, of)| of.is_everywhere) {
            let everywhere = SourcePlace {
                resource: resource.clone(),
                namespace: None,
            };
            if !resource.namespaced || is_granted(&everywhere) {
                continue;
            }
            for name in &of.namespaces {
                if all.len() < MAX_NAMESPACES || all.contains(name) {
                    all.insert(name);
                    rights.push(list(resource, Some(name)));
                }
            }
        }
        rights
    }
}

fn list(resource: &Resource, namespace: Option<&Arc<str>>) -> ReadRight {
    ReadRight::List(SourcePlace {
        resource: resource.clone(),
        namespace: namespace.cloned(),
    })
}

#[cfg(test)]
mod tests {
    use std::sync::atomic::{AtomicUsize, Ordering};

    use futures::future::join_all;
    use tokio::time::{advance, sleep};

    use super::super::snapshot::testing::{failed_pod, pods, snapshot};
    use super::*;

    /// An API server that grants these rights to the token `alice`, knows `bob`, and counts its answers.
    #[derive(Default)]
    struct Server {
        granted: Mutex<Vec<ReadRight>>,
        answers: AtomicUsize,
    }

    impl RightsSource for Server {
        fn answer<'a>(
            &'a self,
            token: &'a ReaderToken,
            right: &'a ReadRight,
        ) -> BoxFuture<'a, Result<RightsAnswer, String>> {
            Box::pin(async move {
                sleep(Duration::from_millis(10)).await;
                self.answers.fetch_add(1, Ordering::Relaxed);
                let granted = self.granted.lock().expect("no panic");
                Ok(match token.expose() {
                    "broken" => return Err("it is down".to_owned()),
                    "alice" if granted.contains(right) => RightsAnswer::Granted,
                    "alice" | "bob" => RightsAnswer::Denied,
                    _ => RightsAnswer::Unknown,
                })
            })
        }
    }

    fn list(namespace: Option<&str>) -> ReadRight {
        super::list(&pods(), namespace.map(Arc::from).as_ref())
    }

    fn cache(granted: Vec<ReadRight>) -> (Arc<Server>, RightsCache) {
        let server = Arc::new(Server::default());
        *server.granted.lock().expect("no panic") = granted;
        (server.clone(), RightsCache::new(server))
    }

    fn token(text: &str) -> ReaderToken {
        ReaderToken::new(text).expect("a token")
    }

    #[tokio::test(start_paused = true)]
    async fn one_question_is_asked_once_in_half_a_minute() {
        let (server, cache) = cache(vec![list(None)]);
        let (alice, bob, right) = (token("alice"), token("bob"), list(None));
        let asked =
            join_all((0..50).map(|_| cache.ask(&alice, &right, RightsAsker::Request))).await;
        assert!(
            asked
                .iter()
                .all(|answer| *answer == Ok(RightsAnswer::Granted))
        );
        assert_eq!(server.answers.load(Ordering::Relaxed), 1);
        assert_eq!(
            cache.ask(&bob, &right, RightsAsker::Request).await,
            Ok(RightsAnswer::Denied)
        );
        server.granted.lock().expect("no panic").clear();
        advance(Duration::from_secs(29)).await;
        assert_eq!(
            cache.ask(&alice, &right, RightsAsker::Request).await,
            Ok(RightsAnswer::Granted)
        );
        advance(Duration::from_secs(2)).await;
        assert_eq!(
            cache.ask(&alice, &right, RightsAsker::Request).await,
            Ok(RightsAnswer::Denied)
        );
        assert_eq!(server.answers.load(Ordering::Relaxed), 3);
    }

    #[tokio::test(start_paused = true)]
    async fn a_stream_asks_again_sooner_and_streams_of_one_reader_share_the_answer() {
        let (server, cache) = cache(vec![list(None)]);
        let (alice, right) = (token("alice"), list(None));
        assert_eq!(
            cache.ask(&alice, &right, RightsAsker::Request).await,
            Ok(RightsAnswer::Granted)
        );
        server.granted.lock().expect("no panic").clear();
        advance(Duration::from_secs(6)).await;
        assert_eq!(
            cache.ask(&alice, &right, RightsAsker::Request).await,
            Ok(RightsAnswer::Granted)
        );
        for _ in 0..3 {
            let again = cache.ask(&alice, &right, RightsAsker::OpenStream).await;
            assert_eq!(again, Ok(RightsAnswer::Denied));
        }
        assert_eq!(server.answers.load(Ordering::Relaxed), 2);
        // What a stream has learnt counts for requests, too.
        assert_eq!(
            cache.ask(&alice, &right, RightsAsker::Request).await,
            Ok(RightsAnswer::Denied)
        );
    }

    /// A server that does not answer for half a minute.
    struct SilentServer(AtomicUsize);

    impl RightsSource for SilentServer {
        fn answer<'a>(
            &'a self,
            _: &'a ReaderToken,
            _: &'a ReadRight,
        ) -> BoxFuture<'a, Result<RightsAnswer, String>> {
            self.0.fetch_add(1, Ordering::Relaxed);
            Box::pin(async {
                sleep(Duration::from_secs(30)).await;
                Err("it is silent".to_owned())
            })
        }
    }

    #[tokio::test(start_paused = true)]
    async fn who_waits_for_one_question_gets_its_error_at_the_same_time() {
        let server = Arc::new(SilentServer(AtomicUsize::new(0)));
        let cache = RightsCache::new(server.clone());
        let (alice, right) = (token("alice"), list(None));
        let begun = Instant::now();
        let asked = (0..50).map(|_| cache.ask(&alice, &right, RightsAsker::Request));
        assert!(join_all(asked).await.iter().all(Result::is_err));
        assert_eq!(begun.elapsed(), Duration::from_secs(30));
        assert_eq!(server.0.load(Ordering::Relaxed), 1);
    }

    /// Asks about so many invented tokens at the same time. Returns how many answers are errors.
    async fn ask_strangers(cache: &RightsCache, count: usize) -> usize {
        let tokens: Vec<ReaderToken> = (0..count).map(|at| token(&format!("made-{at}"))).collect();
        let right = list(None);
        let asked = tokens
            .iter()
            .map(|it| cache.ask(it, &right, RightsAsker::Request));
        let errors = join_all(asked).await.into_iter();
        errors.filter(Result::is_err).count()
    }

    #[tokio::test(start_paused = true)]
    async fn invented_tokens_wait_apart_and_are_few() {
        let (server, cache) = cache(vec![list(None)]);
        let (alice, request) = (token("alice"), RightsAsker::Request);
        let first = cache.ask(&alice, &list(None), request).await;
        assert_eq!(first, Ok(RightsAnswer::Granted));
        let begun = Instant::now();
        let known = async {
            // The strangers ask first.
            tokio::task::yield_now().await;
            let narrower = cache.ask(&alice, &list(Some("shop")), request).await;
            (narrower, begun.elapsed())
        };
        let (refused, known) = futures::join!(ask_strangers(&cache, 1_000), known);
        assert_eq!(known, (Ok(RightsAnswer::Denied), Duration::from_millis(10)));
        assert_eq!(refused, 1_000 - STRANGERS);
        assert_eq!(server.answers.load(Ordering::Relaxed), 2 + STRANGERS);
    }

    #[tokio::test(start_paused = true)]
    async fn a_token_that_nobody_has_costs_one_question() {
        let (server, cache) = cache(vec![]);
        let mut all = snapshot(vec![failed_pod("web", "it fails")]);
        let place = |kind: &str| SourcePlace {
            resource: Resource {
                kind: kind.into(),
                ..pods()
            },
            namespace: None,
        };
        all.places = Arc::new(["Pod", "Secret", "Service"].map(place).into());
        let reader = WebReader::User(token("mallory"));
        let rights = cache.rights(RightsQuestion::of_request(&reader, None), &all);
        assert_eq!(rights.await, Err(RightsError::UnknownToken));
        assert_eq!(server.answers.load(Ordering::Relaxed), 1);
    }

    #[tokio::test(start_paused = true)]
    async fn a_full_memory_forgets_unknown_tokens_first() {
        let server = Arc::new(Server::default());
        let cache = RightsCache::of_size(server.clone(), 100);
        let (alice, right) = (token("alice"), list(None));
        let answer = cache.ask(&alice, &right, RightsAsker::Request).await;
        assert_eq!(answer, Ok(RightsAnswer::Denied));
        ask_strangers(&cache, 250).await;
        assert!(cache.answers().held.len() <= 100);
        let asked = server.answers.load(Ordering::Relaxed);
        let again = cache.ask(&alice, &right, RightsAsker::Request).await;
        assert_eq!(again, Ok(RightsAnswer::Denied));
        assert_eq!(server.answers.load(Ordering::Relaxed), asked);
    }

    #[tokio::test(start_paused = true)]
    async fn an_error_is_no_answer() {
        let (server, cache) = cache(vec![]);
        let (broken, right) = (token("broken"), list(None));
        for _ in 0..2 {
            let error = RightsError::Unavailable("it is down".to_owned());
            assert_eq!(
                cache.ask(&broken, &right, RightsAsker::Request).await,
                Err(error)
            );
        }
        assert_eq!(server.answers.load(Ordering::Relaxed), 2);
        let unknown = cache.check(&token("mallory"), &right).await;
        assert_eq!(unknown, Err(RightsError::UnknownToken));
    }

    #[tokio::test(start_paused = true)]
    async fn rights_are_those_of_the_namespaces_in_which_objects_are() {
        let mut other = failed_pod("api", "it fails");
        other.object_ref.namespace = Some("prod".into());
        let mut all = snapshot(vec![failed_pod("web", "it fails"), other]);
        all.places = Arc::new(BTreeSet::from([SourcePlace {
            resource: pods(),
            namespace: None,
        }]));
        let seen = async |granted: Vec<ReadRight>, namespace: Option<&str>| {
            let (_, cache) = cache(granted);
            let reader = WebReader::User(token("alice"));
            let question = RightsQuestion::of_request(&reader, namespace);
            let rights = cache.rights(question, &all).await.expect("an answer");
            let all = Arc::new(all.clone());
            let seen = all.for_reader(&rights);
            let names = seen.rows.iter();
            let names: Vec<&str> = names.map(|row| &*row.object_ref.name).collect();
            names.join(",")
        };
        assert_eq!(seen(vec![], None).await, "");
        assert_eq!(seen(vec![list(Some("shop"))], None).await, "web");
        assert_eq!(seen(vec![list(Some("prod"))], Some("prod")).await, "api");
        assert_eq!(seen(vec![list(Some("prod"))], Some("shop")).await, "");
        assert_eq!(seen(vec![list(None)], None).await, "web,api");
    }
}
