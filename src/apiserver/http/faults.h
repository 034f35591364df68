// SPDX-License-Identifier: Apache-2.0
#pragma once
// Faults by rule: which requests go wrong, how and how often. Rules come from a file or from the
// admin endpoint; chance is seeded.
//
// File: {"rules":[{"match":{"verb":"create","resource":"pods","subresource":"binding",
// "user":"system:kube-scheduler","path":"/api/…*"},"probability":0.1,"times":5,"after":100,
// "fault":{"latency":"200ms","status":500,"reason":"InternalError","retryAfter":1,
// "applied":true,…}}]}; docs/apiserver.md has the whole table.
// Threads: one (that of the Service).

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "apiserver/service/request_info.h"
#include "apiserver/store/types.h"
#include "base/clock.h"
#include "base/random.h"
#include "base/result.h"

namespace ks::apiserver {

struct Fault {
  Duration latency{};    // before the request is looked at
  int status = 0;        // answer with this code instead; 0: the real answer
  std::string reason{};  // of the Status; empty: that of the code
  int retry_after = -1;  // seconds; -1: no header
  bool applied = false;  // with status, reset or stall: the request is carried out all the same
  bool reset = false;    // the connection is reset instead of an answer
  bool stall = false;    // no answer ever; the connection stays open
  // A watch breaks off in the middle of the last frame of the first piece that is sent after this
  // time; zero: never.
  Duration cut_watch{};
  Duration stall_watch{};        // a watch goes silent after this time; zero: never
  int64_t bytes_per_second = 0;  // slow body; 0: as fast as it goes
  bool stale_list = false;       // a list is answered with an earlier answer to the same request
};

struct FaultRule {
  std::string verb{};  // empty: every one; resource, subresource, user alike
  std::string resource{};
  std::string subresource{};
  std::string user{};
  std::string path{};      // a prefix ending in *, or the whole path
  double probability = 1;  // per matching request
  int64_t times = -1;      // how often at most; -1: no limit
  int64_t after = 0;       // matching requests that pass before
  Fault fault{};
};

class FaultRules {
 public:
  explicit FaultRules(uint64_t seed) : random_(seed) {}

  // Replaces all rules. Error: place and cure; the rules in force stay.
  Result<void> Load(std::string_view json);
  // The rules with their counts (matched, fired), as JSON.
  std::string Describe() const;
  void Clear();

  // The fault of this request; of the first rule that matches and fires.
  std::optional<Fault> Decide(const UserInfo& user, const RequestInfo& request);

  bool empty() const { return rules_.empty(); }
  // Some rule needs earlier answers to lists.
  bool MakesStaleLists() const;

 private:
  struct Counted {
    FaultRule rule;
    int64_t matched = 0;
    int64_t fired = 0;
  };
  Random random_;
  std::vector<Counted> rules_;
};

}  // namespace ks::apiserver
