//! Tests of the pages of `serve` that show what a verb answers: the changes of an object, its graph, and the timeline.

use serde_json::json;

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
            page.body.contains(&format!(">{part}</text>")),
            "{part}: {}",
            page.body
        );
    }
    assert_eq!(
        page.body.matches("class=\"change\"").count(),
        5,
        "{}",
        page.body
    );
    assert!(page.body.contains("replicas: 1 → 2"), "{}", page.body);
    for (path, error) in [
        ("/t?since=soon", "invalid value"),
        ("/t?since=1h&namespace=none", "No version is known"),
    ] {
        let page = served.get(path);
        assert!(page.body.contains(error), "{path}: {}", page.body);
    }
}
