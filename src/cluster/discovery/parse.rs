//! The documents of discovery, in the older and the aggregated form.

use serde::Deserialize;

use crate::object::{Resource, ResourceType};

/// The responses of `/api` and `/apis`. They contain groups with all their resources (`APIGroupDiscoveryList`,
/// Kubernetes 1.26 and later), or only the names of groups and versions.
#[derive(Debug, Default, Deserialize)]
#[serde(default)]
pub(super) struct DiscoveryRoot {
    kind: String,
    items: Vec<DiscoveredGroup>,
    /// In `APIVersions`: the versions of the core group.
    versions: Vec<String>,
    /// In `APIGroupList`: the other groups.
    groups: Vec<NamedGroup>,
}

#[derive(Debug, Deserialize)]
struct DiscoveredGroup {
    #[serde(default)]
    metadata: GroupName,
    #[serde(default)]
    versions: Vec<Served>,
}

#[derive(Debug, Default, Deserialize)]
#[serde(default)]
struct GroupName {
    name: String,
}

#[derive(Debug, Deserialize)]
struct Served {
    version: String,
    #[serde(default)]
    freshness: String,
    #[serde(default)]
    resources: Vec<Listed>,
}

#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
struct Listed {
    resource: String,
    response_kind: Option<KindName>,
    #[serde(default)]
    scope: String,
    #[serde(default)]
    singular_resource: String,
    #[serde(default)]
    short_names: Vec<String>,
    #[serde(default)]
    categories: Vec<String>,
    #[serde(default)]
    verbs: Vec<String>,
    #[serde(default)]
    subresources: Vec<Subresource>,
}

#[derive(Debug, Default, Deserialize)]
#[serde(default)]
struct Subresource {
    subresource: String,
}

#[derive(Debug, Default, Deserialize)]
#[serde(default)]
struct KindName {
    kind: String,
}

#[derive(Debug, Default, Deserialize)]
#[serde(default, rename_all = "camelCase")]
struct NamedGroup {
    name: String,
    versions: Vec<NamedVersion>,
    preferred_version: NamedVersion,
}

#[derive(Clone, Debug, Default, PartialEq, Deserialize)]
#[serde(default)]
struct NamedVersion {
    version: String,
}

/// The content of a discovery response.
pub(super) enum DiscoveryAnswer {
    /// All resource types, and the `GROUP/VERSION`s whose server did not answer.
    Types(Vec<ResourceType>, Vec<String>),
    /// The groups and versions to request one by one, each as `(group, version)`.
    Names(Vec<(String, String)>),
}

/// Parses a discovery response. The types are in the server's order: groups by rank, versions by preference.
pub(super) fn root(body: &[u8]) -> Result<DiscoveryAnswer, serde_json::Error> {
    let root: DiscoveryRoot = serde_json::from_slice(body)?;
    if root.kind == "APIGroupDiscoveryList" {
        return Ok(aggregated(root.items));
    }
    let core = root
        .versions
        .into_iter()
        .map(|version| (String::new(), version));
    let names = core.chain(root.groups.into_iter().flat_map(named));
    let names = names.filter(|(group, version)| is_group_version(group, version));
    Ok(DiscoveryAnswer::Names(names.collect()))
}

fn aggregated(groups: Vec<DiscoveredGroup>) -> DiscoveryAnswer {
    let (mut types, mut stale) = (Vec::new(), Vec::new());
    for group in groups {
        let name = group.metadata.name;
        for version in group.versions {
            if version.freshness == "Stale" {
                stale.push(group_version(&name, &version.version));
            }
            let listed = version.resources.into_iter();
            let read = listed.map(|listed| listed.into_type(&name, &version.version));
            types.extend(read.filter(can_be_asked_for));
        }
    }
    DiscoveryAnswer::Types(types, stale)
}

impl Listed {
    fn into_type(self, group: &str, version: &str) -> ResourceType {
        ResourceType {
            resource: Resource {
                group: group.into(),
                version: version.into(),
                plural: self.resource.into(),
                kind: self.response_kind.unwrap_or_default().kind.into(),
                namespaced: self.scope == "Namespaced",
            },
            singular: self.singular_resource,
            short_names: self.short_names,
            categories: self.categories,
            verbs: self.verbs,
            has_status: (self.subresources.iter()).any(|found| found.subresource == "status"),
        }
    }
}

/// Whether a type's names can be path segments without encoding, as all names that Kubernetes admits. Names from
/// a server must not be able to choose the next request.
fn can_be_asked_for(found: &ResourceType) -> bool {
    let Resource {
        group,
        version,
        plural,
        ..
    } = &found.resource;
    is_group_version(group, version) && is_segment(plural)
}

fn is_group_version(group: &str, version: &str) -> bool {
    (group.is_empty() || is_segment(group)) && is_segment(version)
}

fn is_segment(text: &str) -> bool {
    let is_plain = |byte: u8| byte.is_ascii_alphanumeric() || b"-_.:".contains(&byte);
    !matches!(text, "" | "." | "..") && text.bytes().all(is_plain)
}

/// The versions of a group. The preferred one comes first.
fn named(group: NamedGroup) -> impl Iterator<Item = (String, String)> {
    let NamedGroup {
        name,
        mut versions,
        preferred_version: preferred,
    } = group;
    versions.sort_by_key(|version| *version != preferred);
    versions
        .into_iter()
        .map(move |version| (name.clone(), version.version))
}

/// `apps/v1`, or `v1` for the core group.
pub(super) fn group_version(group: &str, version: &str) -> String {
    match group {
        "" => version.to_owned(),
        group => format!("{group}/{version}"),
    }
}

pub(super) fn resources(
    body: &[u8],
    group: &str,
    version: &str,
) -> Result<Vec<ResourceType>, serde_json::Error> {
    #[derive(Deserialize)]
    struct GroupDiscoveryList {
        #[serde(default)]
        resources: Vec<Plain>,
    }
    #[derive(Deserialize)]
    #[serde(rename_all = "camelCase")]
    struct Plain {
        name: String,
        #[serde(default)]
        singular_name: String,
        #[serde(default)]
        namespaced: bool,
        kind: String,
        #[serde(default)]
        short_names: Vec<String>,
        #[serde(default)]
        categories: Vec<String>,
        #[serde(default)]
        verbs: Vec<String>,
    }
    let list: GroupDiscoveryList = serde_json::from_slice(body)?;
    let (types, subresources): (Vec<Plain>, Vec<Plain>) = list
        .resources
        .into_iter()
        .partition(|plain| !plain.name.contains('/'));
    let has_status = |plural: &str| {
        let mut all = subresources.iter();
        all.any(|plain| plain.name.strip_suffix("/status") == Some(plural))
    };
    let types = types.into_iter();
    let types = types.map(|plain| ResourceType {
        has_status: has_status(&plain.name),
        resource: Resource {
            group: group.into(),
            version: version.into(),
            plural: plain.name.into(),
            kind: plain.kind.into(),
            namespaced: plain.namespaced,
        },
        singular: plain.singular_name,
        short_names: plain.short_names,
        categories: plain.categories,
        verbs: plain.verbs,
    });
    Ok(types.filter(can_be_asked_for).collect())
}
