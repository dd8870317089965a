//! Writes an object with a digest in the place of each value at given paths, for files that outlive the program.
//!
//! The digest has the form of [`sealed`](super::sealed()). The manifest in the annotation of `kubectl apply` has a copy of the
//! same object, so the paths count inside it, too.

use std::borrow::Cow;

use super::redact::push_json_string;
use super::sealed::{SecretDigest, digest_text};
use super::secret::{LAST_APPLIED, digest_length};
use crate::object::path::{Label, Match, Path, Pattern, Place, Step};
use crate::object::{Doc, Kind, Value};

/// The JSON of an object without the values at these paths; `None` if it has none there, or only digests.
pub fn sealed_at(
    object: Value<'_>,
    patterns: &[&Pattern],
    digest: &SecretDigest<'_>,
) -> Option<String> {
    let mut writer = PathSealer {
        patterns,
        digest,
        path: Path::default(),
        place: String::new(),
        out: String::with_capacity(object.raw().len()),
    };
    writer.write(object);
    let text = writer.out;
    (text != object.raw()).then_some(text)
}

/// Writes one object.
struct PathSealer<'s> {
    patterns: &'s [&'s Pattern],
    digest: &'s SecretDigest<'s>,
    /// Where the next value is, as patterns see it.
    path: Path<'s>,
    /// The same as the digest has it.
    place: String,
    out: String,
}

impl<'s> PathSealer<'s> {
    fn write(&mut self, value: Value<'_>) {
        let all = self.patterns.iter().map(|it| it.matches(&self.path));
        match all.fold(Match::None, Match::or) {
            Match::Inside => self.write_digest(value),
            Match::Above => self.write_inside(value),
            Match::None => self.write_unmatched(value),
        }
    }

    fn write_inside(&mut self, value: Value<'_>) {
        match value.kind() {
            Kind::Object => {
                self.out.push('{');
                for (index, (name, value)) in value.fields().enumerate() {
                    self.separate(index);
                    push_json_string(&mut self.out, &name);
                    self.out.push(':');
                    let step = Step::Field(Cow::Owned(name.to_string()));
                    self.below(&name, step, |writer| writer.write(value));
                }
                self.out.push('}');
            }
            Kind::Array => {
                self.out.push('[');
                for (index, item) in value.items().enumerate() {
                    self.separate(index);
                    let step = item_step(index, item);
                    self.below(&index.to_string(), step, |writer| writer.write(item));
                }
                self.out.push(']');
            }
            Kind::Null | Kind::Bool | Kind::Number | Kind::String => {
                self.out.push_str(value.raw());
            }
        }
    }

    /// Writes a value that no path leads to. The annotations may have the applied manifest.
    fn write_unmatched(&mut self, value: Value<'_>) {
        let steps = &self.path.steps;
        let is_above_annotations = match &steps[..] {
            [] => true,
            [first] => is_field(first, "metadata"),
            [first, second] => is_field(first, "metadata") && is_field(second, "annotations"),
            [first, second, third] => {
                let inside = is_field(first, "metadata") && is_field(second, "annotations");
                if inside && is_field(third, LAST_APPLIED) {
                    return self.write_applied(value);
                }
                false
            }
            _ => false,
        };
        if is_above_annotations {
            self.write_inside(value);
        } else {
            self.out.push_str(value.raw());
        }
    }

    /// Writes the applied manifest. One that cannot be read is hidden.
    fn write_applied(&mut self, value: Value<'_>) {
        let text = value.as_str().unwrap_or_default();
        let Ok(doc) = Doc::parse(&*text) else {
            return self.write_digest(value);
        };
        let mut inner = PathSealer {
            patterns: self.patterns,
            digest: self.digest,
            path: Path::default(),
            place: self.place.clone(),
            out: String::new(),
        };
        inner.write(doc.root());
        if inner.out == doc.root().raw() {
            self.out.push_str(value.raw());
        } else {
            push_json_string(&mut self.out, &inner.out);
        }
    }

    fn write_digest(&mut self, value: Value<'_>) {
        let text = value.as_str().unwrap_or(Cow::Borrowed(value.raw()));
        if value.kind() == Kind::String && digest_length(&text).is_some() {
            return self.out.push_str(value.raw());
        }
        let digest = digest_text(self.digest, &self.place, text.as_bytes());
        push_json_string(&mut self.out, &digest);
    }

