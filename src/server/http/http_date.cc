// SPDX-License-Identifier: Apache-2.0
#include "server/http/http_date.h"

#include <ctime>

namespace ks::server {

std::string HttpDate(TimePoint time) {
  const std::time_t seconds = std::chrono::system_clock::to_time_t(
      std::chrono::time_point_cast<std::chrono::microseconds>(time));
  std::tm parts{};
  gmtime_r(&seconds, &parts);
  char text[40];
  return std::string(text, std::strftime(text, sizeof(text), "%a, %d %b %Y %H:%M:%S GMT", &parts));
}

}  // namespace ks::server
