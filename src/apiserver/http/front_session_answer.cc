// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <boost/asio/write.hpp>
#include <utility>

#include "apiserver/http/front_session.h"

namespace ks::apiserver {
namespace {

namespace asio = boost::asio;

constexpr size_t kSmallBody = 16 << 10;     // goes out with its head in one TLS record
constexpr size_t kLingerLimit = 16U << 20;  // bytes of a refused request that are thrown away
constexpr int64_t kPiecesPerSecond = 20;    // of a slow body

}  // namespace

void FrontSession::Answer(ApiResponse response) {
  phase_ = Phase::kAnswer;
  out_ = HeadText(response, Framing::kLength, keep_alive_, front_.Date());
  body_.clear();
  if (head_) {
    // The head of what GET would answer.
  } else if (response.body.size() <= kSmallBody) {
    out_ += response.body;
  } else {
    body_ = std::move(response.body);
  }
  Write();
}

void FrontSession::Write() {
  writing_ = true;
  sent_ = watch_ ? watch_->start : 0;
  if (fault_.bytes_per_second > 0) {
    Read();  // to see a peer that does not wait
    WritePiece();
    return;
  }
  ExpireAfter(front_.options.write_timeout);
  const std::array<asio::const_buffer, 2> parts{asio::buffer(out_) + sent_, asio::buffer(body_)};
  asio::async_write(stream_, parts, [self = shared_from_this()](const ErrorCode& error, size_t) {
    self->OnWritten(error);
  });
}

void FrontSession::WritePiece() {
  const size_t total = out_.size() + body_.size();
  if (sent_ == total) {
    OnWritten({});
    return;
  }
  const asio::const_buffer rest = sent_ < out_.size() ? asio::buffer(out_) + sent_
                                                      : asio::buffer(body_) + (sent_ - out_.size());
  const int64_t piece = std::max<int64_t>(1, fault_.bytes_per_second / kPiecesPerSecond);
  const asio::const_buffer next = asio::buffer(rest, static_cast<size_t>(piece));
  const Duration pause = std::chrono::nanoseconds(static_cast<int64_t>(
      1e9 * static_cast<double>(next.size()) / static_cast<double>(fault_.bytes_per_second)));
  ExpireAfter(front_.options.write_timeout);
  asio::async_write(stream_, next,
                    [self = shared_from_this(), pause](const ErrorCode& error, size_t size) {
                      if (error || self->phase_ == Phase::kClosing) {
                        self->OnWritten(error);
                        return;
                      }
                      self->sent_ += size;
                      self->deadline_ = SteadyTime::max();
                      self->fault_timer_.expires_after(pause);
                      self->fault_timer_.async_wait([self](const ErrorCode& cancelled) {
                        if (!cancelled) {
                          self->WritePiece();
                        }
                      });
                    });
}

void FrontSession::OnWritten(const ErrorCode& error) {
  writing_ = false;
  if (phase_ == Phase::kClosing) {
    return;
  }
  if (error) {
    Close();
    return;
  }
  deadline_ = SteadyTime::max();
  out_.clear();
  body_ = {};
  if (watch_) {
    Pump();
  } else if (keep_alive_) {
    NextRequest();
  } else {
    ShutDown();
  }
}

void FrontSession::ShutDown() {
  phase_ = Phase::kClosing;
  ExpireAfter(front_.options.close_timeout);
  stream_.async_shutdown([self = shared_from_this()](const ErrorCode&) {
    if (self->refused_) {
      self->Linger();
    }
  });
}

// Closing a socket with unread bytes resets the connection, and the peer may lose the answer
// that says why: what still comes is thrown away, within limits.
void FrontSession::Linger() {
  ErrorCode ignored;
  stream_.next_layer().shutdown(Tcp::socket::shutdown_send, ignored);
  ExpireAfter(front_.options.close_timeout);
  Discard();
}

void FrontSession::Discard() {
  stream_.next_layer().async_read_some(
      asio::buffer(scrap_), [self = shared_from_this()](const ErrorCode& error, size_t size) {
        self->discarded_ += size;
        if (!error && self->discarded_ < kLingerLimit) {
          self->Discard();
        }
      });
}

// The peer gets a TCP reset.
void FrontSession::Reset() {
  ErrorCode ignored;
  stream_.next_layer().set_option(asio::socket_base::linger(true, 0), ignored);
  Close();
}

}  // namespace ks::apiserver
