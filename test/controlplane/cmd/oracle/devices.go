// SPDX-License-Identifier: Apache-2.0

package main

import (
	"reflect"
	"slices"
	"sync"

	v1 "k8s.io/api/core/v1"
	resourceapi "k8s.io/api/resource/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/sets"
	"k8s.io/client-go/kubernetes/fake"
	clienttesting "k8s.io/client-go/testing"
	fwk "k8s.io/kube-scheduler/framework"
	"k8s.io/kubernetes/pkg/scheduler/framework"
	"k8s.io/kubernetes/pkg/scheduler/framework/plugins/dynamicresources"
)

// claimRecord is what a node would give one claim of a pod; docs/spec/explain.md names the fields.
type claimRecord struct {
	Claim      string                                `json:"claim"`
	Allocation resourceapi.AllocationResult          `json:"allocation"`
	Requests   []resourceapi.DeviceRequest           `json:"requests,omitempty"`
	Mappings   []v1.ContainerExtendedResourceRequest `json:"mappings,omitempty"`
}

// private returns a field that upstream does not export. The holder must be addressable.
func private(holder reflect.Value, field string) reflect.Value {
	value := holder.FieldByName(field)
	return reflect.NewAt(value.Type(), value.Addr().UnsafePointer()).Elem()
}

func privateAs[T any](holder reflect.Value, field string) T {
	return private(holder, field).Interface().(T)
}

// filterResults is what upstream's DynamicResources keeps for Reserve: Filter's allocations by node. It is read where upstream
// keeps it, because Reserve, the only reader, hands on neither the special claim nor its mappings.
type filterResults struct {
	claims []*resourceapi.ResourceClaim // those of the pod, then the special one if there is one
	owned  int                          // how many are the pod's
	nodes  reflect.Value                // a map by node
}

func resultsOf(state fwk.CycleState) *filterResults {
	data, err := state.Read(dynamicresources.Name)
	if err != nil {
		return nil
	}
	holder := reflect.ValueOf(data).Elem()
	store := private(holder, "claims")
	return &filterResults{claims: privateAs[[]*resourceapi.ResourceClaim](store, "claims"),
		owned: privateAs[int](store, "numUserOwned"), nodes: private(holder, "nodeAllocations")}
}

// on returns the allocations of a node, in the order of the claims.
func (f *filterResults) on(node string) []claimRecord {
	if f == nil {
		return nil
	}
	found := f.nodes.MapIndex(reflect.ValueOf(node))
	if !found.IsValid() {
		return nil
	}
	kept := reflect.New(found.Type()).Elem()
	kept.Set(found)
	results := privateAs[[]resourceapi.AllocationResult](kept, "allocationResults")
	var records []claimRecord
	for i, claim := range f.claims {
		if claim.Status.Allocation != nil || len(records) == len(results) {
			continue
		}
		one := claimRecord{Claim: claim.Name, Allocation: *withoutShares(&results[len(records)])}
		if variant := privateAs[*resourceapi.ResourceClaim](kept, "extendedResourceClaim"); i >= f.owned && variant != nil {
			one.Requests = variant.Spec.Devices.Requests
			one.Mappings = privateAs[[]v1.ContainerExtendedResourceRequest](kept, "containerResourceRequestMappings")
		}
		records = append(records, one)
	}
	return records
}

// withoutShares replaces the share ids, which are random.
func withoutShares(result *resourceapi.AllocationResult) *resourceapi.AllocationResult {
	result = result.DeepCopy()
	for i := range result.Devices.Results {
		if one := &result.Devices.Results[i]; one.ShareID != nil {
			share := types.UID("*")
			one.ShareID = &share
		}
	}
	return result
}

// claimWrites notes down what is asked of the API server about claims, and answers as if it were done.
type claimWrites struct {
	mutex sync.Mutex
	done  []string
}

func newClaimWrites(client *fake.Clientset) *claimWrites {
	w := &claimWrites{}
	client.PrependReactor("*", "resourceclaims", func(action clienttesting.Action) (bool, runtime.Object, error) {
		switch typed := action.(type) {
		case clienttesting.UpdateAction: // creations too, but explaining a pod creates nothing
			claim := typed.GetObject().(*resourceapi.ResourceClaim)
			if action.GetSubresource() == "status" && claim.Status.Allocation == nil {
				w.note("deallocate " + claim.Namespace + "/" + claim.Name)
			}
			return true, claim, nil
		case clienttesting.DeleteAction:
			w.note("delete " + typed.GetNamespace() + "/" + typed.GetName())
			return true, nil, nil
		}
		return false, nil, nil
	})
	return w
}

func (w *claimWrites) note(text string) {
	w.mutex.Lock()
	defer w.mutex.Unlock()
	w.done = append(w.done, text)
}

func (w *claimWrites) take() []string {
	w.mutex.Lock()
	defer w.mutex.Unlock()
	done := w.done
	w.done = nil
	return done
}

// frees returns what PostFilter of DynamicResources does about claims, sooner or later: of several it takes one in the order
// of a hash map.
func (e *evaluator) frees(profile framework.Framework, state fwk.CycleState, pod *v1.Pod, statuses fwk.NodeToStatusReader) []string {
	found := sets.New[string]()
	for _, plugin := range profile.EnqueueExtensions() { // every plugin is among them
		devices, ok := plugin.(*dynamicresources.DynamicResources)
		for i := 0; ok && i < choices; i++ {
			e.writes.take()
			devices.PostFilter(e.ctx, state, pod, statuses)
			found.Insert(e.writes.take()...)
		}
	}
	return slices.Sorted(slices.Values(found.UnsortedList()))
}
