//! `changes` of recorded objects.

use insta::assert_snapshot;

use super::shown;

#[test]
fn changes_of_a_rollout_at_80_columns() {
    assert_snapshot!(shown(80, "changes deploy/web"), @r#"
    18:41:00 EXISTING deployment/web  479
    18:41:00 MODIFIED deployment/web  by kube-controller-manager (status)  3 changes
    + .status.availableReplicas: 1
    + .status.readyReplicas: 1
    ~ .status.unavailableReplicas: 2 → 1
    18:41:00 MODIFIED deployment/web  probably by kube-controller-manager (status)
    ~ .status.availableReplicas: 1 → 2
    ~ .status.readyReplicas: 1 → 2
    - .status.unavailableReplicas: 1
    ~ .status.conditions[type=Available]: False → True  MinimumReplicasAvailable
    ~ .status.conditions[type=Progressing]: True  ReplicaS… → NewReplicaSetAvailable
    18:41:00 MODIFIED deployment/web  520→568  by kubectl-set  1 change, 3 hidden
    ~ .spec.template.spec.containers[name=web].image: shop/web:2.4.1 → shop/web:bad
    18:41:00 MODIFIED deployment/web  by kube-controller-manager (status)  3 changes
    ~ .metadata.annotations["deployment.kubernetes.io/revision"]: "1" → "2"
    ~ .status.conditions[type=Progressing]: True  NewReplica… → NewReplicaSetCreated
    18:41:00 MODIFIED deployment/web  by kube-controller-manager (status)  2 changes
    + .status.unavailableReplicas: 1
    - .status.updatedReplicas: 2
    18:41:00 MODIFIED deployment/web  by kube-controller-manager (status)  4 changes
    ~ .status.replicas: 2 → 3
    + .status.updatedReplicas: 1
    ~ .status.conditions[type=Progressing]: True  NewReplicaSet… → ReplicaSetUpdated
    18:41:00 MODIFIED deployment/web  by kubectl (scale)  1 change, 3 hidden
    ~ .spec.replicas: 2 → 6
    18:41:00 MODIFIED deployment/web  by kube-controller-manager (status)  4 changes
    ~ .status.conditions[type=Available]: True → False  MinimumReplicasUnavailable
    18:41:00 MODIFIED deployment/web  by kube-controller-manager (status)  2 changes
    ~ .status.unavailableReplicas: 1 → 6
    + .status.conditions[type=ReplicaFailure]: True  FailedCreate
    18:41:00 MODIFIED deployment/web  probably by kube-controller-manager (status)
    ~ .status.replicas: 3 → 4
    18:41:00 MODIFIED deployment/web  by kube-controller-manager (status)  3 changes
    ~ .status.availableReplicas: 2 → 3
    ~ .status.readyReplicas: 2 → 3
    ~ .status.unavailableReplicas: 6 → 5
      probably by X: no writer is recorded, and X owned these values before
    11 versions: 11 live · 33 changes shown, 32 hidden · 0s
    "#);
}

#[test]
fn changes_of_a_rollout_at_100_columns() {
    assert_snapshot!(shown(100, "changes deploy/web"), @r#"
    18:41:00 EXISTING deployment/web  479
    18:41:00 MODIFIED deployment/web  479→515  by kube-controller-manager (status)  3 changes, 3 hidden
    + .status.availableReplicas: 1
    + .status.readyReplicas: 1
    ~ .status.unavailableReplicas: 2 → 1
    18:41:00 MODIFIED deployment/web  probably by kube-controller-manager (status)  9 changes, 3 hidden
    ~ .status.availableReplicas: 1 → 2
    ~ .status.readyReplicas: 1 → 2
    - .status.unavailableReplicas: 1
    ~ .status.conditions[type=Available]: False → True  MinimumReplicasAvailable: Deploym…(+22 B)bility.
    ~ .status.conditions[type=Progressing]: True  ReplicaSetUpdated → NewReplicaSetAvailable
    18:41:00 MODIFIED deployment/web  520→568  +0s  by kubectl-set  1 change, 3 hidden
    ~ .spec.template.spec.containers[name=web].image: shop/web:2.4.1 → shop/web:bad
    18:41:00 MODIFIED deployment/web  568→572  by kube-controller-manager (status)  3 changes, 3 hidden
    ~ .metadata.annotations["deployment.kubernetes.io/revision"]: "1" → "2"
    ~ .status.conditions[type=Progressing]: True  NewReplicaSetAvailable → NewReplicaSetCreated
    18:41:00 MODIFIED deployment/web  572→577  by kube-controller-manager (status)  2 changes, 3 hidden
    + .status.unavailableReplicas: 1
    - .status.updatedReplicas: 2
    18:41:00 MODIFIED deployment/web  577→580  by kube-controller-manager (status)  4 changes, 2 hidden
    ~ .status.replicas: 2 → 3
    + .status.updatedReplicas: 1
    ~ .status.conditions[type=Progressing]: True  NewReplicaSetCreated → ReplicaSetUpdated
    18:41:00 MODIFIED deployment/web  580→588  +0s  by kubectl (scale)  1 change, 3 hidden
    ~ .spec.replicas: 2 → 6
    18:41:00 MODIFIED deployment/web  588→595  by kube-controller-manager (status)  4 changes, 5 hidden
    ~ .status.conditions[type=Available]: True → False  MinimumReplicasUnavailable: Deploy…(+34 B)ility.
    18:41:00 MODIFIED deployment/web  595→603  by kube-controller-manager (status)  2 changes, 2 hidden
    ~ .status.unavailableReplicas: 1 → 6
    + .status.conditions[type=ReplicaFailure]: True  18:40:35  FailedCreate: pods "web…(+95 B)d: pods=8
    18:41:00 MODIFIED deployment/web  probably by kube-controller-manager (status)  1 change, 1 hidden
    ~ .status.replicas: 3 → 4
    18:41:00 MODIFIED deployment/web  608→628  by kube-controller-manager (status)  3 changes, 4 hidden
    ~ .status.availableReplicas: 2 → 3
    ~ .status.readyReplicas: 2 → 3
    ~ .status.unavailableReplicas: 6 → 5
      probably by X: no writer is recorded, and X owned these values before
    11 versions: 11 live · 33 changes shown, 32 hidden · 0s
    "#);
}

#[test]
fn changes_of_a_rollout_at_120_columns() {
    assert_snapshot!(shown(120, "changes deploy/web"), @r#"
    18:41:00 EXISTING deployment/web  479
    18:41:00 MODIFIED deployment/web  479→515  by kube-controller-manager (status)  3 changes, 3 hidden
    + .status.availableReplicas: 1
    + .status.readyReplicas: 1
    ~ .status.unavailableReplicas: 2 → 1
    18:41:00 MODIFIED deployment/web  515→520  +0s  probably by kube-controller-manager (status)  9 changes, 3 hidden
    ~ .status.availableReplicas: 1 → 2
    ~ .status.readyReplicas: 1 → 2
    - .status.unavailableReplicas: 1
    ~ .status.conditions[type=Available]: False → True  18:40:25 (after 1s)  MinimumReplicasAvailable: Deploym…(+23 B)ility.
    ~ .status.conditions[type=Progressing]: True  ReplicaSetUpdated → NewReplicaSetAvailable: ReplicaSet …(+34 B)progressed.
    18:41:00 MODIFIED deployment/web  520→568  +0s  by kubectl-set  1 change, 3 hidden
    ~ .spec.template.spec.containers[name=web].image: shop/web:2.4.1 → shop/web:bad
    18:41:00 MODIFIED deployment/web  568→572  +0s  by kube-controller-manager (status)  3 changes, 3 hidden
    ~ .metadata.annotations["deployment.kubernetes.io/revision"]: "1" → "2"
    ~ .status.conditions[type=Progressing]: True  NewReplicaSetAvailable → NewReplicaSetCreated: Created ne…(+21 B)fd779546"
    18:41:00 MODIFIED deployment/web  572→577  +0s  by kube-controller-manager (status)  2 changes, 3 hidden
    + .status.unavailableReplicas: 1
    - .status.updatedReplicas: 2
    18:41:00 MODIFIED deployment/web  577→580  +0s  by kube-controller-manager (status)  4 changes, 2 hidden
    ~ .status.replicas: 2 → 3
    + .status.updatedReplicas: 1
    ~ .status.conditions[type=Progressing]: True  NewReplicaSetCreated → ReplicaSetUpdated: ReplicaSet "…(+19 B)progressing.
    18:41:00 MODIFIED deployment/web  580→588  +0s  by kubectl (scale)  1 change, 3 hidden
    ~ .spec.replicas: 2 → 6
    18:41:00 MODIFIED deployment/web  588→595  +0s  by kube-controller-manager (status)  4 changes, 5 hidden
    ~ .status.conditions[type=Available]: True → False  MinimumReplicasUnavailable: Deployment does …(+14 B)um availability.
    18:41:00 MODIFIED deployment/web  595→603  +0s  by kube-controller-manager (status)  2 changes, 2 hidden
    ~ .status.unavailableReplicas: 1 → 6
    + .status.conditions[type=ReplicaFailure]: True  18:40:35  FailedCreate: pods "web-5cfd77954…(+75 B)=8, limited: pods=8
    18:41:00 MODIFIED deployment/web  603→608  +0s  probably by kube-controller-manager (status)  1 change, 1 hidden
    ~ .status.replicas: 3 → 4
    18:41:00 MODIFIED deployment/web  608→628  +0s  by kube-controller-manager (status)  3 changes, 4 hidden
    ~ .status.availableReplicas: 2 → 3
    ~ .status.readyReplicas: 2 → 3
    ~ .status.unavailableReplicas: 6 → 5
      probably by X: no writer is recorded, and X owned these values before
    11 versions: 11 live · 33 changes shown, 32 hidden · 0s
    "#);
}

#[test]
fn changes_of_a_crash_at_80_columns() {
    assert_snapshot!(shown(80, "changes pod/worker-6d9bf5695c-ghxz8"), @r#"
    18:41:00 EXISTING pod/worker-6d9bf5695c-ghxz8  495
    18:41:00 MODIFIED pod/worker-6d9bf5695c-ghxz8  by kwok (status)  10 changes
    ~ .status.phase: Pending → Running
    + .status.podIP: 10.128.0.3
    + .status.podIPs: [{ip: 10.128.0.3}]
    ~ …lastTransitionTime: 2026-11-24T18:40:24Z → 2026-11-24T18:40:25Z  (+1s)
    ~ …lastTransitionTime: 2026-11-24T18:40:24Z → 2026-11-24T18:40:25Z  (+1s)
    ~ …lastTransitionTime: 2026-11-24T18:40:24Z → 2026-11-24T18:40:25Z  (+1s)
    ~ .status.containerStatuses[name=worker]
        + containerID: containerd://cef69013b886…
        ~ imageID: "" → shop/crash@sha256:412b46693ae8…
        ~ state: waiting ContainerCreating → terminated Error exit 1
    18:41:00 MODIFIED pod/worker-6d9bf5695c-ghxz8  by kwok (status)  4 changes
    ~ .status.containerStatuses[name=worker]
        + lastState: terminated Error exit 1
        ~ restartCount: 0 → 1
        ~ state: terminated Error exit 1 → waiting CrashLoopBackOff: back-off 10s r…
    18:41:00 MODIFIED pod/worker-6d9bf5695c-ghxz8  by kwok (status)  3 changes
    ~ …[name=worker].containerID: …ainerd://cef69013b886… → …ainerd://b6ff10cb6190…
    ~ .status.containerStatuses[name=worker].state: → terminated Error exit 1
    18:41:00 MODIFIED pod/worker-6d9bf5695c-ghxz8  by kwok (status)  6 changes
    ~ .status.containerStatuses[name=worker]
        ~ …terminated.containerID: …ainerd://cef69013b886… → …ainerd://b6ff10cb6190…
        ~ …terminated.finishedAt: 2026-11-24T18:40:25Z → 2026-11-24T18:40:36Z
        ~ …terminated.startedAt: 2026-11-24T18:40:25Z → 2026-11-24T18:40:36Z  (+11s)
        ~ restartCount: 1 → 2
        ~ state: terminated Error exit 1 → waiting CrashLoopBackOff: back-off 20s r…
    18:41:00 MODIFIED pod/worker-6d9bf5695c-ghxz8  by kwok (status)  3 changes
    ~ …[name=worker].containerID: …ainerd://b6ff10cb6190… → …ainerd://6d7f8152df07…
    ~ .status.containerStatuses[name=worker].state: → terminated Error exit 1
    18:41:00 MODIFIED pod/worker-6d9bf5695c-ghxz8  by kwok (status)  6 changes
    ~ .status.containerStatuses[name=worker]
        ~ …terminated.containerID: …ainerd://b6ff10cb6190… → …ainerd://6d7f8152df07…
        ~ …terminated.finishedAt: 2026-11-24T18:40:36Z → 2026-11-24T18:40:57Z
        ~ …terminated.startedAt: 2026-11-24T18:40:36Z → 2026-11-24T18:40:57Z  (+21s)
        ~ restartCount: 2 → 3
        ~ state: terminated Error exit 1 → waiting CrashLoopBackOff: back-off 40s r…
    6 versions: 6 live · 32 changes shown, 12 hidden · 0s
    "#);
}

#[test]
fn changes_of_a_crash_at_100_columns() {
    assert_snapshot!(shown(100, "changes pod/worker-6d9bf5695c-ghxz8"), @r#"
    18:41:00 EXISTING pod/worker-6d9bf5695c-ghxz8  495
    18:41:00 MODIFIED pod/worker-6d9bf5695c-ghxz8  495→518  by kwok (status)  10 changes, 2 hidden
    ~ .status.phase: Pending → Running
    + .status.podIP: 10.128.0.3
    + .status.podIPs: [{ip: 10.128.0.3}]
    ~ …nditions[type=Initialized].lastTransitionTime: 2026-11-24T18:40:24Z → 2026-11-24T18:40:25Z  (+1s)
    ~ …conditions[type=Ready].lastTransitionTime: 2026-11-24T18:40:24Z → 2026-11-24T18:40:25Z  (+1s)
    ~ …ions[type=ContainersReady].lastTransitionTime: 2026-11-24T18:40:24Z → 2026-11-24T18:40:25Z  (+1s)
    ~ .status.containerStatuses[name=worker]
        + containerID: containerd://cef69013b886…
        ~ imageID: "" → shop/crash@sha256:412b46693ae8…
        ~ state: waiting ContainerCreating → terminated Error exit 1
    18:41:00 MODIFIED pod/worker-6d9bf5695c-ghxz8  518→530  +0s  by kwok (status)  4 changes, 2 hidden
    ~ .status.containerStatuses[name=worker]
        + lastState: terminated Error exit 1
        ~ restartCount: 0 → 1
        ~ state: terminated Error exit 1 → waiting CrashLoopBackOff: back-off 10s restarting failed con…
    18:41:00 MODIFIED pod/worker-6d9bf5695c-ghxz8  530→622  +0s  by kwok (status)  3 changes, 2 hidden
    ~ …tatuses[name=worker].containerID: containerd://cef69013b886… → containerd://b6ff10cb6190…
    ~ .status.containerStatuses[name=worker].state: waiting CrashLoopBackOff → terminated Error exit 1
    18:41:00 MODIFIED pod/worker-6d9bf5695c-ghxz8  622→632  +0s  by kwok (status)  6 changes, 2 hidden
    ~ .status.containerStatuses[name=worker]
        ~ lastState.terminated.containerID: containerd://cef69013b886… → containerd://b6ff10cb6190…
        ~ lastState.terminated.finishedAt: 2026-11-24T18:40:25Z → 2026-11-24T18:40:36Z  (+11s)
        ~ lastState.terminated.startedAt: 2026-11-24T18:40:25Z → 2026-11-24T18:40:36Z  (+11s)
        ~ restartCount: 1 → 2
        ~ state: terminated Error exit 1 → waiting CrashLoopBackOff: back-off 20s restarting failed con…
    18:41:00 MODIFIED pod/worker-6d9bf5695c-ghxz8  632→650  +0s  by kwok (status)  3 changes, 2 hidden
    ~ …tatuses[name=worker].containerID: containerd://b6ff10cb6190… → containerd://6d7f8152df07…
    ~ .status.containerStatuses[name=worker].state: waiting CrashLoopBackOff → terminated Error exit 1
    18:41:00 MODIFIED pod/worker-6d9bf5695c-ghxz8  650→651  +0s  by kwok (status)  6 changes, 2 hidden
    ~ .status.containerStatuses[name=worker]
        ~ lastState.terminated.containerID: containerd://b6ff10cb6190… → containerd://6d7f8152df07…
        ~ lastState.terminated.finishedAt: 2026-11-24T18:40:36Z → 2026-11-24T18:40:57Z  (+21s)
        ~ lastState.terminated.startedAt: 2026-11-24T18:40:36Z → 2026-11-24T18:40:57Z  (+21s)
        ~ restartCount: 2 → 3
        ~ state: terminated Error exit 1 → waiting CrashLoopBackOff: back-off 40s restarting failed con…
    6 versions: 6 live · 32 changes shown, 12 hidden · 0s
    "#);
}

#[test]
fn changes_of_a_crash_at_120_columns() {
    assert_snapshot!(shown(120, "changes pod/worker-6d9bf5695c-ghxz8"), @r#"
    18:41:00 EXISTING pod/worker-6d9bf5695c-ghxz8  495
    18:41:00 MODIFIED pod/worker-6d9bf5695c-ghxz8  495→518  by kwok (status)  10 changes, 2 hidden
    ~ .status.phase: Pending → Running
    + .status.podIP: 10.128.0.3
    + .status.podIPs: [{ip: 10.128.0.3}]
    ~ .status.conditions[type=Initialized].lastTransitionTime: 2026-11-24T18:40:24Z → 2026-11-24T18:40:25Z  (+1s)
    ~ .status.conditions[type=Ready].lastTransitionTime: 2026-11-24T18:40:24Z → 2026-11-24T18:40:25Z  (+1s)
    ~ .status.conditions[type=ContainersReady].lastTransitionTime: 2026-11-24T18:40:24Z → 2026-11-24T18:40:25Z  (+1s)
    ~ .status.containerStatuses[name=worker]
        + containerID: containerd://cef69013b886…
        ~ imageID: "" → shop/crash@sha256:412b46693ae8…
        ~ state: waiting ContainerCreating → terminated Error exit 1
    18:41:00 MODIFIED pod/worker-6d9bf5695c-ghxz8  518→530  +0s  by kwok (status)  4 changes, 2 hidden
    ~ .status.containerStatuses[name=worker]
        + lastState: terminated Error exit 1
        ~ restartCount: 0 → 1
        ~ state: terminated Error exit 1 → waiting CrashLoopBackOff: back-off 10s restarting failed container=worker pod=wo…
    18:41:00 MODIFIED pod/worker-6d9bf5695c-ghxz8  530→622  +0s  by kwok (status)  3 changes, 2 hidden
    ~ …tainerStatuses[name=worker].containerID: containerd://cef69013b886… → containerd://b6ff10cb6190…
    ~ .status.containerStatuses[name=worker].state: waiting CrashLoopBackOff → terminated Error exit 1
    18:41:00 MODIFIED pod/worker-6d9bf5695c-ghxz8  622→632  +0s  by kwok (status)  6 changes, 2 hidden
    ~ .status.containerStatuses[name=worker]
        ~ lastState.terminated.containerID: containerd://cef69013b886… → containerd://b6ff10cb6190…
        ~ lastState.terminated.finishedAt: 2026-11-24T18:40:25Z → 2026-11-24T18:40:36Z  (+11s)
        ~ lastState.terminated.startedAt: 2026-11-24T18:40:25Z → 2026-11-24T18:40:36Z  (+11s)
        ~ restartCount: 1 → 2
        ~ state: terminated Error exit 1 → waiting CrashLoopBackOff: back-off 20s restarting failed container=worker pod=wo…
    18:41:00 MODIFIED pod/worker-6d9bf5695c-ghxz8  632→650  +0s  by kwok (status)  3 changes, 2 hidden
    ~ …tainerStatuses[name=worker].containerID: containerd://b6ff10cb6190… → containerd://6d7f8152df07…
    ~ .status.containerStatuses[name=worker].state: waiting CrashLoopBackOff → terminated Error exit 1
    18:41:00 MODIFIED pod/worker-6d9bf5695c-ghxz8  650→651  +0s  by kwok (status)  6 changes, 2 hidden
    ~ .status.containerStatuses[name=worker]
        ~ lastState.terminated.containerID: containerd://b6ff10cb6190… → containerd://6d7f8152df07…
        ~ lastState.terminated.finishedAt: 2026-11-24T18:40:36Z → 2026-11-24T18:40:57Z  (+21s)
        ~ lastState.terminated.startedAt: 2026-11-24T18:40:36Z → 2026-11-24T18:40:57Z  (+21s)
        ~ restartCount: 2 → 3
        ~ state: terminated Error exit 1 → waiting CrashLoopBackOff: back-off 40s restarting failed container=worker pod=wo…
    6 versions: 6 live · 32 changes shown, 12 hidden · 0s
    "#);
}

#[test]
fn short_changes_at_80_columns() {
    assert_snapshot!(shown(80, "changes deploy,sts,quota -o short"), @r#"
    watching 1 resourcequota in namespace "shop"
    watching 1 statefulset.apps in namespace "shop"
    18:41:00 statefulset/db  kubectl-set +1  …image: db:16 → db:bad (+5)
    18:41:00 statefulset/db  kube-controller-manager  …availableReplicas: 3 → 2 (+4)
    watching 2 deployments.apps in namespace "shop"
    18:41:00 deployment/web  kube-controller-manager  …unavailableReplicas → 1 (+2)
    18:41:00 deployment/web  probably ku…  …reason → MinimumReplicasAvailable (+8)
    18:41:00 deployment/web  kubectl-set  containers[web].image: web:2.4.1 → web:bad
    18:41:00 deployment/web  kube-contro…  …annotations["…s.io/revision"] → "2" (+2)
    18:41:00 deployment/web  kube-controller-manager  …updatedReplicas → (none) (+1)
    18:41:00 deployment/web  kube-contro…  …reason → ReplicaSetUpdated (+3)
    18:41:00 deployment/web  kubectl (scale)  replicas: 2 → 6
    18:41:00 deployment/web  kube-contro…  …reason → MinimumReplicasUnavailable (+3)
    18:41:00 deployment/web  kube-controller-manager  …unavailableReplicas → 6 (+1)
    18:41:00 deployment/web  probably kube-controller-manager  …replicas: 3 → 4
    18:41:00 deployment/web  kube-controller-manager  …availableReplicas: 2 → 3 (+2)
      probably by X: no writer is recorded, and X owned these values before
    13 versions: 13 live · 44 changes shown, 38 hidden · 0s
    "#);
}

#[test]
fn short_changes_at_100_columns() {
    assert_snapshot!(shown(100, "changes deploy,sts,quota -o short"), @r#"
    watching 1 resourcequota in namespace "shop"
    watching 1 statefulset.apps in namespace "shop"
    18:41:00 statefulset/db  kubectl-set, kube-controller-manager (status)  …image: db:16 → db:bad (+5)
    18:41:00 statefulset/db  kube-controller-manager (status)  status.availableReplicas: 3 → 2 (+4)
    watching 2 deployments.apps in namespace "shop"
    18:41:00 deployment/web  kube-controller-manager (status)  status.unavailableReplicas: 2 → 1 (+2)
    18:41:00 deployment/web  probably kube-controller-manager  …reason → MinimumReplicasAvailable (+8)
    18:41:00 deployment/web  kubectl-set  containers[web].image: web:2.4.1 → web:bad
    18:41:00 deployment/web  kube-contro…  …annotations["deployment.kubernetes.io/revision"] → "2" (+2)
    18:41:00 deployment/web  kube-controller-manager (status)  status.updatedReplicas: 2 → (none) (+1)
    18:41:00 deployment/web  kube-controller-manager (status)  …reason → ReplicaSetUpdated (+3)
    18:41:00 deployment/web  kubectl (scale)  replicas: 2 → 6
    18:41:00 deployment/web  kube-controller-manager (status)  …reason → MinimumReplicasUnavailable (+3)
    18:41:00 deployment/web  kube-controller-manager (status)  status.unavailableReplicas: 1 → 6 (+1)
    18:41:00 deployment/web  probably kube-controller-manager (status)  status.replicas: 3 → 4
    18:41:00 deployment/web  kube-controller-manager (status)  status.availableReplicas: 2 → 3 (+2)
      probably by X: no writer is recorded, and X owned these values before
    13 versions: 13 live · 44 changes shown, 38 hidden · 0s
    "#);
}

#[test]
fn short_changes_at_120_columns() {
    assert_snapshot!(shown(120, "changes deploy,sts,quota -o short"), @r#"
    watching 1 resourcequota in namespace "shop"
    watching 1 statefulset.apps in namespace "shop"
    18:41:00 statefulset/db  kubectl-set, kube-controller-manager (status)  containers[db].image: db:16 → db:bad (+5)
    18:41:00 statefulset/db  kube-controller-manager (status)  status.availableReplicas: 3 → 2 (+4)
    watching 2 deployments.apps in namespace "shop"
    18:41:00 deployment/web  kube-controller-manager (status)  status.unavailableReplicas: 2 → 1 (+2)
    18:41:00 deployment/web  probably kube-controller-manager (status)  …reason → MinimumReplicasAvailable (+8)
    18:41:00 deployment/web  kubectl-set  containers[web].image: web:2.4.1 → web:bad
    18:41:00 deployment/web  kube-controller-manager (status)  …annotations["deployment.kubernetes.io/revision"] → "2" (+2)
    18:41:00 deployment/web  kube-controller-manager (status)  status.updatedReplicas: 2 → (none) (+1)
    18:41:00 deployment/web  kube-controller-manager (status)  …reason: NewReplicaSetCreated → ReplicaSetUpdated (+3)
    18:41:00 deployment/web  kubectl (scale)  replicas: 2 → 6
    18:41:00 deployment/web  kube-controller-manager (status)  status.conditions[…].reason → MinimumReplicasUnavailable (+3)
    18:41:00 deployment/web  kube-controller-manager (status)  status.unavailableReplicas: 1 → 6 (+1)
    18:41:00 deployment/web  probably kube-controller-manager (status)  status.replicas: 3 → 4
    18:41:00 deployment/web  kube-controller-manager (status)  status.availableReplicas: 2 → 3 (+2)
      probably by X: no writer is recorded, and X owned these values before
    13 versions: 13 live · 44 changes shown, 38 hidden · 0s
    "#);
}
