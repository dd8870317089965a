//! The ways in which kubectl names objects on a command line (cli-runtime's `Builder`), with its errors.

#[cfg(test)]
mod tests;

use std::sync::Arc;

use super::request_path::{InvalidPart, PathSegment};
use crate::cluster::discovery::{ResolveError, Resolver};
use crate::object::Resource;

/// The flags that restrict the objects of the arguments.
#[derive(Clone, Debug)]
pub struct Filters {
    /// `-l`. An empty value counts as absent.
    pub labels: Option<String>,
    /// `--field-selector`. An empty value counts as absent.
    pub fields: Option<String>,
    /// `-n`, or `-A`, which takes precedence.
    pub namespaces: Namespaces,
}

/// The namespaces to search for namespaced objects.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Namespaces {
    /// All namespaces.
    All,
    /// This namespace.
    One(Arc<str>),
}

/// Which objects of a type are selected.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Names {
    /// All objects that match the selectors, including future ones.
    All,
    /// Exactly these names, whether the objects exist or not. It is never empty and has no repeats.
    Named(Vec<Arc<str>>),
}

/// The parsed arguments, before their type words are resolved.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Arguments {
    /// Each type word with its names, in the order of the command line.
    pub asked: Vec<NamedType>,
    /// For arguments in kubespy's form, `v1 Pod shop/web`: the equivalent form of this program.
    pub equivalent: Option<String>,
}

/// One type word and its names.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NamedType {
    /// `deploy`, `deployments.apps`, `all`.
    pub word: String,
    /// The names.
    pub names: Names,
    /// The namespace, if the argument itself contains one.
    pub namespace: Option<Arc<str>>,
}

/// An error in the arguments. Its `Display` is kubectl's line.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum ArgumentError {
    /// An invalid name or namespace: `a%b`.
    #[error("error: {0}")]
    Invalid(#[from] InvalidPart),
    /// There are no arguments.
    #[error("error: Required resource not specified.")]
    Nothing,
    /// `deploy deploy/web`.
    #[error(
        "error: there is no need to specify a resource type as a separate argument when passing \
         arguments in resource/name form (e.g. 'kubectl get resource/<resource_name>' instead of \
         'kubectl get resource resource/<resource_name>'"
    )]
    Mixed,
    /// `a/b/c`.
    #[error("error: arguments in resource/name form may not have more than one slash")]
    Slashes,
    /// `/web`, `deploy/`, `deploy,sts/web`, `deploy, web`.
    #[error("error: arguments in resource/name form must have a single resource and name")]
    Incomplete,
    /// `deploy web -l app=web`.
    #[error("error: name cannot be provided when a selector is specified")]
    NameAndSelector,
    /// `deploy/web -l app=web`.
    #[error(
        "error: selectors and the all flag cannot be used when passing resource/name arguments"
    )]
    PairAndSelector,
    /// `deploy/web -A`.
    #[error("error: a resource cannot be retrieved by name across all namespaces")]
    NameEverywhere,
    /// `all web`.
    #[error("error: you must specify only one resource")]
    NamedCategory,
}

/// Parses arguments: `TYPE/NAME…`, `TYPE NAME…`, `TYPE[,TYPE…] [NAME…]`, and kubespy's `VERSION KIND
/// [NAMESPACE/]NAME`.
pub fn parse(arguments: &[String], filters: &Filters) -> Result<Arguments, ArgumentError> {
    if let Some(found) = kubespy_form(arguments) {
        return check(found, filters, ArgumentError::NameAndSelector);
    }
    let slashes = arguments.iter().filter(|text| text.contains('/')).count();
    let (asked, with_selector) = match arguments {
        [] => return Err(ArgumentError::Nothing),
        pairs if slashes == pairs.len() => (pairs_form(pairs)?, ArgumentError::PairAndSelector),
        _ if slashes > 0 => return Err(ArgumentError::Mixed),
        // kubectl reads `deploy, web` as `deploy/web /web`.
        [types, _, ..] if types.contains(',') && types.split(',').any(str::is_empty) => {
            return Err(ArgumentError::Incomplete);
        }
        [types, names @ ..] => {
            let names = named(names);
            let each = |word: &str| NamedType {
                word: word.to_owned(),
                names: names.clone(),
                namespace: None,
            };
            let asked = without_repeats(types.split(',')).map(each).collect();
            (asked, ArgumentError::NameAndSelector)
        }
    };
    let equivalent = None;
    check(Arguments { asked, equivalent }, filters, with_selector)
}

fn check(
    found: Arguments,
    filters: &Filters,
    with_selector: ArgumentError,
) -> Result<Arguments, ArgumentError> {
    for asked in &found.asked {
        if let Names::Named(names) = &asked.names {
            for name in names {
                PathSegment::Name.check(name)?;
            }
        }
        if let Some(namespace) = &asked.namespace {
            PathSegment::Namespace.check(namespace)?;
        }
    }
    let named = found.asked.iter().any(|asked| asked.names != Names::All);
    let selected = given(filters.labels.as_ref()).or(given(filters.fields.as_ref()));
    match selected {
        Some(_) if named => Err(with_selector),
        _ => Ok(found),
    }
}

