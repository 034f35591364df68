// SPDX-License-Identifier: Apache-2.0
// ZoneOnly: a pod with the label zone goes to nodes of that zone only, and prefers those with many
// pods. Loaded from here; the same compiled in is in parity_test.cc. Arguments give the version
// that the reload test looks for.
#include <stdexcept>
#include <string_view>

#include "label_match.h"

// The second version of the reload tests has other ones.
#ifndef ZONE_ONLY_VERSION
#define ZONE_ONLY_VERSION "1"
#define ZONE_ONLY_LABEL "zone"
#endif

namespace {

class ZoneOnly final : public LabelMatch {
 public:
  ZoneOnly(const kubesched::Host& host, std::string_view args)
      : LabelMatch(host, {.pod_label = ZONE_ONLY_LABEL,
                          .node_label = "topology.kubernetes.io/zone",
                          .refusal = "node is in another zone",
                          .signed_as = "zone"}) {
    if (args == "\"bad\"") throw std::invalid_argument("these arguments are bad");
  }
};

}  // namespace

KUBESCHED_MODULE("zone-only", ZONE_ONLY_VERSION, 0, KUBESCHED_PLUGIN("ZoneOnly", ZoneOnly));
