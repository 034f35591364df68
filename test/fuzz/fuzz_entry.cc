// SPDX-License-Identifier: Apache-2.0
// Entry of libFuzzer (clang, -DKS_LIBFUZZER=ON). KS_FUZZ_TARGET is the target's name.

#include <cstdint>
#include <cstdlib>

#include <fmt/format.h>

#include "fuzz/fuzz_targets.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  for (const ks::fuzz::Target& target : ks::fuzz::Targets()) {
    if (target.name != KS_FUZZ_TARGET) continue;
    const std::string wrong = target.run({reinterpret_cast<const char*>(data), size});
    if (!wrong.empty()) {
      fmt::print(stderr, "{}: {}\n", target.name, wrong);
      std::abort();
    }
  }
  return 0;
}