fn pairs_form(pairs: &[String]) -> Result<Vec<NamedType>, ArgumentError> {
    let mut asked: Vec<NamedType> = Vec::new();
    for pair in pairs {
        let (word, name) = pair.split_once('/').ok_or(ArgumentError::Mixed)?;
        if name.contains('/') {
            return Err(ArgumentError::Slashes);
        }
        if word.is_empty() || name.is_empty() || word.contains(',') {
            return Err(ArgumentError::Incomplete);
        }
        let name: Arc<str> = name.into();
        match asked.iter_mut().find(|asked| asked.word == word) {
            Some(NamedType {
                names: Names::Named(names),
                ..
            }) => {
                if !names.contains(&name) {
                    names.push(name);
                }
            }
            _ => asked.push(NamedType {
                word: word.to_owned(),
                names: Names::Named(vec![name]),
                namespace: None,
            }),
        }
    }
    Ok(asked)
}

/// `v1 Pod web`, `apps/v1 Deployment shop/web`: exactly three words. The first is a version. The second is a kind
/// in CamelCase, which no type word of kubectl's own forms needs to be.
fn kubespy_form(arguments: &[String]) -> Option<Arguments> {
    let [api_version, kind, name] = arguments else {
        return None;
    };
    let (group, version) = api_version.rsplit_once('/').unwrap_or(("", api_version));
    let camel_case = kind.starts_with(|first: char| first.is_ascii_uppercase());
    if !is_version(version) || group.contains('/') || !camel_case || kind.contains('/') {
        return None;
    }
    let (namespace, name) = match name.split_once('/') {
        Some((namespace, name)) => (Some(namespace), name),
        None => (None, name.as_str()),
    };
    if name.is_empty() || name.contains('/') {
        return None;
    }
    let dot = if group.is_empty() { "" } else { "." };
    let flag = namespace.map(|namespace| format!(" -n {namespace}"));
    Some(Arguments {
        asked: vec![NamedType {
            word: format!("{kind}.{version}.{group}"),
            names: Names::Named(vec![name.into()]),
            namespace: namespace.map(Into::into),
        }],
        equivalent: Some(format!(
            "{}{dot}{group}/{name}{}",
            kind.to_lowercase(),
            flag.unwrap_or_default()
        )),
    })
}

/// `v1`, `v2beta1`.
fn is_version(text: &str) -> bool {
    let Some(rest) = text.strip_prefix('v') else {
        return false;
    };
    let number = |text: &str| !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit());
    match rest.split_once("alpha").or_else(|| rest.split_once("beta")) {
        Some((major, minor)) => number(major) && number(minor),
        None => number(rest),
    }
}

fn named(names: &[String]) -> Names {
    if names.is_empty() {
        return Names::All;
    }
    let names = without_repeats(names.iter().map(String::as_str));
    Names::Named(names.map(Into::into).collect())
}

fn without_repeats<'a>(texts: impl Iterator<Item = &'a str>) -> impl Iterator<Item = &'a str> {
    let mut seen = Vec::new();
    texts.filter(move |text| {
        let new = !seen.contains(text);
        seen.push(*text);
        new
    })
}

/// The selector, if it is not empty.
fn given(selector: Option<&String>) -> Option<&str> {
    selector
        .map(|text| text.trim())
        .filter(|text| !text.is_empty())
}

/// The objects of one resource that the arguments name.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Target {
    /// The resource.
    pub resource: Resource,
    /// The namespace; `None` for all namespaces and for cluster-scoped resources.
    pub namespace: Option<Arc<str>>,
    /// The names.
    pub names: Names,
    /// `-l`. Named objects have none.
    pub labels: Option<Arc<str>>,
    /// `--field-selector`. Named objects have none.
    pub fields: Option<Arc<str>>,
}

/// Why the arguments have no target. Its `Display` is kubectl's line.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum TargetError {
    /// The arguments contradict each other.
    #[error(transparent)]
    Argument(#[from] ArgumentError),
    /// A word is not a type.
    #[error(transparent)]
    Resolve(#[from] ResolveError),
}

impl Arguments {
    /// Resolves the words to resources, one target for each.
    pub async fn resolve(
        &self,
        resolver: &Resolver,
        filters: &Filters,
    ) -> Result<Vec<Target>, TargetError> {
        let mut targets: Vec<Target> = Vec::new();
        for asked in &self.asked {
            for resource in resources(asked, resolver).await? {
                let target = target(asked, resource, filters)?;
                if !targets.contains(&target) {
                    targets.push(target);
                }
            }
        }
        Ok(targets)
    }
}

async fn resources(asked: &NamedType, resolver: &Resolver) -> Result<Vec<Resource>, TargetError> {
    match resolver.category(&asked.word).await {
        Some(_) if asked.names != Names::All => Err(ArgumentError::NamedCategory.into()),
        Some(members) => Ok(members),
        None => Ok(vec![resolver.resolve(&asked.word).await?]),
    }
}

fn target(
    asked: &NamedType,
    resource: Resource,
    filters: &Filters,
) -> Result<Target, ArgumentError> {
    let namespace = match (&asked.namespace, &filters.namespaces) {
        _ if !resource.namespaced => None,
        (Some(own), _) => Some(own.clone()),
        (None, Namespaces::One(namespace)) => Some(namespace.clone()),
        (None, Namespaces::All) if asked.names != Names::All => {
            return Err(ArgumentError::NameEverywhere);
        }
        (None, Namespaces::All) => None,
    };
    Ok(Target {
        resource,
        namespace,
        names: asked.names.clone(),
        labels: given(filters.labels.as_ref()).map(Into::into),
        fields: given(filters.fields.as_ref()).map(Into::into),
    })
}
