// SPDX-License-Identifier: Apache-2.0
#pragma once
// A request to the in-memory API server and its answer, free of sockets: the HTTPS front
// (https_front.h) and the simulation both speak in these.

#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "base/clock.h"

namespace ks::apiserver {

// Who asks. An empty name is system:anonymous.
struct UserInfo {
  std::string name = "system:anonymous";
  std::vector<std::string> groups{"system:unauthenticated"};
};

struct ApiRequest {
  std::string method = "GET";
  std::string target{};  // escaped path and query, as sent
  std::string accept{};
  std::string content_type{};
  std::string body{};
  UserInfo user{};
};

// The body of a watch, pulled by whoever sends it. Threads: those of the Service.
// Lifetime: the Service outlives it.
class WatchStream {
 public:
  enum class State : uint8_t {
    kMore,     // there is more to read at once
    kWaiting,  // nothing more now
    kEnded,    // nothing more ever: the body ends cleanly
  };

  virtual ~WatchStream() = default;

  // Appends whole frames that are due, until `out` holds about `limit` bytes or more.
  virtual State Read(size_t limit, std::string* out) = 0;
  // When Read gives something although nothing happens: a bookmark, or the end. Absent: never.
  virtual std::optional<TimePoint> NextDue() const = 0;
  // `ready` is called, from inside Service calls, after something may have become readable; it must
  // not call the Service. Replaces an earlier one.
  virtual void OnReady(std::function<void()> ready) = 0;
};

struct ApiResponse {
  int status = 200;
  std::string content_type = "application/json";
  std::vector<std::pair<std::string, std::string>> headers{};
  std::string body{};
  std::unique_ptr<WatchStream> watch{};  // set: the body comes from here, `body` is empty
};

}  // namespace ks::apiserver
