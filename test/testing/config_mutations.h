// SPDX-License-Identifier: Apache-2.0
#pragma once
// Generated KubeSchedulerConfiguration files: valid ones that use every field, and mutations of
// them. Same seed, same files.

#include <cstdint>
#include <string>
#include <vector>

#include "base/random.h"
#include "testing/config_tree.h"

namespace ks::testing {

struct ConfigFile {
  std::string name;  // tells what was done: "m17 rename, wrong type"
  std::string text;
};

// A file that kube-scheduler accepts, nearly always (the generator knows ranges and extension
// points, not every rule across fields).
Tree ValidConfiguration(Random& random);

// `count` files from valid ones with none to three changes each: keys deleted, repeated, renamed,
// in wrong case; values of wrong type or out of range; plugins swapped; YAML 1.1 scalars, anchors
// and merges; JSON; several documents; damaged bytes. Leaves out what kube-scheduler itself decides
// at random (docs/spec/config.md, level "free").
std::vector<ConfigFile> MutatedConfigurations(uint64_t seed, size_t count);

}  // namespace ks::testing
