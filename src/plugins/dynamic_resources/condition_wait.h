// SPDX-License-Identifier: Apache-2.0
#pragma once
// The wait for the binding conditions of a pod's devices, in PreBind. It asks at once, whenever one
// of the claims changes, and every five seconds.
//
// Upstream: docs/spec/plugins-dra.md section 4.8; there only every five seconds.

#include <optional>
#include <string>
#include <vector>

#include "api/devices.h"
#include "base/clock.h"
#include "framework/handle.h"

namespace ks::plugins {

// Threads: the scheduling thread. Lifetime: `handle` outlives it.
class ConditionWait {
 public:
  ConditionWait(framework::Handle& handle, std::vector<api::ResourceClaimPtr> claims,
                Duration timeout);

  // Whether some device has binding conditions.
  bool needed() const;
  // Waits for the next time to ask, or is over.
  framework::PreBindStep Step();
  bool over() const { return outcome_.has_value(); }
  // Empty: all devices are ready. Requires: over().
  const std::string& failure() const { return *outcome_; }

 private:
  std::optional<framework::Status> Ask();
  // Absent: not yet.
  std::optional<std::string> Judge();
  void Report(const char* status);

  framework::Handle& handle_;
  std::vector<api::ResourceClaimPtr> claims_;  // in their latest versions
  const Duration timeout_;
  const TimePoint began_;
  std::optional<std::string> outcome_;
};

}  // namespace ks::plugins
