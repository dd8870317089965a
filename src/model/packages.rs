//! Packages: objects that a tool has applied together, and what their states are as a whole.
//!
//! A package has an object of its own, which lists its members, or it is a label or annotation that its members share.

use std::collections::BTreeMap;
use std::sync::Arc;

use rustc_hash::FxHashMap;

use super::around::Around;
use super::object::ModelObject;
use super::objects::Absence;
use super::rules::members::{AbsentMember, MemberGap, absent_members};
use crate::graph::Node;
use crate::object::{GroupKind, ObjectRef, ResourceVersion, Uid};
use crate::status::Status;

/// The labels with which Flux marks what a `HelmRelease` has applied
/// (<https://fluxcd.io/flux/components/helm/helmreleases/>).
const FLUX_RELEASE: [&str; 2] = [
    "helm.toolkit.fluxcd.io/name",
    "helm.toolkit.fluxcd.io/namespace",
];
/// The label with which Helm marks its objects, and the annotations that name the release
/// (<https://helm.sh/docs/faq/changes_since_helm2/#three-way-strategic-merge-patches>).
const HELM: (&str, &str) = ("app.kubernetes.io/managed-by", "Helm");
const HELM_RELEASE: [&str; 2] = [
    "meta.helm.sh/release-name",
    "meta.helm.sh/release-namespace",
];

/// What makes objects a package.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum PackageTool {
    /// A `ResourceGroup` of kpt and Config Sync.
    ResourceGroup,
    /// An inventory `ConfigMap` of cli-utils.
    CliUtils,
    /// A Kustomization or a `HelmRelease` of Flux.
    Flux,
    /// An Application of Argo CD.
    Argo,
    /// A release of Helm.
    Helm,
    /// The value of this label.
    Label(Arc<str>),
}

impl PackageTool {
    /// Its name in records and metrics; of a label, its key.
    pub fn name(&self) -> &str {
        match self {
            PackageTool::ResourceGroup => "resourcegroup",
            PackageTool::CliUtils => "cli-utils",
            PackageTool::Flux => "flux",
            PackageTool::Argo => "argo",
            PackageTool::Helm => "helm",
            PackageTool::Label(key) => key,
        }
    }

    /// What the state of the object of a package says about the whole. A `ResourceGroup` can have the conditions that a document of
    /// its members gave it, so only its members count.
    fn of_own(&self, own: Status) -> Status {
        match self {
            PackageTool::Flux | PackageTool::Argo => own,
            PackageTool::ResourceGroup
            | PackageTool::CliUtils
            | PackageTool::Helm
            | PackageTool::Label(_) => match own {
                Status::Terminating => Status::Terminating,
                _ => Status::Current,
            },
        }
    }

    /// The tool whose package an object is; `None` for other objects.
    fn of_root(node: &Node) -> Option<PackageTool> {
        match (node.object.group(), &*node.object.kind) {
            ("kpt.dev", "ResourceGroup") => Some(PackageTool::ResourceGroup),
            ("", "ConfigMap") => {
                let label = node.label("cli-utils.sigs.k8s.io/inventory-id");
                label.map(|_| PackageTool::CliUtils)
            }
            ("kustomize.toolkit.fluxcd.io", "Kustomization")
            | ("helm.toolkit.fluxcd.io", "HelmRelease") => Some(PackageTool::Flux),
            ("argoproj.io", "Application") => Some(PackageTool::Argo),
            _ => None,
        }
    }
}

/// A package and the states of its members.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Package {
    /// What makes it a package.
    pub tool: PackageTool,
    /// Its namespace; `None` for a label.
    pub namespace: Option<Arc<str>>,
    /// Its name, or the value of the label.
    pub name: Arc<str>,
    /// Its own object, if it has one.
    pub root: Option<ObjectRef>,
    /// The state of the whole.
    pub status: Status,
    /// Its members in the order of their names.
    pub members: Vec<PackageMember>,
    /// How many members are in another cluster, where nobody looks.
    pub remote: usize,
    /// The generation of its object.
    pub generation: Option<i64>,
    /// The generation that its controller has observed.
    pub observed: Option<i64>,
}

/// A member of a package.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PackageMember {
    /// The member.
    pub object: ObjectRef,
    /// Its state, with that of its dependents.
    pub status: Status,
}

impl Package {
    /// The number of members with each state, in the order of [`Status::ALL`]. Those in another cluster are `Unknown`.
    pub fn counts(&self) -> [(Status, usize); 6] {
        Status::ALL.map(|status| {
            let members = self.members.iter().filter(|member| member.status == status);
            let remote = if status == Status::Unknown {
                self.remote
            } else {
                0
            };
            (status, members.count() + remote)
        })
    }

    /// The members in a few words: `12 resources: 10 Current, 2 InProgress`.
    pub fn summary(&self) -> String {
        let counts = self.counts();
        let total: usize = counts.iter().map(|(_, count)| count).sum();
        let some = counts.iter().filter(|(_, count)| *count > 0);
        let some: Vec<String> = some
            .map(|(status, count)| format!("{count} {status}"))
            .collect();
        let noun = if total == 1 { "resource" } else { "resources" };
        match total {
            0 => "no resources".to_owned(),
            total => format!("{total} {noun}: {}", some.join(", ")),
        }
    }
}

