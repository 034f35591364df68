// SPDX-License-Identifier: Apache-2.0
#pragma once
// Counts the depth of a recursion.

namespace ks::cel {

// One more level as long as it lives.
template <class Counter>
class Deeper {
 public:
  explicit Deeper(Counter& depth) : depth_(depth) { ++depth_; }
  Deeper(const Deeper&) = delete;
  Deeper& operator=(const Deeper&) = delete;
  ~Deeper() { --depth_; }

 private:
  Counter& depth_;
};

}  // namespace ks::cel
