// SPDX-License-Identifier: Apache-2.0
#pragma once
// Result<T>: a value or an Error, for everything that can fail outside the plugin framework (that
// has framework::Status). GCC 12 has no std::expected. Exceptions end at the borders (client,
// config, api decoding), which return Results.

#include <optional>
#include <string>
#include <utility>
#include <variant>

#include "base/check.h"

namespace ks {

// A failure: a full text for people, naming place and cure where there is one.
struct Error {
  std::string message;
  std::string path;  // the configuration field at fault, where there is one
  std::string hint;  // a likely cure, e.g. `did you mean "NodeName"?`; may be empty
};

// Must be used. Either ok() with a value or an Error.
template <class T>
class [[nodiscard]] Result {
 public:
  Result(T value)  // NOLINT(google-explicit-constructor)
      : state_(std::in_place_index<0>, std::move(value)) {}
  Result(Error error)  // NOLINT(google-explicit-constructor)
      : state_(std::in_place_index<1>, std::move(error)) {}

  bool ok() const { return state_.index() == 0; }
  explicit operator bool() const { return ok(); }

  // Requires: ok().
  T& value() & {
    KS_CHECK(ok(), error_text());
    return std::get<0>(state_);
  }
  const T& value() const& {
    KS_CHECK(ok(), error_text());
    return std::get<0>(state_);
  }
  T&& value() && {
    KS_CHECK(ok(), error_text());
    return std::get<0>(std::move(state_));
  }
  T& operator*() & { return value(); }
  const T& operator*() const& { return value(); }
  T* operator->() { return &value(); }
  const T* operator->() const { return &value(); }

  // Requires: !ok().
  const Error& error() const {
    KS_CHECK(!ok(), "error() of a successful Result");
    return std::get<1>(state_);
  }

 private:
  std::string error_text() const { return ok() ? std::string() : std::get<1>(state_).message; }

  std::variant<T, Error> state_;
};

template <>
class [[nodiscard]] Result<void> {
 public:
  Result() = default;
  Result(Error error) : error_(std::move(error)) {}  // NOLINT(google-explicit-constructor)

  bool ok() const { return !error_.has_value(); }
  explicit operator bool() const { return ok(); }
  // Requires: !ok().
  const Error& error() const {
    KS_CHECK(!ok(), "error() of a successful Result");
    return *error_;
  }

 private:
  std::optional<Error> error_;
};

}  // namespace ks
