package main

import "fmt"

// All times are fixed and long past: kstatus gives an unscheduled pod 15 seconds of the wall clock.
const (
	created = "2024-03-01T10:00:00Z"
	started = "2024-03-01T10:00:05Z"
	deleted = "2024-03-02T00:00:00Z"
)

// shape is a kind of object: how a plausible one looks, and which of its fields the rules read.
type shape struct {
	apiVersion string
	kind       string
	// weight says how often it is drawn: kinds with more rules more often.
	weight int
	// fill gives spec and status of an object as controllers leave it, healthy most of the time.
	fill func(g *generator) (spec, status object)
	// fields are the paths, dotted, that the rules of this kind read.
	fields []string
}

var deploymentFields = []string{
	"spec.replicas", "spec.progressDeadlineSeconds", "status.replicas", "status.updatedReplicas",
	"status.readyReplicas", "status.availableReplicas",
}

var replicaSetFields = []string{
	"spec.replicas", "status.replicas", "status.readyReplicas", "status.availableReplicas",
	"status.fullyLabeledReplicas",
}

var daemonSetFields = []string{
	"status.desiredNumberScheduled", "status.currentNumberScheduled", "status.updatedNumberScheduled",
	"status.numberAvailable", "status.numberReady", "metadata.generation", "status.observedGeneration",
}

var shapes = []shape{
	{"apps/v1", "Deployment", 14, deployment, deploymentFields},
	{"extensions/v1beta1", "Deployment", 2, deployment, deploymentFields},
	{"apps/v1", "ReplicaSet", 7, replicaSet, replicaSetFields},
	{"extensions/v1beta1", "ReplicaSet", 1, replicaSet, replicaSetFields},
	{"apps/v1", "StatefulSet", 14, statefulSet, []string{
		"spec.replicas", "spec.updateStrategy", "spec.updateStrategy.type",
		"spec.updateStrategy.rollingUpdate", "spec.updateStrategy.rollingUpdate.partition",
		"status.replicas", "status.readyReplicas", "status.currentReplicas", "status.updatedReplicas",
		"status.currentRevision", "status.updateRevision",
	}},
	{"apps/v1", "DaemonSet", 9, daemonSet, daemonSetFields},
	{"extensions/v1beta1", "DaemonSet", 1, daemonSet, daemonSetFields},
	{"v1", "Pod", 18, pod, []string{
		"status.phase", "status.containerStatuses", "metadata.creationTimestamp",
	}},
	{"batch/v1", "Job", 8, job, []string{
		"spec.parallelism", "spec.completions", "status.succeeded", "status.active", "status.failed",
		"status.startTime",
	}},
	{"v1", "PersistentVolumeClaim", 4, claim, []string{"status.phase"}},
	{"v1", "Service", 4, service, []string{"spec.type", "spec.clusterIP"}},
	{"apiextensions.k8s.io/v1", "CustomResourceDefinition", 6, definition, nil},
	{"policy/v1", "PodDisruptionBudget", 2, disruptionBudget, nil},
	{"v1", "Secret", 1, nothing, nil},
	{"v1", "ConfigMap", 1, nothing, nil},
	{"batch/v1", "CronJob", 2, nothing, nil},
	{"v1", "Node", 2, node, nil},
	{"v1", "Namespace", 1, namespace, []string{"status.phase"}},
	{"autoscaling/v2", "HorizontalPodAutoscaler", 2, autoscaler, nil},
	{"networking.k8s.io/v1", "Ingress", 1, nothing, nil},
	{"shop.example.com/v1", "Cart", 8, custom, nil},
	{"helm.toolkit.fluxcd.io/v2", "HelmRelease", 4, custom, nil},
	{"serving.knative.dev/v1", "Service", 2, custom, nil},
	{"cluster.x-k8s.io/v1beta1", "Pod", 1, custom, nil},
}

func nothing(*generator) (object, object) { return nil, nil }

