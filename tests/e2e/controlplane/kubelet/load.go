package main

import (
	"bytes"
	"context"
	"errors"
	"flag"
	"fmt"
	"os"
	"strings"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// tick is how often a load is written. Programs write in bursts, too.
const tick = 10 * time.Millisecond

// load writes lines `L0 pod container xxx`, `L1 …` to the log of each running container of the selected Pods.
func load(arguments []string) error {
	flags := flag.NewFlagSet("load", flag.ExitOnError)
	kubeconfig := flags.String("kubeconfig", "", "the API server that has the Pods")
	directory := flags.String("logs", "", "the directory with the logs")
	namespace := flags.String("n", "default", "the namespace of the Pods")
	selector := flags.String("l", "", "the labels of the Pods")
	rate := flags.Int("rate", 0, "how many lines a second and container")
	duration := flags.Duration("for", 30*time.Second, "for how long")
	lines := flags.Int("lines", 0, "write this many lines a container at once instead")
	width := flags.Int("width", 100, "the length of a line in bytes")
	first := flags.Int("first", 0, "the number of the first line")
	flags.Parse(arguments)
	client, err := newClient(*kubeconfig)
	if err != nil {
		return err
	}
	found, err := client.CoreV1().Pods(*namespace).List(context.Background(), metav1.ListOptions{LabelSelector: *selector})
	if err != nil {
		return err
	}
	loaded, err := openLogs(logFiles{*directory}, found.Items, *first)
	if err != nil {
		return err
	}
	begun := time.Now()
	due := *lines
	for *lines == 0 && time.Since(begun) < *duration {
		due = int(time.Since(begun).Seconds() * float64(*rate))
		if err := writeUpTo(loaded, *first+due, *width); err != nil {
			return err
		}
		time.Sleep(tick)
	}
	if *lines == 0 {
		due = int(duration.Seconds() * float64(*rate))
	}
	err = writeUpTo(loaded, *first+due, *width)
	fmt.Printf("%d containers, %d lines each in %v\n", len(loaded), due, time.Since(begun).Round(time.Millisecond))
	return err
}

// loadedLog is the log of one container, and the number of its next line.
type loadedLog struct {
	file *os.File
	name string
	next int
}

// openLogs opens the log of each running container of these Pods.
func openLogs(files logFiles, pods []corev1.Pod, first int) ([]*loadedLog, error) {
	var opened []*loadedLog
	for i := range pods {
		for _, status := range containerStatuses(&pods[i]) {
			if status.State.Running == nil {
				continue
			}
			path, err := files.create(&pods[i], status.Name, status.ContainerID, status.RestartCount)
			if err != nil {
				return nil, err
			}
			file, err := os.OpenFile(path, os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o644)
			if err != nil {
				return nil, err
			}
			opened = append(opened, &loadedLog{file, pods[i].Name + " " + status.Name, first})
		}
	}
	if opened == nil {
		return nil, errors.New("no running container")
	}
	return opened, nil
}

// writeUpTo writes the lines before this number that are not written yet.
func writeUpTo(logs []*loadedLog, end, width int) error {
	padding := strings.Repeat("x", width)
	var text bytes.Buffer
	for _, log := range logs {
		text.Reset()
		for ; log.next < end; log.next++ {
			line := fmt.Sprintf("L%d %s ", log.next, log.name)
			writeLine(&text, time.Now(), "stdout", line+padding[:max(0, width-len(line))])
		}
		if _, err := log.file.Write(text.Bytes()); err != nil {
			return err
		}
	}
	return nil
}
