//! Completes command lines in real shells, and through the real kubectl. They need no control plane: the server is
//! the sandbox.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use serde_json::json;

use crate::controlplane::built_kubectl;
use crate::support::Spy;
use crate::support::cluster::{Cluster, config_map, deployment, pod};
use crate::support::pty::Terminal;

/// The prompt of the shells.
const PROMPT: &str = "spy> ";

/// A shell, and how to start it with a startup file.
struct ShellUnderTest {
    name: &'static str,
    /// The name of the startup file in its directory.
    file: &'static str,
    /// The content of that file.
    startup: &'static str,
    /// The command line. `DIR` stands for the directory of the startup file.
    command: &'static [&'static str],
}

const BASH: ShellUnderTest = ShellUnderTest {
    name: "bash",
    file: "bashrc",
    startup: "eval \"$(kubectl-spy completion bash)\"\nPS1='spy> '\n",
    command: &["bash", "--noprofile", "--rcfile", "DIR/bashrc", "-i"],
};
const ZSH: ShellUnderTest = ShellUnderTest {
    name: "zsh",
    file: ".zshrc",
    startup: "autoload -U compinit && compinit -u -D\nsource <(kubectl-spy completion zsh)\nPS1='spy> '\n",
    command: &["zsh", "-d", "-i"],
};
const FISH: ShellUnderTest = ShellUnderTest {
    name: "fish",
    file: "startup.fish",
    startup: "kubectl-spy completion fish | source\nset -g fish_greeting\nset -g fish_autosuggestion_enabled 0\n\
              function fish_prompt; echo -n 'spy> '; end\n",
    command: &[
        "fish",
        "--no-config",
        "--init-command",
        "source DIR/startup.fish",
        "-i",
    ],
};

/// A fresh directory of a test.
fn directory(name: &str) -> PathBuf {
    let path = Path::new(env!("CARGO_TARGET_TMPDIR")).join(format!("completion-{name}"));
    let _not_there = fs::remove_dir_all(&path);
    fs::create_dir_all(&path).unwrap();
    path
}

/// The program in a `PATH`, after other directories.
fn path_with(directories: &[&Path]) -> String {
    let program = Path::new(env!("CARGO_BIN_EXE_kubectl-spy"));
    let directories = directories
        .iter()
        .copied()
        .chain([program.parent().unwrap()]);
    let listed: Vec<&str> = directories.map(|path| path.to_str().unwrap()).collect();
    format!("{}:/usr/local/bin:/usr/bin:/bin", listed.join(":"))
}

fn is_installed(shell: &str) -> bool {
    let found = Command::new("sh")
        .args(["-c", &format!("command -v {shell}")])
        .output();
    found.unwrap().status.success()
}

async fn shop() -> Cluster {
    let cluster = Cluster::start().await;
    for namespace in ["shop", "kitchen"] {
        let namespace =
            json!({"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": namespace}});
        cluster.put(namespace);
    }
    cluster.put(deployment("web", 2));
    cluster.put(deployment("worker", 1));
    cluster.put(pod("db-1", &json!({"tier": "back"})));
    cluster.put(config_map("system:node", &json!({})));
    cluster
}

/// A shell on a terminal, after its startup.
fn start(shell: &ShellUnderTest, spy: Spy) -> Terminal {
    let home = directory(shell.name);
    let home_text = home.to_str().unwrap();
    fs::write(home.join(shell.file), shell.startup).unwrap();
    fs::write(home.join("notes.yaml"), "").unwrap();
    let spy = spy
        .var("PATH", &path_with(&[]))
        .var("HOME", home_text)
        .var("ZDOTDIR", home_text);
    let command: Vec<String> = shell
        .command
        .iter()
        .map(|word| word.replace("DIR", home_text))
        .collect();
    let command: Vec<&str> = command.iter().map(String::as_str).collect();
    let mut terminal = spy.other_on_terminal((110, 40), &command);
    terminal.until_shown("the prompt", |screen| screen.contains(PROMPT));
    // The directory of the shell is not that of its files.
    terminal.type_in(format!("cd {home_text}\r").as_bytes());
    terminal.until_shown("the second prompt", |screen| {
        screen.matches(PROMPT).count() > 1
    });
    terminal
}

