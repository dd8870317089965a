//! Checks the layers of ARCHITECTURE.md: reads its table, and the `crate::` paths in every file.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Path, PathBuf};

/// The modules that each module may import, from the table.
type Table = BTreeMap<String, BTreeSet<String>>;

/// Reads the rows `| `module` | allowed imports | … |` of the import table.
fn import_table(architecture: &str) -> Table {
    let mut table = Table::new();
    for row in architecture.lines().filter(|line| line.starts_with("| `")) {
        let mut cells = row.split('|').skip(1);
        let (Some(modules), Some(imports)) = (cells.next(), cells.next()) else {
            continue;
        };
        let imports: BTreeSet<String> = quoted(imports).collect();
        for module in quoted(modules) {
            table.insert(module, imports.clone());
        }
    }
    table
}

fn quoted(cell: &str) -> impl Iterator<Item = String> {
    cell.split('`').skip(1).step_by(2).map(str::to_owned)
}

/// The forbidden imports of one file, as error lines.
fn violations(file: &str, source: &str, table: &Table) -> Vec<String> {
    let module = file.split(['/', '.']).next().unwrap_or_default();
    if module == "lib" {
        return Vec::new(); // the crate root declares the modules and re-exports the entry points
    }
    let Some(allowed) = table.get(module) else {
        return vec![format!(
            "{file}: module `{module}` is not in the import table"
        )];
    };
    imported(source)
        .filter(|(_, target)| target != module && !allowed.contains(target))
        .map(|(line, target)| format!("{file}:{line}: `{module}` may not import `{target}`"))
        .collect()
}

/// Each `crate::module` in a source, with its line number.
fn imported(source: &str) -> impl Iterator<Item = (usize, String)> {
    source.lines().enumerate().flat_map(|(index, line)| {
        let code = line.split("//").next().unwrap_or_default();
        code.split("crate::").skip(1).filter_map(move |rest| {
            let name: String = rest
                .chars()
                .take_while(|c| c.is_alphanumeric() || *c == '_')
                .collect();
            (!name.is_empty() && name.starts_with(char::is_lowercase)).then_some((index + 1, name))
        })
    })
}

fn sources() -> Vec<(String, String)> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("src");
    let mut folders = vec![root.clone()];
    let mut files: Vec<PathBuf> = Vec::new();
    while let Some(folder) = folders.pop() {
        for entry in fs::read_dir(folder).unwrap() {
            let path = entry.unwrap().path();
            if path.is_dir() {
                folders.push(path);
            } else {
                files.push(path);
            }
        }
    }
    files.sort();
    let read = |path: &PathBuf| {
        let name = path
            .strip_prefix(&root)
            .unwrap()
            .to_str()
            .unwrap()
            .to_owned();
        (name, fs::read_to_string(path).unwrap())
    };
    files
        .iter()
        .filter(|path| path.extension().is_some_and(|e| e == "rs"))
        .map(read)
        .collect()
}

fn table() -> Table {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("ARCHITECTURE.md");
    import_table(&fs::read_to_string(path).unwrap())
}

#[test]
fn modules_import_only_what_the_table_allows() {
    let table = table();
    let found: Vec<String> = sources()
        .iter()
        .flat_map(|(file, source)| violations(file, source, &table))
        .collect();
    assert!(
        found.is_empty(),
        "forbidden imports (see the table in ARCHITECTURE.md):\n{}",
        found.join("\n")
    );
}

#[test]
fn the_table_itself_has_no_cycle() {
    let mut left = table();
    while !left.is_empty() {
        let free: Vec<String> = left
            .iter()
            .filter(|(_, imports)| imports.iter().all(|import| !left.contains_key(import)))
            .map(|(module, _)| module.clone())
            .collect();
        assert!(
            !free.is_empty(),
            "these modules import each other: {:?}",
            left.keys()
        );
        left.retain(|module, _| !free.contains(module));
    }
}

#[test]
fn a_planted_import_is_found() {
    let source =
        "use crate::object::Doc;\n// use crate::watch::Mux;\nuse crate::cluster::Status;\n";
    assert_eq!(
        violations("diff/walk.rs", source, &table()),
        ["diff/walk.rs:3: `diff` may not import `cluster`"]
    );
}

#[test]
fn a_verb_never_imports_another_verb() {
    let verbs = ["changes", "logs", "record", "status", "store", "trace"];
    for (file, source) in sources() {
        let Some(verb) = verbs
            .iter()
            .find(|verb| file.starts_with(&format!("commands/{verb}")))
        else {
            continue;
        };
        // These run other verbs, and no verb runs them.
        let others = verbs.iter().chain(&["demo", "serve"]);
        for other in others.filter(|other| *other != verb) {
            for path in [
                format!("commands::{other}"),
                format!("super::super::{other}"),
            ] {
                assert!(!source.contains(&path), "{file} imports the verb {other}");
            }
        }
    }
}

