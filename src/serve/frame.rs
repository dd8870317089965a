//! `Frame`: one event of a stream, as [Server-Sent Events](https://html.spec.whatwg.org/multipage/server-sent-events.html) write it.

use std::sync::Arc;

use super::event_ring::EventId;

/// One event of a stream.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Frame {
    /// Where a reader resumes after it.
    pub(super) id: Option<EventId>,
    /// The name of its type; empty for a place to resume from without an event.
    pub(super) name: &'static str,
    /// One line of JSON, which readers share; empty without an event.
    pub(super) data: Arc<str>,
}

impl Frame {
    /// Appends its lines to those of a stream.
    pub(super) fn write_to(&self, stream: &mut String) {
        if !self.name.is_empty() {
            let lines = ["event: ", self.name, "\ndata: ", &self.data, "\n"];
            stream.extend(lines);
        }
        if let Some(id) = &self.id {
            stream.extend(["id: ", &id.to_string(), "\n"]);
        }
        stream.push('\n');
    }
}

#[cfg(test)]
mod tests {
    use insta::assert_snapshot;

    use super::*;

    #[test]
    fn a_frame_is_a_block_of_lines() {
        let id = Some(EventId {
            epoch: 7,
            number: 12,
            rights: None,
        });
        let mut stream = String::new();
        for (id, name, data) in [(id, "status", "{}"), (None, "view", "[1]"), (id, "", "")] {
            let data = data.into();
            Frame { id, name, data }.write_to(&mut stream);
        }
        assert_snapshot!(stream, @r"
        event: status
        data: {}
        id: 7.12

        event: view
        data: [1]

        id: 7.12

        ");
    }
}
