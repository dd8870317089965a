//! Sidecars: init containers that keep running beside the other containers.

use super::value::Value;

/// Whether an init container of a Pod's spec is a sidecar
/// (<https://kubernetes.io/docs/concepts/workloads/pods/sidecar-containers/>).
pub fn is_sidecar(container: Value<'_>) -> bool {
    container.str_at(&["restartPolicy"]).as_deref() == Some("Always")
}
