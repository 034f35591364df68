// SPDX-License-Identifier: Apache-2.0
// Sections 2.4 to 2.9 of docs/spec/config.md. All texts are those of the running kube-scheduler.
#include "config/read/decode.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <string_view>
#include <vector>

namespace ks::config {
namespace {

constexpr std::string_view kHead =
    "apiVersion: kubescheduler.config.k8s.io/v1\nkind: KubeSchedulerConfiguration\n";

// A body that starts with = is the whole file, others follow the two lines above.
struct Row {
  std::string body;
  std::string want;  // upstream's text; empty: decoded
};

std::string FileOf(const std::string& body) {
  return body.starts_with('=') ? body.substr(1) : std::string(kHead) + body;
}

void Check(const Row& row) {
  SCOPED_TRACE(row.body);
  const Faults faults = DecodeConfiguration(FileOf(row.body)).faults;
  EXPECT_EQ(faults.text, row.want);
  EXPECT_EQ(faults.findings.empty(), row.want.empty());
}

const Row kRouting[] = {
    {"=---\n# c\n---\napiVersion: kubescheduler.config.k8s.io/v1\nkind: "
     "KubeSchedulerConfiguration\nfoo: 1\n",
     "Object 'Kind' is missing in '---\n# c\n---\napiVersion: "
     "kubescheduler.config.k8s.io/v1\nkind: KubeSchedulerConfiguration\nfoo: 1\n'"},
    {"=apiVersion: [kubescheduler.config.k8s.io/v1]\nkind: KubeSchedulerConfiguration\n",
     "couldn't get version/kind; json parse error: json: cannot unmarshal array into Go struct "
     "field .apiVersion of type string"},
    {"=apiVersion: kubescheduler.config.k8s.io/\nkind: KubeSchedulerConfiguration\n",
     "Object 'apiVersion' is missing in 'apiVersion: kubescheduler.config.k8s.io/\nkind: "
     "KubeSchedulerConfiguration\n'"},
    {"=apiVersion: /\nkind: KubeSchedulerConfiguration\n",
     "Object 'apiVersion' is missing in 'apiVersion: /\nkind: KubeSchedulerConfiguration\n'"},
    {"=apiVersion: /v1\nkind: KubeSchedulerConfiguration\n",
     R"(no kind "KubeSchedulerConfiguration" is registered for version "v1" in scheme "pkg/runtime/scheme.go:111")"},
    {"=apiVersion: kubescheduler.config.k8s.io/v1/\nkind: KubeSchedulerConfiguration\n",
     "unexpected GroupVersion string: kubescheduler.config.k8s.io/v1/"},
    {"=apiVersion: kubescheduler.config.k8s.io\nkind: KubeSchedulerConfiguration\n",
     R"(no kind "KubeSchedulerConfiguration" is registered for version "kubescheduler.config.k8s.io" in scheme "pkg/runtime/scheme.go:111")"},
    {"=apiVersion: kubescheduler.config.k8s.io/v1\nkind: kubeSchedulerConfiguration\n",
     R"(no kind "kubeSchedulerConfiguration" is registered for version "kubescheduler.config.k8s.io/v1" in scheme "pkg/runtime/scheme.go:111")"},
    {"=hello",
     R"(couldn't get version/kind; json parse error: json: cannot unmarshal string into Go value of type struct { APIVersion string "json:\"apiVersion,omitempty\""; Kind string "json:\"kind,omitempty\"" })"},
    {"=5",
     R"(couldn't get version/kind; json parse error: json: cannot unmarshal number into Go value of type struct { APIVersion string "json:\"apiVersion,omitempty\""; Kind string "json:\"kind,omitempty\"" })"},
    {"=true",
     R"(couldn't get version/kind; json parse error: json: cannot unmarshal bool into Go value of type struct { APIVersion string "json:\"apiVersion,omitempty\""; Kind string "json:\"kind,omitempty\"" })"},
    {"=[a]",
     R"(couldn't get version/kind; json parse error: json: cannot unmarshal array into Go value of type struct { APIVersion string "json:\"apiVersion,omitempty\""; Kind string "json:\"kind,omitempty\"" })"},
    {R"(={"kind": 5})",
     "couldn't get version/kind; json parse error: json: cannot unmarshal number into Go struct "
     "field .kind of type string"},
    {R"(={"kind":"a","kind":5})",
     "couldn't get version/kind; json parse error: json: cannot unmarshal number into Go struct "
     "field .kind of type string"},
};

