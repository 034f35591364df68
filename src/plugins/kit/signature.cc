// SPDX-License-Identifier: Apache-2.0
#include "plugins/kit/signature.h"

#include <algorithm>
#include <tuple>

#include <nlohmann/json.hpp>

#include "framework/pod_requests.h"
#include "plugins/kit/device_resources.h"

namespace ks::plugins {

using nlohmann::json;

std::string SignatureText(const json& value) {
  return value.dump(-1, ' ', false, json::error_handler_t::replace);
}

framework::SignFragment TolerationsFragment(const api::Pod& pod) {
  std::vector<api::Toleration> sorted = pod.spec->tolerations;
  std::stable_sort(
      sorted.begin(), sorted.end(), [](const api::Toleration& a, const api::Toleration& b) {
        return std::tuple(a.key.view(), a.value.view()) < std::tuple(b.key.view(), b.value.view());
      });
  json list = json::array();
  for (const api::Toleration& t : sorted) {
    list.push_back(json::array({t.key.view(), t.op, t.value.view(), t.effect.view()}));
  }
  return {"v1.Pod.Spec.Tolerations", SignatureText(list)};
}

framework::Status SignRequests(const framework::Handle& handle, const api::Pod& pod,
                               std::vector<framework::SignFragment>* fragments) {
  static const framework::Status devices(
      framework::Code::kUnschedulable,
      {"signature disabled when dra extended resources are used in the cluster"});
  const framework::Resource request = framework::PodRequest(pod);
  json scalars = json::object();
  for (const auto& [name, amount] : request.scalars) {
    if (amount > 0 && ServedByDevices(handle, name)) return devices;
    scalars[name.str()] = amount;
  }
  const json value = {{"cpu", request.milli_cpu},
                      {"memory", request.memory},
                      {"ephemeral-storage", request.ephemeral_storage},
                      {"scalars", std::move(scalars)}};
  fragments->push_back({"v1.Pod.Spec.ContainerRequestsAndOverheads()", SignatureText(value)});
  return {};
}

}  // namespace ks::plugins
