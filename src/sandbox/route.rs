//! Parses a request: its path, its query and its `Accept` header.

use std::str::FromStr;

use super::kinds::Kind;
use super::status::ApiFailure;
use super::store::VersionText;

/// The target of a path.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Route {
    /// `/api`.
    CoreVersions,
    /// `/apis`.
    Groups,
    /// `/apis/GROUP`.
    Group(String),
    /// `/api/v1` and `/apis/GROUP/VERSION`.
    Resources(String, String),
    /// `/openapi/v3`.
    OpenApi,
    /// `/openapi/v3/apis/GROUP/VERSION`.
    Schemas(String, String),
    Version,
    /// `/readyz`, `/livez`, `/healthz`.
    Health,
    /// Objects of a kind.
    Objects(ObjectsRoute),
    /// The log of a Pod's container.
    Log(ObjectsRoute),
}

/// Objects of a kind, or one of them if there is a name.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct ObjectsRoute {
    pub(super) kind: usize,
    /// `None` for all namespaces, and for cluster-wide kinds.
    pub(super) namespace: Option<String>,
    pub(super) name: Option<String>,
}

impl Route {
    pub(super) fn of(path: &str, kinds: &[Kind]) -> Result<Self, ApiFailure> {
        let parts: Vec<String> = path
            .split('/')
            .filter(|part| !part.is_empty())
            .map(percent_decoded)
            .collect();
        let parts: Vec<&str> = parts.iter().map(String::as_str).collect();
        match parts.as_slice() {
            ["api"] => Ok(Self::CoreVersions),
            ["apis"] => Ok(Self::Groups),
            ["openapi", "v3"] => Ok(Self::OpenApi),
            ["openapi", "v3", "apis", group, version]
                if kinds
                    .iter()
                    .any(|kind| kind.is_of(group, version) && kind.schema.is_some()) =>
            {
                Ok(Self::Schemas((*group).to_owned(), (*version).to_owned()))
            }
            ["version"] => Ok(Self::Version),
            ["readyz" | "livez" | "healthz", ..] => Ok(Self::Health),
            ["api", version] => served("", version, kinds),
            ["apis", group] if kinds.iter().any(|kind| *kind.resource.group == **group) => {
                Ok(Self::Group((*group).to_owned()))
            }
            ["apis", group, version] => served(group, version, kinds),
            ["api", version, rest @ ..] => objects("", version, rest, kinds),
            ["apis", group, version, rest @ ..] => objects(group, version, rest, kinds),
            _ => Err(ApiFailure::no_such_path()),
        }
    }
}

fn served(group: &str, version: &str, kinds: &[Kind]) -> Result<Route, ApiFailure> {
    let is_served = kinds.iter().any(|kind| kind.is_of(group, version));
    if is_served {
        Ok(Route::Resources(group.to_owned(), version.to_owned()))
    } else {
        Err(ApiFailure::no_such_path())
    }
}

fn objects(group: &str, version: &str, rest: &[&str], kinds: &[Kind]) -> Result<Route, ApiFailure> {
    let find = |plural: &str| {
        let is_it = |kind: &Kind| kind.is_of(group, version) && *kind.resource.plural == *plural;
        kinds
            .iter()
            .position(is_it)
            .ok_or_else(ApiFailure::no_such_path)
    };
    let (namespace, plural, name) = match rest {
        ["namespaces", name] | ["namespaces", name, "status"] => (None, "namespaces", Some(*name)),
        ["namespaces", namespace, plural] => (Some(*namespace), *plural, None),
        ["namespaces", namespace, plural, name] => (Some(*namespace), *plural, Some(*name)),
        ["namespaces", namespace, plural, name, "status"] if kinds[find(plural)?].has_status => {
            (Some(*namespace), *plural, Some(*name))
        }
        [plural] => (None, *plural, None),
        [plural, name] => (None, *plural, Some(*name)),
        ["namespaces", namespace, "pods", name, "log"] if group.is_empty() => {
            return Ok(Route::Log(ObjectsRoute {
                kind: find("pods")?,
                namespace: Some((*namespace).to_owned()),
                name: Some((*name).to_owned()),
            }));
        }
        [plural, name, "status"] if kinds[find(plural)?].has_status => (None, *plural, Some(*name)),
        _ => return Err(ApiFailure::no_such_path()),
    };
    let kind = find(plural)?;
    let fits = if kinds[kind].resource.namespaced {
        namespace.is_some() || name.is_none()
    } else {
        namespace.is_none()
    };
    if !fits {
        return Err(ApiFailure::no_such_path());
    }
    Ok(Route::Objects(ObjectsRoute {
        kind,
        namespace: namespace.map(str::to_owned),
        name: name.map(str::to_owned),
    }))
}

