//! Which contexts of a kubeconfig the flags select, if they may select several.

use std::collections::HashSet;

use clap::Args;
use glob::Pattern;
use kube::config::Kubeconfig;

use super::choose::choose;
use super::error::ConfigError;
use super::overrides::{Overrides, set};

/// The flags that select several contexts. `--context a,b` does, too.
#[derive(Args, Clone, Debug, Default)]
pub struct ContextArgs {
    /// Use all kubeconfig contexts whose names match this pattern, for example 'prod-*'; repeat for several
    #[arg(
        long,
        global = true,
        value_name = "PATTERN",
        value_delimiter = ',',
        action = clap::ArgAction::Append
    )]
    pub contexts: Vec<String>,
    /// Use every context of the kubeconfig
    #[arg(long, global = true)]
    pub all_contexts: bool,
}

impl ContextArgs {
    /// Whether these flags, or a list in `--context`, may select several contexts.
    pub(crate) fn may_be_several(&self, overrides: &Overrides) -> bool {
        let listed = set(overrides.context.as_ref()).is_some_and(|names| names.contains(','));
        self.all_contexts || !self.contexts.is_empty() || listed
    }
}

/// The names of the selected contexts, in the order of `--context`, then of the kubeconfig. Of those with the same server, user
/// and namespace, only the first counts. It fails if a named context does not exist, or if none is selected.
pub(super) fn selected_contexts(
    file: &Kubeconfig,
    overrides: &Overrides,
    selected: &ContextArgs,
) -> Result<Vec<String>, ConfigError> {
    let mut names = selected_names(file, overrides, selected)?;
    let mut known = HashSet::new();
    names.retain(|name| {
        let overrides = overrides.of_context(name);
        let Ok(choice) = choose(file, &overrides) else {
            return true;
        };
        let namespace = set(overrides.namespace.as_ref()).map(str::to_owned);
        let namespace = namespace.or(choice.namespace).unwrap_or_default();
        let server = choice.cluster.server.unwrap_or_default();
        known.insert([server, choice.user_name, namespace])
    });
    Ok(names)
}

/// The names of the selected contexts, each once.
fn selected_names(
    file: &Kubeconfig,
    overrides: &Overrides,
    selected: &ContextArgs,
) -> Result<Vec<String>, ConfigError> {
    let all: Vec<&str> = file.contexts.iter().map(|found| &*found.name).collect();
    let mut names: Vec<&str> = Vec::new();
    let mut listed = set(overrides.context.as_ref()).unwrap_or_default();
    while !listed.is_empty() {
        let (name, others) = first_of_list(&all, listed);
        if !name.is_empty() && !all.contains(&name) {
            return Err(ConfigError::no_context(&all, name));
        }
        names.extend(Some(name).filter(|name| !name.is_empty()));
        listed = others;
    }
    for text in &selected.contexts {
        let matching = matching(&all, text)?;
        if matching.is_empty() {
            return Err(ConfigError::NoMatch(text.clone()));
        }
        names.extend(matching);
    }
    if selected.all_contexts {
        names.extend(&all);
    }
    if names.is_empty() {
        return Err(ConfigError::NoContexts);
    }
    let mut known = HashSet::new();
    names.retain(|name| known.insert(*name));
    Ok(names.into_iter().map(str::to_owned).collect())
}

/// The first name of a list, and the rest of the list. A name may have commas in it: the longest that exists counts.
fn first_of_list<'l>(all: &[&str], list: &'l str) -> (&'l str, &'l str) {
    let parts = list
        .match_indices(',')
        .map(|(at, comma)| (&list[..at], &list[at + comma.len()..]));
    let parts: Vec<_> = parts.chain([(list, "")]).collect();
    let known = parts.iter().rfind(|(name, _)| all.contains(name));
    *known.unwrap_or(&parts[0])
}

