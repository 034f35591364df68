// SPDX-License-Identifier: Apache-2.0
#include "inspect/explain_group.h"

#include <algorithm>
#include <set>
#include <utility>

#include "inspect/json_fields.h"

namespace ks::inspect {
namespace {

using config::JsonBuilder;
using framework::PodGroupKey;

// The result of a group without topology constraints, told by its members.
MemberTally TallyOf(const std::vector<GroupPlacement::Member>& members) {
  MemberTally tally{.members = members.size(), .first_failure = {}};
  size_t number = 0;
  for (const GroupPlacement::Member& member : members) {
    if (!member.searched) continue;
    ++number;
    if (member.tried) ++tally.tried;
    if (member.fits) {
      ++tally.fit;
    } else if (!tally.first_failure) {
      tally.first_failure = FailedMember{.pod = member.queued->pod()->meta.Key(),
                                         .number = number,
                                         .message = member.own_cause,
                                         .unschedulable_plugins = member.own_plugins};
    }
  }
  return tally;
}

MemberTally TallyOf(scheduler::GroupResult& result) {
  MemberTally tally;
  size_t number = 0;
  result.ForEachMember([&](scheduler::GroupResult&, scheduler::MemberResult& member) {
    ++tally.members;
    if (!member.searched()) return;
    ++number;
    if (member.tried) ++tally.tried;
    if (member.fits()) {
      ++tally.fit;
    } else if (!tally.first_failure) {
      const auto& fit = member.own_fit();
      FailedMember& failure = tally.first_failure.emplace();
      failure.pod = member.member->pod()->meta.Key();
      failure.number = number;
      failure.message = fit ? fit->text : member.own_status().Message();
      if (!fit) return;
      failure.unschedulable_plugins.assign(fit->unschedulable_plugins.begin(),
                                           fit->unschedulable_plugins.end());
    }
  });
  return tally;
}

// A composite that fails forgets how far its children got: what counts is the best of each.
void AddUp(const std::vector<PlacementVerdict>& inside, MemberTally* tally) {
  std::map<std::string_view, const PlacementVerdict*> best;
  for (const PlacementVerdict& one : inside) {
    const PlacementVerdict*& known = best[one.group];
    if (known == nullptr || one.tally.fit > known->tally.fit) known = &one;
    if (!tally->first_failure) tally->first_failure = one.tally.first_failure;
  }
  tally->fit = 0;
  for (const auto& [group, one] : best) tally->fit += one->tally.fit;
}

class PlacementRecorder final : public scheduler::PlacementObserver {
 public:
  void OnBegin(const PodGroupKey& group, const framework::Placement& placement) override {
    if (open_.empty()) {
      for (const framework::NodeInfo* node : placement.nodes) home_[node->name()] = placement.name;
    }
    open_.push_back({.group = group.Text(),
                     .name = placement.name,
                     .nodes = placement.nodes.size(),
                     .message = {},
                     .tally = {},
                     .inside = {}});
  }
  void OnEnd(scheduler::GroupResult& result) override {
    PlacementVerdict verdict = std::move(open_.back());
    open_.pop_back();
    if (result.status.ok()) {
      verdict.result = Verdict::kSchedulable;
    } else {
      const bool rejected = result.status.IsRejected();
      verdict.result = rejected ? Verdict::kUnschedulable : Verdict::kError;
      verdict.message = rejected ? result.status.Message() : result.status.ErrorText();
    }
    verdict.tally = TallyOf(result);
    if (!verdict.inside.empty()) AddUp(verdict.inside, &verdict.tally);
    (open_.empty() ? done_ : open_.back().inside).push_back(std::move(verdict));
  }

