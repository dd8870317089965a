//! The scenarios, and the objects that they begin with.

use serde_json::{Value, json};

use super::script::{Action, Prop, Scenario, ScriptStep};

const DAY: u64 = 24 * 3600;
const OLD: &str = "registry.example.com/shop/web:v2.3.9";
const BAD: &str = "registry.example.com/shop/web:v2.4.1-rc1";
const GOOD: &str = "registry.example.com/shop/web:v2.4.1";
const KUBECTL: &str = "kubectl-client-side-apply";

/// A Deployment behind a Service gets an image that does not exist. A quarter of a minute later somebody
/// fixes it.
pub fn rollout() -> Scenario {
    let mut props = cluster();
    props.extend([
        prop(41 * DAY + 30, KUBECTL, service(SHOP, "web")),
        prop(41 * DAY, KUBECTL, deployment(SHOP, "web", OLD)),
    ]);
    Scenario {
        name: "rollout",
        about: "a rollout fails because its image does not exist, and is then fixed",
        namespace: SHOP,
        missing_images: vec![BAD],
        crashing_images: Vec::new(),
        props,
        steps: vec![
            set_image(2000, "kubectl-set", BAD),
            set_image(18000, KUBECTL, GOOD),
        ],
    }
}

fn prop(age: u64, manager: &'static str, object: Value) -> Prop {
    Prop {
        age,
        manager,
        object,
    }
}

/// The nodes, and the namespace in which all scenarios play.
fn cluster() -> Vec<Prop> {
    let nodes = NODES.iter();
    let nodes = nodes.map(|(name, address)| prop(90 * DAY, "kubelet", node(name, address)));
    let namespace = prop(60 * DAY, "kubectl-create", namespace(SHOP));
    nodes.chain([namespace]).collect()
}

fn set_image(at: u64, manager: &'static str, image: &'static str) -> ScriptStep {
    let deployment = "web";
    ScriptStep {
        at,
        action: Action::SetImage {
            manager,
            deployment,
            image,
        },
    }
}

const PANICS: &str = "registry.example.com/shop/web:v2.4.2";
const FIXED: &str = "registry.example.com/shop/web:v2.4.3";

/// A Deployment gets an image whose program panics at its start. Twenty seconds later somebody fixes it.
pub fn crash() -> Scenario {
    Scenario {
        name: "crash",
        about: "the program of a new image panics at its start, and is then fixed",
        missing_images: Vec::new(),
        crashing_images: vec![PANICS],
        steps: vec![
            set_image(2000, "kubectl-set", PANICS),
            set_image(22000, "kubectl-set", FIXED),
        ],
        ..rollout()
    }
}

const MINUTE: u64 = 60_000;
const NIGHTLY: &str = "registry.example.com/shop/web:v2.5.0-nightly";

/// A job deploys an image that does not exist, and somebody switches a feature on. Nobody looks until the next morning. The story
/// is played at once and recorded: its steps are hours ago.
pub fn incident() -> Scenario {
    let mut scenario = rollout();
    scenario.props.push(Prop {
        age: 12 * DAY,
        manager: KUBECTL,
        object: checkout_flags(),
    });
    let deploys = Action::SetImage {
        manager: "nightly-deploy",
        deployment: "web",
        image: NIGHTLY,
    };
    let switches_on = Action::Patch {
        manager: "kubectl-edit",
        subresource: "",
        resource: "configmaps",
        name: "flags",
        patch: json!({"data": {"checkout-v2": "on"}}),
    };
    Scenario {
        name: "incident",
        about: "something broke hours ago, and a record shows what changed",
        missing_images: vec![NIGHTLY],
        crashing_images: Vec::new(),
        steps: vec![
            ScriptStep {
                at: 10 * MINUTE,
                action: switches_on,
            },
            ScriptStep {
                at: 12 * MINUTE,
                action: deploys,
            },
        ],
        ..scenario
    }
}

fn checkout_flags() -> Value {
    json!({
        "apiVersion": "v1", "kind": "ConfigMap",
        "metadata": {"name": "flags", "namespace": SHOP},
        "data": {"checkout-v2": "off", "dark-mode": "on"},
    })
}

const SHOP: &str = "shop";
const API: &str = "registry.example.com/shop/api:v1.18.0";
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
    let mut props = cluster();
    props.extend([
        prop(
            12 * DAY,
            KUBECTL,
            config_map("api-config", &json!({"app.yaml": APP_YAML})),
        ),
        prop(12 * DAY, KUBECTL, config_map("flags", &flags("off"))),
        prop(12 * DAY, "db-operator", secret("c3dvcmRmaXNo")),
        prop(12 * DAY, KUBECTL, service(SHOP, "api")),
        prop(12 * DAY - 60, KUBECTL, deployment(SHOP, "api", API)),
        prop(11 * DAY, KUBECTL, autoscaler()),
    ]);
    Scenario {
        name: "config",
        about: "somebody edits a ConfigMap, a password is rotated, an autoscaler scales a Deployment",
        namespace: SHOP,
        missing_images: Vec::new(),
        crashing_images: Vec::new(),
        props,
        steps: steps(),
    }
}

