// SPDX-License-Identifier: Apache-2.0
#pragma once
// Remembers what a plugin derived from pod specs. Pods of one template share one spec object, so
// the parsing and summing of PreFilter and PreScore happens once per template and not once per pod.
// Only for data that depends on nothing but the spec.

#include <array>
#include <cstddef>
#include <cstdint>
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

  // The remembered datum, or make(), which takes the place of another spec's.
  template <class Make>
  const std::shared_ptr<T>& GetOrMake(const SpecPtr& spec, Make make) {
    // Addresses are multiples of 16 at least; the multiplication spreads what is left.
    const uint64_t hash = (reinterpret_cast<uintptr_t>(spec.get()) >> 4) * 0x9e3779b97f4a7c15ULL;
    auto& [key, datum] = entries_[hash >> (64 - kBits)];
    if (key != spec) {
      datum = make();
      key = spec;
    }
    return datum;
  }

 private:
  static constexpr int kBits = 7;
  std::array<std::pair<SpecPtr, std::shared_ptr<T>>, size_t{1} << kBits> entries_;
};

}  // namespace ks::plugins
