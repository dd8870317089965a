//! `Labels`: the labels of an object, as the graph keeps them.

use crate::object::Value;
use std::borrow::Cow;
use std::collections::BTreeMap;
use std::sync::Arc;

/// The label that names a slice's Service
/// (<https://kubernetes.io/docs/reference/labels-annotations-taints/#kubernetesioservice-name>).
pub(super) const SERVICE_NAME: &str = "kubernetes.io/service-name";

/// Ends each key and each value. No label can contain it
/// (<https://kubernetes.io/docs/concepts/overview/working-with-objects/labels/#syntax-and-character-set>).
const END: char = '\0';

/// Labels by their keys, in one text. A view may hold ten thousand objects, and a map for each takes several times the
/// memory.
#[derive(Clone, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub struct Labels(Arc<str>);

impl Labels {
    /// The labels of an object, or of the Pods of a template. A value that is not a text is left out.
    pub fn of(object: Value<'_>) -> Labels {
        let labels = object.at(&["metadata", "labels"]).into_iter();
        let labels = labels.flat_map(Value::fields);
        labels
            .filter_map(|(key, value)| Some((key, value.as_str()?)))
            .collect()
    }

    /// The labels in the order of their keys.
    pub fn iter(&self) -> impl Iterator<Item = (&str, &str)> {
        let mut texts = self.0.split_terminator(END);
        std::iter::from_fn(move || Some((texts.next()?, texts.next()?)))
    }

    /// The value of a label.
    pub fn get(&self, key: &str) -> Option<&str> {
        self.iter().find(|(own, _)| *own == key)?.1.into()
    }
}

impl<'a> FromIterator<(Cow<'a, str>, Cow<'a, str>)> for Labels {
    fn from_iter<I: IntoIterator<Item = (Cow<'a, str>, Cow<'a, str>)>>(labels: I) -> Labels {
        let labels: BTreeMap<_, _> = labels.into_iter().collect();
        let mut text = String::new();
        for (key, value) in &labels {
            if !key.contains(END) && !value.contains(END) {
                for part in [key, value] {
                    text.push_str(part);
                    text.push(END);
                }
            }
        }
        Labels(text.into())
    }
}
