//! `ContainerFilter`: which containers of a Pod are read, by `-c` and `--all-containers`.

use glob::{MatchOptions, Pattern, PatternError};

use super::instances::{ContainerLogs, PodLogs};

/// The containers to read.
#[derive(Clone, Debug, Default)]
pub struct ContainerFilter {
    wanted: Vec<NamePattern>,
    unwanted: Vec<Pattern>,
    takes_all: bool,
}

/// A name or a pattern of `-c`.
#[derive(Clone, Debug)]
struct NamePattern {
    text: String,
    pattern: Pattern,
}

impl ContainerFilter {
    /// Reads the words of `-c`: names, patterns such as `app-*`, and those with `!` in front, which leave containers out.
    pub fn parse<'w>(
        words: impl IntoIterator<Item = &'w str>,
    ) -> Result<ContainerFilter, PatternError> {
        let mut filter = ContainerFilter::default();
        for word in words {
            match word.strip_prefix('!') {
                Some(left_out) => filter.unwanted.push(Pattern::new(left_out)?),
                None => filter.wanted.push(NamePattern {
                    text: word.to_owned(),
                    pattern: Pattern::new(word)?,
                }),
            }
        }
        Ok(filter)
    }

    /// Reads all containers, also those beside the default container.
    #[must_use]
    pub fn of_all(self) -> ContainerFilter {
        ContainerFilter {
            takes_all: true,
            ..self
        }
    }

    /// The containers of a Pod to read. If nothing selects them: the default container that its annotation names, or else
    /// all of them.
    pub fn select<'p>(&self, pod: &'p PodLogs) -> Vec<&'p ContainerLogs> {
        let default = pod.default_container.as_deref().filter(|_| !self.takes_all);
        let is_there = |name: &str| {
            pod.containers
                .iter()
                .any(|container| *container.name == *name)
        };
        let default = default.filter(|name| is_there(name));
        let is_wanted = |name: &str| match (&self.wanted[..], default) {
            ([], Some(default)) if self.unwanted.is_empty() => name == default,
            ([], _) => true,
            (wanted, _) => wanted.iter().any(|wanted| wanted.matches(name)),
        };
        let is_unwanted = |name: &str| self.unwanted.iter().any(|pattern| matches(pattern, name));
        let containers = pod.containers.iter();
        containers
            .filter(|container| is_wanted(&container.name) && !is_unwanted(&container.name))
            .collect()
    }

    /// The first name of `-c` that no container of a Pod has. A pattern may match nothing.
    pub fn missing(&self, pod: &PodLogs) -> Option<&str> {
        let names = self
            .wanted
            .iter()
            .filter(|wanted| Pattern::escape(&wanted.text) == wanted.text);
        let is_there = |wanted: &&NamePattern| {
            pod.containers
                .iter()
                .any(|container| wanted.matches(&container.name))
        };
        names
            .filter(|wanted| !is_there(wanted))
            .map(|wanted| wanted.text.as_str())
            .next()
    }
}

impl NamePattern {
    fn matches(&self, name: &str) -> bool {
        matches(&self.pattern, name)
    }
}

fn matches(pattern: &Pattern, name: &str) -> bool {
    pattern.matches_with(name, MatchOptions::new())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::object::Doc;

    fn check(default: &str, words: &[&str]) -> String {
        let pod = format!(
            r#"{{"metadata":{{"annotations":{{"kubectl.kubernetes.io/default-container":"{default}"}}}},
                "spec":{{"initContainers":[{{"name":"init"}}],"containers":[{{"name":"app"}},{{"name":"app-2"}},{{"name":"istio-proxy"}}]}}}}"#
        );
        let pod = PodLogs::of(Doc::parse(pod).expect("JSON").root());
        let filter = ContainerFilter::parse(words.iter().copied()).expect("patterns");
        let names: Vec<_> = filter
            .select(&pod)
            .iter()
            .map(|container| container.name.to_string())
            .collect();
        names.join(" ")
    }

    #[test]
    fn containers_are_named_by_patterns() {
        for (default, words, expect) in [
            ("", &[][..], "init app app-2 istio-proxy"),
            ("app", &[], "app"),
            ("gone", &[], "init app app-2 istio-proxy"),
            ("app", &["!istio-proxy"], "init app app-2"),
            ("app", &["istio-proxy"], "istio-proxy"),
            ("", &["app*"], "app app-2"),
            ("", &["app*", "!app-?"], "app"),
            ("", &["a[a-p]p", "init"], "init app"),
            ("", &["APP"], ""),
        ] {
            assert_eq!(check(default, words), expect, "{default} {words:?}");
        }
        assert!(ContainerFilter::parse(["["]).is_err());
    }
}
