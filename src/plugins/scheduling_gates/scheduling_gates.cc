// SPDX-License-Identifier: Apache-2.0
#include "plugins/scheduling_gates/scheduling_gates.h"

namespace ks::plugins {
namespace {

using framework::Code;
using framework::Status;

class SchedulingGates final : public framework::Plugin,
                              public framework::PreEnqueuePlugin,
                              public framework::EnqueueExtensions {
 public:
  std::string_view Name() const override { return kSchedulingGatesName; }

  Status PreEnqueue(const api::Pod& pod) override {
    const std::vector<std::string>& gates = pod.spec->scheduling_gates;
    if (gates.empty()) return {};
    std::string reason = "waiting for scheduling gates: [";
    for (const std::string& gate : gates) {
      if (&gate != &gates.front()) reason += ' ';
      reason += gate;
    }
    reason += ']';
    return {Code::kUnschedulableAndUnresolvable,
            {std::move(reason)},
            std::string(kSchedulingGatesName)};
  }

  framework::GateScope ScopeOf(const api::Pod& /*pod*/) const override {
    return framework::GateScope::kPod;
  }

  std::vector<framework::EventRegistration> EventsToRegister() const override {
    return {{{framework::EventResource::kTargetPod,
              framework::kActionUpdatePodSchedulingGatesEliminated,
              {}},
             {}}};
  }
};

}  // namespace

Result<std::unique_ptr<framework::Plugin>> NewSchedulingGates(const config::PluginArgs&,
                                                              framework::Handle&) {
  return std::unique_ptr<framework::Plugin>(std::make_unique<SchedulingGates>());
}

}  // namespace ks::plugins
