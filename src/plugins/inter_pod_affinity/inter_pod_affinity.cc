// SPDX-License-Identifier: Apache-2.0
#include "plugins/inter_pod_affinity/inter_pod_affinity.h"

#include <algorithm>
#include <string>
#include <utility>
#include <vector>

#include <nlohmann/json.hpp>

#include "framework/place_wise_plugin.h"
#include "plugins/inter_pod_affinity/existing_terms.h"
#include "plugins/inter_pod_affinity/filtering.h"
#include "plugins/inter_pod_affinity/hints.h"
#include "plugins/inter_pod_affinity/own_terms.h"
#include "plugins/kit/cross_pod/places.h"
#include "plugins/kit/deferred_pods.h"
#include "plugins/kit/signature.h"

namespace ks::plugins {
namespace {

using framework::Code;
using framework::CycleState;
using framework::NodeInfo;
using framework::PodInfo;
using framework::Snapshot;
using framework::Status;

constexpr std::string_view kHostname = "kubernetes.io/hostname";

// What PreScore prepares: upstream's table W in its parts. Threads: immutable once written.
struct ScoreState final : framework::StateData {
  struct Own {
    TermCountsPtr counts;
    int64_t weight = 0;
  };
  std::vector<Own> own;                                // the pod's preferred terms
  std::vector<TallySum> existing;                      // by key
  std::shared_ptr<const IncomingSums> existing_owner;  // of its tallies; may be null

