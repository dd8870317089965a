//! The packages in the metrics. Each has a few series, and all together have a limit.

use jiff::Timestamp;

use super::metrics_text::MetricsText;
use crate::render::json::packages::PackageRecord;
use crate::status::Status;

/// The most series of all packages together.
const MAX_SERIES: usize = 10_000;

/// A package, as readers take it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ServedPackage {
    /// Its record.
    pub record: PackageRecord,
    /// Its state.
    pub status: Status,
    /// When its state last changed; `None` if it has not since the start.
    pub since: Option<Timestamp>,
}

impl ServedPackage {
    /// How many series it has.
    fn series(&self) -> usize {
        let record = &self.record;
        let numbers = [record.generation, record.observed_generation];
        let numbers = numbers.iter().flatten().count() + usize::from(self.since.is_some());
        Status::ALL.len() + record.resources.len() + numbers
    }
}

/// One series of a package: the state in its label, and its value.
type PackageSample = (Option<&'static str>, u64);

/// A metric of packages, and its series of one package.
struct PackageMetric {
    name: &'static str,
    help: &'static str,
    samples: fn(&ServedPackage) -> Vec<PackageSample>,
}

const METRICS: [PackageMetric; 5] = [
    PackageMetric {
        name: "spy_package_status",
        help: "1 for the state of a package, 0 for all others.",
        samples: |package| {
            let is_it = |status: Status| u64::from(status == package.status);
            let all = Status::ALL.iter();
            all.map(|status| (Some(status.as_str()), is_it(*status)))
                .collect()
        },
    },
    PackageMetric {
        name: "spy_package_resources",
        help: "The members of a package by their states.",
        samples: |package| {
            let resources = package.record.resources.iter();
            resources
                .map(|(status, count)| (Some(*status), *count as u64))
                .collect()
        },
    },
    PackageMetric {
        name: "spy_package_generation",
        help: "The generation of the object of a package.",
        samples: |package| number(package.record.generation),
    },
    PackageMetric {
        name: "spy_package_observed_generation",
        help: "The generation that the controller of a package has observed.",
        samples: |package| number(package.record.observed_generation),
    },
    PackageMetric {
        name: "spy_package_since_seconds",
        help: "When the state of a package last changed, in seconds since 1970.",
        samples: |package| number(package.since.map(Timestamp::as_second)),
    },
];

fn number(value: Option<i64>) -> Vec<PackageSample> {
    let value = value.and_then(|value| u64::try_from(value).ok());
    value.into_iter().map(|value| (None, value)).collect()
}

/// Writes the series of packages, in their order and up to the limit, and the number of those beyond it.
pub(super) fn package_metrics(text: &mut MetricsText, packages: &[impl AsRef<ServedPackage>]) {
    if packages.is_empty() {
        return;
    }
    let mut series = 0;
    let within = packages.iter().take_while(|package| {
        series += package.as_ref().series();
        series <= MAX_SERIES
    });
    let within: Vec<&ServedPackage> = within.map(AsRef::as_ref).collect();
    for metric in METRICS {
        text.family(metric.name, "gauge", metric.help);
        for package in &within {
            let record = &package.record;
            for (status, value) in (metric.samples)(package) {
                let mut labels = vec![
                    ("cluster", &*record.cluster),
                    ("namespace", record.namespace.as_deref().unwrap_or_default()),
                    ("package", &*record.package),
                    ("tool", &*record.tool),
                ];
                labels.extend(record.object_ref.as_ref().map(|root| ("kind", &*root.kind)));
                labels.extend(status.map(|status| ("status", status)));
                text.sample(metric.name, &labels, value);
            }
        }
    }
    let name = "spy_package_overflow";
    text.family(
        name,
        "gauge",
        "Packages without series, because there are too many.",
    );
    text.sample(name, &[], (packages.len() - within.len()) as u64);
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;
    use std::sync::Arc;

    use insta::assert_snapshot;

    use super::*;

    fn package(name: &str) -> Arc<ServedPackage> {
        Arc::new(ServedPackage {
            record: PackageRecord {
                v: 1,
                time: String::new(),
                cluster: "c".to_owned(),
                namespace: Some("shop".to_owned()),
                package: name.to_owned(),
                tool: "flux".to_owned(),
                object_ref: None,
                status: "Failed",
                message: String::new(),
                resources: BTreeMap::from([("Current", 2), ("Failed", 1)]),
                generation: Some(7),
                observed_generation: Some(6),
                since: None,
            },
            status: Status::Failed,
            since: Some(Timestamp::UNIX_EPOCH),
        })
    }

    fn text(packages: &[Arc<ServedPackage>]) -> String {
        let mut text = MetricsText::default();
        package_metrics(&mut text, packages);
        let lines = text.0.lines().filter(|line| !line.starts_with('#'));
        lines.flat_map(|line| [line, "\n"]).collect()
    }

    #[test]
    fn a_package_has_one_state_and_its_generations_as_values() {
        assert_snapshot!(text(&[package("web")]), @r#"
        spy_package_status{cluster="c",namespace="shop",package="web",tool="flux",status="Current"} 0
        spy_package_status{cluster="c",namespace="shop",package="web",tool="flux",status="Terminating"} 0
        spy_package_status{cluster="c",namespace="shop",package="web",tool="flux",status="InProgress"} 0
        spy_package_status{cluster="c",namespace="shop",package="web",tool="flux",status="NotFound"} 0
        spy_package_status{cluster="c",namespace="shop",package="web",tool="flux",status="Unknown"} 0
        spy_package_status{cluster="c",namespace="shop",package="web",tool="flux",status="Failed"} 1
        spy_package_resources{cluster="c",namespace="shop",package="web",tool="flux",status="Current"} 2
        spy_package_resources{cluster="c",namespace="shop",package="web",tool="flux",status="Failed"} 1
        spy_package_generation{cluster="c",namespace="shop",package="web",tool="flux"} 7
        spy_package_observed_generation{cluster="c",namespace="shop",package="web",tool="flux"} 6
        spy_package_since_seconds{cluster="c",namespace="shop",package="web",tool="flux"} 0
        spy_package_overflow 0
        "#);
        assert_eq!(text(&[]), "");
    }

    #[test]
    fn there_are_never_more_series_than_the_limit() {
        let packages: Vec<_> = (0..1000)
            .map(|number| package(&format!("p{number}")))
            .collect();
        let text = text(&packages);
        let (within, beyond) = (MAX_SERIES / 11, 1000 - MAX_SERIES / 11);
        assert_eq!(text.lines().count(), within * 11 + 1);
        assert!(text.ends_with(&format!("spy_package_overflow {beyond}\n")));
    }
}
