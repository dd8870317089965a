//! `VerbAnswers`: answers questions that need more than the board. It runs a verb over the sources that the server follows, and
//! collects its records.

use std::future::poll_fn;
use std::io::{self, Write};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::task::Poll;
use std::time::Duration;

use clap::Args;
use futures::future::join_all;
use futures::stream::{FuturesUnordered, StreamExt};
use http::StatusCode;
use tokio::sync::{mpsc, oneshot};
use tokio::time::timeout;

use crate::commands::live::clusters::Clusters;
use crate::commands::{
    ClusterOrigin, CommandError, Context, FailedAnswer, LookArgs, ReaderLogin, Session,
    UnreadFiles, changes, logs, trace,
};
use crate::env::Env;
use crate::render::display::Stream;
use crate::serve::{
    Answered, CLUSTER, Params, PendingQuestion, PlaceLimits, Question, QuestionError, ReaderPlace,
    ReaderPlaces, RecordVerb, WebReader,
};

/// The most questions that are answered at a time. Each may read several sources. One reader has two turns, so that the
/// others do not wait for his answers alone.
const TURNS: PlaceLimits = PlaceLimits { all: 4, of_one: 2 };

/// How long an answer may take.
const LIMIT: Duration = Duration::from_secs(30);

/// The most bytes of an answer, of all its clusters together.
const MAX_BYTES: usize = 16 * 1024 * 1024;

/// The flags that every answer of a verb has. No parameter reads or writes a file, waits, or shows what is hidden
/// ([`ApiPath::parameters`](crate::serve::ApiPath::parameters)).
fn fixed_flags(verb: RecordVerb) -> &'static [&'static str] {
    match verb {
        RecordVerb::Trace | RecordVerb::Changes => &["--once", "--output=json"],
        RecordVerb::Logs => &["--output=json"],
    }
}

/// What each answer needs besides its question.
pub(super) struct VerbAnswers<'a> {
    pub(super) clusters: Clusters<'a>,
    origin: ClusterOrigin,
    look: LookArgs,
    env: Env,
    /// The flags about the record.
    memory: Vec<String>,
    /// What the sessions of readers are made with, without their tokens; `None` if only the owner reads.
    readers: Option<ReaderLogin>,
}

impl<'a> VerbAnswers<'a> {
    /// Answers over the sources of these clusters, with these flags about the record.
    pub(super) fn new(
        memory: Vec<String>,
        clusters: Clusters<'a>,
        readers: Option<ReaderLogin>,
        context: &Context<'_>,
    ) -> VerbAnswers<'a> {
        VerbAnswers {
            clusters,
            origin: context.origin.clone(),
            look: context.look,
            env: context.env.detached(Stream::default(), Stream::default()),
            memory,
            readers,
        }
    }
}

