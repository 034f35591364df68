// SPDX-License-Identifier: Apache-2.0
#pragma once
// Fluent builders of API objects for tests: MakePod().Name("p").Req({{"cpu", "1"}}).Obj(). They
// fill in what the API server would (namespace "ns", uid "uid-<name>", scheduler name
// "default-scheduler").

#include <initializer_list>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "api/node.h"
#include "api/pod.h"

namespace ks::testing {

// Resource names and quantity texts, as in a manifest.
using Resources = std::vector<std::pair<std::string, std::string>>;
using Texts = std::vector<std::pair<std::string, std::string>>;

// Requires: every quantity parses.
api::ResourceList MakeResources(const Resources& resources);
api::LabelMap MakeLabels(const Texts& labels);

class PodBuilder {
 public:
  PodBuilder();
  PodBuilder& Name(std::string_view name);  // also sets the uid to "uid-<name>"
  PodBuilder& Namespace(std::string_view ns);
  PodBuilder& Uid(std::string_view uid);
  PodBuilder& ResourceVersion(std::string_view version);
  PodBuilder& Generation(int64_t generation);
  PodBuilder& Node(std::string_view node_name);
  PodBuilder& SchedulerName(std::string_view name);
  PodBuilder& Priority(int32_t priority);
  PodBuilder& PreemptionPolicy(std::string_view policy);
  PodBuilder& Labels(const Texts& labels);
  PodBuilder& Terminating();
  PodBuilder& Gates(std::vector<std::string> gates);
  // Each call adds a container with these requests (possibly none) and image.
  PodBuilder& Req(const Resources& requests, std::string_view image = "");
  PodBuilder& InitReq(const Resources& requests, std::string_view image = "");
  PodBuilder& SidecarReq(const Resources& requests, std::string_view image = "");
  // Host ports of the last container added (one without requests is added if there is none).
  PodBuilder& HostPort(int32_t port, std::string_view protocol = "", std::string_view ip = "");
  PodBuilder& Overhead(const Resources& overhead);
  PodBuilder& PodLevel(const Resources& requests);
  PodBuilder& NodeSelector(const Texts& selector);
  // One required node affinity term per call.
  PodBuilder& RequiredTerm(std::vector<api::SelectorRequirement> expressions,
                           std::vector<api::SelectorRequirement> fields = {});
  PodBuilder& PreferredTerm(int32_t weight, std::vector<api::SelectorRequirement> expressions);
  PodBuilder& Toleration(std::string_view key, std::string_view op, std::string_view value,
                         std::string_view effect);
  PodBuilder& NominatedNode(std::string_view node_name);
  PodBuilder& Condition(api::Condition condition);
  // Anything else.
  api::Pod& pod() { return pod_; }
  api::PodSpec& spec() { return spec_; }

  api::PodPtr Obj() const;

 private:
  api::Pod pod_;
  api::PodSpec spec_;
};

class NodeBuilder {
 public:
  NodeBuilder();  // no allocatable, no labels
  NodeBuilder& Name(std::string_view name);
  NodeBuilder& Label(std::string_view key, std::string_view value);
  NodeBuilder& Zone(std::string_view zone);  // topology.kubernetes.io/zone
  NodeBuilder& Allocatable(const Resources& allocatable);
  NodeBuilder& Taint(std::string_view key, std::string_view value, std::string_view effect);
  NodeBuilder& Unschedulable();
  NodeBuilder& Image(std::vector<std::string> names, int64_t size_bytes);
  NodeBuilder& ResourceVersion(std::string_view version);
  api::Node& node() { return node_; }

  api::NodePtr Obj() const;

 private:
  api::Node node_;
};

inline PodBuilder MakePod() { return {}; }
inline NodeBuilder MakeNode() { return {}; }

}  // namespace ks::testing
