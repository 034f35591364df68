// SPDX-License-Identifier: Apache-2.0
#include "plugins/dynamic_resources/claims_attempt.h"

#include <algorithm>
#include <string_view>
#include <utility>

#include "plugins/dynamic_resources/results.h"

namespace ks::plugins {
namespace {

using framework::Code;
using framework::NodeInfo;
using framework::Status;

constexpr int64_t kMaxSubrequests = 8;
// How many steps of the search go by between two looks at the clock.
constexpr uint32_t kStepsPerLook = 64;

Status Rejection(const char* reason) {
  return Status(Code::kUnschedulableAndUnresolvable, {reason});
}

// Ends a search that takes too long. Threads: one.
class TimeLimit {
 public:
  TimeLimit(const Clock& clock, Duration limit)
      : clock_(clock), limit_(limit), end_(clock.Now() + limit) {}

  std::string Check() {
    if (limit_ == Duration::zero() || ++steps_ % kStepsPerLook != 0) return {};
    if (!passed_) passed_ = clock_.Now() >= end_;
    return passed_ ? "time" : "";
  }
  bool passed() const { return passed_; }

 private:
  const Clock& clock_;
  const Duration limit_;
  const TimePoint end_;
  uint32_t steps_ = 0;
  bool passed_ = false;
};

// Where the alternative stands that was chosen: 8 for the first, 7 for the second …
template <class Chosen>
int64_t ScoreOf(const std::vector<AlternativePlan>& alternatives, Chosen chosen) {
  for (size_t i = 0; i < alternatives.size(); ++i) {
    if (chosen(alternatives[i])) return kMaxSubrequests - static_cast<int64_t>(i);
  }
  return 0;
}

// The same of a claim that was allocated before.
int64_t ScoreOf(const AttemptClaim& claim) {
  const std::vector<api::DeviceResult>& results = claim.allocation()->results;
  int64_t score = 0;
  for (const api::DeviceRequest& request : claim.claim->requests) {
    const auto& alternatives = request.first_available;
    for (size_t i = 0; i < alternatives.size(); ++i) {
      const std::string name = request.name + '/' + alternatives[i].name;
      const bool chosen = std::any_of(results.begin(), results.end(), [&name](const auto& result) {
        return result.request == name;
      });
      if (!chosen) continue;
      score += kMaxSubrequests - static_cast<int64_t>(i);
      break;
    }
  }
  return score;
}

// Whether the claim's devices are for the node.
bool Reaches(const AttemptClaim& claim, const api::Node& node) {
  const auto& selector = claim.allocation()->node_selector;
  return selector == nullptr || selector->compiled.Matches(node.meta.labels, node.meta.name);
}

}  // namespace

ClaimsAttempt::ClaimsAttempt(const DeviceTools& tools, ClaimsOfPod pod, size_t node_slots)
    : tools_(&tools),
      claims_(std::move(pod.claims)),
      extended_resources_(std::move(pod.extended)),
      group_(std::move(pod.group)),
      any_to_allocate_(std::any_of(claims_.begin(), claims_.end(),
                                   [](const AttemptClaim& claim) { return !claim.allocated(); })),
      unavailable_(claims_.size()),
      devices_(any_to_allocate_ ? node_slots : 0) {}

Status ClaimsAttempt::Filter(const api::Pod& pod, const NodeInfo& node) const {
  std::vector<ServedResource> served;
  if (has_extended()) {
    Status found = FindServed(node, served);
    if (!found.ok()) return found;
    if (served.empty() && claims_.size() == 1) return {};
  }
  NodeDevices devices;
  if (any_to_allocate_) {
    devices.plan = PlanFor(pod, std::move(served));
    Status allocated = Allocate(*devices.plan, node, devices);
    if (!allocated.ok()) return allocated;
  }
  Status available = CheckAllocated(node);
  if (!available.ok()) return available;
  if (any_to_allocate_) devices_[node.slot()] = std::move(devices);
  return {};
}

Status ClaimsAttempt::FindServed(const NodeInfo& node, std::vector<ServedResource>& served) const {
  static const Status in_the_way = Rejection("cannot schedule extended resource claim");
  static const Status cannot_fit = Rejection("cannot fit resource");
  if (!claims_.back().claim->requests.empty()) return in_the_way;
  const framework::Resource& allocatable = node.allocatable();
  for (const Symbol& resource : extended_resources_) {
    const std::string* device_class = tools_->handle.device_classes().ClassServing(resource);
    if (device_class == nullptr) {
      if (!allocatable.scalars.Contains(resource)) return cannot_fit;
    } else if (allocatable.Amount(resource) <= 0) {
      served.push_back({.resource = resource, .device_class = Symbol(*device_class)});
    }
  }
  return {};
}

std::shared_ptr<const NodePlan> ClaimsAttempt::PlanFor(const api::Pod& pod,
                                                       std::vector<ServedResource> served) const {
  MutexLock lock(plans_mutex_);
  for (const auto& plan : plans_) {
    if (plan->served == served) return plan;
  }
  return plans_.emplace_back(MakePlan(pod, std::move(served)));
}

std::shared_ptr<const NodePlan> ClaimsAttempt::MakePlan(const api::Pod& pod,
                                                        std::vector<ServedResource> served) const {
  auto made = std::make_shared<NodePlan>();
  made->served = std::move(served);
  std::vector<api::ResourceClaimPtr> to_allocate;
  for (const AttemptClaim& each : claims_) {
    if (each.allocated()) continue;
    if (!each.extended) {
      to_allocate.push_back(each.claim);
      continue;
    }
    made->extended = std::make_shared<ExtendedRequests>(MakeExtendedRequests(pod, made->served));
    auto claim = std::make_shared<api::ResourceClaim>(*each.claim);
    claim->requests = made->extended->requests;
    to_allocate.push_back(std::move(claim));
  }
  const framework::DeviceState& devices = tools_->handle.devices();
  made->plan = std::make_unique<const AllocationPlan>(
      to_allocate, [&devices](const Symbol& name) { return devices.FindDeviceClass(name.view()); },
      tools_->memory.selectors(), tools_->memory.features(), &tools_->memory.tables());
  made->answers = tools_->memory.answers().Of(*made->plan, devices_.size());
  return made;
}

// What is remembered was answered with no other devices in use than now.
Status ClaimsAttempt::Allocate(const NodePlan& plan, const NodeInfo& node,
                               NodeDevices& found) const {
  static const Status no_solution = Rejection("cannot allocate all claims");
  found.pools = tools_->memory.slices().PoolsOf(*node.node());
  const uint64_t changes = ChangesOf(*found.pools, tools_->memory.allocated());
  NodeAnswer& known = plan.answers->by_slot[node.slot()];
  if (known.pools != found.pools || known.changes != changes) {
    NodeAllocation outcome = Ask(plan, node, *found.pools);
    if (outcome.verdict == NodeAllocation::Verdict::kNotOnNode) {
      return Status(Code::kUnschedulableAndUnresolvable, {std::move(outcome.text)});
    }
    if (outcome.verdict == NodeAllocation::Verdict::kFatal) {
      return Status::Error(std::move(outcome.text));
    }
    known = {.pools = found.pools, .changes = changes};
    if (outcome.verdict == NodeAllocation::Verdict::kAllocated) {
      known.picks = std::make_shared<const DevicePicks>(std::move(outcome.picks));
    }
  }
  found.picks = known.picks;
  return found.picks == nullptr ? no_solution : Status();
}

NodeAllocation ClaimsAttempt::Ask(const NodePlan& plan, const NodeInfo& node,
                                  const NodePools& pools) const {
  TimeLimit limit(tools_->handle.clock(), tools_->filter_timeout);
  NodeAllocation outcome = AllocateDevices(*plan.plan, pools, tools_->memory.allocated(),
                                           [&limit] { return limit.Check(); });
  if (outcome.verdict == NodeAllocation::Verdict::kFatal && limit.passed()) {
    outcome.text = "node " + node.name() + ": timed out trying to allocate devices";
  }
  return outcome;
}

Status ClaimsAttempt::CheckAllocated(const NodeInfo& node) const {
  static const Status unavailable = Rejection("resourceclaim not available on the node");
  bool all = true;
  for (size_t i = 0; i < claims_.size(); ++i) {
    if (!claims_[i].allocated() || Available(claims_[i], *node.node())) continue;
    if (claims_[i].shared != nullptr && Reaches(claims_[i], *node.node())) {
      return Status(Code::kUnschedulableAndUnresolvable,
                    {"resource claim " + claims_[i].claim->meta.Key() +
                     " allocation requires DRAOptionalNodeOperations feature on the node"});
    }
    unavailable_[i].store(true, std::memory_order_relaxed);
    all = false;
  }
  return all ? Status() : unavailable;
}

bool ClaimsAttempt::Available(const AttemptClaim& claim, const api::Node& node) const {
  if (claim.unusable || !Reaches(claim, node)) return false;
  const std::vector<api::DeviceResult>& results = claim.allocation()->results;
  return DeclaresOptionalOperations(node) ||
         std::none_of(results.begin(), results.end(), [](const api::DeviceResult& result) {
           return !result.skip_node_operations.empty();
         });
}

const NodeDevices* ClaimsAttempt::DevicesOf(const NodeInfo& node) const {
  if (node.slot() >= devices_.size()) return nullptr;
  const NodeDevices& devices = devices_[node.slot()];
  return devices.plan == nullptr ? nullptr : &devices;
}

void ClaimsAttempt::NodeChosen(const std::string& node, const NodeDevices* devices,
                               std::vector<api::ClaimAllocationPtr> given) {
  if (devices != nullptr) chosen_extended_ = devices->plan->extended;
  chosen_node_ = node;
  given_ = std::move(given);
  if (fixed_) return;
  std::vector<NodeDevices>().swap(devices_);  // `= {}` would keep the memory
  const MutexLock lock(plans_mutex_);
  plans_.clear();
}

std::vector<api::ClaimAllocation> NodeDevices::Allocations(
    const std::string& node_name, const std::function<std::string()>& new_share_id) const {
  return MakeAllocations(*plan->plan, *pools, node_name, *picks, new_share_id);
}

std::vector<framework::ClaimOutcome> ClaimsAttempt::Outcomes(const NodeInfo& node) const {
  std::vector<framework::ClaimOutcome> outcomes;
  const NodeDevices* devices = DevicesOf(node);
  if (devices == nullptr) return outcomes;
  auto allocations = devices->Allocations(node.name(), [] { return std::string("*"); });
  for (const AttemptClaim& each : claims_) {
    if (each.allocated()) continue;
    framework::ClaimOutcome outcome{.claim = each.claim->meta.name,
                                    .allocation = std::move(allocations[outcomes.size()])};
    if (each.extended) {
      outcome.requests = devices->plan->extended->requests;
      outcome.mappings = devices->plan->extended->mappings;
    }
    outcomes.push_back(std::move(outcome));
  }
  return outcomes;
}

int64_t ClaimsAttempt::Score(const NodeInfo& node) const {
  const NodeDevices* devices = DevicesOf(node);
  if (devices == nullptr) return 0;
  int64_t score = devices->Score();
  for (const AttemptClaim& each : claims_) {
    if (each.allocated()) score += ScoreOf(each);
  }
  return score;
}

int64_t NodeDevices::Score() const {
  const auto chosen = [this](const AlternativePlan& alternative) {
    return std::any_of(picks->begin(), picks->end(), [&alternative](const DevicePick& pick) {
      return pick.alternative == alternative.index;
    });
  };
  int64_t score = 0;
  for (const ClaimPlan& claim : plan->plan->claims()) {
    for (const RequestPlan& request : claim.requests) {
      if (request.first_available) score += ScoreOf(request.alternatives, chosen);
    }
  }
  return score;
}

}  // namespace ks::plugins
