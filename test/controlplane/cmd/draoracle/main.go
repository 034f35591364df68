// SPDX-License-Identifier: Apache-2.0

// Command draoracle answers which devices upstream's structured allocator gives to claims on one node: the reference side of
// the comparison in test/plugins/dynamic_resources (docs/spec/plugins-dra.md section 6). It holds no rule of its own: features
// are those that kube-scheduler has with -feature-gates, pools, selectors and devices are upstream's business.
//
// It reads requests as JSON Lines and answers each with one line, in order:
//
//	{"slices": [ResourceSlice, ...], "classes": [DeviceClass, ...], "claims": [ResourceClaim, ...], "node": Node,
//	 "dedicated": [[DRIVER, POOL, DEVICE], ...], "shared": [[DRIVER, POOL, DEVICE, SHARE], ...],
//	 "consumed": [{"device": [DRIVER, POOL, DEVICE], "capacity": {NAME: QUANTITY}}, ...]}
//
//	{"allocations": [AllocationResult, ...]}   one a claim
//	{}                                         no solution
//	{"error": TEXT}                            fatal
//	{"nodeError": TEXT}                        this node only
//	{"timeout": true}                          the search took longer than -timeout
//	{"panic": TEXT}                            upstream does not expect such a request
//
// Share ids are random; they are answered as "share".
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"time"

	v1 "k8s.io/api/core/v1"
	resourceapi "k8s.io/api/resource/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/resource"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/sets"
	"k8s.io/apimachinery/pkg/util/version"
	utilfeature "k8s.io/apiserver/pkg/util/feature"
	"k8s.io/dynamic-resource-allocation/cel"
	"k8s.io/dynamic-resource-allocation/structured"
	"k8s.io/klog/v2"
	"k8s.io/kubernetes/pkg/scheduler/framework/plugins/dynamicresources"
	"k8s.io/kubernetes/pkg/scheduler/framework/plugins/feature"

	"kubesched.dev/test/controlplane/internal/jsonlines"
)

type request struct {
	Slices    []*resourceapi.ResourceSlice `json:"slices"`
	Classes   []*resourceapi.DeviceClass   `json:"classes"`
	Claims    []*resourceapi.ResourceClaim `json:"claims"`
	Node      *v1.Node                     `json:"node"`
	Dedicated [][3]string                  `json:"dedicated"`
	Shared    [][4]string                  `json:"shared"`
	Consumed  []consumed                   `json:"consumed"`
}

type consumed struct {
	Device   [3]string                                       `json:"device"`
	Capacity map[resourceapi.QualifiedName]resource.Quantity `json:"capacity"`
}

type answer struct {
	Allocations []resourceapi.AllocationResult `json:"allocations,omitempty"`
	Error       string                         `json:"error,omitempty"`
	NodeError   string                         `json:"nodeError,omitempty"`
	Timeout     bool                           `json:"timeout,omitempty"`
	Panic       string                         `json:"panic,omitempty"`
}

type classes []*resourceapi.DeviceClass

func (c classes) List() ([]*resourceapi.DeviceClass, error) { return c, nil }

func (c classes) Get(name string) (*resourceapi.DeviceClass, error) {
	for _, class := range c {
		if class.Name == name {
			return class, nil
		}
	}
	return nil, apierrors.NewNotFound(resourceapi.Resource("deviceclass"), name)
}

type reference struct {
	features structured.Features
	cache    *cel.Cache
	timeout  time.Duration
}

func newReference(timeout time.Duration) *reference {
	gates := feature.NewSchedulerFeaturesFromGates(utilfeature.DefaultFeatureGate)
	return &reference{
		features: dynamicresources.AllocatorFeatures(gates),
		cache: cel.NewCache(1000, cel.Features{
			EnableConsumableCapacity: gates.EnableDRAConsumableCapacity,
			EnableListTypeAttributes: gates.EnableDRAListTypeAttributes,
		}),
		timeout: timeout,
	}
}

func device(id [3]string) structured.DeviceID { return structured.MakeDeviceID(id[0], id[1], id[2]) }

func stateOf(asked *request) structured.AllocatedState {
	state := structured.AllocatedState{
		AllocatedDevices:         sets.New[structured.DeviceID](),
		AllocatedSharedDeviceIDs: sets.New[structured.SharedDeviceID](),
		AggregatedCapacity:       structured.NewConsumedCapacityCollection(),
	}
	for _, id := range asked.Dedicated {
		state.AllocatedDevices.Insert(device(id))
	}
	for _, id := range asked.Shared {
		share := types.UID(id[3])
		state.AllocatedSharedDeviceIDs.Insert(structured.MakeSharedDeviceID(structured.MakeDeviceID(id[0], id[1], id[2]), &share))
	}
	for _, c := range asked.Consumed {
		state.AggregatedCapacity.Insert(structured.NewDeviceConsumedCapacity(device(c.Device), c.Capacity))
	}
	return state
}

func (r *reference) answer(asked *request) (made answer) {
	defer func() {
		if cause := recover(); cause != nil {
			made = answer{Panic: fmt.Sprint(cause)}
		}
	}()
	ctx, cancel := context.WithTimeout(context.Background(), r.timeout)
	defer cancel()
	allocator, err := structured.NewAllocator(ctx, r.features, stateOf(asked), classes(asked.Classes), asked.Slices, r.cache)
	if err != nil {
		return answer{Error: "new allocator: " + err.Error()}
	}
	allocations, err := allocator.Allocate(ctx, asked.Node, asked.Claims)
	switch {
	case ctx.Err() != nil:
		return answer{Timeout: true}
	case errors.Is(err, structured.ErrFailedAllocationOnNode):
		return answer{NodeError: err.Error()}
	case err != nil:
		return answer{Error: err.Error()}
	}
	for i := range allocations {
		for j := range allocations[i].Devices.Results {
			if result := &allocations[i].Devices.Results[j]; result.ShareID != nil {
				share := types.UID("share")
				result.ShareID = &share
			}
		}
	}
	return answer{Allocations: allocations}
}

func setGates(set, minimum string) error {
	gates := utilfeature.DefaultMutableFeatureGate
	if minimum != "" {
		parsed, err := version.Parse(minimum)
		if err != nil {
			return err
		}
		if err := gates.SetEmulationVersionAndMinCompatibilityVersion(gates.EmulationVersion(), parsed); err != nil {
			return err
		}
	}
	return gates.Set(set)
}

func run() error {
	timeout := flag.Duration("timeout", time.Second, "the longest search")
	set := flag.String("feature-gates", "", "as kube-scheduler's")
	minimum := flag.String("min-compatibility-version", "", "as kube-scheduler's")
	flag.Parse()
	klog.SetOutput(io.Discard)
	if err := setGates(*set, *minimum); err != nil {
		return err
	}
	return jsonlines.Answer(newReference(*timeout).answer)
}

func main() { jsonlines.Main("draoracle", run) }
