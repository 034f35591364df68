// SPDX-License-Identifier: Apache-2.0
#include "plugins/default_preemption/ask_extenders.h"

#include <algorithm>
#include <string>
#include <utility>

#include "framework/quote.h"
#include "plugins/default_preemption/dry_run.h"

namespace ks::plugins {
namespace {

using framework::MetaVictims;
using framework::MetaVictimsByNode;
using framework::NodeInfo;
using framework::PodInfoPtr;
using framework::PreemptionExtender;
using framework::Victims;
using framework::VictimsByNode;

Result<Victims> FindVictims(const PreemptionExtender& extender, const NodeInfo& node,
                            const MetaVictims& meta) {
  Victims victims;
  victims.pdb_violations = meta.pdb_violations;
  for (const std::string& uid : meta.uids) {
    const auto found =
        std::find_if(node.pods().begin(), node.pods().end(),
                     [&uid](const PodInfoPtr& info) { return info->pod().meta.uid == uid; });
    if (found == node.pods().end()) {
      return Error{"extender: " + extender.Name() + " claims to preempt pod (UID: &{" + uid +
                   "}) on node: " + node.name() + ", but the pod is not found on that node"};
    }
    victims.pods.push_back((*found)->ptr());
  }
  return victims;
}

// The answer in terms of the snapshot's pods.
Result<VictimsByNode> Ask(PreemptionExtender& extender, const framework::Snapshot& snapshot,
                          const api::Pod& preemptor, const VictimsByNode& victims) {
  Result<MetaVictimsByNode> answer = extender.ProcessPreemption(preemptor, victims);
  if (!answer.ok()) return answer.error();
  VictimsByNode translated;
  for (const auto& [name, meta] : *answer) {
    const NodeInfo* node = snapshot.Find(name);
    if (node == nullptr) {
      return Error{"nodeinfo not found for node name " + framework::Quoted(name)};
    }
    Result<Victims> found = FindVictims(extender, *node, meta);
    if (!found.ok()) return found.error();
    translated.emplace(name, std::move(found).value());
  }
  return translated;
}

bool IsEmpty(const VictimsByNode::value_type& entry) { return entry.second.pods.empty(); }

}  // namespace

Result<std::vector<Candidate>> AskExtenders(std::span<PreemptionExtender* const> extenders,
                                            const framework::Snapshot& snapshot,
                                            const api::Pod& preemptor,
                                            std::vector<Candidate> candidates) {
  if (extenders.empty() || candidates.empty()) return candidates;
  VictimsByNode victims;
  for (const Candidate& candidate : candidates) victims[candidate.node] = candidate.victims;
  bool asked = false;
  for (PreemptionExtender* extender : extenders) {
    if (!extender->SupportsPreemption() || !extender->IsInterested(preemptor)) continue;
    asked = true;
    Result<VictimsByNode> answer = Ask(*extender, snapshot, preemptor, victims);
    if (!answer.ok()) {
      if (extender->IsIgnorable()) continue;
      return answer.error();
    }
    const auto empty = std::find_if(answer->begin(), answer->end(), IsEmpty);
    if (empty != answer->end() && !extender->IsIgnorable()) {
      return Error{ExpectedVictims(empty->first).ErrorText()};
    }
    std::erase_if(*answer, IsEmpty);
    victims = std::move(answer).value();
    if (victims.empty()) break;
  }
  if (!asked) return candidates;
  std::vector<Candidate> left;
  for (auto& [node, entry] : victims) left.push_back({node, std::move(entry)});
  return left;
}

}  // namespace ks::plugins
