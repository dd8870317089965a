//! The cost of one version, from a line of the watch to lines of text. The objects were recorded from a real
//! control plane (`benches/fixtures`: Kubernetes v1.36, with kwok as kubelet). For comparison, it also
//! measures a diff of `serde_json::Value`s and of pretty-printed text.
//!
//! ```console
//! $ cargo bench --bench diff                   # times, by criterion
//! $ benches/instructions                       # instructions a version, by callgrind
//! ```
#![expect(
    clippy::unwrap_used,
    clippy::print_stdout,
    reason = "a benchmark fails by panicking"
)]
#![expect(
    clippy::disallowed_methods,
    reason = "`benches/instructions` sets environment variables for it"
)]

use std::collections::BTreeSet;
use std::hint::black_box;
use std::io::Read;
use std::sync::Arc;

use criterion::{Criterion, Throughput};
use kubectl_spy::diff::{Diff, Filter, Redactor};
use kubectl_spy::object::Doc;
use kubectl_spy::object::managed_fields::Writers;
use kubectl_spy::render::diff::{DiffView, Fold, ShownChanges, counts};
use kubectl_spy::render::style::{Look, Styles, Symbols};
use kubectl_spy::source::{ClusterId, SourceKey, Version};
use kubectl_spy::watch::{Reader, WatchLine};
use serde_json::{Value, json};

/// The lines of a recorded watch.
fn recorded(gzip: &[u8]) -> Vec<String> {
    let mut text = String::new();
    flate2::read::GzDecoder::new(gzip)
        .read_to_string(&mut text)
        .unwrap();
    text.lines().map(str::to_owned).collect()
}

fn pod() -> Vec<String> {
    recorded(include_bytes!("fixtures/pod.ndjson.gz"))
}

fn deployment() -> Vec<String> {
    recorded(include_bytes!("fixtures/deployment.ndjson.gz"))
}

/// The source of the object in a line.
fn source(line: &str) -> SourceKey {
    let line: Value = serde_json::from_str(line).unwrap();
    let object = &line["object"];
    let api_version = object["apiVersion"].as_str().unwrap();
    let group = api_version.split_once('/').map_or("", |(group, _)| group);
    SourceKey {
        cluster: ClusterId("bench".into()),
        ..SourceKey::all(group, object["kind"].as_str().unwrap())
    }
}

/// The version in a line.
fn version(reader: &mut Reader, line: &str) -> Version {
    match reader.line(line.as_bytes()).unwrap() {
        WatchLine::Object { item, .. } => item.version,
        other => panic!("no object: {other:?}"),
    }
}

/// The text of the object in a line.
fn body(line: &str) -> Arc<str> {
    version(&mut Reader::new(&source(line)), line).body.text()
}

/// Whether the previous version is used as a hint to read the next one.
#[derive(Clone, Copy)]
enum Hints {
    Used,
    Unused,
}

/// The parts of the program between a line and its text that stay the same for all versions.
struct Pipeline {
    source: SourceKey,
    reader: Reader,
    redactor: Redactor,
    filter: Filter,
    noise: BTreeSet<kubectl_spy::diff::Noise>,
    zone: jiff::tz::TimeZone,
}

impl Pipeline {
    /// The pipeline for the source of the object in a line.
    fn new(line: &str) -> Pipeline {
        let source = source(line);
        Pipeline {
            reader: Reader::new(&source),
            source,
            redactor: Redactor::new(),
            filter: Filter::default(),
            noise: BTreeSet::new(),
            zone: jiff::tz::TimeZone::UTC,
        }
    }

    /// Processes one line, and replaces `held` by the new version.
    fn version(&mut self, line: &str, held: &mut Doc, hints: Hints) -> usize {
        if let Hints::Unused = hints {
            self.reader = Reader::new(&self.source);
        }
        let new = black_box(version(&mut self.reader, line)).doc().unwrap();
        let roots = (Some(held.root()), Some(new.root()));
        let changes = Diff::of(roots.0, roots.1);
        let shown = counts(&changes, &self.filter, &self.noise).shown;
        let mut bytes = 0;
        if shown > 0 {
            let view = DiffView {
                look: Look {
                    width: Some(120),
                    styles: Styles::PLAIN,
                    symbols: &Symbols::UNICODE,
                },
                redactor: &self.redactor,
                filter: &self.filter,
                noise: &self.noise,
                zone: &self.zone,
                fold: Fold::Many,
            };
            let writers = Writers::of(roots.0, roots.1);
            let lines = ShownChanges::of(&changes, &writers, &view).lines();
            bytes = lines.iter().map(|line| line.as_str().len()).sum();
        }
        *held = new;
        bytes
    }

