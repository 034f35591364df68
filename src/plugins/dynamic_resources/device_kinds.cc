// SPDX-License-Identifier: Apache-2.0
#include "plugins/dynamic_resources/device_kinds.h"

#include <algorithm>
#include <type_traits>
#include <variant>

#include "plugins/dynamic_resources/device_taints.h"

namespace ks::plugins {
namespace {

void AppendElement(int64_t value, std::string& text) {
  AppendNumber(static_cast<uint64_t>(value), text);
}
void AppendElement(bool value, std::string& text) { AppendNumber(value ? 1 : 0, text); }
void AppendElement(const std::string& value, std::string& text) {
  AppendNumber(value.size(), text);
  text += value;
}
void AppendElement(const api::DeviceVersion& value, std::string& text) {
  AppendElement(value.text, text);
}

std::string TextOf(const api::DeviceAttributeValue& value) {
  std::string text;
  AppendNumber(value.index(), text);
  std::visit(
      [&text]<class Held>(const Held& held) {
        if constexpr (std::is_same_v<Held, std::vector<bool>>) {
          for (const bool element : held) AppendElement(element, text);
        } else if constexpr (requires { AppendElement(held, text); }) {
          AppendElement(held, text);
        } else if constexpr (!std::is_same_v<Held, std::monostate>) {
          for (const auto& element : held) AppendElement(element, text);
        }
      },
      value);
  return text;
}

}  // namespace

void AppendNumber(uint64_t number, std::string& text) {
  for (; number >= 0x80; number >>= 7) text += static_cast<char>(number | 0x80);
  text += static_cast<char>(number);
}

uint32_t ValueNumbers::Of(const api::Quantity& amount) {
  return amounts_.try_emplace(amount, static_cast<uint32_t>(amounts_.size())).first->second;
}

uint32_t ValueNumbers::Of(const api::DeviceAttributeValue* value) {
  const auto known = known_.find(value);
  if (known != known_.end()) return known->second;
  const auto number = static_cast<uint32_t>(values_.size());
  return known_[value] = values_.try_emplace(TextOf(*value), number).first->second;
}

DeviceKinds::DeviceKinds(const AllocationPlan& plan, const NodePools& pools,
                         const AllocatedState& allocated, DeviceCandidates& candidates, bool alone,
                         ValueNumbers& values)
    : plan_(plan), pools_(pools), allocated_(allocated), candidates_(candidates), values_(values) {
  StringMap<uint32_t> kinds;
  for (uint32_t i = 0; i < pools.devices.size(); ++i) {
    const PoolDevice& one = pools.devices[i];
    Device device{
        .index = i,
        .one = one,
        .shareable = plan.features().consumable_capacity && one.device->allow_multiple_allocations};
    Describe(device, alone);
    const auto [kind, added] =
        kinds.try_emplace(std::move(device.text), static_cast<uint32_t>(kinds.size()));
    if (added) until_.push_back(last_taker_);
    kinds_.push_back(kind->second);
  }
}

void DeviceKinds::Describe(Device& device, bool alone) {
  last_taker_ = 0;
  AppendNumber(device.one.pool, device.text);
  for (const ClaimPlan& claim : plan_.claims()) {
    for (const RequestPlan& request : claim.requests) {
      for (const AlternativePlan& alternative : request.alternatives) {
        const Opinion opinion = DescribeOpinion(claim, alternative, device);
        if (opinion != Opinion::kNo) last_taker_ = alternative.index + 1;
        alone = alone || opinion == Opinion::kError;
      }
    }
  }
  DescribeCounters(device);
  if (device.shareable) DescribeShares(device);
  if (alone) AppendNumber(device.index, device.text);
}

DeviceKinds::Opinion DeviceKinds::DescribeOpinion(const ClaimPlan& claim,
                                                  const AlternativePlan& alternative,
                                                  Device& device) {
  std::string details;
  const Opinion opinion = Ask(claim, alternative, device, details);
  device.text += static_cast<char>(opinion);
  if (opinion == Opinion::kYes) {
    AppendNumber(details.size(), device.text);
    device.text += details;
  }
  return opinion;
}

DeviceKinds::Opinion DeviceKinds::Ask(const ClaimPlan& claim, const AlternativePlan& alternative,
                                      const Device& device, std::string& details) {
  if (!alternative.admin && allocated_.Dedicated(device.one.number)) return Opinion::kNo;
  if (alternative.all) {
    const std::vector<uint32_t>& all = candidates_.AllOf(alternative);
    if (!std::binary_search(all.begin(), all.end(), device.index)) return Opinion::kNo;
    // One of all that cannot be taken ends the search in one way or another.
    const Opinion opinion = AskSelected(claim, alternative, device, details);
    return opinion == Opinion::kNo ? Opinion::kError : opinion;
  }
  const auto selects = candidates_.Selects(claim, alternative, device.index);
  if (!selects.ok()) return Opinion::kError;
  return *selects ? AskSelected(claim, alternative, device, details) : Opinion::kNo;
}

// In the order in which the search looks at a device.
DeviceKinds::Opinion DeviceKinds::AskSelected(const ClaimPlan& claim,
                                              const AlternativePlan& alternative,
                                              const Device& device, std::string& details) {
  const PoolDevice& one = device.one;
  const Opinion opinion = AskCapacity(alternative, device, details);
  if (opinion != Opinion::kYes) return opinion;
  const bool skips = !pools_.slices[one.slice]->slice->skip_node_operations.empty();
  if (skips && !pools_.operations_optional) return Opinion::kNo;
  if (plan_.features().taints &&
      UntoleratedTaint(alternative.spec->tolerations, *one.device) != nullptr) {
    return Opinion::kNo;
  }
  return AskConstraints(claim, alternative, device, details);
}

DeviceKinds::Opinion DeviceKinds::AskCapacity(const AlternativePlan& alternative,
                                              const Device& device, std::string& details) {
  if (!plan_.features().consumable_capacity) return Opinion::kYes;
  if (device.one.device->capacity.empty() && alternative.spec->capacity.empty()) {
    return Opinion::kYes;
  }
  const Result<CapacityAmounts>& amounts = *candidates_.Amounts(alternative, device.index);
  if (!amounts.ok()) return Opinion::kError;
  if (!amounts->fits_total) return Opinion::kNo;
  if (device.shareable) {
    for (const api::Quantity& amount : amounts->amounts) {
      AppendNumber(values_.Of(amount), details);
    }
  }
  return Opinion::kYes;
}

DeviceKinds::Opinion DeviceKinds::AskConstraints(const ClaimPlan& claim,
                                                 const AlternativePlan& alternative,
                                                 const Device& device, std::string& details) {
  for (const size_t index : alternative.constraints) {
    const auto value = candidates_.ValueOf(claim.constraints[index], alternative, device.index);
    if (!value.ok()) return Opinion::kError;
    if (*value == nullptr) return Opinion::kNo;
    AppendNumber(values_.Of(*value), details);
  }
  return Opinion::kYes;
}

void DeviceKinds::DescribeCounters(Device& device) {
  const Pool& pool = pools_.pools[device.one.pool];
  // One that names a set only is not to be had either where the pool is overdrawn.
  device.text += device.one.device->consumes_counters.empty() ? '0' : 'C';
  AppendNumber(device.one.uses_end - device.one.uses_begin, device.text);
  for (uint32_t i = device.one.uses_begin; i < device.one.uses_end; ++i) {
    AppendNumber(pool.uses[i].counter, device.text);
    AppendNumber(values_.Of(pool.uses[i].amount), device.text);
  }
  if (!plan_.features().compatibility_groups) return;
  AppendNumber(device.one.device->consumes_counters.size(), device.text);
  for (const api::CounterSet& use : device.one.device->consumes_counters) {
    AppendNumber(use.name.id(), device.text);
    AppendNumber(use.compatibility_groups.size(), device.text);
    for (const Symbol& group : use.compatibility_groups) AppendNumber(group.id(), device.text);
  }
}

void DeviceKinds::DescribeShares(Device& device) {
  const uint32_t number = device.one.number;
  device.text += allocated_.Shared(number) ? 'S' : 's';
  AppendNumber(device.one.device->capacity.size(), device.text);
  const api::SymbolMap<api::Quantity>* consumed = allocated_.Consumed(number);
  for (const api::DeviceCapacity& capacity : device.one.device->capacity) {
    AppendNumber(values_.Of(capacity.value), device.text);
    const api::Quantity* used = consumed == nullptr ? nullptr : consumed->Find(capacity.name);
    AppendNumber(values_.Of(used == nullptr ? api::Quantity() : *used), device.text);
  }
}

}  // namespace ks::plugins
