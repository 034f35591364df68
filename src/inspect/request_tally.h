// SPDX-License-Identifier: Apache-2.0
#pragma once
// The devices of a node by why they do not do for a request, and the sentence that says so.
// Internal to explain_devices.
//
// Upstream: none.

#include <cstdint>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "inspect/device_judge.h"
#include "plugins/dynamic_resources/plan.h"

namespace ks::inspect {

// Threads: like a value. Lifetime: the alternative outlives it.
class RequestTally {
 public:
  explicit RequestTally(const plugins::AlternativePlan& alternative) : alternative_(alternative) {}

  // `fault`: none if the device does.
  void Add(const std::string& device, std::optional<DeviceFault> fault);

  // Whether the request alone can be met.
  bool Enough() const;
  // "needs 2 of class gpu, 0 of 8 devices do: …". `any_pools`: the node has pools of devices.
  std::string Text(bool any_pools) const;
  // The same for nodes with the same numbers of devices for the same reasons.
  std::string Key() const;

 private:
  struct Group {
    DeviceFault first;  // or the one with the most left
    std::string device;
    size_t count = 0;
    bool differ = false;  // in their amounts
    std::set<std::string> claims{};
  };

  std::string Devices(bool any_pools) const;
  std::string Groups(bool of_class) const;
  static std::string GroupText(const Group& group);
  size_t Asked() const { return of_class_ - not_asked_for_; }

  const plugins::AlternativePlan& alternative_;
  size_t of_class_ = 0;
  size_t not_asked_for_ = 0;
  size_t fitting_ = 0;
  std::vector<Group> groups_;
};

}  // namespace ks::inspect