/// The state of several objects as a whole, by the rule of cli-utils. But a member that does not exist has failed, as in `status`
/// (<https://github.com/kubernetes-sigs/cli-utils/blob/master/pkg/kstatus/polling/aggregator/aggregator.go>).
fn whole(states: &[Status]) -> Status {
    let any = |wanted: Status| states.contains(&wanted);
    match () {
        () if any(Status::Failed) || any(Status::NotFound) => Status::Failed,
        () if any(Status::Unknown) => Status::Unknown,
        () if states.iter().all(|status| *status == Status::Current) => Status::Current,
        () => Status::InProgress,
    }
}

/// A package by its name.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
struct PackageName {
    namespace: Option<Arc<str>>,
    name: Arc<str>,
    tool: PackageTool,
    /// The kind of its object. A Kustomization and a `HelmRelease` can have one name.
    kind: Option<GroupKind>,
}

/// The Helm release of each version of an object that has the label of Helm.
type Releases = FxHashMap<Uid, (ResourceVersion, Option<PackageName>)>;

/// The packages of these tools.
#[derive(Debug, Default)]
pub struct PackageIndex {
    tools: Vec<PackageTool>,
    releases: Releases,
}

impl PackageIndex {
    /// The packages of these tools, none of which was looked for yet.
    pub fn new(tools: Vec<PackageTool>) -> PackageIndex {
        PackageIndex {
            tools,
            releases: Releases::default(),
        }
    }

    /// All packages in a model, in the order of their names.
    pub(super) fn packages(&mut self, around: Around<'_>) -> Vec<Package> {
        if self.tools.is_empty() {
            return Vec::new();
        }
        self.releases.retain(|uid, _| around.object(uid).is_some());
        let mut named = self.named(around);
        let roots = present(around).filter_map(|(node, _)| {
            let tool = PackageTool::of_root(node).filter(|tool| self.tools.contains(tool))?;
            Some(package_of(around, node, tool))
        });
        let mut packages: Vec<Package> = roots.collect();
        for package in &mut packages {
            if let Some(members) = named.remove(&name_of_root(package)) {
                package.members.extend(members);
                settle(package);
            }
        }
        let rest = named.into_iter();
        packages.extend(rest.map(|(name, members)| shared(name, members)));
        packages.sort_by_cached_key(|package| {
            (
                package.namespace.clone(),
                package.name.clone(),
                package.tool.clone(),
            )
        });
        packages
    }

    /// The objects that name a package as theirs, by labels and annotations. What a member has created has its labels, too, and
    /// does not count.
    fn named(&mut self, around: Around<'_>) -> BTreeMap<PackageName, Vec<PackageMember>> {
        let mut named: BTreeMap<PackageName, Vec<PackageMember>> = BTreeMap::new();
        for (node, object) in present(around) {
            if around.graph().owners(&node.uid).next().is_some() {
                continue;
            }
            for name in self.names(around, node, object) {
                named.entry(name).or_default().push(member(object));
            }
        }
        named
    }

    /// The packages that an object names as its own.
    fn names(&mut self, around: Around<'_>, node: &Node, object: &ModelObject) -> Vec<PackageName> {
        let PackageIndex { tools, releases } = self;
        let mut names = Vec::new();
        for tool in tools.iter() {
            match tool {
                PackageTool::Label(key) => names.extend(node.label(key).map(|value| PackageName {
                    namespace: None,
                    name: value.into(),
                    tool: tool.clone(),
                    kind: None,
                })),
                PackageTool::Flux => names.extend(flux_release(node)),
                PackageTool::Helm if node.label(HELM.0) == Some(HELM.1) => {
                    names.extend(helm_release(releases, around, object));
                }
                PackageTool::Helm
                | PackageTool::ResourceGroup
                | PackageTool::CliUtils
                | PackageTool::Argo => {}
            }
        }
        names
    }
}

/// The objects that are there.
fn present(around: Around<'_>) -> impl Iterator<Item = (&Node, &ModelObject)> {
    let objects = around.objects();
    let objects = objects.filter(|(_, object)| object.departure.is_none());
    objects.filter_map(move |(uid, object)| Some((around.graph().node(uid)?, object)))
}

/// The release that the annotations of an object name. Each version is parsed once.
fn helm_release(
    releases: &mut Releases,
    around: Around<'_>,
    object: &ModelObject,
) -> Option<PackageName> {
    let uid = object.object.identity();
    let version = object.version()?.version.clone();
    if let Some((known, name)) = releases.get(&uid)
        && *known == version
    {
        return name.clone();
    }
    let doc = around.doc(&uid)?;
    let [release, namespace] =
        HELM_RELEASE.map(|key| doc.root().text_at(&["metadata", "annotations", key]));
    let name = release.map(|release| PackageName {
        namespace: namespace.map(|namespace| Arc::from(&*namespace)),
        name: Arc::from(&*release),
        tool: PackageTool::Helm,
        kind: None,
    });
    releases.insert(uid, (version, name.clone()));
    name
}

