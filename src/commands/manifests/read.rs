//! Reads manifests from files, directories, standard input and kustomizations.

use std::io;
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};

use glob::glob;

use super::args::ManifestArgs;
use crate::cluster::program::{self, ProgramError};
use crate::commands::input::{text_of, unreadable};
use crate::commands::{CommandError, Context};
use crate::env::Env;
use crate::object::{Doc, without_secrets};
use crate::watch::{FileError, Language, Syntax, documents_by_line};

/// An object of a manifest.
#[derive(Debug)]
pub(super) struct Manifest {
    /// The file name for messages.
    pub(super) path: String,
    /// The line in the file, from 1.
    pub(super) line: usize,
    /// The object.
    pub(super) doc: Doc,
}

/// The extensions of manifests in a directory.
const EXTENSIONS: [&str; 3] = ["json", "yaml", "yml"];

/// The objects of all files, in the order of the flags. The files of a directory are sorted by name.
pub(super) async fn files(
    args: &ManifestArgs,
    context: &mut Context<'_>,
) -> Result<Vec<Manifest>, CommandError> {
    let mut manifests = Vec::new();
    for path in &expanded(&args.filename)? {
        if !Path::new(path).is_dir() {
            let text = text_of(context, path).await?;
            manifests.extend(objects(path, &text)?);
            continue;
        }
        let mut found = Vec::new();
        let depth = if args.recursive { usize::MAX } else { 1 };
        walk(Path::new(path), depth, &mut found).map_err(|error| {
            CommandError::failed(format!("error: error reading {path:?}: {error}"))
        })?;
        if found.is_empty() {
            return Err(CommandError::failed(format!(
                "error: error reading [{path}]: recognized file extensions are [.json .yaml .yml]"
            )));
        }
        for file in found {
            let file = file.to_string_lossy();
            let text = text_of(context, &file).await?;
            manifests.extend(objects(&file, &text)?);
        }
    }
    Ok(manifests)
}

/// The paths, with a pattern such as `'k8s/*.yaml'` replaced by the files that match it, sorted. As in kubectl, only a
/// path that does not exist is a pattern.
fn expanded(paths: &[String]) -> Result<Vec<String>, CommandError> {
    let mut found = Vec::new();
    for path in paths {
        if path == "-" || Path::new(path).exists() || !path.contains(['*', '?', '[']) {
            found.push(path.clone());
            continue;
        }
        let matches = glob(path).map_err(|_| {
            CommandError::failed(format!(
                "error: pattern {path:?} is not valid: syntax error in pattern"
            ))
        })?;
        let before = found.len();
        found.extend(
            matches
                .flatten()
                .map(|file| file.to_string_lossy().into_owned()),
        );
        if found.len() == before {
            return Err(CommandError::failed(format!(
                "error: the path {path:?} does not exist"
            )));
        }
    }
    Ok(found)
}

/// Collects the manifests below a directory, `depth` levels deep. Like kubectl, it treats links as files.
fn walk(directory: &Path, depth: usize, found: &mut Vec<PathBuf>) -> io::Result<()> {
    let entries = std::fs::read_dir(directory)?;
    let mut entries = entries.collect::<io::Result<Vec<_>>>()?;
    entries.sort_by_key(std::fs::DirEntry::file_name);
    for entry in entries {
        let path = entry.path();
        if entry.file_type()?.is_dir() {
            if depth > 1 {
                walk(&path, depth - 1, found)?;
            }
        } else if is_manifest(&path) {
            found.push(path);
        }
    }
    Ok(())
}

fn is_manifest(path: &Path) -> bool {
    let extension = path.extension().and_then(|extension| extension.to_str());
    extension.is_some_and(|extension| EXTENSIONS.contains(&extension))
}

/// The objects in one text.
fn objects(path: &str, text: &str) -> Result<Vec<Manifest>, CommandError> {
    let path = if path == "-" { "standard input" } else { path };
    let documents = documents_by_line(text).map_err(|error| unparsed(path, text, &error))?;
    let manifest = |(line, doc)| Manifest {
        path: path.to_owned(),
        line,
        doc,
    };
    Ok(documents.into_iter().map(manifest).collect())
}

/// kubectl's error for a text that is not YAML or JSON, with the position. Nothing of the text is shown: it may be a Secret,
/// or a file that only a link led to. Other errors keep their message.
fn unparsed(path: &str, text: &str, error: &FileError) -> CommandError {
    let FileError { line, detail, .. } = error;
    let Some(Syntax { language, column }) = error.syntax else {
        return unreadable(path, error);
    };
    // serde_json repeats the position in its message.
    let detail = detail.split(" at line ").next().unwrap_or_default();
    let step = match language {
        Language::Yaml => "error converting YAML to JSON: yaml",
        Language::Json => "json",
    };
    let error = CommandError::failed(format!(
        "error: error parsing {path}: {step}: line {line}: {detail}"
    ));
    let found = text.lines().nth(line - 1).unwrap_or_default();
    if found.contains("{{") {
        return error.hint("render templates first: helm template … | kubectl spy … -f -");
    }
    error.hint(format!("check line {line}, column {column}"))
}

