//! Checks that generated files, and documents that repeat facts from the code, agree with the code.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Path, PathBuf};

use kubectl_spy::status::Explanation;
use serde_json::json;

use super::support::Spy;
use super::support::cluster::{Cluster, config_map, deployment};

fn root() -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR"))
}

fn read(path: &str) -> String {
    fs::read_to_string(root().join(path)).unwrap()
}

/// Compares a generated file with the current output of its generator; `UPDATE=1` rewrites the file.
fn check_generated(path: &str, generated: &str) {
    let file: &Path = &root().join(path);
    if std::env::var("UPDATE").is_ok() {
        fs::write(file, generated).unwrap();
    }
    let kept = fs::read_to_string(file).unwrap_or_default();
    assert!(
        kept == generated,
        "{path} is old: run `UPDATE=1 cargo test --test it`"
    );
}

/// README shows the picture that Graphviz makes of it: `dot -Tsvg docs/images/trace.dot > docs/images/trace.svg`.
#[test]
fn the_picture_of_a_trace_is_current() {
    let objects = root().join("docs/images/trace.yaml");
    let objects = objects.to_str().expect("a path of UTF-8");
    let ran = Spy::alone().run(&["trace", "deploy/web", "--from", objects, "-o", "dot"]);
    assert_eq!(ran.stderr, "");
    check_generated("docs/images/trace.dot", &ran.stdout);
    let picture = read("docs/images/trace.svg");
    assert!(
        picture.contains("ImagePullBackOff 0/1"),
        "it was drawn from other objects"
    );
}

#[test]
fn the_program_prints_the_completion_scripts() {
    for (shell, file) in [
        ("bash", "completions/kubectl-spy.bash"),
        ("zsh", "completions/_kubectl-spy"),
        ("fish", "completions/kubectl-spy.fish"),
        ("powershell", "completions/kubectl-spy.ps1"),
    ] {
        let ran = Spy::alone().run(&["completion", shell]);
        assert!(ran.status.success(), "{}", ran.stderr);
        assert_eq!(ran.stdout, read(file), "{shell}");
    }
}

/// The manual pages of a command and of its subcommands, by their file names.
fn manual(command: &clap::Command, name: &str, pages: &mut BTreeMap<String, String>) {
    let mut shown = command.clone().display_name(name.to_owned());
    if name == "kubectl-spy" {
        // Its page has the flags that every command takes.
        shown = shown.mut_args(|arg| {
            if arg.is_global_set() {
                arg.hide(false)
            } else {
                arg
            }
        });
    }
    // A command shows its usage under the name that users type.
    let shown = shown.bin_name(
        name.replacen("kubectl-spy", "kubectl spy", 1)
            .replace('-', " "),
    );
    let mut page = Vec::new();
    let source = concat!("kubectl-spy v", env!("CARGO_PKG_VERSION"));
    // The page of a command with a version prints a `v` before it.
    let shown = match shown.get_version() {
        Some(_) => shown.version(env!("CARGO_PKG_VERSION")),
        None => shown,
    };
    let shown = clap_mangen::Man::new(shown).source(source).date("");
    shown.render(&mut page).unwrap();
    let page = String::from_utf8(page).unwrap();
    let page = match page.split_once(".SH EXTRA\nExamples:\n") {
        Some((above, examples)) => format!("{above}.SH EXAMPLES\n.nf\n{examples}.fi\n"),
        None => page,
    };
    pages.insert(format!("{name}.1"), page);
    let verbs = command.get_subcommands().filter(|verb| !verb.is_hide_set());
    for verb in verbs {
        manual(verb, &format!("{name}-{}", verb.get_name()), pages);
    }
}

#[test]
fn the_manual_pages_are_current() {
    let mut pages = BTreeMap::new();
    let mut command = kubectl_spy::cli::command();
    command.build();
    manual(&command, "kubectl-spy", &mut pages);
    for (name, page) in &pages {
        check_generated(&format!("docs/man/{name}"), page);
    }
    let files = fs::read_dir(root().join("docs/man")).unwrap();
    let files = files.map(|file| file.unwrap().file_name().into_string().unwrap());
    assert_eq!(files.collect::<BTreeSet<_>>(), pages.into_keys().collect());
}