impl VerbAnswers<'_> {
    /// Answers the questions, some at a time, for as long as the server runs. Those that wait have places, so they are few.
    pub(super) async fn answer(&self, mut questions: mpsc::Receiver<PendingQuestion>) {
        let turns = ReaderPlaces::new(TURNS);
        let mut waiting: Vec<PendingQuestion> = Vec::new();
        let mut running = FuturesUnordered::new();
        loop {
            let next = waiting.iter().enumerate().find_map(|(at, pending)| {
                let turn = turns.take(pending.question.reader.holder());
                Some((at, turn.ok()?))
            });
            if let Some((at, turn)) = next {
                running.push(self.answer_one(waiting.remove(at), turn));
                continue;
            }
            tokio::select! {
                Some(pending) = questions.recv() => waiting.push(pending),
                Some(()) = running.next() => {}
                // Nobody waits for these any more, so they give up their places.
                () = until_one_is_closed(waiting.iter_mut().map(|it| &mut it.answer)) => {
                    waiting.retain(|it| !it.answer.is_closed());
                }
            }
        }
    }

    /// Answers a question, unless its reader goes away first.
    async fn answer_one(&self, pending: PendingQuestion, _turn: ReaderPlace) {
        let PendingQuestion {
            question,
            mut answer,
            ..
        } = pending;
        tokio::select! {
            () = answer.closed() => {}
            found = self.answer_in_time(&question) => drop(answer.send(found)),
        }
    }

    async fn answer_in_time(&self, question: &Question) -> Result<Answered, QuestionError> {
        let running = Box::pin(self.answer_of_all(question));
        match timeout(LIMIT, running).await {
            Ok(answer) => answer,
            Err(_) => Err(QuestionError {
                records: String::new(),
                code: StatusCode::GATEWAY_TIMEOUT,
                words: format!(
                    "error: the answer took longer than {} s\nhint: name fewer objects\n",
                    LIMIT.as_secs()
                ),
            }),
        }
    }

    /// The answer of the cluster that a question names, or of all that are connected.
    async fn answer_of_all(&self, question: &Question) -> Result<Answered, QuestionError> {
        let asked = question.params.first(CLUSTER);
        let is_asked = |session: &&Session| asked.is_none_or(|name| *session.cluster.0 == *name);
        let sessions = self.clusters.sessions().filter(is_asked);
        let size = AnswerSize::default();
        let answers = sessions.map(|session| {
            let stdout = Collected::of(&size);
            async move {
                let answer = Box::pin(self.run(session, question, &stdout)).await;
                let records = stdout.take();
                let answer = match answer {
                    Ok(()) => Ok(records),
                    Err(error) => Err(QuestionError {
                        records,
                        ..refusal(&error)
                    }),
                };
                (session.cluster.0.clone(), answer)
            }
        });
        let answers = join_all(answers).await;
        if size.is_too_large() {
            return Err(refusal(&too_long()));
        }
        combined(answers)
    }

    /// The session for a reader: with the reader's own token, the API server decides about each request.
    fn session_of(&self, own: &Session, reader: &WebReader) -> Result<Session, CommandError> {
        let token = match reader {
            WebReader::Owner => return Ok(own.clone()),
            WebReader::User(token) => token,
        };
        let Some(login) = &self.readers else {
            return Err(CommandError::failed("error: only the owner may read"));
        };
        let login = ReaderLogin {
            client: login.client.with_token(token.expose())?,
            recorded_as: login.recorded_as.clone(),
        };
        own.of_reader(login, own.clock(&self.env))
    }

    /// The records of one cluster.
    async fn run(
        &self,
        own: &Session,
        question: &Question,
        stdout: &Collected,
    ) -> Result<(), CommandError> {
        let (verb, params) = (question.verb, &question.params);
        let mut session = self.session_of(own, &question.reader)?;
        if let Some(namespace) = params.namespace() {
            session.namespace = namespace.into();
        }
        let stderr = Stream::new(io::sink());
        let mut env = self.env.detached(Stream::new(stdout.clone()), stderr);
        let mut context = Context {
            origin: self.origin.clone(),
            look: self.look,
            env: &mut env,
            unread: UnreadFiles::default(),
        };
        let context = &mut context;
        match verb {
            RecordVerb::Trace => {
                let args = self.parse(verb, params)?;
                trace::print_records(&args, session, context).await?;
            }
            RecordVerb::Changes => {
                let args = self.parse(verb, params)?;
                changes::print_records(&args, session, context).await?;
            }
            RecordVerb::Logs => {
                let args = parse(verb, params, &[])?;
                logs::print_records(&args, session, context).await?;
            }
        }
        Ok(())
    }

    /// The arguments of a verb that can read the record.
    fn parse<A: Args>(&self, verb: RecordVerb, params: &Params) -> Result<A, CommandError> {
        parse(verb, params, &self.memory)
    }
}

