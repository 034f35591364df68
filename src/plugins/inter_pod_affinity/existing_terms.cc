// SPDX-License-Identifier: Apache-2.0
#include "plugins/inter_pod_affinity/existing_terms.h"

#include <algorithm>

#include "base/check.h"
#include "base/text_hash.h"

namespace ks::plugins {

void ExistingTerms::Refresh(const framework::Snapshot& snapshot) {
  for (const auto& [key, entry] : keys_) {
    if (topologies_.Get(key, snapshot)->epoch() != entry.epoch) reader_.Forget();
  }
  snapshot_ = &snapshot;
  reader_.Follow(snapshot, *this);
  snapshot_ = nullptr;
}

template <class Visit>
void ExistingTerms::ForEachCandidates(const api::Pod& pod, Visit visit) const {
  if (!by_label_.empty()) {
    for (const auto& [key, value] : pod.meta.labels) {
      const auto found = by_label_.find({key, value});
      if (found != by_label_.end()) visit(found->second);
    }
  }
  const auto found = by_namespace_.find(pod.meta.ns);
  if (found != by_namespace_.end()) visit(found->second);
  visit(others_);
}

void ExistingTerms::FindMatching(const api::Pod& pod, const api::LabelMap& namespace_labels,
                                 Matching* found) {
  found->sums.clear();
  found->owner = nullptr;
  size_t candidates = 0;
  ForEachCandidates(pod, [&candidates](const Groups& groups) { candidates += groups.size(); });
  if (candidates >= options_.many_groups) {
    if (const SumsPtr sums = SumsFor(pod, namespace_labels)) {
      for (const TermSums& each : sums->by_key()) found->sums.push_back(&each);
      found->owner = sums;
      return;
    }
  }
  if (groups_.size() < options_.many_groups) incoming_.clear();
  ForEachCandidates(pod, [&](const Groups& groups) {
    for (const Listed& listed : groups) {
      if (listed.group->term->Matches(pod, namespace_labels)) found->sums.push_back(listed.group);
    }
  });
}

// Pods with labels of their own, as those of StatefulSets, would only push out the others' sums.
bool ExistingTerms::AnotherHasAsked(const api::Pod& pod) {
  constexpr size_t kRemembered = 64;
  Asker asker{.like = absl::HashOf(pod.meta.ns), .uid = HashText(pod.meta.uid)};
  for (const auto& [key, value] : pod.meta.labels) {
    asker.like = absl::HashOf(asker.like, key, value);
  }
  const auto known = std::find_if(askers_.begin(), askers_.end(), [&asker](const Asker& other) {
    return other.like == asker.like;
  });
  if (known != askers_.end()) return known->uid != asker.uid;
  askers_.push_front(asker);
  if (askers_.size() > kRemembered) askers_.pop_back();
  return false;
}

ExistingTerms::SumsPtr ExistingTerms::SumsFor(const api::Pod& pod,
                                              const api::LabelMap& namespace_labels) {
  const auto known = std::find_if(incoming_.begin(), incoming_.end(), [&](const SumsPtr& sums) {
    return sums->IsFor(pod, namespace_labels);
  });
  if (known != incoming_.end()) {
    std::rotate(incoming_.begin(), known, known + 1);
    return incoming_.front();
  }
  if (!AnotherHasAsked(pod)) return nullptr;
  auto made = std::make_shared<IncomingSums>(pod, namespace_labels);
  ForEachCandidates(pod, [&made](const Groups& groups) {
    for (const Listed& listed : groups) {
      if (!made->IsMatchedBy(*listed.group->term)) continue;
      TermSums& sums = made->Of(listed.group->topology);
      sums.repels.Add(listed.group->repels);
      sums.attracts.Add(listed.group->attracts);
    }
  });
  incoming_.push_front(std::move(made));
  if (incoming_.size() > kMostIncoming) incoming_.pop_back();
  return incoming_.front();
}

void ExistingTerms::Restart(size_t slots) {
  slots_.assign(slots, Slot());
  carriers_.clear();
  groups_.clear();
  keys_.clear();
  by_label_.clear();
  by_namespace_.clear();
  others_.clear();
  incoming_.clear();
  per_node_pods_ = 0;
}

void ExistingTerms::OnNode(uint32_t slot, const framework::NodeInfo* node) {
  if (slot >= slots_.size()) slots_.resize(slot + 1);
  while (!slots_[slot].pods.empty()) RemovePod(slot, slots_[slot].pods.size() - 1);
  slots_[slot].domains.clear();
  slots_[slot].listed = node != nullptr;
  if (node == nullptr) return;
  for (const framework::PodInfoPtr& pod : node->pods_with_affinity()) AddPod(slot, pod->pod());
}

void ExistingTerms::OnPod(uint32_t slot, const framework::PodInfo& pod, int sign) {
  if (!HasAffinity(*pod.pod().spec)) return;
  if (slot >= slots_.size() || !slots_[slot].listed) return;
  if (sign > 0) {
    AddPod(slot, pod.pod());
    return;
  }
  const std::vector<Carriers::value_type*>& pods = slots_[slot].pods;
  const auto carrier = carriers_.find({pod.pod().spec.get(), pod.pod().meta.ns});
  KS_CHECK(carrier != carriers_.end(), "a pod leaves that did not join");
  const auto found = std::find(pods.begin(), pods.end(), &*carrier);
  KS_CHECK(found != pods.end(), "a pod leaves that did not join");
  RemovePod(slot, static_cast<size_t>(found - pods.begin()));
}

void ExistingTerms::AddPod(uint32_t slot, const api::Pod& pod) {
  Carriers::value_type& entry = CarrierOf(pod);
  Apply(slot, entry.second, 1);
  ++entry.second.pods;
  slots_[slot].pods.push_back(&entry);
}

void ExistingTerms::RemovePod(uint32_t slot, size_t place) {
  std::vector<Carriers::value_type*>& pods = slots_[slot].pods;
  Carriers::value_type& entry = *pods[place];
  pods[place] = pods.back();
  pods.pop_back();
  Apply(slot, entry.second, -1);
  if (--entry.second.pods > 0) return;
  for (const Use& use : entry.second.uses) DropUse(*use.group);
  const CarrierKey key = entry.first;
  carriers_.erase(key);
}

void ExistingTerms::Apply(uint32_t slot, const Carrier& carrier, int sign) {
  if (carrier.has_per_node_term) per_node_pods_ += sign;
  for (const Use& use : carrier.uses) {
    const int32_t domain = DomainIn(slots_[slot], slot, use.group->topology);
    if (domain == kNoDomain) continue;
    const bool per_node = use.repels && IsPerNode(use.group->term->key);
    Apply(use, per_node ? static_cast<int32_t>(slot) : domain, sign);
  }
}

void ExistingTerms::Apply(const Use& use, int32_t place, int sign) {
  const auto add = [&](TermSums& sums) {
    if (use.repels) {
      sums.repels.Add(place, 1, sign);
    } else {
      sums.attracts.Add(place, use.weight, sign);
    }
  };
  add(*use.group);
  for (const SumsPtr& sums : incoming_) {
    if (sums->IsMatchedBy(*use.group->term)) add(sums->Of(use.group->topology));
  }
}

// What was added in one domain is taken from there, although the topology may know better already.
int32_t ExistingTerms::DomainIn(Slot& slot, uint32_t number, const TopologyPtr& topology) {
  for (const auto& [known, domain] : slot.domains) {
    if (known == topology) return domain;
  }
  slot.domains.emplace_back(topology, topology->DomainOf(number));
  return slot.domains.back().second;
}

ExistingTerms::Carriers::value_type& ExistingTerms::CarrierOf(const api::Pod& pod) {
  const auto [it, inserted] = carriers_.try_emplace({pod.spec.get(), pod.meta.ns});
  if (!inserted) return *it;
  Carrier& carrier = it->second;
  carrier.spec = pod.spec;
  const PodTerms terms = ParseTerms(*pod.spec, pod.meta.ns, nullptr);
  for (const AffinityTerm& term : terms.required_anti_affinity) {
    if (IsPerNode(term.key)) carrier.has_per_node_term = true;
    AddUse(carrier, term, true, 1);
  }
  if (options_.hard_weight > 0) {
    for (const AffinityTerm& term : terms.required_affinity) {
      AddUse(carrier, term, false, options_.hard_weight);
    }
  }
  for (const WeightedAffinityTerm& preferred : terms.preferred_affinity) {
    AddUse(carrier, preferred.term, false, preferred.weight);
  }
  for (const WeightedAffinityTerm& preferred : terms.preferred_anti_affinity) {
    AddUse(carrier, preferred.term, false, -preferred.weight);
  }
  return *it;
}

void ExistingTerms::AddUse(Carrier& carrier, const AffinityTerm& term, bool repels,
                           int32_t weight) {
  if (term.labels.MatchesNothing()) return;
  const auto [it, inserted] = groups_.try_emplace(term);
  TermGroup& group = it->second;
  if (inserted) {
    const auto [key, is_new] = keys_.try_emplace(term.key);
    if (is_new) {
      key->second.topology = topologies_.Get(term.key, *snapshot_);
      key->second.epoch = key->second.topology->epoch();
    }
    ++key->second.groups;
    group.term = &it->first;
    group.topology = key->second.topology;
    group.pinned = FindPin(term);
    ForEachList(group, [&group](Groups& list) {
      const auto number = static_cast<uint32_t>(group.places.size());
      group.places.push_back(static_cast<uint32_t>(list.size()));
      list.push_back({&group, number});
    });
  }
  ++group.uses;
  carrier.uses.push_back({&group, repels, weight});
}

void ExistingTerms::DropUse(TermGroup& group) {
  if (--group.uses > 0) return;
  ForEachList(group, [&group, number = size_t{0}](Groups& list) mutable {
    const uint32_t place = group.places[number++];
    const Listed last = list.back();
    list[place] = last;
    last.group->places[last.number] = place;
    list.pop_back();
  });
  const auto key = keys_.find(group.term->key);
  if (--key->second.groups == 0) keys_.erase(key);
  groups_.erase(groups_.find(*group.term));
}

template <class Visit>
void ExistingTerms::ForEachList(const TermGroup& group, Visit visit) {
  const AffinityTerm& term = *group.term;
  const auto visit_in = [&visit](auto& lists, const auto& key) {
    const auto it = lists.try_emplace(key).first;
    visit(it->second);
    if (it->second.empty()) lists.erase(it);
  };
  if (group.pinned >= 0) {
    const api::Requirement& pin = term.labels.requirements()[static_cast<size_t>(group.pinned)];
    Symbol last;
    bool first = true;
    for (const Symbol& value : pin.values) {
      if (first || value != last) visit_in(by_label_, std::pair(pin.key, value));
      first = false;
      last = value;
    }
  } else if (term.namespace_selector.MatchesNothing()) {
    for (const Symbol& name : term.namespaces) visit_in(by_namespace_, name);
  } else {
    visit(others_);
  }
}

// The requirement whose labels fewest other groups ask for. Only In lists, of few values: a pod has
// one value of a key, so that it meets the group at most once.
int32_t ExistingTerms::FindPin(const AffinityTerm& term) const {
  int32_t best = -1;
  size_t fewest = 0;
  const std::vector<api::Requirement>& requirements = term.labels.requirements();
  for (size_t i = 0; i < requirements.size(); ++i) {
    if (requirements[i].op != api::Requirement::Op::kIn || requirements[i].many_values) continue;
    size_t others = 0;
    for (const Symbol& value : requirements[i].values) {
      const auto found = by_label_.find({requirements[i].key, value});
      others += 1 + (found == by_label_.end() ? 0 : found->second.size());
    }
    if (best >= 0 && others >= fewest) continue;
    best = static_cast<int32_t>(i);
    fewest = others;
  }
  return best;
}

}  // namespace ks::plugins
