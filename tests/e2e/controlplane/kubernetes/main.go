// Command kubernetes is the control plane of the end-to-end tests in one binary: etcd,
// kube-apiserver, kube-controller-manager and kube-scheduler, chosen by the first argument, as
// their own main packages would run them. Two more make what the servers are started with:
// hold-ports and service-account-key, so that starting needs no openssl and no python.
package main

import (
	"fmt"
	"os"
	"slices"

	"github.com/spf13/cobra"
	"go.etcd.io/etcd/server/v3/etcdmain"
	"k8s.io/component-base/cli"
	_ "k8s.io/component-base/logs/json/register"
	_ "k8s.io/component-base/metrics/prometheus/clientgo"
	_ "k8s.io/component-base/metrics/prometheus/version"
	apiserver "k8s.io/kubernetes/cmd/kube-apiserver/app"
	controllermanager "k8s.io/kubernetes/cmd/kube-controller-manager/app"
	scheduler "k8s.io/kubernetes/cmd/kube-scheduler/app"
)

// components maps the first argument to what runs with the arguments after it and gives the exit
// code. os.Args then begins with the component's name.
var components = map[string]func() int{
	"etcd": func() int {
		etcdmain.Main(os.Args)
		return 0
	},
	"kube-apiserver":          cobraMain(apiserver.NewAPIServerCommand),
	"kube-controller-manager": cobraMain(controllermanager.NewControllerManagerCommand),
	"kube-scheduler":          cobraMain(func() *cobra.Command { return scheduler.NewSchedulerCommand() }),
	"hold-ports":              fixtureMain(holdPorts),
	"service-account-key":     fixtureMain(serviceAccountKey),
}

func main() {
	if len(os.Args) < 2 {
		usage()
	}
	run, known := components[os.Args[1]]
	if !known {
		usage()
	}
	os.Args = os.Args[1:]
	os.Exit(run())
}

func cobraMain(command func() *cobra.Command) func() int {
	return func() int { return cli.Run(command()) }
}

func fixtureMain(fixture func(args []string) error) func() int {
	return func() int {
		if err := fixture(os.Args[1:]); err != nil {
			fmt.Fprintln(os.Stderr, err)
			return 1
		}
		return 0
	}
}

func usage() {
	names := make([]string, 0, len(components))
	for name := range components {
		names = append(names, name)
	}
	slices.Sort(names)
	fmt.Fprintf(os.Stderr, "usage: kubernetes COMPONENT [FLAG ...], COMPONENT one of %v\n", names)
	os.Exit(2)
}
