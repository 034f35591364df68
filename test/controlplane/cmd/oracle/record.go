// SPDX-License-Identifier: Apache-2.0

package main

import (
	"sort"

	"k8s.io/apimachinery/pkg/util/sets"
	fwk "k8s.io/kube-scheduler/framework"
	"k8s.io/kubernetes/pkg/scheduler/framework"
)

// record is one line of output; docs/spec/explain.md names the fields.
type record struct {
	Pod                  string       `json:"pod"`
	Profile              string       `json:"profile"`
	Result               string       `json:"result"`
	Message              string       `json:"message,omitempty"`
	UnschedulablePlugins []string     `json:"unschedulablePlugins,omitempty"`
	BestNodes            []string     `json:"bestNodes,omitempty"`
	Nodes                []nodeRecord `json:"nodes"`

	Preemption *preemptionRecord `json:"preemption,omitempty"`
}

type nodeRecord struct {
	Name     string        `json:"name"`
	Feasible bool          `json:"feasible"`
	Plugin   string        `json:"plugin,omitempty"`
	Code     string        `json:"code,omitempty"`
	Reasons  []string      `json:"reasons,omitempty"`
	Scores   []scoreRecord `json:"scores,omitempty"`
	Total    *int64        `json:"total,omitempty"`

	Allocations []claimRecord `json:"allocations,omitempty"`
}

type scoreRecord struct {
	Plugin   string `json:"plugin"`
	Raw      int64  `json:"raw"`
	Weighted int64  `json:"weighted"`
}

func rejected(name string, status *fwk.Status) nodeRecord {
	return nodeRecord{Name: name, Plugin: status.Plugin(), Code: status.Code().String(), Reasons: status.Reasons()}
}

func scored(name string, scores fwk.NodePluginScores) nodeRecord {
	total := scores.TotalScore
	node := nodeRecord{Name: name, Feasible: true, Total: &total}
	for i, score := range scores.Scores {
		node.Scores = append(node.Scores, scoreRecord{Plugin: score.Name, Raw: scores.RawScores[i].Score, Weighted: score.Score})
	}
	sort.Slice(node.Scores, func(i, j int) bool { return node.Scores[i].Plugin < node.Scores[j].Plugin })
	return node
}

// addNodes adds the nodes of a pod that has a feasible one.
func (r *record) addNodes(nodes []fwk.NodeInfo, a *attempt, scores map[string]fwk.NodePluginScores) {
	plugins, allocations := a.narrowed.Clone(), resultsOf(a.state)
	var best int64
	for _, node := range nodes {
		name := node.Node().Name
		if status, ok := a.statuses[name]; ok {
			plugins.Insert(status.Plugin())
			r.Nodes = append(r.Nodes, rejected(name, status))
			continue
		}
		if _, looked := scores[name]; a.excluded(name) && !looked { // scores: the pod is nominated to it
			r.Nodes = append(r.Nodes, nodeRecord{Name: name, Code: "NotInPreFilterResult"})
			continue
		}
		node := scored(name, scores[name])
		node.Allocations = allocations.on(name)
		r.Nodes = append(r.Nodes, node)
		total := scores[name].TotalScore
		if len(r.BestNodes) == 0 || total > best {
			r.BestNodes, best = nil, total
		}
		if total == best {
			r.BestNodes = append(r.BestNodes, name)
		}
	}
	r.UnschedulablePlugins = sets.List(plugins)
}

// addFitError adds the nodes of a pod that fits nowhere, with the status that upstream keeps for each.
func (r *record) addFitError(nodes []fwk.NodeInfo, fit *framework.FitError) {
	for _, node := range nodes {
		name := node.Node().Name
		r.Nodes = append(r.Nodes, rejected(name, fit.Diagnosis.NodeToStatus.Get(name)))
	}
	r.UnschedulablePlugins = sets.List(fit.Diagnosis.UnschedulablePlugins)
}
