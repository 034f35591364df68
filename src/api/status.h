// SPDX-License-Identifier: Apache-2.0
#pragma once
// metav1.Status: how the API server reports failures, and the classification that callers use.
// Not the status of a plugin: that is framework::Status.
//
// Upstream: docs/spec/api.md section 7.5.

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace ks::api {

struct StatusCause {
  std::string reason;
  std::string message;
  std::string field;

  bool operator==(const StatusCause&) const = default;
};

// A failed request. Transport failures (no HTTP answer) have code 0 and reason empty.
struct ApiError {
  int32_t code = 0;
  std::string reason;   // "NotFound", "Conflict" …; empty when unknown
  std::string message;  // the text users see
  std::vector<StatusCause> causes;
  int32_t retry_after_seconds = -1;  // -1: none given
  bool connection_refused = false;   // transport failure: nobody listens
  bool timed_out = false;            // transport failure: deadline passed

  bool IsNotFound() const { return Is("NotFound", 404); }
  bool IsAlreadyExists() const { return reason == "AlreadyExists"; }
  bool IsConflict() const { return Is("Conflict", 409); }
  bool IsGone() const {
    return reason == "Expired" || reason == "Gone" || (reason.empty() && code == 410);
  }
  bool IsInternal() const { return Is("InternalError", 500); }
  bool IsUnavailable() const { return Is("ServiceUnavailable", 503); }
  bool IsTooManyRequests() const { return Is("TooManyRequests", 429); }
  bool IsTransport() const { return code == 0; }

 private:
  // By reason; by code only when the reason is empty.
  bool Is(std::string_view wanted_reason, int32_t wanted_code) const {
    return reason.empty() ? code == wanted_code : reason == wanted_reason;
  }

  bool operator==(const ApiError&) const = default;
};

}  // namespace ks::api
