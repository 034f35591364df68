// SPDX-License-Identifier: Apache-2.0

package main

import (
	"context"
	"errors"
	"fmt"
	"sort"

	v1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/util/sets"
	"k8s.io/client-go/kubernetes/fake"
	"k8s.io/client-go/tools/events"
	"k8s.io/klog/v2"
	fwk "k8s.io/kube-scheduler/framework"
	"k8s.io/kubernetes/cmd/kube-scheduler/app/options"
	"k8s.io/kubernetes/pkg/scheduler"
	"k8s.io/kubernetes/pkg/scheduler/apis/config"
	"k8s.io/kubernetes/pkg/scheduler/apis/config/latest"
	"k8s.io/kubernetes/pkg/scheduler/apis/config/validation"
	"k8s.io/kubernetes/pkg/scheduler/backend/cache"
	"k8s.io/kubernetes/pkg/scheduler/framework"
)

// evaluator is upstream's scheduler on one cluster: its cache is filled by hand, its other listers by its own informers
// on a fake client. Its loop never runs.
type evaluator struct {
	ctx      context.Context
	stop     context.CancelFunc
	sched    *scheduler.Scheduler
	snapshot *cache.Snapshot
	nodes    []fwk.NodeInfo // in the order in which an attempt takes them
	sorted   []fwk.NodeInfo // by name

	preemptors map[string]*preemptor // by profile; nil: preemption is not asked for
	writes     *claimWrites
}

func loadConfig(path string) (*config.KubeSchedulerConfiguration, error) {
	var loaded *config.KubeSchedulerConfiguration
	var err error
	if path == "" {
		loaded, err = latest.Default()
	} else {
		loaded, err = options.LoadConfigFromFile(klog.Background(), path)
	}
	if err != nil {
		return nil, err
	}
	if err := validation.ValidateKubeSchedulerConfiguration(loaded); err != nil {
		return nil, err
	}
	all := int32(100) // percent: no sampling
	loaded.PercentageOfNodesToScore = &all
	for i := range loaded.Profiles {
		loaded.Profiles[i].PercentageOfNodesToScore = &all
	}
	return loaded, nil
}

func newEvaluator(c *cluster, configPath string, preemption bool) (*evaluator, error) {
	loaded, err := loadConfig(configPath)
	if err != nil {
		return nil, fmt.Errorf("configuration: %w", err)
	}
	ctx, stop := context.WithCancel(context.Background())
	e := &evaluator{ctx: ctx, stop: stop, snapshot: cache.NewEmptySnapshot()}
	client := fake.NewSimpleClientset(c.rest...)
	e.writes = newClaimWrites(client)
	informers := scheduler.NewInformerFactory(client, 0, nil)
	recorders := func(string) events.EventRecorderLogger { return &events.FakeRecorder{} }
	e.sched, err = scheduler.New(ctx, client, informers, nil, recorders,
		scheduler.WithProfiles(loaded.Profiles...), scheduler.WithParallelism(1),
		scheduler.WithPercentageOfNodesToScore(loaded.PercentageOfNodesToScore),
		scheduler.WithComponentConfigVersion(loaded.TypeMeta.APIVersion), scheduler.WithNodeInfoSnapshot(e.snapshot))
	if err != nil {
		stop()
		return nil, err
	}
	informers.Start(ctx.Done())
	informers.WaitForCacheSync(ctx.Done())
	if err := e.sched.WaitForHandlersSync(ctx); err != nil {
		stop()
		return nil, err
	}
	err = e.fill(c)
	if err == nil && preemption {
		err = e.preparePreemption(c, informers)
	}
	if err != nil {
		stop()
		return nil, err
	}
	return e, nil
}

func (e *evaluator) fill(c *cluster) error {
	logger := klog.Background()
	for _, node := range c.nodes {
		e.sched.Cache.AddNode(logger, node)
	}
	for _, pod := range c.bound() {
		if err := e.sched.Cache.AddPod(logger, pod); err != nil {
			return fmt.Errorf("pod %s/%s: %w", pod.Namespace, pod.Name, err)
		}
	}
	if err := e.sched.Cache.UpdateSnapshot(logger, e.snapshot); err != nil {
		return err
	}
	nodes, err := e.snapshot.NodeInfos().List()
	if err != nil {
		return err
	}
	e.nodes, e.sorted = nodes, append([]fwk.NodeInfo(nil), nodes...)
	sort.Slice(e.sorted, func(i, j int) bool { return e.sorted[i].Node().Name < e.sorted[j].Node().Name })
	return nil
}

func (e *evaluator) profiles() map[string]bool {
	names := map[string]bool{}
	for name := range e.sched.Profiles {
		names[name] = true
	}
	return names
}

