//! The scenario `config`: edits, a rotated password, an autoscaler, and an object that is deleted and
//! re-created.

use serde_json::{Value, json};

use super::build::{NODES, deployment, namespace, node, service};
use super::script::{Action, Prop, Scenario, Step};

const DAY: u64 = 24 * 3600;
const SHOP: &str = "shop";
const API: &str = "registry.example.com/shop/api:v1.18.0";
const KUBECTL: &str = "kubectl-client-side-apply";
const AUTOSCALER: &str = "kube-controller-manager";

const APP_YAML: &str = "\
server:
  port: 8080
  timeout: 30s
cache:
  size: 128Mi
  ttl: 5m
features:
  search: beta
";

const SLOWER_APP_YAML: &str = "\
server:
  port: 8080
  timeout: 5s
  keepAlive: 75s
cache:
  size: 512Mi
  ttl: 5m
features:
  search: stable
";

/// Flags are toggled, a file is edited, and a password is rotated. An autoscaler reacts. The flags are
/// deleted and re-created.
pub fn config() -> Scenario {
    let mut props: Vec<Prop> = NODES
        .iter()
        .map(|(name, address)| Prop {
            age: 90 * DAY,
            manager: "kubelet",
            object: node(name, address),
        })
        .collect();
    props.extend([
        Prop {
            age: 60 * DAY,
            manager: "kubectl-create",
            object: namespace(SHOP),
        },
        Prop {
            age: 12 * DAY,
            manager: KUBECTL,
            object: config_map("api-config", &json!({"app.yaml": APP_YAML})),
        },
        Prop {
            age: 12 * DAY,
            manager: KUBECTL,
            object: config_map("flags", &flags("off")),
        },
        Prop {
            age: 12 * DAY,
            manager: "db-operator",
            object: secret("c3dvcmRmaXNo"),
        },
        Prop {
            age: 12 * DAY,
            manager: KUBECTL,
            object: service(SHOP, "api"),
        },
        Prop {
            age: 12 * DAY - 60,
            manager: KUBECTL,
            object: deployment(SHOP, "api", API),
        },
        Prop {
            age: 11 * DAY,
            manager: KUBECTL,
            object: autoscaler(),
        },
    ]);
    Scenario {
        name: "config",
        about: "somebody edits a ConfigMap, a password is rotated, an autoscaler scales a Deployment",
        namespace: SHOP,
        missing_images: Vec::new(),
        props,
        steps: steps(),
    }
}

fn steps() -> Vec<Step> {
    let story = [
        (
            2000,
            edit(
                "kubectl-edit",
                ("configmaps", "api-config"),
                json!({"data": {"app.yaml": SLOWER_APP_YAML}}),
            ),
        ),
        (5000, flag(&json!({"checkout-v2": "on", "dark-mode": "on"}))),
        (7000, flag(&json!({"legacy-search": null}))),
        (
            9000,
            edit(
                "db-operator",
                ("secrets", "db"),
                json!({"data": {"password": "Y29ycmVjdC1ob3JzZQ=="}}),
            ),
        ),
        (12000, load(92, 3, 5)),
        (12050, scale(5)),
        (18000, load(61, 5, 5)),
        (
            20000,
            edit(
                "kubectl-patch",
                ("horizontalpodautoscalers", "api"),
                json!({"spec": {"minReplicas": 4}}),
            ),
        ),
        (23000, load(24, 5, 4)),
        (23050, scale(4)),
        (27000, load(30, 4, 4)),
        (
            29000,
            Action::Delete {
                resource: "configmaps",
                name: "flags",
            },
        ),
        (
            31000,
            Action::Create {
                manager: KUBECTL,
                object: config_map("flags", &flags("on")),
            },
        ),
    ];
    story
        .into_iter()
        .map(|(at, action)| Step { at, action })
        .collect()
}

fn edit(
    manager: &'static str,
    (resource, name): (&'static str, &'static str),
    patch: Value,
) -> Action {
    Action::Patch {
        manager,
        subresource: "",
        resource,
        name,
        patch,
    }
}

fn flag(data: &Value) -> Action {
    edit(
        "kubectl-edit",
        ("configmaps", "flags"),
        json!({"data": data}),
    )
}

/// The autoscaler measures a load and decides.
fn load(percent: i64, current: i64, desired: i64) -> Action {
    Action::Patch {
        manager: AUTOSCALER,
        subresource: "status",
        resource: "horizontalpodautoscalers",
        name: "api",
        patch: json!({"status": load_status(percent, current, desired)}),
    }
}

/// The autoscaler scales the Deployment.
fn scale(replicas: i64) -> Action {
    Action::Patch {
        manager: AUTOSCALER,
        subresource: "scale",
        resource: "deployments",
        name: "api",
        patch: json!({"spec": {"replicas": replicas}}),
    }
}

fn flags(state: &str) -> Value {
    json!({"checkout-v2": state, "dark-mode": "off", "legacy-search": "on"})
}

fn config_map(name: &str, data: &Value) -> Value {
    json!({"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": name, "namespace": SHOP}, "data": data})
}

/// A Secret with a password in base64.
fn secret(password: &str) -> Value {
    json!({
        "apiVersion": "v1", "kind": "Secret", "type": "Opaque",
        "metadata": {"name": "db", "namespace": SHOP},
        "data": {"password": password, "username": "c2hvcA=="},
    })
}

fn autoscaler() -> Value {
    json!({
        "apiVersion": "autoscaling/v2", "kind": "HorizontalPodAutoscaler",
        "metadata": {"name": "api", "namespace": SHOP},
        "spec": {
            "minReplicas": 3, "maxReplicas": 8,
            "scaleTargetRef": {"apiVersion": "apps/v1", "kind": "Deployment", "name": "api"},
            "metrics": [{"type": "Resource", "resource": {
                "name": "cpu", "target": {"type": "Utilization", "averageUtilization": 70},
            }}],
        },
        "status": load_status(48, 3, 3),
    })
}

fn load_status(percent: i64, current: i64, desired: i64) -> Value {
    let condition = |kind: &str, reason: &str, message: &str| {
        json!({
            "type": kind, "status": "True", "reason": reason, "message": message,
            "lastTransitionTime": "2026-01-05T08:00:00Z",
        })
    };
    let (reason, message) = if desired == current {
        (
            "ReadyForNewScale",
            "recommended size matches current size".to_owned(),
        )
    } else {
        (
            "SucceededRescale",
            format!("the HPA controller was able to update the target scale to {desired}"),
        )
    };
    let found =
        "the HPA was able to successfully calculate a replica count from cpu resource utilization";
    json!({
        "currentReplicas": current, "desiredReplicas": desired,
        "currentMetrics": [{"type": "Resource", "resource": {
            "name": "cpu", "current": {"averageUtilization": percent, "averageValue": format!("{percent}m")},
        }}],
        "conditions": [
            condition("AbleToScale", reason, &message),
            condition("ScalingActive", "ValidMetricFound", found),
        ],
    })
}
