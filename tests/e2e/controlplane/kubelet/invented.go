package main

import (
	"bytes"
	"crypto/sha256"
	"fmt"
	"log"
	"time"

	corev1 "k8s.io/api/core/v1"
)

// timeFormat is the time before each line of a log in the CRI format.
const timeFormat = "2006-01-02T15:04:05.000000000Z07:00"

// invent makes a log for a container that kwok has started, if it has none: nobody else writes one. It does so only
// when somebody reads the log, so that Pods cost nothing before.
func (k *kubelet) invent(namespace, name, container, id string) error {
	var failed error
	k.pods.whileUnchanged(namespace, name, func(pod *corev1.Pod) {
		if pod == nil {
			return
		}
		attempt, isKwoks := attemptOfKwok(pod, container, id)
		if !isKwoks {
			return
		}
		if _, err := k.files.find(namespace, name, container, id); err == nil {
			return
		}
		path, err := k.files.create(pod, container, id, attempt)
		if err == nil {
			err = appendTo(path, inventedLog(pod, container, id))
		}
		failed = err
	})
	return failed
}

// endInvented adds the last lines of the containers that end with the new version of a Pod.
func (f logFiles) endInvented(old, new *corev1.Pod) {
	for _, status := range containerStatuses(new) {
		ended := status.State.Terminated
		before := containerStatus(old, status.Name)
		if ended == nil || before == nil || before.State.Running == nil || before.ContainerID != ended.ContainerID {
			continue
		}
		if _, isKwoks := attemptOfKwok(new, status.Name, ended.ContainerID); !isKwoks {
			continue
		}
		if path, err := f.find(new.Namespace, new.Name, status.Name, ended.ContainerID); err == nil {
			if err := appendTo(path, lastLines(ended)); err != nil {
				log.Println(err)
			}
		}
	}
}

// attemptOfKwok returns which instance of its container this is, if kwok has started it. The stages of kwok make the
// ID of the Pod's uid, the container's name and the number of the instance (stages.yaml).
func attemptOfKwok(pod *corev1.Pod, container, id string) (int32, bool) {
	status := containerStatus(pod, container)
	if status == nil {
		return 0, false
	}
	for attempt := status.RestartCount; attempt >= 0; attempt-- {
		sum := sha256.Sum256(fmt.Appendf(nil, "%s/%s/%d", pod.UID, container, attempt))
		if fmt.Sprintf("containerd://%x", sum) == id {
			return attempt, true
		}
	}
	return 0, false
}

// inventedLog returns all lines of an instance up to its present state.
func inventedLog(pod *corev1.Pod, container, id string) []byte {
	status := containerStatus(pod, container)
	begun := pod.CreationTimestamp.Time
	state := status.State
	for _, ended := range []*corev1.ContainerStateTerminated{state.Terminated, status.LastTerminationState.Terminated} {
		if ended != nil && ended.ContainerID == id {
			return append(firstLines(status, ended.StartedAt.Time), lastLines(ended)...)
		}
	}
	if state.Running != nil {
		begun = state.Running.StartedAt.Time
	}
	return firstLines(status, begun)
}

func firstLines(status *corev1.ContainerStatus, begun time.Time) []byte {
	var lines bytes.Buffer
	writeLine(&lines, begun.Add(time.Millisecond), "stdout", "starting "+status.Image)
	if status.State.Running != nil && !status.Ready {
		writeLine(&lines, begun.Add(2*time.Millisecond), "stderr", "GET /healthz 503")
	}
	return lines.Bytes()
}

// lastLines returns what an instance prints before it ends. One that is killed has no time for that.
func lastLines(ended *corev1.ContainerStateTerminated) []byte {
	var lines bytes.Buffer
	at := ended.FinishedAt.Add(3 * time.Millisecond)
	switch ended.ExitCode {
	case 0:
		writeLine(&lines, at, "stdout", "done")
	case 137:
	default:
		writeLine(&lines, at, "stderr", "panic: dial tcp db:5432: connect: connection refused")
		writeLine(&lines, at.Add(time.Millisecond), "stderr", fmt.Sprintf("exit status %d", ended.ExitCode))
	}
	return lines.Bytes()
}

// writeLine writes one whole line in the CRI format.
func writeLine(lines *bytes.Buffer, at time.Time, stream, text string) {
	fmt.Fprintf(lines, "%s %s F %s\n", at.UTC().Format(timeFormat), stream, text)
}
