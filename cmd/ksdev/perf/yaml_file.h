// SPDX-License-Identifier: Apache-2.0
#pragma once
// The suite's YAML as JSON trees, read by the reader of the scheduler's configuration files.

#include <nlohmann/json.hpp>
#include <string>
#include <string_view>

#include "base/result.h"

namespace ks::ctl::dev::perf {

// `name` is for errors: syntax errors and repeated keys.
Result<nlohmann::json> ParseYaml(std::string_view text, const std::string& name);
Result<nlohmann::json> ReadYaml(const std::string& path);

}  // namespace ks::ctl::dev::perf
