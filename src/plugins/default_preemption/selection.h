// SPDX-License-Identifier: Apache-2.0
#pragma once
// Which candidate node is taken.
//
// Upstream: docs/spec/preemption.md section 9.

#include <span>
#include <string>

#include "base/clock.h"
#include "framework/preemption_extender.h"

namespace ks::plugins {

struct Candidate {
  std::string node;
  framework::Victims victims;  // at least one
};

// The best by each criterion in turn; of equal ones the first. `now`: the start time of victims
// that have none. Requires: not empty.
const Candidate& PickCandidate(std::span<const Candidate> candidates, TimePoint now);

}  // namespace ks::plugins
