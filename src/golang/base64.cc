// SPDX-License-Identifier: Apache-2.0
#include "golang/base64.h"

#include <openssl/evp.h>

#include <cstdint>

namespace ks::golang {
namespace {

constexpr size_t kNone = static_cast<size_t>(-1);

bool IsBreak(char c) { return c == '\n' || c == '\r'; }

// 0..63, or -1 for a character outside the alphabet.
int Sextet(char c) {
  if (c >= 'A' && c <= 'Z') return c - 'A';
  if (c >= 'a' && c <= 'z') return c - 'a' + 26;
  if (c >= '0' && c <= '9') return c - '0' + 52;
  return c == '+' ? 62 : c == '/' ? 63 : -1;
}

// Reads the padding whose first '=' is at `at` as digit `digit` of its group; the offset of the
// first wrong byte, or kNone.
size_t CheckPadding(std::string_view text, size_t at, int digit) {
  if (digit < 2) return at;
  size_t next = at + 1;
  const auto skip_breaks = [&] {
    while (next < text.size() && IsBreak(text[next])) ++next;
  };
  skip_breaks();
  if (digit == 2) {
    if (next == text.size()) return next;
    if (text[next] != '=') return next - 1;
    ++next;
    skip_breaks();
  }
  return next < text.size() ? next : kNone;
}

}  // namespace

Result<std::string> DecodeBase64(std::string_view text) {
  std::string bytes;
  uint32_t group = 0;
  int digit = 0;
  size_t wrong = kNone;
  size_t at = 0;
  for (; at < text.size(); ++at) {
    const char c = text[at];
    if (IsBreak(c)) continue;
    const int value = Sextet(c);
    if (value < 0) {
      wrong = c == '=' ? CheckPadding(text, at, digit) : at;
      break;
    }
    group = group << 6 | static_cast<uint32_t>(value);
    if (++digit == 4) {
      for (const int shift : {16, 8, 0}) bytes += static_cast<char>(group >> shift & 0xff);
      group = 0;
      digit = 0;
    }
  }
  if (at == text.size() && digit != 0) wrong = text.size() - static_cast<size_t>(digit);
  if (wrong != kNone) return Error{"illegal base64 data at input byte " + std::to_string(wrong)};
  if (digit >= 2) bytes += static_cast<char>(group >> (digit == 2 ? 4 : 10) & 0xff);
  if (digit == 3) bytes += static_cast<char>(group >> 2 & 0xff);
  return bytes;
}

std::string EncodeBase64(std::string_view bytes) {
  std::string text(4 * ((bytes.size() + 2) / 3) + 1, '\0');  // with the terminator it writes
  const int size = EVP_EncodeBlock(reinterpret_cast<unsigned char*>(text.data()),
                                   reinterpret_cast<const unsigned char*>(bytes.data()),
                                   static_cast<int>(bytes.size()));
  text.resize(static_cast<size_t>(size));
  return text;
}

}  // namespace ks::golang
