// SPDX-License-Identifier: Apache-2.0
#pragma once
// Refusals of the API server: reasons, codes and messages as upstream writes them, and their form
// as a metav1.Status.
//
// Upstream: docs/spec/api.md sections 7.5 and 9.1.

#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

#include "apiserver/store/kinds.h"
#include "base/check.h"

namespace ks::apiserver {

struct Cause {
  std::string reason{};   // "FieldValueInvalid"
  std::string message{};  // `Invalid value: "x": must be …`
  std::string field{};    // "spec.containers[0].name"
};

struct Failure {
  int code = 500;
  std::string reason{};  // "NotFound"
  std::string message{};
  // details; all empty: the Status has none
  std::string name{};
  std::string group{};
  std::string kind{};  // the plural for most reasons, as upstream has it; the kind for Invalid
  std::string uid{};
  std::vector<Cause> causes{};
  int retry_after_seconds = 0;
  // "details":{} all the same
  bool empty_details = false;
  // metadata.continue: where an expired list can be gone on with
  std::string continue_token{};
};

Failure NotFound(const KindInfo& kind, std::string_view name);
Failure AlreadyExists(const KindInfo& kind, std::string_view name);
// "Operation cannot be fulfilled on <resource> "<name>": <cause>"
Failure Conflict(std::string_view qualified_resource, std::string_view name,
                 std::string_view cause);
// 422; `Pod "p" is invalid: <field>: <message>`, several as [a, b].
Failure Invalid(const KindInfo& kind, std::string_view name, std::vector<Cause> causes);
Failure BadRequest(std::string message);
// `pods "p" is forbidden: <cause>`
Failure Forbidden(const KindInfo& kind, std::string_view name, std::string_view cause);
Failure Unauthorized();
Failure MethodNotAllowed(std::string_view method);
Failure UnsupportedMediaType(std::string_view sent, const std::vector<std::string>& accepted);
Failure Expired(std::string message);                               // 410
Failure TooLargeResourceVersion(uint64_t asked, uint64_t current);  // 504
Failure TooManyRequests(std::string message, int retry_after_seconds);
Failure InternalError(std::string cause);
// 500 without a reason: what upstream makes of an error that has none.
Failure PlainError(std::string message);
// 422 of query options: `ListOptions.meta.k8s.io "" is invalid: …`.
Failure InvalidOptions(std::string_view options_kind, std::vector<Cause> causes);
Failure PathNotFound();  // 404 of a path or resource that does not exist

// The Status object: {"kind":"Status","apiVersion":"v1",…}.
std::string StatusText(const Failure& failure);

// A value or a Failure.
template <class T>
class [[nodiscard]] Outcome {
 public:
  Outcome(T value)  // NOLINT(google-explicit-constructor)
      : state_(std::in_place_index<0>, std::move(value)) {}
  Outcome(Failure failure)  // NOLINT(google-explicit-constructor)
      : state_(std::in_place_index<1>, std::move(failure)) {}

  bool ok() const { return state_.index() == 0; }
  // Requires: ok().
  T& value() & {
    KS_CHECK(ok(), "value() of a Failure");
    return std::get<0>(state_);
  }
  const T& value() const& {
    KS_CHECK(ok(), "value() of a Failure");
    return std::get<0>(state_);
  }
  T&& value() && {
    KS_CHECK(ok(), "value() of a Failure");
    return std::get<0>(std::move(state_));
  }
  T* operator->() { return &value(); }
  const T* operator->() const { return &value(); }
  T& operator*() & { return value(); }
  const T& operator*() const& { return value(); }
  // Requires: !ok().
  const Failure& failure() const {
    KS_CHECK(!ok(), "failure() of a value");
    return std::get<1>(state_);
  }

 private:
  std::variant<T, Failure> state_;
};

}  // namespace ks::apiserver
