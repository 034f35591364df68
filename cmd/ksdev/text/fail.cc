// SPDX-License-Identifier: Apache-2.0
#include "ksdev/text/fail.h"

#include <cstdio>

namespace ks::ctl::dev {

int Fail(const std::string& text) {
  std::fprintf(stderr, "ksdev: %s\n", text.c_str());
  return 1;
}

}  // namespace ks::ctl::dev
