// SPDX-License-Identifier: Apache-2.0

package main

import (
	"context"
	"sort"
	"strconv"
	"strings"

	"k8s.io/apimachinery/pkg/runtime"
	utilfeature "k8s.io/apiserver/pkg/util/feature"
	fwk "k8s.io/kube-scheduler/framework"
	"k8s.io/kubernetes/pkg/scheduler/framework/plugins/feature"
	"k8s.io/kubernetes/pkg/scheduler/framework/plugins/topologyaware"
	frameworkruntime "k8s.io/kubernetes/pkg/scheduler/framework/runtime"
)

// Two choices of upstream are random: the order in which placements are tried, and which of equally good ones is taken. Here
// upstream's generator is asked and its answer ordered by nodes, and one more plugin gives each placement another score.
const (
	orderedName = "OrderedTopologyPlacements"
	numberName  = "PlacementNumber"
)

func canonicalRegistry() frameworkruntime.Registry {
	return frameworkruntime.Registry{
		orderedName: func(ctx context.Context, args runtime.Object, handle fwk.Handle) (fwk.Plugin, error) {
			made, err := topologyaware.New(ctx, args, handle, feature.NewSchedulerFeaturesFromGates(utilfeature.DefaultFeatureGate))
			return &ordered{made}, err
		},
		numberName: func(context.Context, runtime.Object, fwk.Handle) (fwk.Plugin, error) { return number{}, nil },
	}
}

type ordered struct{ inner fwk.PlacementGeneratePlugin }

func (*ordered) Name() string { return orderedName }

func (o *ordered) GeneratePlacements(ctx context.Context, state fwk.PodGroupCycleState, group fwk.PodGroupInfo, parent *fwk.Placement) (*fwk.GeneratePlacementsResult, *fwk.Status) {
	made, status := o.inner.GeneratePlacements(ctx, state, group, parent)
	if made != nil {
		at := map[string]int{}
		for i, node := range parent.Nodes {
			at[node.Node().Name] = i
		}
		first := func(i int) int { return at[made.Placements[i].Nodes[0].Node().Name] }
		sort.Slice(made.Placements, func(i, j int) bool { return first(i) < first(j) })
	}
	return made, status
}

// number scores "rack-7" with 7.
type number struct{}

func (number) Name() string { return numberName }

func (number) ScorePlacement(_ context.Context, _ fwk.PlacementCycleState, _ fwk.PodGroupInfo, placement *fwk.PodGroupAssignments) (int64, *fwk.Status) {
	name := placement.Placement.Name
	score, err := strconv.ParseInt(name[strings.LastIndex(name, "-")+1:], 10, 64)
	if err != nil {
		return 0, fwk.AsStatus(err)
	}
	return score, nil
}

func (number) PlacementScoreExtensions() fwk.PlacementScoreExtensions { return nil }
