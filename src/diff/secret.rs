//! Knows where Secret values are: in `data` and `stringData` of core/v1 Secrets, wherever such an object
//! occurs, and in the copies of a Secret that annotations contain.
//!
//! A manifest may be one that the API server would refuse, and its values are secrets all the same. So the case of letters in
//! kinds and keys does not count, nor does the version.
//!
//! Tools keep such copies as JSON, as JSON inside JSON, as YAML, as gzip in base64. No list of encodings can be
//! complete. So a Secret's annotation is hidden unless its key is known to be harmless.

use base64::Engine;
use base64::alphabet::STANDARD;
use base64::engine::{GeneralPurpose, GeneralPurposeConfig};

use crate::object::{Doc, Kind, Value};

/// What a digest begins with.
pub(super) const DIGEST_PREFIX: &str = "spy:";

/// How a value is protected, known from its path alone. If in doubt, it is hidden.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Guard {
    /// Not protected so far; the value itself may turn out to be a Secret.
    Open,
    Metadata(AnnotationOwner),
    /// The annotations of that object.
    Annotations(AnnotationOwner),
    /// One annotation, whose text may contain a copy of a Secret.
    Annotation(Annotation),
    /// A `SecretList`. Its items may lack `kind`, and are Secrets all the same.
    SecretList,
    SecretItems,
    /// A Secret, or a part of one that has no variant of its own.
    Secret,
    /// The map `data` or `stringData` of a Secret.
    Map(Coding),
    /// A value of that map.
    Value(Coding),
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum AnnotationOwner {
    Secret,
    Other,
}

/// The encoding of a Secret's value.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Coding {
    Base64,
    Plain,
}

/// The kind of an annotation, by its owner and its key.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Annotation {
    /// An annotation of another object. The text may be JSON that contains a Secret.
    OfOther,
    /// A Secret's annotation under a key that is known to be harmless.
    Harmless,
    /// A Secret's annotation in which `kubectl apply` keeps the applied manifest.
    LastApplied,
    /// A Secret's annotation under any other key.
    Private,
}

impl Guard {
    /// The guard once both versions of the value are known: an open guard may turn out to protect a Secret.
    #[inline]
    pub(super) fn enter(self, old: Option<Value<'_>>, new: Option<Value<'_>>) -> Guard {
        if self != Guard::Open {
            return self;
        }
        let of = |side: Option<Value<'_>>| match side {
            Some(object) if object.kind() == Kind::Object => of_kind(object),
            Some(_) | None => Guard::Open,
        };
        match (of(old), of(new)) {
            (found, Guard::Open | Guard::SecretList) if found != Guard::Open => found,
            (_, found) => found,
        }
    }

    pub(super) fn field(self, name: &str) -> Guard {
        let is = |word: &str| name.eq_ignore_ascii_case(word);
        match self {
            Guard::Secret if is("data") => Guard::Map(Coding::Base64),
            Guard::Secret if is("stringData") => Guard::Map(Coding::Plain),
            Guard::Secret if is("metadata") => Guard::Metadata(AnnotationOwner::Secret),
            Guard::Open | Guard::SecretList if is("metadata") => {
                Guard::Metadata(AnnotationOwner::Other)
            }
            Guard::SecretList if is("items") => Guard::SecretItems,
            Guard::Metadata(owner) if is("annotations") => Guard::Annotations(owner),
            Guard::Annotations(owner) => Guard::Annotation(Annotation::new(owner, name)),
            Guard::Secret | Guard::SecretItems => Guard::Secret,
            Guard::Open | Guard::SecretList | Guard::Metadata(_) => Guard::Open,
            Guard::Map(coding) | Guard::Value(coding) => Guard::Value(coding),
            Guard::Annotation(_) => self,
        }
    }

    pub(super) fn item(self) -> Guard {
        match self {
            Guard::SecretItems => Guard::Secret,
            Guard::Metadata(_) => Guard::Open,
            other => other,
        }
    }

    /// Whether the value is hidden as a whole.
    #[inline]
    pub(super) fn hides(self, value: Value<'_>) -> bool {
        self != Guard::Open && self.hides_some(value)
    }

    fn hides_some(self, value: Value<'_>) -> bool {
        match self {
            Guard::Map(_) => !matches!(value.kind(), Kind::Object | Kind::Null),
            Guard::Value(_) => !value.is_null(),
            Guard::Annotations(AnnotationOwner::Secret) => {
                !matches!(value.kind(), Kind::Object | Kind::Null)
            }
            Guard::Annotation(annotation) => annotation.hides(value),
            Guard::Open
            | Guard::Metadata(_)
            | Guard::Annotations(AnnotationOwner::Other)
            | Guard::SecretList
            | Guard::SecretItems
            | Guard::Secret => false,
        }
    }

    /// Whether a change of this value is a change of a Secret value.
    pub(super) fn is_secret(self) -> bool {
        matches!(self, Guard::Map(_) | Guard::Value(_))
    }
}

