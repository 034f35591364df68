// SPDX-License-Identifier: Apache-2.0
#pragma once
// Answers of /debug/kubesched as text for people. Fields that are not there are left out or shown
// as "-", so that answers of other versions can be read.

#include <string>
#include <string_view>

#include "base/result.h"

namespace ks::ctl {

// Each takes the body of an answer. Error: it is not JSON of that kind.
Result<std::string> QueueTable(std::string_view body);
Result<std::string> DecisionsTable(std::string_view body);
Result<std::string> CacheTable(std::string_view body);
Result<std::string> SimulationTable(std::string_view body);
// Of a simulation with fill.
Result<std::string> FillTable(std::string_view body);
// `only_node`: as ExplanationTable.
Result<std::string> LiveExplanationTable(std::string_view body, std::string_view only_node);

}  // namespace ks::ctl
