// SPDX-License-Identifier: Apache-2.0
#pragma once
// Consumable capacity: what a request takes of a device, and what is left of it.
//
// Upstream: docs/spec/plugins-dra.md section 6.6.

#include <map>
#include <string>
#include <vector>

#include "api/devices.h"
#include "api/labels.h"
#include "base/result.h"

namespace ks::plugins {

// What a request takes of one device.
struct CapacityAmounts {
  bool satisfiable = false;              // by the device's names and policies
  bool fits_total = false;               // and by its total, whoever else uses it
  std::vector<api::Quantity> amounts{};  // one a capacity of the device, in its order
};

// Errors are fatal: `capacity "mem": …`. `fractional`: ranges step in thousandths where they can.
Result<CapacityAmounts> RequestedAmounts(const api::Device& device,
                                         const std::vector<api::NamedQuantity>& requests,
                                         bool fractional = false);

// Amounts picked in one attempt, by device number.
// Threads: like a value.
class CapacityLedger {
 public:
  // Whether what claims consume (null: nothing), what was picked, and `amounts` fit together.
  bool Fits(const api::Device& device, uint32_t number, const CapacityAmounts& amounts,
            const api::SymbolMap<api::Quantity>* consumed) const;
  void Add(uint32_t number, const CapacityAmounts& amounts);
  void Remove(uint32_t number, const CapacityAmounts& amounts);
  // Whether a share of the device was picked.
  bool Shares(uint32_t number) const { return picked_.contains(number); }

 private:
  struct Picked {
    int shares = 0;
    std::vector<api::Quantity> sums;  // one a capacity of the device
  };
  std::map<uint32_t, Picked> picked_;
};

}  // namespace ks::plugins
