//! `Sealer`: replaces what must not enter a record with digests, which are keyed by the key of the store.

use std::sync::Arc;

use bytes::Bytes;
use ring::hmac;
use ring::rand::{SecureRandom, SystemRandom};

use super::redaction::Redaction;
use crate::diff::{self, may_name_secret, sealed_at};
use crate::object::path::Pattern;
use crate::object::{Doc, ParseError};
use crate::source::{SourceKey, Version};
use crate::watch::Reader;

/// How many bytes of a digest are kept.
const DIGEST: usize = 8;

/// The key of a store. It lies beside the files, so that a file alone does not let anybody try passwords.
#[derive(Clone)]
pub(super) struct SecretKey([u8; 32]);

impl SecretKey {
    /// A random key; `None` if the system has no random numbers.
    pub(super) fn random() -> Option<SecretKey> {
        let mut bytes = [0; 32];
        SystemRandom::new().fill(&mut bytes).ok()?;
        Some(SecretKey(bytes))
    }

    /// Reads the text of [`SecretKey::to_text`].
    pub(super) fn parse(text: &str) -> Option<SecretKey> {
        let text = text.trim();
        let mut bytes = [0; 32];
        if text.len() != 2 * bytes.len() || !text.is_ascii() {
            return None;
        }
        for (byte, digits) in bytes.iter_mut().zip(text.as_bytes().chunks(2)) {
            let digits = std::str::from_utf8(digits).ok()?;
            *byte = u8::from_str_radix(digits, 16).ok()?;
        }
        Some(SecretKey(bytes))
    }

    /// The key in hexadecimal digits.
    pub(super) fn to_text(&self) -> String {
        hex(&self.0)
    }
}

/// Replaces what must not enter a record: Secret values, and the values at paths that the user names.
#[derive(Clone)]
pub(super) struct Sealer {
    key: SecretKey,
    redactions: Arc<[Redaction]>,
}

impl Sealer {
    pub(super) fn new(key: SecretKey, redactions: &[Redaction]) -> Sealer {
        Sealer {
            key,
            redactions: redactions.into(),
        }
    }

    /// The paths that the user names.
    pub(super) fn redactions(&self) -> &[Redaction] {
        &self.redactions
    }

    /// A version with a digest in the place of each hidden value. It is the same one if it has none.
    ///
    /// The digest depends on the uid and the path, so equal values in two places do not look equal.
    pub(super) fn sealed(&self, version: &Arc<Version>) -> Result<Arc<Version>, ParseError> {
        let text = version.body.text();
        let patterns = self.patterns(&version.object.kind);
        let may_hold_secret = may_name_secret(&text);
        if !may_hold_secret && patterns.is_empty() {
            return Ok(version.clone());
        }
        let mut sealed: Option<String> = None;
        let key = hmac::Key::new(hmac::HMAC_SHA256, &self.key.0);
        let uid = version.object.identity();
        let digest = |path: &str, value: &[u8]| {
            let mut context = hmac::Context::with_key(&key);
            for part in [uid.as_str().as_bytes(), path.as_bytes(), value] {
                context.update(&(part.len() as u64).to_le_bytes());
                context.update(part);
            }
            hex(&context.sign().as_ref()[..DIGEST])
        };
        if may_hold_secret {
            sealed = diff::sealed(version.doc()?.root(), &digest);
        }
        if !patterns.is_empty() {
            let doc = match &sealed {
                Some(sealed) => Doc::parse(&**sealed)?,
                None => version.doc()?,
            };
            sealed = sealed_at(doc.root(), &patterns, &digest).or(sealed);
        }
        Ok(match sealed {
            Some(text) => Arc::new(Version {
                object: version.object.clone(),
                version: version.version.clone(),
                body: text.into(),
            }),
            None => version.clone(),
        })
    }

    /// An item of a list, with digests; `None` if it has no hidden value. It may lack its type.
    pub(super) fn sealed_item(&self, key: &SourceKey, item: &[u8]) -> Option<Bytes> {
        let text = std::str::from_utf8(item).ok()?;
        if !self.may_hide(key, text) {
            return None;
        }
        let version = Arc::new(Reader::new(key).item(item).ok()?);
        let sealed = self.sealed(&version).ok()?;
        Some(sealed.body.text().to_string().into())
    }