/// The names that match a pattern.
fn matching<'n>(all: &[&'n str], text: &str) -> Result<Vec<&'n str>, ConfigError> {
    let pattern = Pattern::new(text).map_err(|error| ConfigError::Pattern {
        pattern: text.to_owned(),
        problem: error.msg,
    })?;
    let names = all.iter().copied();
    Ok(names.filter(|name| pattern.matches(name)).collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    const CONFIG: &str = "
contexts:
- {name: prod-eu, context: {cluster: eu, user: ops, namespace: shop}}
- {name: prod-us, context: {cluster: us, user: ops}}
- {name: eu-again, context: {cluster: eu, user: ops, namespace: shop}}
- {name: eu-other, context: {cluster: eu, user: ops, namespace: web}}
- {name: 'arn:aws:eks:eu-west-1:1:cluster/prod', context: {cluster: us, user: dev}}
- {name: 'a,b', context: {cluster: us, user: qa}}
clusters:
- {name: eu, cluster: {server: 'http://eu:8001'}}
- {name: us, cluster: {server: 'http://us:8001'}}
";

    fn flags(context: &str, contexts: &[&str], all_contexts: bool) -> (Overrides, ContextArgs) {
        let overrides = Overrides {
            context: Some(context.to_owned()),
            ..Overrides::default()
        };
        let selected = ContextArgs {
            contexts: contexts.iter().map(|&text| text.to_owned()).collect(),
            all_contexts,
        };
        (overrides, selected)
    }

    /// The selected names, or the error.
    fn check(context: &str, contexts: &[&str], all: bool, expect: &str) {
        let file = Kubeconfig::from_yaml(CONFIG).expect("a kubeconfig");
        let (overrides, selected) = flags(context, contexts, all);
        let found = match selected_names(&file, &overrides, &selected) {
            Ok(names) => names.join(" "),
            Err(error) => error.to_string(),
        };
        assert_eq!(found, expect, "{context} {contexts:?} {all}");
    }

    #[test]
    fn contexts_are_listed_or_match_a_pattern() {
        for (context, contexts, expect) in [
            ("prod-us,prod-eu", &[][..], "prod-us prod-eu"),
            ("prod-us", &[], "prod-us"),
            ("prod-us,,prod-us", &[], "prod-us"),
            ("a,b", &[], "a,b"),
            ("prod-us,a,b,prod-eu", &[], "prod-us a,b prod-eu"),
            ("a,b,prod-us", &[], "a,b prod-us"),
            ("b,a,b", &[], "error: context \"b\" does not exist"),
            ("", &["prod-*"], "prod-eu prod-us"),
            ("", &["*/prod"], "arn:aws:eks:eu-west-1:1:cluster/prod"),
            (
                "",
                &["prod-[eu]*", "eu-?????"],
                "prod-eu prod-us eu-again eu-other",
            ),
            ("eu-other", &["prod-*"], "eu-other prod-eu prod-us"),
            (
                "prod-eu,prod-as",
                &[],
                "error: context \"prod-as\" does not exist",
            ),
            ("", &["test-*"], "error: no context matches \"test-*\""),
            (
                "",
                &["a[b"],
                "error: invalid pattern \"a[b\": invalid range pattern",
            ),
            ("", &[], "error: the kubeconfig has no context to use"),
        ] {
            check(context, contexts, false, expect);
        }
        let all = "prod-eu prod-us eu-again eu-other arn:aws:eks:eu-west-1:1:cluster/prod a,b";
        check("", &[], true, all);
    }

    #[test]
    fn an_unknown_context_names_those_that_resemble_it() {
        let file = Kubeconfig::from_yaml(CONFIG).expect("a kubeconfig");
        let (overrides, selected) = flags("prod-eu,prod-uss", &[], false);
        let error = selected_names(&file, &overrides, &selected).expect_err("unknown");
        let ConfigError::NoContext { near, .. } = error else {
            panic!("{error}");
        };
        assert_eq!(near, ["prod-us", "prod-eu"]);
    }

    #[test]
    fn contexts_of_one_server_user_and_namespace_count_once() {
        let file = Kubeconfig::from_yaml(CONFIG).expect("a kubeconfig");
        let names = |namespace: Option<&str>| {
            let (mut overrides, selected) = flags("", &["*eu*"], false);
            overrides.namespace = namespace.map(str::to_owned);
            selected_contexts(&file, &overrides, &selected).expect("contexts")
        };
        let arn = "arn:aws:eks:eu-west-1:1:cluster/prod";
        assert_eq!(names(None), ["prod-eu", "eu-other", arn]);
        // -n makes two of them equal.
        assert_eq!(names(Some("ops")), ["prod-eu", arn]);
    }
}