const Row kTypes[] = {
    {"leaderElection: {leaseDuration: 5}\n",
     "json: cannot unmarshal number into Go struct field "
     "LeaderElectionConfiguration.leaderElection.leaseDuration of type string"},
    {"leaderElection: {leaseDuration: [5]}\n",
     "json: cannot unmarshal array into Go struct field "
     "LeaderElectionConfiguration.leaderElection.leaseDuration of type string"},
    {"parallelism: 1e999\n",
     "json: cannot unmarshal string into Go struct field KubeSchedulerConfiguration.parallelism of "
     "type int32"},
    {"extenders: [{tlsConfig: {certData: [1,a]}}]\n",
     "json: cannot unmarshal string into Go struct field "
     "ExtenderTLSConfig.extenders.tlsConfig.certData of type uint8"},
    {"profiles: 5",
     "json: cannot unmarshal number into Go struct field KubeSchedulerConfiguration.profiles of "
     "type []v1.KubeSchedulerProfile"},
    {"profiles: {}",
     "json: cannot unmarshal object into Go struct field KubeSchedulerConfiguration.profiles of "
     "type []v1.KubeSchedulerProfile"},
    {"profiles: [5]",
     "json: cannot unmarshal number into Go struct field KubeSchedulerConfiguration.profiles of "
     "type v1.KubeSchedulerProfile"},
    {"profiles: [[5]]",
     "json: cannot unmarshal array into Go struct field KubeSchedulerConfiguration.profiles of "
     "type v1.KubeSchedulerProfile"},
    {"profiles: [{plugins: {filter: {enabled: [5]}}}]",
     "json: cannot unmarshal number into Go struct field PluginSet.profiles.plugins.filter.enabled "
     "of type v1.Plugin"},
    {"profiles: [{plugins: {filter: {enabled: 5}}}]",
     "json: cannot unmarshal number into Go struct field PluginSet.profiles.plugins.filter.enabled "
     "of type []v1.Plugin"},
    {"profiles: [{plugins: {filter: 5}}]",
     "json: cannot unmarshal number into Go struct field Plugins.profiles.plugins.filter of type "
     "v1.PluginSet"},
    {"profiles: [{plugins: 5}]",
     "json: cannot unmarshal number into Go struct field KubeSchedulerProfile.profiles.plugins of "
     "type v1.Plugins"},
    {"profiles: [{pluginConfig: 5}]",
     "json: cannot unmarshal number into Go struct field "
     "KubeSchedulerProfile.profiles.pluginConfig of type []v1.PluginConfig"},
    {"profiles: [{pluginConfig: [5]}]",
     "json: cannot unmarshal number into Go struct field "
     "KubeSchedulerProfile.profiles.pluginConfig of type v1.PluginConfig"},
    {"profiles: [{pluginConfig: [{name: 5}]}]",
     "json: cannot unmarshal number into Go struct field PluginConfig.profiles.pluginConfig.name "
     "of type string"},
    {"profiles: [{plugins: {filter: {enabled: [{weight: 5000000000}]}}}]",
     "json: cannot unmarshal number 5000000000 into Go struct field "
     "Plugin.profiles.plugins.filter.enabled.weight of type int32"},
    {"leaderElection: 5",
     "json: cannot unmarshal number into Go struct field KubeSchedulerConfiguration.leaderElection "
     "of type v1alpha1.LeaderElectionConfiguration"},
    {"clientConnection: x",
     "json: cannot unmarshal string into Go struct field "
     "KubeSchedulerConfiguration.clientConnection of type v1alpha1.ClientConnectionConfiguration"},
    {"clientConnection: {qps: x}",
     "json: cannot unmarshal string into Go struct field "
     "ClientConnectionConfiguration.clientConnection.qps of type float32"},
    {"clientConnection: {qps: 1e39}",
     "json: cannot unmarshal number 1e+39 into Go struct field "
     "ClientConnectionConfiguration.clientConnection.qps of type float32"},
    {"enableProfiling: x",
     "json: cannot unmarshal string into Go struct field "
     "KubeSchedulerConfiguration.DebuggingConfiguration.enableProfiling of type bool"},
    {"enableContentionProfiling: 5",
     "json: cannot unmarshal number into Go struct field "
     "KubeSchedulerConfiguration.DebuggingConfiguration.enableContentionProfiling of type bool"},
    {"extenders: 5",
     "json: cannot unmarshal number into Go struct field KubeSchedulerConfiguration.extenders of "
     "type []v1.Extender"},
    {"extenders: [{tlsConfig: 5}]",
     "json: cannot unmarshal number into Go struct field Extender.extenders.tlsConfig of type "
     "v1.ExtenderTLSConfig"},
    {R"(extenders: [{tlsConfig: {caData: "x"}}])", "illegal base64 data at input byte 0"},
    {"extenders: [{tlsConfig: {caData: {}}}]",
     "json: cannot unmarshal object into Go struct field "
     "ExtenderTLSConfig.extenders.tlsConfig.caData of type []uint8"},
    {"extenders: [{tlsConfig: {caData: 5}}]",
     "json: cannot unmarshal number into Go struct field "
     "ExtenderTLSConfig.extenders.tlsConfig.caData of type []uint8"},
    {"extenders: [{tlsConfig: {caData: [300]}}]",
     "json: cannot unmarshal number 300 into Go struct field "
     "ExtenderTLSConfig.extenders.tlsConfig.caData of type uint8"},
    {"extenders: [{tlsConfig: {caData: [1.5]}}]",
     "json: cannot unmarshal number 1.5 into Go struct field "
     "ExtenderTLSConfig.extenders.tlsConfig.caData of type uint8"},
    {"extenders: [{managedResources: 5}]",
     "json: cannot unmarshal number into Go struct field Extender.extenders.managedResources of "
     "type []v1.ExtenderManagedResource"},
    {"extenders: [{managedResources: [5]}]",
     "json: cannot unmarshal number into Go struct field Extender.extenders.managedResources of "
     "type v1.ExtenderManagedResource"},
    {"extenders: [{managedResources: [{ignoredByScheduler: 5}]}]",
     "json: cannot unmarshal number into Go struct field "
     "ExtenderManagedResource.extenders.managedResources.ignoredByScheduler of type bool"},
    {"=apiVersion: kubescheduler.config.k8s.io/v1\nkind: NodeAffinityArgs\naddedAffinity: 1\n",
     "json: cannot unmarshal number into Go struct field NodeAffinityArgs.addedAffinity of type "
     "v1.NodeAffinity"},
    {R"(={"kind":"KubeSchedulerConfiguration","apiVersion":"kubescheduler.config.k8s.io/v1","parallelism":"x","parallelism":6})",
     "json: cannot unmarshal string into Go struct field KubeSchedulerConfiguration.parallelism of "
     "type int32"},
    {R"(={"kind":"KubeSchedulerConfiguration","apiVersion":"kubescheduler.config.k8s.io/v1","parallelism":16.0})",
     "json: cannot unmarshal number 16.0 into Go struct field "
     "KubeSchedulerConfiguration.parallelism of type int32"},
    {R"(={"kind":"KubeSchedulerConfiguration","apiVersion":"kubescheduler.config.k8s.io/v1","clientConnection":{"qps":1e999}})",
     "json: cannot unmarshal number 1e999 into Go struct field "
     "ClientConnectionConfiguration.clientConnection.qps of type float32"},
    {R"(={"kind":"KubeSchedulerConfiguration","apiVersion":"kubescheduler.config.k8s.io/v1","leaderElection":{"leaseDuration":5, "renewDeadline":"x"}})",
     "json: cannot unmarshal number into Go struct field "
     "LeaderElectionConfiguration.leaderElection.leaseDuration of type string"},
    {"parallelism: ! 5",
     "json: cannot unmarshal string into Go struct field KubeSchedulerConfiguration.parallelism of "
     "type int32"},
    {R"(parallelism: ! "5")",
     "json: cannot unmarshal string into Go struct field KubeSchedulerConfiguration.parallelism of "
     "type int32"},
    {"parallelism: 1e30",
     "json: cannot unmarshal number 1e+30 into Go struct field "
     "KubeSchedulerConfiguration.parallelism of type int32"},
    {"parallelism: 2147483648",
     "json: cannot unmarshal number 2147483648 into Go struct field "
     "KubeSchedulerConfiguration.parallelism of type int32"},
    {"parallelism: -2147483649",
     "json: cannot unmarshal number -2147483649 into Go struct field "
     "KubeSchedulerConfiguration.parallelism of type int32"},
    {"podMaxBackoffSeconds: 9223372036854775808",
     "json: cannot unmarshal number 9223372036854775808 into Go struct field "
     "KubeSchedulerConfiguration.podMaxBackoffSeconds of type int64"},
    {"parallelism: [1]",
     "json: cannot unmarshal array into Go struct field KubeSchedulerConfiguration.parallelism of "
     "type int32"},
    {"parallelism: {}",
     "json: cannot unmarshal object into Go struct field KubeSchedulerConfiguration.parallelism of "
     "type int32"},
    {"parallelism: true",
     "json: cannot unmarshal bool into Go struct field KubeSchedulerConfiguration.parallelism of "
     "type int32"},
    {"leaderElection: {leaderElect: 1}",
     "json: cannot unmarshal number into Go struct field "
     "LeaderElectionConfiguration.leaderElection.leaderElect of type bool"},
    {"leaderElection: {resourceName: [x]}",
     "json: cannot unmarshal array into Go struct field "
     "LeaderElectionConfiguration.leaderElection.resourceName of type string"},
    {"clientConnection: {qps: [1]}",
     "json: cannot unmarshal array into Go struct field "
     "ClientConnectionConfiguration.clientConnection.qps of type float32"},
    {"clientConnection: {qps: true}",
     "json: cannot unmarshal bool into Go struct field "
     "ClientConnectionConfiguration.clientConnection.qps of type float32"},
    {"profiles: [{schedulerName: y}]",
     "json: cannot unmarshal bool into Go struct field KubeSchedulerProfile.profiles.schedulerName "
     "of type string"},
    {"profiles: [{schedulerName: a, percentageOfNodesToScore: 5.5}]",
     "json: cannot unmarshal number 5.5 into Go struct field "
     "KubeSchedulerProfile.profiles.percentageOfNodesToScore of type int32"},
};

