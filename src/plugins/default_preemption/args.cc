// SPDX-License-Identifier: Apache-2.0
#include "plugins/default_preemption/args.h"

#include <cstdint>
#include <limits>
#include <string>
#include <vector>

#include <nlohmann/json.hpp>
#include "api/selector.h"

#include "plugins/args_reader.h"

namespace ks::plugins {
namespace {

constexpr std::string_view kPercentage = "minCandidateNodesPercentage";
constexpr std::string_view kAbsolute = "minCandidateNodesAbsolute";
constexpr int64_t kDefaultPercentage = 10;
constexpr int64_t kDefaultAbsolute = 100;

std::string Invalid(std::string_view field, int64_t value, std::string_view what) {
  return std::string(field) + ": Invalid value: " + std::to_string(value) + ": " +
         std::string(what);
}

}  // namespace

Result<void> CheckDefaultPreemptionArgs(const config::PluginArgs& args) {
  constexpr int64_t kLowest = std::numeric_limits<int32_t>::min();
  constexpr int64_t kHighest = std::numeric_limits<int32_t>::max();
  std::string malformed;
  const nlohmann::json json = JsonOf(args);
  const ArgsReader root(json, "", {kPercentage, kAbsolute}, &malformed);
  const int64_t percentage =
      root.Has(kPercentage) ? root.Integer(kPercentage, kLowest, kHighest) : kDefaultPercentage;
  const int64_t absolute =
      root.Has(kAbsolute) ? root.Integer(kAbsolute, kLowest, kHighest) : kDefaultAbsolute;
  if (!malformed.empty()) return Error{malformed};

  std::vector<std::string> problems;
  if (percentage < 0 || percentage > 100) {
    problems.push_back(Invalid(kPercentage, percentage, "not in valid range [0, 100]"));
  }
  if (absolute < 0) problems.push_back(Invalid(kAbsolute, absolute, "not in valid range [0, inf)"));
  if (percentage == 0 && absolute == 0) {
    problems.push_back(
        Invalid(kPercentage, 0, "cannot be zero at the same time as minCandidateNodesAbsolute"));
    problems.push_back(
        Invalid(kAbsolute, 0, "cannot be zero at the same time as minCandidateNodesPercentage"));
  }
  if (!problems.empty()) return Error{api::JoinProblems(problems)};
  return {};
}

}  // namespace ks::plugins
