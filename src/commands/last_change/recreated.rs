//! `RecreatedServices`: Services that were created anew a short time ago, and whose former address a failure names.

use std::cmp::Reverse;
use std::collections::BTreeSet;
use std::net::IpAddr;
use std::sync::Arc;
use std::time::Duration;

use jiff::{SignedDuration, Timestamp};
use tokio::time::timeout;

use crate::graph::ReferenceTarget;
use crate::model::{Model, ModelObject};
use crate::object::{GroupKind, Value};
use crate::source::{Form, SourceKey, Version};
use crate::watch::{History, Past, RequestAllowance, Walk, WalkLimits};

use super::change::LastChange;
use super::error_text::addresses;
use super::failure::{Failure, unwell_pods};

/// How long ago such a Service was created.
const LATELY: SignedDuration = SignedDuration::from_mins(30);

/// The most requests for one failed object: one for the Services, and the others for their former lives.
const REQUESTS: u32 = 4;

/// How long the search may take.
const PATIENCE: Duration = Duration::from_secs(1);

/// Where to look for a Service whose former address a failure names.
pub(super) struct RecreatedServices {
    /// The Services of the namespace.
    pub(super) history: History,
    /// The addresses in the words of the failure.
    named: BTreeSet<IpAddr>,
    /// The server's time.
    now: Timestamp,
}

impl RecreatedServices {
    /// `None` if the failure names no address that may be one of a Service, or if its kind tells what it is about.
    pub(super) fn of(
        model: &Model,
        failure: &Failure,
        history: &dyn Fn(&SourceKey) -> Option<History>,
        now: Timestamp,
    ) -> Option<RecreatedServices> {
        if !failure.reason.is_open() {
            return None;
        }
        let object = model.object(&failure.uid)?;
        let unwell = unwell_pods(model, &failure.uid);
        let unwell: Vec<&ModelObject> = unwell.into_iter().chain([object]).collect();
        let causes = unwell.iter().flat_map(|object| &object.assessment.causes);
        let mut named: BTreeSet<IpAddr> = causes.flat_map(|cause| addresses(&cause.text)).collect();
        for pod in unwell {
            // A probe names the address of the Pod itself.
            let doc = model.doc(&pod.object.identity());
            named.retain(|named| {
                !doc.as_ref()
                    .is_some_and(|doc| is_of_pod(doc.root(), *named))
            });
        }
        if named.is_empty() {
            return None;
        }
        let service = ReferenceTarget {
            kind: GroupKind::new("", "Service"),
            namespace: Some(object.object.namespace.clone()?),
            name: "".into(),
        };
        let services = SourceKey {
            form: Form::Full,
            ..service.source(object.cluster()?, model.types())?
        };
        Some(RecreatedServices {
            history: history(&services.of_all())?,
            named,
            now,
        })
    }

    /// The newest re-creation of a Service that had an address which the failure names.
    pub(super) async fn find(&self, allowance: &RequestAllowance) -> Option<LastChange> {
        timeout(PATIENCE, self.search(allowance)).await.ok()?
    }

    async fn search(&self, allowance: &RequestAllowance) -> Option<LastChange> {
        if !allowance.take(1) {
            return None;
        }
        let services = self.history.listing_now().await.ok()?.into_iter();
        let suspects =
            services.filter_map(|service| Some((self.suspect_since(&service)?, service)));
        let mut suspects: Vec<(Timestamp, Arc<Version>)> = suspects.collect();
        suspects.sort_by_key(|(created, _)| Reverse(*created));
        let mut left = REQUESTS - 1;
        for (_, service) in suspects {
            let limits = WalkLimits {
                requests: left,
                shared: Some(allowance.clone()),
                ..WalkLimits::default()
            };
            let mut walk = self
                .history
                .before(&service, limits)?
                .after_watch_cache()
                .await;
            let found = self.recreation(service, &mut walk).await;
            if found.is_some() {
                return found;
            }
            left = left.saturating_sub(walk.requests);
        }
        None
    }

    /// When a Service was created, if that was a short time ago, and if it does not have a named address now.
    fn suspect_since(&self, service: &Version) -> Option<Timestamp> {
        let doc = service.doc().ok()?;
        let created = doc.root().time_at(&["metadata", "creationTimestamp"])?;
        let is_young = self.now.duration_since(created) <= LATELY;
        let mut own = cluster_addresses(doc.root());
        let is_named = own.any(|address| self.named.contains(&address));
        (is_young && !is_named).then_some(created)
    }

    /// The creation of a Service, if the one before it had a named address.
    async fn recreation(&self, service: Arc<Version>, walk: &mut Walk) -> Option<LastChange> {
        let mut first = service;
        while let Some(past) = walk.next().await {
            let Past::Version(older) = past else { continue };
            if older.object.uid != first.object.uid {
                return self.between_lives(&older, &first);
            }
            first = older;
        }
        None
    }

    /// The creation of a Service after the last version of its former life.
    fn between_lives(&self, former: &Version, first: &Version) -> Option<LastChange> {
        let (old, new) = (former.doc().ok()?, first.doc().ok()?);
        let mut old = cluster_addresses(old.root());
        let old = old.find(|address| self.named.contains(address))?;
        let same_family = |new: &IpAddr| new.is_ipv4() == old.is_ipv4();
        let new = cluster_addresses(new.root()).find(same_family);
        let new = new.map_or("(none)".to_owned(), |new| new.to_string());
        LastChange::recreation(first, [format!("clusterIP: {old}"), new])
    }
}

/// The addresses of a Service in the cluster. One without any has the text `None`, or no field.
fn cluster_addresses(service: Value<'_>) -> impl Iterator<Item = IpAddr> {
    let first = service.str_at(&["spec", "clusterIP"]);
    let all = service.items_at(&["spec", "clusterIPs"]);
    let all = all.filter_map(Value::as_str);
    let all = first.into_iter().chain(all);
    all.filter_map(|address| address.parse().ok())
}

/// Whether an address is that of a Pod or of its node.
fn is_of_pod(pod: Value<'_>, address: IpAddr) -> bool {
    let lists = [["podIPs", "ip"], ["hostIPs", "ip"]].into_iter();
    let listed = lists.flat_map(|[list, field]| {
        let items = pod.items_at(&["status", list]);
        items.filter_map(move |item| item.str_at(&[field]))
    });
    let single = ["podIP", "hostIP"].into_iter();
    let single = single.filter_map(|field| pod.str_at(&["status", field]));
    let mut own = listed.chain(single);
    own.any(|own| own.parse() == Ok(address))
}