const Row kArguments[] = {
    {"profiles: [{pluginConfig: [{name: PodTopologySpread, args: {defaultConstraints: "
     "[{labelSelector: {matchLabels: {a: 1}}}]}}]}]",
     "decoding .profiles[0].pluginConfig[0]: decoding args for plugin PodTopologySpread: json: "
     "cannot unmarshal number into Go struct field "
     "LabelSelector.defaultConstraints.labelSelector.matchLabels of type string"},
    {"profiles: [{pluginConfig: [{name: PodTopologySpread, args: {defaultConstraints: "
     "[{labelSelector: {matchLabels: 1}}]}}]}]",
     "decoding .profiles[0].pluginConfig[0]: decoding args for plugin PodTopologySpread: json: "
     "cannot unmarshal number into Go struct field "
     "LabelSelector.defaultConstraints.labelSelector.matchLabels of type map[string]string"},
    {"profiles: [{pluginConfig: [{name: PodTopologySpread, args: {defaultConstraints: "
     "[{labelSelector: {matchExpressions: [{operator: 1}]}}]}}]}]",
     "decoding .profiles[0].pluginConfig[0]: decoding args for plugin PodTopologySpread: json: "
     "cannot unmarshal number into Go struct field "
     "LabelSelectorRequirement.defaultConstraints.labelSelector.matchExpressions.operator of type "
     "v1.LabelSelectorOperator"},
    {"profiles: [{pluginConfig: [{name: PodTopologySpread, args: {defaultConstraints: "
     "[{labelSelector: {matchExpressions: 2}}]}}]}]",
     "decoding .profiles[0].pluginConfig[0]: decoding args for plugin PodTopologySpread: json: "
     "cannot unmarshal number into Go struct field "
     "LabelSelector.defaultConstraints.labelSelector.matchExpressions of type "
     "[]v1.LabelSelectorRequirement"},
    {"profiles: [{pluginConfig: [{name: PodTopologySpread, args: {defaultConstraints: "
     "[{labelSelector: {matchExpressions: [{values: 2}]}}]}}]}]",
     "decoding .profiles[0].pluginConfig[0]: decoding args for plugin PodTopologySpread: json: "
     "cannot unmarshal number into Go struct field "
     "LabelSelectorRequirement.defaultConstraints.labelSelector.matchExpressions.values of type "
     "[]string"},
    {"profiles: [{pluginConfig: [{name: PodTopologySpread, args: {defaultConstraints: "
     "[{labelSelector: 5}]}}]}]",
     "decoding .profiles[0].pluginConfig[0]: decoding args for plugin PodTopologySpread: json: "
     "cannot unmarshal number into Go struct field "
     "TopologySpreadConstraint.defaultConstraints.labelSelector of type v1.LabelSelector"},
    {"profiles: [{pluginConfig: [{name: PodTopologySpread, args: {defaultConstraints: "
     "[{whenUnsatisfiable: 5}]}}]}]",
     "decoding .profiles[0].pluginConfig[0]: decoding args for plugin PodTopologySpread: json: "
     "cannot unmarshal number into Go struct field "
     "TopologySpreadConstraint.defaultConstraints.whenUnsatisfiable of type "
     "v1.UnsatisfiableConstraintAction"},
    {"profiles: [{pluginConfig: [{name: PodTopologySpread, args: {defaultConstraints: "
     "[{nodeTaintsPolicy: 5}]}}]}]",
     "decoding .profiles[0].pluginConfig[0]: decoding args for plugin PodTopologySpread: json: "
     "cannot unmarshal number into Go struct field "
     "TopologySpreadConstraint.defaultConstraints.nodeTaintsPolicy of type v1.NodeInclusionPolicy"},
    {"profiles: [{pluginConfig: [{name: PodTopologySpread, args: {defaultConstraints: "
     "[{matchLabelKeys: [5]}]}}]}]",
     "decoding .profiles[0].pluginConfig[0]: decoding args for plugin PodTopologySpread: json: "
     "cannot unmarshal number into Go struct field "
     "TopologySpreadConstraint.defaultConstraints.matchLabelKeys of type string"},
    {"profiles: [{pluginConfig: [{name: PodTopologySpread, args: {defaultConstraints: [5]}}]}]",
     "decoding .profiles[0].pluginConfig[0]: decoding args for plugin PodTopologySpread: json: "
     "cannot unmarshal number into Go struct field PodTopologySpreadArgs.defaultConstraints of "
     "type v1.TopologySpreadConstraint"},
    {"profiles: [{pluginConfig: [{name: DefaultPreemption, args: []}]}]",
     R"(decoding .profiles[0].pluginConfig[0]: decoding args for plugin DefaultPreemption: couldn't get version/kind; json parse error: json: cannot unmarshal array into Go value of type struct { APIVersion string "json:\"apiVersion,omitempty\""; Kind string "json:\"kind,omitempty\"" })"},
    {"profiles: [{pluginConfig: [{name: DefaultPreemption, args: 5}]}]",
     R"(decoding .profiles[0].pluginConfig[0]: decoding args for plugin DefaultPreemption: couldn't get version/kind; json parse error: json: cannot unmarshal number into Go value of type struct { APIVersion string "json:\"apiVersion,omitempty\""; Kind string "json:\"kind,omitempty\"" })"},
    {"profiles: [{pluginConfig: [{name: DefaultPreemption, args: {apiVersion: v1beta3}}]}]",
     R"(decoding .profiles[0].pluginConfig[0]: decoding args for plugin DefaultPreemption: no kind "DefaultPreemptionArgs" is registered for version "v1beta3" in scheme "pkg/runtime/scheme.go:111")"},
    {"profiles: [{pluginConfig: [{name: DefaultPreemption, args: {apiVersion: foo/}}]}]",
     R"(decoding .profiles[0].pluginConfig[0]: decoding args for plugin DefaultPreemption: Object 'apiVersion' is missing in '{"apiVersion":"foo/"}')"},
    {"profiles: [{pluginConfig: [{name: DefaultPreemption, args: {apiVersion: a/b/c}}]}]",
     "decoding .profiles[0].pluginConfig[0]: decoding args for plugin DefaultPreemption: "
     "unexpected GroupVersion string: a/b/c"},
    {"profiles: [{pluginConfig: [{name: DefaultPreemption, args: {apiVersion: 5}}]}]",
     "decoding .profiles[0].pluginConfig[0]: decoding args for plugin DefaultPreemption: couldn't "
     "get version/kind; json parse error: json: cannot unmarshal number into Go struct field "
     ".apiVersion of type string"},
    {"profiles: [{pluginConfig: [{name: DefaultPreemption, args: {kind: Foo}}]}]",
     R"(decoding .profiles[0].pluginConfig[0]: decoding args for plugin DefaultPreemption: no kind "Foo" is registered for version "kubescheduler.config.k8s.io/v1" in scheme "pkg/runtime/scheme.go:111")"},
    {"profiles: [{pluginConfig: [{name: DefaultPreemption, args: {Kind: Foo}}]}]",
     R"(decoding .profiles[0].pluginConfig[0]: decoding args for plugin DefaultPreemption: no kind "Foo" is registered for version "kubescheduler.config.k8s.io/v1" in scheme "pkg/runtime/scheme.go:111")"},
    {"profiles: [{pluginConfig: [{name: DefaultPreemption, args: {kind: "
     "KubeSchedulerConfiguration}}]}]",
     "decoding .profiles[0].pluginConfig[0]: args for plugin DefaultPreemption were not of type "
     "DefaultPreemptionArgs.kubescheduler.config.k8s.io, got "
     "KubeSchedulerConfiguration.kubescheduler.config.k8s.io"},
    {"profiles: [{pluginConfig: [{name: DefaultPreemption, args: {kind: "
     "KubeSchedulerConfiguration, foo: 1}}]}]",
     "decoding .profiles[0].pluginConfig[0]: args for plugin DefaultPreemption were not of type "
     "DefaultPreemptionArgs.kubescheduler.config.k8s.io, got "
     "KubeSchedulerConfiguration.kubescheduler.config.k8s.io"},
    {"profiles: [{pluginConfig: [{name: DefaultPreemption, args: {kind: InterPodAffinityArgs, foo: "
     "1}}]}]",
     "decoding .profiles[0].pluginConfig[0]: args for plugin DefaultPreemption were not of type "
     "DefaultPreemptionArgs.kubescheduler.config.k8s.io, got "
     "InterPodAffinityArgs.kubescheduler.config.k8s.io"},
    {"profiles: [{pluginConfig: [{name: DefaultPreemption, args: {kind: InterPodAffinityArgs, "
     "hardPodAffinityWeight: x}}]}]",
     "decoding .profiles[0].pluginConfig[0]: decoding args for plugin DefaultPreemption: json: "
     "cannot unmarshal string into Go struct field InterPodAffinityArgs.hardPodAffinityWeight of "
     "type int32"},
    {"profiles: [{pluginConfig: [{args: {kind: DefaultPreemptionArgs}, name: NodeResourcesFit}]}]",
     "decoding .profiles[0].pluginConfig[0]: args for plugin NodeResourcesFit were not of type "
     "NodeResourcesFitArgs.kubescheduler.config.k8s.io, got "
     "DefaultPreemptionArgs.kubescheduler.config.k8s.io"},
    {"profiles: [{pluginConfig: [{name: DefaultPreemption, args: {foo: 1}},{name: NodeAffinity, "
     "args: [1]}]}]\nfoo: 1",
     R"(decoding .profiles[0].pluginConfig[1]: decoding args for plugin NodeAffinity: couldn't get version/kind; json parse error: json: cannot unmarshal array into Go value of type struct { APIVersion string "json:\"apiVersion,omitempty\""; Kind string "json:\"kind,omitempty\"" })"},
    {"profiles: [{pluginConfig: [{name: DynamicResources, args: {filterTimeout: 5}}]}]",
     "decoding .profiles[0].pluginConfig[0]: decoding args for plugin DynamicResources: json: "
     "cannot unmarshal number into Go struct field DynamicResourcesArgs.filterTimeout of type "
     "string"},
    {"profiles: [{pluginConfig: [{name: NodeResourcesFit, args: {ignoredResources: [5]}}]}]",
     "decoding .profiles[0].pluginConfig[0]: decoding args for plugin NodeResourcesFit: json: "
     "cannot unmarshal number into Go struct field NodeResourcesFitArgs.ignoredResources of type "
     "string"},
    {"profiles: [{pluginConfig: [{name: NodeResourcesFit, args: {ignoredResources: x}}]}]",
     "decoding .profiles[0].pluginConfig[0]: decoding args for plugin NodeResourcesFit: json: "
     "cannot unmarshal string into Go struct field NodeResourcesFitArgs.ignoredResources of type "
     "[]string"},
    {"profiles: [{pluginConfig: [{name: NodeResourcesFit, args: {scoringStrategy: x}}]}]",
     "decoding .profiles[0].pluginConfig[0]: decoding args for plugin NodeResourcesFit: json: "
     "cannot unmarshal string into Go struct field NodeResourcesFitArgs.scoringStrategy of type "
     "v1.ScoringStrategy"},
    {"profiles: [{pluginConfig: [{name: NodeResourcesFit, args: {scoringStrategy: {type: 5}}}]}]",
     "decoding .profiles[0].pluginConfig[0]: decoding args for plugin NodeResourcesFit: json: "
     "cannot unmarshal number into Go struct field ScoringStrategy.scoringStrategy.type of type "
     "v1.ScoringStrategyType"},
    {"profiles: [{pluginConfig: [{name: NodeResourcesFit, args: {scoringStrategy: {resources: "
     "5}}}]}]",
     "decoding .profiles[0].pluginConfig[0]: decoding args for plugin NodeResourcesFit: json: "
     "cannot unmarshal number into Go struct field ScoringStrategy.scoringStrategy.resources of "
     "type []v1.ResourceSpec"},
    {"profiles: [{pluginConfig: [{name: NodeResourcesFit, args: {scoringStrategy: {resources: "
     "[5]}}}]}]",
     "decoding .profiles[0].pluginConfig[0]: decoding args for plugin NodeResourcesFit: json: "
     "cannot unmarshal number into Go struct field ScoringStrategy.scoringStrategy.resources of "
     "type v1.ResourceSpec"},
    {"profiles: [{pluginConfig: [{name: NodeResourcesFit, args: {scoringStrategy: {resources: "
     "[{weight: x}]}}}]}]",
     "decoding .profiles[0].pluginConfig[0]: decoding args for plugin NodeResourcesFit: json: "
     "cannot unmarshal string into Go struct field ResourceSpec.scoringStrategy.resources.weight "
     "of type int64"},
    {"profiles: [{pluginConfig: [{name: NodeResourcesFit, args: {scoringStrategy: "
     "{requestedToCapacityRatio: x}}}]}]",
     "decoding .profiles[0].pluginConfig[0]: decoding args for plugin NodeResourcesFit: json: "
     "cannot unmarshal string into Go struct field "
     "ScoringStrategy.scoringStrategy.requestedToCapacityRatio of type "
     "v1.RequestedToCapacityRatioParam"},
    {"profiles: [{pluginConfig: [{name: NodeResourcesFit, args: {scoringStrategy: "
     "{requestedToCapacityRatio: {shape: x}}}}]}]",
     "decoding .profiles[0].pluginConfig[0]: decoding args for plugin NodeResourcesFit: json: "
     "cannot unmarshal string into Go struct field "
     "RequestedToCapacityRatioParam.scoringStrategy.requestedToCapacityRatio.shape of type "
     "[]v1.UtilizationShapePoint"},
    {"profiles: [{pluginConfig: [{name: NodeResourcesFit, args: {scoringStrategy: "
     "{requestedToCapacityRatio: {shape: [x]}}}}]}]",
     "decoding .profiles[0].pluginConfig[0]: decoding args for plugin NodeResourcesFit: json: "
     "cannot unmarshal string into Go struct field "
     "RequestedToCapacityRatioParam.scoringStrategy.requestedToCapacityRatio.shape of type "
     "v1.UtilizationShapePoint"},
    {"profiles: [{pluginConfig: [{name: NodeResourcesFit, args: {scoringStrategy: "
     "{requestedToCapacityRatio: {shape: [{utilization: x}]}}}}]}]",
     "decoding .profiles[0].pluginConfig[0]: decoding args for plugin NodeResourcesFit: json: "
     "cannot unmarshal string into Go struct field "
     "UtilizationShapePoint.scoringStrategy.requestedToCapacityRatio.shape.utilization of type "
     "int32"},
    {"profiles: [{pluginConfig: [{name: NodeResourcesBalancedAllocation, args: {resources: x}}]}]",
     "decoding .profiles[0].pluginConfig[0]: decoding args for plugin "
     "NodeResourcesBalancedAllocation: json: cannot unmarshal string into Go struct field "
     "NodeResourcesBalancedAllocationArgs.resources of type []v1.ResourceSpec"},
    {"profiles: [{pluginConfig: [{name: VolumeBinding, args: {shape: x}}]}]",
     "decoding .profiles[0].pluginConfig[0]: decoding args for plugin VolumeBinding: json: cannot "
     "unmarshal string into Go struct field VolumeBindingArgs.shape of type "
     "[]v1.UtilizationShapePoint"},
    {"profiles: [{pluginConfig: [{name: VolumeBinding, args: {bindTimeoutSeconds: x}}]}]",
     "decoding .profiles[0].pluginConfig[0]: decoding args for plugin VolumeBinding: json: cannot "
     "unmarshal string into Go struct field VolumeBindingArgs.bindTimeoutSeconds of type int64"},
    {"profiles: [{pluginConfig: [{name: InterPodAffinity, args: "
     "{ignorePreferredTermsOfExistingPods: x}}]}]",
     "decoding .profiles[0].pluginConfig[0]: decoding args for plugin InterPodAffinity: json: "
     "cannot unmarshal string into Go struct field "
     "InterPodAffinityArgs.ignorePreferredTermsOfExistingPods of type bool"},
    {"profiles: [{pluginConfig: [{name: PodTopologySpread, args: {defaultingType: 5}}]}]",
     "decoding .profiles[0].pluginConfig[0]: decoding args for plugin PodTopologySpread: json: "
     "cannot unmarshal number into Go struct field PodTopologySpreadArgs.defaultingType of type "
     "v1.PodTopologySpreadConstraintsDefaulting"},
    {"profiles: [{pluginConfig: [{name: PodTopologySpread, args: {defaultConstraints: x}}]}]",
     "decoding .profiles[0].pluginConfig[0]: decoding args for plugin PodTopologySpread: json: "
     "cannot unmarshal string into Go struct field PodTopologySpreadArgs.defaultConstraints of "
     "type []v1.TopologySpreadConstraint"},
    {"profiles: [{pluginConfig: [{name: PodTopologySpread, args: {defaultConstraints: "
     "[{minDomains: x}]}}]}]",
     "decoding .profiles[0].pluginConfig[0]: decoding args for plugin PodTopologySpread: json: "
     "cannot unmarshal string into Go struct field "
     "TopologySpreadConstraint.defaultConstraints.minDomains of type int32"},
    {"profiles: [{pluginConfig: [{name: NodeAffinity, args: {addedAffinity: x}}]}]",
     "decoding .profiles[0].pluginConfig[0]: decoding args for plugin NodeAffinity: json: cannot "
     "unmarshal string into Go struct field NodeAffinityArgs.addedAffinity of type "
     "v1.NodeAffinity"},
    {"profiles: [{pluginConfig: [{name: NodeAffinity, args: {addedAffinity: "
     "{requiredDuringSchedulingIgnoredDuringExecution: x}}}]}]",
     "decoding .profiles[0].pluginConfig[0]: decoding args for plugin NodeAffinity: json: cannot "
     "unmarshal string into Go struct field "
     "NodeAffinity.addedAffinity.requiredDuringSchedulingIgnoredDuringExecution of type "
     "v1.NodeSelector"},
    {"profiles: [{pluginConfig: [{name: NodeAffinity, args: {addedAffinity: "
     "{requiredDuringSchedulingIgnoredDuringExecution: {nodeSelectorTerms: x}}}}]}]",
     "decoding .profiles[0].pluginConfig[0]: decoding args for plugin NodeAffinity: json: cannot "
     "unmarshal string into Go struct field "
     "NodeSelector.addedAffinity.requiredDuringSchedulingIgnoredDuringExecution.nodeSelectorTerms "
     "of type []v1.NodeSelectorTerm"},
    {"profiles: [{pluginConfig: [{name: NodeAffinity, args: {addedAffinity: "
     "{requiredDuringSchedulingIgnoredDuringExecution: {nodeSelectorTerms: [x]}}}}]}]",
     "decoding .profiles[0].pluginConfig[0]: decoding args for plugin NodeAffinity: json: cannot "
     "unmarshal string into Go struct field "
     "NodeSelector.addedAffinity.requiredDuringSchedulingIgnoredDuringExecution.nodeSelectorTerms "
     "of type v1.NodeSelectorTerm"},
    {"profiles: [{pluginConfig: [{name: NodeAffinity, args: {addedAffinity: "
     "{requiredDuringSchedulingIgnoredDuringExecution: {nodeSelectorTerms: [{matchExpressions: "
     "x}]}}}}]}]",
     "decoding .profiles[0].pluginConfig[0]: decoding args for plugin NodeAffinity: json: cannot "
     "unmarshal string into Go struct field "
     "NodeSelectorTerm.addedAffinity.requiredDuringSchedulingIgnoredDuringExecution."
     "nodeSelectorTerms.matchExpressions of type []v1.NodeSelectorRequirement"},
    {"profiles: [{pluginConfig: [{name: NodeAffinity, args: {addedAffinity: "
     "{requiredDuringSchedulingIgnoredDuringExecution: {nodeSelectorTerms: [{matchFields: "
     "[x]}]}}}}]}]",
     "decoding .profiles[0].pluginConfig[0]: decoding args for plugin NodeAffinity: json: cannot "
     "unmarshal string into Go struct field "
     "NodeSelectorTerm.addedAffinity.requiredDuringSchedulingIgnoredDuringExecution."
     "nodeSelectorTerms.matchFields of type v1.NodeSelectorRequirement"},
    {"profiles: [{pluginConfig: [{name: NodeAffinity, args: {addedAffinity: "
     "{requiredDuringSchedulingIgnoredDuringExecution: {nodeSelectorTerms: [{matchFields: "
     "[{operator: y}]}]}}}}]}]",
     "decoding .profiles[0].pluginConfig[0]: decoding args for plugin NodeAffinity: json: cannot "
     "unmarshal bool into Go struct field "
     "NodeSelectorRequirement.addedAffinity.requiredDuringSchedulingIgnoredDuringExecution."
     "nodeSelectorTerms.matchFields.operator of type v1.NodeSelectorOperator"},
    {"profiles: [{pluginConfig: [{name: NodeAffinity, args: {addedAffinity: "
     "{requiredDuringSchedulingIgnoredDuringExecution: {nodeSelectorTerms: [{matchFields: "
     "[{values: [y]}]}]}}}}]}]",
     "decoding .profiles[0].pluginConfig[0]: decoding args for plugin NodeAffinity: json: cannot "
     "unmarshal bool into Go struct field "
     "NodeSelectorRequirement.addedAffinity.requiredDuringSchedulingIgnoredDuringExecution."
     "nodeSelectorTerms.matchFields.values of type string"},
    {"profiles: [{pluginConfig: [{name: NodeAffinity, args: {addedAffinity: "
     "{preferredDuringSchedulingIgnoredDuringExecution: x}}}]}]",
     "decoding .profiles[0].pluginConfig[0]: decoding args for plugin NodeAffinity: json: cannot "
     "unmarshal string into Go struct field "
     "NodeAffinity.addedAffinity.preferredDuringSchedulingIgnoredDuringExecution of type "
     "[]v1.PreferredSchedulingTerm"},
    {"profiles: [{pluginConfig: [{name: NodeAffinity, args: {addedAffinity: "
     "{preferredDuringSchedulingIgnoredDuringExecution: [x]}}}]}]",
     "decoding .profiles[0].pluginConfig[0]: decoding args for plugin NodeAffinity: json: cannot "
     "unmarshal string into Go struct field "
     "NodeAffinity.addedAffinity.preferredDuringSchedulingIgnoredDuringExecution of type "
     "v1.PreferredSchedulingTerm"},
    {"profiles: [{pluginConfig: [{name: NodeAffinity, args: {addedAffinity: "
     "{preferredDuringSchedulingIgnoredDuringExecution: [{preference: x}]}}}]}]",
     "decoding .profiles[0].pluginConfig[0]: decoding args for plugin NodeAffinity: json: cannot "
     "unmarshal string into Go struct field "
     "PreferredSchedulingTerm.addedAffinity.preferredDuringSchedulingIgnoredDuringExecution."
     "preference of type v1.NodeSelectorTerm"},
    {"profiles: [{pluginConfig: [{name: NodeAffinity, args: {addedAffinity: "
     "{preferredDuringSchedulingIgnoredDuringExecution: [{weight: x}]}}}]}]",
     "decoding .profiles[0].pluginConfig[0]: decoding args for plugin NodeAffinity: json: cannot "
     "unmarshal string into Go struct field "
     "PreferredSchedulingTerm.addedAffinity.preferredDuringSchedulingIgnoredDuringExecution.weight "
     "of type int32"},
    {"profiles: [{pluginConfig: [{name: NodeResourcesFit, args: {scoringStrategy: "
     "{requestedToCapacityRatio: {shape: [{utilization: x}], y: 1}, zz: 1}}}]}]",
     "decoding .profiles[0].pluginConfig[0]: decoding args for plugin NodeResourcesFit: json: "
     "cannot unmarshal string into Go struct field "
     "UtilizationShapePoint.scoringStrategy.requestedToCapacityRatio.shape.utilization of type "
     "int32"},
    {"profiles: [{pluginConfig: [{name: DefaultPreemption, args: {kind: defaultPreemptionArgs}}]}]",
     R"(decoding .profiles[0].pluginConfig[0]: decoding args for plugin DefaultPreemption: no kind "defaultPreemptionArgs" is registered for version "kubescheduler.config.k8s.io/v1" in scheme "pkg/runtime/scheme.go:111")"},
};

