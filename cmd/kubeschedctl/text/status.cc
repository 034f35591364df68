// SPDX-License-Identifier: Apache-2.0
#include "kubeschedctl/text/status.h"

#include <cstdio>

#include "kubeschedctl/text/called_as.h"

namespace ks::ctl {

int Fail(const std::string& text) {
  std::fprintf(stderr, "%s: %s\n", ProgramName(), text.c_str());
  return 1;
}

}  // namespace ks::ctl
