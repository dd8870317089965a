//! Help and documents are in plain English: no banned phrase, no long sentence, no question as a statement.

use std::fs;
use std::path::PathBuf;

use super::support::Spy;

/// The longest sentence, in words. A piece of inline code is one word.
const MAX_WORDS: usize = 25;

/// Phrases that hide the subject or have a plainer form.
const BANNED: [&str; 31] = [
    "is told",
    "are told",
    "told of",
    "it tells",
    "is said",
    "are said",
    "says so",
    "it says",
    "so many",
    "so long ago",
    "goes on",
    "go on",
    "come to the goal",
    "comes to",
    "come to this",
    "is waited for",
    "waits on",
    "asked for",
    "is judged",
    "to judge",
    "by whose",
    "what is not",
    "what is past",
    "what secrets hold",
    "who may",
    "may not be read",
    "what was seen",
    "such objects",
    "those to come",
    "of which nothing",
    "for those who",
];

/// The first words of a question. A sentence that starts with one of them ends with a question mark.
const QUESTIONS: [&str; 6] = ["What", "Who", "Whose", "Whoever", "Whatever", "Where it"];

/// A paragraph of prose and the place where it starts.
struct Paragraph {
    place: String,
    text: String,
}

fn read(path: &str) -> String {
    fs::read_to_string(PathBuf::from(env!("CARGO_MANIFEST_DIR")).join(path)).unwrap()
}

/// The paragraphs and list items of a Markdown file. Code blocks, tables and headings are left out.
fn paragraphs_of_markdown(path: &str, text: &str) -> Vec<Paragraph> {
    let mut paragraphs: Vec<Paragraph> = Vec::new();
    let (mut is_code, mut is_open) = (false, false);
    for (at, line) in text.lines().enumerate() {
        let line = line.trim();
        let is_fence = line.starts_with("```");
        is_code ^= is_fence;
        if is_code || is_fence || line.is_empty() || line.starts_with(['|', '#']) {
            is_open = false;
            continue;
        }
        let item = line.trim_start_matches(|c: char| c.is_ascii_digit() || c == '.');
        let is_item = line.starts_with("- ") || item.len() < line.len() && item.starts_with(' ');
        if is_item || !is_open {
            paragraphs.push(Paragraph {
                place: format!("{path}:{}", at + 1),
                text: item.trim_start_matches("- ").trim().to_owned(),
            });
        } else if let Some(last) = paragraphs.last_mut() {
            last.text.push(' ');
            last.text.push_str(line);
        }
        is_open = true;
    }
    paragraphs
}

/// The descriptions in the help of a verb. The usage line, flags, defaults and examples are left out.
fn paragraphs_of_help(verb: &str, help: &str) -> Vec<Paragraph> {
    let mut paragraphs: Vec<Paragraph> = Vec::new();
    let mut is_open = false;
    for line in help.lines().take_while(|line| *line != "Examples:") {
        let line = line.trim();
        // A description follows `--flag  ` or `- value: `, or has its own lines.
        let beside = line.rsplit_once("  ").map(|(_, text)| text);
        let value = line
            .strip_prefix("- ")
            .and_then(|value| value.split_once(": "));
        let beside = beside.or(value.map(|(_, text)| text));
        let is_other = line.is_empty()
            || line.starts_with(['-', '['])
            || line.starts_with("Usage:")
            || line.ends_with(':');
        match beside {
            Some(text) => paragraphs.push(help_paragraph(verb, text)),
            None if is_other => {}
            None if is_open => {
                let last = paragraphs.last_mut().unwrap();
                last.text.push(' ');
                last.text.push_str(line);
            }
            None => paragraphs.push(help_paragraph(verb, line)),
        }
        is_open = beside.is_some() || !is_other;
    }
    paragraphs
}

fn help_paragraph(verb: &str, text: &str) -> Paragraph {
    let (text, _defaults) = text.split_once(" [default").unwrap_or((text, ""));
    Paragraph {
        place: format!("{verb} --help"),
        text: text.trim().to_owned(),
    }
}

/// The text without the content of inline code and the targets of links.
fn without_code(text: &str) -> String {
    let mut plain = String::new();
    for (at, part) in text.split('`').enumerate() {
        plain.push_str(if at % 2 == 0 { part } else { "code" });
    }
    let mut parts = plain.split("](");
    let mut text = parts.next().unwrap_or_default().to_owned();
    for part in parts {
        text.push_str(part.split_once(')').map_or(part, |(_, rest)| rest));
    }
    text
}

