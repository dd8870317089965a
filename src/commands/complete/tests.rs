//! Tests of the pure core: what belongs at the cursor of a command line, and the offers from types and objects.

use clap::{Args, Command};

use super::known;
use super::line::{Asked, TypedLine, TypedPart, ValueSort};
use super::live::{
    LabelPart, condition_types, containers, managers, paths, paths_like, types_like,
};
use super::offer::{Offer, Offers};
use crate::commands::{
    ClusterArgs, LookArgs, changes, completion, demo, logs, record, serve, status, trace, version,
};
use crate::object::{Doc, Resource, ResourceType, well_known};

/// The commands, as far as completion reads them.
fn cli() -> Command {
    let verbs = [
        changes::ChangesArgs::augment_args(Command::new("changes")),
        completion::CompletionArgs::augment_args(Command::new("completion")),
        demo::DemoArgs::augment_args(Command::new("demo")),
        logs::LogsArgs::augment_args(Command::new("logs")),
        record::RecordArgs::augment_args(Command::new("record")),
        serve::ServeArgs::augment_args(Command::new("serve")),
        status::StatusArgs::augment_args(Command::new("status")),
        trace::TraceArgs::augment_args(Command::new("trace")),
        version::VersionArgs::augment_args(Command::new("version")),
    ];
    let cli = Command::new("kubectl-spy").disable_help_subcommand(true);
    let mut cli = LookArgs::augment_args(ClusterArgs::augment_args(cli)).subcommands(verbs);
    cli.build();
    cli
}

/// The words of a line. A line that ends with a space has an empty word at the cursor.
fn words(line: &str) -> Vec<String> {
    line.split(' ').map(str::to_owned).collect()
}

fn part(word: TypedPart<'_>) -> String {
    format!("{}|{}", word.kept(), word.text())
}

/// What belongs at the cursor of a line, and the objects before it.
fn check(line: &str) -> String {
    let (cli, words) = (cli(), words(line));
    let line = TypedLine::read(&cli, &words);
    let asked = match line.asked {
        Asked::Nothing => "nothing".to_owned(),
        Asked::Command(word) => format!("command {}", part(word)),
        Asked::Flag(word) => format!("flag {}", part(word)),
        Asked::Value(arg, word) => {
            let name = arg.get_long().unwrap_or(arg.get_id().as_str());
            format!("{name}: {:?} {}", ValueSort::of(arg), part(word))
        }
        Asked::Type(word) => format!("type {}", part(word)),
        Asked::TypeOfPair(word) => format!("type/ {}", part(word)),
        Asked::Release(word) => format!("release {}", part(word)),
        Asked::Name(types, word) => format!("name of {types} {}", part(word)),
    };
    match line.objects.join(" ") {
        objects if objects.is_empty() => asked,
        objects => format!("{asked} after {objects}"),
    }
}

fn check_each(cases: &[(&str, &str)]) {
    for (line, expect) in cases {
        assert_eq!(check(line), *expect, "{line:?}");
    }
}

#[test]
fn objects_at_the_cursor() {
    check_each(&[
        ("", "command |"),
        ("st", "command |st"),
        ("nonsense ", "nothing after nonsense"),
        ("--context prod ", "command |"),
        ("--context ", "context: Context |"),
        ("--context=pr", "context: Context |pr"),
        ("status --contexts pr", "contexts: Context |pr"),
        ("status ", "type |"),
        ("status dep", "type |dep"),
        ("status deploy,s", "type deploy,|s"),
        ("status deploy/", "name of deploy deploy/|"),
        ("status deploy/w", "name of deploy deploy/|w"),
        ("status deploy w", "name of deploy |w after deploy"),
        (
            "status deploy,sts ",
            "name of deploy,sts | after deploy,sts",
        ),
        ("status deploy/web ", "type/ | after deploy/web"),
        (
            "status deploy/web svc/a",
            "name of svc svc/|a after deploy/web",
        ),
        ("status deploy sv/a", "nothing after deploy"),
        ("status -l app=web ", "type |"),
        ("status pods -l app=web ", "nothing after pods"),
        ("status -A pods ", "nothing after pods"),
        ("status -A=false pods ", "name of pods | after pods"),
        ("status -f x.yaml ", "nothing"),
        ("status helm:we", "release helm:|we"),
        ("status helm:web helm:", "release helm:| after helm:web"),
    ]);
}

