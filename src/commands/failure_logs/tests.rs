//! Tests of which lines are shown below which failure, with a kubelet whose statuses come late.

use std::sync::{Arc, Mutex};

use futures::future::BoxFuture;
use futures::stream;
use jiff::{SignedDuration, Timestamp};
use serde_json::{Value, json};

use super::unwell_instance::{LineOrigin, UnwellInstance};
use super::{FailureLogs, LogLineArgs, SETTLING};
use crate::commands::Ending;
use crate::graph::well_known;
use crate::model::{Model, Retention};
use crate::object::{Doc, ObjectRef, ResourceVersion, Uid};
use crate::source::log::{LogLine, LogRefusal, LogRequest};
use crate::source::{ClusterId, Event, Form, Scope, Select, SourceKey, Version, Why};
use crate::status::Rules;
use crate::watch::logs::LogFeeds;
use crate::watch::{At, LineStream, ListPage, LogAnswer, Page, SourceError, Transport};

/// The time at which the first instance ends.
const END: Timestamp = Timestamp::constant(1_772_452_800, 0);

fn at(milliseconds: i64) -> Timestamp {
    END + SignedDuration::from_millis(milliseconds)
}

/// An instance of a container on the node: its ID, and when it prints its only line.
type NodeInstance = (&'static str, i64);

/// A kubelet that has the present instance and the one before. It knows more than the status of the Pod.
#[derive(Default)]
struct Kubelet {
    has: Mutex<[Option<NodeInstance>; 2]>,
    asked: Mutex<Vec<&'static str>>,
}

impl Transport for Kubelet {
    fn list<'a>(
        &'a self,
        _: &'a SourceKey,
        _: At,
        _: Page,
    ) -> BoxFuture<'a, Result<ListPage, SourceError>> {
        Box::pin(async { Err(SourceError::Ended) })
    }

    fn watch<'a>(
        &'a self,
        _: &'a SourceKey,
        _: &'a ResourceVersion,
    ) -> BoxFuture<'a, Result<LineStream, SourceError>> {
        Box::pin(async { Err(SourceError::Ended) })
    }

    fn log<'a>(&'a self, request: &'a LogRequest) -> BoxFuture<'a, Result<LogAnswer, LogRefusal>> {
        let [present, before] = *self.has.lock().expect("whole");
        let (instance, word) = if request.previous {
            (before, "previous")
        } else {
            (present, "present")
        };
        self.asked.lock().expect("whole").push(word);
        let text = instance.map(|(id, time)| format!("{:.9} error of {id}\n", at(time)));
        let bytes = stream::iter(text.map(|text| Ok(text.into())));
        Box::pin(async { Ok(LogAnswer::Bytes(Box::pin(bytes))) })
    }
}

/// A model of one Pod, and what reads its logs.
struct View {
    kubelet: Arc<Kubelet>,
    model: Model,
    source: Arc<SourceKey>,
    logs: FailureLogs,
    versions: u64,
}

impl View {
    fn new() -> View {
        let kubelet: Arc<Kubelet> = Arc::default();
        let cluster = ClusterId("demo".into());
        let mut feeds = LogFeeds::new(FailureLogs::MOST);
        feeds.add_cluster(cluster.clone(), kubelet.clone());
        let source = SourceKey {
            cluster,
            resource: well_known("", "Pod"),
            scope: Scope::Namespace("shop".into()),
            select: Select::All,
            form: Form::Full,
        };
        let mut model = Model::new(Rules::Spy, Retention::None);
        model.request(vec![source.clone()]);
        View {
            kubelet,
            model,
            source: Arc::new(source),
            logs: FailureLogs::new(feeds, LogLineArgs::default(), Ending::Never),
            versions: 0,
        }
    }

    /// The kubelet writes the status of the container, in this and the last state.
    fn report(&mut self, state: &Value, last: &Value) {
        self.write(&pod(state, last));
        self.look();
    }

    fn write(&mut self, pod: &Value) {
        self.versions += 1;
        let object = ObjectRef::of(Doc::parse(pod.to_string()).expect("JSON").root());
        let version = Version {
            object: object.into(),
            version: ResourceVersion::new(self.versions.to_string()),
            body: pod.to_string().into(),
        };
        let event = Event::Object {
            why: Why::Modified,
            past: false,
            seen: END,
            now: Arc::new(version),
            prev: None,
        };
        self.model.apply(&self.source, &event, END);
        self.model.step(END, &[]);
    }

    fn look(&mut self) {
        let objects = self.model.roots().named_or_unwell();
        self.logs.look_up(&self.model, objects);
    }

    /// Reads what is asked for. Returns the shown lines, and the requests so far.
    async fn shown(&mut self) -> (String, Vec<&'static str>) {
        while self.logs.is_busy() {
            self.logs.next().await;
        }
        self.look();
        assert!(!self.logs.is_busy(), "nothing is read twice");
        let lines = self.logs.of(&Uid::new("u")).iter();
        let lines: Vec<String> = lines.flat_map(|lines| lines.lines.clone()).collect();
        let asked = self.kubelet.asked.lock().expect("whole").clone();
        (lines.join(", "), asked)
    }
}

