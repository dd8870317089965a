package main

import (
	"context"
	"errors"
	"sync"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/fields"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/tools/cache"
)

// pods holds the Pods of all nodes, as the API server last sent them. While the API server is away, they stay as
// they are: a kubelet goes on with what it knows.
type pods struct {
	mutex sync.RWMutex
	byKey map[string]*corev1.Pod
	// before runs before a version replaces the one before, under the lock.
	before func(old, new *corev1.Pod)
}

// watchPods starts to follow all Pods, and returns when it has read them once.
func watchPods(ctx context.Context, client *kubernetes.Clientset, before func(old, new *corev1.Pod)) (*pods, error) {
	held := &pods{byKey: map[string]*corev1.Pod{}, before: before}
	everywhere := cache.NewListWatchFromClient(client.CoreV1().RESTClient(), "pods", "", fields.Everything())
	_, informer := cache.NewInformerWithOptions(cache.InformerOptions{
		ListerWatcher: everywhere,
		ObjectType:    &corev1.Pod{},
		Handler: cache.ResourceEventHandlerFuncs{
			AddFunc:    func(object any) { held.put(object.(*corev1.Pod)) },
			UpdateFunc: func(_, object any) { held.put(object.(*corev1.Pod)) },
			DeleteFunc: held.remove,
		},
	})
	go informer.RunWithContext(ctx)
	if !cache.WaitForCacheSync(ctx.Done(), informer.HasSynced) {
		return nil, errors.New("the Pods cannot be read")
	}
	return held, nil
}

func (p *pods) put(pod *corev1.Pod) {
	p.mutex.Lock()
	defer p.mutex.Unlock()
	key := podKey(pod.Namespace, pod.Name)
	if old := p.byKey[key]; old != nil && old.UID == pod.UID {
		p.before(old, pod)
	}
	p.byKey[key] = pod
}

func (p *pods) remove(object any) {
	// After a lost watch, the informer only knows the last version of a deleted object.
	if last, ok := object.(cache.DeletedFinalStateUnknown); ok {
		object = last.Obj
	}
	pod, ok := object.(*corev1.Pod)
	if !ok {
		return
	}
	p.mutex.Lock()
	defer p.mutex.Unlock()
	key := podKey(pod.Namespace, pod.Name)
	if held := p.byKey[key]; held != nil && held.UID == pod.UID {
		delete(p.byKey, key)
	}
}

// get returns the Pod of this name, or nil.
func (p *pods) get(namespace, name string) *corev1.Pod {
	p.mutex.RLock()
	defer p.mutex.RUnlock()
	return p.byKey[podKey(namespace, name)]
}

// whileUnchanged runs work on the Pod of this name, with no version replacing it meanwhile.
func (p *pods) whileUnchanged(namespace, name string, work func(pod *corev1.Pod)) {
	p.mutex.Lock()
	defer p.mutex.Unlock()
	work(p.byKey[podKey(namespace, name)])
}

func podKey(namespace, name string) string { return namespace + "/" + name }
