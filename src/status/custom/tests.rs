//! One small object for each family of words, conditions and places that custom resources report their state with.

use crate::object::Doc;
use crate::status::{Assessment, Rules};

const NOW: &str = "2026-11-21T14:00:00Z";

/// The state of a custom resource with these fields, and its first line if it has one.
fn state(kind: &str, fields: &str) -> String {
    let (version, kind) = kind.rsplit_once('/').expect("VERSION/KIND");
    let text = format!(r#"{{"apiVersion":"{version}","kind":"{kind}",{fields}}}"#);
    let doc = Doc::parse(text.clone()).expect(&text);
    let now = NOW.parse().expect("a time");
    let assessment = Assessment::of(doc.root(), now, Rules::Spy);
    let line = assessment.lines().next().unwrap_or_default();
    match line {
        "" => assessment.status().to_string(),
        line => format!("{}: {line}", assessment.status()),
    }
}

/// Checks the states of objects of one kind without rules of its own.
fn check(cases: &[(&str, &str)]) {
    for (fields, expect) in cases {
        assert_eq!(state("example.com/v1/Foo", fields), *expect, "{fields}");
    }
}

/// Checks objects with one condition: `NAME=STATUS REASON`.
fn check_conditions(cases: &[(&str, &str)]) {
    for (condition, expect) in cases {
        let (name, rest) = condition.split_once('=').expect("NAME=STATUS");
        let (status, reason) = rest.split_once(' ').unwrap_or((rest, ""));
        let fields = format!(
            r#""status":{{"conditions":[{{"type":"{name}","status":"{status}","reason":"{reason}","message":"m"}}]}}"#
        );
        let found = state("example.com/v1/Foo", &fields);
        let found = found.split(':').next().unwrap_or_default();
        assert_eq!(found, *expect, "{condition}");
    }
}

#[test]
fn the_names_of_conditions_show_which_status_is_a_problem() {
    check_conditions(&[
        // Failures when True, by the last word or by the first.
        ("FailedScale=True", "Failed"),
        ("FailedScale=True MinimumReplicasAvailable", "Current"),
        ("FailedOver=True", "Current"),
        ("InvalidSpec=True", "Failed"),
        ("ErrorOccurred=True", "Failed"),
        ("ErrorOccurred=False", "Current"),
        ("Failing=True", "Failed"),
        ("ACK.Terminal=True", "Failed"),
        ("TargetRejected=True", "Failed"),
        ("HasErrors=True", "Failed"),
        ("NoErrors=True", "Current"),
        // Steps of a history have names in lower case.
        ("error=True", "Current"),
        // Passing problems.
        ("ConfigUnsupported=True", "InProgress"),
        ("Conflicted=True", "InProgress"),
        ("NotAvailable=True", "InProgress"),
        ("ImageSetNotFound=True", "InProgress"),
        ("ImageSetNotFound=False", "Current"),
        ("NoMatchingInstances=True", "InProgress"),
        ("ControlPlaneUpdating=True", "InProgress"),
        ("Creating=True", "Current"),
        ("ProvisionStopped=True", "InProgress"),
        // Good when True.
        ("DashboardSynchronized=False ApplyFailed", "Failed"),
        ("SecretSynced=False VaultClientError", "Failed"),
        ("ACK.ResourceSynced=False", "InProgress"),
        ("ReconcileSuccess=False Error", "Failed"),
        ("Deployed=False", "InProgress"),
        ("Adopted=False", "InProgress"),
        ("LastBackupSucceeded=False BackupFailed", "InProgress"),
        ("Compliant=False", "InProgress"),
        ("ClusterAvailable=False", "InProgress"),
        ("ResourcesUpToDate=False", "InProgress"),
        ("Launched=False", "InProgress"),
        ("Admitted=False", "InProgress"),
        ("example.com/cluster-ready=False", "InProgress"),
        ("SidecarNotReady=False", "Current"),
        ("Ready=Perhaps", "InProgress"),
        ("PodsScheduled=Unknown", "Current"),
        // The reason shows what an unknown name does not.
        ("LastOperation=False UpdateFailed", "InProgress"),
        ("LastOperation=False", "Current"),
        ("Degraded=False RecoveredFromError", "Current"),
        // Neither good nor bad.
        ("Active=False NotActive", "Current"),
        ("Upgradeable=False", "Current"),
        ("UpdateAvailable=False", "Current"),
        ("DebugEnabled=False", "Current"),
        // Someone wants it so, or it is not needed.
        ("LoadBalancerReady=False NotApplicable", "Current"),
        ("StoreAvailable=False AsExpected", "Current"),
        ("Synced=False ReconcilePaused", "Current"),
        // A rollout.
        ("Progressing=False ProgressDeadlineExceeded", "Failed"),
        ("Progressing=False RolloutAborted", "Failed"),
        ("Progressing=False RolloutTimedOut", "Failed"),
        ("Progressing=False", "Current"),
        ("Progressing=True ReplicaSetUpdated", "InProgress"),
        ("Progressing=True NewReplicaSetAvailable", "Current"),
        ("Progressing=Unknown", "InProgress"),
    ]);
}

#[test]
fn what_is_well_as_a_whole_can_do_without_a_part() {
    for (whole, part, expect) in [
        (
            "Available",
            r#""type":"TransferAvailable","status":"False""#,
            "Current",
        ),
        (
            "Ready",
            r#""type":"TransferAvailable","status":"False""#,
            "Current",
        ),
        (
            "Ready",
            r#""type":"NodesHealthy","status":"Unknown""#,
            "Current",
        ),
        (
            "Ready",
            r#""type":"NodesHealthy","status":"False","reason":"R""#,
            "InProgress: NodesHealthy=False: R",
        ),
        (
            "Ready",
            r#""type":"RouteReady","status":"False","severity":"Info""#,
            "Current",
        ),
        (
            "Ready",
            r#""type":"Fetch","status":"False","reason":"FetchFailed""#,
            "Current",
        ),
        (
            "Ready",
            r#""type":"DiskPressure","status":"True","reason":"R""#,
            "InProgress: DiskPressure=True: R",
        ),
    ] {
        let fields = format!(
            r#""status":{{"conditions":[{{"type":"{whole}","status":"True"}},{{{part}}}]}}"#
        );
        assert_eq!(state("example.com/v1/Foo", &fields), expect, "{part}");
    }
    let severe = r#""status":{"conditions":[{"type":"Ready","status":"False","severity":"Error","reason":"R","message":"m"}]}"#;
    check(&[
        (severe, "Failed: R: m"),
        (
            r#""status":{"state":"AtLatestKnown","conditions":[{"type":"PlanMissing","status":"True"}]}"#,
            "Current",
        ),
        (
            r#""status":{"state":"Running","conditions":[{"type":"PlanMissing","status":"True","reason":"R"}]}"#,
            "InProgress: PlanMissing=True: R",
        ),
    ]);
}

#[test]
fn the_decisive_condition_comes_first() {
    let conditions = [
        r#"{"type":"Ready","status":"False","reason":"NotInitialized","message":"not initialized"}"#,
        r#"{"type":"Registered","status":"Unknown","reason":"AwaitingLaunch"}"#,
        r#"{"type":"NetworkAttached","status":"False","reason":"WaitingForMachine"}"#,
        r#"{"type":"Launched","status":"False","reason":"LaunchRefused","message":"no capacity in this zone"}"#,
    ];
    let line = "InProgress: Launched=False: LaunchRefused: no capacity in this zone";
    let mut turned = conditions;
    turned.reverse();
    for conditions in [conditions, turned] {
        let fields = format!(r#""status":{{"conditions":[{}]}}"#, conditions.join(","));
        check(&[(&fields, line)]);
    }
}

/// The fields, and the state.
const STATES: &[(&str, &str)] = &[
    (
        r#""status":{"status":"Failed"}"#,
        "Failed: its status is Failed",
    ),
    (
        r#""status":{"state":"FailedNotVisible"}"#,
        "Failed: its state is FailedNotVisible",
    ),
    (
        r#""status":{"phase":"Unavailable","message":"m"}"#,
        "Failed: m",
    ),
    (
        r#""status":{"lifecycleState":"FAILED","error":"bad size"}"#,
        "Failed: bad size",
    ),
    (
        r#""status":{"compliant":"NonCompliant"}"#,
        "Failed: its compliant is NonCompliant",
    ),
    (
        r#""status":{"state":"STOPPED"}"#,
        "Current: paused: its state is STOPPED",
    ),
    (
        r#""status":{"applicationState":{"state":"FAILED","errorMessage":"exit 1"}}"#,
        "Failed: exit 1",
    ),
    (
        r#""status":{"state":{"phase":"Aborted","reason":"R"}}"#,
        "Failed: R",
    ),
    (
        r#""status":{"connectionState":{"lastObservedState":"TRANSIENT_FAILURE"}}"#,
        "Failed: its connectionState.lastObservedState is TRANSIENT_FAILURE",
    ),
    (
        r#""status":{"cluster":{"status":"OFFLINE"}}"#,
        "Failed: its cluster.status is OFFLINE",
    ),
    (
        r#""status":{"lastUpdate":{"state":"failed"}}"#,
        "Failed: its lastUpdate.state is failed",
    ),
    (
        r#""status":{"statuses":{"ns":{"state":"Rejected","reason":"no upstream"}}}"#,
        "Failed: no upstream",
    ),
    (
        r#""status":{"statuses":{"ns":{"reportedBy":"gw","state":3}}}"#,
        "InProgress: its ns.state is Warning",
    ),
    (
        r#""status":{"reportedBy":"gw","state":2,"reason":"R"}"#,
        "Failed: R",
    ),
    (
        r#""status":{"domains":[{"domain":"a.example.com","status":"FailedNotVisible"}]}"#,
        "Failed: its domain a.example.com.status is FailedNotVisible",
    ),
    (
        r#""status":{"phase":"Setting up the primary"}"#,
        "InProgress: its phase is Setting up the primary",
    ),
    (
        r#""status":{"state":"PENDING_RERUN"}"#,
        "InProgress: its state is PENDING_RERUN",
    ),
    (
        r#""status":{"state":"DEPLOYED_NOT_READY"}"#,
        "InProgress: its state is DEPLOYED_NOT_READY",
    ),
    (
        r#""status":{"state":"OutOfSync"}"#,
        "InProgress: its state is OutOfSync",
    ),
    (
        r#""status":{"currentState":"Shards not assigned"}"#,
        "InProgress: its currentState is Shards not assigned",
    ),
    (
        r#""status":{"currentState":"Another pool already exists"}"#,
        "Failed: its currentState is Another pool already exists",
    ),
];

#[test]
fn a_word_of_a_state_counts_wherever_it_is() {
    check(STATES);
}

#[test]
fn a_word_that_is_no_problem() {
    for status in [
        r#""phase":"Running""#,
        r#""phase":"Cluster in healthy state""#,
        r#""phase":"Unknown""#,
        r#""phase":"FailedOver""#,
        r#""phase":"NotApplicable""#,
        r#""phase":"Listening""#,
        r#""state":3"#,
        r#""desiredState":"Failed""#,
        r#""phase":"Running","previousPhase":"Failed","history":[{"state":"Failed"}]"#,
        r#""phase":"Running","members":[{"name":"a","state":"Failed"}]"#,
        r#""conditions":[{"type":"Ready","status":"True"}],"members":[{"name":"a","state":"Failed","ready":false}]"#,
        r#""nodes":{"step-1":{"phase":"Failed"}},"phase":"Succeeded""#,
        r#""state":{"running":{"startedAt":"x"}}"#,
    ] {
        check(&[(&format!(r#""status":{{{status}}}"#), "Current")]);
    }
}

/// A run comes to an end, as a Job does; what is to start runs does not.
#[test]
fn a_run_that_is_not_over() {
    let running = r#""status":{"phase":"Running"}"#;
    for (kind, expect) in [
        ("example.com/v1/TestRun", "InProgress: its phase is Running"),
        (
            "example.com/v1/BroadcastJob",
            "InProgress: its phase is Running",
        ),
        ("example.com/v1/AdvancedCronJob", "Current"),
        ("example.com/v1/Server", "Current"),
    ] {
        assert_eq!(state(kind, running), expect, "{kind}");
    }
}

/// The fields, and the state.
const FIELDS: &[(&str, &str)] = &[
    (
        r#""status":{"failureReason":"CreateError","failureMessage":"quota exceeded"}"#,
        "Failed: quota exceeded",
    ),
    (
        r#""status":{"phase":"Running","failureReason":"CreateError"}"#,
        "Failed: CreateError",
    ),
    (
        r#""status":{"lastSyncError":"cannot set"}"#,
        "Failed: cannot set",
    ),
    (
        r#""status":{"syncStatus":"Failed","lastSyncError":"no device"}"#,
        "Failed: no device",
    ),
    (
        r#""status":{"created":false,"byPod":[{"id":"a","errors":[{"message":"bad rule"}]}]}"#,
        "Failed: bad rule",
    ),
    (
        r#""status":{"errors":[{"code":"E","message":"bad rule"}]}"#,
        "Failed: bad rule",
    ),
    (
        r#""status":{"phase":"Running","lastError":"cannot set"}"#,
        "Current",
    ),
    (
        r#""status":{"error":"","errors":[],"lastError":"none","errorCount":3}"#,
        "Current",
    ),
    (r#""status":{"ready":false}"#, "InProgress: ready is false"),
    (
        r#""status":{"ready":"False"}"#,
        "InProgress: ready is false",
    ),
    (
        r#""status":{"infrastructureReady":false}"#,
        "InProgress: infrastructureReady is false",
    ),
    (
        r#""status":{"healthy":false}"#,
        "InProgress: healthy is false",
    ),
    (r#""status":{"failed":true}"#, "Failed: failed is true"),
    (
        r#""status":{"active":false,"paused":false,"updateAvailable":false}"#,
        "Current",
    ),
    (
        r#""status":{"members":[{"name":"a","applied":false}]}"#,
        "InProgress: member a: applied is false",
    ),
    (
        r#""spec":{"replicas":3},"status":{"readyReplicas":1}"#,
        "InProgress: 1 of 3 replicas are ready",
    ),
    (
        r#""spec":{"replicas":3},"status":{"replicas":3,"updatedReadyReplicas":2}"#,
        "InProgress: 2 of 3 replicas are ready",
    ),
    (
        r#""spec":{"replicas":3,"updateStrategy":{"rollingUpdate":{"partition":2}}},"status":{"updatedReplicas":1}"#,
        "Current",
    ),
    (
        r#""status":{"racks":{"a":{"members":3,"readyMembers":1}}}"#,
        "InProgress: a: 1 of 3 members are ready",
    ),
    (
        r#""status":{"ready":1,"size":3}"#,
        "InProgress: 1 of 3 replicas are ready",
    ),
    (
        r#""status":{"expectedNodes":2}"#,
        "InProgress: 0 of 2 nodes are available",
    ),
    (
        r#""status":{"machineCount":3,"updatedMachineCount":1}"#,
        "InProgress: 1 of 3 machines are updated",
    ),
    (
        r#""status":{"desiredWorkerReplicas":2,"readyWorkerReplicas":1}"#,
        "InProgress: 1 of 2 worker replicas are ready",
    ),
    (
        r#""status":{"unavailableReplicas":1}"#,
        "InProgress: 1 replicas are unavailable",
    ),
    (
        r#""status":{"desiredNumberScheduled":2,"numberReady":1}"#,
        "InProgress: 1 of 2 pods are ready",
    ),
    (
        r#""status":{"scale":{"statusReplicas":"0/2"}}"#,
        "InProgress: scale: statusReplicas is 0/2",
    ),
    (
        r#""spec":{"replicas":3},"status":{"readyReplicas":3,"ratio":"1/2"}"#,
        "Current",
    ),
];

#[test]
fn errors_truth_values_and_counts() {
    check(FIELDS);
}

#[test]
fn the_conditions_of_parts_count_one_level_down() {
    let no = |entry: &str| {
        format!(
            r#"{{{entry}"conditions":[{{"type":"Accepted","status":"False","reason":"Invalid","message":"m"}}]}}"#
        )
    };
    let gateway = no(r#""ancestorRef":{"name":"edge"},"#);
    let listeners = format!(r#""status":{{"listeners":[{}]}}"#, no(r#""name":"https","#));
    check(&[
        (
            &format!(r#""status":{{"ancestors":[{gateway}]}}"#),
            "InProgress: Accepted=False: Invalid: m",
        ),
        (
            &format!(
                r#""status":{{"ingress":[{}]}}"#,
                no(r#""host":"a.example.com","#)
            ),
            "InProgress: ingress a.example.com: Accepted=False: Invalid: m",
        ),
        (
            &format!(r#""status":{{"components":{{"api":{}}}}}"#, no("")),
            "InProgress: api: Accepted=False: Invalid: m",
        ),
        (&format!(r#""status":{{"history":[{gateway}]}}"#), "Current"),
        (
            r#""status":{"ancestors":[{"ancestorRef":{"name":"edge"},"conditions":[]}]}"#,
            "InProgress: edge has not reported a condition yet",
        ),
        (
            &listeners,
            "InProgress: listener https: Accepted=False: Invalid: m",
        ),
    ]);
    let gateway = state("gateway.networking.k8s.io/v1/Gateway", &listeners);
    assert_eq!(
        gateway,
        "InProgress: listener https: Accepted=False: Invalid: m"
    );
}

/// An entry for a parent of a route: its section, the generation that it is about, and whether the route is accepted.
fn parent(section: &str, generation: u8, accepted: &str) -> String {
    format!(
        r#"{{"controllerName":"c","parentRef":{{"name":"edge","sectionName":"{section}"}},"conditions":[{{"type":"Accepted","status":"{accepted}","observedGeneration":{generation},"reason":"R"}}]}}"#
    )
}

#[test]
fn old_entries_and_those_of_other_parents_do_not_count() {
    for (parents, expect) in [
        (vec![parent("a", 2, "True")], "Current"),
        (
            vec![parent("a", 2, "False")],
            "InProgress: Accepted=False: R",
        ),
        (
            vec![parent("a", 1, "True")],
            "InProgress: edge has not observed generation 2 yet",
        ),
        // The spec does not name it any more.
        (
            vec![parent("a", 2, "True"), parent("gone", 2, "False")],
            "Current",
        ),
        // The controller has looked at the newest generation, and left this entry as it was.
        (
            vec![parent("a", 1, "False"), parent("b", 2, "True")],
            "Current",
        ),
    ] {
        let fields = format!(
            r#""metadata":{{"generation":2}},"spec":{{"parentRefs":[{{"name":"edge","sectionName":"a"}},{{"name":"edge","sectionName":"b"}}]}},"status":{{"parents":[{}]}}"#,
            parents.join(",")
        );
        let route = state("gateway.networking.k8s.io/v1/HTTPRoute", &fields);
        assert_eq!(route, expect, "{fields}");
    }
    check(&[(
        r#""metadata":{"generation":3},"status":{"lastEvaluatedGeneration":2,"compliant":"Compliant"}"#,
        "InProgress: generation 3 is newer than status.lastEvaluatedGeneration",
    )]);
}

#[test]
fn a_parent_that_never_reported_is_waited_for() {
    let spec = r#""metadata":{"namespace":"shop"},"spec":{"parentRefs":[{"name":"edge"},{"name":"inner","namespace":"infra"}]}"#;
    let parent = |name: &str, namespace: &str| {
        format!(
            r#"{{"parentRef":{{"name":"{name}"{namespace}}},"conditions":[{{"type":"Accepted","status":"True"}}]}}"#
        )
    };
    let edge = parent("edge", "");
    let inner = parent("inner", r#","namespace":"infra""#);
    let stranger = parent("inner", "");
    for (parents, expect) in [
        (vec![], "InProgress: edge has not reported on it yet"),
        (vec![&edge], "InProgress: inner has not reported on it yet"),
        (
            vec![&edge, &stranger],
            "InProgress: inner has not reported on it yet",
        ),
        (vec![&inner, &edge], "Current"),
    ] {
        let parents: Vec<&str> = parents.into_iter().map(|parent| &**parent).collect();
        let fields = format!(r#"{spec},"status":{{"parents":[{}]}}"#, parents.join(","));
        let route = state("gateway.networking.k8s.io/v1/HTTPRoute", &fields);
        assert_eq!(route, expect, "{fields}");
    }
}

#[test]
fn what_is_paused_on_purpose_is_current() {
    let unready = r#""status":{"conditions":[{"type":"Ready","status":"False","reason":"R"}]}"#;
    let cases: Vec<(String, &str)> = [
        (r#""spec":{"suspend":true}"#, "Current: suspended"),
        (r#""spec":{"paused":true}"#, "Current: paused"),
        (r#""spec":{"replicas":0}"#, "Current: scaled to 0"),
        (r#""spec":{"paused":false}"#, "InProgress: R"),
        (
            r#""metadata":{"annotations":{"example.com/paused":"true"}}"#,
            "Current: paused: annotation example.com/paused",
        ),
        (
            r#""metadata":{"annotations":{"example.com/paused":"false"}}"#,
            "InProgress: R",
        ),
    ]
    .into_iter()
    .map(|(sign, expect)| (format!("{sign},{unready}"), expect))
    .collect();
    let cases: Vec<(&str, &str)> = cases
        .iter()
        .map(|(fields, expect)| (&**fields, *expect))
        .collect();
    check(&cases);
    check(&[
        (
            r#""metadata":{"annotations":{"example.com/paused":"true"}},"status":{"conditions":[{"type":"Synced","status":"False","reason":"ReconcilePaused"}]}"#,
            "Current: paused: annotation example.com/paused",
        ),
        (
            r#""status":{"phase":"Paused"}"#,
            "Current: paused: its phase is Paused",
        ),
        (
            r#""status":{"state":"SUSPENDED","managerStatus":"MISSING"}"#,
            "Current: paused: its state is SUSPENDED",
        ),
        (
            r#""status":{"conditions":[{"type":"Suspended","status":"True","reason":"R"}]}"#,
            "Current: paused: Suspended=True: R",
        ),
        (
            r#""spec":{"suspend":true},"status":{"phase":"Failed"}"#,
            "Failed: its phase is Failed",
        ),
    ]);
}

#[test]
fn kstatus_looks_at_none_of_these() {
    for status in [
        r#""phase":"Failed""#,
        r#""ready":false"#,
        r#""conditions":[{"type":"Failing","status":"True"}]"#,
        r#""listeners":[{"conditions":[{"type":"Accepted","status":"False"}]}]"#,
    ] {
        let text =
            format!(r#"{{"apiVersion":"example.com/v1","kind":"Foo","status":{{{status}}}}}"#);
        let doc = Doc::parse(text).expect("a case is JSON");
        let now = NOW.parse().expect("a time");
        let verdict = crate::status::compute(doc.root(), now, Rules::Kstatus);
        assert_eq!(verdict.message, "Resource is current", "{status}");
    }
}

/// The kinds, and the fields of their statuses.
const AT_REST: &[(&str, &str)] = &[
    (
        "acid.zalan.do/v1/postgresql",
        r#""PostgresClusterStatus":"Running""#,
    ),
    (
        "apps.kruise.io/v1/CloneSet",
        r#""replicas":2,"readyReplicas":2,"updatedReadyReplicas":2"#,
    ),
    (
        "argoproj.io/v1/ApplicationSet",
        r#""conditions":[{"type":"ErrorOccurred","status":"False"},{"type":"ResourcesUpToDate","status":"True"}],"resources":[{"name":"a","status":"OutOfSync"}]"#,
    ),
    (
        "argoproj.io/v1/Rollout",
        r#""phase":"Healthy","replicas":1,"readyReplicas":1,"conditions":[{"type":"Completed","status":"True"},{"type":"Paused","status":"False"},{"type":"Progressing","status":"True","reason":"NewReplicaSetAvailable"}]"#,
    ),
    (
        "argoproj.io/v1/Workflow",
        r#""phase":"Succeeded","progress":"2/3","conditions":[{"type":"PodRunning","status":"False"},{"type":"Completed","status":"True"}],"nodes":{"a":{"phase":"Failed"}}"#,
    ),
    (
        "cert-manager.io/v1/CertificateRequest",
        r#""conditions":[{"type":"Approved","status":"True"},{"type":"Ready","status":"True"}]"#,
    ),
    ("acme.cert-manager.io/v1/Order", r#""state":"valid""#),
    (
        "cdi.kubevirt.io/v1/DataVolume",
        r#""phase":"Succeeded","progress":"100.0%","conditions":[{"type":"Ready","status":"True"},{"type":"Bound","status":"True"},{"type":"Running","status":"False","reason":"Completed"}]"#,
    ),
    (
        "ceph.rook.io/v1/CephCluster",
        r#""phase":"Ready","state":"Created","ceph":{"health":"HEALTH_OK"},"conditions":[{"type":"Ready","status":"True"},{"type":"Progressing","status":"False"},{"type":"Connecting","status":"False"}]"#,
    ),
    (
        "cilium.io/v2/CiliumNode",
        r#""azure":{},"eni":{},"ipam":{"operator-status":{}}"#,
    ),
    (
        "cluster.x-k8s.io/v1/Cluster",
        r#""phase":"Provisioned","controlPlane":{"desiredReplicas":1,"readyReplicas":1},"conditions":[{"type":"Available","status":"True"},{"type":"Paused","status":"False"},{"type":"RollingOut","status":"False"},{"type":"Deleting","status":"False"}]"#,
    ),
    (
        "config.openshift.io/v1/ClusterOperator",
        r#""conditions":[{"type":"Available","status":"True","reason":"AsExpected"},{"type":"Progressing","status":"False"},{"type":"Degraded","status":"False"},{"type":"Upgradeable","status":"False","reason":"PoolUpdating"},{"type":"SCAAvailable","status":"False","reason":"NotFound"},{"type":"Disabled","status":"False"}]"#,
    ),
    (
        "config.openshift.io/v1/ClusterVersion",
        r#""conditions":[{"type":"Available","status":"True"},{"type":"Failing","status":"False"},{"type":"Progressing","status":"False"},{"type":"RetrievedUpdates","status":"False","reason":"RemoteFailed"}],"conditionalUpdates":[{"conditions":[{"type":"Recommended","status":"False"}]}]"#,
    ),
    (
        "elasticsearch.k8s.elastic.co/v1/Elasticsearch",
        r#""health":"green","phase":"Ready","availableNodes":3,"inProgressOperations":{"upscale":{"lastUpdatedTime":null}}"#,
    ),
    (
        "helm.toolkit.fluxcd.io/v2/HelmRelease",
        r#""conditions":[{"type":"Ready","status":"True"},{"type":"Released","status":"True"}],"history":[{"status":"failed"}],"installFailures":1"#,
    ),
    (
        "k8s.cni.cncf.io/v1/Pool",
        r#""availableBytes":1,"totalBytes":2,"availableIPs":3,"totalIPs":9"#,
    ),
    (
        "kafka.strimzi.io/v1/Kafka",
        r#""conditions":[{"type":"Warning","status":"True","reason":"DeprecatedFields"},{"type":"Ready","status":"True"}],"listeners":[{"name":"plain"}]"#,
    ),
    (
        "karpenter.sh/v1/NodePool",
        r#""nodes":2,"conditions":[{"type":"Ready","status":"True"},{"type":"ValidationSucceeded","status":"True"},{"type":"NodeRegistrationHealthy","status":"Unknown"}]"#,
    ),
    (
        "keda.sh/v1/ScaledObject",
        r#""conditions":[{"type":"Ready","status":"True"},{"type":"Active","status":"False","reason":"ScalerNotActive"},{"type":"Fallback","status":"False"},{"type":"Paused","status":"Unknown"}],"health":{"s0":{"numberOfFailures":0,"status":"Happy"}}"#,
    ),
    (
        "kubevirt.io/v1/VirtualMachine",
        r#""printableStatus":"Running","created":true,"ready":true,"conditions":[{"type":"Ready","status":"True"},{"type":"LiveMigratable","status":"False","reason":"DisksNotLiveMigratable"}],"volumeSnapshotStatuses":[{"name":"a","enabled":false}]"#,
    ),
    (
        "kubevirt.io/v1/VirtualMachineInstance",
        r#""phase":"Running","conditions":[{"type":"Ready","status":"True"}],"phaseTransitionTimestamps":[{"phase":"Pending"},{"phase":"Scheduling"}]"#,
    ),
    (
        "longhorn.io/v1/Volume",
        r#""state":"detached","robustness":"unknown","conditions":[{"type":"Scheduled","status":"True"},{"type":"TooManySnapshots","status":"False"},{"type":"Restore","status":"False"}]"#,
    ),
    (
        "machine.openshift.io/v1/MachineHealthCheck",
        r#""currentHealthy":3,"expectedMachines":3,"conditions":[{"type":"RemediationAllowed","status":"True"}]"#,
    ),
    (
        "machineconfiguration.openshift.io/v1/MachineConfigPool",
        r#""machineCount":3,"readyMachineCount":3,"updatedMachineCount":3,"conditions":[{"type":"Updated","status":"True"},{"type":"Updating","status":"False"},{"type":"RenderDegraded","status":"False"}]"#,
    ),
    (
        "operators.coreos.com/v1/InstallPlan",
        r#""phase":"Complete","conditions":[{"type":"Installed","status":"True"}],"bundleLookups":[{"conditions":[{"type":"BundleLookupPending","status":"True"}]}],"plan":[{"status":"NotPresent"}]"#,
    ),
    (
        "postgresql.cnpg.io/v1/Cluster",
        r#""phase":"Cluster in healthy state","instances":3,"readyInstances":3,"conditions":[{"type":"Ready","status":"True"},{"type":"ContinuousArchiving","status":"True"}]"#,
    ),
    (
        "pxc.percona.com/v1/PerconaXtraDBCluster",
        r#""state":"ready","pxc":{"ready":3,"size":3,"status":"ready"},"conditions":[{"type":"initializing","status":"True"},{"type":"error","status":"True"},{"type":"ready","status":"True"}]"#,
    ),
    (
        "route.openshift.io/v1/Route",
        r#""ingress":[{"host":"a","conditions":[{"type":"Admitted","status":"True"}]}]"#,
    ),
    (
        "s3.aws.upbound.io/v1/Bucket",
        r#""atProvider":{"region":"eu"},"conditions":[{"type":"Ready","status":"True"},{"type":"Synced","status":"True"},{"type":"LastAsyncOperation","status":"True"}]"#,
    ),
    (
        "serving.knative.dev/v1/Revision",
        r#""actualReplicas":0,"desiredReplicas":0,"conditions":[{"type":"Ready","status":"True"},{"type":"Active","status":"False","reason":"NoTraffic","severity":"Info"}]"#,
    ),
    (
        "tekton.dev/v1/PipelineRun",
        r#""conditions":[{"type":"Succeeded","status":"True"}],"childReferences":[{"name":"a"}]"#,
    ),
    (
        "velero.io/v1/Backup",
        r#""phase":"Completed","errors":0,"validationErrors":[],"progress":{"itemsBackedUp":5,"totalItems":5}"#,
    ),
    ("velero.io/v1/Schedule", r#""phase":"Enabled""#),
    (
        "apiserver.openshift.io/v1/APIRequestCount",
        r#""conditions":[],"currentHour":{"requestCount":0},"removedInRelease":"1.32","requestCount":0"#,
    ),
    (
        "build.openshift.io/v1/Build",
        r#""phase":"Complete","duration":1,"conditions":[{"type":"New","status":"False"},{"type":"Pending","status":"False"},{"type":"Running","status":"False"},{"type":"Complete","status":"True"}]"#,
    ),
    (
        "cloudcredential.openshift.io/v1/CredentialsRequest",
        r#""provisioned":true,"lastSyncGeneration":1,"conditions":[]"#,
    ),
    (
        "config.openshift.io/v1/Infrastructure",
        r#""infrastructureTopology":"HighlyAvailable","cpuPartitioning":"None","platform":"None""#,
    ),
    (
        "controlplane.operator.openshift.io/v1alpha1/PodNetworkConnectivityCheck",
        r#""conditions":[{"type":"Reachable","status":"True","reason":"TCPConnectSuccess"}],"failures":[{"success":false,"reason":"TCPConnectError","message":"failed to establish"}],"outages":[{"start":"2026-01-01T00:00:00Z","end":"2026-01-01T00:01:00Z"}],"successes":[{"success":true}]"#,
    ),
    (
        "imageregistry.operator.openshift.io/v1/Config",
        r#""readyReplicas":0,"storageManaged":true,"conditions":[{"type":"Available","status":"True","reason":"Ready"},{"type":"Progressing","status":"False","reason":"Ready"},{"type":"Degraded","status":"False"},{"type":"Removed","status":"False"},{"type":"StorageExists","status":"True"},{"type":"NodeCADaemonProgressing","status":"False","reason":"AsExpected"},{"type":"ImagePrunerDegraded","status":"False","reason":"AsExpected"}]"#,
    ),
    (
        "k8s.ovn.org/v1/EgressFirewall",
        r#""status":"EgressFirewall Rules applied","messages":["EgressFirewall Rules applied"]"#,
    ),
    (
        "k8s.ovn.org/v1/EgressIP",
        r#""items":[{"egressIP":"10.0.0.9","node":"a"}]"#,
    ),
    (
        "machine.openshift.io/v1/ControlPlaneMachineSet",
        r#""replicas":3,"readyReplicas":3,"updatedReplicas":3,"conditions":[{"type":"Progressing","status":"False","reason":"AllReplicasUpdated"},{"type":"Available","status":"True","reason":"AllReplicasAvailable"},{"type":"Degraded","status":"False","reason":"AsExpected"},{"type":"Error","status":"False","reason":"AsExpected"}]"#,
    ),
    (
        "machine.openshift.io/v1beta1/Machine",
        r#""phase":"Running","providerStatus":{"instanceState":"running","vmState":"Running","conditions":[{"type":"MachineCreation","status":"True","reason":"MachineCreationSucceeded"}]},"conditions":[{"type":"Drainable","status":"True"},{"type":"InstanceExists","status":"True"},{"type":"Terminable","status":"True"}]"#,
    ),
    (
        "machine.openshift.io/v1beta1/MachineSet",
        r#""replicas":0,"observedGeneration":1"#,
    ),
    (
        "metal3.io/v1alpha1/BareMetalHost",
        r#""operationalStatus":"OK","errorCount":0,"errorMessage":"","poweredOn":true,"provisioning":{"state":"provisioned"},"operationHistory":{"provision":{"start":"2026-01-01T00:00:00Z","end":null}}"#,
    ),
    (
        "monitoring.coreos.com/v1/Prometheus",
        r#""availableReplicas":2,"replicas":2,"updatedReplicas":2,"unavailableReplicas":0,"paused":false,"shards":1,"conditions":[{"type":"Available","status":"True"},{"type":"Reconciled","status":"True"}]"#,
    ),
    (
        "operator.openshift.io/v1/Console",
        r#""readyReplicas":2,"conditions":[{"type":"UnsupportedConfigOverridesUpgradeable","status":"True"},{"type":"RouteHealthAvailable","status":"True"},{"type":"DeploymentAvailable","status":"True"},{"type":"OAuthClientSyncProgressing","status":"False"},{"type":"SyncLoopRefreshProgressing","status":"False"},{"type":"DownloadsDeploymentSyncDegraded","status":"False"},{"type":"ManagementStateDegraded","status":"False"}]"#,
    ),
    (
        "operator.openshift.io/v1/IngressController",
        r#""availableReplicas":2,"conditions":[{"type":"Admitted","status":"True","reason":"Valid"},{"type":"DeploymentAvailable","status":"True"},{"type":"DeploymentRollingOut","status":"False"},{"type":"LoadBalancerManaged","status":"False","reason":"EndpointPublishingStrategyExcludesManagedLoadBalancer"},{"type":"DNSManaged","status":"False","reason":"UnsupportedEndpointPublishingStrategy"},{"type":"LoadBalancerProgressing","status":"False","reason":"LoadBalancerNotProgressing"},{"type":"Available","status":"True"},{"type":"Progressing","status":"False"},{"type":"Degraded","status":"False"},{"type":"CanaryChecksSucceeding","status":"True"}]"#,
    ),
    (
        "operator.openshift.io/v1/KubeAPIServer",
        r#""latestAvailableRevision":9,"readyReplicas":0,"nodeStatuses":[{"nodeName":"a","currentRevision":9,"targetRevision":0,"lastFailedRevision":4,"lastFailedReason":"InstallerFailed","lastFailedRevisionErrors":["x"]}],"conditions":[{"type":"InstallerControllerDegraded","status":"False"},{"type":"NodeInstallerProgressing","status":"False","reason":"AllNodesAtLatestRevision"},{"type":"StaticPodsAvailable","status":"True"},{"type":"NodeControllerDegraded","status":"False","reason":"MasterNodesReady"},{"type":"EncryptionKeyControllerDegraded","status":"False"},{"type":"Encrypted","status":"False","reason":"EncryptionDisabled"},{"type":"KubeletMinorVersionUpgradeable","status":"True","reason":"KubeletMinorVersionsSynced"}]"#,
    ),
    (
        "operator.openshift.io/v1/Network",
        r#""conditions":[{"type":"ManagementStateDegraded","status":"False"},{"type":"Degraded","status":"False"},{"type":"Upgradeable","status":"True"},{"type":"Progressing","status":"False"},{"type":"Available","status":"True"}]"#,
    ),
    (
        "operators.coreos.com/v1/OperatorGroup",
        r#""lastUpdated":"2026-01-01T00:00:00Z","namespaces":["a"]"#,
    ),
    (
        "operators.coreos.com/v1alpha1/CatalogSource",
        r#""connectionState":{"address":"a:50051","lastObservedState":"READY"},"registryService":{"protocol":"grpc"}"#,
    ),
    (
        "operators.coreos.com/v1alpha1/ClusterServiceVersion",
        r#""phase":"Succeeded","reason":"InstallSucceeded","cleanup":{},"conditions":[{"phase":"Pending","reason":"RequirementsUnknown"},{"phase":"Failed","reason":"InstallCheckFailed"},{"phase":"Succeeded","reason":"InstallSucceeded"}],"requirementStatus":[{"kind":"ServiceAccount","status":"Present","dependents":[{"status":"Satisfied"}]}]"#,
    ),
    (
        "performance.openshift.io/v2/PerformanceProfile",
        r#""conditions":[{"type":"Available","status":"True"},{"type":"Upgradeable","status":"True"},{"type":"Progressing","status":"False"},{"type":"Degraded","status":"False"}]"#,
    ),
    ("project.openshift.io/v1/Project", r#""phase":"Active""#),
    (
        "samples.operator.openshift.io/v1/Config",
        r#""conditions":[{"type":"SamplesExist","status":"True"},{"type":"ImageChangesInProgress","status":"False"},{"type":"ConfigurationValid","status":"True"},{"type":"ImportCredentialsExist","status":"True"},{"type":"RemovePending","status":"False"},{"type":"MigrationInProgress","status":"False"},{"type":"ImportImageErrorsExist","status":"False"}]"#,
    ),
    (
        "tuned.openshift.io/v1/Profile",
        r#""tunedProfile":"openshift-node","bootcmdline":"","conditions":[{"type":"Applied","status":"True","reason":"AsExpected"},{"type":"Degraded","status":"False","reason":"AsExpected"}]"#,
    ),
];

/// Statuses of objects at rest, after the documents of their makers. None of them is a false alarm.
#[test]
fn well_known_objects_at_rest_are_current() {
    for (kind, status) in AT_REST {
        let found = state(kind, &format!(r#""status":{{{status}}}"#));
        assert_eq!(found, "Current", "{kind}");
    }
}
