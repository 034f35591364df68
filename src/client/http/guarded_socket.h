// SPDX-License-Identifier: Apache-2.0
#pragma once
// The socket under a connection's TLS. Between the question whether a request may leave and its
// first byte there is work (encryption, memory), and the process may be stopped in it for longer
// than its lease lasts; so the socket asks once more when the bytes are ready for the kernel.

#include <boost/asio/basic_stream_socket.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <boost/asio/post.hpp>
#include <boost/system/error_code.hpp>
#include <functional>
#include <utility>

namespace ks::client {

// Threads: its connection's.
class GuardedSocket
    : public boost::asio::basic_stream_socket<boost::asio::ip::tcp,
                                              boost::asio::io_context::executor_type> {
 public:
  using basic_stream_socket::basic_stream_socket;

  // What a write fails with that was not allowed. No system call on a socket does: a firewall's
  // refusal, say, is `operation_not_permitted`.
  static constexpr auto kRefused = boost::system::errc::owner_dead;

  // The next write asks it, once, and fails with kRefused where the answer is false: then nothing
  // has left, but a TLS stream over this socket is not fit for more.
  void AskBeforeWrite(std::function<bool()> may_write) { may_write_ = std::move(may_write); }

  // As the base's, for composed operations.
  template <class Buffers, class Handler>
  void async_write_some(const Buffers& buffers, Handler&& handler) {
    if (may_write_ && !std::exchange(may_write_, nullptr)()) {
      boost::asio::post(get_executor(), [handler = std::forward<Handler>(handler)]() mutable {
        handler(make_error_code(kRefused), size_t{0});
      });
      return;
    }
    basic_stream_socket::async_write_some(buffers, std::forward<Handler>(handler));
  }

 private:
  std::function<bool()> may_write_;
};

}  // namespace ks::client