    fn below(&mut self, name: &str, step: Step<'s>, work: impl FnOnce(&mut Self)) {
        let length = self.place.len();
        self.place.push('\0');
        self.place.push_str(name);
        self.path.steps.push(step);
        work(self);
        self.path.steps.pop();
        self.place.truncate(length);
    }

    fn separate(&mut self, index: usize) {
        self.out.push_str(if index == 0 { "" } else { "," });
    }
}

fn is_field(step: &Step<'_>, name: &str) -> bool {
    matches!(step, Step::Field(own) if own == name)
}

/// The step to an item. All its plain fields are its key, because a path may name any of them.
fn item_step<'s>(index: usize, item: Value<'_>) -> Step<'s> {
    let index = u32::try_from(index).unwrap_or(u32::MAX);
    let key = |(name, value): (Cow<'_, str>, Value<'_>)| {
        let text = match value.kind() {
            Kind::String => value.as_str()?.into_owned(),
            Kind::Bool | Kind::Number => value.raw().to_owned(),
            Kind::Null | Kind::Array | Kind::Object => return None,
        };
        Some((Cow::Owned(name.into_owned()), Cow::Owned(text)))
    };
    Step::Item {
        place: Place {
            old: None,
            new: Some(index),
        },
        label: Label::Key {
            parts: item.fields().filter_map(key).collect(),
            nth: 1,
        },
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(patterns: &[&str], object: &str, expected: &str) {
        let patterns: Vec<Pattern> = patterns
            .iter()
            .map(|text| text.parse().expect("a path"))
            .collect();
        let patterns: Vec<&Pattern> = patterns.iter().collect();
        let doc = Doc::parse(object).expect("JSON");
        let digest = |path: &str, _: &[u8]| format!("{:04x}", path.matches('\0').count());
        let sealed = sealed_at(doc.root(), &patterns, &digest);
        let text = sealed.as_deref().unwrap_or(object);
        assert_eq!(text, expected, "{patterns:?}");
        // What is sealed once stays as it is.
        let again = Doc::parse(text.to_owned()).expect("JSON");
        assert_eq!(sealed_at(again.root(), &patterns, &digest), None);
    }

    #[test]
    fn only_values_at_the_paths_are_replaced() {
        let map = r#"{"kind":"ConfigMap","data":{"token":"abc","mode":"x"}}"#;
        let sealed = r#"{"kind":"ConfigMap","data":{"token":"spy:3:0002","mode":"x"}}"#;
        check(&[".data.token"], map, sealed);
        check(&[".data.other", ".spec"], map, map);
        check(
            &[".data.*"],
            map,
            r#"{"kind":"ConfigMap","data":{"token":"spy:3:0002","mode":"spy:1:0002"}}"#,
        );
        check(
            &[".data"],
            map,
            r#"{"kind":"ConfigMap","data":"spy:26:0001"}"#,
        );
        check(
            &["**.token"],
            r#"{"a":{"b":[{"token":7},{"token":null}]}}"#,
            r#"{"a":{"b":[{"token":"spy:1:0004"},{"token":"spy:4:0004"}]}}"#,
        );
        let list = r#"{"spec":{"env":[{"name":"A","value":"x"},{"name":"B","value":"y"}]}}"#;
        check(
            &[".spec.env[name=B].value"],
            list,
            r#"{"spec":{"env":[{"name":"A","value":"x"},{"name":"B","value":"spy:1:0004"}]}}"#,
        );
        check(
            &[".spec.env[0].value"],
            list,
            r#"{"spec":{"env":[{"name":"A","value":"spy:1:0004"},{"name":"B","value":"y"}]}}"#,
        );
        check(
            &[".spec.env[*]"],
            list,
            r#"{"spec":{"env":["spy:24:0003","spy:24:0003"]}}"#,
        );
    }

    #[test]
    fn the_applied_manifest_is_sealed_inside() {
        let with = |applied: &str, token: &str| {
            let applied = serde_json::Value::from(applied);
            format!(
                r#"{{"metadata":{{"annotations":{{"a":"abc","{LAST_APPLIED}":{applied}}}}},"data":{{"token":"{token}"}}}}"#
            )
        };
        check(
            &[".data.token"],
            &with(r#"{"data":{"token":"abc"}}"#, "abc"),
            &with(r#"{"data":{"token":"spy:3:0005"}}"#, "spy:3:0002"),
        );
        check(
            &[".data.token"],
            &with("data: {token: abc}", "abc"),
            &with("spy:18:0003", "spy:3:0002"),
        );
    }
}
