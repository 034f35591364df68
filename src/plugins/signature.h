// SPDX-License-Identifier: Apache-2.0
#pragma once
// Signature fragments that several plugins share, and their text form.
//
// Upstream: docs/spec/plugins-node.md section 5.

#include <string>

#include <nlohmann/json_fwd.hpp>

#include "api/pod.h"
#include "framework/plugin.h"

namespace ks::plugins {

// Canonical JSON: sorted keys, no white space. Never throws: broken UTF-8 is replaced.
std::string SignatureText(const nlohmann::json& value);

// NodeUnschedulable and TaintToleration: all tolerations, ordered by key and value; ties keep the
// order of the spec.
framework::SignFragment TolerationsFragment(const api::Pod& pod);

// NodeResourcesFit and NodeResourcesBalancedAllocation: the request vector of the incoming pod.
framework::SignFragment RequestsFragment(const api::Pod& pod);

}  // namespace ks::plugins
