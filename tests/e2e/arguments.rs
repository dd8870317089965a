//! The same arguments for kubectl and for this program. Both must find the same objects, fail with the same words and end
//! with the same code. docs/kubectl.md lists the differences, each with its reason: the tests know no others.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use kubectl_spy::sandbox::scenario;

use crate::controlplane::{ControlPlane, built_kubectl};
use crate::support::Spy;
use crate::support::cluster::Cluster;

/// Arguments of `kubectl get` and `status`, one command line each. `DIR` is the directory of the manifests.
const GET: &str = include_str!("arguments/get.txt");
/// Arguments of `kubectl wait` and `status`, each with `--for`.
const WAIT: &str = include_str!("arguments/wait.txt");
/// Arguments of `kubectl describe` and `status`.
const DESCRIBE: &str = include_str!("arguments/describe.txt");
/// Arguments of `kubectl get` and `status` for the embedded server, which serves fewer types.
const SANDBOX: &str = include_str!("arguments/sandbox.txt");

/// Where the differences are listed.
const DOC: &str = include_str!("../../docs/kubectl.md");

const OBJECTS: &str = include_str!("arguments/objects.yaml");

/// What a program answered.
#[derive(Debug, PartialEq, Eq)]
struct Answer {
    code: i32,
    /// The lines of stdout, if the command prints names.
    names: Option<BTreeSet<String>>,
    /// The first line with an error.
    error: Option<String>,
}

/// kubectl, this program, and the manifests that both read.
struct Both {
    kubeconfig: String,
    manifests: PathBuf,
}

impl Both {
    fn new(kubeconfig: &str, test: &str) -> Both {
        let manifests = Path::new(env!("CARGO_TARGET_TMPDIR")).join(format!("arguments-{test}"));
        std::fs::create_dir_all(manifests.join("sub")).unwrap();
        std::fs::create_dir_all(manifests.join("empty")).unwrap();
        let map = |name: &str| {
            format!(
                "apiVersion: v1\nkind: ConfigMap\nmetadata: {{name: {name}, namespace: shop}}\n"
            )
        };
        for (file, text) in [
            ("map.yaml", map("settings")),
            ("sub/absent.yaml", map("absent")),
            (
                "unknown.yaml",
                "apiVersion: v1\nkind: Frob\nmetadata: {name: x}\n".to_owned(),
            ),
        ] {
            std::fs::write(manifests.join(file), text).unwrap();
        }
        Both {
            kubeconfig: kubeconfig.to_owned(),
            manifests,
        }
    }

    /// The words of a command line. Quotes hold words with blanks, or nothing, together.
    fn words(&self, line: &str) -> Vec<String> {
        let manifests = self.manifests.to_str().unwrap();
        let line = line.replace("DIR", manifests);
        let parts = line.split('\'').enumerate();
        parts
            .flat_map(|(index, part)| match index % 2 {
                1 => vec![part.to_owned()],
                _ => part.split_whitespace().map(str::to_owned).collect(),
            })
            .collect()
    }

    fn kubectl(&self, before: &[&str], line: &str) -> Answer {
        let output = Command::new(built_kubectl())
            .args(before)
            .args(self.words(line))
            .env_clear()
            .env("KUBECONFIG", &self.kubeconfig)
            .env("HOME", env!("CARGO_TARGET_TMPDIR"))
            .stdin(Stdio::null())
            .output()
            .unwrap();
        let stdout = String::from_utf8(output.stdout).unwrap();
        let stderr = String::from_utf8(output.stderr).unwrap();
        answer(output.status.code(), &stdout, &stderr)
    }

    fn spy(&self, before: &[&str], line: &str) -> Answer {
        let words = self.words(line);
        let words = words.iter().map(String::as_str);
        let args: Vec<&str> = before.iter().copied().chain(words).collect();
        // With `-k` it runs kubectl, which keeps its caches below the home directory.
        let kubectl = built_kubectl();
        let programs = kubectl.parent().and_then(Path::to_str).unwrap();
        let spy = Spy::with_kubeconfig(&self.kubeconfig)
            .var("HOME", env!("CARGO_TARGET_TMPDIR"))
            .var("PATH", programs);
        let ran = spy.run(&args);
        answer(ran.status.code(), &ran.stdout, &ran.stderr)
    }

