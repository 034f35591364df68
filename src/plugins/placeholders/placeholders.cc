// SPDX-License-Identifier: Apache-2.0
#include "plugins/placeholders/placeholders.h"

#include <memory>
#include <utility>

#include "plugins/kit/neutral.h"
#include "plugins/placeholders/reasons.h"

namespace ks::plugins {
namespace {

using framework::Code;
using framework::EventResource;
using framework::Status;

class Guard : public framework::Plugin, public framework::PlaceholderPlugin {
 public:
  explicit Guard(std::string_view name) : name_(name) {}
  std::string_view Name() const override { return name_; }

 private:
  const std::string_view name_;
};

// Rejects the members of groups.
class GangSchedulingPlaceholder final : public Guard,
                                        public framework::PreEnqueuePlugin,
                                        public framework::EnqueueExtensions,
                                        public Neutral<framework::PermitPlugin> {
 public:
  GangSchedulingPlaceholder() : Guard(kGangSchedulingName) {}

  Status PreEnqueue(const api::Pod& pod) override {
    return pod.spec->scheduling_group ? rejection_ : Status();
  }

  std::vector<framework::EventRegistration> EventsToRegister() const override {
    return {{{EventResource::kTargetPod, framework::kActionUpdate, {}}, {}}};
  }

 private:
  const Status rejection_{Code::kUnschedulableAndUnresolvable, {std::string(kNoPodGroups)}};
};

// A placeholder at points that only pod groups reach, which no configuration switches on here.
template <class Point>
class GroupPlaceholder final : public Guard, public Neutral<Point> {
 public:
  using Guard::Guard;
};

template <class Made, class... Arguments>
MadePlugin Make(Arguments&&... arguments) {
  return std::unique_ptr<framework::Plugin>(
      std::make_unique<Made>(std::forward<Arguments>(arguments)...));
}

}  // namespace

MadePlugin NewGangScheduling(const config::PluginArgs&, framework::Handle&) {
  return Make<GangSchedulingPlaceholder>();
}

MadePlugin NewPodGroupPodsCount(const config::PluginArgs&, framework::Handle&) {
  return Make<GroupPlaceholder<framework::PlacementScorePlugin>>(kPodGroupPodsCountName);
}

MadePlugin NewTopologyPlacementGenerator(const config::PluginArgs&, framework::Handle&) {
  return Make<GroupPlaceholder<framework::PlacementGeneratePlugin>>(
      kTopologyPlacementGeneratorName);
}

}  // namespace ks::plugins