const Row kStrict[] = {
    {"foo: bar\n", R"(strict decoding error: unknown field "foo")"},
    {"=# c\n---\napiVersion: kubescheduler.config.k8s.io/v1\nkind: "
     "KubeSchedulerConfiguration\nfoo: 1\n",
     R"(strict decoding error: unknown field "foo")"},
    {"parallelism: 5\nparallelism:\n  6\n",
     "strict decoding error: yaml: unmarshal errors:\n  line 5: key \"parallelism\" already set in "
     "map"},
    {"1: a\n1: b\n",
     "strict decoding error: yaml: unmarshal errors:\n  line 4: key 1 already set in map, unknown "
     "field \"1\""},
    {"yes: a\nno: b\nyes: c\n",
     "strict decoding error: yaml: unmarshal errors:\n  line 5: key true already set in map, "
     "unknown field \"false\", unknown field \"true\""},
    {"leaderElection: {\"\": 1}\n", R"(strict decoding error: unknown field "leaderElection.")"},
    {"1.5: a\n1e10: b\n100000.0: c\n1234567.0: d\n0.1: e\n",
     R"(strict decoding error: unknown field "0.1", unknown field "1.234567e+06", unknown field "1.5", unknown field "100000", unknown field "1e+10")"},
    {"profiles: [{pluginConfig: [{name: DefaultPreemption, args: {foo: 1}},{name: NodeAffinity, "
     "args: {bar: {baz: 1}, addedAffinity: {x: 1}}}], zzz: 1}]\nfoo: 1",
     R"(strict decoding error: unknown field "foo", unknown field "profiles[0].zzz", decoding .profiles[0].pluginConfig[0]: strict decoding error: decoding args for plugin DefaultPreemption: strict decoding error: unknown field "foo", decoding .profiles[0].pluginConfig[1]: strict decoding error: decoding args for plugin NodeAffinity: strict decoding error: unknown field "addedAffinity.x", unknown field "bar")"},
    {"profiles: [{pluginConfig: [{name: DefaultPreemption, args: {minCandidateNodesAbsolute: 5, "
     "minCandidateNodesAbsolute: 6}}]}]",
     "strict decoding error: yaml: unmarshal errors:\n  line 3: key \"minCandidateNodesAbsolute\" "
     "already set in map"},
    {"profiles: [{pluginConfig: [{name: Foo, args: {a: 5, a: 6}}]}]",
     "strict decoding error: yaml: unmarshal errors:\n  line 3: key \"a\" already set in map"},
    {"=apiVersion: kubescheduler.config.k8s.io/v1\nkind: NodeAffinityArgs\nfoo: 1\n",
     R"(strict decoding error: unknown field "foo")"},
    {R"(={"kind":"KubeSchedulerConfiguration","KIND":null,"apiVersion":"kubescheduler.config.k8s.io/v1"})",
     R"(strict decoding error: unknown field "KIND")"},
    {R"(={"kind":"KubeSchedulerConfiguration","apiVersion":"kubescheduler.config.k8s.io/v1","parallelism":5,"parallelism":6,"foo":1,"leaderElection":{"a":1,"leaderElect":true,"leaderElect":false}})",
     R"(strict decoding error: duplicate field "parallelism", unknown field "foo", unknown field "leaderElection.a", duplicate field "leaderElection.leaderElect")"},
    {R"(={"kind":"KubeSchedulerConfiguration","apiVersion":"kubescheduler.config.k8s.io/v1","profiles":[{"pluginConfig":[{"name":"DefaultPreemption","args":{"minCandidateNodesAbsolute":5,"minCandidateNodesAbsolute":6}},{"name":"Foo","args":{"a":1,"a":2}}]}]})",
     R"(strict decoding error: decoding .profiles[0].pluginConfig[0]: strict decoding error: decoding args for plugin DefaultPreemption: strict decoding error: duplicate field "minCandidateNodesAbsolute")"},
    {R"(={"kind":"KubeSchedulerConfiguration","apiVersion":"kubescheduler.config.k8s.io/v1","foo":1,"foo":2,"foo":3})",
     R"(strict decoding error: unknown field "foo")"},
    {R"(={"kind":"KubeSchedulerConfiguration","kind":"KubeSchedulerConfiguration","apiVersion":"kubescheduler.config.k8s.io/v1"})",
     R"(strict decoding error: duplicate field "kind")"},
    {R"(={"kind":"KubeSchedulerConfiguration","apiVersion":"kubescheduler.config.k8s.io/v1","leaderElection":{},"leaderElection":{}})",
     R"(strict decoding error: duplicate field "leaderElection")"},
    {R"(={"kind":"KubeSchedulerConfiguration","apiVersion":"kubescheduler.config.k8s.io/v1","profiles":[{}],"profiles":[{"foo":1}]})",
     R"(strict decoding error: duplicate field "profiles", unknown field "profiles[0].foo")"},
    {"a.b: 1\n\"c d\": 2\n\"\": 3\n\"q\\\"q\": 4",
     R"(strict decoding error: unknown field "", unknown field "a.b", unknown field "c d", unknown field "q\"q")"},
    {R"(={"kind":"KubeSchedulerConfiguration","apiVersion":"kubescheduler.config.k8s.io/v1","profiles":[{"pluginConfig":[{"name":"PodTopologySpread","args":{"defaultConstraints":[{"labelSelector":{"matchLabels":{"a":"b","a":"c"}}}]}}]}]})",
     R"(strict decoding error: decoding .profiles[0].pluginConfig[0]: strict decoding error: decoding args for plugin PodTopologySpread: strict decoding error: duplicate field "defaultConstraints[0].labelSelector.matchLabels.a")"},
    {"profiles: [{plugins: {Filter: {enabled: [{Name: x}]}}}]",
     R"(strict decoding error: unknown field "profiles[0].plugins.Filter")"},
    {"extenders: [{enableHttps: true}]",
     R"(strict decoding error: unknown field "extenders[0].enableHttps")"},
    {"a: ! 5", R"(strict decoding error: unknown field "a")"},
};

