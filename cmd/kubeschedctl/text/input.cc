// SPDX-License-Identifier: Apache-2.0
#include "kubeschedctl/text/input.h"

#include <array>
#include <cerrno>
#include <iostream>

#include "base/file_text.h"

namespace ks::ctl {

Result<std::string> ReadInput(const std::string& file) {
  if (!file.empty() && file != "-") return ReadFile(file);
  errno = 0;
  std::string text;
  std::array<char, size_t{1} << 16> buffer;
  while (std::cin.read(buffer.data(), buffer.size()) || std::cin.gcount() > 0) {
    text.append(buffer.data(), static_cast<size_t>(std::cin.gcount()));
  }
  if (std::cin.bad()) return Error{"read standard input: " + SystemErrorText(errno)};
  return text;
}

}  // namespace ks::ctl
