// Command kubelet is the log endpoint of a kubelet, for nodes without containers.
//
//	kubelet serve   answers the API server's requests for container logs
//	kubelet load    writes numbered lines to the logs of running containers
//
// The API server has the state of each container, in the status of its Pod: kwok or a test writes it there. What
// a container has printed is in files below one directory, with the names and the format of a real node:
//
//	pods/NAMESPACE_POD_UID/CONTAINER/ATTEMPT.log      the lines, in the CRI format
//	containers/POD_NAMESPACE_CONTAINER-ID.log         a link to that file, from the ID of the container
//
// A test rotates, damages or removes these files as it likes. The kubelet's own reader reads them
// (k8s.io/cri-client/pkg/logs). The rules before that are in container.go, and the faults on demand in faults.go.
// If kwok has started the container and there is no file, the kubelet makes one up (invented.go).
package main

import (
	"fmt"
	"os"

	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/tools/clientcmd"
)

func main() {
	commands := map[string]func(arguments []string) error{"serve": serve, "load": load}
	var command func([]string) error
	if len(os.Args) > 1 {
		command = commands[os.Args[1]]
	}
	if command == nil {
		fmt.Fprintln(os.Stderr, "usage: kubelet serve|load [FLAG ...]")
		os.Exit(2)
	}
	if err := command(os.Args[2:]); err != nil {
		fmt.Fprintln(os.Stderr, "kubelet:", err)
		os.Exit(1)
	}
}

// newClient returns a client for the API server of a kubeconfig.
func newClient(kubeconfig string) (*kubernetes.Clientset, error) {
	config, err := clientcmd.BuildConfigFromFlags("", kubeconfig)
	if err != nil {
		return nil, err
	}
	config.ContentType = "application/vnd.kubernetes.protobuf"
	return kubernetes.NewForConfig(config)
}
