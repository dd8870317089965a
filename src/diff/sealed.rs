//! Writes an object with a digest in the place of each Secret value, for files that outlive the program.
//!
//! A digest is `spy:LENGTH:HEX`. The length is that of the decoded value. A later change of the value shows as another
//! digest, and [`Redactor`] prints a digest as it prints the value itself.

use std::borrow::Cow;

use base64::Engine;
use base64::engine::general_purpose::STANDARD;

use super::redact::{Redactor, Shown, push_json_string};
use super::secret::{AnnotationNote, Coding, DIGEST_PREFIX, Guard, decode_base64, digest_length};
use crate::object::{Doc, Kind, Value};

/// The fields of a Secret whose value may be a public certificate: those of `kubernetes.io/tls`, and a bundle of authorities.
const CERTIFICATES: [&str; 2] = ["tls.crt", "ca.crt"];

/// Gives the hexadecimal digest of a Secret value: of its path inside the object, and its bytes.
pub type SecretDigest<'d> = dyn Fn(&str, &[u8]) -> String + 'd;

/// The JSON of an object without its Secret values; `None` if it has none, or only digests.
///
/// It replaces what a [`Redactor`] hides. A public certificate stays, because views show its dates.
pub fn sealed(object: Value<'_>, digest: &SecretDigest<'_>) -> Option<String> {
    let redactor = Redactor::new();
    let shown = redactor.shown(object);
    if !shown.holds_secret() {
        return None;
    }
    let mut text = String::with_capacity(object.raw().len());
    let mut path = String::new();
    write(shown, digest, &mut path, &mut text);
    (text != object.raw()).then_some(text)
}

/// Writes a value. `path` names its place in the object.
fn write(shown: Shown<'_>, digest: &SecretDigest<'_>, path: &mut String, out: &mut String) {
    if shown.is_hidden() {
        return write_hidden(shown, digest, path, out);
    }
    if !shown.holds_secret() {
        return out.push_str(shown.value.raw());
    }
    match shown.value.kind() {
        Kind::Object => {
            out.push('{');
            for (index, (name, value)) in shown.fields().enumerate() {
                out.push_str(if index == 0 { "" } else { "," });
                push_json_string(out, &name);
                out.push(':');
                below(path, &name, |path| write(value, digest, path, out));
            }
            out.push('}');
        }
        Kind::Array => {
            out.push('[');
            for (index, item) in shown.items().enumerate() {
                out.push_str(if index == 0 { "" } else { "," });
                below(path, &index.to_string(), |path| {
                    write(item, digest, path, out);
                });
            }
            out.push(']');
        }
        // An annotation whose text is the JSON of a Secret.
        Kind::String => match copy_in(shown) {
            Some((copy, guard)) => {
                let guard = guard.enter(Some(copy.root()), None);
                let inner = shown.redactor.guarded(copy.root(), guard);
                let mut text = String::new();
                write(inner, digest, path, &mut text);
                push_json_string(out, &text);
            }
            None => write_hidden(shown, digest, path, out),
        },
        Kind::Null | Kind::Bool | Kind::Number => write_hidden(shown, digest, path, out),
    }
}

fn below(path: &mut String, name: &str, work: impl FnOnce(&mut String)) {
    let length = path.len();
    path.push('\0');
    path.push_str(name);
    work(path);
    path.truncate(length);
}

/// The parsed text of an annotation, and how its values are guarded.
fn copy_in(shown: Shown<'_>) -> Option<(Doc, Guard)> {
    let Guard::Annotation(annotation) = shown.guard else {
        return None;
    };
    let text = shown.value.as_str()?;
    match annotation.note(&text) {
        AnnotationNote::Json(guard) => Some((Doc::parse(&*text).ok()?, guard)),
        AnnotationNote::Text | AnnotationNote::Hidden => None,
    }
}

/// Writes the digest of a value, unless the value is a digest or a public certificate itself.
fn write_hidden(shown: Shown<'_>, digest: &SecretDigest<'_>, path: &str, out: &mut String) {
    let text = shown.value.as_str().unwrap_or_default();
    // A value in base64 has no colon, so only a digest looks like one.
    if digest_length(&text).is_some() || is_certificate(shown, &text, path) {
        return out.push_str(shown.value.raw());
    }
    let digest = digest_text(digest, path, &shown.plain());
    push_json_string(out, &digest);
}

/// `spy:LENGTH:HEX` for a value at a path.
pub(super) fn digest_text(digest: &SecretDigest<'_>, path: &str, value: &[u8]) -> String {
    format!("{DIGEST_PREFIX}{}:{}", value.len(), digest(path, value))
}

/// Whether a value is PEM with public certificates, and nothing beside them.
fn is_certificate(shown: Shown<'_>, text: &str, path: &str) -> bool {
    let is_named = CERTIFICATES.iter().any(|name| path.ends_with(name));
    if !is_named || shown.guard != Guard::Value(Coding::Base64) {
        return false;
    }
    let pem = decode_base64(text).and_then(|bytes| String::from_utf8(bytes).ok());
    pem.is_some_and(|pem| is_certificates(&pem))
}