    /// The lines for which the answers differ, with both answers.
    fn differences(&self, verb: &str, lines: &str) -> Vec<(String, String)> {
        let kubectl: &[&str] = match verb {
            "get" => &["get", "-n", "shop", "-o", "name"],
            "wait" => &["wait", "-n", "shop", "--timeout=1s"],
            _ => &["describe", "-n", "shop"],
        };
        let spy: &[&str] = match verb {
            "get" => &["status", "-n", "shop", "--once", "-o", "name"],
            "wait" => &["status", "-n", "shop", "--timeout=1s"],
            _ => &["status", "-n", "shop", "--once"],
        };
        let compare = |line: &str| {
            let (mut theirs, mut ours) = (self.kubectl(kubectl, line), self.spy(spy, line));
            if verb != "get" {
                (theirs.names, ours.names) = (None, None);
            }
            if ours.code == 3 {
                ours.code = 1; // a timeout has its own code: docs/kubectl.md says so of all
            }
            let answers = format!("kubectl:     {theirs:?}\nkubectl spy: {ours:?}");
            (theirs != ours).then(|| (format!("{verb} {line}"), answers))
        };
        lines.lines().filter_map(compare).collect()
    }
}

fn answer(code: Option<i32>, stdout: &str, stderr: &str) -> Answer {
    let is_error = |line: &&str| {
        let starts = [
            "error:",
            "Error from server",
            "No resources found",
            "unable to",
            "must build",
            "The connection",
        ];
        starts.iter().any(|start| line.starts_with(start))
    };
    Answer {
        code: code.unwrap(),
        names: Some(stdout.lines().map(str::to_owned).collect()),
        error: stderr.lines().find(is_error).map(str::to_owned),
    }
}

/// The documented differences below a heading: the first cell of each row.
fn documented(heading: &str) -> BTreeSet<String> {
    let (_, section) = DOC.split_once(heading).unwrap();
    let section = section.split("\n## ").next().unwrap();
    let rows = section.lines().filter_map(|line| line.strip_prefix("| `"));
    rows.filter_map(|row| row.split_once("` |"))
        .map(|(command, _)| command.replace("\\|", "|"))
        .collect()
}

fn assert_documented(heading: &str, differences: Vec<(String, String)>) {
    let documented = documented(heading);
    let found: BTreeSet<String> = differences.iter().map(|(line, _)| line.clone()).collect();
    let unknown: Vec<String> = differences
        .into_iter()
        .filter(|(line, _)| !documented.contains(line))
        .map(|(line, answers)| format!("{line}\n{answers}"))
        .collect();
    assert!(
        unknown.is_empty(),
        "not in docs/kubectl.md:\n{}",
        unknown.join("\n")
    );
    let outdated: Vec<&String> = documented.difference(&found).collect();
    assert!(outdated.is_empty(), "no longer different: {outdated:#?}");
}

#[test]
fn arguments_mean_what_they_mean_to_kubectl() {
    let plane = ControlPlane::start("arguments");
    plane.apply(OBJECTS);
    plane.kubectl(&[
        "wait",
        "--for=condition=Established",
        "crd/widgets.example.com",
    ]);
    plane
        .apply("apiVersion: example.com/v1\nkind: Widget\nmetadata: {name: w1, namespace: shop}\n");
    plane.kubectl(&[
        "rollout",
        "status",
        "-n",
        "shop",
        "deploy/web",
        "--timeout=60s",
    ]);
    let both = Both::new(plane.admin(), "plane");
    let lines = [GET, WAIT, DESCRIBE].iter().flat_map(|lines| lines.lines());
    assert!(lines.count() >= 120);
    let mut differences = both.differences("get", GET);
    differences.extend(both.differences("wait", WAIT));
    differences.extend(both.differences("describe", DESCRIBE));
    assert_documented("## Differences", differences);
}

#[tokio::test(flavor = "multi_thread")]
async fn the_embedded_server_answers_both_alike() {
    let cluster = Cluster::start().await;
    let mut all = scenario::all().into_iter();
    let rollout = all.find(|scenario| scenario.name == "rollout").unwrap();
    scenario::play_at_once(&cluster.sandbox, &rollout).unwrap();
    let kubeconfig = Path::new(env!("CARGO_TARGET_TMPDIR")).join("arguments-sandbox.json");
    std::fs::write(&kubeconfig, cluster.sandbox.kubeconfig()).unwrap();
    let both = Both::new(kubeconfig.to_str().unwrap(), "sandbox");
    let differences = both.differences("get", SANDBOX);
    assert!(differences.is_empty(), "{differences:#?}");
}
