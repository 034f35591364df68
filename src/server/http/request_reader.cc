// SPDX-License-Identifier: Apache-2.0
#include "server/http/request_reader.h"

#include <limits>

namespace ks::server {
namespace {

namespace http = boost::beast::http;

constexpr size_t kIdleRead = 4 << 10;
constexpr size_t kRequestRead = 16 << 10;  // a TLS record
constexpr size_t kSmallBuffer = 64 << 10;
// The shortest end of a chunked body: "0\r\n\r\n". Beast asserts that so much is there when it has
// seen a part of it before.
constexpr size_t kLeastOfChunks = 5;

}  // namespace

RequestReader::RequestReader(size_t header_limit, size_t& buffered_bytes)
    : header_limit_(header_limit), buffered_bytes_(buffered_bytes) {}

RequestReader::~RequestReader() { buffered_bytes_ -= noted_bytes_; }

boost::asio::mutable_buffer RequestReader::Prepare() {
  const boost::asio::mutable_buffer room = buffer_.prepare(begun() ? kRequestRead : kIdleRead);
  if (begun()) {
    NoteCapacity();
  }
  return room;
}

bool RequestReader::large() const { return buffer_.capacity() > kSmallBuffer; }

void RequestReader::NoteCapacity() {
  buffered_bytes_ += buffer_.capacity() - noted_bytes_;
  noted_bytes_ = buffer_.capacity();
}

void RequestReader::Begin() {
  begun_at_ = std::chrono::steady_clock::now();
  parser_.emplace();
  parser_->header_limit(static_cast<uint32_t>(header_limit_));
  parser_->body_limit(std::numeric_limits<uint64_t>::max());  // known when the header is
  parser_->eager(false);
}

RequestReader::Progress RequestReader::Parse(ErrorCode& error) {
  const bool header_was_done = parser_->is_header_done();
  const size_t least = header_was_done && parser_->chunked() ? kLeastOfChunks : 1;
  while (!parser_->is_done() && buffer_.size() >= least &&
         parser_->is_header_done() == header_was_done) {
    const size_t used = parser_->put(buffer_.data(), error);
    buffer_.consume(used);
    if (error == http::error::need_more) {
      error = {};
      break;
    }
    if (error) {
      return Progress::kBroken;
    }
  }
  if (!header_was_done) {
    if (!parser_->is_header_done()) return Progress::kMore;
    error = HeaderFault();
    return error ? Progress::kBroken : Progress::kHeader;
  }
  return parser_->is_done() ? Progress::kWhole : Progress::kMore;
}

// What Beast's parser lets pass. A coding that it does not know it takes for none, so that the
// length would count where whoever forwards the request may have gone by the coding.
RequestReader::ErrorCode RequestReader::HeaderFault() const {
  const Message& read = parser_->get();
  if (read.count(http::field::transfer_encoding) > 0 && !read.chunked()) {
    return make_error_code(boost::system::errc::not_supported);
  }
  if (read.version() >= 11 && read.count(http::field::host) == 0) {
    return make_error_code(boost::system::errc::destination_address_required);
  }
  return {};
}

bool RequestReader::LimitBody(uint64_t bytes) {
  if (parser_->content_length().value_or(0) > bytes) {
    return false;
  }
  parser_->body_limit(bytes);
  parser_->eager(true);
  return true;
}

bool RequestReader::BodyIsHere() const {
  const auto length = parser_->content_length();
  return length && *length <= buffer_.size();
}

void RequestReader::Reset(bool shrink) {
  parser_.reset();
  if (shrink && buffer_.size() == 0 && large()) {
    buffer_.shrink_to_fit();
    NoteCapacity();
  }
}

}  // namespace ks::server
