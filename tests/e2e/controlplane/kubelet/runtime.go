package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"
	corev1 "k8s.io/api/core/v1"
	criapi "k8s.io/cri-api/pkg/apis"
	runtimeapi "k8s.io/cri-api/pkg/apis/runtime/v1"
)

// logFiles is the directory with the logs of all containers.
type logFiles struct{ directory string }

// link returns the path of the link from the ID of a container to its log.
func (f logFiles) link(namespace, pod, container, id string) string {
	name := fmt.Sprintf("%s_%s_%s-%s.log", pod, namespace, container, bareID(id))
	return filepath.Join(f.directory, "containers", name)
}

// find returns the path of the log of a container, as the container runtime gives it. The file need not exist.
func (f logFiles) find(namespace, pod, container, id string) (string, error) {
	link := f.link(namespace, pod, container, id)
	path, err := os.Readlink(link)
	if err == nil && !filepath.IsAbs(path) {
		path = filepath.Join(filepath.Dir(link), path)
	}
	return path, err
}

// create returns the path of the log of a container, and makes the log if there is none.
func (f logFiles) create(pod *corev1.Pod, container, id string, attempt int32) (string, error) {
	path, err := f.find(pod.Namespace, pod.Name, container, id)
	if err == nil || !errors.Is(err, os.ErrNotExist) {
		return path, err
	}
	ofPod := fmt.Sprintf("%s_%s_%s", pod.Namespace, pod.Name, pod.UID)
	path = filepath.Join(f.directory, "pods", ofPod, container, fmt.Sprintf("%d.log", attempt))
	link := f.link(pod.Namespace, pod.Name, container, id)
	for _, directory := range []string{filepath.Dir(path), filepath.Dir(link)} {
		if err := os.MkdirAll(directory, 0o755); err != nil {
			return "", err
		}
	}
	return path, os.Symlink(path, link)
}

// appendTo adds text to the end of a log, in one write.
func appendTo(path string, text []byte) error {
	file, err := os.OpenFile(path, os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o644)
	if err != nil {
		return err
	}
	_, err = file.Write(text)
	return errors.Join(err, file.Close())
}

// bareID returns the ID of a container without the name of its runtime: containerd://ID.
func bareID(id string) string {
	_, bare, _ := strings.Cut(id, "://")
	return bare
}

// containerRuntime answers the one question of the log reader: does this container still run?
type containerRuntime struct {
	criapi.RuntimeService // the reader calls nothing else
	pods                  *pods
	pod                   *corev1.Pod
	container             string
}

// ContainerStatus has the state of the container with this ID in the newest version of its Pod. The runtime keeps
// an instance that the status no longer names: it has exited.
func (r containerRuntime) ContainerStatus(_ context.Context, id string, _ bool) (*runtimeapi.ContainerStatusResponse, error) {
	pod := r.pods.get(r.pod.Namespace, r.pod.Name)
	if pod == nil || pod.UID != r.pod.UID {
		return nil, status.Errorf(codes.NotFound, "an error occurred when try to find container %q: not found", bareID(id))
	}
	state := runtimeapi.ContainerState_CONTAINER_EXITED
	if now := containerStatus(pod, r.container); now != nil && now.State.Running != nil && now.ContainerID == id {
		state = runtimeapi.ContainerState_CONTAINER_RUNNING
	}
	return &runtimeapi.ContainerStatusResponse{Status: &runtimeapi.ContainerStatus{State: state}}, nil
}
