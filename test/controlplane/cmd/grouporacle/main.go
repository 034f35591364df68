// SPDX-License-Identifier: Apache-2.0

// Command grouporacle answers what upstream's scheduler makes of groups of pods in small worlds: the reference side of
// test/parity/groups.py. The scheduler is upstream's, with its event handlers, queue, cache, plugins and binding cycles. Its
// informers are driven by hand and its time stands still (informers.go, player.go), so that a world has one outcome; what
// upstream draws at random is ordered (canonical.go), and evictions begin when their attempt is over.
//
// It reads worlds as JSON Lines and answers each with one line, in order:
//
//	{"steps": [{"put": [OBJECT, ...], "delete": ["Kind/namespace/name", ...], "wait": SECONDS}, ...]}
//
//	{"steps": [{"attempts": N, "objects": {"Pod/ns/a": [LINE, ...], ...}, "evicted": ["Pod/ns/v", ...]}, ...]}
//	{"error": TEXT}
package main

import (
	"flag"
	"fmt"
	"io"

	utilfeature "k8s.io/apiserver/pkg/util/feature"
	"k8s.io/klog/v2"
	"k8s.io/kubernetes/cmd/kube-scheduler/app/options"
	"k8s.io/kubernetes/pkg/scheduler/apis/config"
	"k8s.io/kubernetes/pkg/scheduler/apis/config/validation"
	"k8s.io/kubernetes/pkg/scheduler/framework/plugins/names"

	"kubesched.dev/test/controlplane/internal/jsonlines"
)

type answer struct {
	Steps []*record `json:"steps,omitempty"`
	Error string    `json:"error,omitempty"`
}

func loadConfig(path string) (*config.KubeSchedulerConfiguration, error) {
	loaded, err := options.LoadConfigFromFile(klog.Background(), path)
	if err != nil {
		return nil, err
	}
	if err := validation.ValidateKubeSchedulerConfiguration(loaded); err != nil {
		return nil, err
	}
	for i := range loaded.Profiles {
		enabled := loaded.Profiles[i].Plugins.MultiPoint.Enabled
		for j := range enabled {
			if enabled[j].Name == names.TopologyPlacementGenerator {
				enabled[j].Name = orderedName
			}
		}
	}
	return loaded, nil
}

func playWorld(loaded *config.KubeSchedulerConfiguration, w *world) (made answer) {
	p, err := newPlayer(loaded)
	if err != nil {
		return answer{Error: err.Error()}
	}
	defer p.stop()
	for i := range w.Steps {
		one, err := p.play(&w.Steps[i])
		if err != nil {
			return answer{Steps: made.Steps, Error: fmt.Sprintf("step %d: %v", i, err)}
		}
		made.Steps = append(made.Steps, one)
	}
	return made
}

func run() error {
	path := flag.String("config", "", "a KubeSchedulerConfiguration")
	gates := flag.String("feature-gates", "", "as kube-scheduler's")
	verbose := flag.Bool("v", false, "upstream's log on standard error")
	flag.Parse()
	if !*verbose {
		klog.LogToStderr(false)
		klog.SetOutput(io.Discard)
	}
	if err := utilfeature.DefaultMutableFeatureGate.Set(*gates); err != nil {
		return err
	}
	loaded, err := loadConfig(*path)
	if err != nil {
		return fmt.Errorf("configuration: %w", err)
	}
	return jsonlines.Answer(func(w *world) answer { return playWorld(loaded, w) })
}

func main() { jsonlines.Main("grouporacle", run) }
