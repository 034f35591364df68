// SPDX-License-Identifier: Apache-2.0
#include "plugins/default_preemption/ask_extenders.h"

#include <algorithm>
#include <string>
#include <utility>

#include "framework/find_pod.h"
#include "golang/quote.h"
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
    const PodInfoPtr* const found = framework::FindPodByUid(node.pods(), uid);
    if (found == nullptr) {
      return Error{"extender: " + extender.Name() + " claims to preempt pod (UID: &{" + uid +
                   "}) on node: " + node.name() + ", but the pod is not found on that node"};
    }
    victims.pods.push_back((*found)->ptr());
  }
  return victims;
}

// The answer in terms of the snapshot's pods, as far as it is about these nodes.
Result<VictimsByNode> Translated(const PreemptionExtender& extender,
                                 const framework::Snapshot& snapshot,
                                 const MetaVictimsByNode& answer,
                                 const std::set<std::string>* nodes) {
  VictimsByNode translated;
  for (const auto& [name, meta] : answer) {
    if (nodes != nullptr && !nodes->contains(name)) continue;
    const NodeInfo* node = snapshot.Find(name);
    if (node == nullptr) {
      return Error{"nodeinfo not found for node name " + golang::Quote(name)};
    }
    Result<Victims> found = FindVictims(extender, *node, meta);
    if (!found.ok()) return found.error();
    translated.emplace(name, std::move(found).value());
  }
  return translated;
}

bool IsEmpty(const VictimsByNode::value_type& entry) { return entry.second.pods.empty(); }

bool SameVictims(const Victims& a, const Victims& b) {
  return a.pdb_violations == b.pdb_violations &&
         std::equal(a.pods.begin(), a.pods.end(), b.pods.begin(), b.pods.end(),
                    [](const api::PodPtr& one, const api::PodPtr& other) {
                      return one->meta.uid == other->meta.uid;
                    });
}

bool IsAsked(const PreemptionExtender& extender, const api::Pod& preemptor) {
  return extender.SupportsPreemption() && extender.IsInterested(preemptor);
}

// What the extender leaves of them. Error: it failed, and must not be ignored.
Result<VictimsByNode> Left(const PreemptionExtender& extender, const framework::Snapshot& snapshot,
                           const Result<MetaVictimsByNode>& answer,
                           const std::set<std::string>* nodes, VictimsByNode victims) {
  Result<VictimsByNode> left =
      answer.ok() ? Translated(extender, snapshot, *answer, nodes) : answer.error();
  if (!left.ok()) {
    if (extender.IsIgnorable()) return victims;
    return left.error();
  }
  const auto empty = std::find_if(left->begin(), left->end(), IsEmpty);
  if (empty != left->end() && !extender.IsIgnorable()) {
    return Error{ExpectedVictims(empty->first).ErrorText()};
  }
  std::erase_if(*left, IsEmpty);
  return left;
}

}  // namespace

bool AnyoneToAsk(std::span<PreemptionExtender* const> extenders, const api::Pod& preemptor) {
  return std::any_of(extenders.begin(), extenders.end(), [&](const PreemptionExtender* extender) {
    return IsAsked(*extender, preemptor);
  });
}

VictimsByNode ByNode(const std::vector<Candidate>& candidates) {
  VictimsByNode victims;
  for (const Candidate& candidate : candidates) victims[candidate.node] = candidate.victims;
  return victims;
}

std::set<std::string> SameNodes(const VictimsByNode& a, const VictimsByNode& b) {
  std::set<std::string> same;
  for (const auto& [node, victims] : a) {
    const auto other = b.find(node);
    if (other != b.end() && SameVictims(victims, other->second)) same.insert(node);
  }
  return same;
}

Result<std::optional<std::vector<Candidate>>> AskExtenders(
    std::span<PreemptionExtender* const> extenders, const framework::Snapshot& snapshot,
    const api::Pod& preemptor, const std::shared_ptr<framework::PreemptionInquiry>& inquiry,
    const std::set<std::string>* nodes) {
  VictimsByNode victims = inquiry->candidates;
  if (nodes != nullptr) {
    std::erase_if(victims, [nodes](const auto& entry) { return !nodes->contains(entry.first); });
  }
  auto answer = inquiry->answers.begin();
  for (PreemptionExtender* extender : extenders) {
    if (victims.empty()) break;
    if (!IsAsked(*extender, preemptor)) continue;
    if (answer == inquiry->answers.end()) {
      inquiry->waiting = true;
      extender->ProcessPreemption(preemptor, victims, [inquiry](Result<MetaVictimsByNode> said) {
        inquiry->answers.push_back(std::move(said));
        inquiry->waiting = false;
      });
      return std::optional<std::vector<Candidate>>();
    }
    Result<VictimsByNode> left = Left(*extender, snapshot, *answer++, nodes, std::move(victims));
    if (!left.ok()) return left.error();
    victims = std::move(left).value();
  }
  std::vector<Candidate> left;
  for (auto& [node, entry] : victims) left.push_back({node, std::move(entry)});
  return std::optional(std::move(left));
}

}  // namespace ks::plugins
