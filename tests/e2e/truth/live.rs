//! The program as it watches the histories while they are written.

use jiff::Timestamp;

use super::objects::{KINDS, Kind};
use super::question::{Answer, Filter, Fold, Format, Question, Scope, Since};
use super::text::Printed;
use crate::support::{Ran, Running, Spy};

/// A run on all namespaces.
pub struct Live {
    run: Running,
    begun: Timestamp,
}

/// What a run printed.
pub struct Watched {
    ran: Ran,
    begun: Timestamp,
    ended: Timestamp,
}

impl Live {
    /// Starts the run, and waits until it watches every kind.
    pub fn start(spy: &Spy) -> Live {
        let kinds = KINDS.map(Kind::plural).join(",");
        let begun = Timestamp::now();
        let mut run = spy.start(&["changes", &kinds, "-A", "--since=0", "-o=json"]);
        for _ in KINDS {
            run.until(r#""type":"synced""#);
        }
        Live { run, begun }
    }

    /// Ends the run when it has printed an object with this name of each kind.
    pub fn end(mut self, mark: &str) -> Watched {
        for _ in KINDS {
            self.run.until(&format!(r#""name":"{mark}""#));
        }
        Watched {
            ran: self.run.interrupt(),
            begun: self.begun,
            ended: Timestamp::now(),
        }
    }
}

impl Watched {
    /// What it printed about a namespace, as an answer.
    pub fn answer(&self, namespace: &str) -> Answer {
        let place = format!(r#""namespace":"{namespace}""#);
        let is_gap = |line: &str| line.contains(r#""type":"gap""#);
        let lines = self.ran.stdout.lines();
        let lines = lines.filter(|line| line.contains(&place) || is_gap(line));
        let lines: Vec<&str> = lines.collect();
        Answer {
            question: Question {
                scope: Scope::Kinds,
                since: Since::Now,
                filter: Filter::Everyone,
                format: Format::Json,
                fold: Fold::Nothing,
            },
            command: "changes … -A --since=0 -o=json".to_owned(),
            begun: self.begun,
            ended: self.ended,
            printed: Printed::of_records(&lines.join("\n")),
            code: 0,
            stderr: String::new(),
        }
    }
}
