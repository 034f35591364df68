// SPDX-License-Identifier: Apache-2.0
// Names and notes of events. Upstream: docs/spec/api.md 10.2.

#include <algorithm>

#include <fmt/format.h>

#include "api/json/encode.h"
#include "api/selector.h"
#include "base/random.h"
#include "golang/utf8.h"

namespace ks::api {

namespace {

constexpr size_t kMaxNote = 1024;
constexpr std::string_view kCutMark = " ...";
constexpr size_t kMaxName = 253;

// One directive of a printf-like format, read as Go's fmt package does when there are no arguments
// at all. Starts behind the `%` at `pos` and leaves `pos` behind the verb.
class Directive {
 public:
  Directive(std::string_view format, size_t& pos) : format_(format), pos_(pos) {}

  void AppendTo(std::string& out) {
    while (pos_ < format_.size() &&
           std::string_view("#0+- ").find(format_[pos_]) != std::string_view::npos) {
      ++pos_;
    }
    ReadIndex();
    if (ReadStar()) {
      out += "%!(BADWIDTH)";
    } else if (ReadNumber() && after_index_) {
      good_index_ = false;
    }
    if (pos_ + 1 < format_.size() && format_[pos_] == '.') {
      ++pos_;
      if (after_index_) good_index_ = false;
      ReadIndex();
      if (ReadStar()) {
        out += "%!(BADPREC)";
      } else {
        ReadNumber();
      }
    }
    if (!after_index_) ReadIndex();
    AppendVerb(out);
  }

 private:
  // "[n]". Every index is out of range; one that is no number is malformed, too.
  void ReadIndex() {
    after_index_ = false;
    if (pos_ >= format_.size() || format_[pos_] != '[') return;
    good_index_ = false;
    const size_t close = format_.find(']', pos_);
    if (format_.size() - pos_ < 3 || close == std::string_view::npos) {
      ++pos_;
      return;
    }
    const size_t start = ++pos_;
    const bool number = ReadNumber();
    after_index_ = number && pos_ == close && close > start;
    pos_ = close + 1;
  }

  bool ReadStar() {
    if (pos_ >= format_.size() || format_[pos_] != '*') return false;
    ++pos_;
    after_index_ = false;
    return true;
  }

  // A number that grows too large swallows the rest of the format.
  bool ReadNumber() {
    constexpr int64_t kTooLarge = 1000000;
    int64_t value = 0;
    bool any = false;
    for (; pos_ < format_.size() && format_[pos_] >= '0' && format_[pos_] <= '9'; ++pos_) {
      if (value > kTooLarge) {
        pos_ = format_.size();
        return false;
      }
      value = value * 10 + (format_[pos_] - '0');
      any = true;
    }
    return any;
  }

  void AppendVerb(std::string& out) {
    if (pos_ >= format_.size()) {
      out += "%!(NOVERB)";
      return;
    }
    const golang::Utf8 verb = golang::DecodeUtf8(format_.substr(pos_));
    const std::string_view text =
        verb.valid ? format_.substr(pos_, verb.length) : std::string_view("\xEF\xBF\xBD");
    pos_ += verb.length;
    if (text == "%") {
      out += '%';
    } else {
      out += fmt::format("%!{}({})", text, good_index_ ? "MISSING" : "BADINDEX");
    }
  }

  const std::string_view format_;
  size_t& pos_;
  bool good_index_ = true;
  bool after_index_ = false;
};

}  // namespace

std::string EventName(std::string_view object_name, TimePoint now, uint64_t salt) {
  const auto nanos = static_cast<uint64_t>(now.time_since_epoch().count());
  std::string name = fmt::format("{}.{:x}", object_name, nanos);
  if (name.size() <= kMaxName && IsDnsSubdomain(name)) return name;
  Random random(salt);
  const uint64_t a = random.Next();
  const uint64_t b = random.Next();
  return fmt::format("{:08x}-{:04x}-4{:03x}-{:04x}-{:012x}", a >> 32, a >> 16 & 0xFFFF, a & 0xFFF,
                     0x8000 | (b >> 48 & 0x3FFF), b & 0xFFFFFFFFFFFF);
}

std::string EventNote(std::string_view text, bool cut) {
  std::string cut_text;
  if (cut && text.size() > kMaxNote) {
    cut_text = text.substr(0, kMaxNote - kCutMark.size());
    cut_text += kCutMark;
    text = cut_text;
  }
  std::string note;
  note.reserve(text.size());
  size_t pos = 0;
  while (pos < text.size()) {
    const size_t percent = std::min(text.find('%', pos), text.size());
    note += text.substr(pos, percent - pos);
    pos = percent + 1;
    if (percent < text.size()) Directive(text, pos).AppendTo(note);
  }
  return note;
}

}  // namespace ks::api