/// The text after the last prompt.
fn last_line(screen: &str) -> &str {
    let line = screen.rsplit(PROMPT).next().unwrap_or_default();
    line.lines().next().unwrap_or_default().trim_end()
}

/// Types a line, the Tab key and, after the completion, an `x`: it shows whether a space has come before it.
fn check(terminal: &mut Terminal, typed: &str, expect: &str) {
    terminal.type_in(format!("kubectl-spy {typed}\t").as_bytes());
    let expect = format!("kubectl-spy {expect}");
    terminal.until_shown(&expect, |screen| last_line(screen) == expect.trim_end());
    terminal.type_in(b"x");
    let expect = format!("{expect}x");
    terminal.until_shown(&expect, |screen| last_line(screen) == expect);
    // Ctrl-A and Ctrl-K empty the line in all of these shells.
    terminal.type_in(b"\x01\x0b");
    terminal.until_shown("an empty line", |screen| last_line(screen).is_empty());
}

async fn completes(shell: &ShellUnderTest) {
    if !is_installed(shell.name) {
        assert!(
            std::env::var_os("CI").is_none(),
            "{} is not installed",
            shell.name
        );
        println!(
            "{} is not installed: its completion is not tested",
            shell.name
        );
        return;
    }
    let cluster = shop().await;
    let mut terminal = start(shell, cluster.spy());
    for (typed, expect) in [
        ("sta", "status "),
        ("status --unh", "status --unhealthy "),
        ("status -o wi", "status -o wide "),
        ("changes --output=merge", "changes --output=merge-patch "),
        ("status statef", "status statefulsets "),
        ("status deploy/we", "status deploy/web "),
        ("status deploy wo", "status deploy worker "),
        ("changes -n ki", "changes -n kitchen "),
        ("changes --namespace=ki", "changes --namespace=kitchen "),
        ("changes cm/sy", "changes cm/system:node "),
        ("status pods -l ti", "status pods -l tier="),
        ("status pods -l tier=b", "status pods -l tier=back "),
        (
            "changes deploy/web --only .spec.te",
            "changes deploy/web --only .spec.template",
        ),
        ("changes --from no", "changes --from notes.yaml "),
        ("changes --from=no", "changes --from=notes.yaml "),
        // Nothing fits, so nothing happens: no file is offered.
        ("status no", "status no"),
    ] {
        check(&mut terminal, typed, expect);
    }
    terminal.type_in(b"kubectl-spy status deploy/w\t");
    terminal.type_in(b"\t");
    terminal.until_shown("a list with descriptions", |screen| {
        ["deploy/web", "deploy/worker", "0/2", "0/1"]
            .iter()
            .all(|text| screen.contains(text))
    });
}

/// Names of files that a shell would run, split or expand, by the start that is typed.
const HOSTILE: [(&str, &str); 12] = [
    ("a", "a$(touch PWN).yaml"),
    ("e", "e`touch PWN`.yaml"),
    ("c", "c;touch PWN;.yaml"),
    ("d", "d'e \"f.yaml"),
    ("g", "g\\h.yaml"),
    ("i", "i&j|k>l.yaml"),
    ("m", "m{1,2}*?[n].yaml"),
    ("o", "o=p:q@r,s.yaml"),
    ("t", "t!u.yaml"),
    ("v", "v w  x.yaml"),
    ("ü", "ü$HOME.yaml"),
    ("y", "y~#z.yaml"),
];