fn steps() -> Vec<ScriptStep> {
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
        .map(|(at, action)| ScriptStep { at, action })
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

pub(super) fn namespace(name: &str) -> Value {
    json!({
        "apiVersion": "v1", "kind": "Namespace",
        "metadata": {"name": name, "labels": {"kubernetes.io/metadata.name": name}},
        "spec": {"finalizers": ["kubernetes"]}, "status": {"phase": "Active"},
    })
}

/// The nodes of the cluster and their addresses.
pub(super) const NODES: [(&str, &str); 3] = [
    ("worker-1", "10.0.0.11"),
    ("worker-2", "10.0.0.12"),
    ("worker-3", "10.0.0.13"),
];

pub(super) fn node(name: &str, address: &str) -> Value {
    let condition = |kind: &str, status: &str, reason: &str, message: &str| {
        json!({
            "type": kind, "status": status, "reason": reason, "message": message,
            "lastHeartbeatTime": "2026-01-05T08:00:00Z", "lastTransitionTime": "2026-01-05T08:00:00Z",
        })
    };
    let amounts =
        json!({"cpu": "4", "memory": "16384Mi", "pods": "110", "ephemeral-storage": "98Gi"});
    json!({
        "apiVersion": "v1", "kind": "Node",
        "metadata": {"name": name, "labels": {
            "kubernetes.io/arch": "amd64", "kubernetes.io/hostname": name, "kubernetes.io/os": "linux",
        }},
        "spec": {},
        "status": {
            "addresses": [{"type": "InternalIP", "address": address}, {"type": "Hostname", "address": name}],
            "capacity": amounts, "allocatable": amounts,
            "conditions": [
                condition("MemoryPressure", "False", "KubeletHasSufficientMemory", "kubelet has sufficient memory available"),
                condition("DiskPressure", "False", "KubeletHasNoDiskPressure", "kubelet has no disk pressure"),
                condition("PIDPressure", "False", "KubeletHasSufficientPID", "kubelet has sufficient PID available"),
                condition("Ready", "True", "KubeletReady", "kubelet is posting ready status"),
            ],
            "nodeInfo": {
                "architecture": "amd64", "operatingSystem": "linux", "osImage": "Debian GNU/Linux 12 (bookworm)",
                "kernelVersion": "6.1.0-28-amd64", "containerRuntimeVersion": "containerd://2.0.2",
                "kubeletVersion": "v1.36.0",
            },
        },
    })
}

/// A Deployment with one container that serves HTTP on port 8080.
pub(super) fn deployment(namespace: &str, name: &str, image: &str) -> Value {
    let mut object = json!({
        "apiVersion": "apps/v1", "kind": "Deployment",
        "metadata": {"name": name, "namespace": namespace, "labels": {"app": name}},
        "spec": {
            "replicas": 3, "revisionHistoryLimit": 10, "progressDeadlineSeconds": 600,
            "selector": {"matchLabels": {"app": name}},
            "strategy": {"type": "RollingUpdate", "rollingUpdate": {"maxSurge": 1, "maxUnavailable": "25%"}},
            "template": {
                "metadata": {"labels": {"app": name}},
                "spec": {
                    "containers": [container(name, image)],
                    "restartPolicy": "Always", "terminationGracePeriodSeconds": 30, "dnsPolicy": "ClusterFirst",
                    "schedulerName": "default-scheduler", "securityContext": {},
                },
            },
        },
    });
    note_applied(&mut object, image);
    object
}

fn container(name: &str, image: &str) -> Value {
    json!({
        "name": name, "image": image, "imagePullPolicy": "IfNotPresent",
        "env": [{"name": "LOG_LEVEL", "value": "info"}, {"name": "PORT", "value": "8080"}],
        "ports": [{"name": "http", "containerPort": 8080, "protocol": "TCP"}],
        "readinessProbe": {
            "httpGet": {"path": "/readyz", "port": "http", "scheme": "HTTP"},
            "periodSeconds": 2, "timeoutSeconds": 1, "successThreshold": 1, "failureThreshold": 3,
        },
        "resources": {"requests": {"cpu": "100m", "memory": "128Mi"}, "limits": {"memory": "256Mi"}},
        "terminationMessagePath": "/dev/termination-log", "terminationMessagePolicy": "File",
    })
}

/// Sets the annotation in which `kubectl apply` keeps the applied manifest.
pub(super) fn note_applied(deployment: &mut Value, image: &str) {
    let name = deployment["metadata"]["name"].clone();
    let applied = json!({
        "apiVersion": "apps/v1", "kind": "Deployment",
        "metadata": {"annotations": {}, "name": name, "namespace": deployment["metadata"]["namespace"]},
        "spec": {"replicas": 3, "selector": {"matchLabels": {"app": name}}, "template": {
            "metadata": {"labels": {"app": name}},
            "spec": {"containers": [{"name": name, "image": image}]},
        }},
    });
    let note = json!(format!("{applied}\n"));
    deployment["metadata"]["annotations"]["kubectl.kubernetes.io/last-applied-configuration"] =
        note;
}

/// A Service in front of a Deployment of the same name.
pub(super) fn service(namespace: &str, name: &str) -> Value {
    json!({
        "apiVersion": "v1", "kind": "Service",
        "metadata": {"name": name, "namespace": namespace, "labels": {"app": name}},
        "spec": {
            "type": "ClusterIP", "clusterIP": "10.96.41.7", "clusterIPs": ["10.96.41.7"],
            "ipFamilies": ["IPv4"], "ipFamilyPolicy": "SingleStack", "internalTrafficPolicy": "Cluster",
            "ports": [{"name": "http", "port": 80, "protocol": "TCP", "targetPort": "http"}],
            "selector": {"app": name}, "sessionAffinity": "None",
        },
        "status": {"loadBalancer": {}},
    })
}

/// The reference from a dependent to its controller.
pub(super) fn owned_by(owner: &Value) -> Value {
    json!([{
        "apiVersion": owner["apiVersion"], "kind": owner["kind"], "name": owner["metadata"]["name"],
        "uid": owner["metadata"]["uid"], "controller": true, "blockOwnerDeletion": true,
    }])
}