/// The arguments that the user would have typed. A value is never a flag: it stands behind `=`, or after `--`.
fn parse<A: Args>(verb: RecordVerb, params: &Params, others: &[String]) -> Result<A, CommandError> {
    let endpoint = verb.endpoint();
    let known = endpoint.parameters();
    let failed = |error: &dyn std::fmt::Display| CommandError::failed(format!("error: {error}"));
    params.only(&known).map_err(|error| failed(&error))?;
    let mut words = vec![endpoint.name().to_owned()];
    words.extend(fixed_flags(verb).iter().map(|&flag| flag.to_owned()));
    words.extend(others.iter().cloned());
    for name in endpoint.switches() {
        if params.has(name).map_err(|error| failed(&error))? {
            words.push(format!("--{name}"));
        }
    }
    // The objects are arguments, and the namespace and the cluster are those of the session.
    let others = ["object", "namespace", CLUSTER];
    let is_flag = |name: &&str| endpoint.values().contains(name) && !others.contains(name);
    let given = params.pairs();
    let given = given.filter(|(name, _)| is_flag(name));
    words.extend(given.map(|(name, value)| format!("--{name}={value}")));
    words.push("--".to_owned());
    words.extend(params.all("object").map(str::to_owned));
    let command = A::augment_args(clap::Command::new(endpoint.name()));
    let matches = command.try_get_matches_from(words);
    let args = matches.and_then(|matches| A::from_arg_matches(&matches));
    args.map_err(|error| {
        let text = error.to_string();
        CommandError::failed(text.lines().next().unwrap_or("error: invalid parameters"))
    })
}

/// One answer of those of several clusters. An object that some of them do not have is no error.
fn combined(
    answers: Vec<(Arc<str>, Result<String, QuestionError>)>,
) -> Result<Answered, QuestionError> {
    let is_one = answers.len() == 1;
    let mut all = Answered::default();
    let (mut failed, mut has_answer) = (None::<QuestionError>, false);
    for (cluster, answer) in answers {
        let error = match answer {
            Ok(records) => {
                all.records += &records;
                has_answer = true;
                continue;
            }
            Err(error) if is_one => return Err(error),
            Err(error) => error,
        };
        all.records += &error.records;
        let is_absent = error.code == StatusCode::NOT_FOUND;
        let first = error.words.lines().next().unwrap_or_default();
        if !is_absent {
            let why = first.trim_start_matches("error: ");
            all.absences.insert(cluster, why.to_owned());
        }
        // The error of a cluster that may have the object says more than that of one that has it not.
        if failed
            .as_ref()
            .is_none_or(|before| before.code == StatusCode::NOT_FOUND && !is_absent)
        {
            failed = Some(error);
        }
    }
    match failed {
        Some(error) if !has_answer => Err(QuestionError {
            records: all.records,
            ..error
        }),
        None if !has_answer => Err(QuestionError {
            code: StatusCode::SERVICE_UNAVAILABLE,
            words: "error: the cluster is not read yet\nhint: wait until /readyz answers ok\n"
                .to_owned(),
            records: String::new(),
        }),
        _ => Ok(all),
    }
}

/// The error about an answer that is too long.
fn too_long() -> CommandError {
    let error = format!("error: the answer is larger than {} MiB", MAX_BYTES >> 20);
    CommandError::failed(error).hint("name fewer objects, or a shorter time")
}

/// Waits until the receiver of one of these answers has gone.
async fn until_one_is_closed<'s, T: 's>(answers: impl Iterator<Item = &'s mut oneshot::Sender<T>>) {
    let mut answers: Vec<_> = answers.collect();
    poll_fn(|context| {
        let closed = answers
            .iter_mut()
            .find_map(|answer| answer.poll_closed(context).is_ready().then_some(()));
        closed.map_or(Poll::Pending, Poll::Ready)
    })
    .await;
}

/// An error with those of its hints that name no flag: a path has none.
fn refusal(error: &CommandError) -> QuestionError {
    let hints = error.hints().iter().filter(|hint| !hint.contains("--"));
    let hints = hints.map(|hint| format!("hint: {hint}\n"));
    let words = format!("{error}\n{}", hints.collect::<String>());
    let code = match error.answer() {
        Some(FailedAnswer::Silence) => StatusCode::SERVICE_UNAVAILABLE,
        Some(FailedAnswer::NotFound) => StatusCode::NOT_FOUND,
        Some(FailedAnswer::Forbidden) => StatusCode::FORBIDDEN,
        Some(FailedAnswer::UnknownType) | None => StatusCode::BAD_REQUEST,
    };
    QuestionError {
        code,
        words,
        records: String::new(),
    }
}