/// A Pod whose container is in these states.
fn pod(state: &Value, last: &Value) -> Value {
    json!({
        "apiVersion": "v1", "kind": "Pod",
        "metadata": {"name": "web", "namespace": "shop", "uid": "u"},
        "spec": {"containers": [{"name": "app"}]},
        "status": {"phase": "Running", "containerStatuses": [{
            "name": "app", "ready": false, "state": state, "lastState": last,
            "restartCount": u8::from(!last.is_null()),
            "containerID": "second",
        }]},
    })
}

fn dead(id: &str) -> Value {
    json!({"terminated": {"exitCode": 1, "containerID": id, "finishedAt": END.to_string()}})
}

fn running() -> Value {
    json!({"running": {"startedAt": at(1000).to_string()}})
}

fn waiting() -> Value {
    json!({"waiting": {"reason": "CrashLoopBackOff"}})
}

#[tokio::test(start_paused = true)]
async fn the_lines_of_the_next_instance_are_not_those_of_the_failed_one() {
    for second in [500, 7000] {
        let mut view = View::new();
        // The next instance runs already, and no status shows it.
        *view.kubelet.has.lock().unwrap() = [Some(("second", second)), Some(("first", 0))];
        view.report(&dead("first"), &Value::Null);
        assert_eq!(view.shown().await, (String::new(), vec!["present"]));
        view.report(&running(), &dead("first"));
        let expected = ("error of first".to_owned(), vec!["present", "previous"]);
        assert_eq!(view.shown().await, expected);
    }
}

#[tokio::test(start_paused = true)]
async fn lines_of_the_last_second_are_shown_once_no_other_instance_can_have_printed_them() {
    let mut view = View::new();
    *view.kubelet.has.lock().unwrap() = [Some(("first", 300)), None];
    view.report(&dead("first"), &Value::Null);
    assert_eq!(view.shown().await, (String::new(), vec!["present"]));
    view.report(&waiting(), &dead("first"));
    let expected = ("error of first".to_owned(), vec!["present"]);
    assert_eq!(view.shown().await, expected);
}

#[tokio::test(start_paused = true)]
async fn lines_are_shown_once_a_restart_would_have_changed_the_status() {
    let mut view = View::new();
    *view.kubelet.has.lock().unwrap() = [Some(("first", 300)), None];
    view.report(&dead("first"), &Value::Null);
    assert_eq!(view.shown().await.0, "");
    let begun = tokio::time::Instant::now();
    view.logs.next().await;
    assert_eq!(begun.elapsed(), SETTLING);
    let expected = ("error of first".to_owned(), vec!["present"]);
    assert_eq!(view.shown().await, expected);
    // The listing of a view that is printed once does not change.
    view.logs.ending = Ending::Once;
    view.logs.known.clear();
    view.look();
    assert_eq!(view.shown().await.0, "");
    assert_eq!(view.logs.next_settled(), None);
}

#[tokio::test(start_paused = true)]
async fn lines_from_before_the_end_are_shown_at_once() {
    let mut view = View::new();
    *view.kubelet.has.lock().unwrap() = [Some(("first", -1)), None];
    view.report(&dead("first"), &Value::Null);
    let expected = ("error of first".to_owned(), vec!["present"]);
    assert_eq!(view.shown().await, expected);
    view.report(&running(), &dead("first"));
    assert_eq!(view.shown().await, expected, "the same instance");
}

#[tokio::test(start_paused = true)]
async fn an_instance_without_lines_is_asked_once() {
    let mut view = View::new();
    view.report(&dead("first"), &Value::Null);
    for _ in 0..2 {
        assert_eq!(view.shown().await, (String::new(), vec!["present"]));
    }
}

#[test]
fn the_origin_of_lines_is_known_by_their_times_and_the_state() {
    use LineOrigin::{This, Unknown};
    let always = pod(&dead("first"), &Value::Null);
    let mut never = always.clone();
    never["spec"]["restartPolicy"] = "Never".into();
    let mut timeless = always.clone();
    let states = &mut timeless["status"]["containerStatuses"][0]["state"];
    states["terminated"]["finishedAt"] = Value::Null;
    let backoff = pod(&waiting(), &dead("first"));
    let again = pod(&running(), &dead("first"));
    let mut at_once = again.clone();
    let states = &mut at_once["status"]["containerStatuses"][0]["state"];
    states["running"]["startedAt"] = END.to_string().into();
    for (pod, lines, expected) in [
        (&always, &[-1, 100][..], This),
        (&always, &[0, 100], Unknown),
        (&always, &[], Unknown),
        (&never, &[0, 100], This),
        (&backoff, &[0, 999], This),
        (&backoff, &[0, 1000], Unknown),
        (&again, &[0, 999], This),
        (&again, &[1000], Unknown),
        (&at_once, &[100], Unknown),
        (&at_once, &[-1, 100], This),
        (&timeless, &[-1], Unknown),
    ] {
        let mut view = View::new();
        view.write(pod);
        let failed = UnwellInstance::failed(&view.model, [Uid::new("u")]);
        let lines = lines.iter().map(|time| LogLine {
            time: at(*time),
            text: "x".into(),
            ends: true,
        });
        let lines: Vec<LogLine> = lines.collect();
        assert_eq!(failed[0].origin(&lines), expected, "{pod} {lines:?}");
    }
}
