// SPDX-License-Identifier: Apache-2.0
#pragma once
// A pod spec's node selector and node affinity, compiled for matching nodes.
//
// Upstream: docs/spec/plugins-node.md 2.10 and 4.7.

#include <optional>
#include <set>
#include <string>

#include "api/node.h"
#include "api/pod.h"
#include "api/selector.h"
#include "framework/cycle_state.h"

namespace ks::plugins {

// Whether the node has all these labels.
bool MatchesNodeSelector(const api::LabelMap& node_selector, const api::Node& node);

// Threads: immutable once made. Lifetime: independent of the spec.
struct CompiledNodeAffinity final : framework::StateData {
  explicit CompiledNodeAffinity(const api::PodSpec& spec);

  // nodeSelector and required affinity.
  bool MatchesRequired(const api::Node& node) const;
  // What is wrong with the required affinity; empty: nothing.
  std::string RequiredError() const { return required_ ? required_->ErrorText() : std::string(); }

  bool has_required = false;   // a nodeSelector or a required block is present
  bool has_preferred = false;  // a preferred list is present, possibly empty
  // What PreFilter narrows the search to; empty: the terms contradict each other.
  std::optional<std::set<std::string>> node_names;
  api::PreferredTerms preferred;
  std::string preferred_error;  // empty: none

 private:
  api::LabelMap node_selector_;
  std::optional<api::NodeSelector> required_;
};

}  // namespace ks::plugins
