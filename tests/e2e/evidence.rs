//! The causes of broken objects on a real control plane: `status` names what is wrong, not only that it is.

use std::time::{Duration, Instant};

use super::controlplane::ControlPlane;
use super::support::Spy;

/// How long the controllers may need.
const PATIENCE: Duration = Duration::from_secs(60);

const BROKEN: &str = include_str!("evidence/broken.yaml");

/// The namespace, the object, and words of its cause.
pub(super) type Case = (&'static str, &'static str, &'static str);

/// The causes in `status`.
const CASES: &[Case] = &[
    (
        "shop",
        "svc/nearmiss",
        "no pod matches app=wbe; 3 pods have app=web",
    ),
    (
        "shop",
        "svc/off",
        "no pod matches app=off: deployment/off is scaled to 0",
    ),
    (
        "shop",
        "svc/badport",
        "no pod has a port \"web\"; they have http (8080)",
    ),
    (
        "shop",
        "svc/lb",
        "the load balancer has no external address yet",
    ),
    ("shop", "ing/absent", "backend service/nope does not exist"),
    ("shop", "ing/nobody", "backend service/nobody: no endpoints"),
    (
        "shop",
        "svc/udp",
        "no pod has a UDP port \"http\"; they have http (8080 TCP)",
    ),
    ("shop", "rc/rc", "0 of 2 pods ready: 2 ImagePullBackOff"),
    (
        "shop",
        "rolebinding/dangling",
        "subject serviceaccount/ghost does not exist",
    ),
    (
        "shop",
        "pod/unscheduled",
        "the scheduler volcano has not looked at the pod yet",
    ),
    (
        "shop",
        "pod/scratch",
        "volume persistentvolumeclaim/scratch-data: storageclass/absent does not exist",
    ),
    (
        "shop",
        "ing/port",
        "backend service/badport has no port 81; it has 80",
    ),
    (
        "shop",
        "ing/behind",
        "no pod matches app=wbe; 3 pods have app=web",
    ),
    (
        "shop",
        "hpa/notarget",
        "scale target deployment/nope does not exist",
    ),
    ("shop", "hpa/nometrics", "FailedGetResourceMetric"),
    (
        "shop",
        "hpa/off",
        "scaling is disabled: deployment/off has 0 replicas",
    ),
    ("shop", "pvc/noclass", "storageclass/fast does not exist"),
    ("shop", "pvc/nodefault", "the cluster has no default one"),
    (
        "shop",
        "pvc/late",
        "waits for a pod that uses the claim to be scheduled (WaitForFirstConsumer)",
    ),
    (
        "shop",
        "pvc/noprov",
        "waiting for provisioner example.com/none of storage class",
    ),
    (
        "shop",
        "deploy/claim",
        "volume persistentvolumeclaim/noclass: storageclass/fast does not exist",
    ),
    (
        "shop",
        "deploy/noclaim",
        "volume persistentvolumeclaim/nope does not exist",
    ),
    (
        "shop",
        "deploy/selector",
        "0 of 3 pods ready: 3 Pending (needs a node with disktype=ssd, and no node has it)",
    ),
    (
        "shop",
        "deploy/affinity",
        "needs a node with zone in (a,b), and no node has it",
    ),
    ("shop", "deploy/oom", "OOMKilled, memory limit 64Mi"),
    (
        "shop",
        "deploy/unready",
        "Unhealthy: Readiness probe failed: HTTP probe failed with statuscode: 503",
    ),
    ("shop", "deploy/paused", "the rollout is paused"),
    ("shop", "sts/db", "waits for pod/db-0, which is not ready"),
    ("shop", "ds/nonode", "no node has gpu=yes"),
    ("shop", "job/fails", "BackoffLimitExceeded"),
    ("shop", "job/late", "DeadlineExceeded"),
    (
        "shop",
        "cj/never",
        "has not started a Job yet (schedule 0 0 1 1 *)",
    ),
    ("shop", "cj/suspended", "suspended"),
    (
        "shop",
        "pdb/violated",
        "only 0 of 2 pods are healthy, 2 must be",
    ),
    (
        "shop",
        "pdb/nothing",
        "it covers no pod: none matches its selector",
    ),
    (
        "shop",
        "pdb/nearmiss",
        "no pod matches app=wbe; 3 pods have app=web",
    ),
    (
        "shop",
        "svc/headless",
        "no pod matches app=wbe; 3 pods have app=web",
    ),
    (
        "shop",
        "pdb/blocked",
        "no eviction is allowed: 3 of 3 pods are healthy, 3 must be",
    ),
    (
        "shop",
        "pod/gated",
        "waiting for scheduling gates: example.com/wait",
    ),
    (
        "shop",
        "deploy/key",
        "environment configmap/settings: missing key \"colour\"; it has color, size",
    ),
    (
        "shop",
        "apiservice/v1.example.com",
        "backend service/nope -n shop does not exist",
    ),
    ("shop", "ns/stuck", "configmaps. has 1 resource instances"),
    (
        "shop",
        "pod/mounts",
        "FailedMount: volume \"data\": no such disk (×3)",
    ),
    (
        "tight",
        "deploy/quota",
        "exceeded quota small: pods needs 1, 0 free (1 of 1 used)",
    ),
    (
        "full",
        "sts/quota",
        "FailedCreate: exceeded quota none: pods needs 1, 0 free (0 of 0 used)",
    ),
    (
        "hooked",
        "deploy/hooked",
        "webhook guard.example.com cannot be called: service hooked/guard not found",
    ),
    (
        "hooked",
        "validatingwebhookconfiguration/guard",
        "without service/guard, the API server refuses matching requests (failurePolicy Fail)",
    ),
    (
        "shop",
        "mutatingwebhookconfiguration/injector",
        "without service/injector, the API server lets matching requests pass (failurePolicy Ignore)",
    ),
    (
        "shop",
        "ing/tls",
        "certificate secret/cert does not name the host shop.example.com; it names web.example.com",
    ),
    ("shop", "ing/tls", "no TLS Secret for plain.example.com"),
    (
        "shop",
        "pvc/taken",
        "persistentvolume/reserved is reserved for claim tight/other",
    ),
    (
        "shop",
        "pvc/large",
        "persistentvolume/small has 1Gi; the claim asks for 5Gi",
    ),
    (
        "shop",
        "pvc/local-large",
        "no volume fits; the nearest is persistentvolume/local-small, which has 1Gi; the claim asks for 5Gi",
    ),
    (
        "shop",
        "pod/local",
        "volume persistentvolumeclaim/local-large: no volume fits",
    ),
    (
        "shop",
        "pvc/misspelled",
        "storageclass/laet does not exist; there is late",
    ),
    (
        "shop",
        "svc/twolabels",
        "no pod matches app=web,track=canary; 3 pods have app=web",
    ),
    (
        "shop",
        "pod/refused",
        "needs a node with dedicated=gpu, which only node tainted (untolerated taint gpu=a:NoSchedule) has",
    ),
    ("shop", "job/stopped", "parallelism is 0: no pod starts"),
    (
        "shop",
        "sts/holders",
        "has persistentvolumeclaim/one, which is for one pod (ReadWriteOncePod)",
    ),
];

/// The same in `trace`, which reads more.
const TRACED: &[Case] = &[
    (
        "shop",
        "svc/undeclared",
        "no pod declares port 9999; they have http (8080)",
    ),
    (
        "shop",
        "pod/untolerant",
        "is also under poddisruptionbudget/second: evictions will fail",
    ),
    (
        "shop",
        "pod/untolerant",
        "Standalone: no controller replaces it",
    ),
    ("shop", "netpol/closed", "allows no ingress and no egress"),
    (
        "shop",
        "netpol/nearmiss",
        "no pod matches app=wbe; 3 pods have app=web",
    ),
    ("shop", "deploy/paused", "no Service selects its pods"),
];

/// A warning that a kubelet would send about the Pod `mounts`.
fn warn_about_a_mount(plane: &ControlPlane) {
    let path = "jsonpath={.metadata.uid}";
    let uid = plane.kubectl(&["get", "pod", "mounts", "-n", "shop", "-o", path]);
    plane.apply(&format!(
        r#"{{"apiVersion":"v1","kind":"Event","metadata":{{"name":"mounts.1","namespace":"shop"}},
            "type":"Warning","reason":"FailedMount","message":"volume \"data\": no such disk","count":3,
            "lastTimestamp":"2026-01-01T00:00:00Z",
            "involvedObject":{{"apiVersion":"v1","kind":"Pod","namespace":"shop","name":"mounts","uid":"{uid}"}}}}"#
    ));
}

