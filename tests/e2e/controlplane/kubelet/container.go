package main

import (
	"fmt"
	"slices"

	corev1 "k8s.io/api/core/v1"
)

// logContainer returns the ID of the container instance whose log can be read under this name, or the kubelet's
// reason why there is none. The texts are those of the kubelet v1.36.3 (kubelet_pods.go,
// validateContainerLogStatus): clients read them.
func logContainer(pod *corev1.Pod, name string, previous bool) (string, error) {
	status := containerStatus(pod, name)
	if status == nil {
		return "", fmt.Errorf("container %q in pod %q is not available", name, pod.Name)
	}
	state, last := status.State, status.LastTerminationState.Terminated
	lastID := ""
	if last != nil {
		lastID = last.ContainerID
	}
	switch {
	case previous && lastID == "":
		return "", fmt.Errorf("previous terminated container %q in pod %q not found", name, pod.Name)
	case previous:
		return lastID, nil
	case state.Running != nil:
		return status.ContainerID, nil
	case state.Terminated != nil && state.Terminated.ContainerID != "":
		return state.Terminated.ContainerID, nil
	// A container that waits or did not start has the log of the instance before.
	case lastID != "":
		return lastID, nil
	case state.Terminated != nil || last != nil:
		return "", fmt.Errorf("container %q in pod %q is terminated", name, pod.Name)
	case state.Waiting != nil:
		return "", fmt.Errorf("container %q in pod %q is waiting to start: %s", name, pod.Name, waitingFor(state.Waiting.Reason))
	}
	return "", fmt.Errorf("container %q in pod %q is waiting to start - no logs yet", name, pod.Name)
}

// waitingFor words the reason of a container that waits, as the kubelet does.
func waitingFor(reason string) string {
	switch reason {
	case "ErrImagePull":
		return "image can't be pulled"
	case "ImagePullBackOff":
		return "trying and failing to pull image"
	}
	return reason
}

// containerStatuses returns the statuses of all containers of a Pod, in the order in which the kubelet searches them.
func containerStatuses(pod *corev1.Pod) []corev1.ContainerStatus {
	status := pod.Status
	return slices.Concat(status.ContainerStatuses, status.InitContainerStatuses, status.EphemeralContainerStatuses)
}

func containerStatus(pod *corev1.Pod, name string) *corev1.ContainerStatus {
	statuses := containerStatuses(pod)
	if at := slices.IndexFunc(statuses, func(status corev1.ContainerStatus) bool { return status.Name == name }); at >= 0 {
		return &statuses[at]
	}
	return nil
}

// hasContainer returns whether the Pod has a container of this name.
func hasContainer(pod *corev1.Pod, name string) bool {
	isIt := func(container corev1.Container) bool { return container.Name == name }
	return slices.ContainsFunc(pod.Spec.Containers, isIt) ||
		slices.ContainsFunc(pod.Spec.InitContainers, isIt) ||
		slices.ContainsFunc(pod.Spec.EphemeralContainers, func(container corev1.EphemeralContainer) bool {
			return container.Name == name
		})
}
