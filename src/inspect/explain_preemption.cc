// SPDX-License-Identifier: Apache-2.0
#include "inspect/explain_preemption.h"

#include <algorithm>
#include <utility>

#include "framework/diagnosis.h"
#include "framework/pod_group_state.h"

namespace ks::inspect {
namespace {

using framework::PostFilterResult;
using framework::Status;

VictimVerdict VerdictOf(const api::Pod& pod) {
  return {.pod = pod.meta.Key(),
          .priority = pod.Priority(),
          .terminating = pod.meta.deletion_timestamp.has_value()};
}

std::vector<VictimVerdict> Verdicts(std::span<const api::PodPtr> pods) {
  std::vector<VictimVerdict> verdicts;
  for (const api::PodPtr& pod : pods) verdicts.push_back(VerdictOf(*pod));
  return verdicts;
}

std::string_view NominationText(const PostFilterResult& result) {
  if (!result.nomination) return "none";
  return result.nomination->node_name.empty() ? "clear" : "override";
}

}  // namespace

void PreemptionLog::OnRejected(std::string_view node, const Status& status) {
  verdict_.tried.push_back({.name = std::string(node),
                            .victims = {},
                            .code = framework::CodeText(status.code()),
                            .reasons = status.reasons()});
}

void PreemptionLog::OnCandidate(std::string_view node, const framework::Victims& victims) {
  verdict_.tried.push_back({.name = std::string(node),
                            .victims = Verdicts(victims.pods),
                            .violations = victims.pdb_violations,
                            .code = {},
                            .reasons = {}});
}

void PreemptionLog::OnChosen(std::string_view, const framework::Victims& victims) {
  verdict_.victims = Verdicts(victims.pods);
  verdict_.violations = victims.pdb_violations;
}

PreemptionVerdict PreemptionLog::Run(const framework::Framework& framework,
                                     framework::CycleState& state, const api::PodPtr& pod,
                                     framework::Diagnosis* diagnosis) {
  verdict_ = {};
  const PostFilterResult result =
      framework.ExplainPostFilterPlugins(state, pod, diagnosis->nodes, *this);
  diagnosis->post_filter_message = result.status.ok() ? result.message : result.status.Message();
  verdict_.nomination = NominationText(result);
  if (result.nomination) verdict_.node = result.nomination->node_name;
  verdict_.code = framework::CodeText(result.status.code());
  verdict_.message = diagnosis->post_filter_message;
  verdict_.event = diagnosis->Text();
  std::sort(verdict_.tried.begin(), verdict_.tried.end(),
            [](const TriedNode& a, const TriedNode& b) { return a.name < b.name; });
  return std::move(verdict_);
}

GroupVictimVerdict GroupVictimOf(const api::Pod& victim) {
  GroupVictimVerdict verdict{
      .victim = VerdictOf(victim), .node = victim.node_name.str(), .group = {}};
  if (const auto group = framework::GroupOf(victim)) verdict.group = group->Text();
  return verdict;
}

}  // namespace ks::inspect
