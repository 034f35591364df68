// SPDX-License-Identifier: Apache-2.0

package main

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"
	_ "unsafe" // for linkname

	v1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/tools/events"
	"k8s.io/klog/v2"
	fwk "k8s.io/kube-scheduler/framework"
	"k8s.io/kubernetes/pkg/scheduler"
	"k8s.io/kubernetes/pkg/scheduler/apis/config"
	queue "k8s.io/kubernetes/pkg/scheduler/backend/queue"
	"k8s.io/kubernetes/pkg/scheduler/framework"
	"k8s.io/kubernetes/pkg/scheduler/framework/plugins/defaultpreemption"
	"k8s.io/kubernetes/pkg/scheduler/framework/preemption"
	testingclock "k8s.io/utils/clock/testing"
)

const patience = 30 * time.Second

// The two are what the queue's own timers call; here time passes when the world says so.
//
//go:linkname flushBackoffQCompleted k8s.io/kubernetes/pkg/scheduler/backend/queue.(*PriorityQueue).flushBackoffQCompleted
func flushBackoffQCompleted(*queue.PriorityQueue, klog.Logger)

//go:linkname flushUnschedulableEntitiesLeftover k8s.io/kubernetes/pkg/scheduler/backend/queue.(*PriorityQueue).flushUnschedulableEntitiesLeftover
func flushUnschedulableEntitiesLeftover(*queue.PriorityQueue, klog.Logger)

// tickingClock never gives a time twice, as a real one: what comes later is later.
type tickingClock struct{ *testingclock.FakeClock }

func (c tickingClock) Now() time.Time {
	c.Step(time.Nanosecond)
	return c.FakeClock.Now()
}

// player runs upstream's scheduler in a world, one attempt at a time.
type player struct {
	ctx       context.Context
	stop      context.CancelFunc
	store     *store
	informers *directInformers
	sched     *scheduler.Scheduler
	clock     tickingClock

	mu      sync.Mutex
	failed  map[string]bool // by uid: the attempt's pods that were told so
	popped  []*v1.Pod
	preempt types.UID     // who preempts, if the attempt does
	over    chan struct{} // closed when the attempt is over

	executors []*preemption.Executor
}

func newPlayer(loaded *config.KubeSchedulerConfiguration) (*player, error) {
	ctx, stop := context.WithCancel(klog.NewContext(context.Background(), klog.Background()))
	p := &player{ctx: ctx, stop: stop, store: newStore(), clock: tickingClock{testingclock.NewFakeClock(time.Unix(1767323045, 0))}}
	client := p.store.client()
	p.informers = newDirectInformers(client)
	recorders := func(string) events.EventRecorderLogger { return &events.FakeRecorder{} }
	var err error
	p.sched, err = scheduler.New(ctx, client, p.informers, nil, recorders,
		scheduler.WithProfiles(loaded.Profiles...), scheduler.WithParallelism(1), scheduler.WithClock(p.clock),
		scheduler.WithPercentageOfNodesToScore(loaded.PercentageOfNodesToScore),
		scheduler.WithPodInitialBackoffSeconds(loaded.PodInitialBackoffSeconds),
		scheduler.WithPodMaxBackoffSeconds(loaded.PodMaxBackoffSeconds),
		scheduler.WithComponentConfigVersion(loaded.TypeMeta.APIVersion),
		scheduler.WithFrameworkOutOfTreeRegistry(canonicalRegistry()))
	if err != nil {
		stop()
		return nil, err
	}
	p.watchAttempts()
	p.holdEvictions()
	return p, nil
}

// holdEvictions lets an attempt's evictions begin when it is over, as they do where a request takes longer than the rest of an
// attempt.
func (p *player) holdEvictions() {
	for _, profile := range p.sched.Profiles {
		for _, plugin := range profile.PreEnqueuePlugins() {
			preempting, ok := plugin.(*defaultpreemption.DefaultPreemption)
			if !ok {
				continue
			}
			executor := preempting.Executor
			evict := executor.PreemptPod
			executor.PreemptPod = func(ctx context.Context, c preemption.Candidate, preemptor preemption.ExecutorPreemptor, victim *v1.Pod, plugin string) (bool, error) {
				p.mu.Lock()
				over := p.over
				p.mu.Unlock()
				<-over
				return evict(ctx, c, preemptor, victim, plugin)
			}
			p.executors = append(p.executors, executor)
		}
	}
}

