//! `ManifestResolver`: resolves manifests to targets.

use std::sync::Arc;

use super::read::Manifest;
use crate::cluster::{ArgumentError, InvalidPart, Names, PathSegment, Resolver, Target};
use crate::commands::CommandError;
use crate::commands::input::remedy;
use crate::object::selector::LabelSelector;
use crate::object::{Kind, ObjectRef, Resource, Value};
use crate::watch::foreign_object;

/// The targets of manifests.
pub(crate) struct ResolvedTargets {
    /// The targets.
    pub(crate) targets: Vec<Target>,
    /// The errors of manifests that cannot be resolved.
    pub(crate) errors: Vec<CommandError>,
}

impl From<Vec<Target>> for ResolvedTargets {
    fn from(targets: Vec<Target>) -> ResolvedTargets {
        ResolvedTargets {
            targets,
            errors: Vec::new(),
        }
    }
}

/// The most objects that manifests may name. Each object has its own list and watch, so that permissions by
/// `resourceNames` are enough and the server sends no other objects.
const MANY: usize = 500;

/// Resolves manifests.
pub(crate) struct ManifestResolver<'r> {
    /// Knows the types.
    pub(crate) types: &'r Resolver,
    /// The namespace of objects without one.
    pub(crate) namespace: Arc<str>,
    /// Whether the user passed it with `-n`. Then an object with another namespace is an error.
    pub(crate) is_given: bool,
    /// `-A`: every object must have a namespace.
    pub(crate) everywhere: bool,
    /// `-l`: only manifests with these labels count.
    pub(crate) labels: LabelSelector,
    /// The verb that the user runs.
    pub(crate) verb: &'r str,
}

impl ManifestResolver<'_> {
    /// The targets of the manifests, one for each type and namespace, in the order of their first object. Fails if they name
    /// no object or too many.
    pub(crate) async fn targets(
        &self,
        manifests: &[Manifest],
    ) -> Result<ResolvedTargets, CommandError> {
        let mut targets: Vec<Target> = Vec::new();
        let (mut count, mut errors) = (0, Vec::new());
        for manifest in manifests {
            match self.named(manifest, manifests).await? {
                Named::Object(object, resource, namespace) => {
                    count += usize::from(add(&mut targets, resource, namespace, object.name));
                }
                Named::NotSelected => {}
                Named::Wrong(error) => errors.push(error),
            }
        }
        match count {
            0 => Err(errors
                .into_iter()
                .reduce(CommandError::and)
                .unwrap_or_else(|| {
                    CommandError::failed(format!("error: no objects passed to {}", self.verb))
                })),
            count if count > MANY => Err(CommandError::failed(format!(
                "error: the manifests name {count} objects, but the limit is {MANY}"
            ))
            .hint("show their types instead: TYPE,TYPE with -l or -n")),
            _ => Ok(ResolvedTargets { targets, errors }),
        }
    }

    /// What a manifest names. Fails if the server does not answer.
    async fn named(
        &self,
        manifest: &Manifest,
        manifests: &[Manifest],
    ) -> Result<Named, CommandError> {
        let root = manifest.doc.root();
        let object = match check(root, self.verb) {
            Ok(object) => object,
            Err(wrong) => return Ok(Named::Wrong(wrong.at(manifest))),
        };
        if !self.is_selected(root) {
            return Ok(Named::NotSelected);
        }
        let known = self.resource(&object).await?;
        let Some(resource) = known.or_else(|| defined(&object, manifests)) else {
            return Ok(Named::Wrong(unmapped(&object, manifest)));
        };
        let namespace = self.namespace(&resource, &object, manifest)?;
        Ok(Named::Object(object, resource, namespace))
    }

    fn is_selected(&self, object: Value<'_>) -> bool {
        let label = |name: &str| object.str_at(&["metadata", "labels", name]);
        self.labels.matches(label)
    }

    async fn resource(&self, object: &ObjectRef) -> Result<Option<Resource>, CommandError> {
        let ask = self.types.of_kind(&object.api_version, &object.kind);
        Ok(ask.await?)
    }

    /// The namespace of an object; `None` for cluster-scoped kinds.
    fn namespace(
        &self,
        resource: &Resource,
        object: &ObjectRef,
        manifest: &Manifest,
    ) -> Result<Option<Arc<str>>, CommandError> {
        let current = &self.namespace;
        match &object.namespace {
            _ if !resource.namespaced => Ok(None),
            None if self.everywhere => Err(ArgumentError::NameEverywhere.into()),
            None => Ok(Some(current.clone())),
            Some(own) if self.is_given && !self.everywhere && own != current => {
                let error = CommandError::failed(format!(
                    "error: the namespace from the provided object \"{own}\" does not match the namespace \
                     \"{current}\". You must pass '--namespace={own}' to perform this operation."
                ));
                Err(error.hint(format!(
                    "check {object} in {}, line {}",
                    manifest.path, manifest.line
                )))
            }
            Some(own) => Ok(Some(own.clone())),
        }
    }
}

