// SPDX-License-Identifier: Apache-2.0

package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"sort"

	v1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/runtime"
	utilfeature "k8s.io/apiserver/pkg/util/feature"
	"k8s.io/client-go/kubernetes/scheme"
	"k8s.io/component-helpers/resource"
	"k8s.io/kubernetes/pkg/features"
	"sigs.k8s.io/yaml"
)

// cluster is a decoded dump. Objects are as they stand in the file: no defaults are applied.
type cluster struct {
	nodes []*v1.Node       // in the order of the dump
	pods  []*v1.Pod        // in the order of the dump
	rest  []runtime.Object // what the plugins read through listers
}

func readFile(path string) ([]byte, error) {
	if path == "-" {
		return io.ReadAll(os.Stdin)
	}
	return os.ReadFile(path)
}

func loadCluster(paths []string) (*cluster, error) {
	loaded := &cluster{}
	for _, path := range paths {
		data, err := readFile(path)
		if err != nil {
			return nil, err
		}
		if err := loaded.add(data); err != nil {
			return nil, fmt.Errorf("%s: %w", path, err)
		}
	}
	return loaded, nil
}

func (c *cluster) add(data []byte) error {
	data, err := yaml.YAMLToJSON(data) // JSON passes through
	if err != nil {
		return err
	}
	var list struct {
		Items []json.RawMessage `json:"items"`
	}
	if err := json.Unmarshal(data, &list); err != nil {
		return err
	}
	decoder := scheme.Codecs.UniversalDeserializer()
	for i, item := range list.Items {
		object, _, err := decoder.Decode(item, nil, nil)
		switch {
		case err != nil && runtime.IsNotRegisteredError(err):
			continue
		case err != nil:
			return fmt.Errorf("items[%d]: %w", i, err)
		}
		switch typed := object.(type) {
		case *v1.Node:
			c.nodes = append(c.nodes, typed)
		case *v1.Pod:
			if typed.UID == "" {
				return fmt.Errorf("items[%d]: %w", i, errors.New("the pod has no metadata.uid, and upstream's cache is keyed by it"))
			}
			c.pods = append(c.pods, typed)
		default:
			c.rest = append(c.rest, typed)
		}
	}
	return nil
}

func terminal(pod *v1.Pod) bool {
	return pod.Status.Phase == v1.PodSucceeded || pod.Status.Phase == v1.PodFailed
}

// bound returns the pods that the scheduler's pod watch would show as assigned to a node.
func (c *cluster) bound() []*v1.Pod {
	var pods []*v1.Pod
	for _, pod := range c.pods {
		if pod.Spec.NodeName != "" && !terminal(pod) {
			pods = append(pods, pod)
		}
	}
	return pods
}

// queued says that the scheduler's pod watch would put the pod into the queue, if it is for one of its profiles: it has no
// node, or it waits on its node for room for its resize.
func queued(pod *v1.Pod) bool {
	if terminal(pod) {
		return false
	}
	resizes := utilfeature.DefaultFeatureGate.Enabled(features.InPlacePodVerticalScalingSchedulerPreemption)
	return pod.Spec.NodeName == "" || resizes && resource.IsPodResizeDeferred(pod)
}

// pending returns the pods to explain, sorted by namespace and name.
func (c *cluster) pending(profiles map[string]bool) []*v1.Pod {
	var pods []*v1.Pod
	for _, pod := range c.pods {
		if queued(pod) && pod.DeletionTimestamp == nil && profiles[profileOf(pod)] {
			pods = append(pods, pod)
		}
	}
	sort.Slice(pods, func(i, j int) bool {
		if pods[i].Namespace != pods[j].Namespace {
			return pods[i].Namespace < pods[j].Namespace
		}
		return pods[i].Name < pods[j].Name
	})
	return pods
}

func profileOf(pod *v1.Pod) string {
	if pod.Spec.SchedulerName == "" {
		return v1.DefaultSchedulerName
	}
	return pod.Spec.SchedulerName
}
