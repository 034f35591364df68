// SPDX-License-Identifier: Apache-2.0

package main

import (
	"encoding/json"
	"fmt"
	"sort"
	"strconv"
	"sync"
	"time"

	v1 "k8s.io/api/core/v1"
	schedulingv1beta1 "k8s.io/api/scheduling/v1beta1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/util/strategicpatch"
	"k8s.io/client-go/kubernetes/fake"
	clienttesting "k8s.io/client-go/testing"
)

// change is what a watch would tell.
type change struct {
	before, after runtime.Object
}

// store is the API server of a world: what the scheduler writes is carried out at once and told of when the player takes it.
// Bindings come from goroutines in any order; they are told of by name.
type store struct {
	mu      sync.Mutex
	objects map[string]runtime.Object // "Pod/ns/name"
	pending []change
	touched map[string]bool // since the last report
	bound   map[string]bool // by uid
	faults  []string
	revision,
	evictions int
	evicted map[string]int // key -> which eviction of the step
}

func newStore() *store {
	return &store{
		objects: map[string]runtime.Object{}, touched: map[string]bool{}, bound: map[string]bool{}, evicted: map[string]int{},
	}
}

func keyOf(kind string, obj metav1.Object) string {
	return kind + "/" + obj.GetNamespace() + "/" + obj.GetName()
}

func (s *store) client() *fake.Clientset {
	client := fake.NewSimpleClientset()
	client.PrependReactor("*", "*", func(action clienttesting.Action) (bool, runtime.Object, error) {
		s.mu.Lock()
		defer s.mu.Unlock()
		made, err := s.react(action)
		return true, made, err
	})
	return client
}

func (s *store) react(action clienttesting.Action) (runtime.Object, error) {
	what := action.GetVerb() + " " + action.GetResource().Resource + "/" + action.GetSubresource()
	switch what {
	case "create pods/binding":
		binding := action.(clienttesting.CreateAction).GetObject().(*v1.Binding)
		return binding, s.bind(action.GetNamespace(), binding)
	case "patch pods/status":
		patch := action.(clienttesting.PatchAction)
		return s.patch("Pod/"+patch.GetNamespace()+"/"+patch.GetName(), patch.GetPatch(), &v1.Pod{})
	case "patch podgroups/status":
		patch := action.(clienttesting.PatchAction)
		return s.patch("PodGroup/"+patch.GetNamespace()+"/"+patch.GetName(), patch.GetPatch(), &schedulingv1beta1.PodGroup{})
	case "delete pods/":
		gone := action.(clienttesting.DeleteAction)
		return nil, s.evict("Pod/" + gone.GetNamespace() + "/" + gone.GetName())
	}
	s.faults = append(s.faults, "unexpected request: "+what)
	return nil, fmt.Errorf("not served: %s", what)
}

func (s *store) bind(namespace string, binding *v1.Binding) error {
	key := "Pod/" + namespace + "/" + binding.Name
	found, ok := s.objects[key].(*v1.Pod)
	if !ok {
		return apierrors.NewNotFound(v1.Resource("pods"), binding.Name)
	}
	pod := found.DeepCopy()
	pod.Spec.NodeName = binding.Target.Name
	pod.Status.NominatedNodeName = ""
	pod.Status.Conditions = []v1.PodCondition{{Type: v1.PodScheduled, Status: v1.ConditionTrue}}
	pod.Status.StartTime = startTime(pod)
	s.put(key, pod)
	s.bound[string(pod.UID)] = true
	return nil
}

// startTime is what a kubelet would report, here the world's own number: ties are for the generator to make.
func startTime(pod *v1.Pod) *metav1.Time {
	seconds, err := strconv.ParseInt(pod.Annotations["start"], 10, 64)
	if err != nil {
		return nil
	}
	return &metav1.Time{Time: time.Unix(seconds, 0)}
}

func (s *store) patch(key string, patch []byte, empty runtime.Object) (runtime.Object, error) {
	found, ok := s.objects[key]
	if !ok {
		return nil, apierrors.NewNotFound(schema.GroupResource{}, key)
	}
	before, err := json.Marshal(found)
	if err != nil {
		return nil, err
	}
	after, err := strategicpatch.StrategicMergePatch(before, patch, empty)
	if err != nil {
		return nil, err
	}
	if err := json.Unmarshal(after, empty); err != nil {
		return nil, err
	}
	s.put(key, empty)
	return empty, nil
}

// evict deletes at once a pod that has no grace period, and lets others terminate.
func (s *store) evict(key string) error {
	found, ok := s.objects[key].(*v1.Pod)
	if !ok {
		return apierrors.NewNotFound(v1.Resource("pods"), key)
	}
	s.evictions++
	s.evicted[key] = s.evictions
	if grace := found.Spec.TerminationGracePeriodSeconds; grace == nil || *grace == 0 {
		s.remove(key)
		return nil
	}
	pod := found.DeepCopy()
	now := metav1.Unix(1, 0)
	pod.DeletionTimestamp = &now
	s.put(key, pod)
	return nil
}

func (s *store) put(key string, obj runtime.Object) {
	s.revision++
	accessor, err := meta.Accessor(obj)
	if err != nil {
		s.faults = append(s.faults, err.Error())
		return
	}
	accessor.SetResourceVersion(strconv.Itoa(s.revision))
	s.pending = append(s.pending, change{before: s.objects[key], after: obj})
	s.objects[key] = obj
	s.touched[key] = true
}

func (s *store) remove(key string) {
	s.pending = append(s.pending, change{before: s.objects[key]})
	delete(s.objects, key)
	s.touched[key] = true
}

func (s *store) reap() {
	keys := []string{}
	for key, obj := range s.objects {
		if pod, ok := obj.(*v1.Pod); ok && pod.DeletionTimestamp != nil {
			keys = append(keys, key)
		}
	}
	sort.Strings(keys)
	for _, key := range keys {
		s.remove(key)
	}
}

// take gives what there is to tell, in an order that does not hang on goroutines: objects by name, each one's changes in order.
func (s *store) take() []change {
	s.mu.Lock()
	defer s.mu.Unlock()
	taken := s.pending
	s.pending = nil
	return taken
}

func byName(changes []change) []change {
	name := func(c change) string {
		obj := c.after
		if obj == nil {
			obj = c.before
		}
		accessor, err := meta.Accessor(obj)
		if err != nil {
			return ""
		}
		return accessor.GetNamespace() + "/" + accessor.GetName()
	}
	sort.SliceStable(changes, func(i, j int) bool { return name(changes[i]) < name(changes[j]) })
	return changes
}

func (s *store) isBound(uid string) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.bound[uid]
}
