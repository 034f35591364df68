// SPDX-License-Identifier: Apache-2.0

package main

import (
	"context"
	"sort"

	v1 "k8s.io/api/core/v1"
	policy "k8s.io/api/policy/v1"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/client-go/informers"
	listers "k8s.io/client-go/listers/policy/v1"
	extender "k8s.io/kube-scheduler/extender/v1"
	fwk "k8s.io/kube-scheduler/framework"
	"k8s.io/kubernetes/pkg/scheduler/framework"
	"k8s.io/kubernetes/pkg/scheduler/framework/plugins/defaultpreemption"
	"k8s.io/kubernetes/pkg/scheduler/framework/preemption"
)

// The rules of preemption are upstream's. What is replaced here is only what upstream leaves to chance or sends to an API
// server: the random offset is 0, nodes are tried in the order of the snapshot, budgets are listed by namespace and name,
// victims are noted down instead of evicted.

// preemptionRecord is what preemption would do for one pod; docs/spec/explain.md names the fields.
type preemptionRecord struct {
	Node       string         `json:"node,omitempty"`
	Nomination string         `json:"nomination"`
	Code       string         `json:"code"`
	Message    string         `json:"message,omitempty"`
	Event      string         `json:"event"`
	Victims    []victimRecord `json:"victims"`
	Violations int            `json:"violations"`
	Tried      []triedRecord  `json:"tried"`
	// Only the oracle: nodes that upstream might have taken as well, and claims that it might have freed.
	Ties  []string `json:"ties,omitempty"`
	Frees []string `json:"frees,omitempty"`
}

type victimRecord struct {
	Pod         string `json:"pod"`
	Priority    int32  `json:"priority"`
	Terminating bool   `json:"terminating,omitempty"`
}

type triedRecord struct {
	Node       string         `json:"node"`
	Victims    []victimRecord `json:"victims,omitempty"`
	Violations int            `json:"violations,omitempty"`
	Code       string         `json:"code,omitempty"`
	Reasons    []string       `json:"reasons,omitempty"`
}

// dryRuns stands between upstream's evaluator and its plugin and keeps the outcome of every node.
type dryRuns struct {
	preemption.Interface
	tried      []triedRecord
	candidates map[string]*candidate
}

func (d *dryRuns) reset() {
	d.tried, d.candidates = []triedRecord{}, map[string]*candidate{}
}

func (d *dryRuns) GetOffsetAndNumCandidates(nodes int32) (int32, int32) {
	_, wanted := d.Interface.GetOffsetAndNumCandidates(nodes)
	return 0, wanted
}

func (d *dryRuns) SelectVictimsOnNode(ctx context.Context, state fwk.CycleState, preemptor *v1.Pod, node fwk.NodeInfo,
	possible []*preemption.DomainVictim, budgets []*policy.PodDisruptionBudget) ([]*v1.Pod, int, *fwk.Status) {
	victims, violations, status := d.Interface.SelectVictimsOnNode(ctx, state, preemptor, node, possible, budgets)
	name := node.Node().Name
	one := triedRecord{Node: name}
	if status.IsSuccess() && len(victims) > 0 {
		one.Victims, one.Violations = victimRecords(victims), violations
		d.candidates[name] = &candidate{node: name,
			victims: &extender.Victims{Pods: victims, NumPDBViolations: int64(violations)}}
	} else if !status.IsSuccess() {
		one.Code, one.Reasons = status.Code().String(), status.Reasons()
	}
	d.tried = append(d.tried, one)
	return victims, violations, status
}

func victimRecords(pods []*v1.Pod) []victimRecord {
	records := []victimRecord{}
	for _, pod := range pods {
		one := victimRecord{Pod: pod.Namespace + "/" + pod.Name, Terminating: pod.DeletionTimestamp != nil}
		if pod.Spec.Priority != nil {
			one.Priority = *pod.Spec.Priority
		}
		records = append(records, one)
	}
	return records
}

// candidate is upstream's preemption.Candidate.
type candidate struct {
	node    string
	victims *extender.Victims
}

func (c *candidate) Name() string                { return c.node }
func (c *candidate) Victims() *extender.Victims  { return c.victims }
func (c *candidate) NumPodGroupDisruptions() int { return 0 }

// sortedBudgets lists by namespace and name, where upstream's informer has the order of a hash map.
type sortedBudgets struct {
	listers.PodDisruptionBudgetLister
}

func (s sortedBudgets) List(selector labels.Selector) ([]*policy.PodDisruptionBudget, error) {
	budgets, err := s.PodDisruptionBudgetLister.List(selector)
	sort.Slice(budgets, func(i, j int) bool {
		if budgets[i].Namespace != budgets[j].Namespace {
			return budgets[i].Namespace < budgets[j].Namespace
		}
		return budgets[i].Name < budgets[j].Name
	})
	return budgets, err
}

// sortedStatuses tries nodes in the order of the snapshot.
type sortedStatuses struct {
	fwk.NodeToStatusReader
}

