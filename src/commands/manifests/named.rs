//! From manifests to the objects that they name.

use std::sync::Arc;

use super::read::Manifest;
use crate::cluster::{ArgumentError, InvalidPart, Names, Part, Resolver, Target};
use crate::commands::CommandError;
use crate::object::selector::LabelSelector;
use crate::object::{Kind, ObjectRef, Resource, Value};

/// Where the objects of manifests are looked for.
pub(crate) struct ManifestPlace {
    /// The namespace of objects that name none.
    pub(crate) namespace: Arc<str>,
    /// Whether it was given with `-n`: then no object may name another.
    pub(crate) is_given: bool,
}

/// How many objects may be named: each has a list and a watch of its own, so that permissions by
/// `resourceNames` suffice and nothing else is sent.
const MANY: usize = 500;

/// What decides which objects are meant.
pub(super) struct Naming<'n> {
    pub(super) resolver: &'n Resolver,
    pub(super) place: &'n ManifestPlace,
    /// `-A`: every object has to say where it is.
    pub(super) everywhere: bool,
    /// `-l`: only manifests with such labels count.
    pub(super) labels: LabelSelector,
    /// What the user runs.
    pub(super) verb: &'n str,
}

impl Naming<'_> {
    /// The objects that the manifests name.
    pub(super) async fn targets(
        &self,
        manifests: &[Manifest],
    ) -> Result<Vec<Target>, CommandError> {
        let mut targets: Vec<Target> = Vec::new();
        let mut count = 0;
        for manifest in manifests {
            let root = manifest.doc.root();
            let object = check(root, self.verb).map_err(|wrong| wrong.at(manifest))?;
            if !self.is_selected(root) {
                continue;
            }
            let resource = match self.resource(&object).await? {
                Some(resource) => resource,
                None => defined(&object, manifests).ok_or_else(|| unmapped(&object, manifest))?,
            };
            let namespace = self.namespace(&resource, &object, manifest)?;
            count += usize::from(add(&mut targets, resource, namespace, object.name));
        }
        match count {
            0 => Err(CommandError::failed(format!(
                "error: no objects passed to {}",
                self.verb
            ))),
            count if count > MANY => Err(CommandError::failed(format!(
                "error: the manifests name {count} objects, but the limit is {MANY}"
            ))
            .hint("show their types instead: TYPE,TYPE with -l or -n")),
            _ => Ok(targets),
        }
    }

    fn is_selected(&self, object: Value<'_>) -> bool {
        let label = |name: &str| object.str_at(&["metadata", "labels", name]);
        self.labels.matches(label)
    }

    async fn resource(&self, object: &ObjectRef) -> Result<Option<Resource>, CommandError> {
        let ask = self.resolver.of_kind(&object.api_version, &object.kind);
        Ok(ask.await?)
    }

    /// Where an object is.
    fn namespace(
        &self,
        resource: &Resource,
        object: &ObjectRef,
        manifest: &Manifest,
    ) -> Result<Option<Arc<str>>, CommandError> {
        let current = &self.place.namespace;
        match &object.namespace {
            _ if !resource.namespaced => Ok(None),
            None if self.everywhere => Err(ArgumentError::NameEverywhere.into()),
            None => Ok(Some(current.clone())),
            Some(own) if self.place.is_given && !self.everywhere && own != current => {
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

/// Adds an object to the target of its type and namespace; says whether it is a new one.
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

/// Why a document names no object.
struct Wrong {
    what: String,
    hint: Option<&'static str>,
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

/// The object that a document names.
fn check(root: Value<'_>, verb: &str) -> Result<ObjectRef, Wrong> {
    let wrong = |what: &str| Wrong {
        what: what.to_owned(),
        hint: None,
    };
    let object = ObjectRef::of(root);
    match root.str_at(&["metadata", "generateName"]) {
        _ if root.kind() != Kind::Object => Err(wrong("not an object")),
        _ if object.kind.is_empty() => Err(wrong("Object 'Kind' is missing")),
        _ if object.api_version.is_empty() => Err(wrong("Object 'apiVersion' is missing")),
        _ if !object.name.is_empty() => match parts(&object) {
            Ok(()) => Ok(object),
            Err(error) => Err(Wrong {
                what: error.to_string(),
                hint: Some("correct metadata.name or metadata.namespace in the manifest"),
            }),
        },
        Some(prefix) => Err(Wrong {
            what: format!("from {prefix}: cannot use generate name with {verb}"),
            hint: Some("name the created object: TYPE/NAME"),
        }),
        None => Err(wrong("resource name may not be empty")),
    }
}

/// Refuses names that would be something else in a request.
fn parts(object: &ObjectRef) -> Result<(), InvalidPart> {
    Part::Name.check(&object.name)?;
    let mut namespace = object.namespace.iter();
    namespace.try_for_each(|namespace| Part::Namespace.check(namespace))
}

/// The resource of a kind that one of the manifests defines: its `CustomResourceDefinition` may be yet
/// to be applied, and is waited for as the object is.
fn defined(object: &ObjectRef, manifests: &[Manifest]) -> Option<Resource> {
    let (group, version) = object.api_version.split_once('/')?;
    let roots = manifests.iter().map(|manifest| manifest.doc.root());
    let mut definitions = roots.filter(|root| {
        let is = |path: &[&str], text: &str| root.str_at(path).is_some_and(|found| found == text);
        is(&["kind"], "CustomResourceDefinition")
            && is(&["spec", "group"], group)
            && is(&["spec", "names", "kind"], &object.kind)
    });
    let definition = definitions.next()?;
    Some(Resource {
        group: group.into(),
        version: version.into(),
        plural: (&*definition.str_at(&["spec", "names", "plural"])?).into(),
        kind: object.kind.clone(),
        namespaced: definition.str_at(&["spec", "scope"])? == "Namespaced",
    })
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
