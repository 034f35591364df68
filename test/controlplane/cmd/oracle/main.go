// SPDX-License-Identifier: Apache-2.0

// Command oracle prints what upstream's scheduler decides about every pending pod of a cluster dump, in the JSON form of
// docs/spec/explain.md: the reference side of the parity test (test/parity). It holds no scheduling rule of its own: the
// plugins, the framework, the cache, the snapshot and the text of a fit error are upstream's, used through their exported
// API. Every node is evaluated, one after the other, and nothing is assumed between two pods.
package main

import (
	"encoding/json"
	"flag"
	"fmt"
	"io"
	"os"

	utilfeature "k8s.io/apiserver/pkg/util/feature"
	"k8s.io/klog/v2"

	"kubesched.dev/test/controlplane/internal/jsonlines"
)

// fileList is a flag that may be given several times.
type fileList []string

func (f *fileList) String() string { return fmt.Sprint(*f) }

func (f *fileList) Set(value string) error {
	*f = append(*f, value)
	return nil
}

func run() error {
	var clusters fileList
	flags := flag.NewFlagSet("oracle", flag.ExitOnError)
	flags.Var(&clusters, "cluster", "a cluster dump: a v1 List in JSON or YAML; '-' reads standard input; may be repeated")
	config := flags.String("config", "", "a KubeSchedulerConfiguration; without it upstream's default")
	gates := flags.String("feature-gates", "", "feature gates as for kube-scheduler: A=true,B=false")
	preemption := flags.Bool("preemption", false, "also run PostFilter for pods that fit nowhere")
	verbose := flags.Bool("verbose", false, "print upstream's log on standard error")
	if err := flags.Parse(os.Args[1:]); err != nil {
		return err
	}
	if len(clusters) == 0 || flags.NArg() != 0 {
		return fmt.Errorf("give at least one --cluster FILE and no other argument")
	}
	if !*verbose {
		klog.LogToStderr(false)
		klog.SetOutput(io.Discard)
	}
	if err := utilfeature.DefaultMutableFeatureGate.Set(*gates); err != nil {
		return fmt.Errorf("--feature-gates: %w", err)
	}
	cluster, err := loadCluster(clusters)
	if err != nil {
		return err
	}
	evaluator, err := newEvaluator(cluster, *config, *preemption)
	if err != nil {
		return err
	}
	defer evaluator.stop()

	return jsonlines.Print(func(encoder *json.Encoder) error {
		for _, pod := range cluster.pending(evaluator.profiles()) {
			if err := encoder.Encode(evaluator.explain(pod)); err != nil {
				return err
			}
		}
		return nil
	})
}

func main() { jsonlines.Main("oracle", run) }
