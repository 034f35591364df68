// SPDX-License-Identifier: Apache-2.0
#include "plugins/node_affinity/node_affinity.h"

#include <algorithm>

#include <nlohmann/json.hpp>

#include "plugins/kit/compiled_node_affinity.h"
#include "plugins/kit/deferred_pods.h"
#include "plugins/kit/hinting.h"
#include "plugins/kit/normalize_score.h"
#include "plugins/kit/signature.h"
#include "plugins/kit/spec_cache.h"
#include "plugins/node_affinity/args.h"

namespace ks::plugins {
namespace {

using framework::Code;
using framework::CycleState;
using framework::NodeInfo;
using framework::Status;
using nlohmann::json;

json SortedRequirements(const std::vector<api::SelectorRequirement>& requirements) {
  std::vector<json> list;
  for (const api::SelectorRequirement& requirement : requirements) {
    std::vector<std::string> values = requirement.values;
    std::sort(values.begin(), values.end());
    list.push_back(json::array({requirement.key, requirement.op, values}));
  }
  std::sort(list.begin(), list.end());
  return list;
}

json TermText(const api::NodeSelectorTerm& term) {
  return json::array(
      {SortedRequirements(term.match_expressions), SortedRequirements(term.match_fields)});
}

json AffinityText(const std::optional<api::NodeAffinity>& affinity) {
  if (!affinity) return nullptr;
  json required = nullptr;
  if (affinity->required) {
    std::vector<json> terms;
    for (const api::NodeSelectorTerm& term : affinity->required->terms) {
      terms.push_back(TermText(term));
    }
    std::sort(terms.begin(), terms.end());
    required = terms;
  }
  std::vector<json> preferred;
  for (const api::PreferredSchedulingTerm& term : affinity->preferred) {
    preferred.push_back(json::array({TermText(term.preference), term.weight}));
  }
  std::sort(preferred.begin(), preferred.end());
  return json::array({std::move(required), preferred});
}

// Whether the required affinity is met, and what is wrong with it, depends on nothing else. A node
// that did not match, and does now, has got a label that is asked for, or one on which there is a
// condition of another kind has changed.
void AddNodeLabelReads(const api::PodSpec& spec, framework::NodeLabelReads* reads) {
  for (const auto& label : spec.node_selector) reads->additions.push_back(label);
  if (!spec.node_affinity || !spec.node_affinity->required) return;
  for (const api::NodeSelectorTerm& term : spec.node_affinity->required->terms) {
    for (const api::SelectorRequirement& expression : term.match_expressions) {
      const Symbol key(expression.key);
      if (expression.op != "In") {
        reads->keys.push_back(key);
        continue;
      }
      for (const std::string& value : expression.values) {
        reads->additions.emplace_back(key, Symbol(value));
      }
    }
  }
  if (api::NodeSelector::Compile(*spec.node_affinity->required).HasErrors()) reads->others = true;
}

json NodeSelectorText(const api::PodSpec& spec) {
  if (!spec.node_selector_present) return nullptr;
  json map = json::object();
  for (const auto& [key, value] : spec.node_selector) map[key.str()] = value.view();
  return map;
}

class NodeAffinity final : public framework::Plugin,
                           public framework::PreFilterPlugin,
                           public framework::FilterPlugin,
                           public framework::PreScorePlugin,
                           public framework::ScorePlugin,
                           public framework::ScoreNormalizer,
                           public framework::EnqueueExtensions,
                           public framework::SignPlugin,
                           public framework::NodeLocalPlugin {
 public:
  NodeAffinity(AddedAffinity added, framework::Handle& handle)
      : deferred_pods_(handle),
        added_(std::move(added)),
        pre_filter_slot_(handle.NewStateSlot()),
        pre_score_slot_(handle.NewStateSlot()) {}

  std::string_view Name() const override { return kNodeAffinityName; }

  framework::PreFilterResult PreFilter(CycleState& state, const api::Pod& pod,
                                       const framework::Snapshot&) override {
    if (deferred_pods_.Exempt(pod)) return {skip_, {}};
    const bool in_pod = pod.spec->node_selector_present ||
                        (pod.spec->node_affinity && pod.spec->node_affinity->required);
    if (!in_pod && !added_.required) return {skip_, {}};
    const std::shared_ptr<CompiledNodeAffinity>& compiled = Compiled(pod);
    pre_filter_slot_.Write(state, compiled);
    if (compiled->node_names && compiled->node_names->empty()) return {conflict_, {}};
    return {{}, compiled->node_names};
  }

  Status Filter(const CycleState& state, const api::Pod& pod, const NodeInfo& node) const override {
    if (deferred_pods_.Exempt(pod)) return {};
    const api::Node& object = *node.node();
    if (added_.required && !added_.required->Matches(object.meta.labels, object.meta.name)) {
      return enforced_mismatch_;
    }
    const CompiledNodeAffinity* compiled = pre_filter_slot_.Read(state);
    const bool matches = compiled != nullptr
                             ? compiled->MatchesRequired(object)
                             : CompiledNodeAffinity(*pod.spec).MatchesRequired(object);
    return matches ? Status() : mismatch_;
  }

  Status PreScore(CycleState& state, const api::Pod& pod,
                  std::span<const NodeInfo* const>) override {
    const bool in_pod = pod.spec->node_affinity && pod.spec->node_affinity->preferred_present;
    if (!in_pod && added_.preferred.empty()) return skip_;
    const std::shared_ptr<CompiledNodeAffinity>& compiled = Compiled(pod);
    if (!compiled->preferred_error.empty()) return Status::Error(compiled->preferred_error);
    pre_score_slot_.Write(state, compiled);
    return {};
  }

  Status Score(const CycleState& state, const api::Pod& pod, const NodeInfo& node,
               int64_t* score) const override {
    const api::ObjectMeta& meta = node.node()->meta;
    *score = added_.preferred.empty() ? 0 : added_.preferred.Score(meta.labels, meta.name);
    if (const CompiledNodeAffinity* compiled = pre_score_slot_.Read(state)) {
      *score += compiled->preferred.Score(meta.labels, meta.name);
      return {};
    }
    if (!pod.spec->node_affinity) return {};
    const CompiledNodeAffinity compiled(*pod.spec);
    if (!compiled.preferred_error.empty()) return Status::Error(compiled.preferred_error);
    *score += compiled.preferred.Score(meta.labels, meta.name);
    return {};
  }

  Status NormalizeScore(const CycleState&, const api::Pod&, std::span<const NodeInfo* const>,
                        std::span<int64_t> scores) const override {
    NormalizeToMaximum(scores, false);
    return {};
  }
  bool ScalesToHighest() const override { return true; }

  std::vector<framework::EventRegistration> EventsToRegister() const override {
    const auto node = [this](const api::Pod& pod, const api::Node* before, const api::Node* after) {
      return Hint(pod, before, after);
    };
    return {{{framework::EventResource::kNode,
              framework::kActionAdd | framework::kActionUpdateNodeLabel,
              {}},
             HintOn<api::Node>(node),
             framework::HintScope::kSpec,
             AddNodeLabelReads}};
  }

  Status Sign(const api::Pod& pod, std::vector<framework::SignFragment>* fragments) const override {
    fragments->push_back({"v1.Pod.Spec.Affinity.NodeAffinity",
                          SignatureText(AffinityText(pod.spec->node_affinity))});
    fragments->push_back(
        {"v1.Pod.Spec.Affinity.NodeSelector", SignatureText(NodeSelectorText(*pod.spec))});
    return {};
  }

 private:
  // Whether the node is one that the pod was refused so far. The enforced affinity is not asked
  // about the former node.
  Result<framework::QueueingHint> Hint(const api::Pod& pod, const api::Node* before,
                                       const api::Node* after) const {
    if (after == nullptr) return framework::QueueingHint::kQueue;
    if (added_.required && !added_.required->Matches(after->meta.labels, after->meta.name)) {
      return framework::QueueingHint::kSkip;
    }
    const api::PodSpec& spec = *pod.spec;
    const bool selector_says_all = !spec.node_affinity || !spec.node_affinity->required;
    if (selector_says_all && !MatchesNodeSelector(spec.node_selector, *after)) {
      return framework::QueueingHint::kSkip;  // without compiling anything
    }
    const CompiledNodeAffinity& own = *Compiled(pod);
    if (!own.MatchesRequired(*after)) {
      const std::string error = own.RequiredError();
      if (!error.empty()) return Error{error};
      return framework::QueueingHint::kSkip;
    }
    return QueueIf(before == nullptr || !own.MatchesRequired(*before));
  }

  const std::shared_ptr<CompiledNodeAffinity>& Compiled(const api::Pod& pod) const {
    return cache_.GetOrMake(pod.spec,
                            [&pod] { return std::make_shared<CompiledNodeAffinity>(*pod.spec); });
  }
  static Status Rejection(std::string reason) {
    return {
        Code::kUnschedulableAndUnresolvable, {std::move(reason)}, std::string(kNodeAffinityName)};
  }

  const DeferredPods deferred_pods_;
  const AddedAffinity added_;
  const framework::StateSlot<CompiledNodeAffinity> pre_filter_slot_;
  const framework::StateSlot<CompiledNodeAffinity> pre_score_slot_;
  const Status skip_{Code::kSkip, {}, std::string(kNodeAffinityName)};
  const Status conflict_ = Rejection("pod affinity terms conflict");
  const Status enforced_mismatch_ =
      Rejection("node(s) didn't match scheduler-enforced node affinity");
  const Status mismatch_ = Rejection("node(s) didn't match Pod's node affinity/selector");
  mutable SpecCache<CompiledNodeAffinity> cache_;
};

}  // namespace

Result<std::unique_ptr<framework::Plugin>> NewNodeAffinity(const config::PluginArgs& args,
                                                           framework::Handle& handle) {
  Result<AddedAffinity> added = AddedAffinityOf(args);
  if (!added.ok()) return added.error();
  return std::unique_ptr<framework::Plugin>(
      std::make_unique<NodeAffinity>(std::move(added).value(), handle));
}

}  // namespace ks::plugins
