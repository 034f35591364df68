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
class Neutral<framework::PreEnqueuePlugin> : public framework::PreEnqueuePlugin {
 public:
  framework::Status PreEnqueue(const api::Pod&) override { return {}; }
};

template <>
class Neutral<framework::PostFilterPlugin> : public framework::PostFilterPlugin {
 public:
  framework::PostFilterResult PostFilter(framework::CycleState&, const api::PodPtr&,
                                         const framework::NodeStatuses&) override {
    return {framework::Status(framework::Code::kUnschedulable, {}), {}};
  }
};

template <>
class Neutral<framework::ScorePlugin> : public framework::ScorePlugin {
 public:
  framework::Status Score(const framework::CycleState&, const api::Pod&, const framework::NodeInfo&,
                          int64_t* score) const override {
    *score = 0;
    return {};
  }
};

template <>
class Neutral<framework::ReservePlugin> : public framework::ReservePlugin {
 public:
  framework::Status Reserve(framework::CycleState&, const api::PodPtr&,
                            const std::string&) override {
    return {};
  }
  void Unreserve(framework::CycleState&, const api::PodPtr&, const std::string&) override {}
};

template <>
class Neutral<framework::PermitPlugin> : public framework::PermitPlugin {
 public:
  framework::PermitResult Permit(framework::CycleState&, const api::PodPtr&,
                                 const std::string&) override {
    return {};
  }
};

template <>
class Neutral<framework::PreBindPlugin> : public framework::PreBindPlugin {
 public:
  framework::PreBindPreFlightResult PreBindPreFlight(framework::CycleState&, const api::PodPtr&,
                                                     const std::string&) override {
    return {.status = framework::Status(framework::Code::kSkip, {})};
  }
  std::unique_ptr<framework::PreBindSequence> PreBind(framework::CycleState&, const api::PodPtr&,
                                                      const std::string&) override {
    class Nothing final : public framework::PreBindSequence {
     public:
      framework::PreBindStep Next(const framework::Status&) override { return {.finished = true}; }
    };
    return std::make_unique<Nothing>();
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
