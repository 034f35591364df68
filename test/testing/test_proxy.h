// SPDX-License-Identifier: Apache-2.0
#pragma once
// A proxy on loopback: HTTP (CONNECT, and requests that it answers itself), HTTP over TLS, or
// SOCKS5. Whatever host a client asks for, its bytes go to one port of this machine, so tests may
// use names that nobody knows.

#include <memory>
#include <string>
#include <vector>

#include "base/mutex.h"
#include "testing/scripted_server.h"

namespace ks::testing {

struct TestProxyOptions {
  enum class Kind : uint8_t { kHttp, kSocks5 };
  Kind kind = Kind::kHttp;
  int target_port = 0;                     // where all tunnels lead
  std::optional<TestIdentity> identity{};  // it is spoken to over TLS
  std::string user{};                      // who may use it; empty: everybody
  std::string password{};
};

// Threads: any.
class TestProxy {
 public:
  explicit TestProxy(TestProxyOptions options);

  // With user and password if there are.
  std::string url() const;
  // What it was asked for, in order: "CONNECT api.example:443", "POST http://h/x", and of a SOCKS
  // client "api.example:443".
  std::vector<std::string> asked() const;
  // Ends all tunnels.
  void CloseConnections() { server_->CloseConnections(); }

 private:
  void RecordRequest(const std::string& asked);
  void ServeHttp(ScriptedConnection& connection);
  void ServeSocks(ScriptedConnection& connection);
  void Tunnel(ScriptedConnection& connection) const;

  const TestProxyOptions options_;
  mutable Mutex mutex_;
  std::vector<std::string> asked_ KS_GUARDED_BY(mutex_);
  std::unique_ptr<ScriptedServer> server_;  // last: its threads use everything above
};

}  // namespace ks::testing
