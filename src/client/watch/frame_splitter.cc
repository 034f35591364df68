// SPDX-License-Identifier: Apache-2.0
#include "client/watch/frame_splitter.h"

#if defined(__SSE2__)
#include <emmintrin.h>
#endif

#include <algorithm>
#include <cctype>

#include "api/decode/decoder.h"
#include "base/canary.h"

namespace ks::client {
namespace {

constexpr size_t kCompactBytes = 64 << 10;

// In front of each message, most significant byte first.
constexpr size_t kLengthBytes = 4;

// The first byte of the length of a bearable message; no JSON begins with it.
bool IsLength(char first) { return static_cast<unsigned char>(first) < '\t'; }

bool Matters(char c) { return c == '"' || c == '\\' || c == '{' || c == '}'; }

#if defined(__SSE2__)
constexpr size_t kBlock = 16;

// Bit i: character i of the block matters.
unsigned MattersMask(const char* block) {
  const __m128i text = _mm_loadu_si128(reinterpret_cast<const __m128i*>(block));
  const __m128i strings = _mm_or_si128(_mm_cmpeq_epi8(text, _mm_set1_epi8('"')),
                                       _mm_cmpeq_epi8(text, _mm_set1_epi8('\\')));
  const __m128i braces = _mm_or_si128(_mm_cmpeq_epi8(text, _mm_set1_epi8('{')),
                                      _mm_cmpeq_epi8(text, _mm_set1_epi8('}')));
  return static_cast<unsigned>(_mm_movemask_epi8(_mm_or_si128(strings, braces)));
}
#endif

}  // namespace

void FrameSplitter::Append(std::string_view piece) {
  if (KS_CANARY(CutFrameDropped) && begin_ != buffer_.size()) Clear();
  if (begin_ == buffer_.size()) {
    Clear();
  } else if (begin_ >= kCompactBytes && begin_ >= buffer_.size() / 2) {
    // At most half of the buffer moves, so each byte moves O(1) times.
    buffer_.erase(0, begin_);
    scanned_ -= begin_;
    skip_ -= std::min(skip_, begin_);
    begin_ = 0;
  }
  const size_t needed = buffer_.size() + piece.size() + api::kJsonPadding;
  if (buffer_.capacity() < needed) buffer_.reserve(std::max(2 * buffer_.capacity(), needed));
  buffer_.append(piece);
}

bool FrameSplitter::Next(std::string_view* frame) {
  if (depth_ == 0 && scanned_ == begin_) {
    // White space between objects belongs to none of them; without it, the buffer can be reused
    // from its start.
    while (begin_ < buffer_.size() && std::isspace(static_cast<unsigned char>(buffer_[begin_]))) {
      ++begin_;
    }
    scanned_ = begin_;
    if (begin_ < buffer_.size() && IsLength(buffer_[begin_])) return NextMeasured(frame);
  }
  if (broken_ || !FindEnd()) {
    if (buffer_.size() - begin_ > most_bytes_) broken_ = true;
    return false;
  }
  *frame = std::string_view(buffer_).substr(begin_, scanned_ - begin_);
  begin_ = scanned_;
  return true;
}

bool FrameSplitter::NextMeasured(std::string_view* frame) {
  const std::string_view rest = std::string_view(buffer_).substr(begin_);
  if (broken_ || rest.size() < kLengthBytes) return false;
  size_t length = 0;
  for (size_t i = 0; i < kLengthBytes; ++i) length = length << 8 | static_cast<uint8_t>(rest[i]);
  if (length > most_bytes_) broken_ = true;
  if (broken_ || rest.size() - kLengthBytes < length) return false;
  *frame = rest.substr(kLengthBytes, length);
  begin_ += kLengthBytes + length;
  scanned_ = begin_;
  return true;
}

void FrameSplitter::Clear() {
  // One huge object must not hold its memory for the life of the stream.
  constexpr size_t kKeptCapacity = 1 << 20;
  if (buffer_.capacity() > kKeptCapacity) buffer_ = std::string();
  buffer_.clear();
  begin_ = scanned_ = skip_ = depth_ = 0;
  in_string_ = broken_ = false;
}

bool FrameSplitter::Step(char c, size_t at) {
  if (at < skip_) return false;
  if (in_string_) {
    if (c == '\\') skip_ = at + 2;
    if (c == '"') in_string_ = false;
    return false;
  }
  switch (c) {
    case '"':
      in_string_ = true;
      return false;
    case '{':
      ++depth_;
      return false;
    case '}':
      if (depth_ == 0) {
        broken_ = true;
        return true;
      }
      return --depth_ == 0;
    default:
      return false;
  }
}

bool FrameSplitter::FindEnd() {
  const char* const text = buffer_.data();
  const size_t size = buffer_.size();
  size_t at = scanned_;
#if defined(__SSE2__)
  for (; at + kBlock <= size; at += kBlock) {
    for (unsigned mask = MattersMask(text + at); mask != 0; mask &= mask - 1) {
      const size_t position = at + static_cast<size_t>(__builtin_ctz(mask));
      if (Step(text[position], position)) {
        scanned_ = position + 1;
        return !broken_;
      }
    }
  }
#endif
  for (; at < size; ++at) {
    if (Matters(text[at]) && Step(text[at], at)) {
      scanned_ = at + 1;
      return !broken_;
    }
  }
  scanned_ = size;
  return false;
}

}  // namespace ks::client