// attempt is one pod's evaluation on its way to a record.
type attempt struct {
	pod      *v1.Pod
	profile  framework.Framework
	state    fwk.CycleState
	only     *fwk.PreFilterResult   // the nodes that PreFilter left; nil: all
	narrowed sets.Set[string]       // the plugins that made it so
	statuses map[string]*fwk.Status // of the nodes that were filtered and rejected
	feasible []fwk.NodeInfo
	err      error // of the first node, in the order of the snapshot, that has one: the attempt ends there
}

func (e *evaluator) explain(pod *v1.Pod) *record {
	a := &attempt{pod: pod, profile: e.sched.Profiles[profileOf(pod)], state: framework.NewCycleState(),
		statuses: map[string]*fwk.Status{}}
	out := &record{Pod: pod.Namespace + "/" + pod.Name, Profile: profileOf(pod), Nodes: []nodeRecord{}}
	for _, plugin := range a.profile.PreEnqueuePlugins() {
		if status := plugin.PreEnqueue(e.ctx, pod); !status.IsSuccess() {
			out.Result, out.Message = "Gated", status.Message()
			return out
		}
	}
	if !e.filter(a) {
		e.unschedulable(a, out)
		return out
	}
	scores, err := e.score(a)
	if err != nil && len(a.feasible) > 1 && !a.nominatedFits() { // upstream does not score a single node
		out.Result, out.Message = "Error", err.Error()
		return out
	}
	out.Result = "Schedulable"
	out.addNodes(e.sorted, a, scores)
	return out
}

// nominatedFits says that the pod is nominated to a node that it fits on: upstream looks at no other then.
func (a *attempt) nominatedFits() bool {
	for _, node := range a.feasible {
		if node.Node().Name == a.pod.Status.NominatedNodeName {
			return true
		}
	}
	return false
}

// excluded says that PreFilter left the node out.
func (a *attempt) excluded(node string) bool {
	return !a.only.AllNodes() && !a.only.NodeNames.Has(node)
}

// filter runs PreFilter, and Filter on every node that PreFilter left, and on the one that the pod is nominated to: upstream does not
// ask PreFilter's answer about that one. It returns whether a node is feasible.
func (e *evaluator) filter(a *attempt) bool {
	var status *fwk.Status
	a.only, status, a.narrowed = a.profile.RunPreFilterPlugins(e.ctx, a.state, a.pod)
	if !status.IsSuccess() {
		return false
	}
	for _, node := range e.nodes {
		name := node.Node().Name
		if a.excluded(name) && name != a.pod.Status.NominatedNodeName {
			continue
		}
		status := a.profile.RunFilterPluginsWithNominatedPods(e.ctx, a.state, a.pod, node)
		switch {
		case status.IsSuccess():
			a.feasible = append(a.feasible, node)
		case status.IsRejected():
			a.statuses[name] = status
		case a.excluded(name): // upstream logs it, and looks at the others
		default:
			a.err = status.AsError()
			return false
		}
	}
	return len(a.feasible) > 0
}

// unschedulable takes the verdict from upstream's own SchedulePod: which status a node has that was not filtered, and the
// message, are its business.
func (e *evaluator) unschedulable(a *attempt, out *record) {
	info, _ := framework.NewPodInfo(a.pod) // malformed terms are the plugins' to report
	state := framework.NewCycleState()
	_, err := e.sched.SchedulePod(e.ctx, a.profile, state, &framework.QueuedPodInfo{PodInfo: info})
	var fit *framework.FitError
	switch {
	case errors.As(err, &fit):
		out.Result, out.Message = "Unschedulable", fit.Error()
		out.addFitError(e.sorted, fit)
		if e.preemptors != nil {
			out.Preemption = e.preempt(a.pod, state, fit)
		}
	case errors.Is(err, scheduler.ErrNoNodesAvailable):
		out.Result, out.Message = "Unschedulable", err.Error()
	case err != nil && a.err != nil: // SchedulePod begins where it ended for the pod before, and may meet another one first
		out.Result, out.Message = "Error", a.err.Error()
	case err != nil:
		out.Result, out.Message = "Error", err.Error()
	default:
		out.Result, out.Message = "Error", "oracle: SchedulePod found a node where the filters found none"
	}
}

// score runs PreScore, Score and NormalizeScore over the feasible nodes.
func (e *evaluator) score(a *attempt) (map[string]fwk.NodePluginScores, error) {
	byNode := map[string]fwk.NodePluginScores{}
	if !a.profile.HasScorePlugins() {
		for _, node := range a.feasible {
			byNode[node.Node().Name] = fwk.NodePluginScores{TotalScore: 1} // upstream's constant
		}
		return byNode, nil
	}
	if status := a.profile.RunPreScorePlugins(e.ctx, a.state, a.pod, a.feasible); !status.IsSuccess() {
		return byNode, status.AsError()
	}
	scores, status := a.profile.RunScorePlugins(e.ctx, a.state, a.pod, a.feasible)
	if !status.IsSuccess() {
		return byNode, status.AsError()
	}
	for _, node := range scores {
		byNode[node.Name] = node
	}
	return byNode, nil
}