/// The number of bytes in the outputs of all clusters.
#[derive(Clone, Debug, Default)]
struct AnswerSize(Arc<AtomicUsize>);

impl AnswerSize {
    fn is_too_large(&self) -> bool {
        self.0.load(Ordering::Relaxed) > MAX_BYTES
    }
}

/// The output of a verb for one cluster. An output that is too long is an error, never half an answer.
#[derive(Clone, Debug)]
struct Collected {
    bytes: Arc<Mutex<Vec<u8>>>,
    size: AnswerSize,
}

impl Collected {
    /// An empty output, which is a part of an answer.
    fn of(size: &AnswerSize) -> Collected {
        Collected {
            bytes: Arc::default(),
            size: size.clone(),
        }
    }

    /// What was written. Nothing is kept.
    fn take(&self) -> String {
        let mut bytes = self.bytes.lock().unwrap_or_else(PoisonError::into_inner);
        let text = String::from_utf8(std::mem::take(&mut *bytes));
        text.unwrap_or_else(|error| String::from_utf8_lossy(error.as_bytes()).into_owned())
    }
}

impl Write for Collected {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let mut written = self.bytes.lock().unwrap_or_else(PoisonError::into_inner);
        self.size.0.fetch_add(bytes.len(), Ordering::Relaxed);
        if self.size.is_too_large() {
            // Nobody gets it.
            *written = Vec::new();
        } else {
            written.extend_from_slice(bytes);
        }
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use futures::FutureExt;

    use super::*;
    use crate::cluster::{ApiError, ApiStatus};

    fn check(path: &str) -> Result<(), String> {
        let params = Params::of(&path.parse().expect("an address"));
        let parsed = match path.split('?').next() {
            Some("/trace") => parse::<trace::TraceArgs>(RecordVerb::Trace, &params, &[]).map(drop),
            Some("/changes") => {
                parse::<changes::ChangesArgs>(RecordVerb::Changes, &params, &[]).map(drop)
            }
            _ => parse::<logs::LogsArgs>(RecordVerb::Logs, &params, &[]).map(drop),
        };
        parsed.map_err(|error| error.to_string())
    }

    fn api_error(code: u16, reason: &str) -> CommandError {
        CommandError::from(ApiError {
            verb: "get",
            resource: "pods".into(),
            namespace: None,
            status: ApiStatus {
                code,
                reason: reason.to_owned(),
                message: "no".to_owned(),
            },
        })
    }

