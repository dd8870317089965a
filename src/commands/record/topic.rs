//! `record --from kafka://…`: what other recorders have written to a topic, as a record of this machine.

use std::time::Duration;

use tokio::time::{Instant, sleep};

use super::args::RecordArgs;
use crate::commands::{
    CommandError, Context, Ended, KafkaEntry, Shutdown, YamlFile, refused_address,
};
use crate::kafka::{ReadCounts, ReadError, Security, TopicAddress, TopicReader};
use crate::render::age::rfc3339;
use crate::render::count::plural;
use crate::sink::ToldOutage;

/// How often the topic is asked for more.
const LOOK: Duration = Duration::from_secs(1);
/// The longest wait after a broker did not answer.
const LONGEST: Duration = Duration::from_secs(30);
/// How often there is a line.
const LINE: Duration = Duration::from_secs(60);
/// What is lost is known when the topic was read twice.
const ROUNDS: u32 = 2;

/// Reads a topic until the end: a signal, or with `--once` when it is read.
pub(super) async fn record_topic(
    args: &RecordArgs,
    topic: &str,
    context: &mut Context<'_>,
    shutdown: &Shutdown,
) -> Result<Ended, CommandError> {
    let address = address(args, topic)?;
    let path = args.store.path(context.env)?;
    let name = address.to_string();
    let reader = TopicReader::open(address, &path, args.retention());
    let mut reader = reader.map_err(|error| failed(&name, &error))?;
    context.note(&format!("reading {name} into {}", path.display()));
    let reading = read(args, &name, &mut reader, context);
    let ended = tokio::select! {
        read = reading => read.map(|()| Ended::Answered),
        signal = shutdown.wait() => Ok(signal.map_or(Ended::Answered, Ended::By)),
    };
    let now = context.env.now();
    let counts = reader.finish(now).map_err(|error| failed(&name, &error))?;
    context.note(&format!("recorded {}", words(&counts)));
    ended
}

/// Reads rounds without end, or as many as `--once` needs.
async fn read(
    args: &RecordArgs,
    name: &str,
    reader: &mut TopicReader,
    context: &mut Context<'_>,
) -> Result<(), CommandError> {
    let (mut rounds, mut failures) = (0, 0_u32);
    let mut outage = ToldOutage::default();
    let mut next_line = Instant::now() + LINE;
    loop {
        let pause = match reader.round(context.env.now()).await {
            Ok(is_new) => {
                if outage.end() {
                    context.note(&format!("{name}: read again"));
                }
                (rounds, failures) = (rounds + 1, 0);
                if is_new { Duration::ZERO } else { LOOK }
            }
            Err(error @ ReadError::Topic(_)) if !args.topic.once => {
                let cause = error.to_string();
                if outage.is_news(&cause) {
                    context.note(&format!("{name}: {cause}; retrying"));
                }
                failures += 1;
                LOOK.saturating_mul(1 << failures.min(6)).min(LONGEST)
            }
            Err(error) => return Err(failed(name, &error)),
        };
        for note in reader.take_notes() {
            context.note(&note);
        }
        if args.topic.once {
            if rounds == ROUNDS {
                return Ok(());
            }
            continue;
        }
        if Instant::now() >= next_line {
            next_line = Instant::now() + LINE;
            let time = rfc3339(context.env.now());
            context.print([format!("{time} {}", words(reader.counts()))])?;
        }
        sleep(pause).await;
    }
}

/// The topic of the flags.
fn address(args: &RecordArgs, topic: &str) -> Result<TopicAddress, CommandError> {
    let security = match &args.topic.kafka {
        None => Security::default(),
        Some(path) => {
            let file = YamlFile { path };
            let entry: KafkaEntry = file.parse(&file.text()?)?;
            entry.security_alone(&file)?
        }
    };
    TopicAddress::parse(topic, security).map_err(|error| {
        let said = CommandError::usage(format!("--from {topic}: {error}"));
        refused_address(said, &error)
    })
}

fn failed(name: &str, error: &ReadError) -> CommandError {
    let said = CommandError::failed(format!("error: {name}: {error}"));
    match error {
        ReadError::InUse => said.hint("name another directory with --store"),
        ReadError::Topic(_) | ReadError::Store(_) | ReadError::Position(_) | ReadError::Broken => {
            said
        }
    }
}

/// How much was read, in words.
fn words(counts: &ReadCounts) -> String {
    let count = |count: u64| usize::try_from(count).unwrap_or(usize::MAX);
    let mut words = vec![
        plural(count(counts.versions), "version"),
        plural(counts.clusters.len(), "cluster"),
        plural(count(counts.missing), "gap"),
    ];
    if counts.lost > 0 {
        words.push(format!(
            "{} without their rest",
            plural(count(counts.lost), "file")
        ));
    }
    if counts.foreign > 0 {
        words.push(format!(
            "{} of other programs",
            plural(count(counts.foreign), "message")
        ));
    }
    words.join(", ")
}