/// What to do without kubectl.
const WITHOUT_KUBECTL: &str = "install kubectl, or run: kustomize build DIR | kubectl spy … -f -";

/// The objects that `kubectl kustomize` builds. kubectl passes its own path to plugins (since 1.37).
pub(super) async fn kustomization(
    directory: &str,
    env: &Env,
) -> Result<Vec<Manifest>, CommandError> {
    let name = format!("kubectl kustomize {}", without_secrets(directory));
    let kubectl = env.path("KUBECTL_PATH").unwrap_or("kubectl".as_ref());
    let kubectl = kubectl.to_string_lossy();
    let file = program::find(&kubectl, env.path("PATH")).map_err(|problem| {
        let words = format!("error: cannot run `{name}`: exec: {kubectl:?}: {problem}");
        CommandError::failed(words).hint(match problem {
            ProgramError::NotFound => WITHOUT_KUBECTL,
            ProgramError::Relative => "remove `.` and empty parts from PATH",
        })
    })?;
    let mut command = Command::new(file);
    command
        .args(["kustomize", "--", directory])
        .stdin(Stdio::null());
    let output = tokio::task::spawn_blocking(move || command.output()).await;
    let output = output.map_err(io::Error::other).and_then(|output| output);
    let text = match output {
        Ok(output) if output.status.success() => {
            String::from_utf8_lossy(&output.stdout).into_owned()
        }
        Ok(output) => return Err(refused(&name, &output)),
        Err(error) => {
            let error = CommandError::failed(format!("error: cannot run `{name}`: {error}"));
            return Err(error.hint(WITHOUT_KUBECTL));
        }
    };
    objects(&name, &text)
}

/// The error of a failed `kubectl kustomize`, with the message of `kubectl get -k`.
fn refused(name: &str, output: &Output) -> CommandError {
    let said = String::from_utf8_lossy(&output.stderr);
    match kustomize_message(&said) {
        "" => CommandError::failed(format!("error: `{name}` failed: {}", output.status)),
        said => CommandError::failed(without_content(said)),
    }
}

/// The words after which kustomize quotes the values of a generator, or the lines of a file with values.
const QUOTING: [&str; 3] = ["literal source", "env source", "patch from"];

/// A message of kustomize without what it quotes of the user's files, and without the secrets of URLs.
fn without_content(said: &str) -> String {
    let mut shown = String::new();
    // Kustomize puts the configuration of a generator or a patch between backquotes.
    for (count, part) in said.split('`').enumerate() {
        shown.push_str(if count % 2 == 0 { part } else { "…" });
    }
    let quoting = QUOTING
        .iter()
        .filter_map(|words| Some(shown.find(words)? + words.len()));
    if let Some(end) = quoting.min() {
        shown.truncate(end);
        shown.push_str(" …");
    }
    without_secrets(&shown)
}

/// The message in kubectl's error output: after `error: `, or as the quoted cause of a line of its log.
fn kustomize_message(said: &str) -> &str {
    let said = said.trim();
    let cause = said.split_once(" err=\"").map(|(_, cause)| cause);
    cause
        .and_then(|cause| cause.strip_suffix('"'))
        .or(said.strip_prefix("error: "))
        .unwrap_or(said)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The messages are those of kustomize.
    #[test]
    fn a_message_of_kustomize_quotes_nothing() {
        for (said, shown) in [
            (
                "accumulating resources: accumulation err='accumulating resources from 'https://me:hunter2@example.com/a.yaml': URL is a git repository': failed to run '/usr/bin/git fetch --depth=1 https://me:hunter2@example.com/a HEAD': exit status 128",
                "accumulating resources: accumulation err='accumulating resources from 'https://***@example.com/a.yaml': URL is a git repository': failed to run '/usr/bin/git fetch --depth=1 https://***@example.com/a HEAD': exit status 128",
            ),
            (
                "literal sources [password=hunter2 hunter2]: invalid literal source hunter2, expected key=value",
                "literal source …",
            ),
            (
                "loading KV pairs: env source files: [a.env]: \"hunter2 x\" is not a valid key name",
                "loading KV pairs: env source …",
            ),
            (
                "trouble configuring builtin PatchTransformer with config: `\npatch: hunter2\n`: unable to parse SM or JSON patch from [hunter2]",
                "trouble configuring builtin PatchTransformer with config: …: unable to parse SM or JSON patch from …",
            ),
            (
                "unable to find 'kustomization.yaml' in directory '/x'",
                "unable to find 'kustomization.yaml' in directory '/x'",
            ),
            (
                "ssh://git@github.com/a and https://a@b:c@host?x@y",
                "ssh://***@github.com/a and https://***",
            ),
        ] {
            assert_eq!(without_content(said), shown);
        }
    }

    #[test]
    fn the_message_of_kustomize_stands_alone() {
        for said in [
            "error: no such directory\n",
            "E1123 09:58:11.883028   27896 run.go:72] \"command failed\" err=\"no such directory\"\n",
            "no such directory",
        ] {
            assert_eq!(kustomize_message(said), "no such directory");
        }
        assert_eq!(kustomize_message(" \n"), "");
    }
}
