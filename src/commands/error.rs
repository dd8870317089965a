//! `CommandError`: the error of a verb, with kubectl's message and our hints.

use std::fmt;

use super::Signal;
use crate::cluster::{
    ApiError, ArgumentError, ConfigError, RequestError, ResolveError, TargetError,
};

/// An error as the user sees it. The first line is kubectl's; each hint is one action for the user.
#[derive(Debug)]
pub(crate) struct CommandError {
    message: String,
    hints: Vec<String>,
    kind: ErrorKind,
    /// What the server made of the request; `None` if that is not the matter.
    answer: Option<FailedAnswer>,
}

/// What a server makes of a request that has no result.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum FailedAnswer {
    /// It does not answer, so that the same request may succeed later.
    Silence,
    /// What is asked for does not exist.
    NotFound,
    /// The user may not have it.
    Forbidden,
    /// It has no type of that name.
    UnknownType,
}

/// The kind of an error. It decides the exit code and the text after the message.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum ErrorKind {
    /// The command line is wrong. The error ends with a reference to the help.
    Usage,
    /// Any other error.
    Failed,
    /// With `--for`: an object failed, so it cannot meet the goal.
    GoalFailed,
    /// With `--for`: an object did not meet the goal in time.
    GoalUnmet,
    /// A signal stopped the verb before it could show anything. Nothing is printed, and the program ends by the signal.
    Stopped(Signal),
    /// The reader of standard output closed the pipe. This is not an error: nothing is printed, and the exit code is 0.
    BrokenPipe,
}

impl CommandError {
    /// An error in the command line; `message` has no `error: ` in front.
    pub(crate) fn usage(message: impl fmt::Display) -> CommandError {
        CommandError {
            message: format!("error: {message}"),
            hints: Vec::new(),
            kind: ErrorKind::Usage,
            answer: None,
        }
    }

    /// Any other error; `message` is the whole first line.
    pub(crate) fn failed(message: impl fmt::Display) -> CommandError {
        CommandError {
            message: message.to_string(),
            hints: Vec::new(),
            kind: ErrorKind::Failed,
            answer: None,
        }
    }

    /// A server did not answer; `message` is the whole first line.
    pub(crate) fn silent(message: impl fmt::Display) -> CommandError {
        CommandError::failed(message).because(FailedAnswer::Silence)
    }

    /// An error in the words of a server, as the state of a source has them: `Error from server (Forbidden): pods is forbidden`.
    pub(crate) fn of_cause(words: impl fmt::Display) -> CommandError {
        let error = CommandError::failed(words);
        let reason = error.message.strip_prefix("Error from server (");
        let reason = reason.and_then(|rest| rest.split_once(')'));
        match reason {
            Some(("Forbidden", _)) => error.because(FailedAnswer::Forbidden),
            Some(("NotFound", _)) => error.because(FailedAnswer::NotFound),
            Some(_) | None => error,
        }
    }

    /// With `--for`: objects that have failed; `message` is the whole text.
    pub(crate) fn goal_failed(message: impl fmt::Display) -> CommandError {
        CommandError {
            kind: ErrorKind::GoalFailed,
            ..CommandError::failed(message)
        }
    }

    /// With `--for`: objects that did not meet the goal in time; `message` is the whole text.
    pub(crate) fn goal_unmet(message: impl fmt::Display) -> CommandError {
        CommandError {
            kind: ErrorKind::GoalUnmet,
            ..CommandError::failed(message)
        }
    }

    /// The end by a signal, before there is anything to show.
    pub(crate) fn stopped(signal: Signal) -> CommandError {
        CommandError {
            kind: ErrorKind::Stopped(signal),
            ..CommandError::failed("interrupted")
        }
    }

    /// The same error, as the server has answered.
    #[must_use]
    pub(crate) fn because(self, answer: FailedAnswer) -> CommandError {
        let answer = Some(answer);
        CommandError { answer, ..self }
    }

    /// Adds an action that the user can take.
    #[must_use]
    pub(crate) fn hint(mut self, hint: impl fmt::Display) -> CommandError {
        self.hints.push(hint.to_string());
        self
    }

    /// Adds the message and the hints of another error.
    #[must_use]
    pub(crate) fn and(mut self, other: CommandError) -> CommandError {
        self.message = format!("{}\n{}", self.message, other.message);
        let hints = other.hints.into_iter();
        for hint in hints {
            if !self.hints.contains(&hint) {
                self.hints.push(hint);
            }
        }
        self
    }

    /// The same error of one part of several, such as a cluster: each line begins with its name.
    #[must_use]
    pub(crate) fn of_part(mut self, name: &str) -> CommandError {
        let lines = self.message.lines().map(|line| format!("{name}: {line}"));
        self.message = lines.collect::<Vec<_>>().join("\n");
        self
    }

    /// Whether the server did not answer, so that the same request may succeed later.
    pub(crate) fn is_silence(&self) -> bool {
        self.answer == Some(FailedAnswer::Silence)
    }

    /// What the server made of the request; `None` if that is not the matter.
    pub(crate) fn answer(&self) -> Option<FailedAnswer> {
        self.answer
    }

    /// The kind of this error.
    pub(crate) fn kind(&self) -> ErrorKind {
        self.kind
    }

