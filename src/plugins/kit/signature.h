// SPDX-License-Identifier: Apache-2.0
#pragma once
// Signature fragments that several plugins share, and their text form.
//
// Upstream: docs/spec/plugins-node.md section 5.

#include <string>
#include <vector>

#include <nlohmann/json_fwd.hpp>

#include "api/pod.h"
#include "framework/handle.h"
#include "framework/plugin.h"

namespace ks::plugins {

// Canonical JSON: sorted keys, no white space. Never throws: broken UTF-8 is replaced.
std::string SignatureText(const nlohmann::json& value);

// NodeUnschedulable and TaintToleration: all tolerations, ordered by key and value; ties keep the
// order of the spec.
framework::SignFragment TolerationsFragment(const api::Pod& pod);

// NodeResourcesFit, NodeResourcesBalancedAllocation and the legacy scorers: the request vector of
// the incoming pod. U when devices serve a part of it: how many a node has left is not seen here.
framework::Status SignRequests(const framework::Handle& handle, const api::Pod& pod,
                               std::vector<framework::SignFragment>* fragments);

}  // namespace ks::plugins
