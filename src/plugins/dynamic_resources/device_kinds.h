// SPDX-License-Identifier: Apache-2.0
#pragma once
// Kinds of devices of a node: of one kind are devices that no request of a plan can tell apart,
// whatever else they are. What fails with one of them fails with another.
//
// Upstream: docs/spec/plugins-dra.md section 15, trap 39.

#include <cstddef>
#include <cstdint>
#include <map>
#include <string>
#include <unordered_map>
#include <vector>

#include "api/devices.h"
#include "api/quantity.h"
#include "base/string_map.h"
#include "plugins/dynamic_resources/allocated_state.h"
#include "plugins/dynamic_resources/candidates.h"
#include "plugins/dynamic_resources/plan.h"
#include "plugins/dynamic_resources/pools.h"

namespace ks::plugins {

// Small numbers for values, the same one for equal values. Threads: like a value.
class ValueNumbers {
 public:
  uint32_t Of(const api::Quantity& amount);
  // The value must stay where it is.
  uint32_t Of(const api::DeviceAttributeValue* value);

 private:
  std::map<api::Quantity, uint32_t> amounts_;
  std::unordered_map<const api::DeviceAttributeValue*, uint32_t> known_;
  StringMap<uint32_t> values_;  // by their text
};

void AppendNumber(uint64_t number, std::string& text);

// Made once: asks every selector about every device. Threads: like a value.
class DeviceKinds {
 public:
  // `alone`: every device is a kind of its own. Requires: candidates are prepared.
  DeviceKinds(const AllocationPlan& plan, const NodePools& pools, const AllocatedState& allocated,
              DeviceCandidates& candidates, bool alone, ValueNumbers& values);

  uint32_t Of(uint32_t device) const { return kinds_[device]; }
  // Whether an alternative with this index or a higher one may take a device of the kind.
  bool Matters(uint32_t kind, size_t alternative) const { return until_[kind] > alternative; }

 private:
  // What one alternative thinks of a device.
  enum class Opinion : char {
    kNo = '-',
    kYes = '+',
    kError = '!',  // to take it, or to look at it, is fatal
  };
  struct Device {
    uint32_t index = 0;
    const PoolDevice& one;
    bool shareable = false;
    std::string text{};  // all that can matter to a request
  };

  void Describe(Device& device, bool alone);
  Opinion DescribeOpinion(const ClaimPlan& claim, const AlternativePlan& alternative,
                          Device& device);
  // `details`: what tells devices apart of which an alternative thinks kYes.
  Opinion Ask(const ClaimPlan& claim, const AlternativePlan& alternative, const Device& device,
              std::string& details);
  Opinion AskSelected(const ClaimPlan& claim, const AlternativePlan& alternative,
                      const Device& device, std::string& details);
  Opinion AskCapacity(const AlternativePlan& alternative, const Device& device,
                      std::string& details);
  Opinion AskConstraints(const ClaimPlan& claim, const AlternativePlan& alternative,
                         const Device& device, std::string& details);
  void DescribeCounters(Device& device);
  void DescribeShares(Device& device);

  const AllocationPlan& plan_;
  const NodePools& pools_;
  const AllocatedState& allocated_;
  DeviceCandidates& candidates_;
  ValueNumbers& values_;
  size_t last_taker_ = 0;        // of the device that is being described: its alternative + 1
  std::vector<uint32_t> kinds_;  // by device
  std::vector<size_t> until_;    // by kind
};

}  // namespace ks::plugins