    /// Processes the versions of one object after its first one.
    fn life(&mut self, lines: &[String], first: &Doc, hints: Hints) -> usize {
        let mut held = first.clone();
        lines[1..]
            .iter()
            .map(|line| self.version(line, &mut held, hints))
            .sum()
    }
}

fn one_object(criterion: &mut Criterion, name: &str, lines: &[String]) {
    let mut group = criterion.benchmark_group(name);
    group.throughput(Throughput::Elements(lines.len() as u64 - 1));
    let first = Doc::parse(body(&lines[0])).unwrap();
    let mut pipeline = Pipeline::new(&lines[0]);
    for (name, hints) in [("hinted", Hints::Used), ("unhinted", Hints::Unused)] {
        group.bench_function(name, |bencher| {
            bencher.iter(|| pipeline.life(lines, &first, hints));
        });
    }
    let values: Vec<Value> = lines
        .iter()
        .map(|line| serde_json::from_str(&body(line)).unwrap())
        .collect();
    group.bench_function("json_patch::diff of Values, with the parse", |bencher| {
        bencher.iter(|| {
            let mut held = values[0].clone();
            for line in &lines[1..] {
                let new: Value = serde_json::from_str(&body(line)).unwrap();
                black_box(json_patch::diff(&held, &new));
                held = new;
            }
        });
    });
    group.bench_function("pretty print and similar, with the parse", |bencher| {
        bencher.iter(|| {
            let mut held = serde_json::to_string_pretty(&values[0]).unwrap();
            for line in &lines[1..] {
                let new: Value = serde_json::from_str(&body(line)).unwrap();
                let new = serde_json::to_string_pretty(&new).unwrap();
                let diff = similar::TextDiff::from_lines(&held, &new);
                black_box(diff.unified_diff().to_string());
                held = new;
            }
        });
    });
    group.finish();
}

/// 2,000 Pods of one controller, whose versions alternate, so that no CPU cache holds them.
fn interleaved(criterion: &mut Criterion) {
    const PODS: usize = 2000;
    let lives: Vec<Vec<String>> = (0..PODS)
        .map(|at| {
            let other = |line: String| {
                line.replace("-4876j", &format!("-{at:05}"))
                    .replace("b8d8d462-", &format!("{at:08x}-"))
            };
            pod().into_iter().map(other).collect()
        })
        .collect();
    let first: Vec<Doc> = lives
        .iter()
        .map(|lines| Doc::parse(body(&lines[0])).unwrap())
        .collect();
    let versions = lives[0].len() - 1;
    let mut group = criterion.benchmark_group("2,000 pods interleaved");
    group.sample_size(10);
    group.throughput(Throughput::Elements((PODS * versions) as u64));
    let mut pipeline = Pipeline::new(&lives[0][0]);
    for (name, hints) in [("hinted", Hints::Used), ("unhinted", Hints::Unused)] {
        group.bench_function(name, |bencher| {
            bencher.iter_batched_ref(
                || first.clone(),
                |held| {
                    for version in 1..=versions {
                        for (lines, held) in lives.iter().zip(held.iter_mut()) {
                            pipeline.version(&lines[version], held, hints);
                        }
                    }
                },
                criterion::BatchSize::PerIteration,
            );
        });
    }
    group.finish();
}

/// An `EndpointSlice` of 1.2 MB, with copies of the recorded endpoints.
fn slice() -> Value {
    let lines = recorded(include_bytes!("fixtures/endpointslice.ndjson.gz"));
    let mut slice: Value = serde_json::from_str(&body(&lines[1])).unwrap();
    let one = slice["endpoints"][0].clone();
    let many = (0..5000).map(|at| {
        let mut endpoint = one.clone();
        endpoint["addresses"] =
            json!([format!("10.{}.{}.{}", at / 62500, at / 250 % 250, at % 250)]);
        endpoint["targetRef"]["uid"] = json!(format!("{at:08x}-9c1f-4a9c-8e54-0b5d7e9b4c11"));
        endpoint["targetRef"]["name"] = json!(format!("web-7796596ff7-{at:05}"));
        endpoint
    });
    slice["endpoints"] = many.collect();
    slice
}

