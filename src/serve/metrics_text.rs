//! `MetricsText`: metrics in the text format of Prometheus
//! (<https://prometheus.io/docs/instrumenting/exposition_formats/#text-based-format>).

use std::fmt::Write;

/// The text so far.
#[derive(Default)]
pub(super) struct MetricsText(pub(super) String);

impl MetricsText {
    pub(super) fn family(&mut self, name: &str, kind: &str, help: &str) {
        let text = &mut self.0;
        let _infallible = writeln!(text, "# HELP {name} {help}\n# TYPE {name} {kind}");
    }

    pub(super) fn sample(&mut self, name: &str, labels: &[(&str, &str)], value: u64) {
        let text = &mut self.0;
        text.push_str(name);
        for (place, (label, value)) in labels.iter().enumerate() {
            let before = if place == 0 { '{' } else { ',' };
            let _infallible = write!(text, "{before}{label}=\"");
            for c in value.chars() {
                match c {
                    '\\' => text.push_str("\\\\"),
                    '"' => text.push_str("\\\""),
                    '\n' => text.push_str("\\n"),
                    c => text.push(c),
                }
            }
            text.push('"');
        }
        let end = if labels.is_empty() { "" } else { "}" };
        let _infallible = writeln!(text, "{end} {value}");
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        /// A label holds any text, and the sample stays one line.
        #[test]
        fn any_text_is_a_label(value in "\\PC*|[\"\\\\\n]{0,6}") {
            let mut text = MetricsText(String::new());
            text.sample("x", &[("l", &value)], 1);
            let inside = text.0.strip_prefix("x{l=\"").and_then(|rest| rest.strip_suffix("\"} 1\n"));
            let inside = inside.expect("a sample");
            let mut back = String::new();
            let mut chars = inside.chars();
            while let Some(c) = chars.next() {
                prop_assert!(c != '"' && c != '\n');
                match c {
                    '\\' => back.push(match chars.next() {
                        Some('n') => '\n',
                        Some(c) => c,
                        None => '\0',
                    }),
                    c => back.push(c),
                }
            }
            prop_assert_eq!(back, value);
        }
    }
}
