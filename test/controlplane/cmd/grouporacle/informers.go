// SPDX-License-Identifier: Apache-2.0

package main

import (
	"reflect"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/client-go/informers"
	"k8s.io/client-go/informers/apps"
	"k8s.io/client-go/informers/core"
	"k8s.io/client-go/informers/internalinterfaces"
	"k8s.io/client-go/informers/policy"
	"k8s.io/client-go/informers/resource"
	"k8s.io/client-go/informers/scheduling"
	"k8s.io/client-go/informers/storage"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/tools/cache"
)

// directInformers hands events to upstream's own handlers on the thread that tells of them, so that a world has one order.
type directInformers struct {
	informers.SharedInformerFactory // what nobody asks for
	byType                          map[reflect.Type]*directInformer
}

func newDirectInformers(client kubernetes.Interface) *directInformers {
	return &directInformers{
		SharedInformerFactory: informers.NewSharedInformerFactory(client, 0),
		byType:                map[reflect.Type]*directInformer{},
	}
}

func (f *directInformers) InformerFor(obj runtime.Object, _ internalinterfaces.NewInformerFunc) cache.SharedIndexInformer {
	return f.of(obj)
}

func (f *directInformers) InformerName() *cache.InformerName { return nil }

func (f *directInformers) of(obj runtime.Object) *directInformer {
	kind := reflect.TypeOf(obj)
	if f.byType[kind] == nil {
		index := cache.Indexers{cache.NamespaceIndex: cache.MetaNamespaceIndexFunc}
		f.byType[kind] = &directInformer{indexer: cache.NewIndexer(cache.MetaNamespaceKeyFunc, index)}
	}
	return f.byType[kind]
}

func (f *directInformers) Apps() apps.Interface     { return apps.New(f, metav1.NamespaceAll, nil) }
func (f *directInformers) Core() core.Interface     { return core.New(f, metav1.NamespaceAll, nil) }
func (f *directInformers) Policy() policy.Interface { return policy.New(f, metav1.NamespaceAll, nil) }
func (f *directInformers) Resource() resource.Interface {
	return resource.New(f, metav1.NamespaceAll, nil)
}
func (f *directInformers) Scheduling() scheduling.Interface {
	return scheduling.New(f, metav1.NamespaceAll, nil)
}
func (f *directInformers) Storage() storage.Interface {
	return storage.New(f, metav1.NamespaceAll, nil)
}

type directInformer struct {
	cache.SharedIndexInformer // nil: what nobody calls
	indexer                   cache.Indexer
	handlers                  []cache.ResourceEventHandler
}

type registration struct {
	cache.ResourceEventHandlerRegistration
}

func (registration) HasSynced() bool                     { return true }
func (registration) HasSyncedChecker() cache.DoneChecker { return synced{} }

type synced struct{}

var closed = func() chan struct{} {
	made := make(chan struct{})
	close(made)
	return made
}()

func (synced) Name() string          { return "direct" }
func (synced) Done() <-chan struct{} { return closed }

func (i *directInformer) AddEventHandler(handler cache.ResourceEventHandler) (cache.ResourceEventHandlerRegistration, error) {
	i.handlers = append(i.handlers, handler)
	return registration{}, nil
}

func (i *directInformer) AddEventHandlerWithResyncPeriod(handler cache.ResourceEventHandler, _ time.Duration) (cache.ResourceEventHandlerRegistration, error) {
	return i.AddEventHandler(handler)
}

func (i *directInformer) AddEventHandlerWithOptions(handler cache.ResourceEventHandler, _ cache.HandlerOptions) (cache.ResourceEventHandlerRegistration, error) {
	return i.AddEventHandler(handler)
}

func (i *directInformer) AddIndexers(indexers cache.Indexers) error {
	for name := range indexers {
		if _, there := i.indexer.GetIndexers()[name]; there {
			delete(indexers, name)
		}
	}
	return i.indexer.AddIndexers(indexers)
}

func (i *directInformer) GetIndexer() cache.Indexer              { return i.indexer }
func (i *directInformer) GetStore() cache.Store                  { return i.indexer }
func (i *directInformer) HasSynced() bool                        { return true }
func (i *directInformer) HasSyncedChecker() cache.DoneChecker    { return synced{} }
func (i *directInformer) IsStopped() bool                        { return false }
func (i *directInformer) LastSyncResourceVersion() string        { return "" }
func (i *directInformer) SetTransform(cache.TransformFunc) error { return nil }

// tell stores the object's new state, nil when it is gone, and runs the handlers.
func (i *directInformer) tell(before, after runtime.Object) error {
	var err error
	switch {
	case after == nil:
		err = i.indexer.Delete(before)
	case before == nil:
		err = i.indexer.Add(after)
	default:
		err = i.indexer.Update(after)
	}
	for _, handler := range i.handlers {
		switch {
		case after == nil:
			handler.OnDelete(before)
		case before == nil:
			handler.OnAdd(after, false)
		default:
			handler.OnUpdate(before, after)
		}
	}
	return err
}
