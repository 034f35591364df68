// SPDX-License-Identifier: Apache-2.0
#pragma once
// The front's answers as text, free of sockets: heads of responses, injected failures, its own
// endpoints.

#include <optional>
#include <string>
#include <string_view>

#include "apiserver/http/faults.h"
#include "apiserver/service/service.h"
#include "apiserver/store/types.h"

namespace ks::apiserver {

// How the body of an answer is delimited.
enum class Framing : uint8_t { kLength, kChunked, kUntilClose };

// Status line and headers, up to and with the empty line. `date` as HttpDate has it.
std::string HeadText(const ApiResponse& response, Framing framing, bool keep_alive,
                     std::string_view date);

ApiResponse StatusAnswer(const Failure& failure);

// The answer that an injected `status` gives.
ApiResponse InjectedAnswer(const Fault& fault);

// Whom the value of an Authorization header speaks for: absent without a bearer token; a failure
// (401) for one that is unknown.
std::optional<Outcome<UserInfo>> UserOfHeader(std::string_view authorization,
                                              const std::map<std::string, UserInfo>& tokens);

// /kubesched/…: fault rules, snapshot, forgetting. Absent: the path is none of these.
std::optional<ApiResponse> AnswerAdmin(const ApiRequest& request, FaultRules& rules,
                                       Service& service);

// Earlier answers to lists, for faults that answer with them. Bounded: the oldest ones go.
class EarlierLists {
 public:
  // The answer to the same request, or null.
  const std::string* Find(const ApiRequest& request) const;
  void Remember(const ApiRequest& request, const std::string& body);
  void Clear();

 private:
  static std::string KeyOf(const ApiRequest& request);

  std::map<std::string, std::string> bodies_;
  size_t bytes_ = 0;
};

}  // namespace ks::apiserver