/// The guard that an object's own `kind` and `apiVersion` ask for. An object with a kind and no version
/// counts as a Secret, because it may be part of one. So does one of any version without a group.
pub(super) fn of_kind(object: Value<'_>) -> Guard {
    let named = |key: &'static str| {
        let fields = object.counting_fields();
        let named = fields.filter(move |field| field.name().eq_ignore_ascii_case(key));
        named.filter_map(Value::as_str)
    };
    let guard = named("kind").find_map(|kind| match &*kind {
        kind if kind.eq_ignore_ascii_case("Secret") => Some(Guard::Secret),
        kind if kind.eq_ignore_ascii_case("SecretList") => Some(Guard::SecretList),
        _ => None,
    });
    let Some(guard) = guard else {
        return Guard::Open;
    };
    let has_group = |version: &str| {
        version
            .split_once('/')
            .is_some_and(|(group, _)| !group.is_empty())
    };
    let is_foreign = named("apiVersion").any(|version| has_group(&version));
    if is_foreign { Guard::Open } else { guard }
}

/// How much of an annotation's text may be read.
pub(super) enum AnnotationNote {
    /// The whole text.
    Text,
    /// The text is JSON; this guard decides which of its values may be read.
    Json(Guard),
    /// No part of the text.
    Hidden,
}

/// The annotation in which `kubectl apply` keeps the applied manifest, as JSON.
pub const LAST_APPLIED: &str = "kubectl.kubernetes.io/last-applied-configuration";

/// Annotation keys whose value is a name, a switch or a number, and never a part of the Secret's data. A
/// digest of the data is not harmless: a short value can be guessed from its digest.
const HARMLESS: [&str; 27] = [
    // The ServiceAccount of a token.
    "kubernetes.io/service-account.name",
    "kubernetes.io/service-account.uid",
    // The public names in the certificate, and its issuer.
    "cert-manager.io/alt-names",
    "cert-manager.io/certificate-name",
    "cert-manager.io/common-name",
    "cert-manager.io/ip-sans",
    "cert-manager.io/issuer-group",
    "cert-manager.io/issuer-kind",
    "cert-manager.io/issuer-name",
    // The Helm release, and when Helm creates or keeps the object.
    "helm.sh/hook",
    "helm.sh/hook-delete-policy",
    "helm.sh/hook-weight",
    "helm.sh/resource-policy",
    "meta.helm.sh/release-name",
    "meta.helm.sh/release-namespace",
    // The Argo CD application, and how Argo CD syncs the object.
    "argocd.argoproj.io/compare-options",
    "argocd.argoproj.io/hook",
    "argocd.argoproj.io/sync-options",
    "argocd.argoproj.io/sync-wave",
    "argocd.argoproj.io/tracking-id",
    // Whether Flux prunes and reconciles the object.
    "kustomize.toolkit.fluxcd.io/prune",
    "kustomize.toolkit.fluxcd.io/reconcile",
    // The Rancher object set that the object belongs to. The set's `applied` key is not listed: it holds the
    // whole object.
    "objectset.rio.cattle.io/id",
    "objectset.rio.cattle.io/owner-name",
    "objectset.rio.cattle.io/owner-namespace",
    // Whether a sealed Secret may be unsealed elsewhere: `true`.
    "sealedsecrets.bitnami.com/cluster-wide",
    "sealedsecrets.bitnami.com/managed",
];

