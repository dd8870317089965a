//! `TextTemplate`: the text of a message for people, with the parts of a change in it.

use serde_json::Value;

use super::transition::Delivery;
use crate::object::near;
use crate::render::text::escape_line;
use crate::status::Status;

/// The names that a template can have between `{{` and `}}`.
const NAMES: [&str; 10] = [
    "ref",
    "cluster",
    "namespace",
    "kind",
    "name",
    "from",
    "to",
    "message",
    "cause",
    "time",
];

/// A text with places for the parts of a change.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TextTemplate(Vec<TemplatePiece>);

#[derive(Clone, Debug, PartialEq, Eq)]
enum TemplatePiece {
    Text(String),
    Part(&'static str),
}

/// Why a text is no template.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum TemplateError {
    /// No part has this name.
    #[error("unknown part \"{name}\"")]
    Unknown {
        /// The name.
        name: String,
        /// The name that is most like it.
        nearest: Option<String>,
    },
    /// There is no `}}` after a `{{`.
    #[error("there is no }}}} after {{{{")]
    Open,
}

impl TextTemplate {
    /// The names that a template can have.
    pub fn names() -> String {
        NAMES.join(", ")
    }

    /// Reads a template.
    pub fn parse(text: &str) -> Result<TextTemplate, TemplateError> {
        let mut pieces = Vec::new();
        let mut rest = text;
        while let Some((before, after)) = rest.split_once("{{") {
            let (name, after) = after.split_once("}}").ok_or(TemplateError::Open)?;
            let name = name.trim();
            let known = NAMES.into_iter().find(|known| *known == name);
            let Some(known) = known else {
                return Err(TemplateError::Unknown {
                    name: name.to_owned(),
                    nearest: near(name, NAMES).into_iter().next(),
                });
            };
            pieces.extend([
                TemplatePiece::Text(before.to_owned()),
                TemplatePiece::Part(known),
            ]);
            rest = after;
        }
        pieces.push(TemplatePiece::Text(rest.to_owned()));
        Ok(TextTemplate(pieces))
    }

    /// The text about a change. Text of the cluster is one line without control characters, and `&`, `<` and `>` are written as
    /// Slack asks (<https://docs.slack.dev/messaging/formatting-message-text#escaping>), so it is no mention and no link.
    pub(super) fn fill(&self, delivery: &Delivery) -> String {
        let record: Value = serde_json::from_str(&delivery.record).unwrap_or_default();
        let mut text = String::new();
        for piece in &self.0 {
            match piece {
                TemplatePiece::Text(own) => text.push_str(own),
                TemplatePiece::Part(name) => {
                    text.push_str(&harmless(&part(name, delivery, &record)));
                }
            }
        }
        text
    }
}

fn part(name: &str, delivery: &Delivery, record: &Value) -> String {
    let object = |field: &str| record["ref"][field].as_str().unwrap_or_default();
    match name {
        "ref" => {
            let kind = object("kind").to_lowercase();
            let place = match object("namespace") {
                "" => String::new(),
                namespace => format!(" -n {namespace}"),
            };
            format!("{kind}/{}{place}", object("name"))
        }
        "from" => delivery.from.map_or("new", Status::as_str).to_owned(),
        "to" => delivery.to.as_str().to_owned(),
        "message" => record["message"].as_str().unwrap_or_default().to_owned(),
        "cause" => {
            let cause = record["causes"][0]["text"].as_str();
            let message = record["message"].as_str();
            cause.or(message).unwrap_or_default().to_owned()
        }
        "time" => crate::render::age::rfc3339(delivery.time),
        field => object(field).to_owned(),
    }
}

fn harmless(text: &str) -> String {
    let line = escape_line(text);
    let mut harmless = String::with_capacity(line.len());
    for letter in line.chars() {
        match letter {
            '&' => harmless.push_str("&amp;"),
            '<' => harmless.push_str("&lt;"),
            '>' => harmless.push_str("&gt;"),
            letter => harmless.push(letter),
        }
    }
    harmless
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(template: &str, expect: &str) {
        let delivery = Delivery {
            seq: 1,
            id: "x-1".to_owned(),
            from: None,
            to: Status::Failed,
            time: jiff::Timestamp::UNIX_EPOCH,
            record: r#"{"ref":{"cluster":"c","kind":"Pod","namespace":"shop","name":"web"},"message":"<!channel>\u001b[1m",
                "causes":[{"rule":"x","text":"it crashes\nagain"}]}"#
                .to_owned(),
        };
        let filled = match TextTemplate::parse(template) {
            Ok(template) => template.fill(&delivery),
            Err(error) => error.to_string(),
        };
        assert_eq!(filled, expect, "{template}");
    }

    #[test]
    fn a_text_has_the_parts_of_a_change_and_no_markup_of_the_cluster() {
        check("", "");
        check("<b> & }}", "<b> & }}");
        check(
            "{{ref}}: {{ from }} → {{to}}",
            "pod/web -n shop: new → Failed",
        );
        check(
            "{{kind}} {{namespace}}/{{name}} in {{cluster}}",
            "Pod shop/web in c",
        );
        check("{{message}}", "&lt;!channel&gt;^[[1m");
        check(
            "{{cause}} {{time}}",
            "it crashes\\nagain 1970-01-01T00:00:00Z",
        );
        check("{{mesage}}", "unknown part \"mesage\"");
        check("{{to", "there is no }} after {{");
    }

    #[test]
    fn a_wrong_name_has_the_nearest_one() {
        let error = TextTemplate::parse("{{mesage}}").expect_err("a wrong name");
        let TemplateError::Unknown { nearest, .. } = error else {
            panic!("{error}");
        };
        assert_eq!(nearest.as_deref(), Some("message"));
    }
}
