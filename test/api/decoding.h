// SPDX-License-Identifier: Apache-2.0
#pragma once
// Decoding of single objects in tests.

#include <gtest/gtest.h>

#include <memory>
#include <string>
#include <string_view>

#include "api/decode/decoder.h"

namespace ks::api {

// A text with the readable bytes behind it that a Decoder asks for.
class Padded {
 public:
  explicit Padded(std::string_view text) : size_(text.size()), text_(text) {
    text_.append(kJsonPadding, ' ');
  }
  operator std::string_view() const {
    return {text_.data(), size_};
  }  // NOLINT(google-explicit-constructor)

 private:
  size_t size_;
  std::string text_;
};

// An empty object, and a failure, if it cannot be decoded.
template <class T>
std::shared_ptr<const T> Decode(std::string_view json) {
  Decoder decoder;
  Result<std::shared_ptr<const T>> object = decoder.Object<T>(Padded(json));
  EXPECT_TRUE(object.ok()) << object.error().message;
  return object.ok() ? *object : std::make_shared<const T>();
}

// "no error" if it can be decoded.
template <class T>
std::string ErrorOf(std::string_view json) {
  Decoder decoder;
  const Result<std::shared_ptr<const T>> object = decoder.Object<T>(Padded(json));
  return object.ok() ? "no error" : object.error().message;
}

}  // namespace ks::api