/// The decoded parameters of a query.
#[derive(Debug, Default)]
pub(super) struct Query(Vec<(String, String)>);

impl Query {
    pub(super) fn of(query: Option<&str>) -> Self {
        let pairs = query
            .unwrap_or_default()
            .split('&')
            .filter(|pair| !pair.is_empty());
        let decode = |text: &str| percent_decoded(&text.replace('+', " "));
        Self(
            pairs
                .map(|pair| pair.split_once('=').unwrap_or((pair, "")))
                .map(|(name, value)| (decode(name), decode(value)))
                .collect(),
        )
    }

    /// The value of a parameter. An empty value counts as absent.
    pub(super) fn get(&self, name: &str) -> Option<&str> {
        let found = self.0.iter().find(|(known, _)| known == name);
        found
            .map(|(_, value)| value.as_str())
            .filter(|value| !value.is_empty())
    }

    pub(super) fn flag(&self, name: &str) -> bool {
        matches!(self.get(name), Some("1" | "true"))
    }

    /// The revision that `resourceVersion` names. A text that is no resourceVersion of this server is a 400.
    pub(super) fn revision(&self, versions: VersionText) -> Result<Option<u64>, ApiFailure> {
        let wrong = |text: &str| ApiFailure::bad_request(format!("Invalid value: {text:?}"));
        self.get("resourceVersion")
            .map(|text| versions.revision(text).ok_or_else(|| wrong(text)))
            .transpose()
    }

    /// A parsed parameter. A malformed one is a 400.
    pub(super) fn parsed<T: FromStr>(&self, name: &str) -> Result<Option<T>, ApiFailure> {
        let wrong = |text: &str| {
            ApiFailure::bad_request(format!("invalid value for parameter {name}: {text:?}"))
        };
        self.get(name)
            .map(|text| text.parse().map_err(|_| wrong(text)))
            .transpose()
    }
}

fn percent_decoded(text: &str) -> String {
    percent_encoding::percent_decode_str(text)
        .decode_utf8_lossy()
        .into_owned()
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum AnswerForm {
    /// The objects themselves.
    Full,
    /// Their metadata only.
    Metadata,
    /// The rows that kubectl prints.
    Table,
    /// Discovery in one document.
    Discovery,
}

/// Picks the first media type of an `Accept` header that the server supports for objects or for discovery.
pub(super) fn accepted(header: Option<&str>) -> Result<AnswerForm, ApiFailure> {
    let header = header.unwrap_or("*/*");
    header
        .split(',')
        .find_map(form_of)
        .ok_or_else(ApiFailure::not_acceptable)
}

fn form_of(range: &str) -> Option<AnswerForm> {
    let mut parts = range.split(';').map(str::trim);
    if !matches!(parts.next()?, "application/json" | "*/*" | "application/*") {
        return None;
    }
    let parameters: Vec<(&str, &str)> = parts.filter_map(|part| part.split_once('=')).collect();
    let parameter = |name: &str| {
        parameters
            .iter()
            .find(|(known, _)| *known == name)
            .map(|(_, value)| *value)
    };
    match (parameter("as"), parameter("g"), parameter("v")) {
        (None, _, _) => Some(AnswerForm::Full),
        (Some("Table"), Some("meta.k8s.io"), Some("v1")) => Some(AnswerForm::Table),
        (
            Some("PartialObjectMetadata" | "PartialObjectMetadataList"),
            Some("meta.k8s.io"),
            Some("v1"),
        ) => Some(AnswerForm::Metadata),
        (Some("APIGroupDiscoveryList"), Some("apidiscovery.k8s.io"), Some("v2")) => {
            Some(AnswerForm::Discovery)
        }
        _ => None,
    }
}
