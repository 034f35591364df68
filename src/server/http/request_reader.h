// SPDX-License-Identifier: Apache-2.0
#pragma once
// Bytes to requests (HTTP/1.0 and 1.1), without a socket: what came, up to where it is understood,
// within limits on header and body.

#include <boost/asio/buffer.hpp>
#include <boost/beast/core/flat_buffer.hpp>
#include <boost/beast/http/message.hpp>
#include <boost/beast/http/parser.hpp>
#include <boost/beast/http/string_body.hpp>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <optional>

namespace ks::server {

// One request after the other; the bytes behind a request stay for the next one.
//
//   (none) ── Begin ──▶ header ── kHeader ──▶ LimitBody ──▶ body ── kWhole ──▶ Reset ──▶ (none)
//
// Threads: its connection's. Lifetime: `buffered_bytes` outlives it.
class RequestReader {
 public:
  using ErrorCode = boost::system::error_code;
  using Message = boost::beast::http::request<boost::beast::http::string_body>;
  enum class Progress : uint8_t {
    kMore,    // than the buffer holds is needed
    kHeader,  // is whole for the first time; LimitBody is to be called
    kWhole,
    kBroken,  // see `error` of Parse
  };

  // `buffered_bytes`: the sum over all connections, which this one adds to while it reads a
  // request.
  RequestReader(size_t header_limit, size_t& buffered_bytes);
  ~RequestReader();
  RequestReader(const RequestReader&) = delete;
  RequestReader& operator=(const RequestReader&) = delete;

  // Room for bytes of the peer, behind what is here. Until Commit says how many came, nothing else
  // is called but `full` and `large`.
  boost::asio::mutable_buffer Prepare();
  void Commit(size_t size) { buffer_.commit(size); }

  size_t buffered() const { return buffer_.size(); }
  // No more is to be read before some of it is understood.
  bool full() const { return buffer_.size() >= header_limit_; }
  // Holds more memory than every connection may, whatever others have.
  bool large() const;

  // The first bytes of a request are here.
  void Begin();
  bool begun() const { return parser_.has_value(); }
  std::chrono::steady_clock::time_point begun_at() const { return begun_at_; }

  // Requires: begun. Errors: Beast's; `header_limit` and `body_limit` when a limit is passed;
  // `not_supported` for a transfer coding other than chunked, `destination_address_required` for a
  // request of HTTP/1.1 without a Host field.
  Progress Parse(ErrorCode& error);
  // False: the body announces itself as larger than `bytes`. Requires: the header is whole.
  bool LimitBody(uint64_t bytes);
  bool whole() const { return parser_->is_done(); }
  // The body announces its length, and so many bytes are here. Requires: the header is whole.
  bool BodyIsHere() const;

  // Requires: begun. Lifetime: till Reset.
  Message& message() { return parser_->get(); }
  const Message& message() const { return parser_->get(); }

  // Forgets the request. `shrink`: gives back a large buffer that is empty; no read is outstanding.
  void Reset(bool shrink);

 private:
  void NoteCapacity();
  ErrorCode HeaderFault() const;

  const size_t header_limit_;
  size_t& buffered_bytes_;
  size_t noted_bytes_ = 0;  // this reader's part of buffered_bytes_
  boost::beast::flat_buffer buffer_;
  std::optional<boost::beast::http::request_parser<boost::beast::http::string_body>> parser_;
  std::chrono::steady_clock::time_point begun_at_;
};

}  // namespace ks::server