/// Where a standard stream is opened, and where it becomes a plain writer. All other code writes display text
/// only.
const WRITERS: [(&str, &[&str]); 3] = [
    (
        "io::stdout()",
        &["env/mod.rs", "env/streams.rs", "render/screen.rs"],
    ),
    ("io::stderr()", &["env/mod.rs", "env/streams.rs"]),
    (".into_writer()", &["commands/live/terminal.rs"]),
];

#[test]
fn only_listed_files_write_to_a_standard_stream() {
    let sources = sources();
    for (code, allowed) in WRITERS {
        let uses = sources.iter().filter(|(_, source)| source.contains(code));
        let files: Vec<&str> = uses.map(|(file, _)| file.as_str()).collect();
        assert_eq!(files, allowed, "{code}");
    }
}

#[test]
fn every_file_opens_with_its_purpose() {
    for (file, source) in sources() {
        assert!(
            source.starts_with("//!"),
            "src/{file} does not open with a //! line"
        );
    }
}

/// The names in the text of ARCHITECTURE.md, such as `watch::source::put`, whose segments are those of this crate.
fn named(architecture: &str) -> impl Iterator<Item = String> {
    let crates = ["kube"];
    quoted(architecture).filter(move |name| {
        let mut segments = name.split("::");
        let is_foreign = segments
            .clone()
            .next()
            .is_some_and(|it| crates.contains(&it));
        let is_name = |it: &str| it.chars().all(|c| c.is_alphanumeric() || c == '_');
        name.contains("::") && !is_foreign && segments.all(is_name)
    })
}

/// Whether a file has what a name says: its folders and its file in their order, then a type, and last what is defined.
fn is_home_of(name: &str, file: &str, source: &str) -> bool {
    let mut path = file.trim_end_matches(".rs").split('/').peekable();
    name.split("::").all(|segment| {
        let is_in_path = path.clone().any(|part| part == segment);
        if is_in_path {
            let _skipped = path.by_ref().find(|part| *part == segment);
        }
        is_in_path || defines(source, segment)
    })
}

/// Whether a source defines a function, a type, a variant or a module of this name.
fn defines(source: &str, name: &str) -> bool {
    let mut lines = source.lines().filter(|line| line.contains(name));
    lines.any(|line| {
        let words = line.split(|c: char| !c.is_alphanumeric() && c != '_');
        let words: Vec<&str> = words.filter(|word| !word.is_empty()).collect();
        let is_variant = words.first() == Some(&name) && line.starts_with(' ');
        let keywords = ["fn", "struct", "enum", "trait", "type", "mod", "const"];
        let is_item = |pair: &[&str]| keywords.contains(&pair[0]) && pair[1] == name;
        is_variant || words.windows(2).any(is_item)
    })
}

#[test]
fn every_name_of_the_document_exists() {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("ARCHITECTURE.md");
    let text = fs::read_to_string(path).unwrap();
    let sources = sources();
    let is_there = |name: &str| {
        let mut all = sources.iter();
        all.any(|(file, source)| is_home_of(name, file, source))
    };
    let missing: Vec<String> = named(&text).filter(|name| !is_there(name)).collect();
    assert_eq!(missing, Vec::<String>::new(), "src has no such thing");
    for planted in ["watch::source::putt", "changes::compared::compare"] {
        assert!(!is_there(planted), "{planted}");
    }
}

/// The type of a line that begins a block of methods, such as `impl Model {`.
fn type_with_methods(line: &str) -> Option<&str> {
    let name = line.strip_prefix("impl ")?.strip_suffix(" {")?;
    let name = name.split('<').next()?;
    (!name.contains(' ')).then_some(name)
}

#[test]
fn the_methods_of_a_type_of_the_model_lie_in_its_own_file() {
    let mut homes: BTreeMap<String, BTreeSet<String>> = BTreeMap::new();
    for (file, source) in sources() {
        let is_test = file.ends_with("tests.rs") || file.contains("/tests/");
        if file.starts_with("model/") && !is_test {
            for name in source.lines().filter_map(type_with_methods) {
                let home = homes.entry(name.to_owned()).or_default();
                home.insert(file.clone());
            }
        }
    }
    assert!(homes.contains_key("Model"), "{homes:?}");
    for (name, files) in homes {
        assert_eq!(files.len(), 1, "{name} has methods in {files:?}");
    }
}

#[test]
fn files_stay_short() {
    for (file, source) in sources() {
        let lines = source
            .split("#[cfg(test)]\nmod tests {")
            .next()
            .unwrap_or_default()
            .lines()
            .count();
        let is_test = file.ends_with("tests.rs") || file.contains("/tests/");
        assert!(
            is_test || lines <= 600,
            "src/{file} has {lines} lines; the limit is 600"
        );
    }
}
