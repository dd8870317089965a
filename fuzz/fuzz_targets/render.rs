//! Any two versions are rendered at any width, without a panic and without characters that a terminal obeys.
//! The input is both versions, with a form feed between them.

#![no_main]

use std::collections::BTreeSet;

use kubectl_spy::diff::{Diff, Filter, Noise, Redactor};
use kubectl_spy::object::Doc;
use kubectl_spy::object::managed_fields::Writers;
use kubectl_spy::render::diff::{DiffView, Fold, ShownChanges, counts, created_lines};
use kubectl_spy::render::style::{Look, Styles, Symbols};

libfuzzer_sys::fuzz_target!(|pair: &str| {
    let Some((old, new)) = pair.split_once('\u{c}') else {
        return;
    };
    let (Ok(a), Ok(b)) = (Doc::parse(old), Doc::parse(new)) else {
        return;
    };
    let redactor = Redactor::new();
    let (filter, noise) = (Filter::default(), BTreeSet::from(Noise::ALL));
    let zone = jiff::tz::TimeZone::UTC;
    let view = DiffView {
        look: Look {
            width: (!pair.len().is_multiple_of(7)).then_some(pair.len() % 400 + 1),
            styles: Styles::PLAIN,
            symbols: &Symbols::UNICODE,
        },
        redactor: &redactor,
        filter: &filter,
        noise: &noise,
        zone: &zone,
        fold: Fold::Many,
    };
    let roots = (Some(a.root()), Some(b.root()));
    let diff = Diff::of(roots.0, roots.1);
    let writers = Writers::of(roots.0, roots.1);
    let mut lines = ShownChanges::of(&diff, &writers, &view).lines();
    assert_eq!(lines.is_empty(), counts(&diff, &filter, &noise).shown == 0);
    lines.extend(created_lines(redactor.shown(b.root()), &view));
    assert!(
        lines
            .iter()
            .all(|line| !line.as_str().contains(char::is_control)),
        "{lines:?}"
    );
});