    #[test]
    fn the_code_of_an_error_follows_what_it_is_and_not_what_was_asked() {
        for (error, code) in [
            (
                CommandError::silent("Unable to connect to the server: EOF"),
                503,
            ),
            (api_error(404, "NotFound"), 404),
            (api_error(403, "Forbidden"), 403),
            (
                CommandError::usage(r#"invalid name "x(Forbidden)(NotFound)""#),
                400,
            ),
        ] {
            assert_eq!(refusal(&error).code.as_u16(), code, "{error}");
        }
    }

    #[tokio::test]
    async fn an_answer_for_which_nobody_waits_is_noticed() {
        let (mut one, kept) = oneshot::channel::<()>();
        let (mut two, gone) = oneshot::channel::<()>();
        let mut closed = Box::pin(until_one_is_closed([&mut one, &mut two].into_iter()));
        assert!(closed.as_mut().now_or_never().is_none());
        drop(gone);
        closed.await;
        drop(kept);
    }

    #[test]
    fn parameters_become_flags_and_values_never_do() {
        for path in [
            "/trace?object=svc/api",
            "/trace?object=svc/api&cluster=--from=x",
            "/trace?object=svc/api&object=deploy/web&up&depth=2&explain=true&down=false",
            "/trace?object=--from=x",
            "/trace?object=-f&relations=volume,backend",
            "/trace?object=svc&selector=app%3Dweb",
            "/changes?object=deploy/web&since=10m&by=kubectl*&only=.spec",
            "/changes?since=1h&people&all-namespaces",
            "/logs?object=deploy/web&tail=10&level=warn&with=changes",
            "/logs?object=deploy/web&container=--follow",
        ] {
            assert_eq!(check(path), Ok(()), "{path}");
        }
        for (path, error) in [
            ("/trace?from=x", "unknown parameter \"from\""),
            ("/trace?output=text", "unknown parameter \"output\""),
            ("/trace?object=svc/api&depth=x", "invalid value 'x'"),
            ("/trace?object=svc/api&up&down", "cannot be used with"),
            ("/trace?up=maybe", "expected true or false"),
            (
                "/changes?show-secrets",
                "unknown parameter \"show-secrets\"",
            ),
            (
                "/changes?filename=/etc/passwd",
                "unknown parameter \"filename\"",
            ),
            ("/changes?for=current", "unknown parameter \"for\""),
            ("/changes?store=/", "unknown parameter \"store\""),
            ("/logs?follow", "unknown parameter \"follow\""),
        ] {
            let found = check(path).expect_err(path);
            assert!(found.contains(error), "{path}: {found}");
        }
    }

    /// The records and the reasons of the clusters that could not be read, or the code.
    type Expected<'e> = Result<(&'e str, &'e [(&'e str, &'e str)]), u16>;

    #[test]
    fn the_answers_of_several_clusters_are_one() {
        let failed = |code: u16, words: &str| {
            Err(QuestionError {
                code: StatusCode::from_u16(code).expect("a code"),
                words: format!("error: {words}\nhint: do something\n"),
                records: String::new(),
            })
        };
        let records = |text: &str| Ok(text.to_owned());
        let check = |answers: Vec<Result<String, QuestionError>>, expect: Expected<'_>| {
            let named = answers.into_iter().zip(["a", "b", "c"]);
            let named = named.map(|(answer, name)| (Arc::from(name), answer));
            let found = combined(named.collect()).map_err(|error| error.code.as_u16());
            let expect = expect.map(|(records, absences)| Answered {
                records: records.to_owned(),
                absences: absences
                    .iter()
                    .map(|&(name, why)| (name.into(), why.to_owned()))
                    .collect(),
            });
            assert_eq!(found, expect);
        };
        check(vec![records("1\n"), records("2\n")], Ok(("1\n2\n", &[])));
        check(vec![records("1\n"), failed(404, "no")], Ok(("1\n", &[])));
        let away = || failed(400, "no route");
        check(
            vec![away(), records(""), failed(404, "no")],
            Ok(("", &[("a", "no route")])),
        );
        check(vec![failed(404, "no"), failed(404, "no")], Err(404));
        check(vec![failed(404, "no"), failed(403, "no")], Err(403));
        check(vec![failed(404, "no")], Err(404));
        check(vec![], Err(503));
    }

    /// The outputs of two clusters, which are one answer.
    #[test]
    fn an_answer_that_is_too_long_is_an_error_and_stays_small() {
        let size = AnswerSize::default();
        let mut outputs = [Collected::of(&size), Collected::of(&size)];
        let half = vec![b'x'; MAX_BYTES / 2];
        for output in &mut outputs {
            output.write_all(&half).expect("memory takes it");
        }
        assert!(!size.is_too_large());
        for output in &mut outputs {
            output.write_all(b"x").expect("memory takes it");
        }
        assert!(size.is_too_large());
        let kept: usize = outputs.iter().map(|output| output.take().len()).sum();
        assert_eq!(kept, 0);
        assert_eq!(
            refusal(&too_long()).words.lines().next(),
            Some("error: the answer is larger than 16 MiB")
        );
    }
}
