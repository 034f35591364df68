// SPDX-License-Identifier: Apache-2.0
#pragma once
// A TCP proxy on loopback that can be cut: while it is, nothing passes in either direction and the
// client hears of nothing, as with a broken network. What was under way is lost, and so are the
// connections, once it is whole again.

#include <arpa/inet.h>
#include <netinet/in.h>
#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <array>
#include <atomic>
#include <cstdint>
#include <string>
#include <thread>
#include <vector>

#include "base/check.h"

namespace ks::e2e {

// Threads: one of its own; CutOff any.
class TcpProxy {
 public:
  explicit TcpProxy(uint16_t target) : target_(target), listener_(socket(AF_INET, SOCK_STREAM, 0)) {
    sockaddr_in address = Loopback(0);
    socklen_t size = sizeof address;
    KS_CHECK(bind(listener_, reinterpret_cast<sockaddr*>(&address), size) == 0, "bind");
    KS_CHECK(listen(listener_, 64) == 0, "listen");
    getsockname(listener_, reinterpret_cast<sockaddr*>(&address), &size);
    port_ = ntohs(address.sin_port);
    thread_ = std::thread([this] { Run(); });
  }
  ~TcpProxy() {
    ending_ = true;
    thread_.join();
    CloseAll();
    close(listener_);
  }
  TcpProxy(const TcpProxy&) = delete;
  TcpProxy& operator=(const TcpProxy&) = delete;

  uint16_t port() const { return port_; }
  void CutOff(bool cut) {
    cut_ = cut;
    if (cut) broken_ = true;
  }

 private:
  struct Pair {
    int client = -1;
    int server = -1;
  };
  static constexpr int kTickMs = 20;

  static sockaddr_in Loopback(uint16_t port) {
    sockaddr_in address{};
    address.sin_family = AF_INET;
    address.sin_port = htons(port);
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    return address;
  }

  void Run() {
    while (!ending_) {
      std::vector<pollfd> polled;
      if (!cut_) {
        polled.push_back({.fd = listener_, .events = POLLIN, .revents = 0});
        for (const Pair& pair : pairs_) {
          polled.push_back({.fd = pair.client, .events = POLLIN, .revents = 0});
          polled.push_back({.fd = pair.server, .events = POLLIN, .revents = 0});
        }
      }
      const int ready = poll(polled.data(), polled.size(), kTickMs);
      if (!cut_ && broken_.exchange(false)) {
        CloseAll();
        continue;
      }
      if (ready <= 0 || cut_ || broken_) continue;
      const size_t known = pairs_.size();
      if (polled[0].revents != 0) Accept();
      for (size_t i = known; i-- > 0;) {
        const bool up = polled[1 + 2 * i].revents == 0 || Pass(pairs_[i].client, pairs_[i].server);
        const bool down =
            polled[2 + 2 * i].revents == 0 || Pass(pairs_[i].server, pairs_[i].client);
        if (up && down) continue;
        close(pairs_[i].client);
        close(pairs_[i].server);
        pairs_.erase(pairs_.begin() + static_cast<ptrdiff_t>(i));
      }
    }
  }
  void CloseAll() {
    for (const Pair& pair : pairs_) {
      close(pair.client);
      close(pair.server);
    }
    pairs_.clear();
  }
  void Accept() {
    const int client = accept(listener_, nullptr, nullptr);
    if (client < 0) return;
    const int server = socket(AF_INET, SOCK_STREAM, 0);
    const sockaddr_in address = Loopback(target_);
    if (connect(server, reinterpret_cast<const sockaddr*>(&address), sizeof address) != 0) {
      close(client);
      close(server);
      return;
    }
    pairs_.push_back({client, server});
  }
  static bool Pass(int from, int to) {
    std::array<char, 65536> buffer;
    const ssize_t got = read(from, buffer.data(), buffer.size());
    if (got <= 0) return false;
    for (ssize_t sent = 0; sent < got;) {
      const ssize_t part =
          send(to, buffer.data() + sent, static_cast<size_t>(got - sent), MSG_NOSIGNAL);
      if (part <= 0) return false;
      sent += part;
    }
    return true;
  }

  const uint16_t target_;
  const int listener_;
  uint16_t port_ = 0;
  std::atomic<bool> cut_{false};
  std::atomic<bool> broken_{false};  // was cut since the connections were made
  std::atomic<bool> ending_{false};
  std::vector<Pair> pairs_;
  std::thread thread_;
};

}  // namespace ks::e2e
