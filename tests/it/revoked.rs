//! Tests of what `status` shows of a right that was taken away, if a failure says that it is missing.

use kubectl_spy::sandbox::{
    Deletion, Effect, ErrorBody, Fault, Kind, Request, Rule, Target, User, Verb, Writer,
};
use serde_json::{Value, json};

use super::support::cluster::{Cluster, pod};

const RBAC: &str = "rbac.authorization.k8s.io";

/// A Pod that ends with the words of the authorizer again and again.
fn forbidden() -> Value {
    let mut web = pod("web", &json!({"app": "web"}));
    let message = "pods is forbidden: User \"system:serviceaccount:shop:robot\" cannot list resource \"pods\" in API group \"\" in the namespace \"shop\"";
    let ended = json!({"exitCode": 1, "reason": "Error", "message": message});
    web["status"] = json!({
        "phase": "Running",
        "containerStatuses": [{
            "name": "app", "ready": false, "restartCount": 3,
            "state": {"waiting": {"reason": "CrashLoopBackOff", "message": "back-off"}},
            "lastState": {"terminated": ended},
        }],
    });
    web
}

fn role(name: &str, verbs: &[&str]) -> Value {
    json!({
        "apiVersion": format!("{RBAC}/v1"), "kind": "Role",
        "metadata": {"name": name, "namespace": "shop"},
        "rules": [{"apiGroups": [""], "resources": ["pods"], "verbs": verbs}],
    })
}

fn binding(name: &str, role: &str, account: &str) -> Value {
    json!({
        "apiVersion": format!("{RBAC}/v1"), "kind": "RoleBinding",
        "metadata": {"name": name, "namespace": "shop"},
        "roleRef": {"apiGroup": RBAC, "kind": "Role", "name": role},
        "subjects": [{"kind": "ServiceAccount", "name": account, "namespace": "shop"}],
    })
}

/// A cluster with a role that an account has, and another one beside it.
async fn cluster() -> Cluster {
    let kind = |kind: &str, plural: &str| Kind::custom(RBAC, "v1", kind, plural);
    let cluster = Cluster::start_with(|options| {
        options.kinds = vec![kind("Role", "roles"), kind("RoleBinding", "rolebindings")];
    })
    .await;
    for object in [
        role("reader", &["get", "list", "watch"]),
        role("writer", &["create"]),
        binding("robot-reads", "reader", "robot"),
        binding("robot-writes", "writer", "robot"),
        binding("other-reads", "reader", "other"),
    ] {
        cluster.put(object);
    }
    cluster.tick(1);
    cluster
}

/// The lines that `status` prints about roles and their bindings.
fn said(cluster: &Cluster) -> Vec<String> {
    cluster.put(forbidden());
    let ran = cluster.spy().run(&["status", "pod/web", "--once"]);
    let lines = ran.stdout.lines().filter(|line| line.contains("role"));
    let lines = lines.map(|line| line.trim_start_matches(['│', ' ', '└']).to_owned());
    lines.collect()
}

