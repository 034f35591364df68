// SPDX-License-Identifier: Apache-2.0
#pragma once
// The parameters of a workload, which its operations name as `$name`.

#include <nlohmann/json.hpp>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"

namespace ks::ctl::dev::perf {

// Remembers which were asked for: one that nobody names is a mistake of the file. Threads: one.
class Parameters {
 public:
  // `values`: a mapping, or null for none.
  explicit Parameters(nlohmann::json values) : values_(std::move(values)) {}

  // The value of "$name". Error: no such parameter.
  Result<nlohmann::json> Get(std::string_view reference);
  // A value of templateParams: as it is, or what "$name" or "$name|default" stands for; the default
  // is YAML.
  Result<nlohmann::json> Resolve(const nlohmann::json& value);

  std::vector<std::string> Unused() const;

 private:
  const nlohmann::json values_;
  std::set<std::string, std::less<>> used_;
};

}  // namespace ks::ctl::dev::perf
