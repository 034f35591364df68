// SPDX-License-Identifier: Apache-2.0
#pragma once
// The way to extenders and back. An interface, so that the scheduler knows no network and tests and
// the simulation answer in virtual time; client/extender_client.h is the real one.
//
// Upstream: docs/spec/cycle.md 19.1, 19.4.

#include <cstddef>
#include <functional>
#include <memory>
#include <optional>
#include <stop_token>
#include <string>
#include <vector>

#include "base/result.h"
#include "config/types.h"

namespace ks::framework {

// One POST of a JSON object. Threads: like a value.
struct ExtenderRequest {
  size_t extender = 0;  // position in the configuration the transport was made for
  std::string verb;     // last element of the URL's path
  std::string body;
  // Asking does no harm, so a request that got lost on a connection that was kept open too long may
  // be sent once more.
  bool repeatable = true;
};

struct ExtenderReply {
  std::string error;  // no HTTP answer: `Post "http://…": dial tcp …`; empty: there is one
  int status = 0;
  std::string body;
};

// Threads: any; `done` comes once, on a thread of the transport, never from inside Call, at the
// latest after the extender's httpTimeout. Lifetime: destruction ends what runs and waits for its
// `done`.
class ExtenderTransport {
 public:
  using Done = std::function<void(ExtenderReply)>;

  virtual ~ExtenderTransport() = default;
  virtual void Call(ExtenderRequest request, Done done) = 0;

  // Asks all of them side by side and waits: the replies, in the order of the requests. Absent: not
  // all will come, as when `stop` is requested before. Threads: one that no `done` needs. A
  // transport whose answers need the asking thread replaces it and answers at once.
  virtual std::optional<std::vector<ExtenderReply>> CallAndWait(
      std::vector<ExtenderRequest> requests, const std::stop_token& stop);
};

// Errors as upstream's, `couldn't build extenders: ` in front.
using ExtenderTransportFactory = std::function<Result<std::shared_ptr<ExtenderTransport>>(
    const std::vector<config::Extender>& extenders)>;

}  // namespace ks::framework
