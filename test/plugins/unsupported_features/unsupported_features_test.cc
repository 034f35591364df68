// SPDX-License-Identifier: Apache-2.0
#include "plugins/unsupported_features/unsupported_features.h"

#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "plugins/plugin_rig.h"
#include "plugins/unsupported_features/reasons.h"

namespace ks::plugins {
namespace {

using api::Volume;
using testing::MakeNode;
using testing::MakePod;
using testing::PodBuilder;
using Reasons = std::vector<std::string_view>;

std::vector<std::string> Texts(const Reasons& reasons) { return {reasons.begin(), reasons.end()}; }

PodBuilder WithVolume(Volume::Source source) {
  PodBuilder pod = MakePod().Req({});
  Volume volume;
  volume.source = source;
  pod.spec().volumes.push_back(volume);
  return pod;
}

// Changes the spec of a plain pod.
template <class Change>
PodBuilder With(Change change) {
  PodBuilder pod = MakePod().Req({});
  change(pod.spec());
  return pod;
}

TEST(UnsupportedFeaturesTest, SpecFeatures) {
  using Source = Volume::Source;
  struct Case {
    std::string name;
    PodBuilder pod;
    Reasons want;
  };
  const Case cases[] = {
      {"plain", MakePod().Req({{"cpu", "1"}}), {}},
      {"claim", WithVolume(Source::kPersistentVolumeClaim), {kNoPersistentVolumeClaims}},
      {"ephemeral", WithVolume(Source::kEphemeral), {kNoPersistentVolumeClaims}},
      {"csi", WithVolume(Source::kCsi), {kNoInlineDisks}},
      {"gce", WithVolume(Source::kGcePersistentDisk), {kNoInlineDisks}},
      {"aws", WithVolume(Source::kAwsElasticBlockStore), {kNoInlineDisks}},
      {"iscsi", WithVolume(Source::kIscsi), {kNoInlineDisks}},
      {"rbd", WithVolume(Source::kRbd), {kNoInlineDisks}},
      {"azure disk", WithVolume(Source::kAzureDisk), {kNoInlineDisks}},
      {"cinder", WithVolume(Source::kCinder), {kNoInlineDisks}},
      {"vsphere", WithVolume(Source::kVsphere), {kNoInlineDisks}},
      {"portworx", WithVolume(Source::kPortworx), {kNoInlineDisks}},
      {"empty directory", WithVolume(Source::kOther), {}},
      {"config map", WithVolume(Source::kConfigMapOrSecret), {}},
      {"image", WithVolume(Source::kImage), {}},
      {"azure file", WithVolume(Source::kAzureFile), {}},
      {"resource claim",
       With([](api::PodSpec& s) { s.resource_claims.emplace_back(); }),
       {kNoResourceClaims}},
      {"required affinity",
       With([](api::PodSpec& s) { s.pod_affinity.emplace().required.emplace_back(); }),
       {kNoPodAffinity}},
      {"preferred anti-affinity",
       With([](api::PodSpec& s) { s.pod_anti_affinity.emplace().preferred.emplace_back(); }),
       {kNoPodAntiAffinity}},
      {"affinity without terms", With([](api::PodSpec& s) { s.pod_affinity.emplace(); }), {}},
      {"spread",
       With([](api::PodSpec& s) { s.topology_spread_constraints.emplace_back(); }),
       {kNoTopologySpread}},
      {"user namespace on the host network",
       With([](api::PodSpec& s) {
         s.host_network = true;
         s.host_users = false;
       }),
       {kNoDeclaredFeatures}},
      {"host network alone", With([](api::PodSpec& s) { s.host_network = true; }), {}},
      {"restart of all containers",
       With([](api::PodSpec& s) { s.containers[0].restarts_all_containers = true; }),
       {kNoDeclaredFeatures}},
      {"bind mount options of an ephemeral container",
       With([](api::PodSpec& s) { s.ephemeral_bind_mount_options = true; }),
       {kNoDeclaredFeatures}},
      {"several",
       With([](api::PodSpec& s) {
         s.topology_spread_constraints.emplace_back();
         s.resource_claims.emplace_back();
       }),
       {kNoResourceClaims, kNoTopologySpread}},
  };
  PluginRig rig(NewUnsupportedFeatures);
  for (const Case& c : cases) {
    SCOPED_TRACE(c.name);
    const framework::Status status = rig.PreFilter(*c.pod.Obj()).status;
    EXPECT_EQ(status.reasons(), Texts(c.want));
    EXPECT_EQ(status.code(), c.want.empty() ? framework::Code::kSuccess
                                            : framework::Code::kUnschedulableAndUnresolvable);
  }
}

api::PodAffinityTerm AppTerm(std::string app) {
  api::PodAffinityTerm term;
  term.label_selector.emplace().match_labels = {{"app", std::move(app)}};
  term.topology_key = Symbol("kubernetes.io/hostname");
  return term;
}
PodBuilder Running(const std::vector<api::PodAffinityTerm>& terms) {
  PodBuilder pod = MakePod().Name("running").Namespace("one");
  pod.spec().pod_anti_affinity.emplace().required = terms;
  return pod;
}
PodBuilder Incoming(std::string_view ns, const std::string& app) {
  return MakePod().Namespace(ns).Labels({{"app", app}});
}

TEST(UnsupportedFeaturesTest, AntiAffinityOfRunningPods) {
  api::PodAffinityTerm in_two = AppTerm("a");
  in_two.namespaces = {Symbol("two")};
  api::PodAffinityTerm anywhere = AppTerm("a");
  anywhere.namespace_selector.emplace();
  api::PodAffinityTerm by_label = anywhere;
  by_label.namespace_selector->match_labels = {{"team", "x"}};
  api::PodAffinityTerm null_selector = AppTerm("a");
  null_selector.label_selector.reset();
  api::PodAffinityTerm malformed = AppTerm("a");
  malformed.label_selector->match_expressions = {{"app", "Foo", {}}};
  struct Case {
    std::string name;
    PodBuilder running;
    PodBuilder pod;
    bool want;
  };
  const Case cases[] = {
      {"same namespace", Running({AppTerm("a")}), Incoming("one", "a"), true},
      {"other labels", Running({AppTerm("a")}), Incoming("one", "b"), false},
      {"other namespace", Running({AppTerm("a")}), Incoming("two", "a"), false},
      {"second term", Running({AppTerm("b"), AppTerm("a")}), Incoming("one", "a"), true},
      {"named namespace", Running({in_two}), Incoming("two", "a"), true},
      {"own namespace is not implied", Running({in_two}), Incoming("one", "a"), false},
      {"all namespaces", Running({anywhere}), Incoming("three", "a"), true},
      {"namespaces by label may match", Running({by_label}), Incoming("three", "a"), true},
      {"null selector matches nothing", Running({null_selector}), Incoming("one", "a"), false},
      {"a malformed term voids the list", Running({AppTerm("a"), malformed}), Incoming("one", "a"),
       false},
  };
  for (const Case& c : cases) {
    SCOPED_TRACE(c.name);
    PluginRig rig(NewUnsupportedFeatures);
    rig.AddNode(MakeNode(), {c.running.Obj()});
    EXPECT_EQ(rig.PreFilter(*c.pod.Obj()).status.reasons(),
              Texts(c.want ? Reasons{kNoForeignAntiAffinity} : Reasons{}));
  }
}

TEST(UnsupportedFeaturesTest, Events) {
  PluginRig rig(NewUnsupportedFeatures);
  EXPECT_EQ(rig.Events(), (std::vector<std::string>{"TargetPod/32764", "AssignedPod/2"}));
  const auto registrations = rig.As<framework::EnqueueExtensions>()->EventsToRegister();
  const auto& hint = registrations[1].hint;
  EXPECT_EQ(hint(*Incoming("one", "a").Obj(), {}, {}).value(), framework::QueueingHint::kQueue);
  EXPECT_EQ(hint(*WithVolume(Volume::Source::kCsi).Obj(), {}, {}).value(),
            framework::QueueingHint::kSkip);
}

}  // namespace
}  // namespace ks::plugins