#[test]
fn broken_objects_have_their_real_cause() {
    let plane = ControlPlane::start("evidence");
    let spy = Spy::with_kubeconfig(plane.admin());
    plane.apply(BROKEN);
    warn_about_a_mount(&plane);
    plane.kubectl(&["delete", "ns", "stuck", "--wait=false"]);
    until_named(&spy, CASES, TRACED);
}

/// Waits until `status` names the causes of some objects, and `trace` those of others.
pub(super) fn until_named(spy: &Spy, by_status: &'static [Case], by_trace: &'static [Case]) {
    let started = Instant::now();
    let of = |verb, cases: &'static [Case]| cases.iter().map(move |case| (verb, case));
    let cases = of("status", by_status).chain(of("trace", by_trace));
    let mut due: Vec<_> = cases.collect();
    loop {
        let mut last: Vec<String> = Vec::new();
        due.retain(|(verb, (namespace, object, cause))| {
            let ran = spy.run(&[verb, object, "-n", namespace, "--once"]);
            let is_named = ran.stdout.contains(cause);
            if !is_named {
                let shown = ran.transcript();
                last.push(format!("{verb} {object} does not say `{cause}`:\n{shown}"));
            }
            !is_named
        });
        if due.is_empty() {
            return;
        }
        assert!(started.elapsed() < PATIENCE, "{}", last.join("\n"));
    }
}

#[test]
fn what_is_well_reads_no_events() {
    let plane = ControlPlane::start("no-events");
    let spy = Spy::with_kubeconfig(plane.admin());
    plane.kubectl(&["create", "configmap", "well"]);
    let ran = spy.run(&["status", "cm/well", "--once"]);
    assert_eq!(ran.status.code(), Some(0), "{}", ran.transcript());
    assert!(!plane.audit_log().contains("/events"), "events were read");
}
