// SPDX-License-Identifier: Apache-2.0
#pragma once
// Bytes as a script: what is drawn from them decides what a target does. Behind their end all is 0.

#include <algorithm>
#include <cstdint>
#include <string_view>

namespace ks::fuzz {

// Lifetime: the bytes outlive it and its texts.
class Script {
 public:
  explicit Script(std::string_view bytes) : bytes_(bytes) {}

  bool over() const { return bytes_.empty(); }
  uint8_t Byte() {
    if (bytes_.empty()) return 0;
    const auto byte = static_cast<uint8_t>(bytes_[0]);
    bytes_.remove_prefix(1);
    return byte;
  }
  // Of a size that is drawn, too: small ones, and all.
  uint64_t Number() {
    const int size = Byte() % 9;
    uint64_t number = 0;
    for (int i = 0; i < size; ++i) number = number << 8 | Byte();
    return number;
  }
  // Of 63 bytes at most.
  std::string_view Text() {
    const size_t size = std::min<size_t>(Byte() % 64, bytes_.size());
    const std::string_view text = bytes_.substr(0, size);
    bytes_.remove_prefix(size);
    return text;
  }

 private:
  std::string_view bytes_;
};

}  // namespace ks::fuzz
