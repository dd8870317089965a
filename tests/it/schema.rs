//! Checks a record against its JSON Schema, in the subset of the language that the schemas in docs/ use. An
//! unknown keyword is a failure, so that everything in a schema is checked except patterns.

use std::fmt::{self, Formatter};

use serde::de::{Deserialize, Deserializer, MapAccess, Visitor};
use serde_json::Value;
use serde_json::value::RawValue;

/// Keywords without effect: descriptions, and the patterns of texts.
const SILENT: [&str; 6] = ["$schema", "$id", "$defs", "title", "description", "pattern"];

/// A schema from docs/schema.
pub(super) struct Schema {
    root: Value,
    /// The fields of each kind of object that it describes, in their order.
    orders: Vec<Vec<String>>,
}

impl Schema {
    /// Reads the schema of a verb.
    pub(super) fn of(verb: &str) -> Schema {
        let path = format!("{}/docs/schema/{verb}.json", env!("CARGO_MANIFEST_DIR"));
        let text = std::fs::read_to_string(path).unwrap();
        let root = Fields::of(&text);
        let inner = root.get("$defs").map(|defs| Fields::of(defs.get()));
        let inner = inner.iter().flat_map(|defs| &defs.0);
        let schemas = inner.map(|(_, schema)| Fields::of(schema.get()));
        let properties = |schema: Fields| Some(Fields::of(schema.get("properties")?.get()).names());
        Schema {
            orders: schemas.chain([root]).filter_map(properties).collect(),
            root: serde_json::from_str(&text).unwrap(),
        }
    }

    /// Fails unless a line is a record of the schema; returns the record.
    pub(super) fn check(&self, line: &str) -> Value {
        let record: Value = serde_json::from_str(line).unwrap();
        let mut faults = Vec::new();
        self.visit(&self.root, &record, ("", &mut faults));
        assert!(faults.is_empty(), "{faults:#?}\n{line}");
        let fields = Fields::of(line).names();
        let mut orders = self.orders.iter();
        assert!(
            orders.any(|order| is_part(&fields, order)),
            "order of {line}"
        );
        record
    }

    fn visit(&self, schema: &Value, value: &Value, (at, faults): (&str, &mut Vec<String>)) {
        for (keyword, rule) in schema.as_object().unwrap() {
            let holds = match keyword.as_str() {
                "type" => is_a(rule, value),
                "const" => value == rule,
                "enum" => rule.as_array().unwrap().contains(value),
                "format" => *rule == "date-time" && (!value.is_string() || is_time(value)),
                "minimum" => value.as_f64() >= rule.as_f64(),
                "required" => {
                    let mut keys = rule.as_array().unwrap().iter();
                    !value.is_object() || keys.all(|key| value.get(key.as_str().unwrap()).is_some())
                }
                "additionalProperties" => {
                    *rule == Value::Bool(false) && {
                        let known = &schema["properties"];
                        let fields = value.as_object().into_iter().flatten();
                        fields.into_iter().all(|(key, _)| known.get(key).is_some())
                    }
                }
                "properties" => {
                    for (key, rule) in rule.as_object().unwrap() {
                        if let Some(inner) = value.get(key) {
                            self.visit(rule, inner, (&format!("{at}.{key}"), faults));
                        }
                    }
                    true
                }
                "items" => {
                    for (index, item) in value.as_array().into_iter().flatten().enumerate() {
                        self.visit(rule, item, (&format!("{at}[{index}]"), faults));
                    }
                    true
                }
                "oneOf" => {
                    let found = self.alternatives(rule, value, at);
                    let fits = found.iter().filter(|faults| faults.is_empty()).count();
                    if fits == 0 {
                        // The errors of the alternative with the fewest errors.
                        faults.extend(found.into_iter().min_by_key(Vec::len).unwrap_or_default());
                    }
                    fits <= 1
                }
                "$ref" => {
                    let place = rule.as_str().unwrap();
                    if let Some(pointer) = place.strip_prefix('#') {
                        let inner = self.root.pointer(pointer).unwrap();
                        self.visit(inner, value, (at, faults));
                    } else {
                        let other = Schema::of(place.trim_end_matches(".json"));
                        other.visit(&other.root, value, (at, faults));
                    }
                    true
                }
                other => SILENT.contains(&other),
            };
            if !holds {
                faults.push(format!("{at}: {keyword} {rule} does not hold for {value}"));
            }
        }
    }

    /// The errors of a value for each of several schemas.
    fn alternatives(&self, schemas: &Value, value: &Value, at: &str) -> Vec<Vec<String>> {
        let faults_of = |schema: &Value| {
            let mut faults = Vec::new();
            self.visit(schema, value, (at, &mut faults));
            faults
        };
        schemas.as_array().unwrap().iter().map(faults_of).collect()
    }
}

/// The fields of an object in their order.
struct Fields(Vec<(String, Box<RawValue>)>);

impl Fields {
    fn of(text: &str) -> Fields {
        serde_json::from_str(text).unwrap()
    }

    fn get(&self, name: &str) -> Option<&RawValue> {
        let field = self.0.iter().find(|(own, _)| own == name);
        field.map(|(_, value)| &**value)
    }

    fn names(self) -> Vec<String> {
        self.0.into_iter().map(|(name, _)| name).collect()
    }
}

impl<'de> Deserialize<'de> for Fields {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Fields, D::Error> {
        deserializer.deserialize_map(InOrder)
    }
}

struct InOrder;

impl<'de> Visitor<'de> for InOrder {
    type Value = Fields;

    fn expecting(&self, f: &mut Formatter<'_>) -> fmt::Result {
        f.write_str("an object")
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Fields, A::Error> {
        let mut fields = Vec::new();
        while let Some(field) = map.next_entry()? {
            fields.push(field);
        }
        Ok(Fields(fields))
    }
}

/// Whether these names are in the order of `order`.
fn is_part(names: &[String], order: &[String]) -> bool {
    let mut order = order.iter();
    names.iter().all(|name| order.any(|other| other == name))
}

/// Whether a value is a time in UTC with milliseconds.
fn is_time(value: &Value) -> bool {
    let time = value.as_str().unwrap_or_default();
    let digit = |c: char| if c.is_ascii_digit() { '9' } else { c };
    let form: String = time.chars().map(digit).collect();
    let forms = ["9999-99-99T99:99:99.999Z", "9999-99-99T99:99:99.999999999Z"];
    forms.contains(&&*form) && time.parse::<jiff::Timestamp>().is_ok()
}

fn is_a(types: &Value, value: &Value) -> bool {
    let is = |name: &Value| match name.as_str() {
        Some("object") => value.is_object(),
        Some("array") => value.is_array(),
        Some("string") => value.is_string(),
        Some("integer") => value.is_i64() || value.is_u64(),
        Some("number") => value.is_number(),
        Some("boolean") => value.is_boolean(),
        Some("null") => value.is_null(),
        _ => false,
    };
    match types {
        Value::Array(types) => types.iter().any(is),
        one => is(one),
    }
}
