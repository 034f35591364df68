// SPDX-License-Identifier: Apache-2.0
#include "plugins/node_declared_features/node_declared_features.h"

#include <nlohmann/json.hpp>

#include "plugins/kit/deferred_pods.h"
#include "plugins/kit/hinting.h"
#include "plugins/kit/signature.h"

namespace ks::plugins {
namespace {

using framework::Code;
using framework::CycleState;
using framework::EventResource;
using framework::NodeInfo;
using framework::Status;

// Bits as in NodeInfo::declared_features: the places of the names in sorted order. No pod requires
// one of the others.
constexpr size_t kKnownFeatures = 9;
constexpr uint32_t kRestartAllContainersOnContainerExits = 1U << 6;
constexpr uint32_t kUserNamespacesHostNetworkSupport = 1U << 7;
constexpr uint32_t kVolumeBindMountOptions = 1U << 8;

uint32_t RequiredFeatures(const api::PodSpec& spec) {
  uint32_t required = 0;
  if (spec.host_network && spec.host_users == false) required |= kUserNamespacesHostNetworkSupport;
  if (spec.ephemeral_bind_mount_options) required |= kVolumeBindMountOptions;
  for (const auto* containers : {&spec.init_containers, &spec.containers}) {
    for (const api::Container& container : *containers) {
      if (container.restarts_all_containers) required |= kRestartAllContainersOnContainerExits;
      if (container.has_bind_mount_options) required |= kVolumeBindMountOptions;
    }
  }
  return required;
}

struct Required final : framework::StateData {
  explicit Required(uint32_t bits) : features(bits) {}
  const uint32_t features;
};

class NodeDeclaredFeatures final : public framework::Plugin,
                                   public framework::PreFilterPlugin,
                                   public framework::FilterPlugin,
                                   public framework::EnqueueExtensions,
                                   public framework::SignPlugin,
                                   public framework::NodeLocalPlugin {
 public:
  explicit NodeDeclaredFeatures(framework::Handle& handle)
      : deferred_pods_(handle), pre_filter_slot_(handle.NewStateSlot()) {}

  std::string_view Name() const override { return kNodeDeclaredFeaturesName; }

  framework::PreFilterResult PreFilter(CycleState& state, const api::Pod& pod,
                                       const framework::Snapshot&) override {
    if (deferred_pods_.Exempt(pod)) return {skip_, {}};
    const uint32_t features = RequiredFeatures(*pod.spec);
    if (features == 0) return {skip_, {}};
    pre_filter_slot_.Write(state, std::make_shared<Required>(features));
    return {};
  }

  Status Filter(const CycleState& state, const api::Pod& pod, const NodeInfo& node) const override {
    // As upstream: also in a profile without its PreFilter.
    if (deferred_pods_.Exempt(pod)) return {};
    const Required* required = pre_filter_slot_.Read(state);
    if (required == nullptr) return not_found_;
    return (required->features & ~node.declared_features()) == 0 ? Status() : mismatch_;
  }

  std::vector<framework::EventRegistration> EventsToRegister() const override {
    const auto node = [](const api::Pod&, const api::Node* before, const api::Node* after) {
      return QueueIf(before == nullptr || after == nullptr ||
                     before->declared_features != after->declared_features);
    };
    const auto own_change = [](const api::Pod&, const api::Pod* before, const api::Pod* after) {
      return QueueIf(before == nullptr || after == nullptr ||
                     RequiredFeatures(*before->spec) != RequiredFeatures(*after->spec));
    };
    return {
        {{EventResource::kNode,
          framework::kActionAdd | framework::kActionUpdateNodeDeclaredFeature,
          {}},
         HintOn<api::Node>(node),
         framework::HintScope::kSpec},
        {{EventResource::kTargetPod, framework::kActionUpdate, {}}, HintOn<api::Pod>(own_change)}};
  }

  Status Sign(const api::Pod& pod, std::vector<framework::SignFragment>* fragments) const override {
    const uint32_t features = RequiredFeatures(*pod.spec);
    std::string bits;
    for (size_t i = 0; i < kKnownFeatures; ++i) bits += (features & (1U << i)) != 0 ? '1' : '0';
    fragments->push_back({"v1.Pod.Spec.RequiredFeatures()", SignatureText(bits)});
    return {};
  }

 private:
  const DeferredPods deferred_pods_;
  const framework::StateSlot<Required> pre_filter_slot_;
  const Status skip_{Code::kSkip, {}, std::string(kNodeDeclaredFeaturesName)};
  const Status mismatch_{Code::kUnschedulableAndUnresolvable,
                         {"node(s) didn't match Pod's required features"},
                         std::string(kNodeDeclaredFeaturesName)};
  const Status not_found_ =
      Status::Error("error reading \"PreFilterNodeDeclaredFeatures\" from cycle-state: not found");
};

}  // namespace

Result<std::unique_ptr<framework::Plugin>> NewNodeDeclaredFeatures(const config::PluginArgs&,
                                                                   framework::Handle& handle) {
  return std::unique_ptr<framework::Plugin>(std::make_unique<NodeDeclaredFeatures>(handle));
}

}  // namespace ks::plugins
