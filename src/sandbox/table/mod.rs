//! The server side of kubectl's tables: the columns and cells of each kind.
//!
//! The columns are those of `pkg/printers/internalversion` in Kubernetes. Kinds that this module does not
//! know have NAME and AGE.

mod cells;
#[cfg(test)]
mod tests;

use jiff::Timestamp;
use serde_json::{Value, json};

use super::kinds::Kind;
use super::store::text;

/// The columns of a kind: name and type. Those after `|` are for `-o wide` only.
fn columns(kind: &Kind) -> &'static str {
    match (&*kind.resource.group, &*kind.resource.plural) {
        ("", "pods") => "Name,Ready,Status,Restarts,Age|IP,Node,Nominated Node,Readiness Gates",
        ("apps", "deployments") => {
            "Name,Ready,Up-to-date:i,Available:i,Age|Containers,Images,Selector"
        }
        ("apps", "replicasets") => {
            "Name,Desired:i,Current:i,Ready:i,Age|Containers,Images,Selector"
        }
        ("", "services") => "Name,Type,Cluster-IP,External-IP,Port(s),Age|Selector",
        ("", "configmaps") => "Name,Data:i,Age",
        ("", "secrets") => "Name,Type,Data:i,Age",
        ("", "nodes") => {
            "Name,Status,Roles,Age,Version|Internal-IP,External-IP,OS-Image,Kernel-Version,Container-Runtime"
        }
        ("", "namespaces") => "Name,Status,Age",
        ("", "events") => {
            "Last Seen,Type,Reason,Object,Message|Subobject,Source,First Seen,Count:i,Name"
        }
        ("discovery.k8s.io", "endpointslices") => "Name,AddressType,Ports,Endpoints,Age",
        ("autoscaling", "horizontalpodautoscalers") => {
            "Name,Reference,Targets,MinPods,MaxPods,Replicas:i,Age"
        }
        _ => "Name,Age",
    }
}

/// The `columnDefinitions` of a table.
pub(super) fn definitions(kind: &Kind) -> Value {
    let (plain, wide) = columns(kind).split_once('|').unwrap_or((columns(kind), ""));
    let of = |names: &str, priority: u8| -> Vec<Value> {
        let names = names.split(',').filter(|name| !name.is_empty());
        names.map(|name| definition(name, priority)).collect()
    };
    Value::Array([of(plain, 0), of(wide, 1)].concat())
}

fn definition(name: &str, priority: u8) -> Value {
    let (name, kind) = match name.split_once(':') {
        Some((name, _)) => (name, "integer"),
        None => (name, "string"),
    };
    let format = if name == "Name" { "name" } else { "" };
    json!({"name": name, "type": kind, "format": format, "description": "", "priority": priority})
}

/// The cells of an object's row, one for each column.
pub(super) fn cells(kind: &Kind, object: &Value, now: Timestamp) -> Vec<Value> {
    let name = object["metadata"]["name"].clone();
    let age = json!(age_since(&object["metadata"]["creationTimestamp"], now));
    match (&*kind.resource.group, &*kind.resource.plural) {
        ("", "pods") => cells::cells(object, now),
        ("apps", "deployments") => cells::deployment(object, age),
        ("apps", "replicasets") => cells::replica_set(object, age),
        ("", "services") => cells::service(object, age),
        ("", "configmaps") => vec![name, json!(cells::entries(object)), age],
        ("", "secrets") => {
            vec![
                name,
                object["type"].clone(),
                json!(cells::entries(object)),
                age,
            ]
        }
        ("", "nodes") => cells::node(object, age),
        ("", "namespaces") => vec![name, object["status"]["phase"].clone(), age],
        ("", "events") => cells::event(object, now),
        ("discovery.k8s.io", "endpointslices") => cells::endpoint_slice(object, age),
        ("autoscaling", "horizontalpodautoscalers") => cells::autoscaler(object, age),
        _ => vec![name, age],
    }
}

/// The text at a pointer, or `otherwise`.
fn text_or<'v>(object: &'v Value, pointer: &str, otherwise: &'v str) -> &'v str {
    object
        .pointer(pointer)
        .and_then(Value::as_str)
        .filter(|text| !text.is_empty())
        .unwrap_or(otherwise)
}

fn list<'v>(object: &'v Value, pointer: &str) -> &'v [Value] {
    object
        .pointer(pointer)
        .and_then(Value::as_array)
        .map_or(&[], Vec::as_slice)
}

/// A map of strings as `a=1,b=2`.
fn pairs(map: &Value) -> String {
    let pairs = map.as_object().into_iter().flatten();
    let texts = pairs.map(|(key, value)| format!("{key}={}", text(value)));
    joined(&texts.collect::<Vec<_>>(), ",")
}

/// Texts in one cell.
fn joined(texts: &[String], separator: &str) -> String {
    if texts.is_empty() {
        "<none>".to_owned()
    } else {
        texts.join(separator)
    }
}

/// The age of an event, from its time in RFC 3339.
pub(in crate::sandbox) fn age_since(time: &Value, now: Timestamp) -> String {
    let began = time
        .as_str()
        .and_then(|text| text.parse::<Timestamp>().ok());
    began.map_or_else(
        || "<unknown>".to_owned(),
        |began| human(now.duration_since(began).as_secs()),
    )
}

/// At most two units. The second one is omitted if it is zero or too small to matter.
fn human(seconds: i64) -> String {
    let (minutes, hours) = (seconds / 60, seconds / 3600);
    let (days, years) = (hours / 24, hours / 24 / 365);
    let two = |first: i64, unit: &str, second: i64, small: &str| {
        if second == 0 {
            format!("{first}{unit}")
        } else {
            format!("{first}{unit}{second}{small}")
        }
    };
    match seconds {
        ..-1 => "<invalid>".to_owned(),
        -1..0 => "0s".to_owned(),
        _ if seconds < 120 => format!("{seconds}s"),
        _ if minutes < 10 => two(minutes, "m", seconds % 60, "s"),
        _ if minutes < 180 => format!("{minutes}m"),
        _ if hours < 8 => two(hours, "h", minutes % 60, "m"),
        _ if hours < 48 => format!("{hours}h"),
        _ if hours < 192 => two(days, "d", hours % 24, "h"),
        _ if days < 730 => format!("{days}d"),
        _ if days < 2920 => two(years, "y", days % 365, "d"),
        _ => format!("{years}y"),
    }
}
