// SPDX-License-Identifier: Apache-2.0
#include "plugins/gang_scheduling/gang_scheduling.h"

#include <algorithm>
#include <string>
#include <utility>
#include <vector>

#include "api/pod_group.h"
#include "base/canary.h"
#include "golang/quote.h"
#include "plugins/kit/group_trees.h"
#include "plugins/kit/hinting.h"

namespace ks::plugins {
namespace {

using framework::Code;
using framework::CycleState;
using framework::EventResource;
using framework::HintScope;
using framework::MemberState;
using framework::PermitResult;
using framework::PodGroupKey;
using framework::PodGroupState;
using framework::PodGroupStates;
using framework::QueueingHint;
using framework::Status;

// How long a member holds its node for its siblings.
constexpr Duration kPermitTimeout = std::chrono::minutes(5);

class GangScheduling final : public framework::Plugin,
                             public framework::PreEnqueuePlugin,
                             public framework::PermitPlugin,
                             public framework::PlacementFeasiblePlugin,
                             public framework::EnqueueExtensions,
                             public framework::OptionalKindReader {
 public:
  explicit GangScheduling(framework::Handle& handle)
      : handle_(handle),
        enabled_(handle.gates().Enabled(config::Gate::kGenericWorkload)),
        trees_(handle.gates().Enabled(config::Gate::kCompositePodGroup)) {}

  std::string_view Name() const override { return kGangSchedulingName; }

  framework::OptionalKinds NeededKinds() const override {
    framework::OptionalKinds kinds;
    if (enabled_) kinds.Add(framework::OptionalKind::kPodGroup);
    if (trees_) kinds.Add(framework::OptionalKind::kCompositePodGroup);
    return kinds;
  }

  // ---- enough of them exist ----

  Status PreEnqueue(const api::Pod& pod) override {
    const std::optional<PodGroupKey> group = framework::GroupOf(pod);
    if (!group) return {};
    const PodGroupState* state = groups().Find(group->ns, group->name);
    if (trees_) return PreEnqueueTree(*group, state);
    if (state == nullptr || state->object == nullptr) {
      return Gate("waiting for pods's pod group " + golang::Quote(group->name) +
                  " to appear in scheduling queue");
    }
    const std::optional<int32_t>& wanted = state->object->min_count;
    if (!wanted || static_cast<int64_t>(state->all()) >= *wanted) return {};
    return few_members_;
  }
  framework::GateScope ScopeOf(const api::Pod& pod) const override {
    return pod.spec->scheduling_group ? framework::GateScope::kPodGroup
                                      : framework::GateScope::kPod;
  }

  // ---- enough of them fit ----

  Status PlacementFeasible(const framework::GroupProgress& progress) override {
    const int64_t wanted = QuorumOf(groups(), progress.group);
    const auto scheduled = static_cast<int64_t>(progress.scheduled);
    const auto remaining = static_cast<int64_t>(progress.remaining);
    if (KS_CANARY(GangQuorumIgnored)) return {};
    const auto text = [&](std::string_view verdict) {
      return "minCount (" + std::to_string(wanted) + ") " + std::string(verdict) + ": " +
             std::to_string(scheduled) + " scheduled, " + std::to_string(remaining) + " remaining";
    };
    if (remaining + scheduled < wanted) {
      return Status(Code::kUnschedulable, {text("cannot be satisfied")});
    }
    if (scheduled < wanted) return Status(Code::kWait, {text("is not yet satisfied")});
    return {};
  }

  // ---- enough of them are on nodes ----

  PermitResult Permit(CycleState& /*state*/, const api::PodPtr& pod,
                      const std::string& /*node_name*/) override {
    const std::optional<PodGroupKey> group = framework::GroupOf(*pod);
    if (!group) return {};
    const PodGroupState* state = groups().Find(group->ns, group->name);
    if (state == nullptr || state->object == nullptr) {
      return {Status::Error("failed to get podGroup " + group->Name() + ": " +
                            LookUpError(state, *group))};
    }
    if (trees_ && !state->object->spec.parent_composite_pod_group_name.empty()) {
      const Result<PodGroupKey> root = TreeOf(groups(), *group);
      if (!root.ok()) {
        return {Status::Error("failed to build hierarchy snapshot: " + root.error().message)};
      }
      return PermitAll(*root, "waiting for composite pod group " + golang::Quote(root->name) +
                                  " tree to meet quorum");
    }
    if (!state->object->min_count) return {};
    return PermitAll(*group, "waiting for minCount pods from a gang to be scheduled");
  }

  std::vector<framework::EventRegistration> EventsToRegister() const override {
    if (!enabled_) return {};
    std::vector<framework::EventRegistration> events = {
        {{EventResource::kUnscheduledPod, framework::kActionAdd, {}},
         OnPodAdd(),
         HintScope::kGroup},
        {{EventResource::kAssignedPod, framework::kActionAdd, {}}, OnPodAdd(), HintScope::kGroup},
        {{EventResource::kPodGroup, framework::kActionAdd, {}}, OnGroup(), HintScope::kGroup},
        {{EventResource::kPodGroup, framework::kActionUpdate, {}}, OnGroup(), HintScope::kGroup},
    };
    if (trees_) {
      events.push_back({{EventResource::kCompositePodGroup, framework::kActionAdd, {}},
                        OnComposite(),
                        HintScope::kGroup});
    }
    return events;
  }

 private:
  const PodGroupStates& groups() const { return handle_.pod_groups(); }

  static Status Gate(std::string reason) {
    return Status(Code::kUnschedulableAndUnresolvable, {std::move(reason)});
  }

  std::string LookUpError(const PodGroupState* state, const PodGroupKey& group) const {
    if (!enabled_) return "generic workload feature gate is disabled";
    return std::string(state == nullptr ? "pod group state" : "pod group object") +
           " not found for pod group " + group.Text();
  }

  Status PreEnqueueTree(const PodGroupKey& group, const PodGroupState* state) const {
    const Result<PodGroupKey> root = TreeOf(groups(), group);
    if (!root.ok()) return Gate("failed to build hierarchy snapshot: " + root.error().message);
    if (HasQuorum(groups(), *root, MemberCount::kKnown)) return {};
    if (state->object->spec.parent_composite_pod_group_name.empty()) return few_members_;
    return Gate("waiting for composite pod group " + golang::Quote(root->name) +
                " tree to meet quorum");
  }

  // The last one that is needed takes all that wait along.
  PermitResult PermitAll(const PodGroupKey& group, std::string wait) const {
    const std::vector<PodGroupKey> leaves = LeavesBelow(groups(), group);
    if (!HasQuorum(groups(), group, MemberCount::kScheduled)) {
      const bool some_left = std::any_of(leaves.begin(), leaves.end(), [this](const auto& leaf) {
        const PodGroupState* state = groups().Find(leaf.ns, leaf.name);
        return state != nullptr && state->scheduled() < state->all();
      });
      if (some_left) handle_.activator().ActivateGroup(group);
      return {Status(Code::kWait, {std::move(wait)}), kPermitTimeout};
    }
    if (KS_CANARY(SiblingsNotReleased)) return {};
    handle_.waiting_pods().ForEachWaitingPod([&](framework::WaitingPod& waiting) {
      const api::Pod& pod = *waiting.pod();
      const std::optional<PodGroupKey> leaf = framework::GroupOf(pod);
      if (!leaf || std::find(leaves.begin(), leaves.end(), *leaf) == leaves.end()) return;
      const PodGroupState* state = groups().Find(leaf->ns, leaf->name);
      const PodGroupState::Member* member = state == nullptr ? nullptr : state->Find(pod.meta.uid);
      if (member == nullptr || member->state != MemberState::kAssumed) return;
      waiting.Allow(kGangSchedulingName);
    });
    return {};
  }

  // ---- what may help ----

  // The root where there are trees; else the group, known or not.
  std::optional<PodGroupKey> EntityOf(const PodGroupKey& group) const {
    return trees_ ? groups().RootOf(group) : group;
  }
  QueueingHint IfSame(const api::Pod& pod, const PodGroupKey& other) const {
    const std::optional<PodGroupKey> group = framework::GroupOf(pod);
    if (!group) return QueueingHint::kSkip;
    if (*group == other) return QueueingHint::kQueue;
    if (!trees_) return QueueingHint::kSkip;
    const std::optional<PodGroupKey> root = EntityOf(*group);
    return QueueIf(root && root == EntityOf(other));
  }

  framework::QueueingHintFn OnPodAdd() const {
    return HintOn<api::Pod>([this](const api::Pod& pod, const api::Pod*, const api::Pod* added) {
      const std::optional<PodGroupKey> other = framework::GroupOf(*added);
      return other ? IfSame(pod, *other) : QueueingHint::kSkip;
    });
  }
  framework::QueueingHintFn OnGroup() const {
    using Group = api::PodGroup;
    return HintOn<Group>([this](const api::Pod& pod, const Group* before, const Group* after) {
      if (before != nullptr &&
          !(before->min_count && after->min_count && *after->min_count < *before->min_count)) {
        return QueueingHint::kSkip;
      }
      return IfSame(pod, {after->meta.ns, after->meta.name, false});
    });
  }
  framework::QueueingHintFn OnComposite() const {
    using Group = api::CompositePodGroup;
    return HintOn<Group>([this](const api::Pod& pod, const Group*, const Group* added) {
      return IfSame(pod, {added->meta.ns, added->meta.name, true});
    });
  }

  framework::Handle& handle_;
  const bool enabled_;
  const bool trees_;
  const Status few_members_{
      Code::kUnschedulableAndUnresolvable,
      {"waiting for minCount pods from a gang to appear in scheduling queue"}};
};

}  // namespace

Result<std::unique_ptr<framework::Plugin>> NewGangScheduling(const config::PluginArgs&,
                                                             framework::Handle& handle) {
  return std::unique_ptr<framework::Plugin>(std::make_unique<GangScheduling>(handle));
}

}  // namespace ks::plugins
