// SPDX-License-Identifier: Apache-2.0
#pragma once
// Serial: tells an object from all others that live, or lived, in this process.

#include <atomic>
#include <cstdint>

namespace ks {

// A member of the object. A copy of the object has the same one. Threads: immutable.
class Serial {
 public:
  Serial() : value_(Next()) {}
  uint64_t value() const { return value_; }

 private:
  static uint64_t Next() {
    static std::atomic<uint64_t> last{0};
    return last.fetch_add(1, std::memory_order_relaxed) + 1;
  }
  uint64_t value_;
};

}  // namespace ks
