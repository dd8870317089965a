//! The audit log: who sent each accepted write, and when.

use jiff::Timestamp;
use serde_json::Value;

/// An accepted write.
#[derive(Clone, Debug)]
pub struct Audited {
    pub namespace: String,
    /// The plural of the kind.
    pub resource: String,
    pub name: String,
    /// The uid of the object, if the response has it.
    pub uid: Option<String>,
    /// The resourceVersion of the response; `None` for a deletion and for a binding.
    pub revision: Option<u64>,
    pub by: Author,
    /// What the client asked for: `patch`, `delete`.
    pub verb: String,
    pub span: Span,
}

/// The field manager of a request.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Author {
    pub manager: String,
    /// Empty for the object itself.
    pub subresource: String,
}

/// The time between the arrival of a request and its answer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Span {
    pub received: Timestamp,
    pub done: Timestamp,
}

impl Audited {
    /// Parses a line of the log; `None` for a refused request.
    pub fn read(line: &str) -> Option<Audited> {
        let line: Value = serde_json::from_str(line).ok()?;
        let text = |pointer: &str| line.pointer(pointer).and_then(Value::as_str);
        let owned = |pointer: &str| text(pointer).unwrap_or_default().to_owned();
        let time = |pointer: &str| text(pointer)?.parse().ok();
        if line["responseStatus"]["code"].as_u64()? >= 300 {
            return None;
        }
        let uid = text("/responseObject/metadata/uid").or(text("/responseObject/details/uid"));
        Some(Audited {
            namespace: owned("/objectRef/namespace"),
            resource: owned("/objectRef/resource"),
            name: owned("/objectRef/name"),
            uid: uid.map(str::to_owned),
            revision: text("/responseObject/metadata/resourceVersion")
                .and_then(|revision| revision.parse().ok()),
            by: Author {
                manager: manager(text("/requestURI")?, text("/userAgent").unwrap_or_default()),
                subresource: owned("/objectRef/subresource"),
            },
            verb: owned("/verb"),
            span: Span {
                received: time("/requestReceivedTimestamp")?,
                done: time("/stageTimestamp")?,
            },
        })
    }
}

/// The name that the API server gives to the manager of a request
/// (<https://kubernetes.io/docs/reference/using-api/server-side-apply/#managers>).
fn manager(uri: &str, agent: &str) -> String {
    let (_, query) = uri.split_once('?').unwrap_or_default();
    let named = query
        .split('&')
        .find_map(|part| part.strip_prefix("fieldManager="));
    let agent = agent.split('/').next().filter(|agent| !agent.is_empty());
    named.or(agent).unwrap_or("unknown").to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_request_names_its_manager_or_its_program() {
        for (uri, agent, expect) in [
            ("/x?fieldManager=alice&force=true", "law/1.0", "alice"),
            ("/x?force=true", "helm/1.0 (test)", "helm"),
            ("/x", "", "unknown"),
        ] {
            assert_eq!(manager(uri, agent), expect, "{uri} {agent}");
        }
    }
}