/// The packages that objects of a model are.
#[derive(Debug)]
pub struct ObjectPackages<'m> {
    around: Around<'m>,
    /// What names its `HelmRelease`. The objects of other packages list their members.
    released: BTreeMap<PackageName, Vec<PackageMember>>,
}

impl ObjectPackages<'_> {
    /// Looks once for the members that name their packages.
    pub(super) fn of(around: Around<'_>) -> ObjectPackages<'_> {
        let released = PackageIndex::new(vec![PackageTool::Flux]).named(around);
        ObjectPackages { around, released }
    }

    /// The package that an object is. An object that is no package of a tool is one with a single member: itself.
    pub fn package(&self, uid: &Uid) -> Option<Package> {
        let around = self.around;
        let node = around.graph().node(uid)?;
        if let Some(tool) = PackageTool::of_root(node) {
            let mut package = package_of(around, node, tool);
            if let Some(members) = self.released.get(&name_of_root(&package)) {
                package.members.extend(members.iter().cloned());
                settle(&mut package);
            }
            return Some(package);
        }
        let object = around.object(uid)?;
        let [generation, observed] = generations(around, uid);
        Some(Package {
            tool: PackageTool::ResourceGroup,
            namespace: object.object.namespace.clone(),
            name: object.object.name.clone(),
            root: Some((*object.object).clone()),
            status: object.assessment.status(),
            members: vec![member(object)],
            remote: 0,
            generation,
            observed,
        })
    }
}

/// The package of an object that lists its members.
fn package_of(around: Around<'_>, node: &Node, tool: PackageTool) -> Package {
    let present = around.graph().members(&node.uid);
    let present = present
        .filter_map(|node| around.object(&node.uid))
        .map(member);
    let absent = absent_members(around, &node.uid).into_iter();
    let absent = absent.map(|AbsentMember { target, why }| PackageMember {
        object: target.object(around.types()),
        status: match why {
            MemberGap::Absent(Absence::Missing) => Status::NotFound,
            MemberGap::Absent(_) | MemberGap::Beyond => Status::Unknown,
        },
    });
    let remote = around.graph().remote_members(&node.uid);
    let [generation, observed] = generations(around, &node.uid);
    let own = around.object(&node.uid);
    let own = own.map_or(Status::Unknown, |own| own.assessment.status());
    let mut package = Package {
        status: tool.of_own(own),
        tool,
        namespace: node.object.namespace.clone(),
        name: node.object.name.clone(),
        root: Some((*node.object).clone()),
        members: present.chain(absent).collect(),
        remote: remote.map_or(0, |remote| remote.count),
        generation,
        observed,
    };
    settle(&mut package);
    package
}

/// The package of objects that share a label or a release.
fn shared(name: PackageName, members: Vec<PackageMember>) -> Package {
    let mut package = Package {
        tool: name.tool,
        namespace: name.namespace,
        name: name.name,
        root: None,
        status: Status::Current,
        members,
        remote: 0,
        generation: None,
        observed: None,
    };
    settle(&mut package);
    package
}

/// Sorts the members, and adds their states to that of the package.
fn settle(package: &mut Package) {
    let key = |member: &PackageMember| {
        let object = &member.object;
        let group: Arc<str> = object.group().into();
        (
            object.namespace.clone(),
            group,
            object.kind.clone(),
            object.name.clone(),
        )
    };
    package.members.sort_by_cached_key(key);
    package
        .members
        .dedup_by(|next, first| next.object == first.object);
    if package.status == Status::Terminating {
        return;
    }
    let members = package.members.iter().map(|member| member.status);
    let states: Vec<Status> = members.chain([package.status]).collect();
    package.status = whole(&states);
}

fn name_of_root(package: &Package) -> PackageName {
    PackageName {
        namespace: package.namespace.clone(),
        name: package.name.clone(),
        tool: package.tool.clone(),
        kind: package.root.as_ref().map(ObjectRef::group_kind),
    }
}

fn member(object: &ModelObject) -> PackageMember {
    let is_there = object.departure.is_none();
    PackageMember {
        object: (*object.object).clone(),
        status: if is_there {
            object.assessment.status()
        } else {
            Status::NotFound
        },
    }
}

/// The `HelmRelease` that the labels of an object name.
fn flux_release(node: &Node) -> Option<PackageName> {
    let [name, namespace] = FLUX_RELEASE.map(|key| node.label(key));
    Some(PackageName {
        namespace: Some(namespace?.into()),
        name: name?.into(),
        tool: PackageTool::Flux,
        kind: Some(GroupKind {
            group: "helm.toolkit.fluxcd.io".into(),
            kind: "HelmRelease".into(),
        }),
    })
}

/// `metadata.generation` and `status.observedGeneration`.
fn generations(around: Around<'_>, uid: &Uid) -> [Option<i64>; 2] {
    let doc = around.doc(uid);
    let paths: [&[&str]; 2] = [
        &["metadata", "generation"],
        &["status", "observedGeneration"],
    ];
    paths.map(|path| doc.as_ref()?.root().i64_at(path))
}
