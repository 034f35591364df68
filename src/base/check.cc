// SPDX-License-Identifier: Apache-2.0
#include "base/check.h"

#include <cstdlib>

#include "base/logging.h"

namespace ks::internal {

void CheckFailed(const char* file, int line, std::string_view expression, std::string_view detail) {
  log::Fatal(file, line, expression, detail);
  std::abort();
}

}  // namespace ks::internal