    /// The hints, in the order they are printed.
    pub(crate) fn hints(&self) -> &[String] {
        &self.hints
    }
}

impl fmt::Display for CommandError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.message)
    }
}

impl std::error::Error for CommandError {}

impl From<std::io::Error> for CommandError {
    fn from(error: std::io::Error) -> CommandError {
        let kind = match error.kind() {
            std::io::ErrorKind::BrokenPipe => ErrorKind::BrokenPipe,
            _ => ErrorKind::Failed,
        };
        CommandError {
            message: format!("error: {error}"),
            hints: Vec::new(),
            kind,
            answer: None,
        }
    }
}

impl From<ApiError> for CommandError {
    fn from(error: ApiError) -> CommandError {
        let code = error.status.code;
        let resource = match &*error.resource {
            // Only discovery reads a path that is not a resource.
            "" => "/apis",
            resource => resource,
        };
        let namespace = error.namespace.as_ref();
        let place = namespace.map(|namespace| format!(" -n {namespace}"));
        let place = place.unwrap_or_default();
        let hint = format!("try `kubectl auth can-i {} {resource}{place}`", error.verb);
        let error = CommandError::failed(error);
        match code {
            403 => error.because(FailedAnswer::Forbidden).hint(hint),
            404 => error.because(FailedAnswer::NotFound),
            _ => error,
        }
    }
}

/// The hint of an error about contexts.
const CONTEXTS: &str = "list the contexts: `kubectl config get-contexts`";

impl From<ConfigError> for CommandError {
    fn from(error: ConfigError) -> CommandError {
        match error {
            ConfigError::NoContext { ref near, .. } => {
                let near = near.join(" or ");
                let near = (!near.is_empty()).then(|| format!("did you mean {near}?"));
                let hints = near.into_iter().chain([CONTEXTS.to_owned()]);
                hints.fold(CommandError::failed(&error), CommandError::hint)
            }
            ConfigError::NoCurrentContext(_)
            | ConfigError::NoMatch(_)
            | ConfigError::NoContexts => CommandError::failed(error).hint(CONTEXTS),
            ConfigError::Namespace { ref setting, .. } => {
                let hint =
                    format!("correct {setting}; list the namespaces: `kubectl get namespaces`");
                CommandError::failed(error).hint(hint)
            }
            ConfigError::Url {
                ref setting,
                wanted,
                ..
            } => {
                let hint = format!("correct {setting}: it takes {wanted}");
                CommandError::failed(error).hint(hint)
            }
            ConfigError::Header { ref setting, .. } => {
                let hint = format!("correct {setting}: remove the line break or control character");
                CommandError::failed(error).hint(hint)
            }
            error => CommandError::failed(error),
        }
    }
}

impl From<RequestError> for CommandError {
    fn from(error: RequestError) -> CommandError {
        match error {
            RequestError::Api { error, .. } if matches!(error.status.code, 429 | 500..) => {
                CommandError::from(error).because(FailedAnswer::Silence)
            }
            RequestError::Api { error, .. } => error.into(),
            error => CommandError::silent(error),
        }
    }
}

impl From<TargetError> for CommandError {
    fn from(error: TargetError) -> CommandError {
        match error {
            TargetError::Argument(error) => error.into(),
            TargetError::Resolve(ResolveError::Request(error)) => error.into(),
            TargetError::Resolve(error @ ResolveError::Unknown { .. }) => {
                let ResolveError::Unknown { near, stale, .. } = &error else {
                    return CommandError::failed(error);
                };
                let near = (!near.is_empty()).then(|| format!("did you mean {}?", near.join(", ")));
                let stale = (!stale.is_empty()).then(|| {
                    format!(
                        "check these API groups, which could not be read: {}",
                        stale.join(", ")
                    )
                });
                let hints = near.into_iter().chain(stale);
                let error = CommandError::failed(&error).because(FailedAnswer::UnknownType);
                hints.fold(error, CommandError::hint)
            }
        }
    }
}

impl From<ArgumentError> for CommandError {
    fn from(error: ArgumentError) -> CommandError {
        let text = error.to_string();
        let usage = CommandError::usage(text.strip_prefix("error: ").unwrap_or(&text));
        if error == ArgumentError::Nothing {
            return usage
                .hint("name an object or a type, for example: deploy/web, pods, pods -l app=web");
        }
        usage
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::cluster::ApiStatus;

    #[test]
    fn the_hint_of_a_403_is_a_command_that_checks_the_permission() {
        let hints = |verb: &'static str, resource: &str, namespace: Option<&str>| {
            let status = ApiStatus {
                code: 403,
                ..ApiStatus::default()
            };
            let error = ApiError {
                verb,
                resource: resource.into(),
                namespace: namespace.map(Into::into),
                status,
            };
            CommandError::from(error).hints().join("\n")
        };
        assert_eq!(
            hints("list", "pods", Some("shop")),
            "try `kubectl auth can-i list pods -n shop`"
        );
        assert_eq!(
            hints("list", "nodes", None),
            "try `kubectl auth can-i list nodes`"
        );
        assert_eq!(hints("get", "", None), "try `kubectl auth can-i get /apis`");
    }
}
