// SPDX-License-Identifier: Apache-2.0
// Texts in requests.
#include <sys/utsname.h>

#include "base/text.h"
#include "client/rest/rest_client.h"

namespace ks::client {

std::string UserAgent(std::string_view program, std::string_view component) {
  utsname name{};
  uname(&name);
  std::string machine = name.machine;
  if (machine == "x86_64") machine = "amd64";
  if (machine == "aarch64") machine = "arm64";
  std::string text(program);
  text.append("/v" KS_VERSION " (").append(LowerCase(name.sysname)).append("/").append(machine);
  text.append(") kubernetes/unknown/").append(component);
  return text;
}

std::string EscapeUrl(std::string_view text) {
  constexpr char kHex[] = "0123456789ABCDEF";
  std::string out;
  out.reserve(text.size() + text.size() / 2);
  for (const char c : text) {
    const auto byte = static_cast<unsigned char>(c);
    const bool plain = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
                       c == '-' || c == '_' || c == '.' || c == '~';
    if (plain) {
      out += c;
    } else {
      out += '%';
      out += kHex[byte >> 4];
      out += kHex[byte & 15];
    }
  }
  return out;
}

}  // namespace ks::client
