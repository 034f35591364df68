// SPDX-License-Identifier: Apache-2.0
#pragma once
// An explanation as one line of JSON.
//
// Upstream: docs/spec/explain.md, "JSON form".

#include <string>

#include "scheduler/explain.h"

namespace ks::scheduler {

// Without line feed. Fields in the order of the tables of the specification.
std::string ExplanationJson(const Explanation& explanation);

}  // namespace ks::scheduler
