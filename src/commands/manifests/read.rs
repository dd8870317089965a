//! Reads manifests from files, directories, standard input and kustomizations.

use std::io;
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};

use crate::cluster::program;
use crate::cluster::program::ProgramError;
use crate::commands::input::{Depth, expanded, manifests_below, remedy, text_of, unreadable};
use crate::commands::{CommandError, Context, ManifestArgs};
use crate::env::Env;
use crate::object::{Doc, without_secrets};
use crate::watch::{FileError, Language, Syntax, documents_by_line, foreign_text};

/// An object of a manifest.
#[derive(Debug)]
pub(crate) struct Manifest {
    /// The file name for messages.
    pub(super) path: String,
    /// The line in the file, from 1.
    pub(super) line: usize,
    /// The object.
    pub(super) doc: Doc,
}

/// The objects of all files, in the order of the flags. The files of a directory are sorted by name. As in kubectl, what
/// cannot be read does not hide the others. It is an error at the end of the verb, or at once if nothing can be read.
pub(super) async fn files(
    args: &ManifestArgs,
    context: &mut Context<'_>,
) -> Result<Vec<Manifest>, CommandError> {
    let mut manifests = Vec::new();
    let depth = if args.recursive {
        Depth::All
    } else {
        Depth::Files
    };
    for path in &expanded(&args.filename)? {
        let files = if Path::new(path).is_dir() {
            manifests_below(path, depth)?
        } else {
            vec![PathBuf::from(path)]
        };
        for file in files {
            let file = file.to_string_lossy();
            match text_of(context, &file, "-f").await {
                Ok(text) => {
                    let (found, errors, more) = objects(&file, &text);
                    manifests.extend(found);
                    context.unread.add_manifest(errors, more);
                }
                Err(error) => context.unread.add_manifest([error], 0),
            }
        }
    }
    if manifests.is_empty() {
        context.unread.take()?;
    }
    Ok(manifests)
}

/// The objects in one text, the errors of the others, and the number of further errors.
fn objects(path: &str, text: &str) -> (Vec<Manifest>, Vec<CommandError>, usize) {
    let path = if path == "-" { "standard input" } else { path };
    let (documents, faults) = documents_by_line(text);
    let has_type = |(_, doc): &(usize, Doc)| doc.root().get("kind").is_some();
    if !documents.iter().any(has_type)
        && let Some(foreign) = foreign_text(text)
    {
        let error = CommandError::failed(format!("error: {path}: line 1: not an object"));
        return (Vec::new(), vec![error.hint(remedy(foreign, "-f"))], 0);
    }
    let manifest = |(line, doc)| Manifest {
        path: path.to_owned(),
        line,
        doc,
    };
    let errors = faults.first().iter();
    let errors = errors.map(|error| unparsed(path, error)).collect();
    (
        documents.into_iter().map(manifest).collect(),
        errors,
        faults.more(),
    )
}

/// kubectl's error for a text that is not YAML or JSON, with the position. Nothing of the text is shown: it may be a Secret,
/// or a file that only a link led to. Other errors keep their message.
fn unparsed(path: &str, error: &FileError) -> CommandError {
    let FileError { line, detail, .. } = error;
    let Some(Syntax { language, column }) = error.syntax else {
        return unreadable(path, error, "-f");
    };
    let step = match language {
        Language::Yaml => "error converting YAML to JSON: yaml",
        Language::Json => "json",
    };
    let said = CommandError::failed(format!(
        "error: error parsing {path}: {step}: line {line}: {detail}"
    ));
    match error.foreign {
        Some(foreign) => said.hint(remedy(foreign, "-f")),
        None => said.hint(format!("check line {line}, column {column}")),
    }
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
    let (manifests, errors, _) = objects(&name, &text);
    match errors.into_iter().next() {
        Some(error) => Err(error),
        None => Ok(manifests),
    }
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
