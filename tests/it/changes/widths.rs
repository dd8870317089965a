//! Tests of `changes` on terminals of 80, 100 and 120 columns, over the scenarios of `demo`: what decides stays.

use insta::assert_snapshot;
use kubectl_spy::sandbox::scenario::{all, play_at_once};

use super::super::support::cluster::Cluster;

const WIDTHS: [u16; 3] = [80, 100, 120];

/// The revisions after which the people of the scenarios act.
const ROLLOUT: &str = "--since-rv=31";
const CONFIG: &str = "--since-rv=35";

/// What a terminal of this width shows of a scenario that is over.
async fn shown(scenario: &str, columns: u16, args: &[&str]) -> String {
    let cluster = Cluster::start().await;
    let scenario = all().into_iter().find(|one| one.name == scenario).unwrap();
    play_at_once(&cluster.sandbox, &scenario).unwrap();
    let place = ["changes", "--once", "-n", scenario.namespace];
    let args = [&place, args].concat();
    let mut terminal = cluster.spy().on_terminal((columns, 12), &args);
    assert!(terminal.finish().success());
    terminal.transcript()
}

#[tokio::test(flavor = "multi_thread")]
async fn the_timeline_of_a_rollout_at_80_columns() {
    assert_snapshot!(shown("rollout", 80, &[ROLLOUT]).await, @"
    12:00:02 MODIFIED deployment/web  31→32  by kubectl-set  1 change, 3 hidden
    ~ …ontainers[name=web].image: …le.com/shop/web:v2.3.9 → …om/shop/web:v2.4.1-rc1
      11 versions, 1 failing (ImagePullBackOff) (show: --owned)
    ·  12:00:03-12:00:31 service/web: 15 versions of 1 endpointslice (show: --owned)
    12:00:18 MODIFIED deployment/web  by kubectl-client-side-apply  2 changes
    ~ …ontainers[name=web].image: …om/shop/web:v2.4.1-rc1 → registry…(+21 B):v2.4.1
      last-applied-configuration: 1 change inside
        ~ …ntainers[name=web].image: …e.com/shop/web:v2.3.9 → …e.com/shop/web:v2.4.1
      44 versions of 7 pods and 3 replicasets, 12 status reports (show: --owned)
    ── 12 of 13 objects changed, in 4 kinds (82 counted, show: --owned; 1 hidden) ──
    ── back to 12:00:02 · complete since 12:00:02 ──
    ── cluster-scoped kinds are not read: -A ──
    85 versions: 85 earlier · 3 changes shown, 9 hidden · 0s
    ");
}

#[tokio::test(flavor = "multi_thread")]
async fn the_timeline_of_a_rollout_at_100_columns() {
    assert_snapshot!(shown("rollout", 100, &[ROLLOUT]).await, @"
    12:00:02 MODIFIED deployment/web  31→32  4m58s ago  by kubectl-set  1 change, 3 hidden
    ~ …spec.containers[name=web].image: …y.example.com/shop/web:v2.3.9 → …ample.com/shop/web:v2.4.1-rc1
      9 versions of 2 objects, 2 status reports, 1 failing (ImagePullBackOff) (show: --owned)
    ·  12:00:03-12:00:31 service/web: 15 versions of 1 endpointslice (show: --owned)
    12:00:18 MODIFIED deployment/web  37→45  by kubectl-client-side-apply  2 changes, 3 hidden
    ~ …spec.containers[name=web].image: …ample.com/shop/web:v2.4.1-rc1 → registry.ex…(+14 B)/web:v2.4.1
      last-applied-configuration: ~ …ainers[name=web].image: …com/shop/web:v2.3.9 → …com/shop/web:v2.4.1
      44 versions of 7 pods and 3 replicasets, 12 status reports (show: --owned)
    ── 12 of 13 objects changed, in 4 kinds (82 counted, show: --owned; 1 hidden), back to 12:00:02 ──
    ── complete since 12:00:02 · cluster-scoped kinds are not read: -A ──
    85 versions: 85 earlier · 3 changes shown, 9 hidden · 0s
    ");
}

#[tokio::test(flavor = "multi_thread")]
async fn the_timeline_of_a_rollout_at_120_columns() {
    assert_snapshot!(shown("rollout", 120, &[ROLLOUT]).await, @"
    12:00:02 MODIFIED deployment/web  31→32  4m58s ago  by kubectl-set  1 change, 3 hidden
    ~ …spec.containers[name=web].image: registry.example.com/shop/web:v2.3.9 → registry.example.com/shop/web:v2.4.1-rc1
      9 versions of 1 pod and 1 replicaset, 2 status reports, 1 failing (ImagePullBackOff) (show: --owned)
    ·  12:00:03-12:00:31 service/web: 15 versions of 1 endpointslice (show: --owned)
    12:00:18 MODIFIED deployment/web  37→45  +16s  4m42s ago  by kubectl-client-side-apply  2 changes, 3 hidden
    ~ …spec.containers[name=web].image: registry.example.com/shop/web:v2.4.1-rc1 → registry.example.com/shop/web:v2.4.1
      last-applied-configuration: ~ …containers[name=web].image: …example.com/shop/web:v2.3.9 → …example.com/shop/web:v2.4.1
      44 versions of 7 pods and 3 replicasets, 12 status reports (show: --owned)
    ── 12 of 13 objects changed, in 4 kinds (82 counted, show: --owned; 1 hidden), back to 12:00:02 ──
    ── complete since 12:00:02 · cluster-scoped kinds are not read: -A ──
    85 versions: 85 earlier · 3 changes shown, 9 hidden · 0s
    ");
}

#[tokio::test(flavor = "multi_thread")]
async fn the_timeline_of_a_configuration_at_80_columns() {
    assert_snapshot!(shown("config", 80, &[CONFIG]).await, @r#"
    12:00:02 MODIFIED configmap/api-config  by kubectl-edit  1 change, 2 hidden
    ~ .data["app.yaml"]  +4 -3 lines
        @@ 2 @@
            port: 8080
        -   timeout: 30s
        +   timeout: 5s
        +   keepAlive: 75s
          cache:
        -   size: 128Mi
        +   size: 512Mi
            ttl: 5m
          features:
        -   search: beta
        +   search: stable
    12:00:05 MODIFIED configmap/flags  7→37  by kubectl-edit  2 changes, 2 hidden
    ~ .data.checkout-v2: "off" → "on"
    ~ .data.dark-mode: "off" → "on"
    12:00:05–09 MODIFIED configmap/flags  37→38  4m51s–4m55s ago  1 change, 2 hidden
    - .data.legacy-search: "on"  (was kubectl-client-side-apply's)
    12:00:09 MODIFIED secret/db  8→39  4m51s ago  by db-operator  1 change, 2 hidden
    ~ .data.password: <secret 9 B #1> → <secret 13 B #2>
    ·  12:00:12-12:00:18 horizontalpodautoscaler/api: 2 versions (show: --owned)
    12:00:12 MODIFIED deployment/api  by kube-controller-manager (scale)  1 change
    ~ .spec.replicas: 3 → 5
      13 versions of 2 pods and 1 replicaset, 3 status reports (show: --owned)
    ·  12:00:13-12:00:24 service/api: 4 versions of 1 endpointslice (show: --owned)
    12:00:20 MODIFIED horizontalpodautoscaler/api  by kubectl-patch  1 change
    ~ .spec.minReplicas: 3 → 4
      2 status reports (show: --owned)
    12:00:23 MODIFIED deployment/api  probably by kube-controller-manager (scale)
    ~ .spec.replicas: 5 → 4
      5 versions of 1 pod and 1 replicaset, 1 status report (show: --owned)
    12:00:27–31 DELETED configmap/flags  74  4m29s–4m33s ago  existed 12d
    12:00:31 RECREATED configmap/flags  75  4m29s ago  by kubectl-client-side-apply
    + .data.checkout-v2: "on"
    + .data.dark-mode: "off"
    + .data.legacy-search: "on"
      compared with the deleted object 74, another life:
    ~ .data.dark-mode: "on" → "off"
    + .data.legacy-search: "on"
      probably by X: no writer is recorded, and X owned these values before
    ── 9 of 13 objects changed, in 7 kinds (30 counted, show: --owned; 1 hidden) ──
    ── back to 12:00:02 · complete since 12:00:02 ──
    ── cluster-scoped kinds are not read: -A ──
    40 versions: 40 earlier · 8 changes shown, 19 hidden · 0s
    "#);
}

#[tokio::test(flavor = "multi_thread")]
async fn the_timeline_of_a_configuration_at_100_columns() {
    assert_snapshot!(shown("config", 100, &[CONFIG]).await, @r#"
    12:00:02 MODIFIED configmap/api-config  6→36  4m58s ago  by kubectl-edit  1 change, 2 hidden
    ~ .data["app.yaml"]  +4 -3 lines
        @@ 2 @@
            port: 8080
        -   timeout: 30s
        +   timeout: 5s
        +   keepAlive: 75s
          cache:
        -   size: 128Mi
        +   size: 512Mi
            ttl: 5m
          features:
        -   search: beta
        +   search: stable
    12:00:05 MODIFIED configmap/flags  7→37  4m55s ago  by kubectl-edit  2 changes, 2 hidden
    ~ .data.checkout-v2: "off" → "on"
    ~ .data.dark-mode: "off" → "on"
    12:00:05–09 MODIFIED configmap/flags  37→38  4m51s–4m55s ago  1 change, 2 hidden
    - .data.legacy-search: "on"  (was kubectl-client-side-apply's)
    12:00:09 MODIFIED secret/db  8→39  4m51s ago  by db-operator  1 change, 2 hidden
    ~ .data.password: <secret 9 B #1> → <secret 13 B #2>
    ·  12:00:12-12:00:18 horizontalpodautoscaler/api: 2 status reports (show: --owned)
    12:00:12 MODIFIED deployment/api  34→41  by kube-controller-manager (scale)  1 change, 3 hidden
    ~ .spec.replicas: 3 → 5
      13 versions of 2 pods and 1 replicaset, 3 status reports (show: --owned)
    ·  12:00:13-12:00:24 service/api: 4 versions of 1 endpointslice (show: --owned)
    12:00:20 MODIFIED horizontalpodautoscaler/api  60→61  by kubectl-patch  1 change, 2 hidden
    ~ .spec.minReplicas: 3 → 4
      2 status reports (show: --owned)
    12:00:23 MODIFIED deployment/api  probably by kube-controller-manager (scale)  1 change, 3 hidden
    ~ .spec.replicas: 5 → 4
      5 versions of 1 pod and 1 replicaset, 1 status report (show: --owned)
    12:00:27–31 DELETED configmap/flags  74  4m29s–4m33s ago  existed 12d
    12:00:31 RECREATED configmap/flags  75  4m29s ago  by kubectl-client-side-apply
    + .data.checkout-v2: "on"
    + .data.dark-mode: "off"
    + .data.legacy-search: "on"
      compared with the deleted object 74, another life:
    ~ .data.dark-mode: "on" → "off"
    + .data.legacy-search: "on"
      probably by X: no writer is recorded, and X owned these values before
    ── 9 of 13 objects changed, in 7 kinds (30 counted, show: --owned; 1 hidden), back to 12:00:02 ──
    ── complete since 12:00:02 · cluster-scoped kinds are not read: -A ──
    40 versions: 40 earlier · 8 changes shown, 19 hidden · 0s
    "#);
}

#[tokio::test(flavor = "multi_thread")]
async fn the_timeline_of_a_configuration_at_120_columns() {
    assert_snapshot!(shown("config", 120, &[CONFIG]).await, @r#"
    12:00:02 MODIFIED configmap/api-config  6→36  4m58s ago  by kubectl-edit  1 change, 2 hidden
    ~ .data["app.yaml"]  +4 -3 lines
        @@ 2 @@
            port: 8080
        -   timeout: 30s
        +   timeout: 5s
        +   keepAlive: 75s
          cache:
        -   size: 128Mi
        +   size: 512Mi
            ttl: 5m
          features:
        -   search: beta
        +   search: stable
    12:00:05 MODIFIED configmap/flags  7→37  4m55s ago  by kubectl-edit  2 changes, 2 hidden
    ~ .data.checkout-v2: "off" → "on"
    ~ .data.dark-mode: "off" → "on"
    12:00:05–09 MODIFIED configmap/flags  37→38  4m51s–4m55s ago  1 change, 2 hidden
    - .data.legacy-search: "on"  (was kubectl-client-side-apply's)
    12:00:09 MODIFIED secret/db  8→39  4m51s ago  by db-operator  1 change, 2 hidden
    ~ .data.password: <secret 9 B #1> → <secret 13 B #2>
    ·  12:00:12-12:00:18 horizontalpodautoscaler/api: 2 status reports (show: --owned)
    12:00:12 MODIFIED deployment/api  34→41  4m48s ago  by kube-controller-manager (scale)  1 change, 3 hidden
    ~ .spec.replicas: 3 → 5
      13 versions of 2 pods and 1 replicaset, 3 status reports (show: --owned)
    ·  12:00:13-12:00:24 service/api: 4 versions of 1 endpointslice (show: --owned)
    12:00:20 MODIFIED horizontalpodautoscaler/api  60→61  +2s  4m40s ago  by kubectl-patch  1 change, 2 hidden
    ~ .spec.minReplicas: 3 → 4
      2 status reports (show: --owned)
    12:00:23 MODIFIED deployment/api  59→63  4m37s ago  probably by kube-controller-manager (scale)  1 change, 3 hidden
    ~ .spec.replicas: 5 → 4
      5 versions of 1 pod and 1 replicaset, 1 status report (show: --owned)
    12:00:27–31 DELETED configmap/flags  74  4m29s–4m33s ago  existed 12d
    12:00:31 RECREATED configmap/flags  75  4m29s ago  by kubectl-client-side-apply
    + .data.checkout-v2: "on"
    + .data.dark-mode: "off"
    + .data.legacy-search: "on"
      compared with the deleted object 74, another life:
    ~ .data.dark-mode: "on" → "off"
    + .data.legacy-search: "on"
      probably by X: no writer is recorded, and X owned these values before
    ── 9 of 13 objects changed, in 7 kinds (30 counted, show: --owned; 1 hidden), back to 12:00:02 ──
    ── complete since 12:00:02 · cluster-scoped kinds are not read: -A ──
    40 versions: 40 earlier · 8 changes shown, 19 hidden · 0s
    "#);
}

/// The lines of the Pods that cannot pull their image.
#[tokio::test(flavor = "multi_thread")]
async fn reasons_stay_at_each_width() {
    for columns in WIDTHS {
        let text = shown("rollout", columns, &["--since-rv=1", "--owned"]).await;
        for word in [
            "waiting ImagePullBackOff",
            "ErrImagePull",
            "ContainersNotReady",
        ] {
            assert!(text.contains(word), "{columns} {word}:\n{text}");
        }
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn the_states_of_containers_at_80_columns() {
    let text = shown(
        "rollout",
        80,
        &["--since-rv=1", "--only", "status.containerStatuses"],
    )
    .await;
    let states = text.lines().filter(|line| line.contains("state"));
    let mut states: Vec<&str> = states.collect();
    states.sort_unstable();
    states.dedup();
    assert_snapshot!(states.join("\n"), @"
        ~ state: running since 12:00:01 → terminated Completed exit 0
        ~ state: waiting ContainerCreating → running since 12:00:01
        ~ state: waiting ContainerCreating → running since 12:00:19
        ~ state: waiting ContainerCreating → running since 12:00:23
        ~ state: waiting ContainerCreating → running since 12:00:27
    ~ .status.containerStatuses[name=web].state: → waiting ErrImagePull
    ~ .status.containerStatuses[name=web].state: → waiting ImagePullBackOff
    ");
}

/// A line that is longer than the terminal would continue on the next one.
#[tokio::test(flavor = "multi_thread")]
async fn no_line_is_wider_than_the_terminal() {
    for columns in WIDTHS {
        for scenario in ["rollout", "config"] {
            let wide = usize::from(columns);
            let text = shown(scenario, columns, &["--since-rv=1", "--owned"]).await;
            let mut lines = text.lines();
            let starts = "+-~↕≈· ─0123456789";
            let broken =
                lines.find(|line| !line.is_empty() && !line.starts_with(|c| starts.contains(c)));
            assert_eq!(broken, None, "{wide} {scenario}:\n{text}");
        }
    }
}
