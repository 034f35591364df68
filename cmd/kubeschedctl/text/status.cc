// SPDX-License-Identifier: Apache-2.0
#include "kubeschedctl/text/status.h"

#include <cstdio>

namespace ks::ctl {

int Fail(const std::string& text) {
  std::fprintf(stderr, "kubeschedctl: %s\n", text.c_str());
  return 1;
}

}  // namespace ks::ctl
