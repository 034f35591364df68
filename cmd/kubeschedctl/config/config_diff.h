// SPDX-License-Identifier: Apache-2.0
#pragma once
// kubeschedctl diff-config: what two configuration files make a scheduler do differently.

#include <nlohmann/json_fwd.hpp>
#include <string>
#include <vector>

#include "kubeschedctl/config/effective.h"

namespace ks::ctl {

// One value that differs, as compact JSON; empty: not there.
struct Difference {
  std::string path;  // "profiles[default-scheduler].plugins.score[ImageLocality]"
  std::string before;
  std::string after;
  bool operator==(const Difference&) const = default;
};

// The configuration with defaults filled in and plugins expanded to the extension points: a tree
// in which lists of named things (profiles, plugin arguments, resources) are mappings by name and
// each point has {"order": [names], "<plugin>": weight or true}.
nlohmann::json EffectiveTree(const Effective& effective);

// In order of paths. An order counts only for the names that both sides have.
std::vector<Difference> DiffTrees(const nlohmann::json& before, const nlohmann::json& after);

// "PATH: BEFORE -> AFTER", "(none)" for what is not there.
std::string DifferenceLine(const Difference& difference);

// {"same":bool,"differences":[{"path","before","after"}]}, before or after left out for what is not
// there.
std::string DifferencesJson(const std::vector<Difference>& differences);

}  // namespace ks::ctl