const Row kDurations[] = {
    // A bad duration ends the decoding: type errors noted before it are not told.
    {"extenders: [{enableHTTPS: {}}]\nleaderElection: {leaseDuration: 5}",
     R"(json: cannot unmarshal number into Go struct field LeaderElectionConfiguration.leaderElection.leaseDuration of type string)"},
    {"extenders: [{enableHTTPS: {}, httpTimeout: abc}]\nleaderElection: {leaseDuration: x}",
     R"(time: invalid duration "abc")"},
    // Only the value that counts must be a JSON number.
    {"parallelism: .inf\nparallelism: x",
     R"(json: cannot unmarshal string into Go struct field KubeSchedulerConfiguration.parallelism of type int32)"},
    {"extenders: [{httpTimeout: null}]", R"(time: invalid duration "")"},
    {"extenders: [{httpTimeout: 5 s}]", R"(time: unknown unit " s" in duration "5 s")"},
    {"profiles: [{pluginConfig: [{name: DynamicResources, args: {filterTimeout: x}}]}]",
     R"(decoding .profiles[0].pluginConfig[0]: decoding args for plugin DynamicResources: time: invalid duration "x")"},
    {"=apiVersion: kubescheduler.config.k8s.io/v1\nkind: DynamicResourcesArgs\nfilterTimeout: x\n",
     R"(time: invalid duration "x")"},
    {R"(={"kind":"KubeSchedulerConfiguration","apiVersion":"kubescheduler.config.k8s.io/v1","leaderElection":{"renewDeadline":"x","leaseDuration":5}})",
     R"(time: invalid duration "x")"},
    {R"(leaderElection: {leaseDuration: "1.5h", renewDeadline: " 5s"})",
     R"(time: invalid duration " 5s")"},
    {"leaderElection: {leaseDuration: \"\303\251\"}", R"(time: invalid duration "\xc3\xa9")"},
    {R"(leaderElection: {leaseDuration: "5\u03bcs", renewDeadline: "5\u00e9"})",
     R"(time: unknown unit "\xc3\xa9" in duration "5\xc3\xa9")"},
    {R"(leaderElection: {leaseDuration: "a\"b\\c\n\t\x01\x7f"})",
     "time: invalid duration \"a\\\"b\\\\c\\x0a\\x09\\x01\177\""},
    {"leaderElection: {leaseDuration: 9223372036854775808ns}",
     R"(time: invalid duration "9223372036854775808ns")"},
    {"leaderElection: {leaseDuration: .s}", R"(time: invalid duration ".s")"},
    {R"(leaderElection: {leaseDuration: "+"})", R"(time: invalid duration "+")"},
    {"leaderElection: {leaseDuration: 1s2}", R"(time: missing unit in duration "1s2")"},
    {"leaderElection: {leaseDuration: 1s2d}", R"(time: unknown unit "d" in duration "1s2d")"},
    {"leaderElection: {leaseDuration: 1.5.5s}", R"(time: missing unit in duration "1.5.5s")"},
    {"leaderElection: {leaseDuration: 99999999999999999999s}",
     R"(time: invalid duration "99999999999999999999s")"},
    {"leaderElection: {leaseDuration: 1s-5s}", R"(time: unknown unit "s-" in duration "1s-5s")"},
};