func deployment(g *generator) (object, object) {
	n := g.replicas()
	spec := object{"replicas": n, "progressDeadlineSeconds": pick(g, 600, 600, 600, 2147483647)}
	status := object{
		"replicas": n, "updatedReplicas": n, "readyReplicas": n, "availableReplicas": n,
		"conditions": []any{
			g.condition("Available", "True", "MinimumReplicasAvailable"),
			g.condition("Progressing", "True", pick(g, "NewReplicaSetAvailable", "NewReplicaSetAvailable", "ReplicaSetUpdated")),
		},
	}
	return spec, status
}

func replicaSet(g *generator) (object, object) {
	n := g.replicas()
	status := object{"replicas": n, "fullyLabeledReplicas": n, "readyReplicas": n, "availableReplicas": n}
	if g.chance(10) {
		status["conditions"] = []any{g.condition("ReplicaFailure", "True", "FailedCreate")}
	}
	return object{"replicas": n}, status
}

func statefulSet(g *generator) (object, object) {
	n := g.replicas()
	updated := n
	strategy := object{"type": "RollingUpdate"}
	if g.chance(40) {
		partition := g.rand.IntN(n + 2)
		strategy["rollingUpdate"] = object{"partition": partition}
		updated = max(0, n-partition-pick(g, 0, 0, 0, 1))
	} else if g.chance(15) {
		strategy = object{"type": "OnDelete"}
	}
	spec := object{"replicas": n, "updateStrategy": strategy}
	status := object{
		"replicas": n, "readyReplicas": n, "currentReplicas": n, "updatedReplicas": updated,
		"currentRevision": "db-5f6c", "updateRevision": pick(g, "db-5f6c", "db-5f6c", "db-5f6c", "db-7d88"),
	}
	return spec, status
}

func daemonSet(g *generator) (object, object) {
	n := g.replicas()
	return object{}, object{
		"desiredNumberScheduled": n, "currentNumberScheduled": n, "updatedNumberScheduled": n,
		"numberAvailable": n, "numberReady": n, "numberMisscheduled": 0,
	}
}

func pod(g *generator) (object, object) {
	spec := object{"nodeName": "node-1", "containers": []any{object{"name": "app", "image": "shop/web:1"}}}
	switch g.rand.IntN(10) {
	case 0:
		return spec, object{"phase": "Succeeded", "conditions": []any{g.condition("Ready", "False", "PodCompleted")}}
	case 1:
		return spec, object{"phase": "Failed", "conditions": []any{g.condition("Ready", "False", "PodFailed")}}
	case 2:
		delete(spec, "nodeName")
		return spec, object{"phase": "Pending", "conditions": []any{
			g.condition("PodScheduled", "False", pick(g, "Unschedulable", "Unschedulable", "SchedulingGated")),
		}}
	case 3:
		return spec, object{"phase": "Pending", "conditions": []any{
			g.condition("PodScheduled", "True", ""), g.condition("Ready", "False", "ContainersNotReady"),
		}, "containerStatuses": []any{g.waiting("app", "ContainerCreating")}}
	case 4, 5, 6:
		return spec, object{"phase": "Running", "conditions": []any{
			g.condition("PodScheduled", "True", ""), g.condition("Ready", "False", "ContainersNotReady"),
		}, "containerStatuses": g.containers()}
	case 7:
		return spec, object{"phase": pick(g, "Unknown", "", "running")}
	default:
		return spec, object{"phase": "Running", "conditions": []any{
			g.condition("PodScheduled", "True", ""), g.condition("Ready", "True", ""),
		}, "containerStatuses": []any{g.running("app")}}
	}
}

func job(g *generator) (object, object) {
	spec := object{"parallelism": 1 + g.rand.IntN(3), "completions": 1 + g.rand.IntN(3)}
	status := object{"startTime": started}
	switch g.rand.IntN(5) {
	case 0:
		return spec, object{}
	case 1:
		status["failed"] = 1 + g.rand.IntN(3)
		status["conditions"] = []any{g.condition("Failed", "True", "BackoffLimitExceeded")}
	case 2:
		status["succeeded"] = spec["completions"]
		status["conditions"] = []any{g.condition("Complete", "True", "")}
	case 3:
		status["conditions"] = []any{g.condition("Suspended", "True", "JobSuspended")}
	default:
		status["active"] = 1 + g.rand.IntN(3)
	}
	return spec, status
}

