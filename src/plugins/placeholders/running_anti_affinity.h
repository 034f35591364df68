// SPDX-License-Identifier: Apache-2.0
#pragma once
// Whether some running pod's required anti-affinity may concern a pod. Conservative: topology is
// not looked at, and a namespace selector counts as matching.
//
// Upstream: docs/spec/plugins-crosspod.md 2.1 to 2.3 (parsed form of terms).

#include <memory>
#include <vector>

#include <absl/container/flat_hash_map.h>

#include "api/pod.h"
#include "api/selector.h"
#include "framework/snapshot.h"

namespace ks::plugins {

// Threads: the scheduling thread.
class RunningAntiAffinity {
 public:
  bool MayConcern(const api::Pod& pod, const framework::Snapshot& snapshot);

 private:
  struct Term {
    api::LabelSelector labels;
    std::vector<Symbol> namespaces;
    bool own_namespace = false;  // neither names nor a selector: the running pod's namespace
    bool any_namespace = false;  // a selector is present
  };
  struct Terms {
    std::shared_ptr<const api::PodSpec> spec;  // keeps the key's address taken
    std::vector<Term> terms;
  };

  const std::vector<Term>& TermsOf(const std::shared_ptr<const api::PodSpec>& spec);
  bool Matches(const api::Pod& running, const api::Pod& pod);

  absl::flat_hash_map<const api::PodSpec*, Terms> compiled_;
};

}  // namespace ks::plugins
