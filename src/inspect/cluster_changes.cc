// SPDX-License-Identifier: Apache-2.0
#include "inspect/cluster_changes.h"

#include <algorithm>
#include <charconv>
#include <functional>
#include <memory>
#include <optional>
#include <set>
#include <utility>

#include "base/text.h"
#include "inspect/node_label.h"

namespace ks::inspect {
namespace {

constexpr std::string_view kHostname = "kubernetes.io/hostname";
constexpr int32_t kMostWeight = 1'000'000;

// The parts between commas, without those that are empty.
std::vector<std::string_view> Entries(std::string_view text) {
  std::vector<std::string_view> entries = SplitTrimmed(text, ',');
  std::erase(entries, std::string_view());
  return entries;
}

struct Counted {
  std::string name;
  int32_t number = 0;
};

// "NAME:NUMBER", from 1 to `most`.
std::optional<Counted> ReadCounted(std::string_view entry, int32_t most) {
  const size_t colon = entry.rfind(':');
  if (colon == std::string_view::npos || colon == 0) return std::nullopt;
  const std::string_view digits = entry.substr(colon + 1);
  Counted counted{.name = std::string(entry.substr(0, colon))};
  const auto [end, error] =
      std::from_chars(digits.data(), digits.data() + digits.size(), counted.number);
  const bool number = error == std::errc() && end == digits.data() + digits.size();
  if (!number || counted.number < 1 || counted.number > most) return std::nullopt;
  return counted;
}

Error NotOne(std::string_view entry, const std::string& wanted) {
  return Error{"\"" + std::string(entry) + "\" is not " + wanted};
}

bool IsGone(const api::Node& node, const ClusterChanges::GoneNodes& gone) {
  if (!gone.name.empty()) return node.meta.name == gone.name;
  return LabelOf(node, gone.key) == gone.value;
}

Result<void> TakeAway(const std::vector<ClusterChanges::GoneNodes>& all, ClusterCopy* cluster) {
  std::set<std::string, std::less<>> names;
  for (const ClusterChanges::GoneNodes& gone : all) {
    bool any = false;
    for (const api::NodePtr& node : cluster->nodes) {
      if (!IsGone(*node, gone)) continue;
      names.insert(node->meta.name);
      any = true;
    }
    if (any) continue;
    return Error{gone.name.empty() ? "no node has the label " + gone.key + "=" + gone.value
                                   : "no node " + gone.name + " is known to the scheduler"};
  }
  std::erase_if(cluster->nodes,
                [&](const api::NodePtr& node) { return names.contains(node->meta.name); });
  std::erase_if(cluster->pods,
                [&](const api::PodPtr& pod) { return names.contains(pod->node_name.str()); });
  std::erase_if(cluster->nominated, [&](const auto& entry) { return names.contains(entry.first); });
  return {};
}

Result<void> AddFurther(const std::vector<ClusterChanges::FurtherNodes>& all,
                        const std::vector<api::NodePtr>& kinds, ClusterCopy* cluster) {
  std::set<std::string, std::less<>> names;
  for (const api::NodePtr& node : kinds) names.insert(node->meta.name);
  for (const ClusterChanges::FurtherNodes& further : all) {
    const auto kind = std::find_if(kinds.begin(), kinds.end(), [&](const api::NodePtr& node) {
      return node->meta.name == further.like;
    });
    if (kind == kinds.end()) {
      return Error{"no node " + further.like + " is known to the scheduler"};
    }
    size_t number = 0;
    for (size_t added = 0; added < further.count;) {
      const std::string name = further.like + "-more-" + std::to_string(++number);
      if (!names.insert(name).second) continue;
      cluster->nodes.push_back(FurtherNode(**kind, name));
      ++added;
    }
  }
  return {};
}

Result<void> SetWeight(const ClusterChanges::Weight& wanted, config::Configuration* configuration) {
  bool any = false;
  const auto set = [&](config::PluginSet& plugins) {
    for (config::PluginRef& plugin : plugins.enabled) {
      if (plugin.name != wanted.plugin) continue;
      plugin.weight = wanted.weight;
      any = true;
    }
  };
  for (config::Profile& profile : configuration->profiles) {
    set(profile.plugins.multi_point);
    set(profile.plugins.score);
  }
  if (any) return {};
  return Error{"no profile has the plugin " + wanted.plugin};
}

}  // namespace

Result<std::vector<ClusterChanges::FurtherNodes>> ParseFurtherNodes(std::string_view text) {
  std::vector<ClusterChanges::FurtherNodes> all;
  size_t total = 0;
  for (const std::string_view entry : Entries(text)) {
    const auto counted = ReadCounted(entry, static_cast<int32_t>(kMostFurtherNodes));
    if (!counted || (total += static_cast<size_t>(counted->number)) > kMostFurtherNodes) {
      return NotOne(entry, "NODE:COUNT, up to " + std::to_string(kMostFurtherNodes) +
                               " in all: a node that is there and how many more of its kind");
    }
    all.push_back({.like = counted->name, .count = static_cast<size_t>(counted->number)});
  }
  return all;
}

Result<std::vector<ClusterChanges::GoneNodes>> ParseGoneNodes(std::string_view text) {
  std::vector<ClusterChanges::GoneNodes> all;
  for (const std::string_view entry : Entries(text)) {
    const size_t equals = entry.find('=');
    if (equals == 0) return NotOne(entry, "NODE or LABEL=VALUE");
    if (equals == std::string_view::npos) {
      all.push_back({.name = std::string(entry), .key = {}, .value = {}});
    } else {
      all.push_back({.name = {},
                     .key = std::string(entry.substr(0, equals)),
                     .value = std::string(entry.substr(equals + 1))});
    }
  }
  return all;
}

Result<std::vector<ClusterChanges::Weight>> ParseWeights(std::string_view text) {
  std::vector<ClusterChanges::Weight> all;
  for (const std::string_view entry : Entries(text)) {
    const auto counted = ReadCounted(entry, kMostWeight);
    if (!counted) {
      return NotOne(entry, "PLUGIN:WEIGHT, the weight from 1 to " + std::to_string(kMostWeight));
    }
    all.push_back({.plugin = counted->name, .weight = counted->number});
  }
  return all;
}

Result<void> Change(const ClusterChanges& changes, ClusterCopy* cluster) {
  // A kind may be that of a node that goes: a pool is replaced then.
  const std::vector<api::NodePtr> before = cluster->nodes;
  if (auto gone = TakeAway(changes.gone, cluster); !gone.ok()) return gone;
  if (auto added = AddFurther(changes.further, before, cluster); !added.ok()) return added;
  for (const ClusterChanges::Weight& weight : changes.weights) {
    if (auto set = SetWeight(weight, &cluster->configuration); !set.ok()) return set;
  }
  return {};
}

api::NodePtr FurtherNode(const api::Node& node, std::string name) {
  auto further = std::make_shared<api::Node>(node);
  further->meta.name = std::move(name);
  further->meta.labels.Set(Symbol(kHostname), Symbol(further->meta.name));
  return further;
}

}  // namespace ks::inspect
