//! The graph of a trace as a Mermaid flowchart (<https://mermaid.js.org/syntax/flowchart.html>), which GitHub draws.

use std::collections::BTreeMap;
use std::fmt::Write;

use super::dot::{label, labelled};
use super::json::trace::{GraphRecord, NodeRecord};
use super::text::escape_line;

/// The lines of a flowchart. Its colours are those of [`super::dot::dot`].
pub fn mermaid(graph: &GraphRecord) -> Vec<String> {
    let ids: BTreeMap<&str, String> = graph
        .nodes
        .iter()
        .enumerate()
        .map(|(at, node)| (&*node.id, format!("n{at}")))
        .collect();
    let mut lines = vec!["flowchart LR".to_owned()];
    lines.extend(graph.nodes.iter().filter_map(|node| {
        let id = ids.get(&*node.id)?;
        Some(format!("  {id}[\"{}\"]{}", text(node), class(node)))
    }));
    for ((from, to), relation) in labelled(&graph.edges) {
        if let (Some(from), Some(to)) = (ids.get(from), ids.get(to)) {
            lines.push(format!("  {from} -->|\"{}\"| {to}", escaped(&relation)));
        }
    }
    lines.push("  classDef failed stroke:#d00,stroke-width:2px".to_owned());
    lines.push("  classDef moving stroke:#e80".to_owned());
    lines.push("  classDef absent stroke:#d00,stroke-dasharray:4".to_owned());
    lines.push("  classDef unknown stroke-dasharray:4".to_owned());
    lines
}

fn text(node: &NodeRecord) -> String {
    let lines: Vec<String> = label(node).iter().map(|line| escaped(line)).collect();
    lines.join("<br/>")
}

fn class(node: &NodeRecord) -> &'static str {
    match node.status {
        "Current" => "",
        "Failed" => ":::failed",
        "InProgress" | "Terminating" => ":::moving",
        "NotFound" => ":::absent",
        _ => ":::unknown",
    }
}

/// The text with entity codes for all characters that Mermaid or HTML could read as syntax.
fn escaped(text: &str) -> String {
    let mut escaped = String::new();
    for c in escape_line(text).chars() {
        let is_plain = c.is_alphanumeric() || matches!(c, ' ' | '/' | '-' | '.' | ':' | ',' | '_');
        if is_plain {
            escaped.push(c);
        } else {
            let _infallible = write!(escaped, "#{};", u32::from(c));
        }
    }
    escaped
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::render::dot::tests::graph;

    #[test]
    fn a_graph_in_mermaid() {
        insta::assert_snapshot!(mermaid(&graph()).join("\n"), @r#"
        flowchart LR
          n0["service/web<br/>Current"]
          n1["pod/a#34;#93;#59; b#92;N #60;b#62;#35;1#59;<br/>ImagePullBackOff 0/1<br/>no image #34;web:#94;#91;#91;31m#34;"]:::failed
          n2["secret/db<br/>does not exist"]:::absent
          n1 -->|"environment, volume"| n2
          n0 -->|"selects"| n1
          classDef failed stroke:#d00,stroke-width:2px
          classDef moving stroke:#e80
          classDef absent stroke:#d00,stroke-dasharray:4
          classDef unknown stroke-dasharray:4
        "#);
    }
}
