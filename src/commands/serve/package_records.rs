//! `PackageRecords`: the packages of the followed objects, as records, and when each has changed.

use std::collections::BTreeMap;
use std::sync::Arc;

use jiff::Timestamp;

use crate::model::{Model, Package, PackageIndex, PackageTool};
use crate::render::age::rfc3339_millis;
use crate::render::json::packages::PackageRecord;
use crate::render::json::{RefRecord, VERSION};
use crate::serve::ServedPackage;
use crate::status::Status;

/// The packages of some tools.
#[derive(Debug, Default)]
pub(super) struct PackageRecords {
    index: PackageIndex,
    known: BTreeMap<PackageKey, Arc<ServedPackage>>,
}

/// Which package it is.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
struct PackageKey {
    namespace: Option<Arc<str>>,
    name: Arc<str>,
    tool: PackageTool,
    /// The kind of its object.
    kind: Option<Arc<str>>,
}

impl PackageRecords {
    /// From now on, the packages are those of these tools. Those that were there before keep their records.
    pub(super) fn report(&mut self, tools: Vec<PackageTool>) {
        self.index = PackageIndex::new(tools);
    }

    /// All packages in the order of their names. A package that has not changed keeps its record.
    pub(super) fn take(
        &mut self,
        model: &Model,
        cluster: &str,
        now: Timestamp,
    ) -> Vec<Arc<ServedPackage>> {
        let mut known = BTreeMap::new();
        for package in model.packages(&mut self.index) {
            let key = key(&package);
            let record = record(&package, cluster);
            let served = match self.known.get(&key) {
                Some(was) if is_same(&was.record, &record) => was.clone(),
                was => Arc::new(changed(record, package.status, was.map(|was| &**was), now)),
            };
            known.insert(key, served);
        }
        self.known = known;
        self.known.values().cloned().collect()
    }
}

fn key(package: &Package) -> PackageKey {
    PackageKey {
        namespace: package.namespace.clone(),
        name: package.name.clone(),
        tool: package.tool.clone(),
        kind: package.root.as_ref().map(|root| root.kind.clone()),
    }
}

/// The record of a package without its times.
fn record(package: &Package, cluster: &str) -> PackageRecord {
    let counts = package.counts().into_iter().filter(|(_, count)| *count > 0);
    PackageRecord {
        v: VERSION,
        time: String::new(),
        cluster: cluster.to_owned(),
        namespace: package.namespace.as_deref().map(str::to_owned),
        package: package.name.to_string(),
        tool: package.tool.name().to_owned(),
        object_ref: package
            .root
            .as_ref()
            .map(|root| RefRecord::new(cluster, root)),
        status: package.status.as_str(),
        message: package.summary(),
        resources: counts
            .map(|(status, count)| (status.as_str(), count))
            .collect(),
        generation: package.generation,
        observed_generation: package.observed,
        since: None,
    }
}

/// Whether two records differ in nothing but their times.
fn is_same(was: &PackageRecord, now: &PackageRecord) -> bool {
    PackageRecord {
        time: String::new(),
        since: None,
        ..was.clone()
    } == *now
}

/// A record with its times: that of this change, and that of the last change of its state.
fn changed(
    record: PackageRecord,
    status: Status,
    was: Option<&ServedPackage>,
    now: Timestamp,
) -> ServedPackage {
    let since = match was {
        None => None,
        Some(was) if was.status == status => was.since,
        Some(_) => Some(now),
    };
    ServedPackage {
        record: PackageRecord {
            time: rfc3339_millis(now),
            since: since.map(rfc3339_millis),
            ..record
        },
        status,
        since,
    }
}