  // Empty where there was no choice.
  std::vector<PlacementVerdict> Take() {
    const bool choice = std::any_of(done_.begin(), done_.end(), [](const PlacementVerdict& one) {
      return !one.name.empty() || !one.inside.empty();
    });
    if (!choice) done_.clear();
    return std::move(done_);
  }
  // The root's placement that a node belongs to; empty: there was no choice.
  std::string HomeOf(const std::string& node) const {
    const auto found = home_.find(node);
    return found == home_.end() ? std::string() : found->second;
  }

 private:
  std::vector<PlacementVerdict> open_;  // the innermost last
  std::vector<PlacementVerdict> done_;
  std::map<std::string, std::string> home_;  // placement by node
};

GroupPreemptionVerdict VerdictOf(const GroupPreemptionTrial& trial, const GroupPlacement& placement,
                                 const PlacementRecorder& recorder) {
  const framework::GroupPostFilterResult& result = *trial.result;
  GroupPreemptionVerdict verdict{.code = framework::CodeText(result.status.code()),
                                 .message = result.status.ok() ? result.message
                                            : result.status.IsRejected()
                                                ? result.status.Message()
                                                : result.status.ErrorText(),
                                 .placement = {},
                                 .nominated = {},
                                 .victims = {},
                                 .violations = trial.victims.pdb_violations,
                                 .disruptions = trial.victims.disruptions};
  for (const GroupPlacement::Member& member : placement.members) {
    const api::ObjectMeta& meta = member.queued->pod()->meta;
    const auto found = result.nominations.find(meta.uid);
    if (found == result.nominations.end() || found->second.node_name.empty()) continue;
    verdict.nominated.emplace_back(meta.Key(), found->second.node_name);
  }
  if (!verdict.nominated.empty()) {
    verdict.placement = recorder.HomeOf(verdict.nominated.front().second);
  }
  for (const api::PodPtr& victim : trial.victims.pods) {
    verdict.victims.push_back(GroupVictimOf(*victim));
  }
  return verdict;
}

std::string TallyText(const MemberTally& tally) {
  return std::to_string(tally.fit) + " of " + std::to_string(tally.members) +
         (tally.members == 1 ? " member fits" : " members fit");
}

std::string FailureText(const MemberTally& tally) {
  if (!tally.first_failure) return "";
  return "; member " + std::to_string(tally.first_failure->number) + " (" +
         tally.first_failure->pod + ") does not: " + tally.first_failure->message;
}

// "812 of 1000 members fit in rack-7; member 813 (ns/w-812) does not: 0/20 nodes are available: 20
// Insufficient cpu.; the most fit in rack-3: 940".
std::string SummaryOf(const GroupPlacement& placement,
                      const std::vector<PlacementVerdict>& placements) {
  const MemberTally all = TallyOf(placement.members);
  if (placement.result == Verdict::kGated || all.members == 0) return "";
  if (placement.result == Verdict::kSchedulable || placements.empty()) {
    return all.fit == 0 && !all.first_failure ? "" : TallyText(all) + FailureText(all);
  }
  const PlacementVerdict& first = placements.front();
  const auto best =
      std::max_element(placements.begin(), placements.end(),
                       [](const auto& a, const auto& b) { return a.tally.fit < b.tally.fit; });
  std::string text = TallyText(first.tally);
  if (!first.name.empty()) text += " in " + first.name;
  text += FailureText(first.tally);
  if (placements.size() == 1) return text;
  if (best->tally.fit == first.tally.fit) {
    return text + "; none of the " + std::to_string(placements.size()) + " placements takes more";
  }
  return text + "; the most fit in " + best->name + ": " + std::to_string(best->tally.fit);
}

void AddPlugins(JsonBuilder& json, const std::vector<std::string>& plugins) {
  if (plugins.empty()) return;
  json.Key("rejectedBy").BeginArray();
  for (const std::string& plugin : plugins) json.Text(plugin);
  json.EndArray();
}

void AddMember(JsonBuilder& json, const MemberVerdict& member) {
  json.BeginObject();
  json.Key("pod").Text(member.pod);
  json.Key("podGroup").Text(member.group);
  json.Key("result").Text(VerdictText(member.result));
  AddText(json, "node", member.node);
  AddText(json, "message", member.message);
  AddPlugins(json, member.unschedulable_plugins);
  json.EndObject();
}

void AddPlacement(JsonBuilder& json, const PlacementVerdict& placement) {
  json.BeginObject();
  json.Key("podGroup").Text(placement.group);
  AddText(json, "placement", placement.name);
  json.Key("nodes").Number(placement.nodes);
  json.Key("result").Text(VerdictText(placement.result));
  AddText(json, "message", placement.message);
  json.Key("members").Number(placement.tally.members);
  json.Key("tried").Number(placement.tally.tried);
  json.Key("fit").Number(placement.tally.fit);
  if (const auto& failure = placement.tally.first_failure) {
    json.Key("firstFailure").BeginObject();
    json.Key("pod").Text(failure->pod);
    json.Key("number").Number(failure->number);
    json.Key("message").Text(failure->message);
    AddPlugins(json, failure->unschedulable_plugins);
    json.EndObject();
  }
  if (!placement.inside.empty()) {
    json.Key("inside").BeginArray();
    for (const PlacementVerdict& inner : placement.inside) AddPlacement(json, inner);
    json.EndArray();
  }
  json.EndObject();
}

void AddPlacementList(JsonBuilder& json, const std::vector<PlacementVerdict>& placements) {
  if (placements.empty()) return;
  json.Key("placements").BeginArray();
  for (const PlacementVerdict& placement : placements) AddPlacement(json, placement);
  json.EndArray();
}

void AddVerdict(JsonBuilder& json, const GroupExplanation& explanation) {
  json.Key("podGroup").Text(explanation.group);
  AddText(json, "profile", explanation.profile);
  json.Key("result").Text(VerdictText(explanation.result));
  AddText(json, "message", explanation.message);
  AddText(json, "summary", explanation.summary);
}

}  // namespace

std::vector<GroupVerdict> GroupVerdicts(const GroupPlacement& placement) {
  std::vector<GroupVerdict> verdicts;
  std::map<std::string, size_t> fit;
  for (const GroupPlacement::Member& member : placement.members) {
    if (member.fits) ++fit[member.group.Text()];
  }
  for (const GroupPlacement::Group& group : placement.groups) {
    GroupVerdict& verdict = verdicts.emplace_back();
    verdict.group = group.key.Text();
    verdict.result = group.result;
    verdict.message = group.message;
    verdict.wanted = group.wanted;
    verdict.scheduled = group.scheduled;
    verdict.queued = group.queued;
    verdict.fit = fit[verdict.group];
  }
  return verdicts;
}

std::vector<MemberVerdict> MemberVerdicts(const GroupPlacement& placement) {
  std::vector<MemberVerdict> verdicts;
  for (const GroupPlacement::Member& member : placement.members) {
    verdicts.push_back({.pod = member.queued->pod()->meta.Key(),
                        .group = member.group.Text(),
                        .result = member.placement.result,
                        .node = member.placement.node,
                        .message = member.placement.message,
                        .unschedulable_plugins = member.placement.unschedulable_plugins});
  }
  return verdicts;
}

void AddGroupList(JsonBuilder& json, const std::vector<GroupVerdict>& groups) {
  json.Key("groups").BeginArray();
  for (const GroupVerdict& group : groups) {
    json.BeginObject();
    json.Key("podGroup").Text(group.group);
    json.Key("result").Text(VerdictText(group.result));
    AddText(json, "message", group.message);
    if (group.wanted) json.Key("wanted").Number(*group.wanted);
    json.Key("scheduled").Number(group.scheduled);
    json.Key("queued").Number(group.queued);
    json.Key("fit").Number(group.fit);
    json.EndObject();
  }
  json.EndArray();
}

void AddGroupPreemption(JsonBuilder& json, const GroupPreemptionVerdict& preemption,
                        const std::vector<PlacementVerdict>& placements) {
  json.Key("preemption").BeginObject();
  json.Key("code").Text(preemption.code);
  AddText(json, "message", preemption.message);
  AddText(json, "placement", preemption.placement);
  json.Key("nominated").BeginArray();
  for (const auto& [pod, node] : preemption.nominated) {
    json.BeginObject();
    json.Key("pod").Text(pod);
    json.Key("node").Text(node);
    json.EndObject();
  }
  json.EndArray();
  json.Key("victims").BeginArray();
  for (const GroupVictimVerdict& one : preemption.victims) {
    json.BeginObject();
    json.Key("pod").Text(one.victim.pod);
    json.Key("priority").Number(one.victim.priority);
    if (one.victim.terminating) json.Key("terminating").Bool(true);
    json.Key("node").Text(one.node);
    AddText(json, "podGroup", one.group);
    json.EndObject();
  }
  json.EndArray();
  json.Key("violations").Number(preemption.violations);
  json.Key("disruptions").Number(preemption.disruptions);
  AddPlacementList(json, placements);
  json.EndObject();
}

void AddMemberList(JsonBuilder& json, const std::vector<MemberVerdict>& members) {
  json.Key("members").BeginArray();
  for (const MemberVerdict& member : members) AddMember(json, member);
  json.EndArray();
}

std::string UnknownGroupText(const PodGroupKey& group) {
  return "waiting for pod group " + group.Name() +
         ", or a group above it, to appear: it is not known";
}

std::optional<PodGroupKey> ParseGroupName(std::string_view text) {
  constexpr std::string_view kComposite = "compositepodgroup/";
  constexpr std::string_view kPlain = "podgroup/";
  PodGroupKey key;
  key.composite = text.starts_with(kComposite);
  if (!key.composite && !text.starts_with(kPlain)) return std::nullopt;
  text.remove_prefix(key.composite ? kComposite.size() : kPlain.size());
  const size_t slash = text.find('/');
  key.ns = slash == std::string_view::npos ? Symbol("default") : Symbol(text.substr(0, slash));
  key.name = slash == std::string_view::npos ? text : text.substr(slash + 1);
  return key;
}

std::variant<const GroupExplanation*, Refusal> GroupExplainer::Explain(const PodGroupKey& group) {
  const ClusterTrial* look_up = LookUp();
  const std::optional<PodGroupKey> root =
      look_up == nullptr ? std::nullopt : look_up->RootOf(group);
  const std::string name = (root ? *root : group).Text();
  const auto known = known_.find(name);
  if (known != known_.end()) return known->second.get();
  auto trial = ClusterTrial::Make(cluster_);
  if (!trial.ok()) return Refusal{500, trial.error().message};
  auto made = Make(root ? *root : group, **trial);
  if (auto* refusal = std::get_if<Refusal>(&made)) return std::move(*refusal);
  auto& kept = known_[name];
  kept = std::make_unique<const GroupExplanation>(std::get<GroupExplanation>(std::move(made)));
  return kept.get();
}

const ClusterTrial* GroupExplainer::LookUp() {
  if (look_up_ == nullptr) {
    auto trial = ClusterTrial::Make(cluster_);
    if (trial.ok()) look_up_ = std::move(trial).value();
  }
  return look_up_.get();
}

std::variant<GroupExplanation, Refusal> GroupExplainer::Make(const PodGroupKey& group,
                                                             ClusterTrial& trial) {
  GroupExplanation out{.group = group.Text(), .profile = {}, .message = {}, .summary = {}};
  if (!cluster_.configuration.extenders.empty()) {
    out.notes.emplace_back("extenders are not asked: their verdicts and scores are missing");
  }
  PlacementRecorder recorder;
  const bool known = trial.RootOf(group).has_value();
  PlacementRecorder without_victims;
  GroupPreemptionTrial preemption{.observer = &without_victims};
  const GroupPlacement placement = trial.PlaceGroup(
      group, &recorder, preemption_ == ExplainPreemption::kYes ? &preemption : nullptr);
  if (!known && placement.members.empty()) {
    return Refusal{404, "no " + group.Text() +
                            " is known to the scheduler; name it as podgroup/NAMESPACE/NAME (and "
                            "groups of pods need the gate GenericWorkload)"};
  }
  out.groups = GroupVerdicts(placement);
  out.members = MemberVerdicts(placement);
  if (!known) {
    out.result = Verdict::kGated;
    out.message = UnknownGroupText(group);
    return out;
  }
  out.profile = placement.profile;
  out.result = placement.result;
  out.message = placement.message;
  out.placements = recorder.Take();
  out.summary = SummaryOf(placement, out.placements);
  if (preemption.result) {
    out.preemption = VerdictOf(preemption, placement, without_victims);
    out.preempting_placements = without_victims.Take();
  }
  if (placement.members.empty()) {
    size_t scheduled = 0;
    for (const GroupVerdict& one : out.groups) scheduled += one.scheduled;
    out.notes.push_back("no member waits for a node; " + std::to_string(scheduled) +
                        " are on nodes");
  }
  return out;
}

bool GroupExplainer::IsQueuedMember(const api::Pod& pod) {
  const ClusterTrial* look_up = LookUp();
  return look_up != nullptr && look_up->IsQueuedMember(pod);
}

std::vector<PodGroupKey> GroupExplainer::WaitingRoots() {
  std::vector<PodGroupKey> roots;
  const ClusterTrial* look_up = LookUp();
  if (look_up == nullptr) return roots;
  std::map<std::string, PodGroupKey> by_name;
  for (const framework::QueuedPodPtr& member : cluster_.members) {
    const PodGroupKey leaf = *framework::GroupOf(*member->pod());
    const PodGroupKey root = look_up->RootOf(leaf).value_or(leaf);
    by_name.try_emplace(root.Text(), root);
  }
  for (auto& [name, root] : by_name) roots.push_back(std::move(root));
  return roots;
}

std::string GroupExplanationJson(const GroupExplanation& explanation, std::string_view live) {
  JsonBuilder json;
  json.BeginObject();
  AddVerdict(json, explanation);
  AddGroupList(json, explanation.groups);
  AddMemberList(json, explanation.members);
  AddPlacementList(json, explanation.placements);
  if (explanation.preemption) {
    AddGroupPreemption(json, *explanation.preemption, explanation.preempting_placements);
  }
  if (!explanation.notes.empty()) {
    json.Key("notes").BeginArray();
    for (const std::string& note : explanation.notes) json.Text(note);
    json.EndArray();
  }
  if (!live.empty()) json.Key("live").Json(live);
  json.EndObject();
  return json.Take();
}

GroupShare ShareOf(const GroupExplanation& explanation, const api::Pod& pod) {
  GroupShare share{.group = explanation.group,
                   .result = explanation.result,
                   .message = explanation.message,
                   .summary = explanation.summary,
                   .member_result = explanation.result,
                   .member_node = {},
                   .member_message = {},
                   .preemption = explanation.preemption};
  for (const MemberVerdict& member : explanation.members) {
    if (member.pod != pod.meta.Key()) continue;
    share.member_result = member.result;
    share.member_node = member.node;
    share.member_message = member.message;
  }
  return share;
}

void ExplainGroupOf(const api::Pod& pod, GroupExplainer& groups, Explanation* explanation) {
  if (!groups.IsQueuedMember(pod)) return;
  const auto explained = groups.Explain(*framework::GroupOf(pod));
  const auto* const* group = std::get_if<const GroupExplanation*>(&explained);
  if (group == nullptr) return;
  explanation->group = ShareOf(**group, pod);
  explanation->preemption.reset();
}

}  // namespace ks::inspect
