//! Tests of the pages of `serve` that show what a verb answers: the changes of an object, its graph, and the timeline.

use serde_json::{Value, json};

use super::serve::Served;
use super::support::cluster::{Cluster, config_map, deployment, owned_by, pod};

/// A Deployment with a Pod that uses a `ConfigMap`, which two people have changed.
async fn web() -> Cluster {
    let cluster = Cluster::start().await;
    cluster.put(config_map("flags", &json!({"mode": "a"})));
    let web = cluster.put(deployment("web", 1));
    let mut pod = pod("web-1", &json!({"app": "web"}));
    pod["spec"] = json!({"containers": [{
        "name": "app", "image": "app:1", "envFrom": [{"configMapRef": {"name": "flags"}}],
    }]});
    cluster.put(owned_by(pod, &web));
    cluster.edit("configmaps", "flags", &json!({"data": {"mode": "<b>"}}));
    cluster.edit("deployments", "web", &json!({"spec": {"replicas": 2}}));
    cluster
}

fn served(cluster: &Cluster) -> Served {
    Served::start(&cluster.spy(), &["deploy,pods,cm"])
}

#[tokio::test(flavor = "multi_thread")]
async fn the_changes_of_an_object_have_their_writers_and_a_diff() {
    let cluster = web().await;
    let served = served(&cluster);
    let object = "/o/demo/ConfigMap/shop/flags";
    let page = served.get(object);
    assert_eq!(page.code, 200, "{}", page.body);
    let link = "href=\"/c/demo/ConfigMap/shop/flags\"";
    assert!(page.body.contains(link), "{}", page.body);
    let page = served.get("/c/demo/ConfigMap/shop/flags");
    assert_eq!(page.code, 200, "{}", page.body);
    for part in [
        "kubectl-edit",
        "<del>a</del>",
        "<ins>&lt;b&gt;</ins>",
        "complete since",
        "kubectl spy changes configmap/flags -n shop --context demo",
    ] {
        assert!(page.body.contains(part), "{part}: {}", page.body);
    }
    // The newest version comes first.
    let page = served.get("/c/demo/Deployment.apps/shop/web?since=1h");
    let at = |text: &str| {
        page.body
            .find(text)
            .unwrap_or_else(|| panic!("{text}: {}", page.body))
    };
    assert!(at("1 → 2") < at("</span> created"));
    let page = served.get("/c/demo/Pod/shop/none");
    assert_eq!(page.code, 404, "{}", page.body);
    assert!(
        page.body.contains("pods &quot;none&quot; not found"),
        "{}",
        page.body
    );
}

#[tokio::test(flavor = "multi_thread")]
async fn the_graph_of_an_object_has_a_box_for_each_object_and_a_table_with_the_same() {
    let cluster = web().await;
    let served = served(&cluster);
    let page = served.get("/g/demo/Deployment.apps/shop/web");
    assert_eq!(page.code, 200, "{}", page.body);
    for part in ["deployment/web", "pod/web-1", "configmap/flags"] {
        assert_eq!(
            page.body.matches(&format!("<title>{part}</title>")).count(),
            1,
            "{}",
            page.body
        );
    }
    assert!(
        page.body.matches("class=\"line\"").count() >= 2,
        "{}",
        page.body
    );
    assert!(
        page.body.contains("environment</span> → configmap/flags"),
        "{}",
        page.body
    );
    let again = served.get("/g/demo/Deployment.apps/shop/web");
    assert_eq!(
        again.body, page.body,
        "a picture that has not changed does not move"
    );
}

#[tokio::test(flavor = "multi_thread")]
async fn the_timeline_has_a_lane_for_each_object_that_changed() {
    let cluster = web().await;
    let served = served(&cluster);
    let page = served.get("/t?since=1h");
    assert_eq!(page.code, 200, "{}", page.body);
    for part in ["deployment/web", "pod/web-1", "configmap/flags"] {
        assert!(
            page.body.contains(&format!(">{part}</a>")),
            "{part}: {}",
            page.body
        );
    }
    // The legend has one, too.
    let changes = page.body.matches("class=\"change\"").count();
    assert_eq!(changes, 5 + 1, "{}", page.body);
    assert!(page.body.contains("replicas: 1 → 2"), "{}", page.body);
    for (path, error) in [
        ("/t?since=soon", "invalid value"),
        ("/t?since=1h&namespace=none", "No version is known"),
        (
            "/t?from=2026-03-02T12:00:00Z&to=2026-03-02T11:00:00Z",
            "expected a time after",
        ),
    ] {
        let page = served.get(path);
        assert!(page.body.contains(error), "{path}: {}", page.body);
    }
}

