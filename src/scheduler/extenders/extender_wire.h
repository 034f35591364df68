// SPDX-License-Identifier: Apache-2.0
#pragma once
// What is said between scheduler and extenders, as JSON. Pure functions; nothing here knows who is
// asked or why.
//
// Upstream: docs/spec/cycle.md 19.4, docs/spec/preemption.md section 8.

#include <cstdint>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "api/node.h"
#include "api/pod.h"
#include "base/result.h"
#include "framework/extender_transport.h"
#include "framework/preemption_extender.h"

namespace ks::scheduler {

// Requests. Objects are written as they came (api::KeepRaw).

// Body of filter and prioritize. Error: the raw form of an object is missing.
Result<std::string> FilterRequestBody(const api::Pod& pod, std::span<const api::NodePtr> nodes,
                                      bool node_cache_capable);
std::string BindRequestBody(const api::Pod& pod, std::string_view node);

// Error: as FilterRequestBody; with node_cache_capable only `pod` needs its raw form.
Result<std::string> PreemptRequestBody(const api::Pod& pod, const framework::VictimsByNode& victims,
                                       bool node_cache_capable);

// Answers. Keys match in any case, the exact one first; unknown keys and what stands behind the
// first JSON value are ignored. Errors are upstream's texts where the fault is the reply's status,
// an empty or cut body, or the type of a field.

struct FilterAnswer {
  std::optional<std::vector<std::string>> node_names;  // absent: null or missing
  // `Nodes` items: the object and its text.
  std::optional<std::vector<api::NodePtr>> nodes;
  std::map<std::string, std::string> failed;
  std::map<std::string, std::string> unresolvable;
};

// `url`: of the request, for the text of a status other than 200.
Result<FilterAnswer> ReadFilterAnswer(const framework::ExtenderReply& reply, std::string_view verb,
                                      std::string_view url);

struct HostPriority {
  std::string host;
  int64_t score = 0;
};
Result<std::vector<HostPriority>> ReadPrioritizeAnswer(const framework::ExtenderReply& reply,
                                                       std::string_view verb, std::string_view url);
Result<void> ReadBindAnswer(const framework::ExtenderReply& reply, std::string_view verb,
                            std::string_view url);
Result<framework::MetaVictimsByNode> ReadPreemptAnswer(const framework::ExtenderReply& reply,
                                                       std::string_view verb, std::string_view url);

}  // namespace ks::scheduler
