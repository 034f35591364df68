// SPDX-License-Identifier: Apache-2.0
#include "plugins/node_ports/node_ports.h"

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

struct WantedPorts final : framework::StateData {
  framework::HostPortSet ports;
};

class NodePorts final : public framework::Plugin,
                        public framework::PreFilterPlugin,
                        public framework::FilterPlugin,
                        public framework::EnqueueExtensions,
                        public framework::SignPlugin,
                        public framework::NodeLocalPlugin {
 public:
  explicit NodePorts(framework::Handle& handle)
      : deferred_pods_(handle), pre_filter_slot_(handle.NewStateSlot()) {}

  std::string_view Name() const override { return kNodePortsName; }

  framework::PreFilterResult PreFilter(CycleState& state, const api::Pod& pod,
                                       const framework::Snapshot&) override {
    if (deferred_pods_.Exempt(pod)) return {skip_, {}};
    framework::HostPortSet ports = framework::PodHostPorts(pod);
    if (ports.empty()) return {skip_, {}};
    auto wanted = std::make_shared<WantedPorts>();
    wanted->ports = std::move(ports);
    pre_filter_slot_.Write(state, std::move(wanted));
    return {};
  }

  Status Filter(const CycleState& state, const api::Pod&, const NodeInfo& node) const override {
    const WantedPorts* wanted = pre_filter_slot_.Read(state);
    if (wanted == nullptr) return not_found_;
    if (node.used_ports().ConflictsWith(wanted->ports)) return conflict_;
    return {};
  }

  std::vector<framework::EventRegistration> EventsToRegister() const override {
    return {{{EventResource::kAssignedPod, framework::kActionDelete, {}},
             HintOn<api::Pod>(PortsFreed),
             framework::HintScope::kSpec},
            {{EventResource::kNode, framework::kActionAdd, {}}, {}}};
  }

  // Numbers only, of plain init containers too (docs/spec/plugins-node.md trap 17).
  Status Sign(const api::Pod& pod, std::vector<framework::SignFragment>* fragments) const override {
    std::set<int32_t> numbers;
    for (const auto* containers : {&pod.spec->init_containers, &pod.spec->containers}) {
      for (const api::Container& container : *containers) {
        for (const api::ContainerPort& port : container.ports) numbers.insert(port.host_port);
      }
    }
    fragments->push_back({"v1.Pod.Spec.HostPorts()", SignatureText(numbers)});
    return {};
  }

 private:
  static framework::QueueingHint PortsFreed(const api::Pod& pod, const api::Pod* deleted,
                                            const api::Pod*) {
    if (deleted == nullptr || !IsPlaced(*deleted)) return framework::QueueingHint::kSkip;
    const framework::HostPortSet freed = framework::PodHostPorts(*deleted);
    if (freed.empty()) return framework::QueueingHint::kSkip;
    return freed.ConflictsWith(framework::PodHostPorts(pod)) ? framework::QueueingHint::kQueue
                                                             : framework::QueueingHint::kSkip;
  }

  const DeferredPods deferred_pods_;
  const framework::StateSlot<WantedPorts> pre_filter_slot_;
  const Status skip_{Code::kSkip, {}, std::string(kNodePortsName)};
  const Status conflict_{Code::kUnschedulable,
                         {"node(s) didn't have free ports for the requested pod ports"},
                         std::string(kNodePortsName)};
  const Status not_found_ =
      Status::Error("reading \"PreFilterNodePorts\" from cycleState: not found");
};

}  // namespace

Result<std::unique_ptr<framework::Plugin>> NewNodePorts(const config::PluginArgs&,
                                                        framework::Handle& handle) {
  return std::unique_ptr<framework::Plugin>(std::make_unique<NodePorts>(handle));
}

}  // namespace ks::plugins
