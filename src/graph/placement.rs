//! Placement: the labels that a Pod demands of its node.

use crate::object::selector::LabelSelector;
use crate::object::{Value, map_selector, node_selector_term};

const TERMS: [&str; 5] = [
    "spec",
    "affinity",
    "nodeAffinity",
    "requiredDuringSchedulingIgnoredDuringExecution",
    "nodeSelectorTerms",
];

/// The selectors of which a node must match one, for a Pod or a Pod template. There are none if it demands no labels.
pub fn node_selectors(pod: Value<'_>) -> Vec<LabelSelector> {
    let labels = pod.at(&["spec", "nodeSelector"]).and_then(map_selector);
    let labels = labels.unwrap_or_default();
    let terms = pod.items_at(&TERMS).filter_map(node_selector_term);
    let mut selectors: Vec<LabelSelector> = terms.map(|term| labels.and(term)).collect();
    if selectors.is_empty() {
        selectors.push(labels);
    }
    selectors.retain(|selector| !selector.is_empty());
    selectors
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::object::Doc;

    #[test]
    fn a_node_must_match_the_selector_and_one_of_the_terms() {
        let terms = |terms: &str| {
            format!(
                r#"{{"affinity":{{"nodeAffinity":{{"requiredDuringSchedulingIgnoredDuringExecution":{{"nodeSelectorTerms":[{terms}]}}}}}},
                    "nodeSelector":{{"disk":"ssd"}}}}"#
            )
        };
        let zone = r#"{"matchExpressions":[{"key":"zone","operator":"In","values":["b","a"]}]}"#;
        let size = r#"{"matchExpressions":[{"key":"size","operator":"Gt","values":["4"]}]}"#;
        for (spec, expect) in [
            ("{}".to_owned(), &[][..]),
            (
                r#"{"nodeSelector":{"disk":"ssd"}}"#.to_owned(),
                &["disk=ssd"],
            ),
            (terms(zone), &["disk=ssd,zone in (a,b)"]),
            (
                terms(&format!("{zone},{size}")),
                &["disk=ssd,zone in (a,b)", "disk=ssd,size>4"],
            ),
            (terms(r#"{"matchFields":[]}"#), &["disk=ssd"]),
        ] {
            let doc = Doc::parse(format!(r#"{{"spec":{spec}}}"#)).expect("a case is JSON");
            let selectors: Vec<_> = node_selectors(doc.root())
                .iter()
                .map(ToString::to_string)
                .collect();
            assert_eq!(selectors, expect, "{spec}");
        }
    }
}
