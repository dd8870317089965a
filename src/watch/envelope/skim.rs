//! The head of a line that is spelled as kube-apiserver spells it, read from the beginning to where no more
//! of it can come. What follows is not looked at: whether it is JSON shows when the object is read.
//!
//! It knows less than [`head`](super::head), and says so: `None` stands for a line that is no JSON as well as
//! for one that is spelled in a way that is not read here (escapes in what is read, fields that come twice,
//! `null` for a whole field). What both read they read as the same.

use std::borrow::Cow;

use super::head::{Head, Meta, Read, Text};
use crate::object::skim::{Skim, SkimNext};

/// Reads `{"type":"…","object":{…}}`.
pub(super) fn line(text: &str) -> Option<Read<'_>> {
    let rest = text.strip_prefix("{\"type\":\"")?;
    let (kind, _) = rest.split_once('"')?;
    let object = rest[kind.len()..].strip_prefix("\",\"object\":")?;
    // What is no word is not ours to judge.
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

/// Without the white space of JSON, which is less than Rust's, around it.
fn trim(text: &str) -> &str {
    text.trim_matches([' ', '\n', '\t', '\r'])
}

/// Reads the metadata, up to where the rest says nothing of the head if they are the last that is looked
/// for: whichever way the server orders its fields, as its types do or by their names, `deletionTimestamp`
/// is before `managedFields`, which are the longest of them.
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

/// Reads a string that was not there before, and is not empty.
fn once<'a>(field: &mut Text<'a>, skim: &mut Skim<'a>) -> Option<()> {
    let text = skim.plain_string().filter(|text| !text.is_empty())?;
    if !field.0.is_empty() {
        return None;
    }
    field.0 = Cow::Borrowed(text);
    Some(())
}