    /// A line of a watch, with digests; `None` if it has no hidden value.
    pub(super) fn sealed_line(&self, key: &SourceKey, line: &[u8]) -> Option<Bytes> {
        let text = std::str::from_utf8(line).ok()?;
        if !self.may_hide(key, text) {
            return None;
        }
        let doc = Doc::parse(text).ok()?;
        let (kind, object) = (doc.root().get("type")?, doc.root().get("object")?);
        let sealed = self.sealed_item(key, object.raw().as_bytes())?;
        let sealed = std::str::from_utf8(&sealed).ok()?;
        Some(format!(r#"{{"type":{},"object":{sealed}}}"#, kind.raw()).into())
    }

    /// The paths for objects of a kind.
    fn patterns(&self, kind: &str) -> Vec<&Pattern> {
        let own = self.redactions.iter().filter(|it| it.is_about(kind));
        own.map(|redaction| &redaction.pattern).collect()
    }

    /// Whether a text of a source may have something to hide.
    fn may_hide(&self, key: &SourceKey, text: &str) -> bool {
        is_secret(key) || may_name_secret(text) || !self.patterns(&key.resource.kind).is_empty()
    }
}

/// Whether a source is about Secrets.
pub(super) fn is_secret(key: &SourceKey) -> bool {
    key.resource.group.is_empty() && &*key.resource.kind == "Secret"
}

pub(super) fn hex(bytes: &[u8]) -> String {
    use std::fmt::Write;
    bytes.iter().fold(String::new(), |mut text, byte| {
        let _infallible = write!(text, "{byte:02x}");
        text
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::object::{ObjectRef, ResourceVersion, Uid};

    fn secret(uid: &str, value: &str) -> Arc<Version> {
        let text = format!(
            r#"{{"kind":"Secret","apiVersion":"v1","metadata":{{"name":"db","uid":"{uid}"}},"data":{{"a":"{value}","b":"{value}"}}}}"#
        );
        Arc::new(Version {
            object: Arc::new(ObjectRef {
                api_version: "v1".into(),
                kind: "Secret".into(),
                namespace: None,
                name: "db".into(),
                uid: Some(Uid::new(uid)),
            }),
            version: ResourceVersion::new("1"),
            body: text.into(),
        })
    }

    #[test]
    fn equal_values_look_equal_only_in_one_place() {
        let hiding = Sealer::new(SecretKey([7; 32]), &[]);
        let digests = |uid, value| -> Vec<String> {
            let sealed = hiding.sealed(&secret(uid, value)).expect("a Secret");
            let text = sealed.body.text();
            assert!(!text.contains(value), "{text}");
            let digests = text.split("\"spy:").skip(1);
            digests.map(|part| part[..18].to_owned()).collect()
        };
        let first = digests("u1", "aHVudGVyMg==");
        assert_eq!(first.len(), 2);
        assert!(first[0].starts_with("7:") && first[0] != first[1]);
        assert_eq!(digests("u1", "aHVudGVyMg=="), first);
        assert_ne!(digests("u2", "aHVudGVyMg=="), first);
        assert_ne!(digests("u1", "aHVudGVyMw=="), first);
    }

    #[test]
    fn a_redaction_counts_for_its_kind() {
        let redactions = ["Secret .metadata.labels", "ConfigMap .data"];
        let redactions = redactions.map(|text| text.parse().expect("a redaction"));
        let hiding = Sealer::new(SecretKey([7; 32]), &redactions);
        let labels = r#""labels":{"a":"hunter2"}"#;
        let text = |kind: &str| {
            format!(
                r#"{{"kind":"{kind}","apiVersion":"v1","metadata":{{"name":"a",{labels}}},"data":{{"b":"eHk="}}}}"#
            )
        };
        for (kind, shows_labels, shows_data) in [
            ("Secret", false, false),
            ("ConfigMap", true, false),
            ("Other", true, true),
        ] {
            let mut version = (*secret("u1", "")).clone();
            version.object = Arc::new(ObjectRef {
                kind: kind.into(),
                ..(*version.object).clone()
            });
            version.body = text(kind).into();
            let sealed = hiding.sealed(&Arc::new(version)).expect("an object");
            let sealed = sealed.body.text();
            assert_eq!(sealed.contains(labels), shows_labels, "{sealed}");
            assert_eq!(sealed.contains("eHk="), shows_data, "{sealed}");
        }
    }

    #[test]
    fn a_key_is_read_as_it_was_written() {
        let key = SecretKey::random().expect("random numbers");
        let text = key.to_text();
        let read = SecretKey::parse(&format!("{text}\n")).expect("a key");
        assert_eq!(read.to_text(), text);
        for text in ["", "00", &"0".repeat(63), &"g".repeat(64), &"é".repeat(32)] {
            assert!(SecretKey::parse(text).is_none(), "{text}");
        }
    }
}
