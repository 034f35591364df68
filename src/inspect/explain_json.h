// SPDX-License-Identifier: Apache-2.0
#pragma once
// An explanation as one line of JSON.
//
// Upstream: docs/spec/explain.md, "JSON form".

#include <string>
#include <string_view>

#include "inspect/explain.h"

namespace ks::inspect {

// Without line feed. Fields in the order of the tables of the specification. `live`: JSON text of
// the field of that name, which explanations of a running scheduler have; empty: left out.
std::string ExplanationJson(const Explanation& explanation, std::string_view live = {});

}  // namespace ks::inspect
