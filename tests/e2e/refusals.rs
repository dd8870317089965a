//! Who brought a failure about, on a real control plane: a policy, a missing priority class, a webhook without its Service,
//! a renamed port. Somebody else changes the same workloads later.

use super::controlplane::ControlPlane;
use super::support::Spy;

const OBJECTS: &str = r"
apiVersion: scheduling.k8s.io/v1
kind: PriorityClass
metadata: {name: high}
value: 1000
---
apiVersion: v1
kind: Service
metadata: {name: guard}
spec: {selector: {app: guard}, ports: [{port: 443}]}
---
apiVersion: v1
kind: Service
metadata: {name: named}
spec: {selector: {app: named}, ports: [{port: 80, targetPort: http}]}
";

const POLICY: &str = r#"
apiVersion: admissionregistration.k8s.io/v1
kind: ValidatingAdmissionPolicy
metadata: {name: team}
spec:
  matchConstraints:
    objectSelector: {matchLabels: {app: judged}}
    resourceRules: [{apiGroups: [""], apiVersions: [v1], operations: [CREATE], resources: [pods]}]
  validations: [{expression: "'team' in object.metadata.labels", message: a team is needed}]
---
apiVersion: admissionregistration.k8s.io/v1
kind: ValidatingAdmissionPolicyBinding
metadata: {name: team}
spec: {policyName: team, validationActions: [Deny]}
"#;

const WEBHOOK: &str = r#"
apiVersion: admissionregistration.k8s.io/v1
kind: ValidatingWebhookConfiguration
metadata: {name: guard}
webhooks:
  - name: guard.example.com
    clientConfig: {service: {name: guard, namespace: default}}
    objectSelector: {matchLabels: {app: hooked}}
    rules: [{apiGroups: [""], apiVersions: [v1], operations: [CREATE], resources: [pods]}]
    admissionReviewVersions: [v1]
    sideEffects: None
    failurePolicy: Fail
"#;

const DEPLOYMENTS: [&str; 4] = ["judged", "urgent", "hooked", "named"];

fn deployment(name: &str) -> String {
    let class = match name {
        "urgent" => "priorityClassName: high,",
        _ => "",
    };
    format!(
        r#"
apiVersion: apps/v1
kind: Deployment
metadata: {{name: {name}}}
spec:
  selector: {{matchLabels: {{app: {name}}}}}
  template:
    metadata: {{labels: {{app: {name}}}}}
    spec: {{{class} containers: [{{name: {name}, image: "{name}:1", ports: [{{containerPort: 8080, name: http}}]}}]}}
"#
    )
}

fn rename_port(plane: &ControlPlane, name: &str, manager: &str) {
    let patch = format!(
        r#"[{{"op": "replace", "path": "/spec/template/spec/containers/0/ports/0/name", "value": "{name}"}}]"#
    );
    let manager = format!("--field-manager={manager}");
    plane.kubectl(&[
        "patch",
        "deploy/named",
        "--type=json",
        "-p",
        &patch,
        &manager,
    ]);
}

#[test]
fn a_failure_names_who_brought_it_about_and_not_who_came_later() {
    let plane = ControlPlane::start("refusals");
    let deployments = DEPLOYMENTS.map(deployment).join("---");
    plane.apply(&[OBJECTS, &deployments].join("---"));
    for name in DEPLOYMENTS {
        plane.kubectl(&["rollout", "status", "deploy", name, "--timeout=60s"]);
    }
    plane.apply(&[POLICY, WEBHOOK].join("---"));
    plane.kubectl(&["delete", "priorityclass/high", "svc/guard"]);
    for app in ["app=judged", "app=hooked"] {
        let pod = ["run", "probe", "--image=a:1", "--dry-run=server", "-l", app];
        plane.until_refused(&pod);
    }
    rename_port(&plane, "web", "walt");
    for name in DEPLOYMENTS {
        plane.kubectl(&[
            "set",
            "env",
            "deploy",
            name,
            "MODE=b",
            "--field-manager=mike",
        ]);
    }
    rename_port(&plane, "app", "yves");
    for (object, cause, author) in [
        (
            "deploy/judged",
            "ValidatingAdmissionPolicy 'team'",
            "validatingadmissionpolicy/team was created",
        ),
        (
            "deploy/urgent",
            "no PriorityClass with name high was found",
            "priorityclass/high was deleted",
        ),
        (
            "deploy/hooked",
            "webhook guard.example.com cannot be called: service default/guard not found",
            "service/guard was deleted",
        ),
        (
            "svc/named",
            "no pod has a port \"http\"; they have app (8080)",
            "by walt: containers[named].ports[containerPort=8080,protocol=TCP].name: http → web",
        ),
    ] {
        let mut spy = Spy::with_kubeconfig(plane.admin()).start(&["status", object]);
        spy.until_each(&[cause, author]);
        spy.interrupt();
    }
}
