// SPDX-License-Identifier: Apache-2.0
#pragma once
// Remembers what a plugin derived from the last few pod specs. Pods of one template share one spec
// object, so the parsing and summing of PreFilter and PreScore happens once per template and not
// once per pod. Only for data that depends on nothing but the spec.

#include <array>
#include <cstddef>
#include <memory>
#include <utility>

#include "api/pod.h"

namespace ks::plugins {

// Keeps the specs alive, so that an address stands for one spec only. Threads: the scheduling
// thread.
template <class T>
class SpecCache {
 public:
  using SpecPtr = std::shared_ptr<const api::PodSpec>;

  // The remembered datum, or make() stored in the place of the oldest one.
  template <class Make>
  const std::shared_ptr<T>& GetOrMake(const SpecPtr& spec, Make make) {
    for (const auto& [key, datum] : entries_) {
      if (key == spec) return datum;
    }
    auto& slot = entries_[next_];
    next_ = (next_ + 1) % entries_.size();
    slot = {spec, make()};
    return slot.second;
  }

 private:
  std::array<std::pair<SpecPtr, std::shared_ptr<T>>, 8> entries_;
  size_t next_ = 0;
};

}  // namespace ks::plugins
