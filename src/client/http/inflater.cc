// SPDX-License-Identifier: Apache-2.0
#include "client/http/inflater.h"

#include <zlib.h>

namespace ks::client {
namespace {

constexpr int kGzipOnly = 15 + 16;  // the largest window, and no zlib header
constexpr size_t kPieceBytes = 32 << 10;

}  // namespace

void Inflater::End::operator()(z_stream_s* stream) const {
  inflateEnd(stream);
  delete stream;
}

Inflater::Inflater() {
  auto stream = std::make_unique<z_stream>();
  if (inflateInit2(stream.get(), kGzipOnly) == Z_OK) stream_.reset(stream.release());
}

bool Inflater::Add(std::string_view packed, std::string* out) {
  if (stream_ == nullptr || done_) return packed.empty();
  // zlib does not write to its input.
  stream_->next_in = reinterpret_cast<Bytef*>(const_cast<char*>(packed.data()));
  stream_->avail_in = static_cast<uInt>(packed.size());
  char piece[kPieceBytes];
  do {
    stream_->next_out = reinterpret_cast<Bytef*>(piece);
    stream_->avail_out = sizeof(piece);
    const int result = inflate(stream_.get(), Z_NO_FLUSH);
    out->append(piece, sizeof(piece) - stream_->avail_out);
    done_ = result == Z_STREAM_END;
    if (!done_ && result != Z_OK && result != Z_BUF_ERROR) return false;
  } while (!done_ && (stream_->avail_in > 0 || stream_->avail_out == 0));
  return stream_->avail_in == 0;
}

}  // namespace ks::client
