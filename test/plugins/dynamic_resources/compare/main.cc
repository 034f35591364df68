// SPDX-License-Identifier: Apache-2.0
// Answers requests for allocations as test/controlplane/cmd/draoracle does, with our allocator:
// JSON Lines in, JSON Lines out. compare.py asks both.
//
//   ks_dra_answers [FEATURE_GATES [MIN_COMPATIBILITY_VERSION [PATIENCE]]]
//
// PATIENCE: of the search, before it begins to remember dead ends.

#include <iostream>
#include <string>

#include "config/gates/feature_gates.h"
#include "plugins/dynamic_resources/compare/subject.h"

int main(int argc, char** argv) {
  ks::config::GateFlags flags;
  if (argc > 1) flags.feature_gates = {argv[1]};
  if (argc > 2) flags.min_compatibility_version = {argv[2]};
  const auto gates = ks::config::FeatureGates::Make(flags, nullptr);
  if (!gates.ok()) {
    std::cerr << gates.error().message << "\n";
    return 1;
  }
  ks::plugins::dra_compare::Subject subject(ks::plugins::FeaturesOf(*gates));
  if (argc > 3) subject.SetPatience(std::stoul(argv[3]));
  std::string line;
  while (std::getline(std::cin, line)) std::cout << subject.Answer(line) << "\n" << std::flush;
  return 0;
}
