// SPDX-License-Identifier: Apache-2.0
#pragma once
// An explanation out of its JSON form (docs/spec/explain.md), as a daemon answers it.

#include <nlohmann/json_fwd.hpp>

#include "inspect/explain.h"
#include "inspect/explain_group.h"

namespace ks::ctl {

// What is not there or of another type is left empty. Texts are made safe to print; views among
// them live as long as the process.
inspect::Explanation ReadExplanation(const nlohmann::json& object);
inspect::GroupExplanation ReadGroupExplanation(const nlohmann::json& object);
// Of its field "members".
std::vector<inspect::MemberVerdict> ReadMembers(const nlohmann::json& object);

}  // namespace ks::ctl
