// SPDX-License-Identifier: Apache-2.0
#pragma once
// Plugins whose answers a test writes down, for any set of extension points, and a registry and
// profile made of them:
//
//   TestProfile profile;
//   profile.Add<Filters>({.name = "P", .filter = Says(Status(Code::kUnschedulable, {"no"}))});
//   auto framework = profile.Build(options);

#include <functional>
#include <memory>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "config/types.h"
#include "framework/group_plugins.h"
#include "framework/plugin.h"
#include "framework/registry.h"
#include "framework/runtime/offline_parts.h"
#include "framework/runtime/runtime.h"

namespace ks::testing {

using ScoresOfNodes = std::span<int64_t>;
using NodeSpan = std::span<const framework::NodeInfo* const>;

// The answers of one plugin; a point without answer succeeds. `log` collects "<point> <plugin>" per
// call, in order; for Filter and Score "<point> <plugin> <node>".
struct PluginScript {
  std::string name;
  std::vector<std::string>* log = nullptr;
  std::function<framework::Status(const api::Pod&)> pre_enqueue = {};
  std::function<bool(const framework::QueuedEntity&, const framework::QueuedEntity&)> less = {};
  std::function<framework::PreFilterResult()> pre_filter = {};
  std::function<framework::Status(const framework::PodInfo&, const framework::NodeInfo&)> add_pod =
      {};
  std::function<framework::Status(const framework::PodInfo&, const framework::NodeInfo&)>
      remove_pod = {};
  std::function<framework::Status(const framework::CycleState&, const framework::NodeInfo&)>
      filter = {};
  std::function<framework::PostFilterResult()> post_filter = {};
  std::function<framework::Status()> pre_score = {};
  std::function<framework::Status(const framework::NodeInfo&, int64_t*)> score = {};
  std::function<framework::Status(ScoresOfNodes)> normalize = {};
  std::function<framework::Status()> reserve = {};
  std::function<framework::PermitResult()> permit = {};
  std::function<framework::PreBindPreFlightResult()> pre_flight = {};
  std::function<std::unique_ptr<framework::PreBindSequence>()> pre_bind = {};
  std::function<framework::Status(framework::BindPlugin::Done)> bind = {};
  std::vector<framework::EventRegistration> events = {};
  std::function<framework::Status(std::vector<framework::SignFragment>*)> sign = {};
  std::function<Result<void>()> close = {};
  // Called at Reserve, Permit, Bind and PostBind with the state, before the answer.
  std::function<void(framework::CycleState&)> with_state = {};
};

// A callable that answers `value` whatever it is asked.
template <class T>
auto Says(T value) {
  return [value](const auto&...) { return value; };
}

// What the parts below share. Threads: as the points; `log` only with one thread.
class Scripted {
 public:
  virtual ~Scripted() = default;

