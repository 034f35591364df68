// SPDX-License-Identifier: Apache-2.0
#pragma once
// A Nominator that says what the test writes down. Threads: read by any once filled.

#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "framework/handle.h"

namespace ks::testing {

class FakeNominator final : public framework::Nominator {
 public:
  std::span<const framework::PodInfoPtr> NominatedPodsForNode(
      std::string_view node) const override {
    const auto found = pods.find(node);
    if (found == pods.end()) return {};
    return found->second;
  }
  bool HasNominatedPods() const override { return !pods.empty(); }
  void ForEachNominatedNode(const std::function<void(std::string_view)>& visit) const override {
    for (const auto& [node, nominated] : pods) visit(node);
  }
  std::string_view NodeOf(std::string_view uid) const override {
    for (const auto& [node, nominated] : pods) {
      for (const framework::PodInfoPtr& info : nominated) {
        if (info->pod().meta.uid == uid) return node;
      }
    }
    return {};
  }
  const framework::NominationLog& changes() const override { return log; }
  void AddNominatedPod(const api::PodPtr&,
                       const std::optional<framework::NominatingInfo>&) override {}
  void DeleteNominatedPodIfExists(const api::Pod&) override {}

  std::map<std::string, std::vector<framework::PodInfoPtr>, std::less<>> pods;
  framework::NominationLog log;  // of `pods`, as far as told
};

}  // namespace ks::testing
