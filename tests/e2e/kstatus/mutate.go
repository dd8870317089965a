package main

import (
	"encoding/json"
	"reflect"
	"slices"
	"strings"
)

// genericFields are read for every kind.
var genericFields = []string{
	"apiVersion", "kind", "metadata", "metadata.generation", "metadata.deletionTimestamp",
	"metadata.creationTimestamp", "spec", "status", "status.observedGeneration", "status.conditions",
}

// Words that the rules compare with, besides those of the plausible objects.
var (
	conditionTypes = []string{
		"Ready", "Reconciling", "Stalled", "Available", "Progressing", "ReplicaFailure", "Complete",
		"Failed", "PodScheduled", "Established", "NamesAccepted", "ready", "",
	}
	conditionReasons = []string{
		"ProgressDeadlineExceeded", "NewReplicaSetAvailable", "Installing", "Unschedulable", "Other", "",
	}
	conditionTruths = []string{"True", "False", "Unknown", "true", ""}
	texts           = []string{
		"", "RollingUpdate", "OnDelete", "LoadBalancer", "Bound", "Running", "Pending", "Failed",
		"Succeeded", "CrashLoopBackOff", "3", "True", created,
	}
	// Of numbers not all are integers to Kubernetes: one with a point or an exponent and one beyond
	// 64 bits are read as floats.
	numbers = []json.Number{
		"0", "-0", "1", "2", "-1", "3.0", "2.5", "1e2", "2147483647", "2147483648", "9007199254740993",
		"9223372036854775807", "9223372036854775808", "-9223372036854775808", "1e19",
	}
	apiVersions = []string{
		"v1", "apps/v1", "apps/v1beta2", "extensions/v1beta1", "batch/v1beta1", "policy/v1beta1",
		"shop.example.com/v1", "apiextensions.k8s.io/v1beta1", "", "/v1", "apps/", "apps/v1/extra",
	}
	timestamps = []string{
		"", deleted, "2024-03-01", "2024-03-01T10:00:00.5+02:00", "2999-01-01T00:00:00Z", "yesterday",
	}
)

// mutate changes one thing. Small changes of what the rules read come most often, since an object
// whose types are all wrong says little: it fails at the first rule.
func (g *generator) mutate(s shape, o object) {
	switch at := g.rand.IntN(100); {
	case at < 35 && len(s.fields) > 0:
		g.changeField(o, pick(g, s.fields...))
	case at < 50 && s.kind == "Pod":
		g.changeContainer(o)
	case at < 75:
		g.changeConditions(o)
	case at < 92:
		g.changeGeneric(o)
	default:
		g.breakField(o, pick(g, slices.Concat(s.fields, genericFields)...))
	}
}

// changeField gives a field another value of its own type, or takes it away.
func (g *generator) changeField(o object, path string) {
	parent, key := g.parent(o, path)
	if parent == nil {
		return
	}
	if g.chance(15) {
		delete(parent, key)
		return
	}
	if strings.HasSuffix(key, "Timestamp") {
		parent[key] = pick(g, timestamps...)
		return
	}
	switch old := parent[key].(type) {
	case int:
		if g.chance(70) {
			parent[key] = old + pick(g, -1, -1, 1, 1, 2)
		} else {
			parent[key] = pick(g, numbers...)
		}
	case string:
		parent[key] = pick(g, texts...)
	case nil, json.Number:
		parent[key] = pick[any](g, g.rand.IntN(4), pick(g, numbers...), pick(g, texts...))
	default:
		g.breakField(o, path)
	}
}

// breakField gives a field a value of another type, or null.
func (g *generator) breakField(o object, path string) {
	parent, key := g.parent(o, path)
	if parent == nil {
		return
	}
	parent[key] = g.otherType(parent[key])
}

// otherType is a value of any JSON type but that of the old one.
func (g *generator) otherType(old any) any {
	for {
		value := pick[any](g,
			nil, true, false, 0, 1, pick(g, numbers...), "", "3", "True", "Running",
			[]any{}, []any{1}, []any{"a", object{}}, object{}, object{"a": 1},
		)
		if reflect.TypeOf(value) != reflect.TypeOf(old) {
			return value
		}
	}
}

