// SPDX-License-Identifier: Apache-2.0
#include "plugins/inter_pod_affinity/term_counts.h"

#include <utility>

#include <absl/hash/hash.h>

namespace ks::plugins {
namespace {

constexpr size_t kBytesPerValue = 100;  // of a selector: a symbol's text and its place
// So many are enough to leave out most pods.
constexpr size_t kFewLabels = 8;
// More than these are looked up by label.
constexpr size_t kMostAskedInTurn = 4;

}  // namespace

CountedTerms::CountedTerms(std::vector<CountedTerm> terms) : terms_(std::move(terms)) {
  size_t values = 0;
  for (uint32_t i = 0; i < terms_.size(); ++i) {
    CountedTerm& counted = terms_[i];
    for (AffinityTerm& term : counted.all) {
      term.key = Symbol();
      values += 1 + term.namespaces.size();
      for (const api::Requirement& requirement : term.labels.requirements()) {
        values += 1 + requirement.values.size();
        if (requirement.many_values) values += requirement.many_values->all().size();
      }
    }
    hash_ = absl::HashOf(hash_, counted.all, counted.weight);
    if (terms_.size() <= kMostAskedInTurn) continue;
    const std::vector<framework::Label> labels = NeededLabels(counted);
    (labels.empty() ? others_ : by_label_[labels.front()]).push_back(i);
  }
  memory_bytes_ = values * kBytesPerValue;
}

CountedTerms::Match CountedTerms::Of(const api::Pod& pod) const {
  Match match;
  if (terms_.size() <= kMostAskedInTurn) {
    for (uint32_t i = 0; i < terms_.size(); ++i) Add(i, pod, &match);
    return match;
  }
  for (const uint32_t number : others_) Add(number, pod, &match);
  if (by_label_.empty()) return match;
  for (const auto& [key, value] : pod.meta.labels) {
    const auto found = by_label_.find(framework::Label{key, value});
    if (found == by_label_.end()) continue;
    for (const uint32_t number : found->second) Add(number, pod, &match);
  }
  return match;
}

void CountedTerms::Add(uint32_t number, const api::Pod& pod, Match* match) const {
  static const api::LabelMap no_labels;
  const CountedTerm& term = terms_[number];
  if (!MatchesAll(term.all, pod, no_labels)) return;
  ++match->terms;
  match->weight += term.weight;
}

std::vector<framework::Label> CountedTerms::NeededLabels(const CountedTerm& term) {
  std::vector<framework::Label> labels;
  for (const AffinityTerm& each : term.all) {
    framework::AppendNeededLabels(each.labels, &labels);
    if (labels.size() >= kFewLabels) break;
  }
  return labels;
}

std::vector<framework::Label> CountedTerms::NeededLabels() const {
  return terms_.size() == 1 ? NeededLabels(terms_.front()) : std::vector<framework::Label>();
}

TermCounts::TermCounts(TopologyPtr topology, CountingHelp& help, CountedTermsPtr terms)
    : topology_(std::move(topology)),
      terms_(std::move(terms)),
      reader_(help, terms_->NeededLabels()) {}

void TermCounts::Refresh(const framework::Snapshot& snapshot) {
  if (epoch_ != topology_->epoch()) reader_.Forget();
  snapshot_ = &snapshot;
  reader_.Follow(snapshot, *this);
  snapshot_ = nullptr;
  counted_ = false;
}

size_t TermCounts::MemoryBytes() const {
  return sizeof *this + terms_->MemoryBytes() + by_domain_.MemoryBytes() + by_slot_.MemoryBytes();
}

void TermCounts::Restart(size_t) {
  epoch_ = topology_->epoch();
  by_domain_ = {};
  by_slot_ = {};
  nonzero_ = 0;
  total_ = 0;
  matches_ = 0;
  counted_ =
      reader_.ForEachGroup(terms_->size(), [this](const framework::PodsByLabels::Group& group) {
        const CountedTerms::Match each = terms_->Of(group.like.pod());
        if (each.terms == 0) return;
        for (const auto& [slot, pods] : group.on_slot) {
          Add(slot, topology_->DomainOf(slot), pods * each.terms, pods * each.weight);
        }
      });
}

void TermCounts::OnNode(uint32_t slot, const framework::NodeInfo* node) {
  if (counted_) return;
  const OnSlot before = by_slot_.At(static_cast<int32_t>(slot));
  Add(slot, before.domain, -before.matches, -before.weight);
  if (node == nullptr) return;
  int32_t matches = 0;
  int64_t weight = 0;
  for (const framework::PodInfoPtr& pod : node->pods()) {
    const CountedTerms::Match match = terms_->Of(pod->pod());
    matches += match.terms;
    weight += match.weight;
  }
  Add(slot, topology_->DomainOf(slot), matches, weight);
}

void TermCounts::OnPod(uint32_t slot, const framework::PodInfo& pod, int sign) {
  if (slot >= snapshot_->slots() || snapshot_->AtSlot(slot) == nullptr) return;
  const CountedTerms::Match match = terms_->Of(pod.pod());
  Add(slot, topology_->DomainOf(slot), sign * match.terms, sign * match.weight);
}

void TermCounts::Add(uint32_t slot, int32_t domain, int32_t matches, int64_t weight) {
  if (matches == 0) return;
  total_ += weight;
  by_slot_.Update(static_cast<int32_t>(slot), [=](OnSlot& here) {
    here.weight += weight;
    here.matches += matches;
    here.domain = here.matches == 0 ? 0 : domain;
  });
  if (domain == kNoDomain) return;
  matches_ += matches;
  by_domain_.Update(domain, [this, weight](int64_t& count) {
    if (count != 0) --nonzero_;
    count += weight;
    if (count != 0) ++nonzero_;
  });
}

}  // namespace ks::plugins