 protected:
  void Log(std::string_view point, std::string_view detail = {}) const;
  PluginScript script_;
};

// One part per extension point.
class PreEnqueues : public framework::PreEnqueuePlugin, public virtual Scripted {
 public:
  framework::Status PreEnqueue(const api::Pod& pod) override;
};
class QueueSorts : public framework::QueueSortPlugin, public virtual Scripted {
 public:
  bool Less(const framework::QueuedEntity& a, const framework::QueuedEntity& b) const override;
};
class PreFilters : public framework::PreFilterPlugin, public virtual Scripted {
 public:
  framework::PreFilterResult PreFilter(framework::CycleState& state, const api::Pod& pod,
                                       const framework::Snapshot& snapshot) override;
};
class Hooks : public framework::PreFilterExtensions, public virtual Scripted {
 public:
  framework::Status AddPod(framework::CycleState& state, const api::Pod& pod,
                           const framework::PodInfo& pod_to_add,
                           const framework::NodeInfo& node) const override;
  framework::Status RemovePod(framework::CycleState& state, const api::Pod& pod,
                              const framework::PodInfo& pod_to_remove,
                              const framework::NodeInfo& node) const override;
};
class Filters : public framework::FilterPlugin, public virtual Scripted {
 public:
  framework::Status Filter(const framework::CycleState& state, const api::Pod& pod,
                           const framework::NodeInfo& node) const override;
};
class PostFilters : public framework::PostFilterPlugin, public virtual Scripted {
 public:
  framework::PostFilterResult PostFilter(framework::CycleState& state, const api::PodPtr& pod,
                                         const framework::NodeStatuses& statuses) override;
};
class PreScores : public framework::PreScorePlugin, public virtual Scripted {
 public:
  framework::Status PreScore(framework::CycleState& state, const api::Pod& pod,
                             NodeSpan nodes) override;
};
class Scores : public framework::ScorePlugin, public virtual Scripted {
 public:
  framework::Status Score(const framework::CycleState& state, const api::Pod& pod,
                          const framework::NodeInfo& node, int64_t* score) const override;
};
class Normalizes : public framework::ScoreNormalizer, public virtual Scripted {
 public:
  framework::Status NormalizeScore(const framework::CycleState& state, const api::Pod& pod,
                                   NodeSpan nodes, ScoresOfNodes scores) const override;
};
class Reserves : public framework::ReservePlugin, public virtual Scripted {
 public:
  framework::Status Reserve(framework::CycleState& state, const api::PodPtr& pod,
                            const std::string& node_name) override;
  void Unreserve(framework::CycleState& state, const api::PodPtr& pod,
                 const std::string& node_name) override;
};
class Permits : public framework::PermitPlugin, public virtual Scripted {
 public:
  framework::PermitResult Permit(framework::CycleState& state, const api::PodPtr& pod,
                                 const std::string& node_name) override;
};
class PreBinds : public framework::PreBindPlugin, public virtual Scripted {
 public:
  framework::PreBindPreFlightResult PreBindPreFlight(framework::CycleState& state,
                                                     const api::PodPtr& pod,
                                                     const std::string& node_name) override;
  std::unique_ptr<framework::PreBindSequence> PreBind(framework::CycleState& state,
                                                      const api::PodPtr& pod,
                                                      const std::string& node_name) override;
};
class Binds : public framework::BindPlugin, public virtual Scripted {
 public:
  framework::Status Bind(framework::CycleState& state, const api::PodPtr& pod,
                         const std::string& node_name, Done done) override;
};
class PostBinds : public framework::PostBindPlugin, public virtual Scripted {
 public:
  void PostBind(framework::CycleState& state, const api::PodPtr& pod,
                const std::string& node_name) override;
};
class Events : public framework::EnqueueExtensions, public virtual Scripted {
 public:
  std::vector<framework::EventRegistration> EventsToRegister() const override;
};
class Signs : public framework::SignPlugin, public virtual Scripted {
 public:
  framework::Status Sign(const api::Pod& pod,
                         std::vector<framework::SignFragment>* fragments) const override;
};
class Closes : public framework::Closer, public virtual Scripted {
 public:
  Result<void> Close() override;
};
class PlacementGenerates : public framework::PlacementGeneratePlugin {
 public:
  framework::Status GeneratePlacements(const framework::PodGroupKey& group,
                                       const framework::Placement& parent,
                                       std::vector<framework::Placement>* placements) override;
};
class PlacementScores : public framework::PlacementScorePlugin {
 public:
  framework::Status ScorePlacement(const framework::PodGroupKey& group,
                                   const framework::Placement& placement,
                                   std::span<const framework::GroupAssignment> assignments,
                                   int64_t* score) override;
};
class PodGroupPostFilters : public framework::PodGroupPostFilterPlugin {
 public:
  framework::GroupPostFilterResult PodGroupPostFilter(
      const framework::GroupPreemptor& preemptor) override;
};

// A plugin with these parts.
template <class... Parts>
class TestPlugin final : public framework::Plugin, public virtual Scripted, public Parts... {
 public:
  explicit TestPlugin(PluginScript script) { script_ = std::move(script); }
  std::string_view Name() const override { return script_.name; }
};

// A plugin without any extension point.
using PointlessPlugin = TestPlugin<>;

// Registered factories are plain functions; this hands out functions that call what the test wants.
// Threads: one. Lifetime: the functions work until the slot is released.
class FactorySlot {
 public:
  using Make = std::function<Result<std::unique_ptr<framework::Plugin>>(const config::PluginArgs&,
                                                                        framework::Handle&)>;
  // Requires: fewer than 256 slots in use.
  explicit FactorySlot(Make make);
  ~FactorySlot();
  FactorySlot(const FactorySlot&) = delete;
  FactorySlot& operator=(const FactorySlot&) = delete;

  framework::PluginFactory factory() const;

 private:
  size_t index_;
};

// A registry of test plugins. Lifetime: outlives the building of frameworks, not the frameworks.
class TestRegistry {
 public:
  // A name that is not the script's makes a plugin that is configured under another name.
  template <class... Parts>
  void Add(PluginScript script, std::string_view name = {}) {
    const std::string registered(name.empty() ? std::string_view(script.name) : name);
    AddFactory(registered,
               [script](const config::PluginArgs&,
                        framework::Handle&) -> Result<std::unique_ptr<framework::Plugin>> {
                 return std::unique_ptr<framework::Plugin>(new TestPlugin<Parts...>(script));
               });
  }
  void AddFactory(const std::string& name, FactorySlot::Make make);

  const framework::Registry& registry() const { return registry_; }

 private:
  std::vector<std::unique_ptr<std::pair<std::string, FactorySlot>>> slots_;
  framework::Registry registry_;
};

// All default plugins as fakes with their names and extension points, and the opt-in ones
// (docs/spec/framework.md section 6).
void AddFakeDefaultPlugins(TestRegistry& registry);
// The default multiPoint list of that section.
config::Plugins UpstreamDefaultPlugins();

// One profile whose plugins are listed at multiPoint in the order of Add; a queue sort ("Sort") and
// a bind plugin ("Bind", which starts and never ends) come with it.
// Parts that are never freed, for frameworks that outlive the scope that builds them.
framework::HandleParts LastingParts(const framework::OfflineParts::Given& given = {});

class TestProfile {
 public:
  TestProfile();

  template <class... Parts>
  TestProfile& Add(PluginScript script, int32_t weight = 0) {
    profile_.plugins.multi_point.enabled.push_back({script.name, weight});
    registry_.Add<Parts...>(std::move(script));
    return *this;
  }
  // Leaves out the bind plugin that comes with the profile.
  TestProfile& WithoutBind();

  config::Profile& profile() { return profile_; }
  TestRegistry& registry() { return registry_; }
  // What differs from framework::FrameworkOptions' defaults.
  struct Options {
    framework::OfflineParts::Given parts{};
    framework::FrameworkMetrics* metrics = nullptr;
    bool remember_verdicts = true;
  };
  // Requires: the profile is correct. Lifetime: the parts stay for ever.
  std::unique_ptr<framework::Framework> Build(const Options& options) const;
  std::unique_ptr<framework::Framework> Build() const { return Build(Options()); }

 private:
  TestRegistry registry_;
  config::Profile profile_;
};

}  // namespace ks::testing
