// SPDX-License-Identifier: Apache-2.0
#pragma once
// A small HTTP server on loopback, without TLS: for the page of `kubeschedctl ui` alone.
// Boost.Beast sits behind this header. The HTTPS server of the daemon is server::HttpsServer.
//
// Limits: 16 KiB of headers (431), 1 MiB of body (413), 64 connections; 30 s for a request to come
// and for an answer to go.

#include <cstdint>
#include <functional>
#include <memory>

#include "base/result.h"
#include "server/http/http_message.h"

namespace ks::ctl {

// Runs on the listener's thread and must not block. The reply is called once, from any thread; no
// copy of it outlives the listener. A body is left out of the answer to HEAD.
using PageHandler = std::function<void(const server::Request&, const server::Reply&)>;

// Threads: that which made it.
class PageListener {
 public:
  // Binds 127.0.0.1. `port` 0: any free one. Error: the port is taken.
  static Result<std::unique_ptr<PageListener>> Bind(uint16_t port);
  ~PageListener();  // stops
  PageListener(const PageListener&) = delete;
  PageListener& operator=(const PageListener&) = delete;

  uint16_t port() const;
  // Starts the thread. Requires: called once.
  void Serve(PageHandler handler);
  // Closes everything and ends the thread; answers that come later are dropped. Idempotent.
  void Stop();

 private:
  struct State;
  explicit PageListener(std::unique_ptr<State> state);

  const std::unique_ptr<State> state_;
};

}  // namespace ks::ctl
