//! The `OpenAPI` document of the paths for programs (<https://spec.openapis.org/oas/v3.1.0>).

use serde_json::{Map, Value as Json, json};

use super::api_path::{ApiAnswer, ApiPath};

/// The schemas of docs/schema, by their names.
const SCHEMAS: [(&str, &str); 7] = [
    ("status", include_str!("../../docs/schema/status.json")),
    ("packages", include_str!("../../docs/schema/packages.json")),
    ("watches", include_str!("../../docs/schema/watches.json")),
    ("trace", include_str!("../../docs/schema/trace.json")),
    ("changes", include_str!("../../docs/schema/changes.json")),
    ("logs", include_str!("../../docs/schema/logs.json")),
    (
        "transition",
        include_str!("../../docs/schema/transition.json"),
    ),
];

/// The whole document.
pub(super) fn openapi() -> Json {
    let paths = ApiPath::ALL.into_iter();
    let paths = paths.map(|endpoint| (endpoint.path(), json!({"get": operation(endpoint)})));
    let schemas = SCHEMAS.into_iter();
    let schemas = schemas.map(|(name, text)| (name.to_owned(), schema(name, text)));
    json!({
        "openapi": "3.1.0",
        "info": {
            "title": "kubectl spy serve",
            "version": env!("CARGO_PKG_VERSION"),
            "description": "The state of a cluster: what is not well and why, what changed, and what serves what.",
            "license": {"name": "Apache-2.0", "identifier": "Apache-2.0"},
        },
        "security": [{"token": []}],
        "paths": paths.collect::<Map<String, Json>>(),
        "webhooks": {"transition": {"post": webhook()}},
        "components": {
            "securitySchemes": {"token": {"type": "http", "scheme": "bearer"}},
            "schemas": schemas.collect::<Map<String, Json>>(),
        },
    })
}

fn operation(endpoint: ApiPath) -> Json {
    let words = |description: &str| json!({"description": description, "content": {"text/plain": {"schema": {"type": "string"}}}});
    let parameters = endpoint.parameters().into_iter();
    json!({
        "operationId": endpoint.name().trim_end_matches(".json"),
        "summary": endpoint.summary(),
        "parameters": parameters.map(|name| parameter(endpoint, name)).collect::<Json>(),
        "responses": {
            "200": {"description": endpoint.summary(), "content": content(endpoint.answer())},
            "400": words("A parameter is wrong. The text is that of the command line."),
            "401": words("The token is missing or wrong."),
            "403": words("The cluster or the server refuses the request."),
            "404": words("An object does not exist or is not followed."),
            "429": words("You have too many requests at a time. The header Retry-After says when to ask again."),
            "503": words("The cluster is not read yet, or there are too many requests."),
        },
    })
}

fn parameter(endpoint: ApiPath, name: &str) -> Json {
    let is_switch = endpoint.switches().contains(&name);
    let description = match (name, endpoint) {
        ("object", _) => {
            "TYPE/NAME or TYPE, as the arguments of kubectl. Repeat it for several.".to_owned()
        }
        ("cluster", _) => {
            "Only this cluster, by the name of its context. Without it, all of the server."
                .to_owned()
        }
        ("namespace", ApiPath::Packages) => "Only packages in this namespace.".to_owned(),
        ("namespace", _) => "The namespace, as the flag --namespace.".to_owned(),
        ("package" | "tool" | "status", _) => format!("Only records with this `{name}`."),
        (name, ApiPath::Events) => format!("As the flag --{name} of kubectl spy status."),
        (name, endpoint) => format!("As the flag --{name} of kubectl spy {}.", endpoint.name()),
    };
    let schema = match name {
        "object" => json!({"type": "array", "items": {"type": "string"}}),
        _ if is_switch => json!({"type": "boolean"}),
        _ => json!({"type": "string"}),
    };
    let mut parameter = json!({
        "name": name, "in": "query", "required": false, "description": description, "schema": schema,
    });
    if is_switch {
        // A switch is on without a value.
        parameter["allowEmptyValue"] = true.into();
    }
    parameter
}

fn content(answer: ApiAnswer) -> Json {
    match answer {
        ApiAnswer::Records(schema) => {
            let place = format!("#/components/schemas/{schema}");
            json!({"application/x-ndjson": {"schema": {"$ref": place}}})
        }
        ApiAnswer::Events => json!({"text/event-stream": {"schema": {"type": "string"}}}),
        ApiAnswer::Document => json!({"application/json": {"schema": {"type": "object"}}}),
    }
}

/// What a webhook of the configuration gets.
fn webhook() -> Json {
    let header = |name: &str, description: &str| json!({"name": name, "in": "header", "description": description, "schema": {"type": "string"}});
    json!({
        "summary": "A change of state, sent to the webhooks of the configuration",
        "security": [],
        "parameters": [
            header("webhook-id", "The id of the change. It is the same in each attempt."),
            header("webhook-timestamp", "The time of the attempt, in seconds since 1970."),
            header("webhook-signature", "With a key: v1, and the base64 of the HMAC-SHA256 of ID.TIMESTAMP.BODY."),
        ],
        "requestBody": {
            "content": {"application/json": {"schema": {"$ref": "#/components/schemas/transition"}}},
        },
        "responses": {"2XX": {"description": "The message is delivered."}},
    })
}

/// A schema as a part of the document: its references point to their new places.
fn schema(name: &str, text: &str) -> Json {
    let inside = format!("\"#/components/schemas/{name}/$defs/");
    let text = text.replace("\"#/$defs/", &inside);
    let mut text = text;
    for (other, _) in SCHEMAS {
        let place = format!("\"#/components/schemas/{other}\"");
        text = text.replace(&format!("\"{other}.json\""), &place);
    }
    serde_json::from_str(&text).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// All `$ref`s in a document.
    fn references<'d>(value: &'d Json, found: &mut Vec<&'d str>) {
        match value {
            Json::Object(fields) => {
                for (name, inner) in fields {
                    match inner.as_str().filter(|_| name == "$ref") {
                        Some(place) => found.push(place),
                        None => references(inner, found),
                    }
                }
            }
            Json::Array(items) => items.iter().for_each(|item| references(item, found)),
            Json::Null | Json::Bool(_) | Json::Number(_) | Json::String(_) => {}
        }
    }

    #[test]
    fn every_path_is_there_and_every_reference_leads_to_a_schema() {
        let document = openapi();
        let mut found = Vec::new();
        references(&document, &mut found);
        assert!(found.len() > SCHEMAS.len());
        for place in found {
            let pointer = place.strip_prefix('#').expect("inside the document");
            assert!(document.pointer(pointer).is_some(), "{place}");
        }
        let paths = document["paths"].as_object().expect("paths");
        assert_eq!(paths.len(), ApiPath::ALL.len());
        for endpoint in ApiPath::ALL {
            let parameters = &paths[&endpoint.path()]["get"]["parameters"];
            let parameters = parameters.as_array().expect("parameters").iter();
            let names: Vec<&str> = parameters.filter_map(|it| it["name"].as_str()).collect();
            assert_eq!(names, endpoint.parameters());
        }
        for (name, text) in SCHEMAS {
            assert!(serde_json::from_str::<Json>(text).is_ok(), "{name}");
        }
    }
}
