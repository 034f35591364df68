// SPDX-License-Identifier: Apache-2.0
#pragma once
// Extension points that do nothing. A placeholder derives from one per point at which upstream's
// plugin stands; the runtime never calls them (framework::PlaceholderPlugin).

#include <memory>
#include <string>
#include <vector>

#include "framework/placement_plugins.h"
#include "framework/plugin.h"

namespace ks::plugins {

template <class Point>
class Neutral;

template <>
class Neutral<framework::PermitPlugin> : public framework::PermitPlugin {
 public:
  framework::PermitResult Permit(framework::CycleState&, const api::PodPtr&,
                                 const std::string&) override {
    return {};
  }
};

template <>
class Neutral<framework::PlacementGeneratePlugin> : public framework::PlacementGeneratePlugin {
 public:
  framework::Status GeneratePlacements(framework::CycleState&, const framework::PodGroupAttempt&,
                                       const framework::Placement&,
                                       std::vector<framework::Placement>*) override {
    return {};
  }
};

template <>
class Neutral<framework::PlacementScorePlugin> : public framework::PlacementScorePlugin {
 public:
  framework::Status ScorePlacement(framework::CycleState&, const framework::PodGroupAttempt&,
                                   const framework::Placement&,
                                   std::span<const framework::PodAssignment>,
                                   int64_t* score) override {
    *score = 0;
    return {};
  }
};

template <>
class Neutral<framework::PodGroupPostFilterPlugin> : public framework::PodGroupPostFilterPlugin {
 public:
  framework::PostFilterResult PodGroupPostFilter(framework::CycleState&,
                                                 const framework::PodGroupAttempt&) override {
    return {framework::Status(framework::Code::kUnschedulable, {}), {}};
  }
};

}  // namespace ks::plugins