func rootOf(entity framework.QueuedEntityInfo) types.UID {
	switch root := entity.(type) {
	case *framework.QueuedPodInfo:
		return root.Pod.UID
	case *framework.QueuedPodGroupInfo:
		switch {
		case root.CompositePodGroup != nil:
			return root.CompositePodGroup.UID
		case root.PodGroup != nil:
			return root.PodGroup.UID
		}
	}
	return ""
}

// watchAttempts notes whose attempt is under way and which of its pods failed.
func (p *player) watchAttempts() {
	next, fail := p.sched.NextEntity, p.sched.FailureHandler
	p.sched.NextEntity = func(logger klog.Logger) (framework.QueuedEntityInfo, error) {
		entity, err := next(logger)
		p.mu.Lock()
		defer p.mu.Unlock()
		p.popped, p.failed, p.over = nil, map[string]bool{}, make(chan struct{})
		if err == nil && entity != nil {
			p.preempt = rootOf(entity)
			entity.ForEachPodInfo(func(info *framework.QueuedPodInfo) bool {
				p.popped = append(p.popped, info.Pod)
				return true
			})
		}
		return entity, err
	}
	p.sched.FailureHandler = func(ctx context.Context, profile framework.Framework, info *framework.QueuedPodInfo, status *fwk.Status,
		nominating *fwk.NominatingInfo, start time.Time) {
		fail(ctx, profile, info, status, nominating, start)
		p.mu.Lock()
		defer p.mu.Unlock()
		p.failed[string(info.Pod.UID)] = true
	}
}

// play carries out a step and lets the scheduler work until it has nothing to do.
func (p *player) play(s *step) (*record, error) {
	p.clock.Step(time.Millisecond)
	if err := s.apply(p.store); err != nil {
		return nil, err
	}
	if err := p.tell(p.store.take()); err != nil {
		return nil, err
	}
	if s.Wait != 0 {
		p.clock.Step(time.Duration(s.Wait) * time.Second)
		waiting := p.sched.SchedulingQueue.(*queue.PriorityQueue)
		flushUnschedulableEntitiesLeftover(waiting, klog.Background())
		flushBackoffQCompleted(waiting, klog.Background())
	}
	attempts := 0
	for ; len(p.sched.SchedulingQueue.PodsInActiveQ()) > 0; attempts++ {
		if attempts == 1000 {
			return nil, fmt.Errorf("attempts without end")
		}
		p.sched.ScheduleOne(p.ctx)
		close(p.over)
		if err := p.await(); err != nil {
			return nil, err
		}
		if err := p.tell(byName(p.store.take())); err != nil {
			return nil, err
		}
	}
	return p.store.report(attempts)
}

func (p *player) tell(changes []change) error {
	for _, one := range changes {
		obj := one.after
		if obj == nil {
			obj = one.before
		}
		if err := p.informers.of(obj).tell(one.before, one.after); err != nil {
			return err
		}
	}
	return nil
}

// await waits until each pod of the attempt is bound, failed or let go, and its victims are evicted.
func (p *player) await() error {
	deadline := time.Now().Add(patience)
	for {
		waiting := p.underWay()
		if waiting == "" {
			return nil
		}
		if time.Now().After(deadline) {
			return errors.New(waiting)
		}
		time.Sleep(20 * time.Microsecond) // gives way to binding cycles and evictions
	}
}

func (p *player) underWay() string {
	p.mu.Lock()
	defer p.mu.Unlock()
	for _, pod := range p.popped {
		if p.failed[string(pod.UID)] || p.store.isBound(string(pod.UID)) {
			continue
		}
		if assumed, err := p.sched.Cache.IsAssumedPod(pod); err == nil && !assumed {
			continue
		}
		return pod.Name + " is neither bound nor failed"
	}
	for _, executor := range p.executors {
		if executor.IsPodRunningPreemption(p.preempt) {
			return string(p.preempt) + " preempts without end"
		}
	}
	return ""
}