/// Whatever quotes are open, Enter after Tab reads the file and runs nothing. Standard output has the name of the object in
/// the file, which no other file has.
fn reads_hostile_files(shell: &ShellUnderTest, terminal: &mut Terminal) {
    let home = Path::new(env!("CARGO_TARGET_TMPDIR")).join(format!("completion-{}", shell.name));
    for (count, (_, name)) in HOSTILE.iter().enumerate() {
        let object = json!({"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": format!("found-{count}")}});
        fs::write(home.join(name), object.to_string()).unwrap();
    }
    for (count, (start, name)) in HOSTILE.iter().enumerate() {
        for before in [
            "--from ",
            "--from '",
            "--from \"",
            "--from ./",
            "--from=",
            "--from ~/",
        ] {
            // fish completes no home directory here, and zsh leaves such a quote open.
            let is_left_out = (shell.name == "fish" && before.contains('~'))
                || (shell.name == "zsh" && before.contains('\'') && name.contains('\''));
            if is_left_out {
                continue;
            }
            terminal.type_in(b"clear\r");
            // A shell that still clears the screen would not complete what is typed.
            terminal.until_shown("a clear screen", |screen| {
                last_line(screen).is_empty() && screen.matches(PROMPT).count() == 1
            });
            terminal.type_in(format!("kubectl-spy status --once {before}{start}\t").as_bytes());
            terminal.until_shown("a completed name", |screen| screen.contains("yaml"));
            terminal.type_in(b"\r");
            let found = format!("configmap/found-{count}");
            terminal.until_shown(&format!("{found} of {before}{name}"), |screen| {
                screen.contains(&found)
            });
            assert!(!home.join("PWN").exists(), "{before}{name}");
        }
    }
}

async fn completes_hostile_files(shell: &ShellUnderTest) {
    if !is_installed(shell.name) {
        return;
    }
    let cluster = shop().await;
    let mut terminal = start(shell, cluster.spy());
    reads_hostile_files(shell, &mut terminal);
}

#[tokio::test(flavor = "multi_thread")]
async fn bash_runs_no_name_of_a_file() {
    completes_hostile_files(&BASH).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn zsh_runs_no_name_of_a_file() {
    completes_hostile_files(&ZSH).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn fish_runs_no_name_of_a_file() {
    completes_hostile_files(&FISH).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn bash_completes() {
    completes(&BASH).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn zsh_completes() {
    completes(&ZSH).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn fish_completes() {
    completes(&FISH).await;
}

/// The kubectl of the control plane completes `kubectl spy` with the script in `completions/`.
#[tokio::test(flavor = "multi_thread")]
async fn kubectl_completes_the_plugin() {
    let cluster = shop().await;
    let kubectl = built_kubectl();
    let scripts = Path::new(env!("CARGO_MANIFEST_DIR")).join("completions");
    let path = path_with(&[&scripts, kubectl.parent().unwrap()]);
    let home = directory("kubectl");
    let spy = cluster
        .spy()
        .var("PATH", &path)
        .var("HOME", home.to_str().unwrap());
    let completed = |words: &[&str]| {
        let output = Command::new(&kubectl)
            .args(["__complete", "spy"])
            .args(words)
            .env_clear()
            .envs(spy.environment())
            .output()
            .unwrap();
        let printed = String::from_utf8(output.stdout).unwrap();
        let lines = printed.lines().map(|line| line.split('\t').next().unwrap());
        lines.collect::<Vec<_>>().join(" ")
    };
    assert_eq!(completed(&["sta"]), "status :4");
    assert_eq!(
        completed(&["status", "deploy/w"]),
        "deploy/web deploy/worker :4"
    );
    assert_eq!(completed(&["status", "deploy", ""]), "web worker :4");
    assert_eq!(completed(&["changes", "-n", "ki"]), "kitchen :4");
    assert_eq!(completed(&["status", "pods", "-l", ""]), "tier= :6");
    assert_eq!(completed(&["changes", "--from", ""]), ":0");
}