/// A text of 1.1 MB in lines, with edits at its start, in its middle and at its end.
fn texts() -> (String, String) {
    let line = |at: usize| {
        format!(
            "  key-{at}: a value that is {} characters long or so\n",
            at % 60
        )
    };
    let old: String = (0..20_000).map(line).collect();
    let new = [100, 10_000, 19_900].iter().fold(old.clone(), |text, at| {
        text.replace(&line(*at), &line(at + 7).replace("value", "VALUE"))
    });
    (old, new)
}

/// An object as kube-apiserver writes it: type and metadata come first.
fn sent(object: &Value) -> String {
    let mut fields: Vec<(&String, &Value)> = object.as_object().unwrap().iter().collect();
    let first = ["kind", "apiVersion", "metadata"];
    fields.sort_by_key(|(name, _)| first.iter().position(|first| first == name).unwrap_or(3));
    let fields = fields
        .iter()
        .map(|(name, value)| format!("{name:?}:{value}"));
    format!("{{{}}}", fields.collect::<Vec<_>>().join(","))
}

fn large(criterion: &mut Criterion) {
    let mut group = criterion.benchmark_group("large");
    let line = |object: &Value| format!(r#"{{"type":"MODIFIED","object":{}}}"#, sent(object));
    let mut bench = |name: &str, old: &Value, new: &Value| {
        let first = Doc::parse(body(&line(old))).unwrap();
        let lines = [line(old), line(new)];
        let mut pipeline = Pipeline::new(&lines[0]);
        for (how, hints) in [("hinted", Hints::Used), ("unhinted", Hints::Unused)] {
            let name = format!("{name}, {how} ({} B)", lines[1].len());
            group.bench_function(name, |bencher| {
                bencher.iter_batched_ref(
                    || first.clone(),
                    |held| pipeline.version(&lines[1], held, hints),
                    criterion::BatchSize::PerIteration,
                );
            });
        }
    };
    let object = |metadata: Value, rest: Value| {
        let mut object = json!({ "apiVersion": "v1", "kind": "ConfigMap", "metadata": metadata });
        object
            .as_object_mut()
            .unwrap()
            .extend(rest.as_object().unwrap().clone());
        object
    };
    let meta = json!({ "name": "x", "uid": "u", "resourceVersion": "1" });

    let old = slice();
    let mut new = old.clone();
    new["endpoints"][2500]["conditions"]["ready"] = json!(false);
    bench("slice, one of 5,000 endpoints changed", &old, &new);
    let endpoints = old["endpoints"].as_array().unwrap();
    let shuffled = (0..5000).map(|at| endpoints[at * 1201 % 5000].clone());
    new["endpoints"] = shuffled.collect();
    bench("slice, 5,000 endpoints shuffled", &old, &new);

    let (old, new) = texts();
    let map = |text: &str| object(meta.clone(), json!({ "data": { "app.yaml": text } }));
    bench(
        "text of 1.1 MB, three lines changed",
        &map(&old),
        &map(&new),
    );
    let mut one = old.replace('\n', " ");
    let before = map(&one);
    one.replace_range(500_000..500_001, "#");
    bench("one line of 1.1 MB, one byte changed", &before, &map(&one));

    let items = |n: usize| -> Value {
        (0..3600)
            .map(|at| {
                let state = if at == n { "on" } else { "off" };
                json!({ "name": format!("item-{at}"), "state": state, "note": "x".repeat(360) })
            })
            .collect()
    };
    let custom = |n: usize| object(meta.clone(), json!({ "spec": { "things": items(n) } }));
    bench(
        "object of 1.5 MB, one of 3,600 items changed",
        &custom(4000),
        &custom(1800),
    );
    group.finish();
}

/// Processes the Pod's versions `COUNT` times and nothing else, for callgrind.
fn for_callgrind(ask: &str) {
    let (hints, count) = ask.split_once(':').unwrap();
    let hints = match hints {
        "hinted" => Hints::Used,
        _ => Hints::Unused,
    };
    let lines = pod();
    let first = Doc::parse(body(&lines[0])).unwrap();
    let mut pipeline = Pipeline::new(&lines[0]);
    for _ in 0..count.parse::<u32>().unwrap() {
        black_box(pipeline.life(&lines, &first, hints));
    }
    println!("{} versions a life", lines.len() - 1);
}

fn main() {
    if let Ok(ask) = std::env::var("SPY_BENCH_LIVES") {
        return for_callgrind(&ask);
    }
    let mut criterion = Criterion::default().configure_from_args();
    one_object(&mut criterion, "pod", &pod());
    one_object(&mut criterion, "deployment", &deployment());
    interleaved(&mut criterion);
    large(&mut criterion);
    criterion.final_summary();
}
