// Command informer follows the ConfigMaps and Deployments of a namespace as every controller does: with client-go's shared
// informers. It prints a line for each call of an event handler, and for each line of its standard input the objects in its
// cache, up to the line `end`.
//
// A line is WHAT RESOURCE NAME UID RESOURCE_VERSION. The cluster is that of $KUBECONFIG.
package main

import (
	"bufio"
	"context"
	"fmt"
	"log"
	"os"
	"sync"

	"k8s.io/client-go/informers"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/tools/cache"
	"k8s.io/client-go/tools/clientcmd"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

var output sync.Mutex

func show(what, resource string, object any) {
	if gone, ok := object.(cache.DeletedFinalStateUnknown); ok {
		object = gone.Obj
	}
	meta, ok := object.(metav1.Object)
	if !ok {
		log.Fatalf("no object: %T", object)
	}
	output.Lock()
	defer output.Unlock()
	fmt.Println(what, resource, meta.GetName(), meta.GetUID(), meta.GetResourceVersion())
}

func main() {
	config, err := clientcmd.BuildConfigFromFlags("", os.Getenv("KUBECONFIG"))
	if err != nil {
		log.Fatal(err)
	}
	client, err := kubernetes.NewForConfig(config)
	if err != nil {
		log.Fatal(err)
	}
	factory := informers.NewSharedInformerFactoryWithOptions(client, 0, informers.WithNamespace(os.Args[1]))
	followed := map[string]cache.SharedIndexInformer{
		"configmaps":  factory.Core().V1().ConfigMaps().Informer(),
		"deployments": factory.Apps().V1().Deployments().Informer(),
	}
	for resource, informer := range followed {
		_, err := informer.AddEventHandler(cache.ResourceEventHandlerFuncs{
			AddFunc:    func(object any) { show("ADD", resource, object) },
			UpdateFunc: func(_, object any) { show("UPDATE", resource, object) },
			DeleteFunc: func(object any) { show("DELETE", resource, object) },
		})
		if err != nil {
			log.Fatal(err)
		}
	}
	ctx := context.Background()
	factory.Start(ctx.Done())
	factory.WaitForCacheSync(ctx.Done())
	fmt.Println("synced")
	for questions := bufio.NewScanner(os.Stdin); questions.Scan(); {
		for resource, informer := range followed {
			for _, object := range informer.GetStore().List() {
				show("HAS", resource, object)
			}
		}
		fmt.Println("end")
	}
}
