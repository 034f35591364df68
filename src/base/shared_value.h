// SPDX-License-Identifier: Apache-2.0
#pragma once
// A value that many owners have in common.

#include <memory>
#include <utility>

namespace ks {

// Reads as a const T, by default as T(); copying copies a pointer. Equal when the values are.
// Threads: like a value; the shared T is immutable.
template <class T>
class SharedValue {
 public:
  SharedValue() = default;
  // T() if null.
  explicit SharedValue(std::shared_ptr<const T> value) : value_(std::move(value)) {}

  const T& operator*() const { return value_ == nullptr ? Default() : *value_; }
  const T* operator->() const { return &**this; }
  // Null stands for T().
  const std::shared_ptr<const T>& ptr() const { return value_; }

  // A copy of the value for this owner alone, to be changed before the owner itself is shared.
  T& Mutable() {
    const std::shared_ptr<T> own(new T(**this));
    value_ = own;
    return *own;
  }

  friend bool operator==(const SharedValue& a, const SharedValue& b) {
    return a.value_ == b.value_ || *a == *b;
  }

 private:
  static const T& Default() {
    static const T value{};
    return value;
  }

  std::shared_ptr<const T> value_;
};

}  // namespace ks