/// What a manifest names.
enum Named {
    /// An object of this resource and namespace.
    Object(ObjectRef, Resource, Option<Arc<str>>),
    /// An object that `-l` does not select.
    NotSelected,
    /// Nothing, and why.
    Wrong(CommandError),
}

/// Adds an object to the target of its type and namespace. Returns whether the object is new.
fn add(
    targets: &mut Vec<Target>,
    resource: Resource,
    namespace: Option<Arc<str>>,
    name: Arc<str>,
) -> bool {
    let is_same =
        |target: &&mut Target| target.resource == resource && target.namespace == namespace;
    if let Some(target) = targets.iter_mut().find(is_same) {
        let Names::Named(names) = &mut target.names else {
            return false; // manifests name each object
        };
        let is_new = !names.contains(&name);
        if is_new {
            names.push(name);
        }
        return is_new;
    }
    targets.push(Target {
        resource,
        namespace,
        names: Names::Named(vec![name]),
        labels: None,
        fields: None,
    });
    true
}

/// The error of a document that does not name an object.
struct Wrong {
    what: String,
    hint: Option<String>,
}

impl Wrong {
    fn at(self, manifest: &Manifest) -> CommandError {
        let Manifest { path, line, .. } = manifest;
        let error = CommandError::failed(format!("error: {path}: line {line}: {}", self.what));
        match self.hint {
            Some(hint) => error.hint(hint),
            None => error,
        }
    }
}

/// The object that a document names. Fails without a type or a name.
fn check(root: Value<'_>, verb: &str) -> Result<ObjectRef, Wrong> {
    let object = ObjectRef::of(root);
    let wrong = |what: &str| Wrong {
        what: what.to_owned(),
        hint: foreign_object(&object, root).map(|foreign| remedy(foreign, "-f")),
    };
    match root.str_at(&["metadata", "generateName"]) {
        _ if root.kind() != Kind::Object => Err(wrong("not an object")),
        _ if object.kind.is_empty() => Err(wrong("Object 'Kind' is missing")),
        _ if object.api_version.is_empty() => Err(wrong("Object 'apiVersion' is missing")),
        _ if !object.name.is_empty() => match parts(&object) {
            Ok(()) => Ok(object),
            Err(error) => Err(Wrong {
                what: error.to_string(),
                hint: Some(
                    "correct metadata.name or metadata.namespace in the manifest".to_owned(),
                ),
            }),
        },
        Some(prefix) => Err(Wrong {
            what: format!("from {prefix}: cannot use generate name with {verb}"),
            hint: Some("name the created object: TYPE/NAME".to_owned()),
        }),
        None => Err(wrong("resource name may not be empty")),
    }
}

/// Refuses names that would change the path of a request.
fn parts(object: &ObjectRef) -> Result<(), InvalidPart> {
    PathSegment::Name.check(&object.name)?;
    let mut namespace = object.namespace.iter();
    namespace.try_for_each(|namespace| PathSegment::Namespace.check(namespace))
}

/// The resource of a kind that one of the manifests defines. Its `CustomResourceDefinition` may not exist in the cluster
/// yet; then the verb waits for it, as for the object.
fn defined(object: &ObjectRef, manifests: &[Manifest]) -> Option<Resource> {
    let mut roots = manifests.iter().map(|manifest| manifest.doc.root());
    roots.find_map(|root| Resource::defined_by(root, object))
}

/// kubectl's error for a kind that the cluster does not serve.
fn unmapped(object: &ObjectRef, manifest: &Manifest) -> CommandError {
    let ObjectRef {
        api_version,
        kind,
        namespace,
        name,
        ..
    } = object;
    let namespace = namespace.as_deref().unwrap_or_default();
    let path = &manifest.path;
    CommandError::failed(format!(
        "error: resource mapping not found for name: \"{name}\" namespace: \"{namespace}\" from \"{path}\": \
         no matches for kind \"{kind}\" in version \"{api_version}\""
    ))
    .hint("ensure CRDs are installed first")
}