func claim(g *generator) (object, object) {
	return object{"storageClassName": "fast"}, object{"phase": pick(g, "Bound", "Bound", "Pending", "Lost")}
}

func service(g *generator) (object, object) {
	kind := pick(g, "ClusterIP", "NodePort", "LoadBalancer", "LoadBalancer", "ExternalName")
	return object{"type": kind, "clusterIP": pick(g, "10.96.0.7", "10.96.0.7", "None", "")}, object{"loadBalancer": object{}}
}

func definition(g *generator) (object, object) {
	conditions := []any{g.condition("NamesAccepted", "True", "NoConflicts")}
	switch g.rand.IntN(4) {
	case 0:
		conditions = append(conditions, g.condition("Established", "False", pick(g, "Installing", "NotAccepted")))
	case 1:
		conditions = []any{g.condition("NamesAccepted", "False", "ListKindConflict")}
	default:
		conditions = append(conditions, g.condition("Established", "True", "InitialNamesAccepted"))
	}
	return object{"group": "shop.example.com"}, object{"conditions": conditions}
}

func disruptionBudget(g *generator) (object, object) {
	return object{"minAvailable": 1}, object{"currentHealthy": 2, "conditions": []any{
		g.condition("DisruptionAllowed", pick(g, "True", "False"), "SufficientPods"),
	}}
}

func node(g *generator) (object, object) {
	return object{}, object{"conditions": []any{
		g.condition("MemoryPressure", "False", "KubeletHasSufficientMemory"),
		g.condition("Ready", pick(g, "True", "True", "False", "Unknown"), "KubeletReady"),
	}}
}

func namespace(g *generator) (object, object) {
	return object{}, object{"phase": pick(g, "Active", "Terminating")}
}

func autoscaler(g *generator) (object, object) {
	return object{"maxReplicas": 4}, object{"currentReplicas": 2, "conditions": []any{
		g.condition("AbleToScale", "True", "ReadyForNewScale"), g.condition("ScalingActive", "False", "FailedGetResourceMetric"),
	}}
}

func custom(g *generator) (object, object) {
	conditions := []any{}
	if g.chance(70) {
		conditions = append(conditions, g.condition("Ready", g.truth(), pick(g, "Succeeded", "Pending", "")))
	}
	if g.chance(30) {
		conditions = append(conditions, g.condition("Reconciling", g.truth(), "Progressing"))
	}
	if g.chance(20) {
		conditions = append(conditions, g.condition("Stalled", g.truth(), "RetriesExceeded"))
	}
	if g.chance(20) {
		return object{}, nil
	}
	return object{}, object{"conditions": conditions}
}

// replicas is a small count, now and then none.
func (g *generator) replicas() int { return pick(g, 0, 1, 1, 2, 3, 3, 5) }

func (g *generator) truth() string { return pick(g, "True", "False", "Unknown") }

func (g *generator) condition(kind, truth, reason string) object {
	c := object{"type": kind, "status": truth, "lastTransitionTime": started}
	if reason != "" {
		c["reason"] = reason
	}
	if g.chance(60) {
		c["message"] = pick(g, "minimum availability", "0/3 nodes are available: 3 Insufficient cpu.", "zwölf <Ampeln> & \"Licht\"", "two\nlines")
	}
	return c
}

func (g *generator) containers() []any {
	statuses := []any{}
	for i := range 1 + g.rand.IntN(3) {
		name := fmt.Sprintf("app-%d", i)
		if g.chance(50) {
			statuses = append(statuses, g.running(name))
		} else {
			statuses = append(statuses, g.waiting(name, pick(g, "CrashLoopBackOff", "CrashLoopBackOff", "ImagePullBackOff")))
		}
	}
	return statuses
}

func (g *generator) running(name string) object {
	return object{"name": name, "ready": true, "state": object{"running": object{"startedAt": started}}}
}

func (g *generator) waiting(name, reason string) object {
	return object{"name": name, "ready": false, "state": object{"waiting": object{"reason": reason}}}
}
