// SPDX-License-Identifier: Apache-2.0
// Entry of libFuzzer (clang, -DKS_LIBFUZZER=ON): the target is named by the environment's
// KS_FUZZ_TARGET, which the processes that libFuzzer starts by itself inherit.
#include <fmt/format.h>

#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <string>
#include <string_view>

#include "fuzz/fuzz_targets.h"

namespace ks::fuzz {
namespace {

const Target& Chosen() {
  const char* const name = std::getenv("KS_FUZZ_TARGET");
  const auto found = std::find_if(Targets().begin(), Targets().end(), [&](const Target& target) {
    return name != nullptr && target.name == std::string_view(name);
  });
  if (found == Targets().end()) {
    fmt::print(stderr, "KS_FUZZ_TARGET must name one of the targets:");
    for (const Target& target : Targets()) fmt::print(stderr, " {}", target.name);
    fmt::print(stderr, "\n");
    std::exit(2);
  }
  return *found;
}

}  // namespace
}  // namespace ks::fuzz

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  static const ks::fuzz::Target& target = ks::fuzz::Chosen();
  const std::string wrong = target.run({reinterpret_cast<const char*>(data), size});
  if (!wrong.empty()) {
    fmt::print(stderr, "{}: {}\n", target.name, wrong);
    std::abort();
  }
  return 0;
}
