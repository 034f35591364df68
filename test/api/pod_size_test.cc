// SPDX-License-Identifier: Apache-2.0
#include "api/pod_size.h"

#include <gtest/gtest.h>

#include <functional>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "testing/builders.h"

namespace ks::api {
namespace {

using ks::testing::MakePod;
using ks::testing::PodBuilder;

constexpr size_t kMany = 1000;

SelectorRequirement In(const std::string& key, size_t values) {
  SelectorRequirement requirement{key, "In", {}};
  for (size_t i = 0; i < values; ++i) requirement.values.push_back("value-" + std::to_string(i));
  return requirement;
}

LabelSelectorSpec Selector(size_t values) {
  LabelSelectorSpec selector;
  selector.match_expressions.push_back(In("key", values));
  return selector;
}

struct Case {
  std::string name;
  std::function<void(PodBuilder&)> set;  // something of kMany elements, or of so many bytes
};

// Every list and text that the author of a pod can make long.
const std::vector<Case>& Cases() {
  static const std::vector<Case> cases = {
      {"Labels",
       [](PodBuilder& pod) {
         for (size_t i = 0; i < kMany; ++i) {
           pod.pod().meta.labels.Set(Symbol("key-" + std::to_string(i)), Symbol("value"));
         }
       }},
      {"Annotation",
       [](PodBuilder& pod) {
         pod.pod().meta.annotations.Set(Symbol("key"), std::string(100 * kMany, 'x'));
       }},
      {"Raw",
       [](PodBuilder& pod) {
         pod.pod().raw = std::make_shared<const std::string>(100 * kMany, 'x');
       }},
      {"Gates",
       [](PodBuilder& pod) { pod.Gates(std::vector<std::string>(kMany, "example.com/a-gate")); }},
      {"NodeSelector",
       [](PodBuilder& pod) {
         for (size_t i = 0; i < kMany; ++i) {
           pod.spec().node_selector.Set(Symbol("key-" + std::to_string(i)), Symbol("value"));
         }
       }},
      {"NodeAffinityValues", [](PodBuilder& pod) { pod.RequiredTerm({In("key", kMany)}); }},
      {"NodeAffinityTerms",
       [](PodBuilder& pod) {
         for (size_t i = 0; i < kMany; ++i) pod.PreferredTerm(1, {In("key", 1)});
       }},
      {"PodAffinity",
       [](PodBuilder& pod) {
         pod.spec().pod_affinity.emplace();
         pod.spec().pod_affinity->required.resize(kMany, {Selector(1), {}, {}, Symbol("zone")});
       }},
      {"PodAntiAffinity",
       [](PodBuilder& pod) {
         pod.spec().pod_anti_affinity.emplace();
         pod.spec().pod_anti_affinity->preferred.push_back(
             {1, {Selector(kMany), {}, {}, Symbol("zone")}});
       }},
      {"Namespaces",
       [](PodBuilder& pod) {
         pod.spec().pod_affinity.emplace();
         pod.spec().pod_affinity->required.push_back(
             {Selector(1), std::vector<Symbol>(kMany, Symbol("ns")), {}, Symbol("zone")});
       }},
      {"Tolerations",
       [](PodBuilder& pod) {
         for (size_t i = 0; i < kMany; ++i) pod.Toleration("key", "Exists", "", "");
       }},
      {"SpreadConstraints",
       [](PodBuilder& pod) {
         TopologySpreadConstraint constraint;
         constraint.label_selector = Selector(kMany);
         pod.spec().topology_spread_constraints.push_back(constraint);
       }},
      {"Containers",
       [](PodBuilder& pod) {
         for (size_t i = 0; i < kMany; ++i) pod.Req({{"cpu", "1"}});
       }},
      {"Image", [](PodBuilder& pod) { pod.Req({}, std::string(100 * kMany, 'x')); }},
      {"Ports",
       [](PodBuilder& pod) {
         for (int32_t i = 1; i <= int32_t{kMany}; ++i) pod.HostPort(i);
       }},
      {"Volumes", [](PodBuilder& pod) { pod.spec().volumes.resize(kMany); }},
      {"Claims", [](PodBuilder& pod) { pod.spec().resource_claims.resize(kMany); }},
  };
  return cases;
}

class PodSize : public ::testing::TestWithParam<Case> {};

TEST_P(PodSize, CountsWhatIsLong) {
  PodBuilder pod = MakePod().Name("p");
  const auto bytes = [&pod] {
    const PodPtr object = pod.Obj();
    return RoughBytes(*object->spec) + RoughBytesWithoutSpec(*object);
  };
  const size_t before = bytes();
  EXPECT_LT(before, 4096U);
  GetParam().set(pod);
  EXPECT_GE(bytes(), before + 32 * kMany);
}

INSTANTIATE_TEST_SUITE_P(Of, PodSize, ::testing::ValuesIn(Cases()),
                         [](const auto& info) { return info.param.name; });

}  // namespace
}  // namespace ks::api