/// A Pod that runs, then fails, with a warning about it. Another Pod prints a line.
async fn failed_pod() -> Cluster {
    let cluster = Cluster::start().await;
    let web = cluster.put(deployment("web", 1));
    let mut first = pod("web-1", &json!({"app": "web"}));
    first["spec"]["nodeName"] = json!("node-1");
    cluster.put(owned_by(first, &web));
    let state = |ready: bool, state: &Value| {
        let condition = json!({"type": "Ready", "status": if ready { "True" } else { "False" }});
        json!({"phase": "Running", "conditions": [condition], "containerStatuses": [{
            "name": "app", "ready": ready, "restartCount": 0, "containerID": "web-1#0", "state": state, "lastState": {},
        }]})
    };
    let running = json!({"running": {"startedAt": "2026-03-02T12:00:02Z"}});
    cluster.report("pods", "web-1", &state(true, &running));
    cluster
        .sandbox
        .print("web-1#0", cluster.now(), b"hello <b>");
    let mut job = pod("job", &json!({}));
    job["spec"]["nodeName"] = json!("node-1");
    job["status"] = state(true, &running);
    job["status"]["containerStatuses"][0]["containerID"] = json!("job#0");
    cluster.put(job);
    cluster.sandbox.print("job#0", cluster.now(), b"hello <b>");
    for _ in 0..9 {
        cluster.renew();
        cluster.tick(9);
    }
    let waiting = json!({"waiting": {"reason": "ImagePullBackOff", "message": "no such image"}});
    cluster.report("pods", "web-1", &state(false, &waiting));
    cluster.put(json!({
        "apiVersion": "v1", "kind": "Event", "metadata": {"name": "web-1.1", "namespace": "shop"},
        "involvedObject": {"apiVersion": "v1", "kind": "Pod", "namespace": "shop", "name": "web-1"},
        "type": "Warning", "reason": "BackOff", "message": "Back-off pulling image", "count": 2,
    }));
    cluster.renew();
    cluster
}

#[tokio::test(flavor = "multi_thread")]
async fn an_object_has_its_events_its_logs_and_its_past() {
    let cluster = failed_pod().await;
    let served = Served::start(&cluster.spy(), &["deploy,pods"]);
    for (path, parts, absent) in [
        (
            "/e/demo/Deployment.apps/shop/web",
            &["pod/web-1", "BackOff", "Back-off pulling image", "×2"][..],
            "no such part",
        ),
        (
            "/l/demo/Pod/shop/job",
            &["job app", "hello &lt;b&gt;"],
            "No container",
        ),
        (
            "/o/demo/Deployment.apps/shop/web?at=2026-03-02T12:01:00Z",
            &[
                "Earlier state of deployment/web",
                "pod/web-1",
                "Running",
                "--at 2026-03-02T12:01:00Z",
            ],
            "ImagePullBackOff",
        ),
        (
            "/o/demo/Deployment.apps/shop/web?ago=240",
            &["as of 240s", "pod/web-1"],
            "ImagePullBackOff",
        ),
    ] {
        let page = served.get(path);
        assert_eq!(page.code, 200, "{path}: {}", page.body);
        for part in parts {
            assert!(page.body.contains(part), "{path}: {part}: {}", page.body);
        }
        assert!(
            !page.body.contains(absent),
            "{path}: {absent}: {}",
            page.body
        );
    }
    // The server shows the object now, although one reader has looked at its past.
    let page = served.get("/o/demo/Deployment.apps/shop/web");
    assert!(page.body.contains("ImagePullBackOff"), "{}", page.body);
    let page = served.get("/o/demo/Pod/shop/web-1?at=soon");
    assert_eq!(page.code, 400, "{}", page.body);
    let page = served.get("/o/demo/Pod/shop/none?at=2026-03-02T12:01:00Z");
    assert_eq!(page.code, 404, "{}", page.body);
}
