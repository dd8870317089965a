//! Any command line and any manifests must name objects or be refused, in lines that a terminal can show. The
//! input is one argument on each line and, after a form feed, the manifests.
//!
//! An accepted command line is not run, because it may name files and servers. The target only looks up the
//! objects that it names.

#![no_main]

use std::cell::RefCell;
use std::path::PathBuf;
use std::sync::LazyLock;

use clap::{ArgMatches, Command};
use kubectl_spy::cli::command;
use kubectl_spy::cluster::{
    Filters, Names, Namespaces, Resolver, Target, TypePlace, parse_arguments,
};
use kubectl_spy::diff::{Diff, Filter, Noise};
use kubectl_spy::object::Doc;
use kubectl_spy::object::path::Pattern;
use kubectl_spy::object::selector::FieldSelector;
use kubectl_spy::render::diff::counts;
use kubectl_spy::source::{ClusterId, Form};
use kubectl_spy::status::Goal;
use kubectl_spy::watch::source_keys;
use kubectl_spy_fuzz::run;
use tokio::runtime::{Builder, Runtime};

thread_local! {
    static COMMAND: RefCell<Command> = RefCell::new(command());
}

static RUNTIME: LazyLock<Runtime> =
    LazyLock::new(|| Builder::new_current_thread().build().expect("a runtime"));

static VERSIONS: LazyLock<[Doc; 2]> = LazyLock::new(|| {
    let (old, new) = OBJECTS.split_once('\n').expect("two objects");
    [old, new].map(|text| Doc::parse(text).expect("an object"))
});

/// A file of objects in which manifests are looked up.
static FILE: LazyLock<String> = LazyLock::new(|| {
    let name = format!("kubectl-spy-fuzz-{}.json", std::process::id());
    let path: PathBuf = std::env::temp_dir().join(name);
    std::fs::write(&path, OBJECTS).expect("a writable directory");
    path.to_str().expect("UTF-8").to_owned()
});

const OBJECTS: &str = r#"{"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":"web","namespace":"shop","labels":{"app":"web"}},"data":{"a":"1","b":"2"},"status":{"replicas":1,"conditions":[{"type":"Ready","status":"True"}]}}
{"apiVersion":"example.com/v1","kind":"Shop","metadata":{"name":"web","namespace":"shop","labels":{"app":"api"}},"data":{"a":"2"},"status":{"replicas":2,"conditions":[{"type":"Ready","status":"False"}]}}
"#;

libfuzzer_sys::fuzz_target!(|input: &str| {
    let (line, manifests) = input.split_once('\u{c}').unwrap_or((input, ""));
    command_line(&line.split('\n').collect::<Vec<_>>());
    if !manifests.is_empty() {
        let command = ["status", "--once", "--from", &**FILE, "-f", "-"];
        run(command, manifests.as_bytes()).check();
    }
});

fn command_line(args: &[&str]) {
    let all = std::iter::once("kubectl-spy").chain(args.iter().copied());
    let read = COMMAND.with_borrow_mut(|command| command.try_get_matches_from_mut(all));
    match read {
        Ok(matches) => {
            if let Some((_, matches)) = matches.subcommand() {
                named(matches);
                conditions(matches);
            }
        }
        Err(_) => run(args.iter().copied(), b"").check(),
    }
}

fn all<T: Clone + Send + Sync + 'static>(matches: &ArgMatches, id: &str) -> Vec<T> {
    let values = matches.try_get_many::<T>(id).ok().flatten();
    values.into_iter().flatten().cloned().collect()
}

/// Looks up the objects that the arguments name.
fn named(matches: &ArgMatches) {
    let one = |id| all::<String>(matches, id).pop();
    let filters = Filters {
        labels: one("selector"),
        fields: one("field_selector"),
        namespaces: match one("namespace") {
            Some(namespace) if !all::<bool>(matches, "all_namespaces").contains(&true) => {
                Namespaces::One(namespace.into())
            }
            _ => Namespaces::All,
        },
    };
    let Ok(arguments) = parse_arguments(&all::<String>(matches, "objects"), &filters) else {
        return;
    };
    let resolver = Resolver::of(TypePlace::File, Vec::new());
    if let Ok(targets) = RUNTIME.block_on(arguments.resolve(&resolver, &filters)) {
        targets.iter().for_each(selects_only_named_objects);
    }
}

/// Asserts that each name has a request of its own that selects no other object.
fn selects_only_named_objects(target: &Target) {
    let keys = source_keys(&ClusterId("fuzz".into()), target, Form::Full);
    let Names::Named(names) = &target.names else {
        return assert_eq!(keys.len(), 1);
    };
    assert_eq!(keys.len(), names.len());
    for (key, name) in keys.iter().zip(names) {
        let fields = key.select.field_selector().unwrap_or_default();
        let fields: FieldSelector = fields.parse().expect("a selector");
        assert_eq!(fields.required("metadata.name"), Some(&**name));
        assert_eq!(fields.terms().len(), 1);
    }
}

/// Evaluates the conditions and the filters of the arguments.
fn conditions(matches: &ArgMatches) {
    let roots = [Some(VERSIONS[0].root()), Some(VERSIONS[1].root())];
    for goal in all::<Goal>(matches, "goals") {
        let met = roots.map(|root| goal.is_met(root));
        let again: Goal = goal
            .to_string()
            .parse()
            .expect("a parsed goal parses again");
        assert_eq!(met, roots.map(|root| again.is_met(root)), "{goal}");
    }
    let filter = Filter {
        only: all::<Pattern>(matches, "only"),
        ignore: all::<Pattern>(matches, "ignore"),
    };
    let diff = Diff::of(roots[0], roots[1]);
    let every = counts(&diff, &Filter::default(), &Noise::ALL.into());
    assert!(counts(&diff, &filter, &Noise::ALL.into()).shown <= every.shown);
}