#[test]
fn flags_at_the_cursor() {
    check_each(&[
        ("status -", "flag |-"),
        ("status --o", "flag |--o"),
        ("status -- ", "type |"),
        ("status -- -", "type |-"),
        ("status -o", "flag |-o"),
        ("status -o ", "output: Choice |"),
        ("status -oj", "output: Choice -o|j"),
        ("status -o=j", "output: Choice |j"),
        ("status -n", "flag |-n"),
        ("status -n sh", "namespace: Namespace |sh"),
        ("status -nsh", "namespace: Namespace -n|sh"),
        ("status -Ao ", "output: Choice |"),
        ("status --watch ", "type |"),
        (
            "status pods --namespace=shop w",
            "name of pods |w after pods",
        ),
        ("status pods --for ", "for: Goal | after pods"),
        ("changes pods --by ", "by: Manager | after pods"),
        ("changes pods --only .sp", "only: Path |.sp after pods"),
        (
            "changes --show-noise=heartbeat,o",
            "show-noise: Choice |heartbeat,o",
        ),
        ("changes --from ", "from: File |"),
        ("changes --since ", "since: Since |"),
        ("status --at ", "at: PastTime |"),
        ("changes --since=1", "since: Since |1"),
        ("status pods --timeout ", "timeout: Timeout | after pods"),
        ("trace --request-timeout ", "request-timeout: Timeout |"),
        ("status -v ", "v: Verbosity |"),
        ("status -k ", "kustomize: Directory |"),
        ("trace --relations vol", "relations: Relation |vol"),
        ("status --unknown ", "type |"),
        ("completion ", "shell: Choice |"),
        ("completion bash ", "nothing after bash"),
        ("version ", "nothing"),
        ("demo ", "command |"),
        ("demo rollout ch", "command |ch after rollout"),
        ("demo rollout changes ", "type |"),
    ]);
}

/// A flag without a sort would silently complete nothing.
#[test]
fn every_flag_with_a_free_value_is_known() {
    let cli = cli();
    let mut free: Vec<&str> = cli
        .get_subcommands()
        .flat_map(Command::get_arguments)
        .filter(|arg| arg.get_action().takes_values() && ValueSort::of(arg) == ValueSort::Free)
        .filter_map(|arg| arg.get_long())
        .filter(|long| !matches!(*long, "help" | "version"))
        .collect();
    free.sort_unstable();
    free.dedup();
    let expect = [
        "allow-restarts",
        "as",
        "as-group",
        "as-uid",
        "as-user-extra",
        "count",
        "depth",
        "fields",
        "grep",
        "highlight",
        "image",
        "keep",
        "limit-bytes",
        "list-key",
        "listen",
        "log-lines",
        "max-log-requests",
        "max-size",
        "not",
        "now",
        "password",
        "redact",
        "server",
        "since-rv",
        "since-time",
        "speed",
        "tail",
        "tls-secret",
        "tls-server-name",
        "token",
        "username",
    ];
    assert_eq!(free, expect);
}

fn lines(offers: Vec<Offer>, word: TypedPart<'_>) -> String {
    let mut lines = Offers::of(offers, word).lines();
    lines.pop();
    let values = lines
        .iter()
        .map(|line| line.split('\t').next().unwrap_or_default());
    values.collect::<Vec<_>>().join(" ")
}

#[test]
fn commands_and_flags() {
    let offered = |typed: &str| {
        let (cli, words) = (cli(), words(typed));
        let line = TypedLine::read(&cli, &words);
        match line.asked {
            Asked::Command(word) => lines(known::commands(&line), word),
            Asked::Flag(word) => lines(known::flags(&line, word.text()), word),
            _ => "neither".to_owned(),
        }
    };
    assert_eq!(offered("c"), "changes completion");
    assert_eq!(
        offered("demo "),
        "changes config crash incident logs rollout status trace"
    );
    assert_eq!(offered("demo config "), "changes logs status trace");
    assert_eq!(offered("status --un"), "--unhealthy");
    assert_eq!(offered("changes --onl"), "--only");
    assert_eq!(offered("--onl"), "");
    assert_eq!(offered("changes --only a --onl"), "--only");
    assert_eq!(offered("changes --count 1 --coun"), "");
    assert_eq!(offered("changes --conte"), "--context --contexts");
    assert_eq!(offered("version -"), {
        let all = offered("version --");
        format!("{all} -h -n -o -s -v")
    });
}

fn custom(group: &str, plural: &str, kind: &str) -> ResourceType {
    ResourceType {
        resource: Resource {
            group: group.into(),
            version: "v1".into(),
            plural: plural.into(),
            kind: kind.into(),
            namespaced: true,
        },
        singular: kind.to_lowercase(),
        short_names: vec![plural[..2].to_owned()],
        categories: vec!["toys".to_owned()],
        verbs: vec!["list".to_owned()],
        has_status: false,
    }
}

#[test]
fn words_for_types() {
    let mut more = vec![
        custom("a.com", "gadgets", "Gadget"),
        custom("b.com", "gadgets", "Gadget"),
        custom("a.com", "gizmos", "Gizmo"),
    ];
    more[2].verbs.clear();
    let offered = |text: &str| {
        let found = types_like(well_known().iter().chain(&more), text);
        lines(found, TypedPart::whole(text))
    };
    assert_eq!(offered("depl"), "deploy deployments");
    assert_eq!(offered("po"), "po poddisruptionbudgets pods podtemplates");
    assert_eq!(offered("ingress"), "ingressclasses ingresses");
    assert_eq!(offered("networkpolicy"), "networkpolicy");
    assert_eq!(offered("Depl"), "Deployment");
    assert_eq!(offered("deployments.a"), "deployments.apps");
    assert_eq!(offered("g"), "ga gadgets gadgets.b.com");
    assert_eq!(offered("gadgets.a"), "gadgets.a.com");
    assert_eq!(offered("toy"), "toys");
    assert_eq!(offered("gi"), "");
    let all = offered("");
    assert!(all.contains("services") && !all.contains("svc"), "{all}");
    let list = TypedPart::whole("svc,depl").last_item();
    let found = types_like(well_known(), list.text());
    assert_eq!(lines(found, list), "svc,deploy svc,deployments");
}

