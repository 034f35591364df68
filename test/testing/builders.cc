// SPDX-License-Identifier: Apache-2.0
#include "testing/builders.h"

namespace ks::testing {

api::ResourceList MakeResources(const Resources& resources) {
  api::ResourceList list;
  for (const auto& [name, text] : resources) {
    list.Set(Symbol(name), api::Quantity::Parse(text).value());
  }
  return list;
}

api::LabelMap MakeLabels(const Texts& labels) {
  api::LabelMap map;
  for (const auto& [key, value] : labels) map.Set(Symbol(key), Symbol(value));
  return map;
}

PodBuilder::PodBuilder() {
  pod_.meta.ns = Symbol("ns");
  pod_.meta.generation = 1;
  pod_.meta.resource_version = "1";
  pod_.status.phase = Symbol("Pending");
  spec_.scheduler_name = Symbol("default-scheduler");
  Name("pod");
}

PodBuilder& PodBuilder::Name(std::string_view name) {
  pod_.meta.name = name;
  pod_.meta.uid = "uid-" + pod_.meta.name;
  return *this;
}
PodBuilder& PodBuilder::Namespace(std::string_view ns) {
  pod_.meta.ns = Symbol(ns);
  return *this;
}
PodBuilder& PodBuilder::Uid(std::string_view uid) {
  pod_.meta.uid = uid;
  return *this;
}
PodBuilder& PodBuilder::ResourceVersion(std::string_view version) {
  pod_.meta.resource_version = version;
  return *this;
}
PodBuilder& PodBuilder::Generation(int64_t generation) {
  pod_.meta.generation = generation;
  return *this;
}
PodBuilder& PodBuilder::Node(std::string_view node_name) {
  pod_.node_name = Symbol(node_name);
  return *this;
}
PodBuilder& PodBuilder::SchedulerName(std::string_view name) {
  spec_.scheduler_name = Symbol(name);
  return *this;
}
PodBuilder& PodBuilder::Priority(int32_t priority) {
  spec_.priority = priority;
  return *this;
}
PodBuilder& PodBuilder::PreemptionPolicy(std::string_view policy) {
  spec_.preemption_policy = Symbol(policy);
  return *this;
}
PodBuilder& PodBuilder::Labels(const Texts& labels) {
  pod_.meta.labels = MakeLabels(labels);
  return *this;
}
PodBuilder& PodBuilder::Terminating() {
  pod_.meta.deletion_timestamp = TimePoint(std::chrono::seconds(1767323045));
  return *this;
}
PodBuilder& PodBuilder::Gates(std::vector<std::string> gates) {
  spec_.scheduling_gates = std::move(gates);
  return *this;
}
PodBuilder& PodBuilder::Req(const Resources& requests, std::string_view image) {
  api::Container container;
  container.name = "c" + std::to_string(spec_.containers.size());
  container.image = image;
  container.requests = MakeResources(requests);
  spec_.containers.push_back(std::move(container));
  return *this;
}
PodBuilder& PodBuilder::InitReq(const Resources& requests, std::string_view image) {
  api::Container container;
  container.name = "i" + std::to_string(spec_.init_containers.size());
  container.image = image;
  container.requests = MakeResources(requests);
  spec_.init_containers.push_back(std::move(container));
  return *this;
}
PodBuilder& PodBuilder::SidecarReq(const Resources& requests, std::string_view image) {
  InitReq(requests, image);
  spec_.init_containers.back().restart_always = true;
  return *this;
}
PodBuilder& PodBuilder::HostPort(int32_t port, std::string_view protocol, std::string_view ip) {
  if (spec_.containers.empty()) Req({});
  api::ContainerPort entry;
  entry.host_ip = ip;
  entry.protocol = protocol;
  entry.host_port = port;
  spec_.containers.back().ports.push_back(std::move(entry));
  return *this;
}
PodBuilder& PodBuilder::Overhead(const Resources& overhead) {
  spec_.overhead = MakeResources(overhead);
  return *this;
}
PodBuilder& PodBuilder::PodLevel(const Resources& requests) {
  spec_.resource_requests = MakeResources(requests);
  return *this;
}
PodBuilder& PodBuilder::NodeSelector(const Texts& selector) {
  spec_.node_selector = MakeLabels(selector);
  spec_.node_selector_present = true;
  return *this;
}
PodBuilder& PodBuilder::RequiredTerm(std::vector<api::SelectorRequirement> expressions,
                                     std::vector<api::SelectorRequirement> fields) {
  if (!spec_.node_affinity) spec_.node_affinity.emplace();
  if (!spec_.node_affinity->required) spec_.node_affinity->required.emplace();
  spec_.node_affinity->required->terms.push_back({std::move(expressions), std::move(fields)});
  return *this;
}
PodBuilder& PodBuilder::PreferredTerm(int32_t weight,
                                      std::vector<api::SelectorRequirement> expressions) {
  if (!spec_.node_affinity) spec_.node_affinity.emplace();
  spec_.node_affinity->preferred_present = true;
  spec_.node_affinity->preferred.push_back({weight, {std::move(expressions), {}}});
  return *this;
}
PodBuilder& PodBuilder::Toleration(std::string_view key, std::string_view op,
                                   std::string_view value, std::string_view effect) {
  spec_.tolerations.push_back({Symbol(key), std::string(op), Symbol(value), Symbol(effect)});
  return *this;
}
PodBuilder& PodBuilder::NominatedNode(std::string_view node_name) {
  pod_.status.nominated_node_name = Symbol(node_name);
  return *this;
}
PodBuilder& PodBuilder::Condition(api::Condition condition) {
  pod_.status.conditions.Mutable().Add(std::move(condition));
  return *this;
}

api::PodPtr PodBuilder::Obj() const {
  auto pod = std::make_shared<api::Pod>(pod_);
  pod->spec = std::make_shared<const api::PodSpec>(spec_);
  return pod;
}

NodeBuilder::NodeBuilder() {
  node_.meta.resource_version = "1";
  Name("node");
}
NodeBuilder& NodeBuilder::Name(std::string_view name) {
  node_.meta.name = name;
  node_.meta.uid = "uid-" + node_.meta.name;
  return *this;
}
NodeBuilder& NodeBuilder::Label(std::string_view key, std::string_view value) {
  node_.meta.labels.Set(Symbol(key), Symbol(value));
  return *this;
}
NodeBuilder& NodeBuilder::Zone(std::string_view zone) {
  return Label("topology.kubernetes.io/zone", zone);
}
NodeBuilder& NodeBuilder::Allocatable(const Resources& allocatable) {
  node_.allocatable = MakeResources(allocatable);
  return *this;
}
NodeBuilder& NodeBuilder::Taint(std::string_view key, std::string_view value,
                                std::string_view effect) {
  node_.taints.push_back({Symbol(key), Symbol(value), Symbol(effect)});
  return *this;
}
NodeBuilder& NodeBuilder::Unschedulable() {
  node_.unschedulable = true;
  return *this;
}
NodeBuilder& NodeBuilder::Image(std::vector<std::string> names, int64_t size_bytes) {
  for (const std::string& name : names) {
    if (!node_.images.Contains(Symbol(name))) node_.images.Set(Symbol(name), size_bytes);
  }
  return *this;
}
NodeBuilder& NodeBuilder::ResourceVersion(std::string_view version) {
  node_.meta.resource_version = version;
  return *this;
}

api::NodePtr NodeBuilder::Obj() const { return std::make_shared<const api::Node>(node_); }

}  // namespace ks::testing
