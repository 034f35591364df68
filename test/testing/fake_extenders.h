// SPDX-License-Identifier: Apache-2.0
#pragma once
// Extenders that answer when the test says so, in virtual time; to whoever waits they answer at
// once. Threads: one at a time.

#include <functional>
#include <memory>
#include <optional>
#include <stop_token>
#include <string>
#include <utility>
#include <vector>

#include "base/check.h"
#include "framework/extender_transport.h"

namespace ks::testing {

class FakeExtenders final : public framework::ExtenderTransport {
 public:
  struct Asked {
    framework::ExtenderRequest request;
    Done done;  // null once answered
  };

  void Call(framework::ExtenderRequest request, Done done) override {
    asked.push_back({std::move(request), std::move(done)});
  }

  std::optional<std::vector<framework::ExtenderReply>> CallAndWait(
      std::vector<framework::ExtenderRequest> requests, const std::stop_token& /*stop*/) override {
    std::vector<framework::ExtenderReply> replies;
    for (framework::ExtenderRequest& request : requests) {
      const auto reply = at_once ? at_once(request) : std::nullopt;
      asked.push_back({std::move(request), nullptr});
      if (reply) replies.push_back(*reply);
    }
    if (replies.size() < requests.size()) return std::nullopt;
    return replies;
  }

  void Answer(size_t i, std::string body, int status = 200) {
    Reply(i, {.error = {}, .status = status, .body = std::move(body)});
  }
  void Fail(size_t i, std::string error) { Reply(i, {.error = std::move(error)}); }
  // Every request without an answer.
  void AnswerAll(const std::string& body) {
    for (size_t i = 0; i < asked.size(); ++i) {
      if (asked[i].done) Answer(i, body);
    }
  }
  size_t unanswered() const {
    size_t count = 0;
    for (const Asked& call : asked) count += call.done ? 1 : 0;
    return count;
  }
  // Verbs with extender numbers: "0/filter".
  std::vector<std::string> Verbs() const {
    std::vector<std::string> verbs;
    for (const Asked& call : asked) {
      verbs.push_back(std::to_string(call.request.extender) + "/" + call.request.verb);
    }
    return verbs;
  }

  // What somebody who waits is answered. Nothing, or empty: the wait is given up.
  std::function<std::optional<framework::ExtenderReply>(const framework::ExtenderRequest&)> at_once;
  // Everything asked so far.
  std::vector<Asked> asked;

 private:
  void Reply(size_t i, framework::ExtenderReply reply) {
    KS_CHECK(i < asked.size() && asked[i].done, "no unanswered request of that number");
    const Done done = std::exchange(asked[i].done, nullptr);
    done(std::move(reply));
  }
};

}  // namespace ks::testing
