// SPDX-License-Identifier: Apache-2.0
#pragma once
// Random pods with affinity terms, nodes and namespaces, from few names so that they meet; and the
// comparison of the plugin with AffinityReference for one pod.

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/random.h"
#include "framework/plugin.h"
#include "testing/affinity_builders.h"
#include "testing/affinity_reference.h"

namespace ks::testing {

// Threads: one.
class AffinityRandom {
 public:
  explicit AffinityRandom(uint64_t seed) : random_(seed) {}

  Random& random() { return random_; }
  uint64_t Below(uint64_t bound) { return random_.Below(bound); }
  bool OneIn(uint64_t count) { return random_.Below(count) == 0; }
  std::string Pick(const std::vector<std::string>& names) { return names[Below(names.size())]; }

  // Labels zone, rack and the host name, each missing now and then.
  api::NodePtr Node(const std::string& name);
  // `terms`: upper limit a list. Malformed terms are rare; `well_formed`: there are none.
  AffinePod Pod(const std::string& name, uint64_t terms, bool well_formed = false);
  // n1 and n2; n3 is used by pods but never known.
  api::NamespacePtr Namespace();

 private:
  std::vector<std::string> Values(std::vector<std::string> values);
  Term RandomTerm(bool well_formed);

  Random random_;
};

// Asks the plugin and the reference about the pod: PreFilter, Filter on all nodes, the same in
// simulations, PreScore, Score and NormalizeScore. The first difference, empty when there is none.
std::string CompareWithReference(framework::Plugin& plugin, const framework::Snapshot& snapshot,
                                 const framework::OwnerListers& listers,
                                 const AffinityOptions& options, const api::Pod& pod,
                                 AffinityRandom& random);

}  // namespace ks::testing
