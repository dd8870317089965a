//! The head of a line that is spelled as kube-apiserver spells it: one pass that checks everything and
//! decodes nothing.
//!
//! It knows less than [`head`](super::head), and says so: `None` stands for a line that is no JSON as well as
//! for one that is spelled in a way that is not read here (escapes in what is read, fields that come twice,
//! `null` for a whole field). What it does read, the other reads as the same.

use std::borrow::Cow;

use super::head::{Head, Meta, Read, Text};
use crate::object::skim::Skim;

/// Reads `{"type":"…","object":{…}}`.
pub(super) fn line(text: &str) -> Option<Read<'_>> {
    let rest = text.strip_prefix("{\"type\":\"")?;
    let (kind, _) = rest.split_once('"')?;
    let object = rest[kind.len()..].strip_prefix("\",\"object\":")?;
    // What is no word is not ours to judge.
    if !kind.bytes().all(|byte| byte.is_ascii_uppercase()) {
        return None;
    }
    let mut skim = Skim::new(object);
    let head = head(&mut skim)?;
    let body = &object[..skim.at()];
    skim.space();
    skim.take(b'}')?;
    skim.end()?;
    Some((Cow::Borrowed(kind), body, head))
}

/// Reads an object.
pub(super) fn item(text: &str) -> Option<Head<'_>> {
    let mut skim = Skim::new(text);
    skim.space();
    let head = head(&mut skim)?;
    skim.end()?;
    Some(head)
}

fn head<'a>(skim: &mut Skim<'a>) -> Option<Head<'a>> {
    let mut head = Head::default();
    let mut has_metadata = false;
    skim.fields(|skim, key| match key {
        "apiVersion" => once(&mut head.api_version, skim),
        "kind" => once(&mut head.kind, skim),
        "metadata" if has_metadata => None,
        "metadata" => {
            has_metadata = true;
            head.metadata = metadata(skim)?;
            Some(())
        }
        _ => skim.value(),
    })?;
    Some(head)
}

fn metadata<'a>(skim: &mut Skim<'a>) -> Option<Meta<'a>> {
    let mut meta = Meta::default();
    skim.fields(|skim, key| match key {
        "name" => once(&mut meta.name, skim),
        "namespace" => once(&mut meta.namespace, skim),
        "uid" => once(&mut meta.uid, skim),
        "resourceVersion" => once(&mut meta.resource_version, skim),
        "deletionTimestamp" => once(&mut meta.deletion_timestamp, skim),
        _ => skim.value(),
    })?;
    Some(meta)
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
