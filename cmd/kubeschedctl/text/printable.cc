// SPDX-License-Identifier: Apache-2.0
#include "kubeschedctl/text/printable.h"

#include <fmt/format.h>

namespace ks::ctl {

std::string MillisecondsText(double milliseconds) {
  if (milliseconds < 1) return fmt::format("{:.0f} us", milliseconds * 1000);
  if (milliseconds < 100) return fmt::format("{:.1f} ms", milliseconds);
  if (milliseconds < 1000) return fmt::format("{:.0f} ms", milliseconds);
  return fmt::format("{:.1f} s", milliseconds / 1000);
}

std::string Printable(std::string_view text) {
  std::string safe;
  safe.reserve(text.size());
  for (const char c : text) {
    const auto byte = static_cast<unsigned char>(c);
    if ((byte & 0xC0U) == 0x80U) continue;  // the rest of a character
    safe += byte < 0x20 || byte == 0x7F ? ' ' : byte >= 0x80 ? '?' : c;
  }
  return safe;
}

}  // namespace ks::ctl
