//! `Autoscalers`: the bounds within which an autoscaler keeps a workload, for a scale that somebody took back.

use std::time::Duration;

use tokio::time::timeout;

use crate::graph::ReferenceTarget;
use crate::model::Model;
use crate::object::{GroupKind, Value};
use crate::render::text::escape_line;
use crate::source::SourceKey;
use crate::watch::{History, RequestAllowance};

use super::failure::{Failure, FailureReason};

/// How long the list of the autoscalers may take.
const PATIENCE: Duration = Duration::from_secs(1);

/// Where to look for the autoscaler of a workload.
pub(super) struct Autoscalers {
    /// The autoscalers of the namespace.
    history: History,
    workload: ReferenceTarget,
}

impl Autoscalers {
    /// `None` if the failure is not about a scale.
    pub(super) fn of(
        model: &Model,
        failure: &Failure,
        history: &dyn Fn(&SourceKey) -> Option<History>,
    ) -> Option<Autoscalers> {
        if failure.reason != FailureReason::Rescaled {
            return None;
        }
        let object = model.object(&failure.uid)?;
        let any = ReferenceTarget {
            kind: GroupKind::new("autoscaling", "HorizontalPodAutoscaler"),
            namespace: object.object.namespace.clone(),
            name: "".into(),
        };
        Some(Autoscalers {
            history: history(&any.list_source(object.cluster()?, model.types())?)?,
            workload: ReferenceTarget::of(&object.object),
        })
    }

    /// `horizontalpodautoscaler/web: min 2, max 4`; `None` if no autoscaler names the workload, or if they cannot be read.
    pub(super) async fn bounds(&self, allowance: &RequestAllowance) -> Option<String> {
        if !allowance.take(1) {
            return None;
        }
        let autoscalers = timeout(PATIENCE, self.history.listing_now()).await;
        autoscalers.ok()?.ok()?.iter().find_map(|autoscaler| {
            let doc = autoscaler.doc().ok()?;
            let spec = doc.root().at(&["spec"])?;
            let max = spec.i64_at(&["maxReplicas"])?;
            // The API server's default.
            let min = spec.i64_at(&["minReplicas"]).unwrap_or(1);
            let name = escape_line(&autoscaler.object.name);
            let said = format!("horizontalpodautoscaler/{name}: min {min}, max {max}");
            self.is_named_in(spec).then_some(said)
        })
    }

    /// Whether the target of an autoscaler is the workload. The version of its API does not count.
    fn is_named_in(&self, spec: Value<'_>) -> bool {
        let field = |name| spec.str_at(&["scaleTargetRef", name]).unwrap_or_default();
        let api_version = field("apiVersion");
        let (group, _) = api_version.rsplit_once('/').unwrap_or_default();
        let ReferenceTarget { kind, name, .. } = &self.workload;
        (group, &*field("kind"), &*field("name")) == (&*kind.group, &*kind.kind, &**name)
    }
}
