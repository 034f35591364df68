// SPDX-License-Identifier: Apache-2.0
// What plugins say that their hints read of a node's labels (EventRegistration::node_labels) is
// held against what the hints answer: random pods, nodes and changes.
#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "plugins/plugin_rig.h"
#include "plugins/registry.h"
#include "testing/affinity_random.h"
#include "testing/spread_cases.h"

namespace ks::plugins {
namespace {

using framework::EventRegistration;
using framework::EventResource;

const std::vector<std::string> kKeys = {"disk", "rack", "zone", "topology.kubernetes.io/zone",
                                        "kubernetes.io/hostname"};

class Cases {
 public:
  explicit Cases(uint64_t seed) : spread_(seed), affinity_(seed + 1) {}

  api::PodPtr Pod() {
    if (spread_.Chance(40)) return affinity_.Pod("pod", 3).Obj();
    testing::PodBuilder pod = spread_.Incoming();
    if (spread_.Chance(50)) return pod.Obj();
    std::vector<api::SelectorRequirement> expressions;
    for (uint64_t count = spread_.random.Below(3); count > 0; --count) {
      expressions.push_back({spread_.Any(kKeys), spread_.Any({"In", "NotIn", "Exists", "Gt"}), {}});
      if (spread_.Chance(80)) expressions.back().values = {spread_.Any({"r1", "ssd", "7"})};
    }
    return pod.RequiredTerm(std::move(expressions)).Obj();
  }
  // Two versions of a node, equal but for some labels.
  std::pair<api::NodePtr, api::NodePtr> Change() {
    const api::NodePtr before = spread_.Node("node").Obj();
    auto after = std::make_shared<api::Node>(*before);
    for (uint64_t count = 1 + spread_.random.Below(2); count > 0; --count) {
      after->meta.labels.Set(Symbol(spread_.Any(kKeys)), Symbol(spread_.Any({"r1", "ssd", "9"})));
    }
    return spread_.Chance(50) ? std::pair(before, api::NodePtr(after))
                              : std::pair(api::NodePtr(after), before);
  }

 private:
  testing::SpreadCases spread_;
  testing::AffinityRandom affinity_;
};

bool SameLabel(const api::Node& a, const api::Node& b, const Symbol& key) {
  const Symbol* one = a.meta.labels.Find(key);
  const Symbol* other = b.meta.labels.Find(key);
  return one == nullptr || other == nullptr ? one == other : *one == *other;
}

TEST(LabelReads, HintsSkipWhenNothingThatTheyReadHasChanged) {
  const framework::ClusterEvent change{EventResource::kNode, framework::kActionUpdateNodeLabel, {}};
  testing::FakeHandle handle;
  std::vector<std::unique_ptr<framework::Plugin>> plugins;
  const framework::Registry registry = InTreeRegistry();
  for (const framework::PluginEntry& entry : registry.entries()) {
    auto made = entry.factory({}, handle);
    if (made.ok()) plugins.push_back(std::move(made).value());
  }
  std::map<std::string, int> promised;  // by plugin
  std::map<std::string, int> helped;
  const uint64_t seed = 20261126;
  SCOPED_TRACE("seed " + std::to_string(seed));
  Cases cases(seed);
  for (int i = 0; i < 20'000 && !HasFailure(); ++i) {
    const api::PodPtr pod = cases.Pod();
    const std::pair<api::NodePtr, api::NodePtr> nodes = cases.Change();
    for (const auto& plugin : plugins) {
      const auto* hinting = dynamic_cast<framework::EnqueueExtensions*>(plugin.get());
      if (hinting == nullptr) continue;
      for (const EventRegistration& registration : hinting->EventsToRegister()) {
        if (!registration.node_labels || !registration.event.Matches(change)) continue;
        framework::NodeLabelReads reads;
        registration.node_labels(*pod->spec, &reads);
        const auto hint = registration.hint(*pod, nodes.first, nodes.second);
        const bool skips = hint.ok() && *hint == framework::QueueingHint::kSkip;
        const std::string name(plugin->Name());
        if (!skips) ++helped[name];
        if (reads.others) continue;
        const bool same = std::all_of(reads.keys.begin(), reads.keys.end(), [&](const Symbol& key) {
          return SameLabel(*nodes.first, *nodes.second, key);
        });
        const bool got_one = std::any_of(
            reads.additions.begin(), reads.additions.end(), [&](const api::LabelMap::Entry& label) {
              const Symbol* now = nodes.second->meta.labels.Find(label.first);
              return now != nullptr && *now == label.second &&
                     !SameLabel(*nodes.first, *nodes.second, label.first);
            });
        if (!same || got_one) continue;
        ++promised[name];
        EXPECT_TRUE(skips) << name << " in case " << i;
      }
    }
  }
  for (const char* name : {"NodeAffinity", "PodTopologySpread", "InterPodAffinity"}) {
    EXPECT_GT(promised[name], 100) << name;
    EXPECT_GT(helped[name], 100) << name;
  }
}

}  // namespace
}  // namespace ks::plugins
