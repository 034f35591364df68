// SPDX-License-Identifier: Apache-2.0
#include "plugins/node_resources/args.h"

#include <limits>
#include <optional>
#include <set>
#include <string_view>

#include <nlohmann/json.hpp>
#include "api/selector.h"

#include "plugins/args_reader.h"

namespace ks::plugins {
namespace {

constexpr int64_t kMaxWeight = 100;
constexpr int64_t kMaxUtilization = 100;
constexpr int64_t kMaxShapeScore = 10;
constexpr std::string_view kLeast = "LeastAllocated";
constexpr std::string_view kMost = "MostAllocated";
constexpr std::string_view kRatio = "RequestedToCapacityRatio";

// "<path>: Invalid value: <value>: <what>".
std::string Invalid(const std::string& path, const std::string& value, std::string_view what) {
  return path + ": Invalid value: " + value + ": " + std::string(what);
}

std::string Indexed(std::string_view path, size_t index) {
  return std::string(path) + "[" + std::to_string(index) + "]";
}

std::vector<ResourceSpec> ReadResources(const ArgsReader& parent) {
  std::vector<ResourceSpec> resources;
  for (const ArgsReader& item : parent.Objects("resources", {"name", "weight"})) {
    ResourceSpec resource;
    resource.name = item.Text("name");
    resource.weight = item.Integer("weight", std::numeric_limits<int64_t>::min(),
                                   std::numeric_limits<int64_t>::max());
    if (resource.weight == 0) resource.weight = 1;
    resources.push_back(std::move(resource));
  }
  if (resources.empty()) resources = {{"cpu", 1}, {"memory", 1}};
  return resources;
}

void CheckIgnored(const FitArgs& args, std::vector<std::string>* problems) {
  for (size_t i = 0; i < args.ignored_resources.size(); ++i) {
    const std::string& name = args.ignored_resources[i];
    for (const std::string& problem : api::LabelKeyProblems(name)) {
      problems->push_back(Invalid(Indexed("ignoredResources", i), api::GoQuote(name), problem));
    }
  }
  for (size_t i = 0; i < args.ignored_groups.size(); ++i) {
    const std::string& name = args.ignored_groups[i];
    const std::string path = Indexed("ignoredResourceGroups", i);
    if (name.find('/') != std::string::npos) {
      problems->push_back(
          Invalid(path, api::GoQuote(name), "resource group name can't contain '/'"));
    }
    for (const std::string& problem : api::LabelKeyProblems(name)) {
      problems->push_back(Invalid(path, api::GoQuote(name), problem));
    }
  }
}

std::optional<FitStrategy> StrategyOf(std::string_view type) {
  if (type == kLeast) return FitStrategy::kLeastAllocated;
  if (type == kMost) return FitStrategy::kMostAllocated;
  if (type == kRatio) return FitStrategy::kRequestedToCapacityRatio;
  return std::nullopt;
}

void CheckWeights(const std::vector<ResourceSpec>& resources, std::vector<std::string>* problems) {
  for (size_t i = 0; i < resources.size(); ++i) {
    const ResourceSpec& resource = resources[i];
    if (resource.weight > 0 && resource.weight <= kMaxWeight) continue;
    problems->push_back(Invalid(
        Indexed("scoringStrategy.resources", i) + ".weight", std::to_string(resource.weight),
        "resource weight of " + resource.name + " not in valid range (0, 100]"));
  }
}

void CheckShape(const std::vector<ShapePoint>& shape, const std::string& path,
                std::vector<std::string>* problems) {
  if (shape.empty()) {
    problems->push_back(path + ": Required value: at least one point must be specified");
    return;
  }
  for (size_t i = 1; i < shape.size(); ++i) {
    if (shape[i - 1].utilization < shape[i].utilization) continue;
    problems->push_back(Invalid(Indexed(path, i) + ".utilization",
                                std::to_string(shape[i].utilization),
                                "values must be sorted in increasing order"));
    break;
  }
  for (size_t i = 0; i < shape.size(); ++i) {
    const ShapePoint& point = shape[i];
    if (point.utilization < 0 || point.utilization > kMaxUtilization) {
      problems->push_back(Invalid(Indexed(path, i) + ".utilization",
                                  std::to_string(point.utilization),
                                  "not in valid range [0, 100]"));
    }
    if (point.score < 0 || point.score > kMaxShapeScore) {
      problems->push_back(Invalid(Indexed(path, i) + ".score", std::to_string(point.score),
                                  "not in valid range [0, 10]"));
    }
  }
}

std::vector<ShapePoint> ReadShape(const ArgsReader& ratio) {
  constexpr int64_t kLowest = std::numeric_limits<int32_t>::min();
  constexpr int64_t kHighest = std::numeric_limits<int32_t>::max();
  std::vector<ShapePoint> shape;
  for (const ArgsReader& item : ratio.Objects("shape", {"utilization", "score"})) {
    shape.push_back(
        {item.Integer("utilization", kLowest, kHighest), item.Integer("score", kLowest, kHighest)});
  }
  return shape;
}

void ReadStrategy(const ArgsReader& root, FitArgs* args, std::vector<std::string>* problems) {
  const ArgsReader strategy =
      root.Object("scoringStrategy", {"type", "resources", "requestedToCapacityRatio"});
  args->resources = ReadResources(strategy);
  if (!root.Has("scoringStrategy")) return;

  const std::string type = strategy.Text("type");
  const std::optional<FitStrategy> known = StrategyOf(type);
  if (known) {
    args->strategy = *known;
  } else {
    problems->push_back("scoringStrategy.type: Unsupported value: " + api::GoQuote(type) +
                        ": supported values: \"" + std::string(kLeast) + "\", \"" +
                        std::string(kMost) + "\", \"" + std::string(kRatio) + "\"");
  }
  CheckWeights(args->resources, problems);
  const std::string path = strategy.Path("requestedToCapacityRatio");
  const ArgsReader ratio = strategy.Object("requestedToCapacityRatio", {"shape"});
  args->shape = ReadShape(ratio);
  const bool present = strategy.Has("requestedToCapacityRatio");
  if (known == FitStrategy::kRequestedToCapacityRatio) {
    if (present) {
      CheckShape(args->shape, path + ".shape", problems);
    } else {
      problems->push_back(path + ": Required value: must be specified when type is " +
                          std::string(kRatio));
    }
  } else if (present) {
    problems->push_back(path + ": Forbidden: must be nil when type is not " + std::string(kRatio));
  }
}

}  // namespace

Result<FitArgs> ReadFitArgs(const config::PluginArgs& given) {
  const nlohmann::json json = JsonOf(given);
  std::string malformed;
  std::vector<std::string> problems;
  FitArgs args;
  const ArgsReader root(json, "", {"ignoredResources", "ignoredResourceGroups", "scoringStrategy"},
                        &malformed);
  args.ignored_resources = root.Texts("ignoredResources");
  args.ignored_groups = root.Texts("ignoredResourceGroups");
  CheckIgnored(args, &problems);
  ReadStrategy(root, &args, &problems);
  if (!malformed.empty()) return Error{malformed};
  if (!problems.empty()) return Error{api::JoinProblems(problems)};
  return args;
}

Result<BalancedAllocationArgs> ReadBalancedAllocationArgs(const config::PluginArgs& given) {
  const nlohmann::json json = JsonOf(given);
  std::string malformed;
  std::vector<std::string> problems;
  const ArgsReader root(json, "", {"resources"}, &malformed);
  BalancedAllocationArgs args{ReadResources(root)};
  if (!malformed.empty()) return Error{malformed};
  std::set<std::string_view> seen;
  for (size_t i = 0; i < args.resources.size(); ++i) {
    const ResourceSpec& resource = args.resources[i];
    const std::string path = Indexed("resources", i);
    if (!seen.insert(resource.name).second) {
      problems.push_back(path + ".name: Duplicate value: " + api::GoQuote(resource.name));
    }
    if (resource.weight != 1) {
      problems.push_back(Invalid(path + ".weight", std::to_string(resource.weight), "must be 1"));
    }
  }
  if (!problems.empty()) return Error{api::JoinProblems(problems)};
  return args;
}

}  // namespace ks::plugins
