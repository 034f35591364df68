// SPDX-License-Identifier: Apache-2.0
#include "kubeschedctl/text/duration_option.h"

#include <CLI/CLI.hpp>
#include <cstdint>
#include <map>
#include <string>

namespace ks::ctl {

void AddTimeout(CLI::App& verb, const char* name, std::chrono::seconds& target, const char* help) {
  const CLI::AsNumberWithUnit seconds(
      std::map<std::string, int64_t>{{"s", 1}, {"m", 60}, {"h", 3600}});
  verb.add_option_function<int64_t>(
          name, [&target](const int64_t& count) { target = std::chrono::seconds(count); }, help)
      ->transform(seconds)
      ->type_name("DURATION")
      ->default_str(std::to_string(target.count()) + "s");
}

}  // namespace ks::ctl
