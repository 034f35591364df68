// SPDX-License-Identifier: Apache-2.0
#include "ksdev/perf/node_objects.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>
#include <vector>

namespace ks::ctl::dev::perf {
namespace {

using Json = nlohmann::json;

Json DefaultNode(const std::string& prefix) {
  const Json resources = {{"pods", "110"}, {"cpu", "4"}, {"memory", "32Gi"}};
  return {{"apiVersion", "v1"},
          {"kind", "Node"},
          {"metadata", {{"generateName", prefix}}},
          {"status",
           {{"capacity", resources},
            {"allocatable", resources},
            {"phase", "Running"},
            {"conditions", {{{"type", "Ready"}, {"status", "True"}}}}}}};
}

}  // namespace

Result<NodeObjects> NodeObjects::Make(const CreateNodes& nodes, size_t op_index, size_t first,
                                      size_t declared) {
  NodeObjects made(nodes);
  made.prefix_ = fmt::format("node-{}-", op_index);
  made.first_ = first;
  made.declared_ = declared;
  if (!nodes.template_path.empty()) {
    Result<ObjectTemplate> loaded = ObjectTemplate::Load(nodes.template_path);
    if (!loaded.ok()) return loaded.error();
    made.template_ = std::move(loaded).value();
  }
  return made;
}

void NodeObjects::AddLabels(Json& node, size_t index) const {
  Json& labels = node["metadata"]["labels"];
  labels["kubernetes.io/hostname"] = node["metadata"]["name"];
  if (!nodes_.label_key.empty()) {
    labels[nodes_.label_key] = nodes_.label_values[index % nodes_.label_values.size()];
  }
  if (!nodes_.unique_label_key.empty()) {
    labels[nodes_.unique_label_key] = fmt::format("unique-{}", first_ + index);
  }
}

Result<Json> NodeObjects::Node(size_t index) const {
  Result<Json> node = template_ ? template_->Make(index, nodes_.count, nodes_.template_params)
                                : DefaultNode(prefix_);
  if (!node.ok()) return node;
  Json& meta = (*node)["metadata"];
  if (!meta.contains("name")) {
    meta["name"] = fmt::format("{}{:05}", meta.value("generateName", prefix_), first_ + index);
  }
  AddLabels(*node, index);
  Json& status = (*node)["status"];
  if (nodes_.allocatable) {
    if (!status.contains("allocatable")) status["allocatable"] = status.value("capacity", Json());
    for (const auto& [name, value] : nodes_.allocatable->allocatable) {
      status["allocatable"][name] = value;
    }
  }
  if (declared_ > 0) {
    std::vector<std::string> features;
    for (size_t i = 1; i <= declared_; ++i) features.push_back("Feature" + std::to_string(i));
    std::sort(features.begin(), features.end());
    status["declaredFeatures"] = features;
  }
  return node;
}

Json NodeObjects::CsiNode(const std::string& name) const {
  if (!nodes_.allocatable) return {};
  std::string migrated;
  for (const std::string& plugin : nodes_.allocatable->migrated_plugins) {
    migrated += (migrated.empty() ? "" : ",") + plugin;
  }
  Json drivers = Json::array();
  for (const auto& [driver, resources] : nodes_.allocatable->drivers.items()) {
    drivers.push_back({{"name", driver}, {"nodeID", name}, {"allocatable", resources}});
  }
  return {{"apiVersion", "storage.k8s.io/v1"},
          {"kind", "CSINode"},
          {"metadata",
           {{"name", name},
            {"annotations", {{"storage.alpha.kubernetes.io/migrated-plugins", migrated}}}}},
          {"spec", {{"drivers", drivers}}}};
}

}  // namespace ks::ctl::dev::perf