#[tokio::test(flavor = "multi_thread")]
async fn the_deletion_of_a_binding_that_gave_the_missing_right_is_named() {
    let cluster = cluster().await;
    for name in ["other-reads", "robot-writes", "robot-reads"] {
        let target = Target::new(&format!("rolebindings.{RBAC}"), "shop", name);
        let by = Writer::new("mallory");
        cluster
            .sandbox
            .delete(&target, Deletion::Immediate, &by)
            .unwrap();
        cluster.tick(1);
    }
    let found = said(&cluster);
    assert_eq!(found, ["rolebinding/robot-reads was deleted"]);
    for name in ["api", "db", "jobs", "mail"] {
        let mut other = forbidden();
        other["metadata"]["name"] = name.into();
        cluster.put(other);
    }
    let all = cluster
        .spy()
        .run(&["status", "--unhealthy", "-A", "--once"]);
    let named = all.stdout.matches("rolebinding/robot-reads was deleted");
    assert_eq!(named.count(), 5, "{}", all.stdout);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_rule_that_was_taken_out_of_a_role_is_named_with_its_writer() {
    let cluster = cluster().await;
    let by = Writer::new("mallory");
    cluster
        .sandbox
        .update(role("writer", &["delete"]), &by)
        .unwrap();
    cluster.tick(1);
    cluster
        .sandbox
        .update(role("reader", &["get"]), &by)
        .unwrap();
    cluster.tick(1);
    let found = said(&cluster);
    let expect = "role/reader changed 4m53s ago by mallory: rules[0].verbs: list → (none), rules[0].verbs: watch → (none)";
    assert_eq!(found, [expect]);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_right_that_is_there_again_or_was_never_there_names_nothing() {
    let again = cluster().await;
    let by = Writer::new("mallory");
    again.sandbox.update(role("reader", &["get"]), &by).unwrap();
    again.tick(1);
    let whole = role("reader", &["get", "list"]);
    again.sandbox.update(whole, &by).unwrap();
    assert_eq!(said(&again), Vec::<String>::new());
    let never = cluster().await;
    never
        .sandbox
        .update(role("writer", &["delete"]), &by)
        .unwrap();
    assert_eq!(said(&never), Vec::<String>::new());
}

#[tokio::test(flavor = "multi_thread")]
async fn of_several_changes_the_one_after_which_the_right_is_gone_is_named() {
    let cluster = cluster().await;
    let by = Writer::new("mallory");
    cluster
        .sandbox
        .update(role("reader", &["get"]), &by)
        .unwrap();
    cluster.tick(1);
    let target = Target::new(&format!("rolebindings.{RBAC}"), "shop", "robot-reads");
    let by = Writer::new("judy");
    cluster
        .sandbox
        .delete(&target, Deletion::Immediate, &by)
        .unwrap();
    let found = said(&cluster);
    assert_eq!(found.len(), 1, "{found:?}");
    assert!(found[0].starts_with("role/reader changed"), "{found:?}");
}

#[tokio::test(flavor = "multi_thread")]
async fn roles_that_may_not_be_read_are_said_as_not_read() {
    let cluster = cluster().await;
    let refusal = Effect::Status {
        code: 403,
        retry_after: None,
        body: ErrorBody::Status,
    };
    let fault = Fault::on(Verb::Any, "roles", refusal);
    cluster.sandbox.inject(fault.always());
    cluster.put(forbidden());
    let ran = cluster.spy().run(&["status", "pod/web", "--once"]);
    let said = "not all changes before the failure could be read";
    assert!(ran.stdout.contains(said), "{}\n{}", ran.stdout, ran.stderr);
    // To name one of several would not help.
    for name in ["api", "db", "jobs"] {
        let mut other = forbidden();
        other["metadata"]["name"] = name.into();
        cluster.put(other);
    }
    let ran = cluster.spy().run(&["status", "--unhealthy", "--once"]);
    let said = "not all changes before the failures could be read";
    assert!(ran.stdout.contains(said), "{}\n{}", ran.stdout, ran.stderr);
}

/// What a user may not read who may only read Pods: each refused request of a run, without its limit, sorted.
fn refused_to_reader_of_pods(cluster: &Cluster, args: &[&str]) -> Vec<String> {
    let reader = User {
        name: "jane".to_owned(),
        token: String::new(),
        rules: vec![Rule::allow("*", "pods")],
    };
    cluster.sandbox.set_users(vec![reader]);
    let before = cluster.sandbox.requests().len();
    let ran = cluster.spy().run(args);
    let said = "Error from server (Forbidden): secrets \"db\" is forbidden";
    assert!(ran.transcript().contains(said), "{}", ran.transcript());
    let requests = cluster.sandbox.requests().split_off(before);
    let is_refused = |request: &Request| request.status == Some(403);
    let refused = requests.into_iter().filter(is_refused);
    let source = |path: String| path.replace(['?', '&'], " ").replace(" limit=500", "");
    let mut refused: Vec<String> = refused.map(|request| source(request.path)).collect();
    refused.sort();
    refused
}

#[tokio::test(flavor = "multi_thread")]
async fn what_may_not_be_read_is_requested_once_for_all_failures() {
    let cluster = cluster().await;
    for name in ["web", "api", "db", "cache"] {
        let mut failed = forbidden();
        failed["metadata"]["name"] = name.into();
        let environment = [
            json!({"configMapRef": {"name": "flags"}}),
            json!({"secretRef": {"name": "db"}}),
        ];
        failed["spec"]["containers"][0]["envFrom"] = json!(environment);
        cluster.put(failed);
    }
    for args in [
        &["status", "pods", "--unhealthy", "--once"][..],
        &["status", "pod/web", "--once"],
        &["trace", "pod/web", "--once"],
    ] {
        let refused = refused_to_reader_of_pods(&cluster, args);
        let mut once = refused.clone();
        once.dedup();
        assert_eq!(refused, once, "{args:?}");
        let is_role = |path: &&String| path.contains("/roles");
        assert_eq!(refused.iter().filter(is_role).count(), 1, "{refused:#?}");
    }
}
