//! Holds records to their published JSON Schemas, which use a handful of its keywords.

use std::path::Path;

use serde_json::Value;

/// The schema in `docs/schema/`.
pub fn schema(name: &str) -> Value {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join(format!("docs/schema/{name}.json"));
    serde_json::from_str(&std::fs::read_to_string(path).unwrap()).unwrap()
}

/// Checks that every line is a record as the schema has it; returns the records.
pub fn records(schema: &Value, lines: &str) -> Vec<Value> {
    let record = |line: &str| {
        let record: Value = serde_json::from_str(line).unwrap();
        if let Err(wrong) = check(schema, &record, "") {
            panic!("{wrong} in {line}");
        }
        record
    };
    lines.lines().map(record).collect()
}

fn check(schema: &Value, value: &Value, path: &str) -> Result<(), String> {
    for (keyword, rule) in schema.as_object().unwrap() {
        let holds = match &**keyword {
            "$schema" | "title" | "description" => true,
            "type" => types(rule).any(|name| is_of_type(value, name)),
            "const" => rule == value,
            "enum" => rule.as_array().unwrap().contains(value),
            "format" => {
                assert_eq!(rule, "date-time");
                let time = value.as_str().unwrap_or_default();
                time.parse::<jiff::Timestamp>().is_ok() && time.ends_with('Z')
            }
            "required" => {
                let names = rule.as_array().unwrap().iter();
                let mut names = names.map(|name| name.as_str().unwrap());
                names.all(|name| value.get(name).is_some())
            }
            "properties" => {
                for (name, rule) in rule.as_object().unwrap() {
                    if let Some(inner) = value.get(name) {
                        check(rule, inner, &format!("{path}.{name}"))?;
                    }
                }
                true
            }
            "additionalProperties" => {
                assert_eq!(rule, false);
                let known = &schema["properties"];
                let fields = value.as_object();
                fields.is_none_or(|fields| fields.keys().all(|name| known.get(name).is_some()))
            }
            "items" => {
                for (index, item) in value.as_array().into_iter().flatten().enumerate() {
                    check(rule, item, &format!("{path}[{index}]"))?;
                }
                true
            }
            unknown => panic!("{path}: this check does not know the keyword {unknown:?}"),
        };
        if !holds {
            return Err(format!("{path}: {keyword} {rule} does not hold"));
        }
    }
    Ok(())
}

fn types(rule: &Value) -> impl Iterator<Item = &str> {
    let several = rule.as_array().map_or(&[][..], Vec::as_slice);
    rule.as_str()
        .into_iter()
        .chain(several.iter().filter_map(Value::as_str))
}

fn is_of_type(value: &Value, name: &str) -> bool {
    match name {
        "object" => value.is_object(),
        "array" => value.is_array(),
        "string" => value.is_string(),
        "integer" => value.is_i64() || value.is_u64(),
        "boolean" => value.is_boolean(),
        "null" => value.is_null(),
        unknown => panic!("this check does not know the type {unknown:?}"),
    }
}

#[test]
fn the_check_finds_what_is_wrong() {
    let schema = serde_json::json!({
        "type": "object", "required": ["a"], "additionalProperties": false,
        "properties": {
            "a": {"type": ["string", "null"]}, "b": {"items": {"enum": [1, 2]}},
            "c": {"format": "date-time"}, "d": {"const": 1},
        },
    });
    let holds = |text: &str| check(&schema, &serde_json::from_str(text).unwrap(), "").is_ok();
    assert!(holds(
        r#"{"a":null,"b":[1,2,1],"c":"2026-01-02T03:04:05.678Z","d":1}"#
    ));
    for wrong in [
        "[]",
        "{}",
        r#"{"a":1}"#,
        r#"{"a":"","x":1}"#,
        r#"{"a":"","b":[1,3]}"#,
        r#"{"a":"","c":"today"}"#,
        r#"{"a":"","d":2}"#,
    ] {
        assert!(!holds(wrong), "{wrong}");
    }
}