// changeGeneric changes what is read for every kind.
func (g *generator) changeGeneric(o object) {
	switch path := pick(g, genericFields...); path {
	case "apiVersion":
		o["apiVersion"] = pick(g, apiVersions...)
	case "kind":
		o["kind"] = pick(g, pick(g, shapes...).kind, "pod", "List", "")
	case "metadata.deletionTimestamp", "metadata.creationTimestamp", "metadata.generation",
		"status.observedGeneration":
		g.changeField(o, path)
	default:
		parent, key := g.parent(o, path)
		if parent != nil && g.chance(50) {
			delete(parent, key)
		} else if parent != nil {
			parent[key] = pick[any](g, nil, object{}, []any{})
		}
	}
}

// changeConditions changes the list of conditions or one of them.
func (g *generator) changeConditions(o object) {
	status, ok := o["status"].(object)
	if !ok {
		return
	}
	conditions, _ := status["conditions"].([]any)
	if len(conditions) == 0 || g.chance(30) {
		added := g.condition(pick(g, conditionTypes...), pick(g, conditionTruths...), pick(g, conditionReasons...))
		conditions = append(conditions, added)
		g.shuffle(conditions)
		status["conditions"] = conditions
		return
	}
	at := g.rand.IntN(len(conditions))
	switch g.rand.IntN(10) {
	case 0:
		g.shuffle(conditions)
	case 1:
		conditions = append(conditions[:at:at], conditions[at+1:]...)
	case 2:
		conditions = append(conditions, conditions[at])
		g.shuffle(conditions)
	case 3:
		conditions[at] = g.otherType(conditions[at])
	default:
		conditions[at] = g.changedCondition(conditions[at])
	}
	status["conditions"] = conditions
}

func (g *generator) shuffle(list []any) {
	g.rand.Shuffle(len(list), func(i, j int) { list[i], list[j] = list[j], list[i] })
}

// changedCondition is the condition with one field changed. It is a copy, as a duplicate of it may
// stand in the list.
func (g *generator) changedCondition(old any) any {
	condition, ok := old.(object)
	if !ok {
		return old
	}
	changed := object{}
	for key, value := range condition {
		changed[key] = value
	}
	words := map[string][]string{
		"type": conditionTypes, "status": conditionTruths, "reason": conditionReasons, "message": texts,
	}
	key := pick(g, "type", "status", "status", "status", "reason", "reason", "message")
	switch at := g.rand.IntN(10); {
	case at < 2:
		delete(changed, key)
	case at < 3:
		changed[key] = g.otherType(changed[key])
	default:
		changed[key] = pick(g, words[key]...)
	}
	return changed
}

// changeContainer changes a container status somewhere on the way to its waiting reason.
func (g *generator) changeContainer(o object) {
	status, ok := o["status"].(object)
	if !ok {
		return
	}
	statuses, ok := status["containerStatuses"].([]any)
	if !ok || len(statuses) == 0 {
		status["containerStatuses"] = g.containers()
		return
	}
	at := g.rand.IntN(len(statuses))
	container, ok := statuses[at].(object)
	if !ok || g.chance(10) {
		statuses[at] = g.otherType(statuses[at])
		return
	}
	path := pick(g, "name", "state", "state.waiting", "state.waiting.reason")
	if parent, key := g.parent(container, path); parent != nil && g.chance(50) {
		delete(parent, key)
		return
	}
	g.breakField(container, path)
}

// parent is the map that holds the last part of a dotted path, and that part; nil where a part
// before it is no map.
func (g *generator) parent(o object, path string) (object, string) {
	parts := strings.Split(path, ".")
	last := len(parts) - 1
	for _, part := range parts[:last] {
		next, ok := o[part].(object)
		if !ok {
			return nil, ""
		}
		o = next
	}
	return o, parts[last]
}
