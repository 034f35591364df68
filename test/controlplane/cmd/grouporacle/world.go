// SPDX-License-Identifier: Apache-2.0

package main

import (
	"encoding/json"
	"fmt"
	"sort"
	"strings"

	v1 "k8s.io/api/core/v1"
	schedulingv1beta1 "k8s.io/api/scheduling/v1beta1"
	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/client-go/kubernetes/scheme"
)

// world is a cluster and what happens in it. Each step is carried out while the scheduler looks away.
type world struct {
	Steps []step `json:"steps"`
}

type step struct {
	Put    []json.RawMessage `json:"put"`    // objects, new or changed
	Delete []string          `json:"delete"` // "Kind/namespace/name"
	Reap   bool              `json:"reap"`   // pods that terminate go
	Wait   int               `json:"wait"`   // seconds; then backoffs that are over end
}

// record is what a step came to: objects that are not as they were reported last.
type record struct {
	Attempts int                 `json:"attempts"`
	Objects  map[string][]string `json:"objects"`
	Evicted  []string            `json:"evicted,omitempty"`
	Error    string              `json:"error,omitempty"`
}

func (s *step) apply(to *store) error {
	to.mu.Lock()
	defer to.mu.Unlock()
	for _, text := range s.Put {
		obj, kind, err := scheme.Codecs.UniversalDeserializer().Decode(text, nil, nil)
		if err != nil {
			return err
		}
		accessor, err := meta.Accessor(obj)
		if err != nil {
			return err
		}
		key := keyOf(kind.Kind, accessor)
		if known, ok := to.objects[key].(*schedulingv1beta1.PodGroup); ok {
			known.Status.DeepCopyInto(&obj.(*schedulingv1beta1.PodGroup).Status)
		}
		to.put(key, obj)
	}
	if s.Reap {
		to.reap()
	}
	for _, key := range s.Delete {
		if to.objects[key] != nil {
			to.remove(key)
		}
	}
	to.touched, to.evicted, to.evictions = map[string]bool{}, map[string]int{}, 0
	return nil
}

func (s *store) report(attempts int) (*record, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if len(s.faults) > 0 {
		return nil, fmt.Errorf("%s", strings.Join(s.faults, "; "))
	}
	made := &record{Attempts: attempts, Objects: map[string][]string{}}
	for key := range s.touched {
		made.Objects[key] = describe(s.objects[key])
	}
	for key := range s.evicted {
		made.Evicted = append(made.Evicted, key)
	}
	sort.Strings(made.Evicted)
	return made, nil
}

func describe(obj runtime.Object) []string {
	lines := []string{}
	line := func(kind, status, reason, message string) {
		lines = append(lines, strings.Join([]string{kind, status, reason, message}, "|"))
	}
	switch object := obj.(type) {
	case nil:
		return []string{"gone"}
	case *v1.Pod:
		lines = append(lines, "node "+object.Spec.NodeName, "nominated "+object.Status.NominatedNodeName)
		if object.DeletionTimestamp != nil {
			lines = append(lines, "terminating")
		}
		for _, c := range object.Status.Conditions {
			line(string(c.Type), string(c.Status), c.Reason, c.Message)
		}
	case *schedulingv1beta1.PodGroup:
		for _, c := range object.Status.Conditions {
			line(c.Type, string(c.Status), c.Reason, c.Message)
		}
	}
	sort.Strings(lines)
	return lines
}
