// SPDX-License-Identifier: Apache-2.0
#pragma once
// What keeps core/v1 events from flooding the API server: events that differ in their text only
// become one, and each object has a budget. Not needed for events.k8s.io, whose series leave the
// text out of account.
//
// Upstream: docs/spec/operations.md 7.3, docs/spec/api.md 10.5.

#include <cstddef>
#include <memory>
#include <string>
#include <string_view>

#include "base/bounded_cache.h"
#include "base/clock.h"
#include "base/string_map.h"

namespace ks::client {

// Threads: one at a time. Memory: of the 4096 keys used last.
class EventLimits {
 public:
  static constexpr size_t kSimilar = 10;  // texts; from this one on they are combined
  static constexpr Duration kSimilarFor = std::chrono::minutes(10);  // since the last one
  static constexpr double kBurst = 25;
  static constexpr Duration kRefill = std::chrono::minutes(5);  // for one more
  static constexpr std::string_view kPrefix = "(combined from similar events): ";

  // Whether this event is one too many of those that share `key` and differ in their text.
  bool Combines(const std::string& key, const std::string& note, TimePoint now);

  // Takes one from the budget of `object`. False: it is used up.
  bool Allows(const std::string& object, TimePoint now);

 private:
  static constexpr size_t kMost = 4096;

  struct Similar {
    StringSet notes;
    TimePoint last{};
  };
  struct Budget {
    double left = kBurst;
    TimePoint last{};
  };

  BoundedCache<std::string, Similar> similar_;
  BoundedCache<std::string, Budget> budgets_;
};

}  // namespace ks::client