/// All rules, as the document that `--explain` belongs to.
fn document_of_rules() -> String {
    let row = |rule: &Explanation| {
        let Explanation {
            name,
            finds,
            source,
        } = rule;
        format!("| {name} | {finds} | <{source}> |\n")
    };
    let rows: String = kubectl_spy::status::explanations().map(row).collect();
    let head = "# Rules\n\n\
        `kubectl spy status --explain` and `kubectl spy trace --explain` print the rules behind each state. The rules named \
        `kstatus`\ndecide the state of an object alone. The others find problems that kstatus misses, or causes of a state. \
        Their names appear in\nthe records of `-o json`.\n\n\
        This file is generated: `UPDATE=1 cargo test --test it` writes it.\n\n\
        | rule | finds | source |\n|---|---|---|\n";
    format!("{head}{rows}")
}

#[test]
fn the_document_of_rules_lists_every_rule() {
    let mut names = BTreeSet::new();
    for rule in kubectl_spy::status::explanations() {
        assert!(names.insert(rule.name), "{} twice", rule.name);
        assert!(rule.finds.ends_with('.'), "{}: {}", rule.name, rule.finds);
        assert!(
            rule.source.starts_with("https://"),
            "{}: {}",
            rule.name,
            rule.source
        );
    }
    check_generated("docs/rules.md", &document_of_rules());
}

/// A document with the current output of its examples that read a file below `docs`.
fn with_current_output(document: &str) -> String {
    let mut text = String::new();
    let mut is_old_output = false;
    for line in document.lines() {
        let typed = line.strip_prefix("$ kubectl spy ");
        is_old_output &= typed.is_none() && !line.starts_with("```");
        if !is_old_output {
            text.push_str(line);
            text.push('\n');
        }
        let reads_file = |typed: &&str| typed.contains(" docs/") && typed.ends_with(" --once");
        let Some(typed) = typed.filter(reads_file) else {
            continue;
        };
        let path = root().join("docs/");
        let path = path.to_str().expect("a path of UTF-8");
        let words = typed.split(' ').map(|word| word.replace("docs/", path));
        let words: Vec<String> = words.collect();
        let words: Vec<&str> = words.iter().map(String::as_str).collect();
        let ran = Spy::alone().run(&words);
        assert_eq!(ran.stderr, "");
        text.push_str(&ran.stdout);
        is_old_output = true;
    }
    text
}

#[test]
fn the_examples_that_read_a_file_have_their_current_output() {
    for path in ["README.md", "docs/status.md", "docs/trace.md"] {
        check_generated(path, &with_current_output(&read(path)));
    }
}

/// In the public krew index, `spy` is another tool. No document may advise to install that one.
#[test]
fn no_document_advises_to_install_another_tool() {
    for file in [
        "README.md",
        "krew-manifest.yaml",
        "CHANGELOG.md",
        "SECURITY.md",
    ] {
        assert!(!read(file).contains("krew install spy\n"), "{file}");
        assert!(!read(file).contains("krew install spy`"), "{file}");
    }
}

/// The text of all Rust files below a directory.
fn sources(directory: &Path) -> String {
    let mut text = String::new();
    for entry in fs::read_dir(directory).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            text.push_str(&sources(&path));
        } else if path.extension().is_some_and(|extension| extension == "rs") {
            text.push_str(&fs::read_to_string(&path).unwrap());
        }
    }
    text
}

#[test]
fn every_test_that_the_guarantees_name_exists() {
    let text = ["src", "tests"].map(|directory| sources(&root().join(directory)));
    let text = text.concat();
    let document = read("SECURITY.md");
    let mut tests = 0;
    for code in document.split('`').skip(1).step_by(2) {
        let is_name = |c: char| c.is_ascii_lowercase() || c == '_';
        if code.contains('_') && code.chars().all(is_name) {
            assert!(text.contains(&format!("fn {code}(")), "no test {code}");
            tests += 1;
        } else if code.starts_with("tests/") || code.starts_with("src/") {
            assert!(root().join(code).is_file(), "no file {code}");
        }
    }
    assert!(tests > 4, "only {tests} tests were found");
}

