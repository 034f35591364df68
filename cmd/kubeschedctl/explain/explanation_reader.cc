// SPDX-License-Identifier: Apache-2.0
#include "kubeschedctl/explain/explanation_reader.h"

#include <nlohmann/json.hpp>
#include <string>
#include <utility>
#include <vector>

#include "base/symbol.h"
#include "kubeschedctl/text/answer_fields.h"
#include "kubeschedctl/text/printable.h"

namespace ks::ctl {
namespace {

using inspect::Verdict;
using nlohmann::json;

// Plugins, codes: few.
std::string_view Name(const json& object, const char* key) {
  return Symbol::Forever(Text(object, key)).view();
}

template <class Visit>
void ForEach(const json& object, const char* key, Visit visit) {
  const auto found = object.find(key);
  if (found == object.end() || !found->is_array()) return;
  for (const json& element : *found) visit(element);
}

std::vector<std::string> Texts(const json& object, const char* key) {
  std::vector<std::string> texts;
  ForEach(object, key, [&](const json& text) {
    if (text.is_string()) texts.push_back(Printable(text.get<std::string>()));
  });
  return texts;
}

Verdict VerdictOf(std::string_view text) {
  for (const Verdict verdict : {Verdict::kSchedulable, Verdict::kUnschedulable, Verdict::kGated}) {
    if (inspect::VerdictText(verdict) == text) return verdict;
  }
  return Verdict::kError;
}

// The devices of a claim: all that is shown of what it would get.
framework::ClaimOutcome ReadOutcome(const json& object) {
  framework::ClaimOutcome outcome{.claim = Text(object, "claim"), .allocation = {}};
  const auto allocation = object.find("allocation");
  if (allocation == object.end() || !allocation->is_object()) return outcome;
  const auto devices = allocation->find("devices");
  if (devices == allocation->end() || !devices->is_object()) return outcome;
  ForEach(*devices, "results", [&](const json& result) {
    if (!result.is_object()) return;
    outcome.allocation.results.push_back({.request = Text(result, "request"),
                                          .driver = Symbol(Text(result, "driver")),
                                          .pool = Symbol(Text(result, "pool")),
                                          .device = Symbol(Text(result, "device"))});
  });
  return outcome;
}

void ReadShares(const json& outcome, size_t claim, std::vector<inspect::DeviceShare>& shares) {
  ForEach(outcome, "shares", [&](const json& one) {
    if (!one.is_object()) return;
    inspect::DeviceShare share{.claim = claim,
                               .result = static_cast<size_t>(Number(one, "result"))};
    const auto capacity = one.find("capacity");
    if (capacity == one.end() || !capacity->is_object()) return;
    for (const auto& [name, amount] : capacity->items()) {
      if (!amount.is_object()) continue;
      share.amounts.push_back({.capacity = name,
                               .asked = Text(amount, "asked"),
                               .free = Text(amount, "free"),
                               .total = Text(amount, "total")});
    }
    shares.push_back(std::move(share));
  });
}

inspect::NodeVerdict ReadNode(const json& object) {
  inspect::NodeVerdict node{.name = Text(object, "name"),
                            .feasible = Flag(object, "feasible"),
                            .plugin = Text(object, "plugin"),
                            .code = Name(object, "code"),
                            .reasons = Texts(object, "reasons"),
                            .scores = {},
                            .total = Number(object, "total")};
  ForEach(object, "scores", [&](const json& score) {
    if (!score.is_object()) return;
    node.scores.push_back({.plugin = Name(score, "plugin"),
                           .raw = Number(score, "raw"),
                           .weighted = Number(score, "weighted")});
  });
  ForEach(object, "allocations", [&](const json& outcome) {
    if (!outcome.is_object()) return;
    ReadShares(outcome, node.allocations.size(), node.shares);
    node.allocations.push_back(ReadOutcome(outcome));
  });
  return node;
}

std::vector<inspect::VictimVerdict> ReadVictims(const json& object) {
  std::vector<inspect::VictimVerdict> victims;
  ForEach(object, "victims", [&](const json& victim) {
    if (!victim.is_object()) return;
    victims.push_back({.pod = Text(victim, "pod"),
                       .priority = static_cast<int32_t>(Number(victim, "priority")),
                       .terminating = Flag(victim, "terminating")});
  });
  return victims;
}

inspect::PreemptionVerdict ReadPreemption(const json& object) {
  inspect::PreemptionVerdict preemption;
  preemption.node = Text(object, "node");
  preemption.nomination = Name(object, "nomination");
  preemption.code = Name(object, "code");
  preemption.message = Text(object, "message");
  preemption.event = Text(object, "event");
  preemption.victims = ReadVictims(object);
  preemption.violations = Number(object, "violations");
  ForEach(object, "tried", [&](const json& tried) {
    if (!tried.is_object()) return;
    preemption.tried.push_back({.name = Text(tried, "node"),
                                .victims = ReadVictims(tried),
                                .violations = Number(tried, "violations"),
                                .code = Name(tried, "code"),
                                .reasons = Texts(tried, "reasons")});
  });
  return preemption;
}

size_t Size(const json& object, const char* key) {
  const int64_t number = Number(object, key);
  return number < 0 ? 0 : static_cast<size_t>(number);
}

std::optional<inspect::GroupPreemptionVerdict> ReadGroupPreemption(const json& object) {
  const auto found = object.find("preemption");
  if (found == object.end() || !found->is_object()) return std::nullopt;
  inspect::GroupPreemptionVerdict preemption{.code = Name(*found, "code"),
                                             .message = Text(*found, "message"),
                                             .placement = Text(*found, "placement"),
                                             .nominated = {},
                                             .victims = {},
                                             .violations = Number(*found, "violations"),
                                             .disruptions = Size(*found, "disruptions")};
  ForEach(*found, "nominated", [&](const json& member) {
    if (!member.is_object()) return;
    preemption.nominated.emplace_back(Text(member, "pod"), Text(member, "node"));
  });
  ForEach(*found, "victims", [&](const json& victim) {
    if (!victim.is_object()) return;
    preemption.victims.push_back(
        {.victim = {.pod = Text(victim, "pod"),
                    .priority = static_cast<int32_t>(Number(victim, "priority")),
                    .terminating = Flag(victim, "terminating")},
         .node = Text(victim, "node"),
         .group = Text(victim, "podGroup")});
  });
  return preemption;
}

inspect::GroupShare ReadShare(const json& object) {
  inspect::GroupShare share{.group = Text(object, "podGroup"),
                            .result = VerdictOf(Text(object, "result")),
                            .message = Text(object, "message"),
                            .summary = Text(object, "summary"),
                            .member_node = {},
                            .member_message = {},
                            .preemption = ReadGroupPreemption(object)};
  const auto member = object.find("member");
  if (member == object.end() || !member->is_object()) return share;
  share.member_result = VerdictOf(Text(*member, "result"));
  share.member_node = Text(*member, "node");
  share.member_message = Text(*member, "message");
  return share;
}

inspect::PlacementVerdict ReadPlacement(const json& object) {
  inspect::PlacementVerdict placement{.group = Text(object, "podGroup"),
                                      .name = Text(object, "placement"),
                                      .nodes = Size(object, "nodes"),
                                      .result = VerdictOf(Text(object, "result")),
                                      .message = Text(object, "message"),
                                      .tally = {},
                                      .inside = {}};
  placement.tally.members = Size(object, "members");
  placement.tally.tried = Size(object, "tried");
  placement.tally.fit = Size(object, "fit");
  const auto failure = object.find("firstFailure");
  if (failure != object.end() && failure->is_object()) {
    placement.tally.first_failure = {.pod = Text(*failure, "pod"),
                                     .number = Size(*failure, "number"),
                                     .message = Text(*failure, "message"),
                                     .unschedulable_plugins = Texts(*failure, "rejectedBy")};
  }
  ForEach(object, "inside", [&](const json& inner) {
    if (inner.is_object()) placement.inside.push_back(ReadPlacement(inner));
  });
  return placement;
}

}  // namespace

std::vector<inspect::MemberVerdict> ReadMembers(const json& object) {
  std::vector<inspect::MemberVerdict> members;
  ForEach(object, "members", [&](const json& member) {
    if (!member.is_object()) return;
    members.push_back({.pod = Text(member, "pod"),
                       .group = Text(member, "podGroup"),
                       .result = VerdictOf(Text(member, "result")),
                       .node = Text(member, "node"),
                       .message = Text(member, "message"),
                       .unschedulable_plugins = Texts(member, "rejectedBy")});
  });
  return members;
}

inspect::GroupExplanation ReadGroupExplanation(const json& object) {
  inspect::GroupExplanation explanation{.group = Text(object, "podGroup"),
                                        .profile = Text(object, "profile"),
                                        .result = VerdictOf(Text(object, "result")),
                                        .message = Text(object, "message"),
                                        .summary = Text(object, "summary")};
  ForEach(object, "groups", [&](const json& one) {
    if (!one.is_object()) return;
    inspect::GroupVerdict& group = explanation.groups.emplace_back();
    group.group = Text(one, "podGroup");
    group.result = VerdictOf(Text(one, "result"));
    group.message = Text(one, "message");
    if (one.contains("wanted")) group.wanted = Number(one, "wanted");
    group.scheduled = Size(one, "scheduled");
    group.queued = Size(one, "queued");
    group.fit = Size(one, "fit");
  });
  explanation.members = ReadMembers(object);
  ForEach(object, "placements", [&](const json& placement) {
    if (placement.is_object()) explanation.placements.push_back(ReadPlacement(placement));
  });
  explanation.preemption = ReadGroupPreemption(object);
  if (explanation.preemption) {
    ForEach(object.at("preemption"), "placements", [&](const json& placement) {
      if (!placement.is_object()) return;
      explanation.preempting_placements.push_back(ReadPlacement(placement));
    });
  }
  explanation.notes = Texts(object, "notes");
  return explanation;
}

inspect::Explanation ReadExplanation(const json& object) {
  inspect::Explanation explanation{.pod = Text(object, "pod"),
                                   .profile = Text(object, "profile"),
                                   .result = VerdictOf(Text(object, "result")),
                                   .message = Text(object, "message")};
  for (std::string& plugin : Texts(object, "unschedulablePlugins")) {
    explanation.unschedulable_plugins.insert(std::move(plugin));
  }
  explanation.best_nodes = Texts(object, "bestNodes");
  ForEach(object, "nodes", [&](const json& node) {
    if (node.is_object()) explanation.nodes.push_back(ReadNode(node));
  });
  const auto preemption = object.find("preemption");
  if (preemption != object.end() && preemption->is_object()) {
    explanation.preemption = ReadPreemption(*preemption);
  }
  const auto group = object.find("podGroup");
  if (group != object.end() && group->is_object()) explanation.group = ReadShare(*group);
  ForEach(object, "details", [&](const json& detail) {
    if (!detail.is_object()) return;
    explanation.details.push_back({.plugin = Text(detail, "plugin"),
                                   .reason = Text(detail, "reason"),
                                   .node = Text(detail, "node"),
                                   .text = Text(detail, "text"),
                                   .nodes = Texts(detail, "nodes")});
  });
  ForEach(object, "suggestions", [&](const json& suggestion) {
    if (!suggestion.is_object()) return;
    explanation.suggestions.push_back({.kind = Text(suggestion, "kind"),
                                       .text = Text(suggestion, "text"),
                                       .node = Text(suggestion, "node")});
  });
  explanation.notes = Texts(object, "notes");
  return explanation;
}

}  // namespace ks::ctl
