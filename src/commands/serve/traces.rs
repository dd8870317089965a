//! Answers questions about connections: runs `trace --once -o json` over the sources that the server follows.

use std::time::Duration;

use clap::{Args, FromArgMatches};
use futures::stream::{FuturesUnordered, StreamExt};
use tokio::sync::mpsc;
use tokio::time::timeout;

use crate::commands::trace::{self, TraceArgs};
use crate::commands::{ClusterOrigin, CommandError, Context, LookArgs, Session, UnreadFiles};
use crate::env::{Capture, Env};
use crate::serve::{Params, Question};

/// The most traces at a time. Each may read several sources.
const AT_ONCE: usize = 4;

/// How many questions wait for their turn.
pub(super) const WAITING: usize = 16;

/// How long a trace may take.
const LIMIT: Duration = Duration::from_secs(30);

/// The parameters of a trace, which are flags of the verb.
const NAMES: [&str; 8] = [
    "object",
    "namespace",
    "selector",
    "up",
    "down",
    "depth",
    "relations",
    "explain",
];

/// What each trace needs besides its question.
pub(super) struct Tracing<'a> {
    pub(super) session: &'a Session,
    pub(super) origin: ClusterOrigin,
    pub(super) look: LookArgs,
    pub(super) env: Env,
}

impl Tracing<'_> {
    /// Answers the questions, some at a time, for as long as the server runs.
    pub(super) async fn answer(&self, mut questions: mpsc::Receiver<Question>) {
        let mut running = FuturesUnordered::new();
        loop {
            tokio::select! {
                Some(question) = questions.recv(), if running.len() < AT_ONCE => {
                    running.push(self.answer_one(question));
                }
                Some(()) = running.next() => {}
                else => return std::future::pending().await,
            }
        }
    }

    async fn answer_one(&self, question: Question) {
        let answer = match timeout(LIMIT, Box::pin(self.trace(&question.params))).await {
            Ok(Ok(lines)) => Ok(lines),
            Ok(Err(error)) => Err(words(&error)),
            Err(_) => Err(format!(
                "error: the trace took longer than {} s\n",
                LIMIT.as_secs()
            )),
        };
        // The reader may have gone.
        let _unread = question.answer.send(answer);
    }

    async fn trace(&self, params: &Params) -> Result<String, CommandError> {
        let args = parse(params)?;
        let mut session = self.session.clone();
        if let Some(namespace) = params.first("namespace") {
            session.namespace = namespace.into();
        }
        let (stdout, stderr) = (Capture::default(), Capture::default());
        let mut env = self.env.detached(&stdout, &stderr);
        let mut context = Context {
            origin: self.origin.clone(),
            look: self.look,
            env: &mut env,
            unread: UnreadFiles::default(),
        };
        trace::print_records(&args, session, &mut context).await?;
        Ok(stdout.text())
    }
}

/// The arguments that the user would have typed. A value is never a flag: it stands behind `=`, or after `--`.
fn parse(params: &Params) -> Result<TraceArgs, CommandError> {
    params
        .only(&NAMES)
        .map_err(|error| CommandError::failed(format!("error: {error}")))?;
    let mut words = vec![
        "trace".to_owned(),
        "--once".to_owned(),
        "--output=json".to_owned(),
    ];
    for (name, value) in params.pairs() {
        match (name, value) {
            ("object" | "namespace", _) | (_, "false") => {}
            ("up" | "down" | "explain", "" | "true") => words.push(format!("--{name}")),
            _ => words.push(format!("--{name}={value}")),
        }
    }
    words.push("--".to_owned());
    words.extend(params.all("object").map(str::to_owned));
    let command = TraceArgs::augment_args(clap::Command::new("trace"));
    let matches = command.try_get_matches_from(words);
    let args = matches.and_then(|matches| TraceArgs::from_arg_matches(&matches));
    args.map_err(|error| {
        let text = error.to_string();
        CommandError::failed(text.lines().next().unwrap_or("error: invalid parameters"))
    })
}

/// An error with its hints, as the command line prints them.
fn words(error: &CommandError) -> String {
    let hints = error.hints().iter().map(|hint| format!("hint: {hint}\n"));
    format!("{error}\n{}", hints.collect::<String>())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(query: &str) -> Result<(), String> {
        let params = Params::of(&format!("/?{query}").parse().expect("an address"));
        parse(&params).map(drop).map_err(|error| error.to_string())
    }

    #[test]
    fn parameters_become_flags_and_values_never_do() {
        for query in [
            "object=svc/api",
            "object=svc/api&object=deploy/web&up&depth=2&explain=true&down=false",
            "object=--from=x",
            "object=-f&relations=volume,backend",
            "object=svc&selector=app%3Dweb",
        ] {
            assert_eq!(check(query), Ok(()), "{query}");
        }
        for (query, error) in [
            ("from=x", "unknown parameter \"from\""),
            ("output=text", "unknown parameter \"output\""),
            ("object=svc/api&depth=x", "invalid value 'x'"),
            ("object=svc/api&up&down", "cannot be used with"),
        ] {
            let found = check(query).expect_err(query);
            assert!(found.contains(error), "{query}: {found}");
        }
    }
}
