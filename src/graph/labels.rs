//! Labels, as the graph keeps them.

use std::collections::BTreeMap;
use std::sync::Arc;

use crate::object::Value;

/// Labels by their keys.
pub type Labels = BTreeMap<Arc<str>, Arc<str>>;

/// The label that names a slice's Service
/// (<https://kubernetes.io/docs/reference/labels-annotations-taints/#kubernetesioservice-name>).
pub(super) const SERVICE_NAME: &str = "kubernetes.io/service-name";

/// Reads a map of labels. A value that is not a text is left out.
pub fn labels_of(map: Value<'_>) -> Labels {
    let labels = map.fields();
    let label = labels.map(|(key, value)| Some((Arc::from(&*key), Arc::from(&*value.as_str()?))));
    label.flatten().collect()
}
