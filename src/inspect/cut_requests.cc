// SPDX-License-Identifier: Apache-2.0
#include "inspect/cut_requests.h"

#include <algorithm>
#include <limits>

#include "framework/pod_requests.h"

namespace ks::inspect {

std::vector<CutRequest> CutRequests(const api::Pod& pod) {
  static const api::Quantity most = api::Quantity::FromUnits(std::numeric_limits<int64_t>::max());
  static const api::Quantity most_milli =
      api::Quantity::FromMilli(std::numeric_limits<int64_t>::max());
  const Symbol cpu = framework::ResourceNames::Get().cpu;
  std::vector<CutRequest> cut;
  for (const auto& [name, quantity] : framework::AggregateRequests(pod, {.use_status = false})) {
    if (quantity <= (name == cpu ? most_milli : most)) continue;
    cut.push_back({.resource = name,
                   .asked = quantity.ToString(),
                   .counted = name == cpu ? quantity.MilliValue() : quantity.Value()});
  }
  std::sort(cut.begin(), cut.end(), [](const CutRequest& a, const CutRequest& b) {
    return a.resource.view() < b.resource.view();
  });
  return cut;
}

std::vector<std::string> NotesOnCutRequests(const api::Pod& pod) {
  std::vector<std::string> notes;
  for (const CutRequest& cut : CutRequests(pod)) {
    const bool milli = cut.resource == framework::ResourceNames::Get().cpu && cut.counted != 0;
    notes.push_back("the pod asks for " + cut.asked + " of " + cut.resource.str() +
                    ", more than kube-scheduler and kubesched can count: both take it for " +
                    std::to_string(cut.counted) + (milli ? " thousandths" : "") +
                    (cut.counted <= 0 ? ", which fits everywhere" : ""));
  }
  return notes;
}

}  // namespace ks::inspect