const Row kAccepted[] = {
    {"parallelism: 5\n", ""},
    {"# c\n", ""},
    {"parallelism: 5.\n", ""},
    {"parallelism: .5e1\n", ""},
    {"profiles: [{pluginConfig: [{name: DefaultPreemption, args: null}]}]", ""},
    {"profiles: [{pluginConfig: [{name: DefaultPreemption, args: {apiVersion: "
     "kubescheduler.config.k8s.io/}}]}]",
     ""},
    {"profiles: [{pluginConfig: [{name: KubeSchedulerConfiguration, args: {a: 1}}]}]", ""},
    {R"(profiles: [{pluginConfig: [{name: "", args: {a: 1}}]}])", ""},
    {"profiles: [{pluginConfig: [{name: Foo, args: [1,2]}]}]", ""},
    {"profiles: null", ""},
    {"profiles: [null]", ""},
    {"extenders: [null]", ""},
    {"profiles: [{plugins: {filter: {enabled: [null]}}}]", ""},
    {"clientConnection: {qps: 1e-50}", ""},
    {"clientConnection: {qps: 12345678901}", ""},
    {R"(extenders: [{tlsConfig: {caData: "eHh4"}}])", ""},
    {"extenders: [{tlsConfig: {caData: [1, null, 3]}}]", ""},
    {"profiles: [{pluginConfig: [{name: DynamicResources, args: {filterTimeout: null, "
     "bindingTimeout: null}}]}]",
     ""},
    {R"(={"kind":"KubeSchedulerConfiguration","apiVersion":"kubescheduler.config.k8s.io/v1","parallelism":-0})",
     ""},
    {R"(={"kind":"KubeSchedulerConfiguration","apiVersion":"kubescheduler.config.k8s.io/v1","clientConnection":{"qps":50.5}})",
     ""},
    {R"(leaderElection: {leaseDuration: "5\u00b5s"})", ""},
    {"leaderElection: {leaseDuration: 9223372036854775807ns}", ""},
    {"leaderElection: {leaseDuration: -9223372036854775808ns}", ""},
    {"leaderElection: {leaseDuration: 0.99999999999999999999s}", ""},
    {R"(={"kind":"KubeSchedulerConfiguration","apiVersion":"kubescheduler.config.k8s.io/v1","profiles":[{"pluginConfig":[{"name":"PodTopologySpread","args":{"defaultConstraints":[{"labelSelector":{"matchLabels":{"a":null}}}]}}]}]})",
     ""},
    {"parallelism: 1e1", ""},
    {"parallelism: 0x10", ""},
    {"parallelism: 1_6", ""},
    {"podMaxBackoffSeconds: 9223372036854775807", ""},
    {"parallelism: null", ""},
    {"leaderElection: {resourceName: 2020-01-01}", ""},
    {"enableProfiling: null", ""},
    {"profiles: [{schedulerName: 1:30}]", ""},
};

TEST(DecodeTest, Routing) {
  for (const Row& row : kRouting) Check(row);
}

TEST(DecodeTest, Types) {
  for (const Row& row : kTypes) Check(row);
}

TEST(DecodeTest, Arguments) {
  for (const Row& row : kArguments) Check(row);
}

TEST(DecodeTest, Strict) {
  for (const Row& row : kStrict) Check(row);
}

TEST(DecodeTest, Durations) {
  for (const Row& row : kDurations) Check(row);
}

TEST(DecodeTest, Accepted) {
  for (const Row& row : kAccepted) Check(row);
}

}  // namespace
}  // namespace ks::config