fn is_certificates(pem: &str) -> bool {
    let mut rest = pem.trim();
    if rest.is_empty() {
        return false;
    }
    while !rest.is_empty() {
        let block = rest.strip_prefix("-----BEGIN CERTIFICATE-----");
        let Some((body, after)) = block.and_then(|it| it.split_once("-----END CERTIFICATE-----"))
        else {
            return false;
        };
        let body: Cow<'_, str> = body.split_ascii_whitespace().collect();
        let der = STANDARD.decode(&*body).unwrap_or_default();
        // No byte may stand beside the certificate.
        if webpki::EndEntityCert::try_from(&der.as_slice().into()).is_err() {
            return false;
        }
        rest = after.trim_start();
    }
    true
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Seals an object. The digest shows the path and the value.
    fn check(object: &str, expected: &str) {
        let doc = Doc::parse(object).expect("JSON");
        let digest = |path: &str, value: &[u8]| {
            let value = String::from_utf8_lossy(value);
            let text = format!("{}={value}", path.replace('\0', "/"));
            let digits = text.bytes().flat_map(|byte| [byte >> 4, byte & 15]);
            let digit = |digit: u8| char::from_digit(digit.into(), 16).expect("a digit");
            digits.map(digit).collect()
        };
        let sealed = sealed(doc.root(), &digest);
        let text = sealed.as_deref().unwrap_or(object);
        let parts = text.split("spy:").enumerate().map(|(nth, part)| {
            let split = part.split_once(':').filter(|_| nth > 0);
            let Some((length, rest)) = split else {
                return part.to_owned();
            };
            let end = rest
                .find(|c: char| !c.is_ascii_hexdigit())
                .unwrap_or(rest.len());
            let hex = &rest.as_bytes()[..end];
            let byte = |pair: &[u8]| {
                let pair = std::str::from_utf8(pair).expect("digits");
                char::from(u8::from_str_radix(pair, 16).expect("digits"))
            };
            let clear: String = hex.chunks(2).map(byte).collect();
            format!("<{length} {clear}>{}", &rest[end..])
        });
        assert_eq!(parts.collect::<String>(), expected, "{object}");
        // What is sealed once stays as it is.
        let again = Doc::parse(text.to_owned()).expect("JSON");
        if expected.matches('<').count() < 3 {
            assert_eq!(super::sealed(again.root(), &|_, _| "0".repeat(90)), None);
        }
    }

    #[test]
    fn only_secret_values_are_replaced() {
        for (object, expected) in [
            (
                r#"{"kind":"ConfigMap","apiVersion":"v1","data":{"a":"eA=="}}"#,
                r#"{"kind":"ConfigMap","apiVersion":"v1","data":{"a":"eA=="}}"#,
            ),
            (
                r#"{"kind":"Secret","apiVersion":"v1","type":"Opaque","data":{"a":"eHk="}}"#,
                r#"{"kind":"Secret","apiVersion":"v1","type":"Opaque","data":{"a":"<2 /data/a=xy>"}}"#,
            ),
            (
                r#"{"apiVersion":"v1","kind":"Secret","stringData":{"a":"x"},"data":{}}"#,
                r#"{"apiVersion":"v1","kind":"Secret","stringData":{"a":"<1 /stringData/a=x>"},"data":{}}"#,
            ),
            (
                r#"{"kind":"X","spec":{"list":[{"kind":"Secret","data":{"a":7}}]}}"#,
                r#"{"kind":"X","spec":{"list":[{"kind":"Secret","data":{"a":"<1 /spec/list/0/data/a=7>"}}]}}"#,
            ),
            (
                r#"{"kind":"Secret","apiVersion":"v1","metadata":{"annotations":{"helm.sh/hook":"pre","x":"y"}}}"#,
                r#"{"kind":"Secret","apiVersion":"v1","metadata":{"annotations":{"helm.sh/hook":"pre","x":"<1 /metadata/annotations/x=y>"}}}"#,
            ),
        ] {
            check(object, expected);
        }
    }

    #[test]
    fn the_applied_manifest_of_a_secret_is_sealed_inside() {
        let applied = r#"{\"kind\":\"Secret\",\"apiVersion\":\"v1\",\"data\":{\"a\":\"eA==\"}}"#;
        let key = super::super::LAST_APPLIED;
        let object = format!(
            r#"{{"kind":"Secret","apiVersion":"v1","metadata":{{"annotations":{{"{key}":"{applied}"}}}}}}"#
        );
        let doc = Doc::parse(object).expect("JSON");
        let sealed = sealed(doc.root(), &|_, _| "ab".to_owned()).expect("a secret");
        assert!(
            sealed.contains(r#"\"data\":{\"a\":\"spy:1:ab\"}"#),
            "{sealed}"
        );
    }

    #[test]
    fn only_a_digest_has_the_length_of_another_value() {
        for (text, length) in [
            ("spy:18:0123456789abcdef", Some(18)),
            ("spy:0:ab", Some(0)),
            ("spy:18:", None),
            ("spy:+1:ab", None),
            ("spy:18:AB", None),
            ("spy:x:ab", None),
            ("spy:99999999999999999999999:ab", None),
            ("18:ab", None),
        ] {
            assert_eq!(digest_length(text), length, "{text}");
        }
    }

    #[test]
    fn text_that_only_looks_like_a_certificate_is_none() {
        for pem in [
            "",
            "secret",
            "-----BEGIN CERTIFICATE-----\naHVudGVyMg==\n-----END CERTIFICATE-----",
            "-----BEGIN PRIVATE KEY-----\naHVudGVyMg==\n-----END PRIVATE KEY-----",
        ] {
            assert!(!is_certificates(pem), "{pem}");
        }
    }
}