/// The longest harmless value, in bytes: the limit of a Kubernetes name.
const LONGEST_TOKEN: usize = 253;

impl Annotation {
    pub(super) fn new(owner: AnnotationOwner, key: &str) -> Annotation {
        match owner {
            AnnotationOwner::Other => Annotation::OfOther,
            AnnotationOwner::Secret if key == LAST_APPLIED => Annotation::LastApplied,
            AnnotationOwner::Secret if HARMLESS.contains(&key) => Annotation::Harmless,
            AnnotationOwner::Secret => Annotation::Private,
        }
    }

    /// Returns how much of the annotation's text may be read.
    pub(super) fn note(self, text: &str) -> AnnotationNote {
        match self {
            Annotation::OfOther if !may_hold_secret(text) => AnnotationNote::Text,
            Annotation::OfOther
                if Doc::parse(text).is_ok_and(|doc| !has_copy_in_text(doc.root())) =>
            {
                AnnotationNote::Json(Guard::Open)
            }
            Annotation::Harmless if is_token(text) => AnnotationNote::Text,
            Annotation::LastApplied if is_plain_secret(text) => AnnotationNote::Json(Guard::Secret),
            Annotation::OfOther
            | Annotation::Harmless
            | Annotation::LastApplied
            | Annotation::Private => AnnotationNote::Hidden,
        }
    }

    /// Whether the whole value is hidden.
    pub(super) fn hides(self, value: Value<'_>) -> bool {
        match value.as_str() {
            Some(text) => matches!(self.note(&text), AnnotationNote::Hidden),
            None => self != Annotation::OfOther && !value.is_null(),
        }
    }
}

/// Whether a text begins like JSON and may contain a Secret.
fn may_hold_secret(text: &str) -> bool {
    let is_json = match without_marks(text).strip_prefix('"') {
        // Many texts begin with a quote.
        Some(_) => Doc::parse(without_marks(text)).is_ok(),
        None => without_marks(text).starts_with(['{', '[']),
    };
    is_json && may_name_secret(text)
}

/// Whether a JSON text may have the type of a Secret or of a list of them, in any case of its letters or with escapes.
pub fn may_name_secret(text: &str) -> bool {
    const SECRET: &[u8] = b"secret";
    const LIST: &[u8] = b"list";
    let bytes = text.as_bytes();
    let begins = |text: &[u8], word: &[u8]| {
        let start = text.get(..word.len());
        start.is_some_and(|start| start.eq_ignore_ascii_case(word))
    };
    let is_named = |at: usize| {
        let rest = &bytes[at..];
        begins(rest, SECRET) && {
            let rest = &rest[SECRET.len()..];
            // `secretName` and the key `secret` of a volume are no types.
            let is_longer = rest.first().is_some_and(u8::is_ascii_alphanumeric);
            let is_key = rest.starts_with(b"\":") || rest.starts_with(b"\\\":");
            begins(rest, LIST) || !(is_longer || is_key)
        }
    };
    memchr::memchr2_iter(b's', b'S', bytes).any(is_named) || text.contains("\\u")
}

/// A text without white space and byte order marks before it.
fn without_marks(text: &str) -> &str {
    text.trim_start_matches(|letter: char| letter.is_whitespace() || letter == '\u{feff}')
}

/// Whether a string in a JSON value is JSON with a copy of a Secret. Views show such a string as it is.
fn has_copy_in_text(value: Value<'_>) -> bool {
    match value.kind() {
        Kind::String => value.as_str().is_some_and(|text| is_copy(&text)),
        Kind::Array => value.items().any(has_copy_in_text),
        Kind::Object => value
            .fields()
            .any(|(name, value)| is_copy(&name) || has_copy_in_text(value)),
        Kind::Null | Kind::Bool | Kind::Number => false,
    }
}

/// Whether a text is JSON with a copy of a Secret, or broken JSON that may have one.
fn is_copy(text: &str) -> bool {
    may_hold_secret(text)
        && Doc::parse(without_marks(text)).map_or(true, |doc| has_copy(doc.root()))
}

