// SPDX-License-Identifier: Apache-2.0
#include "inspect/explain_requests.h"

#include <algorithm>
#include <map>
#include <set>
#include <utility>

#include "inspect/device_text.h"
#include "inspect/request_tally.h"
#include "plugins/dynamic_resources/allocator.h"
#include "plugins/dynamic_resources/pod_claims.h"

namespace ks::inspect {
namespace {

using framework::NodeInfo;
using plugins::AlternativePlan;
using plugins::ClaimPlan;
using plugins::NodePools;
using plugins::Pool;
using plugins::PoolDevice;
using plugins::RequestPlan;

// Steps of a search for what stands in the way of all requests together.
constexpr int kMaxSteps = 100'000;

size_t RequestCount(const plugins::AllocationPlan& plan) {
  size_t count = 0;
  for (const ClaimPlan& claim : plan.claims()) count += claim.requests.size();
  return count;
}

RequestTally TallyOf(const AlternativePlan& alternative, const NodePools& pools,
                     DeviceJudge& judge) {
  RequestTally tally(alternative);
  if (!alternative.error.empty()) return tally;
  for (uint32_t i = 0; i < pools.devices.size(); ++i) {
    tally.Add(pools.devices[i].device->name.str(), judge.Judge(alternative, i));
  }
  return tally;
}

// `one` without a constraint; `constraint` absent: without any.
api::ResourceClaimPtr Without(const api::ResourceClaim& one, std::optional<size_t> constraint) {
  auto claim = std::make_shared<api::ResourceClaim>(one);
  auto& constraints = claim->constraints;
  if (!constraint) {
    constraints.clear();
  } else {
    constraints.erase(constraints.begin() + static_cast<std::ptrdiff_t>(*constraint));
  }
  return claim;
}

const PoolDevice* FindDevice(const NodePools& pools, const api::DeviceResult& result) {
  for (const PoolDevice& one : pools.devices) {
    const Pool& pool = pools.pools[one.pool];
    if (one.device->name == result.device && pool.name == result.pool &&
        pool.driver == result.driver) {
      return &one;
    }
  }
  return nullptr;
}

// By name. `consumed`: by others; null: nothing.
std::vector<DeviceShare::Amount> AmountsOf(const api::DeviceResult& result,
                                           const api::Device& device,
                                           const api::SymbolMap<api::Quantity>* consumed) {
  std::vector<DeviceShare::Amount> amounts;
  for (const api::NamedQuantity& asked : result.consumed_capacity) {
    for (const api::DeviceCapacity& capacity : device.capacity) {
      if (capacity.name != asked.name) continue;
      api::Quantity free = capacity.value;
      const api::Quantity* used = consumed == nullptr ? nullptr : consumed->Find(asked.name);
      if (used != nullptr) free -= *used;
      amounts.push_back({.capacity = asked.name.str(),
                         .asked = asked.value.ToString(),
                         .free = free.ToString(),
                         .total = capacity.value.ToString()});
    }
  }
  std::sort(amounts.begin(), amounts.end(),
            [](const auto& a, const auto& b) { return a.capacity < b.capacity; });
  return amounts;
}

std::string PoolName(const Pool& pool) { return pool.driver.str() + '/' + pool.name.str(); }

}  // namespace

RequestExplainer::RequestExplainer(const api::Pod& pod, const cache::DeviceStores& devices,
                                   const config::FeatureGates& gates)
    : pod_(pod), devices_(devices), users_(devices), memory_(devices, plugins::FeaturesOf(gates)) {
  memory_.CatchUp();
  auto resolved = plugins::ResolveClaims(devices, pod, plugins::ClaimOwners::kPodsAndGroups);
  if (resolved.ok()) {
    for (api::ResourceClaimPtr& claim : *resolved) {
      if (claim->allocation == nullptr) claims_.push_back(std::move(claim));
    }
  }
  const bool served = gates.Enabled(config::Gate::kDRAExtendedResource);
  if (!served || devices.FindExtendedResourceClaim(pod) != nullptr) return;
  extended_ = std::make_shared<api::ResourceClaim>();
  extended_->meta.ns = pod.meta.ns;
  extended_->for_extended_resources = true;
}

DeviceStory RequestExplainer::Why(const NodeInfo& node) {
  const Asked& asked = AskedOn(node);
  const auto pools = memory_.slices().PoolsOf(*node.node());
  DeviceStory story;
  Judge(asked, *pools, story);
  for (std::string& text : PoolTexts(*pools)) {
    story.key += '\n' + text;
    story.texts.push_back(std::move(text));
  }
  if (story.texts.empty()) {
    story.texts.push_back(WhyNotTogether(asked, *pools));
    story.key = story.texts.back();
  }
  return story;
}

std::vector<DeviceShare> RequestExplainer::Shares(
    const NodeInfo& node, const std::vector<framework::ClaimOutcome>& outcomes) const {
  std::vector<DeviceShare> shares;
  const auto pools = memory_.slices().PoolsOf(*node.node());
  for (size_t c = 0; c < outcomes.size(); ++c) {
    const std::vector<api::DeviceResult>& results = outcomes[c].allocation.results;
    for (size_t i = 0; i < results.size(); ++i) {
      if (results[i].share_id.empty()) continue;
      const PoolDevice* device = FindDevice(*pools, results[i]);
      if (device == nullptr) continue;
      shares.push_back({.claim = c,
                        .result = i,
                        .amounts = AmountsOf(results[i], *device->device,
                                             memory_.allocated().Consumed(device->number))});
    }
  }
  return shares;
}

const RequestExplainer::Asked& RequestExplainer::AskedOn(const NodeInfo& node) {
  std::vector<plugins::ServedResource> served;
  if (extended_ != nullptr) {
    for (const Symbol& resource : plugins::ExtendedResourcesOf(pod_)) {
      const std::string* name = devices_.device_classes().ClassServing(resource);
      if (name == nullptr || node.allocatable().Amount(resource) > 0) continue;
      served.push_back({.resource = resource, .device_class = Symbol(*name)});
    }
  }
  for (const auto& asked : asked_) {
    if (asked->served == served) return *asked;
  }
  return *asked_.emplace_back(Make(std::move(served)));
}

std::unique_ptr<const RequestExplainer::Asked> RequestExplainer::Make(
    std::vector<plugins::ServedResource> served) {
  auto asked = std::make_unique<Asked>();
  asked->claims = claims_;
  asked->extended = plugins::MakeExtendedRequests(pod_, served);
  asked->served = std::move(served);
  if (!asked->extended.requests.empty()) {
    auto claim = std::make_shared<api::ResourceClaim>(*extended_);
    claim->requests = asked->extended.requests;
    asked->claims.push_back(std::move(claim));
  }
  asked->plan = Plan(asked->claims);
  return asked;
}

std::unique_ptr<const plugins::AllocationPlan> RequestExplainer::Plan(
    const std::vector<api::ResourceClaimPtr>& claims) {
  return std::make_unique<const plugins::AllocationPlan>(
      claims, [this](const Symbol& name) { return devices_.FindDeviceClass(name.view()); },
      memory_.selectors(), memory_.features());
}

void RequestExplainer::Judge(const Asked& asked, const NodePools& pools, DeviceStory& story) {
  DeviceJudge judge({.pools = pools,
                     .allocated = memory_.allocated(),
                     .selectors = memory_.selectors(),
                     .users = users_,
                     .features = memory_.features()});
  for (const ClaimPlan& claim : asked.plan->claims()) {
    for (const RequestPlan& request : claim.requests) {
      std::vector<RequestTally> tallies;
      for (const AlternativePlan& alternative : request.alternatives) {
        tallies.push_back(TallyOf(alternative, pools, judge));
      }
      const bool met = std::any_of(tallies.begin(), tallies.end(),
                                   [](const RequestTally& tally) { return tally.Enough(); });
      if (met) continue;
      for (size_t i = 0; i < tallies.size(); ++i) {
        const std::string name = Named(asked, claim, request.alternatives[i]);
        story.key += '\n' + name + tallies[i].Key();
        story.texts.push_back(name + tallies[i].Text(!pools.pools.empty()));
      }
    }
  }
}

std::string RequestExplainer::Named(const Asked& asked, const ClaimPlan& claim,
                                    const AlternativePlan& alternative) const {
  if (!claim.claim->for_extended_resources) {
    return "claim " + claim.claim->meta.Key() + ", request " + alternative.request_name + ": ";
  }
  std::string resource;
  for (const api::ExtendedResourceMapping& mapping : asked.extended.mappings) {
    if (mapping.request == alternative.request_name) resource = mapping.resource;
  }
  return "extended resource " + resource + ": ";
}

std::vector<std::string> RequestExplainer::PoolTexts(const NodePools& pools) const {
  std::vector<std::string> texts;
  for (const Pool& pool : pools.pools) {
    if (pool.state == Pool::State::kValid) continue;
    if (pool.state == Pool::State::kInvalid) {
      texts.push_back("pool " + PoolName(pool) + " is invalid: " + pool.why_invalid);
      continue;
    }
    int64_t generation = 0;
    int64_t count = 0;
    int64_t wanted = 0;
    for (const api::ResourceSlicePtr& slice : devices_.Slices()) {
      if (slice->driver != pool.driver || slice->pool != pool.name) continue;
      if (slice->pool_generation < generation) continue;
      if (slice->pool_generation > generation) count = 0;
      generation = slice->pool_generation;
      wanted = slice->pool_slice_count;
      ++count;
    }
    texts.push_back("pool " + PoolName(pool) + " is incomplete: " + std::to_string(count) + " of " +
                    std::to_string(wanted) + (wanted == 1 ? " slice" : " slices"));
  }
  return texts;
}

std::string RequestExplainer::WhyNotTogether(const Asked& asked, const NodePools& pools) {
  const bool one = RequestCount(*asked.plan) == 1;
  const std::string constraints = BrokenConstraints(asked, pools);
  if (!constraints.empty()) {
    return (one ? "enough devices, but not with "
                : "each request alone fits; together they do not: ") +
           constraints;
  }
  return one ? "each device alone fits, but not as many as the request needs: they draw on the "
               "same "
               "counters"
             : "each request alone fits; together they do not: they need the same devices or "
               "counters";
}

// Those without which the requests could be met; empty: it is not due to constraints.
std::string RequestExplainer::BrokenConstraints(const Asked& asked, const NodePools& pools) {
  std::vector<api::ResourceClaimPtr> claims = asked.claims;
  std::string all;
  for (size_t c = 0; c < claims.size(); ++c) {
    const auto& constraints = asked.claims[c]->constraints;
    for (size_t i = 0; i < constraints.size(); ++i) {
      std::string text = "constraint " + ConstraintText(constraints[i]);
      if (claims.size() > 1) text += " of claim " + asked.claims[c]->meta.Key();
      claims[c] = Without(*asked.claims[c], i);
      if (Solvable(claims, pools)) return text + ValuesText(asked, c, i, pools);
      all += (all.empty() ? "" : " and ") + text;
    }
    claims[c] = asked.claims[c];
  }
  if (all.empty()) return "";
  for (api::ResourceClaimPtr& claim : claims) claim = Without(*claim, std::nullopt);
  return Solvable(claims, pools) ? all : "";
}

// " (0 on 2 devices, 1 on 1 device)", of the devices that could be taken.
std::string RequestExplainer::ValuesText(const Asked& asked, size_t claim, size_t constraint,
                                         const NodePools& pools) {
  DeviceJudge judge({.pools = pools,
                     .allocated = memory_.allocated(),
                     .selectors = memory_.selectors(),
                     .users = users_,
                     .features = memory_.features()});
  const ClaimPlan& plan = asked.plan->claims()[claim];
  std::map<std::string, std::set<uint32_t>> devices;
  for (const RequestPlan& request : plan.requests) {
    for (const AlternativePlan& alternative : request.alternatives) {
      const auto& applying = alternative.constraints;
      const bool applies =
          std::find(applying.begin(), applying.end(), constraint) != applying.end();
      if (!applies || !alternative.error.empty()) continue;
      for (uint32_t i = 0; i < pools.devices.size(); ++i) {
        if (judge.Judge(alternative, i)) continue;
        const plugins::PoolDevice& device = pools.devices[i];
        const api::DeviceAttributeValue* value =
            plan.constraints[constraint].ValueOf(*device.device, pools.pools[device.pool].driver);
        devices[value == nullptr ? "no value" : AttributeText(*value)].insert(i);
      }
    }
  }
  std::string text;
  for (const auto& [value, those] : devices) {
    text += (text.empty() ? " (" : ", ") + value + " on " + std::to_string(those.size()) +
            (those.size() == 1 ? " device" : " devices");
  }
  return text.empty() ? text : text + ')';
}

bool RequestExplainer::Solvable(const std::vector<api::ResourceClaimPtr>& claims,
                                const NodePools& pools) {
  const auto plan = Plan(claims);
  int steps = 0;
  const auto outcome = plugins::AllocateDevices(*plan, pools, memory_.allocated(), [&steps] {
    return std::string(++steps > kMaxSteps ? "steps" : "");
  });
  return outcome.verdict == plugins::NodeAllocation::Verdict::kAllocated;
}

}  // namespace ks::inspect