/// The sentences of a text. A sentence ends with `.`, `!` or `?` before a space or the end.
fn sentences(text: &str) -> Vec<String> {
    let mut sentences = vec![String::new()];
    for word in text.split_whitespace() {
        let last = sentences.last_mut().unwrap();
        if !last.is_empty() {
            last.push(' ');
        }
        last.push_str(word);
        let end = word.trim_end_matches(['*', ')', '"', '_']);
        if end.ends_with(['.', '!', '?']) {
            sentences.push(String::new());
        }
    }
    sentences.retain(|sentence| !sentence.is_empty());
    sentences
}

/// What is wrong with a sentence, if anything.
fn fault(sentence: &str) -> Option<String> {
    let words = sentence
        .split_whitespace()
        .filter(|word| word.contains(char::is_alphanumeric))
        .count();
    if words > MAX_WORDS {
        return Some(format!("{words} words"));
    }
    let lower = sentence.to_lowercase();
    let padded: String = format!(" {lower} ")
        .chars()
        .map(|c| {
            if c.is_alphanumeric() || c == '\'' {
                c
            } else {
                ' '
            }
        })
        .collect();
    let banned = |phrase: &&&str| padded.contains(&format!(" {phrase} "));
    if let Some(phrase) = BANNED.iter().find(banned) {
        return Some(format!("\"{phrase}\""));
    }
    let is_question = |first: &&str| {
        let rest = sentence.trim_start_matches('*').strip_prefix(*first);
        rest.is_some_and(|rest| rest.starts_with(' '))
    };
    let is_statement = QUESTIONS.iter().any(is_question) && !sentence.contains('?');
    is_statement.then(|| "a question as a statement".to_owned())
}

fn faults(paragraphs: &[Paragraph]) -> Vec<String> {
    let mut faults = Vec::new();
    for paragraph in paragraphs {
        for sentence in sentences(&without_code(&paragraph.text)) {
            if let Some(fault) = fault(&sentence) {
                faults.push(format!("{}: {fault}: {sentence}", paragraph.place));
            }
        }
    }
    faults
}

#[test]
fn documents_are_in_plain_english() {
    let documents = [
        "README.md",
        "SECURITY.md",
        "CONTRIBUTING.md",
        "docs/changes.md",
        "docs/kubectl.md",
        "docs/logs.md",
        "docs/rules.md",
        "docs/serve.md",
        "docs/status.md",
        "docs/trace.md",
        "docs/wait.md",
        "tests/e2e/controlplane/README.md",
    ];
    let paragraphs: Vec<Paragraph> = documents
        .iter()
        .flat_map(|path| paragraphs_of_markdown(path, &read(path)))
        .collect();
    assert!(paragraphs.len() > 100, "{} paragraphs", paragraphs.len());
    let faults = faults(&paragraphs);
    assert!(faults.is_empty(), "{}", faults.join("\n"));
}

#[test]
fn help_is_in_plain_english() {
    let mut paragraphs = Vec::new();
    for verb in [
        "",
        "changes",
        "status",
        "trace",
        "record",
        "store",
        "serve",
        "demo",
        "completion",
        "version",
    ] {
        let args: Vec<&str> = [verb, "--help"]
            .into_iter()
            .filter(|arg| !arg.is_empty())
            .collect();
        let help = Spy::alone().run(&args).stdout;
        paragraphs.extend(paragraphs_of_help(verb, &help));
    }
    let options = Spy::alone().run(&["options"]).stdout;
    paragraphs.extend(paragraphs_of_help("options", &options));
    assert!(paragraphs.len() > 80, "{} paragraphs", paragraphs.len());
    let faults = faults(&paragraphs);
    assert!(faults.is_empty(), "{}", faults.join("\n"));
}

#[test]
fn the_check_finds_each_kind_of_fault() {
    let found = |text: &str| {
        sentences(&without_code(text))
            .iter()
            .find_map(|one| fault(one))
    };
    let long = "word ".repeat(26);
    for (text, expect) in [
        (long.as_str(), Some("26 words")),
        (
            "What is there at the start.",
            Some("a question as a statement"),
        ),
        ("The next version is told whole.", Some("\"is told\"")),
        (
            "It waits. It goes on when the server is back.",
            Some("\"goes on\""),
        ),
        ("What changed, and who changed it?", None),
        ("`what is told` prints [a link](is/told).", None),
        ("It prints the state and exits.", None),
    ] {
        assert_eq!(found(text).as_deref(), expect, "{text}");
    }
}