func (s sortedStatuses) NodesForStatusCode(lister fwk.NodeInfoLister, code fwk.Code) ([]fwk.NodeInfo, error) {
	nodes, err := s.NodeToStatusReader.NodesForStatusCode(lister, code)
	if err != nil {
		return nil, err
	}
	all, err := lister.List()
	if err != nil {
		return nil, err
	}
	place := map[string]int{}
	for i, node := range all {
		place[node.Node().Name] = i
	}
	sort.Slice(nodes, func(i, j int) bool { return place[nodes[i].Node().Name] < place[nodes[j].Node().Name] })
	return nodes, nil
}

// preemptor is upstream's plugin of one profile, with its outlets replaced.
type preemptor struct {
	plugin *defaultpreemption.DefaultPreemption
	runs   *dryRuns
}

// preparePreemption makes the pods that wait known to the places where preemption looks for them: the informer's store
// and, for their nominations, the queue. No handler of the scheduler is told, and its loop does not run.
func (e *evaluator) preparePreemption(c *cluster, factory informers.SharedInformerFactory) error {
	store := factory.Core().V1().Pods().Informer().GetIndexer()
	for _, pod := range c.pods {
		if err := store.Add(pod); err != nil {
			return err
		}
	}
	for _, pod := range c.pods {
		if _, ours := e.sched.Profiles[profileOf(pod)]; ours && queued(pod) {
			e.sched.SchedulingQueue.Add(e.ctx, pod)
		}
	}
	e.preemptors = map[string]*preemptor{}
	for name, profile := range e.sched.Profiles {
		for _, plugin := range profile.PreEnqueuePlugins() {
			if found, ok := plugin.(*defaultpreemption.DefaultPreemption); ok {
				e.preemptors[name] = newPreemptor(found)
			}
		}
	}
	return nil
}

func newPreemptor(plugin *defaultpreemption.DefaultPreemption) *preemptor {
	p := &preemptor{plugin: plugin, runs: &dryRuns{Interface: plugin.Evaluator.Interface}}
	plugin.Evaluator.Interface = p.runs
	plugin.Evaluator.PdbLister = sortedBudgets{plugin.Evaluator.PdbLister}
	plugin.Executor.PreemptPod = func(context.Context, preemption.Candidate, preemption.ExecutorPreemptor, *v1.Pod,
		string) (bool, error) {
		return false, nil
	}
	return p
}

func nomination(result *fwk.PostFilterResult) (string, string) {
	switch {
	case result == nil || result.NominatingInfo == nil || result.Mode() == fwk.ModeNoop:
		return "", "none"
	case result.NominatedNodeName == "":
		return "", "clear"
	default:
		return result.NominatedNodeName, "override"
	}
}

// preempt runs PostFilter as an attempt that ended with this fit error would.
func (e *evaluator) preempt(pod *v1.Pod, state fwk.CycleState, fit *framework.FitError) *preemptionRecord {
	profile, p := e.sched.Profiles[profileOf(pod)], e.preemptors[profileOf(pod)]
	if !profile.HasPostFilterPlugins() {
		return nil
	}
	if p != nil {
		p.runs.reset()
	}
	statuses := sortedStatuses{fit.Diagnosis.NodeToStatus}
	result, status := profile.RunPostFilterPlugins(e.ctx, state, pod, statuses)
	out := &preemptionRecord{Code: status.Code().String(), Message: status.Message(), Victims: []victimRecord{},
		Tried: []triedRecord{}}
	out.Node, out.Nomination = nomination(result)
	out.Frees = e.frees(profile, state, pod, statuses)
	fit.Diagnosis.PostFilterMsg = status.Message()
	out.Event = fit.Error()
	if p == nil {
		return out
	}
	out.Tried = p.runs.tried
	sort.Slice(out.Tried, func(i, j int) bool { return out.Tried[i].Node < out.Tried[j].Node })
	if chosen := p.runs.candidates[out.Node]; chosen != nil {
		out.Victims, out.Violations = victimRecords(chosen.victims.Pods), int(chosen.victims.NumPDBViolations)
		out.Ties = e.ties(p, chosen)
	}
	return out
}

// Of two equal candidates upstream takes the one that a hash map shows first: mostly the one put in first, so both orders
// are offered. This many choices show both.
const choices = 40

// ties returns the candidates that upstream takes in the chosen one's place, sooner or later.
func (e *evaluator) ties(p *preemptor, chosen *candidate) []string {
	var names []string
	for name, other := range p.runs.candidates {
		for i := 0; name != chosen.node && i < choices; i++ {
			pair := []preemption.Candidate{chosen, other}
			if i%2 == 0 {
				pair[0], pair[1] = other, chosen
			}
			if p.plugin.Evaluator.SelectCandidate(e.ctx, pair).Name() == name {
				names = append(names, name)
				break
			}
		}
	}
	sort.Strings(names)
	return names
}