/// The commands in a document's examples: the words after `kubectl spy`, up to a pipe.
fn commands(document: &str) -> Vec<Vec<String>> {
    let typed = document.lines().filter_map(|line| {
        let is_example = line.starts_with("$ ") || line.starts_with("  ");
        let (_, command) = line.split_once("kubectl spy ").filter(|_| is_example)?;
        // In the help, two spaces separate an example from its description.
        let ends = [" | ", "; ", " > ", "  "].map(|end| command.find(end));
        let end = ends.into_iter().flatten().min().unwrap_or(command.len());
        Some(&command[..end])
    });
    typed
        .map(|command| {
            let words = command.split_whitespace();
            words.map(|word| word.replace('\'', "")).collect()
        })
        .collect()
}

/// The same command with `--once`, so that it exits. `logs` exits unless it follows.
fn once(mut command: Vec<String>) -> Vec<String> {
    let is_logs = command.first().is_some_and(|verb| verb == "logs");
    let goes_on = |word: &String| word.starts_with("--timeout") || (is_logs && word == "-f");
    command.retain(|word| !goes_on(word));
    if command.iter().any(|word| word.starts_with("--for")) {
        command.push("--timeout=0".to_owned());
    } else if !is_logs && !command.iter().any(|word| word == "--once") {
        command.push("--once".to_owned());
    }
    command
}

#[tokio::test(flavor = "multi_thread")]
async fn every_command_in_the_documents_is_valid() {
    let cluster = Cluster::start().await;
    cluster.put(deployment("web", 1));
    for name in ["flags", "app"] {
        cluster.put(config_map(name, &json!({"beta": "off"})));
    }
    let help = |verb: &str| Spy::alone().run(&[verb, "--help"]).stdout;
    let documents = [
        read("README.md"),
        read("docs/changes.md"),
        read("docs/logs.md"),
        read("docs/status.md"),
        read("docs/trace.md"),
        read("docs/wait.md"),
        help("changes"),
        help("logs"),
        help("status"),
        help("trace"),
    ];
    let mut ran = 0;
    let commands = documents.iter().flat_map(|document| commands(document));
    // `demo` plays for a minute; it has tests of its own.
    for command in commands.filter(|command| command.first().is_none_or(|verb| verb != "demo")) {
        let args = once(command);
        let args: Vec<&str> = args.iter().map(String::as_str).collect();
        // With `-k` the program runs kubectl, which writes its cache to the home directory.
        let spy = cluster.spy().var("HOME", env!("CARGO_TARGET_TMPDIR"));
        let printed = spy.run(&args).stderr;
        assert!(!printed.contains("See 'kubectl spy"), "{args:?}: {printed}");
        ran += 1;
    }
    assert!(ran > 30, "only {ran} commands were found");
}

/// A flag that a command has learned must leave the list.
#[test]
fn the_flags_of_kubectl_that_are_missing_are_listed() {
    let document = include_str!("../../docs/kubectl.md");
    let (_, section) = document
        .split_once("\n## Flags and formats that are missing\n")
        .unwrap();
    let command = kubectl_spy::cli::command();
    let mut listed = 0;
    for row in section.lines().filter(|line| line.starts_with("| ")) {
        let verb = if row.starts_with("| `logs`") {
            "logs"
        } else {
            "status"
        };
        let verb = command.find_subcommand(verb).unwrap();
        for flag in row.split('`').filter_map(|word| word.strip_prefix("--")) {
            let mut known = verb.get_arguments().chain(command.get_arguments());
            assert!(known.all(|arg| arg.get_long() != Some(flag)), "--{flag}");
            listed += 1;
        }
    }
    assert!(listed > 20, "{listed}");
}
