// SPDX-License-Identifier: Apache-2.0
#pragma once
// Bytes written as hexadecimal numbers, as rows of binary examples have them.

#include <string>
#include <string_view>

namespace ks::testing {

// Two digits a byte. Requires: nothing but digits.
inline std::string FromHex(std::string_view hex) {
  std::string bytes;
  for (size_t i = 0; i + 1 < hex.size(); i += 2) {
    bytes += static_cast<char>(std::stoi(std::string(hex.substr(i, 2)), nullptr, 16));
  }
  return bytes;
}

}  // namespace ks::testing
