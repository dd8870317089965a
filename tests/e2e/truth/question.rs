//! The questions that a history is asked about, and the runs of the program that answer them.

use jiff::Timestamp;

use super::objects::{KINDS, Kind, Name, OBJECTS};
use super::text::Printed;
use crate::support::Spy;

/// A command line.
#[derive(Clone, Copy, Debug)]
pub struct Question {
    pub scope: Scope,
    pub since: Since,
    pub filter: Filter,
    pub format: Format,
    pub fold: Fold,
}

/// The objects of a question.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Scope {
    /// Everything in the namespace.
    Namespace,
    /// All objects of the kinds of a history.
    Kinds,
    Object(Name),
}

/// How far back a question goes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Since {
    /// No earlier versions.
    Now,
    Default,
    All,
    Seconds(u32),
}

/// The managers of a question.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Filter {
    Everyone,
    By(&'static str),
    People,
}

/// The output format.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Format {
    Json,
    Paths,
    Short,
    Yaml,
}

/// Whether the timeline counts what controllers did.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Fold {
    Controllers,
    Nothing,
}

/// A run of the program.
#[derive(Debug)]
pub struct Answer {
    pub question: Question,
    pub command: String,
    pub begun: Timestamp,
    pub ended: Timestamp,
    pub printed: Printed,
    pub code: i32,
    pub stderr: String,
}

impl Question {
    /// The questions about a history. The first few are always the same.
    pub fn some(seed: u64) -> Vec<Question> {
        let mut rng = fastrand::Rng::with_seed(seed ^ 0xA5);
        let all = Question {
            scope: Scope::Namespace,
            since: Since::All,
            filter: Filter::Everyone,
            format: Format::Json,
            fold: Fold::Nothing,
        };
        let mut questions = vec![all];
        for format in [Format::Json, Format::Paths] {
            let object = OBJECTS[rng.usize(..OBJECTS.len())];
            let scope = Scope::Object(object);
            questions.push(Question {
                scope,
                format,
                ..all
            });
        }
        questions.extend((0..RANDOM).map(|_| Question::random(&mut rng)));
        questions
    }

    fn random(rng: &mut fastrand::Rng) -> Question {
        let scope = match rng.u32(..8) {
            0..2 => Scope::Namespace,
            2 => Scope::Kinds,
            _ => Scope::Object(OBJECTS[rng.usize(..OBJECTS.len())]),
        };
        let since = match (rng.u32(..8), scope) {
            (0, Scope::Object(_)) => Since::Default,
            (0..3, _) => Since::All,
            _ => Since::Seconds(rng.u32(1..40)),
        };
        let filter = match rng.u32(..8) {
            0 => Filter::By(["alice", "helm", "argocd-controller"][rng.usize(..3)]),
            1 => Filter::People,
            _ => Filter::Everyone,
        };
        let format = match rng.u32(..8) {
            0..3 => Format::Json,
            3..6 => Format::Paths,
            6 => Format::Short,
            _ => Format::Yaml,
        };
        // There, `short` prints the messages of Events.
        let format = match scope {
            Scope::Object(object) if object.kind == Kind::Event && format == Format::Short => {
                Format::Paths
            }
            _ => format,
        };
        let fold = if rng.bool() {
            Fold::Nothing
        } else {
            Fold::Controllers
        };
        Question {
            scope,
            since,
            filter,
            format,
            fold,
        }
    }

    /// Whether the question is about this object.
    pub fn is_about(&self, kind: Kind, name: &str) -> bool {
        match self.scope {
            Scope::Namespace | Scope::Kinds => true,
            Scope::Object(object) => object.kind == kind && object.name == name,
        }
    }

    /// Whether the output counts versions instead of printing them.
    pub fn folds(&self) -> bool {
        self.scope == Scope::Namespace
            && self.filter == Filter::Everyone
            && self.format.is_text()
            && self.fold == Fold::Controllers
    }

    fn args(&self, namespace: &str) -> Vec<String> {
        let mut args = vec!["changes".to_owned()];
        match self.scope {
            Scope::Namespace => {}
            Scope::Kinds => args.push(KINDS.map(Kind::plural).join(",")),
            Scope::Object(Name { kind, name }) => args.push(format!("{}/{name}", kind.plural())),
        }
        args.push(format!("--namespace={namespace}"));
        match self.since {
            Since::Now => args.push("--since=0".to_owned()),
            Since::Default => {}
            Since::All => args.push("--since=all".to_owned()),
            Since::Seconds(seconds) => args.push(format!("--since={seconds}s")),
        }
        match self.filter {
            Filter::Everyone => {}
            Filter::By(manager) => args.push(format!("--by={manager}")),
            Filter::People => args.push("--people".to_owned()),
        }
        args.push(format!(
            "--output={}",
            format!("{:?}", self.format).to_lowercase()
        ));
        if self.fold == Fold::Nothing && self.scope == Scope::Namespace && self.format.is_text() {
            args.push("--owned".to_owned());
        }
        // By default, an exit code needs a look-back that is asked for.
        if self.since != Since::Default {
            args.push("--exit-code".to_owned());
        }
        args.push("--once".to_owned());
        args
    }

    /// The command line, for reports.
    pub fn line(self, namespace: &str) -> String {
        self.args(namespace).join(" ")
    }

    /// Asks the program.
    pub fn ask(self, spy: &Spy, namespace: &str) -> Answer {
        let args = self.args(namespace);
        let args: Vec<&str> = args.iter().map(String::as_str).collect();
        let begun = Timestamp::now();
        let ran = spy.run(&args);
        let ended = Timestamp::now();
        Answer {
            question: self,
            command: args.join(" "),
            begun,
            ended,
            printed: match self.format {
                Format::Json => Printed::of_records(&ran.stdout),
                Format::Paths | Format::Short | Format::Yaml => Printed::of_text(&ran.stdout),
            },
            code: ran.status.code().unwrap(),
            stderr: ran.stderr,
        }
    }
}

impl Answer {
    /// Whether the versions arrived live.
    pub fn is_live(&self) -> bool {
        self.question.since == Since::Now
    }
}

impl Format {
    /// Whether it is for people.
    pub fn is_text(self) -> bool {
        matches!(self, Format::Paths | Format::Short)
    }
}

/// The number of random questions about a history.
const RANDOM: usize = 7;
