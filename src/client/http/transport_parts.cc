// SPDX-License-Identifier: Apache-2.0
#include "client/http/transport_parts.h"

#include <fcntl.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sys/socket.h>

#include <algorithm>
#include <cctype>
#include <chrono>

namespace ks::client {
namespace {

constexpr int kProbeInterval = 5;  // seconds between TCP keep-alive probes
constexpr int kProbes = 3;

int Milliseconds(Duration duration) {
  return static_cast<int>(std::chrono::duration_cast<std::chrono::milliseconds>(duration).count());
}

}  // namespace

void SetSocketOptions(int socket, const TransportOptions& options) {
  const int on = 1;
  const int idle = Milliseconds(options.keep_alive) / 1000;
  const int interval = kProbeInterval;
  const int probes = kProbes;
  const int unacknowledged_ms = options.unacknowledged_most > Duration::zero()
                                    ? Milliseconds(options.unacknowledged_most)
                                    : 1000 * (idle + interval * probes);
  fcntl(socket, F_SETFD, FD_CLOEXEC);
  setsockopt(socket, IPPROTO_TCP, TCP_NODELAY, &on, sizeof(on));
  setsockopt(socket, SOL_SOCKET, SO_KEEPALIVE, &on, sizeof(on));
  setsockopt(socket, IPPROTO_TCP, TCP_KEEPIDLE, &idle, sizeof(idle));
  setsockopt(socket, IPPROTO_TCP, TCP_KEEPINTVL, &interval, sizeof(interval));
  setsockopt(socket, IPPROTO_TCP, TCP_KEEPCNT, &probes, sizeof(probes));
  setsockopt(socket, IPPROTO_TCP, TCP_USER_TIMEOUT, &unacknowledged_ms, sizeof(unacknowledged_ms));
}

TransportError CancelError(TransportError::Kind reason) {
  using Kind = TransportError::Kind;
  if (reason == Kind::kTimedOut) return {reason, "context deadline exceeded"};
  if (reason == Kind::kLost) return {reason, "connection closed: the credentials have changed"};
  return {reason, "request canceled"};
}

std::string WithRequest(const ServerUrl& url, const HttpRequest& request,
                        const std::string& message) {
  std::string text = request.method;
  std::transform(text.begin() + 1, text.end(), text.begin() + 1,
                 [](unsigned char c) { return std::tolower(c); });
  text += " \"";
  const std::string shown =
      request.shown_url.empty() ? url.Text() + request.target : request.shown_url;
  return text.append(shown).append("\": ").append(message);
}

}  // namespace ks::client