fn has_copy(value: Value<'_>) -> bool {
    match value.kind() {
        Kind::Object if of_kind(value) == Guard::Secret => {
            // A reference to a Secret has its kind and its name.
            let mut fields = value.fields();
            fields.any(|(name, _)| !["apiVersion", "kind", "name", "namespace"].contains(&&*name))
        }
        Kind::Object if of_kind(value) == Guard::SecretList => true,
        Kind::Object => value.fields().any(|(_, value)| has_copy(value)),
        Kind::Array => value.items().any(has_copy),
        _ => has_copy_in_text(value),
    }
}

/// Whether a text is a few plain words: a name, a number, a list of options.
fn is_token(text: &str) -> bool {
    let is_of_token = |byte: u8| byte.is_ascii_alphanumeric() || b"-._/:,=* ".contains(&byte);
    text.len() <= LONGEST_TOKEN && text.bytes().all(is_of_token)
}

/// Whether a text is the JSON of a Secret whose values are all in fields that [`Guard::Secret`] hides. A
/// Secret with other fields (`stringdata`, or `password` beside `data`) does not qualify.
fn is_plain_secret(text: &str) -> bool {
    let Ok(doc) = Doc::parse(text) else {
        return false;
    };
    let object = doc.root();
    let is_known = |name: &str, value: Value<'_>| match (name, value.kind()) {
        ("metadata", Kind::Object) => {
            let mut fields = value.fields();
            fields.all(|(name, _)| METADATA.contains(&&*name))
        }
        ("data" | "stringData", _) => true,
        ("apiVersion" | "kind" | "type" | "immutable", kind) => {
            !matches!(kind, Kind::Object | Kind::Array)
        }
        _ => false,
    };
    let mut fields = object.fields();
    of_kind(object) == Guard::Secret && fields.all(|(name, value)| is_known(&name, value))
}

/// The fields of `ObjectMeta` that a manifest may have.
const METADATA: [&str; 11] = [
    "annotations",
    "creationTimestamp",
    "finalizers",
    "generateName",
    "generation",
    "labels",
    "name",
    "namespace",
    "ownerReferences",
    "resourceVersion",
    "uid",
];

/// Standard base64 (RFC 4648 §4) with padding, as Go's encoding/json reads and writes bytes. Like Go, it
/// ignores the unused bits of the last digit.
const GO: GeneralPurpose = GeneralPurpose::new(
    &STANDARD,
    GeneralPurposeConfig::new().with_decode_allow_trailing_bits(true),
);

/// Decodes the base64 text of a Secret's value. Like Go, it skips line ends.
pub(super) fn decode_base64(text: &str) -> Option<Vec<u8>> {
    GO.decode(text.replace(['\r', '\n'], "")).ok()
}

/// The length of the value that a digest stands for; `None` if the text is no digest.
pub(super) fn digest_length(text: &str) -> Option<usize> {
    let (length, digest) = text.strip_prefix(DIGEST_PREFIX)?.split_once(':')?;
    let is_hex = |byte: u8| byte.is_ascii_digit() || (b'a'..=b'f').contains(&byte);
    let is_digest = !digest.is_empty() && digest.len() <= 64 && digest.bytes().all(is_hex);
    let is_number = length.bytes().all(|byte| byte.is_ascii_digit());
    length.parse().ok().filter(|_| is_digest && is_number)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_the_standard_form_is_decoded() {
        let cases = [
            ("", Some("")),
            ("YQ==", Some("a")),
            ("YR==", Some("a")),
            ("YWI=", Some("ab")),
            ("YWJj", Some("abc")),
            ("YWJj\r\nZA==", Some("abcd")),
            ("YWJ", None),
            ("Y===", None),
            ("====", None),
            ("YQ==YQ==", None),
            ("YW-_", None),
        ];
        for (text, expected) in cases {
            assert_eq!(
                decode_base64(text).as_deref(),
                expected.map(str::as_bytes),
                "{text:?}"
            );
        }
    }
}
