// SPDX-License-Identifier: Apache-2.0
// ZoneOnly: a pod with the label zone goes to nodes of that zone only, and prefers those with many
// pods. Loaded from here; the same compiled in is in parity_test.cc. Arguments give the version
// that the reload test looks for.
#include <algorithm>
#include <stdexcept>
#include <string>
#include <string_view>

#include "kubesched/plugin.hpp"

// The second version of the reload tests has other ones.
#ifndef ZONE_ONLY_VERSION
#define ZONE_ONLY_VERSION "1"
#define ZONE_ONLY_LABEL "zone"
#endif

namespace {

struct Wanted {
  std::string zone;
};

class ZoneOnly final : public kubesched::PreFilterPlugin,
                       public kubesched::FilterPlugin,
                       public kubesched::ScorePlugin,
                       public kubesched::SignPlugin {
 public:
  static constexpr ks_event kEvents[] = {
      {KS_EVENT_NODE, KS_ACTION_ADD | KS_ACTION_UPDATE_NODE_LABEL}};

  ZoneOnly(const kubesched::Host& host, std::string_view args)
      : zone_(host.Name(ZONE_ONLY_LABEL)),
        node_zone_(host.Name("topology.kubernetes.io/zone")),
        elsewhere_(host.Constant(KS_UNSCHEDULABLE_AND_UNRESOLVABLE, "node is in another zone")) {
    if (args == "\"bad\"") throw std::invalid_argument("these arguments are bad");
  }

  kubesched::Status PreFilter(kubesched::Call call, kubesched::Pod pod) override {
    const auto zone = pod.Label(zone_);
    if (!zone) return KS_SKIP;
    call.SetState(std::make_unique<Wanted>(Wanted{std::string(*zone)}));
    return {};
  }
  kubesched::Status Filter(kubesched::Call call, kubesched::Pod,
                           kubesched::Node node) const override {
    if (node.Label(node_zone_) == call.State<Wanted>()->zone) return {};
    return elsewhere_;
  }
  kubesched::Status Score(kubesched::Call, kubesched::Pod, kubesched::Node node,
                          int64_t* score) const override {
    *score = std::min<int64_t>(100, static_cast<int64_t>(node.PodCount()));
    return {};
  }
  kubesched::Status Sign(kubesched::Call call, kubesched::Pod pod) override {
    call.Sign("zone", "\"" + std::string(pod.Label(zone_).value_or("")) + "\"");
    return {};
  }

 private:
  const ks_name zone_;
  const ks_name node_zone_;
  const kubesched::Status elsewhere_;
};

}  // namespace

KUBESCHED_MODULE("zone-only", ZONE_ONLY_VERSION, 0, KUBESCHED_PLUGIN("ZoneOnly", ZoneOnly));
