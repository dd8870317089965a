//! Reads the head of a line in kube-apiserver's spelling. It reads from the start until the head is complete, and
//! does not check that the rest is JSON: the parser of the object does that.
//!
//! It accepts less than [`head`](super::head). `None` stands for a line that is not JSON, and for a spelling that
//! this module does not read: escapes in a field of the head, repeated fields, `null` for a whole field. A line
//! that both accept gives the same head.

use std::borrow::Cow;

use super::head::{Head, Meta, Read, Text};
use crate::object::skim::{Skim, SkimNext};

/// Reads `{"type":"…","object":{…}}`.
pub(super) fn line(text: &str) -> Option<Read<'_>> {
    let rest = text.strip_prefix("{\"type\":\"")?;
    let (kind, _) = rest.split_once('"')?;
    let object = rest[kind.len()..].strip_prefix("\",\"object\":")?;
    // A type that is not a word is left to `head`.
    if !kind.bytes().all(|byte| byte.is_ascii_uppercase()) {
        return None;
    }
    let body = trim(object).strip_suffix('}').map(trim)?;
    Some((Cow::Borrowed(kind), body, item(body)?))
}

/// Reads an object.
pub(super) fn item(text: &str) -> Option<Head<'_>> {
    let mut head = Head::default();
    let mut has_metadata = false;
    let mut skim = Skim::new(text);
    skim.space();
    let passed = skim.fields(|skim, key| {
        match key {
            "apiVersion" => once(&mut head.api_version, skim)?,
            "kind" => once(&mut head.kind, skim)?,
            "metadata" if has_metadata => return None,
            "metadata" => {
                has_metadata = true;
                let is_last = head.has_type();
                let (meta, further) = metadata(skim, is_last)?;
                head.metadata = meta;
                if further == SkimNext::Enough {
                    return Some(further);
                }
            }
            _ => skim.value()?,
        }
        let all = has_metadata && head.has_type();
        Some(if all { SkimNext::Enough } else { SkimNext::On })
    })?;
    if passed == SkimNext::On {
        skim.end()?;
    }
    trim(text).ends_with('}').then_some(head)
}

/// Trims the white space of JSON, which is less than Rust's.
fn trim(text: &str) -> &str {
    text.trim_matches([' ', '\n', '\t', '\r'])
}

/// Reads the metadata. If they are the last part of the head, reading stops where nothing of the head can follow.
/// `managedFields` are the longest part, and `deletionTimestamp` comes before them in both of the server's field
/// orders: the order of its types and the alphabetical one.
fn metadata<'a>(skim: &mut Skim<'a>, is_last: bool) -> Option<(Meta<'a>, SkimNext)> {
    let mut meta = Meta::default();
    let further = skim.fields(|skim, key| {
        match key {
            "name" => once(&mut meta.name, skim)?,
            "namespace" => once(&mut meta.namespace, skim)?,
            "uid" => once(&mut meta.uid, skim)?,
            "resourceVersion" => once(&mut meta.resource_version, skim)?,
            "deletionTimestamp" => once(&mut meta.deletion_timestamp, skim)?,
            "managedFields" if is_last && meta.has_identity() => return Some(SkimNext::Enough),
            _ => skim.value()?,
        }
        Some(SkimNext::On)
    })?;
    Some((meta, further))
}

/// Reads a string into a field that is still empty. The string must not be empty.
fn once<'a>(field: &mut Text<'a>, skim: &mut Skim<'a>) -> Option<()> {
    let text = skim.plain_string().filter(|text| !text.is_empty())?;
    if !field.0.is_empty() {
        return None;
    }
    field.0 = Cow::Borrowed(text);
    Some(())
}