  int64_t At(const NodeInfo& node) const {
    int64_t sum = 0;
    for (const Own& term : own) {
      sum += term.weight * term.counts->Count(term.counts->topology().DomainOf(node.slot()));
    }
    for (const TallySum& tallies : existing) sum += tallies.At(node);
    return sum;
  }
  // As framework::PlaceWisePlugin.
  bool FindPlaces(std::vector<uint64_t>* basis) const {
    for (const Own& term : own) {
      if (!AppendBasisOf(*term.counts, term.counts->topology(), false, basis)) return false;
    }
    return std::all_of(existing.begin(), existing.end(),
                       [basis](const TallySum& sum) { return sum.FindPlaces(basis); });
  }
  void AppendPlace(const NodeInfo& node, std::vector<int64_t>* place) const {
    for (const Own& term : own) {
      plugins::AppendPlace(
          term.counts->topology(), false, node,
          [&term](int32_t domain) { return term.counts->Count(domain); }, place);
    }
    for (const TallySum& sum : existing) sum.AppendPlace(node, place);
  }
};

// Adds to the sum of the tally's key, making one if there is none.
void AddTally(const Topology& topology, const Tally& tally, bool per_node,
              std::vector<TallySum>* sums) {
  auto sum = std::find_if(sums->begin(), sums->end(), [&topology](const TallySum& candidate) {
    return &candidate.topology() == &topology;
  });
  if (sum == sums->end()) sum = sums->emplace(sums->end(), topology, per_node);
  sum->Add(tally);
}

class InterPodAffinity final : public framework::Plugin,
                               public framework::PreFilterPlugin,
                               public framework::PreFilterExtensions,
                               public framework::FilterPlugin,
                               public framework::PreScorePlugin,
                               public framework::ScorePlugin,
                               public framework::ScoreNormalizer,
                               public framework::EnqueueExtensions,
                               public framework::SignPlugin,
                               public framework::PlaceWisePlugin,
                               public framework::OptionalKindReader {
 public:
  InterPodAffinity(const config::InterPodAffinityArgs& args, framework::Handle& handle,
                   size_t many_terms)
      : args_(args),
        handle_(handle),
        fast_path_(handle.gates().Enabled(config::Gate::kInterPodAffinityHostnameFastPath)),
        deferred_pods_(handle),
        filter_slot_(handle.NewStateSlot()),
        score_slot_(handle.NewStateSlot()),
        own_terms_(topologies_),
        existing_terms_(topologies_, {.hard_weight = args.hard_pod_affinity_weight,
                                      .per_node_key = hostname_,
                                      .has_per_node_key = fast_path_,
                                      .many_groups = many_terms}) {}

  std::string_view Name() const override { return kInterPodAffinityName; }

  framework::OptionalKinds NeededKinds() const override {
    return {framework::OptionalKind::kNamespace};
  }

  framework::PreFilterResult PreFilter(CycleState& state, const api::Pod& pod,
                                       const Snapshot& snapshot) override {
    if (deferred_pods_.Exempt(pod)) return {skip_, {}};
    const OwnTermsPtr own = own_terms_.TermsOf(pod, handle_.owner_listers());
    if (!own->error.empty()) {
      return {Rejection(Code::kUnschedulableAndUnresolvable, "parsing pod: " + own->error), {}};
    }
    existing_terms_.Refresh(snapshot);
    const bool nobody_repels = FindRepelling(pod) && existing_terms_.per_node_pods() == 0;
    if (nobody_repels && !HasRequiredTerms(*pod.spec)) return {skip_, {}};

    auto tables = std::make_shared<FilterTables>();
    tables->own = own;
    tables->namespace_labels = &NamespaceLabels(pod);
    tables->existing_terms = &existing_terms_;
    tables->existing_owner = found_.owner;
    for (const TermSums* sums : found_.sums) {
      if (sums->repels.entries() == 0) continue;
      AddTally(*sums->topology, sums->repels, existing_terms_.IsPerNode(sums->topology->key()),
               &tables->existing);
    }
    PrepareAffinity(pod, snapshot, tables.get());
    for (const CountsKey& key : own->anti_affinity) {
      AddCounts(key, fast_path_ && key.key == hostname_, snapshot, &tables->anti_affinity);
    }
    filter_slot_.Write(state, std::make_shared<FilterState>(std::move(tables)));
    return {};
  }

  Status AddPod(CycleState& state, const api::Pod& pod, const PodInfo& pod_to_add,
                const NodeInfo& node) const override {
    return Simulate(state, pod, pod_to_add, node, 1);
  }

  Status RemovePod(CycleState& state, const api::Pod& pod, const PodInfo& pod_to_remove,
                   const NodeInfo& node) const override {
    return Simulate(state, pod, pod_to_remove, node, -1);
  }

  Status Filter(const CycleState& state, const api::Pod& pod, const NodeInfo& node) const override {
    const FilterState* prepared = filter_slot_.Read(state);
    if (prepared == nullptr) {
      return deferred_pods_.Exempt(pod) ? Status() : no_filter_state_;
    }
    switch (prepared->Filter(node)) {
      case FilterVerdict::kPasses:
        break;
      case FilterVerdict::kAffinity:
        return affinity_rejection_;
      case FilterVerdict::kAntiAffinity:
        return anti_affinity_rejection_;
      case FilterVerdict::kExistingAntiAffinity:
        return existing_rejection_;
    }
    return {};
  }

  bool ReadsNodes(const api::Pod&) const override { return false; }
  Status PreScore(CycleState& state, const api::Pod& pod,
                  std::span<const NodeInfo* const>) override {
    if (args_.ignore_preferred_terms_of_existing_pods && !HasPreferredTerms(*pod.spec)) {
      return skip_;
    }
    const OwnTermsPtr own = own_terms_.TermsOf(pod, handle_.owner_listers());
    if (!own->error.empty()) return Status::Error("failed to parse pod: " + own->error);
    const Snapshot& snapshot = handle_.snapshot();
    existing_terms_.Refresh(snapshot);
    auto prepared = std::make_shared<ScoreState>();
    for (const auto& [key, weight] : own->preferred) {
      TermCountsPtr counts = own_terms_.CountsOf(key, snapshot);
      if (counts->AnyMatch()) prepared->own.push_back({std::move(counts), weight});
    }
    FindGroups(pod);
    prepared->existing_owner = found_.owner;
    for (const TermSums* sums : found_.sums) {
      if (sums->attracts.entries() == 0) continue;
      AddTally(*sums->topology, sums->attracts, false, &prepared->existing);
    }
    if (prepared->own.empty() && prepared->existing.empty()) return skip_;
    score_slot_.Write(state, std::move(prepared));
    return {};
  }

  Status Score(const CycleState& state, const api::Pod&, const NodeInfo& node,
               int64_t* score) const override {
    const ScoreState* prepared = score_slot_.Read(state);
    if (prepared == nullptr) return no_score_state_;
    *score = prepared->At(node);
    return {};
  }

  Status NormalizeScore(const CycleState&, const api::Pod&, std::span<const NodeInfo* const>,
                        std::span<int64_t> scores) const override {
    if (scores.empty()) return {};
    const auto [lowest, highest] = std::minmax_element(scores.begin(), scores.end());
    const int64_t least = *lowest;
    const int64_t range = *highest - least;
    for (int64_t& score : scores) {
      // The division comes first (trap T8).
      score = range == 0 ? 0
                         : static_cast<int64_t>(
                               static_cast<double>(framework::kMaxNodeScore) *
                               (static_cast<double>(score - least) / static_cast<double>(range)));
    }
    return {};
  }

  bool FindPlaces(const CycleState& state, std::vector<uint64_t>* basis) const override {
    return FindPlacesOf(filter_slot_.Read(state), score_slot_.Read(state), basis);
  }
  void AppendPlace(const CycleState& state, const NodeInfo& node,
                   std::vector<int64_t>* place) const override {
    AppendPlaceOf(filter_slot_.Read(state), score_slot_.Read(state), node, place);
  }

  std::vector<framework::EventRegistration> EventsToRegister() const override {
    return InterPodAffinityEvents();
  }

  Status Sign(const api::Pod& pod, std::vector<framework::SignFragment>* fragments) const override {
    if (HasAffinity(*pod.spec)) return unsignable_;
    if (args_.ignore_preferred_terms_of_existing_pods) return {};
    nlohmann::json labels = nlohmann::json::object();
    for (const auto& [key, value] : pod.meta.labels) labels[key.str()] = value.view();
    fragments->push_back({"v1.Pod.Labels", SignatureText(labels)});
    return {};
  }

 private:
  static Status Rejection(Code code, std::string reason) {
    return {code, {std::move(reason)}, std::string(kInterPodAffinityName)};
  }

  const api::LabelMap& NamespaceLabels(const api::Pod& pod) const {
    static const api::LabelMap none;
    const api::Namespace* found = handle_.owner_listers().FindNamespace(pod.meta.ns);
    return found == nullptr ? none : found->meta.labels;
  }

  void FindGroups(const api::Pod& pod) {
    existing_terms_.FindMatching(pod, NamespaceLabels(pod), &found_);
  }

  // Leaves what matches in found_; whether none of it is repelling anywhere.
  bool FindRepelling(const api::Pod& pod) {
    FindGroups(pod);
    return std::all_of(found_.sums.begin(), found_.sums.end(),
                       [](const TermSums* sums) { return sums->repels.entries() == 0; });
  }

  void AddCounts(const CountsKey& key, bool per_node, const Snapshot& snapshot,
                 std::vector<OwnTable>* tables) {
    TermCountsPtr counts = own_terms_.CountsOf(key, snapshot);
    auto table = std::find_if(tables->begin(), tables->end(),
                              [&key](const OwnTable& other) { return other.key == key.key; });
    if (table == tables->end()) {
      table = tables->insert(tables->end(), {key.key, &counts->topology(), per_node, {}});
    }
    table->counts.push_back(std::move(counts));
  }

  void PrepareAffinity(const api::Pod& pod, const Snapshot& snapshot, FilterTables* tables) {
    const OwnTerms& own = *tables->own;
    if (own.affinity.empty()) return;
    static const api::LabelMap expanded;
    tables->matches_itself = MatchesAll(own.terms.required_affinity, pod, expanded);
    tables->affinity_per_node =
        fast_path_ && own.affinity.size() == 1 && own.affinity.front().key == hostname_;
    for (const CountsKey& key : own.affinity) {
      AddCounts(key, tables->affinity_per_node, snapshot, &tables->affinity);
    }
    if (!tables->affinity_per_node) return;
    tables->matching_pods = tables->affinity.front().counts.front()->total();
  }

  Status Simulate(CycleState& state, const api::Pod& pod, const PodInfo& other,
                  const NodeInfo& node, int sign) const {
    FilterState* prepared = filter_slot_.Mutable(state);
    if (prepared == nullptr) return no_filter_state_;
    prepared->Simulate(pod, other.pod(), node, sign);
    return {};
  }

  const config::InterPodAffinityArgs args_;
  const framework::Handle& handle_;
  const bool fast_path_;
  const DeferredPods deferred_pods_;
  const Symbol hostname_{kHostname};
  const framework::StateSlot<FilterState> filter_slot_;
  const framework::StateSlot<ScoreState> score_slot_;
  const Status skip_{Code::kSkip, {}, std::string(kInterPodAffinityName)};
  const Status affinity_rejection_ =
      Rejection(Code::kUnschedulableAndUnresolvable, "node(s) didn't match pod affinity rules");
  const Status anti_affinity_rejection_ =
      Rejection(Code::kUnschedulable, "node(s) didn't match pod anti-affinity rules");
  const Status existing_rejection_ =
      Rejection(Code::kUnschedulable, "node(s) didn't satisfy existing pods anti-affinity rules");
  const Status unsignable_ =
      Rejection(Code::kUnschedulable, "pods with InterPodAffinity are not signable");
  const Status no_filter_state_ =
      Status::Error("error reading \"PreFilterInterPodAffinity\" from cycleState: not found");
  const Status no_score_state_ =
      Status::Error("failed to read \"PreScoreInterPodAffinity\" from cycleState: not found");

  Topologies topologies_;
  OwnTermsCache own_terms_;
  ExistingTerms existing_terms_;
  ExistingTerms::Matching found_;  // by the last search; scratch space
};

}  // namespace

Result<std::unique_ptr<framework::Plugin>> NewInterPodAffinity(const config::PluginArgs& args,
                                                               framework::Handle& handle) {
  return NewInterPodAffinityOfMany(args, handle, ExistingTerms::Options().many_groups);
}

Result<std::unique_ptr<framework::Plugin>> NewInterPodAffinityOfMany(const config::PluginArgs& args,
                                                                     framework::Handle& handle,
                                                                     size_t many_terms) {
  const auto* given = std::get_if<config::InterPodAffinityArgs>(&args);
  return std::unique_ptr<framework::Plugin>(std::make_unique<InterPodAffinity>(
      given == nullptr ? config::InterPodAffinityArgs() : *given, handle, many_terms));
}

}  // namespace ks::plugins
