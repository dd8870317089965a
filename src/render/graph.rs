//! The graph of a trace for Graphviz (<https://graphviz.org/doc/info/lang.html>).

use std::collections::BTreeMap;
use std::fmt::Write;

use super::json::trace::{EdgeRecord, GraphRecord, NodeRecord};
use super::text::escape_line;

/// The lines of a `digraph`. Objects that fail are red, objects in transition are orange, and missing ones are dashed.
pub fn dot(graph: &GraphRecord) -> Vec<String> {
    let mut lines = vec![
        "digraph trace {".to_owned(),
        "  rankdir=LR;".to_owned(),
        "  node [shape=box, style=rounded, fontname=\"sans-serif\"];".to_owned(),
        "  edge [fontname=\"sans-serif\", fontsize=10];".to_owned(),
    ];
    lines.extend(graph.nodes.iter().map(node));
    let edges = labelled(&graph.edges);
    lines.extend(edges.iter().map(|((from, to), label)| {
        let (from, to, label) = (quoted(from), quoted(to), quoted(label));
        format!("  {from} -> {to} [label={label}];")
    }));
    lines.push("}".to_owned());
    lines
}

fn node(node: &NodeRecord) -> String {
    let look = match node.status {
        "Current" => "",
        "Failed" => ", color=red, penwidth=2",
        "InProgress" | "Terminating" => ", color=orange",
        "NotFound" => ", color=red, style=\"rounded,dashed\"",
        _ => ", style=\"rounded,dashed\"",
    };
    let label = label(node)
        .iter()
        .map(|line| escaped(line))
        .collect::<Vec<_>>();
    format!(
        "  {} [label=\"{}\"{look}];",
        quoted(&node.id),
        label.join("\\n")
    )
}

/// The lines of a node: its name, its state, and its first cause.
pub(super) fn label(node: &NodeRecord) -> Vec<String> {
    let name = match &node.object {
        Some(object) => format!("{}/{}", object.kind.to_lowercase(), object.name),
        None => node.id.clone(),
    };
    let state = match (node.status, &*node.word) {
        ("NotFound", _) => "does not exist",
        (status, "") => status,
        (_, word) => word,
    };
    let state = [state, &node.ready].join(" ");
    let cause = node
        .causes
        .first()
        .and_then(|cause| cause.text.lines().next());
    let mut lines = vec![name, state.trim_end().to_owned()];
    lines.extend(cause.map(str::to_owned));
    lines
}

/// The edges with the names of all their relations, by their ends.
pub(super) fn labelled(edges: &[EdgeRecord]) -> BTreeMap<(&str, &str), String> {
    let mut labels: BTreeMap<(&str, &str), Vec<&str>> = BTreeMap::new();
    for edge in edges {
        let names = labels.entry((&edge.from, &edge.to)).or_default();
        if !names.contains(&&*edge.relation) {
            names.push(&edge.relation);
        }
    }
    let labels = labels.into_iter();
    labels
        .map(|(ends, names)| (ends, names.join(", ")))
        .collect()
}

fn quoted(text: &str) -> String {
    format!("\"{}\"", escaped(text))
}

/// The text inside of double quotes. A backslash is doubled, because `\N` stands for the name of the node.
fn escaped(text: &str) -> String {
    escape_line(text).replace('\\', "\\\\").replace('"', "\\\"")
}

/// The lines of a flowchart. Its colours are those of [`dot`].
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
            lines.push(format!("  {from} -->|\"{}\"| {to}", entities(&relation)));
        }
    }
    lines.push("  classDef failed stroke:#d00,stroke-width:2px".to_owned());
    lines.push("  classDef moving stroke:#e80".to_owned());
    lines.push("  classDef absent stroke:#d00,stroke-dasharray:4".to_owned());
    lines.push("  classDef unknown stroke-dasharray:4".to_owned());
    lines
}

fn text(node: &NodeRecord) -> String {
    let lines: Vec<String> = label(node).iter().map(|line| entities(line)).collect();
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
fn entities(text: &str) -> String {
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
    use crate::object::ObjectRef;
    use crate::render::json::RefRecord;
    use crate::render::json::status::CauseRecord;

    fn object(kind: &str, name: &str, status: &'static str) -> NodeRecord {
        let object = ObjectRef {
            api_version: "v1".into(),
            kind: kind.into(),
            namespace: Some("shop".into()),
            name: name.into(),
            uid: None,
        };
        NodeRecord {
            id: object.identity().as_str().to_owned(),
            object: Some(RefRecord::new("test", &object)),
            status,
            ghost: status == "NotFound",
            word: String::new(),
            ready: String::new(),
            causes: Vec::new(),
        }
    }

    fn edge(from: &NodeRecord, to: &NodeRecord, relation: &str) -> EdgeRecord {
        EdgeRecord {
            from: from.id.clone(),
            to: to.id.clone(),
            relation: relation.to_owned(),
            via: String::new(),
            state: None,
            addresses: Vec::new(),
        }
    }

    /// A Pod that fails, with a name and a cause that contain syntax.
    pub(in crate::render) fn graph() -> GraphRecord {
        let service = object("Service", "web", "Current");
        let secret = object("Secret", "db", "NotFound");
        let mut pod = object("Pod", r#"a"]; b\N <b>#1;"#, "Failed");
        pod.word = "ImagePullBackOff".to_owned();
        pod.ready = "0/1".to_owned();
        pod.causes.push(CauseRecord {
            rule: "ImagePull",
            source: None,
            text: "no image \"web:\u{1b}[31m\"\nsecond line".to_owned(),
        });
        let edges = vec![
            edge(&service, &pod, "selects"),
            edge(&pod, &secret, "environment"),
            edge(&pod, &secret, "volume"),
            edge(&pod, &secret, "volume"),
        ];
        GraphRecord {
            nodes: vec![service, pod, secret],
            edges,
            phases: Vec::new(),
            last_changes: Vec::new(),
        }
    }

    #[test]
    fn a_graph_in_dot() {
        insta::assert_snapshot!(dot(&graph()).join("\n"), @r#"
        digraph trace {
          rankdir=LR;
          node [shape=box, style=rounded, fontname="sans-serif"];
          edge [fontname="sans-serif", fontsize=10];
          "/Service/shop/web" [label="service/web\nCurrent"];
          "/Pod/shop/a\"]; b\\N <b>#1;" [label="pod/a\"]; b\\N <b>#1;\nImagePullBackOff 0/1\nno image \"web:^[[31m\"", color=red, penwidth=2];
          "/Secret/shop/db" [label="secret/db\ndoes not exist", color=red, style="rounded,dashed"];
          "/Pod/shop/a\"]; b\\N <b>#1;" -> "/Secret/shop/db" [label="environment, volume"];
          "/Service/shop/web" -> "/Pod/shop/a\"]; b\\N <b>#1;" [label="selects"];
        }
        "#);
    }

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
