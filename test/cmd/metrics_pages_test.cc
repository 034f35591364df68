// SPDX-License-Identifier: Apache-2.0
// docs/spec/metrics.md section 7, 9.7 and 9.9: the page of resources, what the flags select, and
// the metrics that are settled at start.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <fstream>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "kubesched/endpoints/metrics_endpoints.h"
#include "kubesched/endpoints/metrics_identity.h"
#include "metrics/registry.h"
#include "testing/builders.h"
#include "testing/temp_dir.h"

namespace ks::daemon {
namespace {

using ks::testing::MakePod;
using ::testing::HasSubstr;
using ::testing::Not;

// The builders know no limits.
api::PodPtr WithLimits(const api::PodPtr& pod, const ks::testing::Resources& limits) {
  auto changed = std::make_shared<api::Pod>(*pod);
  auto spec = std::make_shared<api::PodSpec>(*pod->spec);
  spec->containers[0].limits = ks::testing::MakeResources(limits);
  changed->spec = std::move(spec);
  return changed;
}

std::vector<api::PodPtr> Example97() {
  ks::testing::PodBuilder a = MakePod().Name("res-a").Namespace("default").Node("node-2");
  a.SchedulerName("default-scheduler").Priority(0);
  a.Req({{"cpu", "100m"}, {"memory", "64Mi"}, {"ephemeral-storage", "1Gi"}});
  a.InitReq({{"cpu", "500m"}, {"memory", "10Mi"}}).SidecarReq({{"cpu", "50m"}});
  ks::testing::PodBuilder b = MakePod().Name("res-b").Namespace("default").SchedulerName("other");
  b.Priority(0).Req({{"example.com/gpu", "1"}, {"hugepages-2Mi", "4Mi"}});
  ks::testing::PodBuilder c = MakePod().Name("res-c").Namespace("default").Node("node-3");
  c.SchedulerName("default-scheduler").Priority(1000).Req({{"cpu", "1m"}});
  c.PodLevel({{"cpu", "300m"}, {"memory", "32Mi"}});
  return {WithLimits(a.Obj(), {{"cpu", "200m"}, {"memory", "128Mi"}}), b.Obj(), c.Obj()};
}

TEST(ResourcePageTest, Example97) {
  const std::string page = ResourcePage(Example97(), false);
  for (
      const char* line :
      {R"(kube_pod_resource_request{namespace="default",node="node-2",pod="res-a",priority="0",resource="cpu",scheduler="default-scheduler",unit="cores"} 0.5)",
       R"(kube_pod_resource_request{namespace="default",node="node-2",pod="res-a",priority="0",resource="ephemeral-storage",scheduler="default-scheduler",unit="bytes"} 1.073741824e+09)",
       R"(kube_pod_resource_limit{namespace="default",node="node-2",pod="res-a",priority="0",resource="memory",scheduler="default-scheduler",unit="bytes"} 1.34217728e+08)",
       R"(kube_pod_resource_request{namespace="default",node="",pod="res-b",priority="0",resource="example.com/gpu",scheduler="other",unit=""} 1)",
       R"(kube_pod_resource_request{namespace="default",node="",pod="res-b",priority="0",resource="hugepages-2Mi",scheduler="other",unit="bytes"} 4.194304e+06)",
       R"(kube_pod_resource_request{namespace="default",node="node-3",pod="res-c",priority="1000",resource="cpu",scheduler="default-scheduler",unit="cores"} 0.3)"}) {
    EXPECT_THAT(page, HasSubstr(std::string(line) + "\n"));
  }
  EXPECT_TRUE(page.starts_with("# HELP kube_pod_resource_limit [STABLE] "));
  EXPECT_LT(
      page.find(R"(node="",pod="res-b")"),
      page.find(
          R"(node="node-2",pod="res-a",priority="0",resource="cpu",scheduler="default-scheduler",unit="cores"} 0.5)"))
      << "series by label values";
  EXPECT_EQ(page.find("kube_pod_resource_limit{namespace=\"default\",node=\"\""), std::string::npos)
      << "no limits, no series";
}

TEST(ResourcePageTest, WhatIsLeftOut) {
  EXPECT_EQ(ResourcePage({}, false), "");
  EXPECT_EQ(ResourcePage({}, true), "");
  auto finished = std::make_shared<api::Pod>(*Example97()[0]);
  finished->status.phase = Symbol("Succeeded");
  EXPECT_EQ(ResourcePage({finished}, false), "");
  EXPECT_EQ(ResourcePage({MakePod().Name("nothing").Req({{"cpu", "0"}}).Obj()}, false), "");
}

TEST(ResourcePageTest, OverheadCountsForLimitsWhereThereAreSome) {
  ks::testing::PodBuilder pod = MakePod().Name("p").Namespace("ns").Req({{"cpu", "1"}});
  pod.Overhead({{"cpu", "250m"}, {"memory", "1Ki"}});
  const std::string page = ResourcePage({WithLimits(pod.Obj(), {{"cpu", "2"}})}, false);
  EXPECT_THAT(page,
              HasSubstr(R"(resource="cpu",scheduler="default-scheduler",unit="cores"} 2.25)"));
  EXPECT_THAT(page,
              HasSubstr(R"(resource="cpu",scheduler="default-scheduler",unit="cores"} 1.25)"));
  EXPECT_THAT(page,
              HasSubstr(R"(resource="memory",scheduler="default-scheduler",unit="bytes"} 1024)"));
  EXPECT_THAT(page,
              Not(HasSubstr(
                  "limit{namespace=\"ns\",node=\"\",pod=\"p\",priority=\"\",resource=\"memory\"")));
}

TEST(SelectionOfTest, Flags) {
  MetricsOptions options;
  options.disabled = {"a", "b", "a"};
  options.show_hidden_for_version = "1.36";
  options.allow_labels = {{"m,l", "x,y"}, {"m,k", "z"}};
  options.allow_labels_manifest = "/nowhere";  // ignored beside the flag
  const auto selection = SelectionOf(options);
  ASSERT_TRUE(selection.ok());
  EXPECT_EQ(selection->disabled.size(), 2U);
  EXPECT_TRUE(selection->show_hidden);
  EXPECT_EQ(selection->allowed.at("m").at("l"), (std::set<std::string>{"x", "y"}));
  EXPECT_EQ(selection->allowed.at("m").at("k"), (std::set<std::string>{"z"}));
}

TEST(SelectionOfTest, Manifest) {
  const ks::testing::TempDir folder;
  const std::string file = folder.path() + "/manifest.yaml";
  std::ofstream(file) << "\"m,l\": \"x,y\"\nm,k: z\n";
  MetricsOptions options;
  options.allow_labels_manifest = file;
  const auto selection = SelectionOf(options);
  ASSERT_TRUE(selection.ok());
  EXPECT_EQ(selection->allowed.at("m").at("l"), (std::set<std::string>{"x", "y"}));
  EXPECT_EQ(selection->allowed.at("m").at("k"), (std::set<std::string>{"z"}));
  options.allow_labels_manifest = file + ".gone";
  EXPECT_FALSE(SelectionOf(options).ok());
}

TEST(ShowIdentityTest, VersionsAndGates) {
  metrics::Registry registry;
  ShowIdentity(registry, {.feature_gates = {"AllAlpha=false,SchedulerAsyncAPICalls=true"},
                          .emulated_version = {"1.36"}});
  const std::string text = registry.Text();
  EXPECT_THAT(text, HasSubstr("git_version=\"v1.37."));
  EXPECT_THAT(text, HasSubstr("version_info{binary=\"1.37.1\",component=\"kube\",emulation="
                              "\"1.36\",min_compat=\"1.35\"} 1\n"));
  EXPECT_THAT(text, HasSubstr("kubesched_build_info{reference=\"v1.37.1\",version=\"" KS_VERSION));
  EXPECT_THAT(text, HasSubstr("kubernetes_feature_enabled{name=\"SchedulerAsyncAPICalls\",stage="));
  EXPECT_THAT(text, HasSubstr("kubernetes_feature_enabled{name=\"AllAlpha\",stage=\"ALPHA\"} 0\n"));
  EXPECT_THAT(text, Not(HasSubstr("CompositePodGroup"))) << "not yet at the emulated version";
}

}  // namespace
}  // namespace ks::daemon