const POD: &str = r#"{"metadata":{
    "name":"web","labels":{"app":"web","a.com/tier":"front"},
    "managedFields":[{"manager":"kubectl-edit"},{"manager":"kubelet"},{"manager":"kubelet"}]},
  "spec":{"containers":[{"name":"app","image":"hunter2"},{"name":"side","image":"hunter2"}],
    "tolerations":[{"effect":"NoExecute","tolerationSeconds":300}]},
  "status":{"conditions":[{"type":"Ready","status":"True"},{"type":"PodScheduled"}],"podIPs":["hunter2"]}}"#;

fn pod() -> Doc {
    Doc::parse(POD).expect("JSON")
}

#[test]
fn paths_of_an_object() {
    let doc = pod();
    let offered = |text: &str| lines(paths(doc.root(), text), TypedPart::whole(text));
    for (text, expect) in [
        ("", ".metadata .spec .status"),
        (".", ".metadata .spec .status"),
        ("sta", "status"),
        ("status.", "status.conditions status.podIPs"),
        (".spec", ".spec .spec.containers .spec.tolerations"),
        (".spec.c", ".spec.containers"),
        (
            ".spec.containers",
            ".spec.containers .spec.containers[name=app] .spec.containers[name=side]",
        ),
        (
            ".spec.containers[name=app].",
            ".spec.containers[name=app].image .spec.containers[name=app].name",
        ),
        (".status.podIPs[", ".status.podIPs[*]"),
        (
            ".metadata.labels",
            r#".metadata.labels .metadata.labels.app .metadata.labels["a.com/tier"]"#,
        ),
        (".nonsense", ""),
        (".metadata.name.", ""),
    ] {
        assert_eq!(offered(text), expect, "{text:?}");
    }
}

#[test]
fn paths_to_sort_by() {
    let doc = pod();
    let offered = |text: &str| {
        let found = paths_like(doc.root(), text).into_iter();
        let found = known::sort_fields().into_iter().chain(found);
        lines(found.collect(), TypedPart::whole(text))
    };
    let always = ".metadata.creationTimestamp .metadata.name .metadata.namespace";
    for (text, expect) in [
        ("", format!(".metadata {always} .spec .status")),
        (".metadata.n", ".metadata.name .metadata.namespace".into()),
        (
            ".spec.containers[0].",
            ".spec.containers[0].image .spec.containers[0].name".into(),
        ),
        (".status.podIPs[", ".status.podIPs[0]".into()),
    ] {
        assert_eq!(offered(text), expect, "{text:?}");
    }
}

/// A path contains no value but the keys of items.
#[test]
fn every_path_is_a_pattern_and_shows_no_value() {
    let doc = pod();
    let mut open = vec![String::new()];
    let mut seen = 0;
    while let Some(text) = open.pop() {
        let found = paths(doc.root(), &text);
        for path in lines(found, TypedPart::whole(&text)).split(' ') {
            assert!(!path.contains("hunter2"), "{path}");
            if path.len() > text.len() {
                let parsed = path.parse::<crate::object::path::Pattern>();
                assert!(parsed.is_ok(), "{path}");
                seen += 1;
                open.push(path.to_owned());
            }
        }
    }
    assert!(seen > 20, "{seen}");
}

#[test]
fn labels_of_objects() {
    let doc = pod();
    let offered = |text: &str| {
        let part = LabelPart::of(TypedPart::whole(text));
        lines(part.offers(std::iter::once(doc.root())), part.word())
    };
    for (text, expect) in [
        ("", "a.com/tier= app="),
        ("ap", "app="),
        ("app=", "app=web"),
        ("app==w", "app==web"),
        ("app!=", ""),
        ("app=web,a.", "app=web,a.com/tier="),
        ("x=1,a.com/tier=f", "x=1,a.com/tier=front"),
        ("!a", ""),
        ("nonsense=", ""),
    ] {
        // Shells read `!` as history, so such words get no offer.
        assert_eq!(offered(text), expect, "{text:?}");
    }
}

#[test]
fn managers_and_conditions_of_objects() {
    let doc = pod();
    let whole = TypedPart::whole("");
    let objects = || std::iter::once(doc.root());
    assert_eq!(lines(managers(objects()), whole), "kubectl-edit kubelet");
    assert_eq!(
        lines(condition_types(objects()), whole),
        "PodScheduled Ready"
    );
    assert_eq!(lines(containers(objects()), whole), "app side");
}
