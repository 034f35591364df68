// SPDX-License-Identifier: Apache-2.0
#include "testing/affinity_reference.h"

#include <algorithm>

namespace ks::testing {
namespace {

const std::string kHostname = "kubernetes.io/hostname";

const api::PodAffinityTerm& TermOf(const api::PodAffinityTerm& term) { return term; }
const api::PodAffinityTerm& TermOf(const api::WeightedPodAffinityTerm& term) { return term.term; }
int32_t WeightOf(const api::PodAffinityTerm&) { return 0; }
int32_t WeightOf(const api::WeightedPodAffinityTerm& term) { return term.weight; }

const Symbol* ValueOn(const framework::NodeInfo& node, const std::string& key) {
  return node.node()->meta.labels.Find(Symbol(key));
}

}  // namespace

template <class Term>
std::vector<AffinityReference::Parsed> AffinityReference::ParseList(
    const std::vector<Term>& list, const api::Pod& owner, const std::string& name,
    std::vector<std::string>* errors) {
  std::vector<Parsed> parsed;
  for (const Term& each : list) {
    const api::PodAffinityTerm& term = TermOf(each);
    for (const auto& selector : {term.label_selector, term.namespace_selector}) {
      const auto compiled = api::LabelSelector::Compile(selector);
      if (compiled.ok()) continue;
      errors->push_back(name + "Terms: " + compiled.error().message);
      return {};
    }
    Parsed& entry = parsed.emplace_back();
    entry.labels = api::LabelSelector::Compile(term.label_selector).value();
    entry.namespaces = api::LabelSelector::Compile(term.namespace_selector).value();
    for (const Symbol& ns : term.namespaces) entry.names.push_back(ns.str());
    if (entry.names.empty() && !term.namespace_selector) entry.names = {owner.meta.ns.str()};
    entry.key = term.topology_key.str();
    entry.weight = WeightOf(each);
  }
  return parsed;
}

AffinityReference::Lists AffinityReference::Parse(const api::Pod& owner,
                                                  std::vector<std::string>* errors) {
  const api::PodAffinity affinity = owner.spec->pod_affinity.value_or(api::PodAffinity());
  const api::PodAffinity anti = owner.spec->pod_anti_affinity.value_or(api::PodAffinity());
  Lists lists;
  lists.affinity = ParseList(affinity.required, owner, "requiredAffinity", errors);
  lists.anti_affinity = ParseList(anti.required, owner, "requiredAntiAffinity", errors);
  lists.preferred = ParseList(affinity.preferred, owner, "preferredAffinity", errors);
  lists.preferred_anti = ParseList(anti.preferred, owner, "preferredAntiAffinity", errors);
  return lists;
}

bool AffinityReference::Matches(const Parsed& term, const api::Pod& pod,
                                const api::LabelMap& labels) {
  const bool named =
      std::find(term.names.begin(), term.names.end(), pod.meta.ns.str()) != term.names.end();
  return (named || term.namespaces.Matches(labels)) && term.labels.Matches(pod.meta.labels);
}

// After expansion a selector is {} or null.
bool AffinityReference::OwnMatches(const Parsed& term, const api::Pod& pod) const {
  return Matches(term, pod, {});
}

bool AffinityReference::OwnMatchesAll(const api::Pod& pod) const {
  for (const Parsed& term : own_.affinity) {
    if (!OwnMatches(term, pod)) return false;
  }
  return true;
}

void AffinityReference::Expand(std::vector<Parsed>* terms) const {
  for (Parsed& term : *terms) {
    if (term.namespaces.MatchesNothing() || term.namespaces.Empty()) continue;
    for (const api::NamespacePtr& ns : listers_.Namespaces()) {
      if (term.namespaces.Matches(ns->meta.labels)) term.names.push_back(ns->meta.name);
    }
    term.namespaces = api::LabelSelector();
  }
}

bool AffinityReference::OnNodeItself(const std::string& key) const {
  return options_.fast_path && key == kHostname;
}

void AffinityReference::Count(Table* table, const std::string& key, const framework::NodeInfo& node,
                              int64_t amount, bool erase_zero) {
  const Symbol* value = ValueOn(node, key);
  if (value == nullptr) return;
  int64_t& count = (*table)[{key, value->str()}];
  count += amount;
  if (count == 0 && erase_zero) table->erase({key, value->str()});
}

AffinityReference::AffinityReference(const framework::Snapshot& snapshot,
                                     const framework::OwnerListers& listers,
                                     const AffinityOptions& options, const api::Pod& pod)
    : snapshot_(snapshot), listers_(listers), options_(options), pod_(pod) {
  std::vector<std::string> errors;
  own_ = Parse(pod, &errors);
  if (!errors.empty()) {
    error_ = "parsing pod: ";
    for (const std::string& error : errors) {
      error_ += errors.size() == 1 ? error : (&error == errors.data() ? "[" : ", ") + error;
    }
    if (errors.size() > 1) error_ += "]";
    return;
  }
  for (auto* list : {&own_.affinity, &own_.anti_affinity, &own_.preferred, &own_.preferred_anti}) {
    Expand(list);
  }
  const api::Namespace* ns = listers.FindNamespace(pod.meta.ns);
  if (ns != nullptr) namespace_labels_ = ns->meta.labels;
  all_hostname_ = options.fast_path && !own_.affinity.empty() &&
                  std::all_of(own_.affinity.begin(), own_.affinity.end(),
                              [](const Parsed& term) { return term.key == kHostname; });
  for (const framework::NodeInfo* node : snapshot.nodes()) {
    for (const framework::PodInfoPtr& other : node->pods()) Simulate(other->pod(), *node, 1);
  }
}

void AffinityReference::Simulate(const api::Pod& other, const framework::NodeInfo& node, int sign) {
  std::vector<std::string> ignored;
  for (const Parsed& term : Parse(other, &ignored).anti_affinity) {
    if (OnNodeItself(term.key)) {
      hostname_carrier_ = true;
    } else if (Matches(term, pod_, namespace_labels_)) {
      Count(&existing_, term.key, node, sign, true);
    }
  }
  if (!own_.affinity.empty() && OwnMatchesAll(other)) {
    matching_ += sign;
    for (const Parsed& term : own_.affinity) Count(&affinity_, term.key, node, sign, true);
  }
  for (const Parsed& term : own_.anti_affinity) {
    if (!OnNodeItself(term.key) && OwnMatches(term, other)) {
      Count(&anti_affinity_, term.key, node, sign, true);
    }
  }
}

bool AffinityReference::PreFilterSkips() const {
  const auto& affinity = pod_.spec->pod_affinity;
  const auto& anti = pod_.spec->pod_anti_affinity;
  return existing_.empty() && !hostname_carrier_ && (!affinity || affinity->required.empty()) &&
         (!anti || anti->required.empty());
}

std::string AffinityReference::Filter(const framework::NodeInfo& node) const {
  if (!SatisfiesAffinity(node)) {
    return "UnschedulableAndUnresolvable: node(s) didn't match pod affinity rules";
  }
  if (Repelled(node)) return "Unschedulable: node(s) didn't match pod anti-affinity rules";
  if (ExistingRepel(node)) {
    return "Unschedulable: node(s) didn't satisfy existing pods anti-affinity rules";
  }
  return "Success";
}

bool AffinityReference::SatisfiesAffinity(const framework::NodeInfo& node) const {
  if (own_.affinity.empty()) return true;
  bool witnessed = true;
  for (const Parsed& term : own_.affinity) {
    const Symbol* value = ValueOn(node, term.key);
    if (value == nullptr) return false;
    const auto found = affinity_.find({term.key, value->str()});
    witnessed &= found != affinity_.end() && found->second > 0;
  }
  if (!all_hostname_) return witnessed || (affinity_.empty() && OwnMatchesAll(pod_));
  for (const framework::PodInfoPtr& other : node.pods()) {
    if (OwnMatchesAll(other->pod())) return true;
  }
  return matching_ <= 0 && OwnMatchesAll(pod_);
}

bool AffinityReference::Repelled(const framework::NodeInfo& node) const {
  for (const Parsed& term : own_.anti_affinity) {
    const Symbol* value = ValueOn(node, term.key);
    if (value == nullptr) continue;
    if (!OnNodeItself(term.key)) {
      const auto found = anti_affinity_.find({term.key, value->str()});
      if (found != anti_affinity_.end() && found->second > 0) return true;
      continue;
    }
    for (const framework::PodInfoPtr& other : node.pods()) {
      if (OwnMatches(term, other->pod())) return true;
    }
  }
  return false;
}

bool AffinityReference::ExistingRepel(const framework::NodeInfo& node) const {
  for (const auto& [key, value] : node.node()->meta.labels) {
    const auto found = existing_.find({key.str(), value.str()});
    if (found != existing_.end() && found->second > 0) return true;
    if (!OnNodeItself(key.str())) continue;
    for (const framework::PodInfoPtr& other : node.pods()) {
      std::vector<std::string> ignored;
      for (const Parsed& term : Parse(other->pod(), &ignored).anti_affinity) {
        if (term.key == kHostname && Matches(term, pod_, namespace_labels_)) return true;
      }
    }
  }
  return false;
}

std::optional<std::vector<int64_t>> AffinityReference::Scores() const {
  const auto& affinity = pod_.spec->pod_affinity;
  const auto& anti = pod_.spec->pod_anti_affinity;
  const bool own_preferred =
      (affinity && !affinity->preferred.empty()) || (anti && !anti->preferred.empty());
  if (options_.ignore_preferred && !own_preferred) return std::nullopt;
  Table sums;
  for (const framework::NodeInfo* node : snapshot_.nodes()) {
    for (const framework::PodInfoPtr& info : node->pods()) {
      const api::Pod& other = info->pod();
      const auto add_own = [&](const std::vector<Parsed>& terms, int sign) {
        for (const Parsed& term : terms) {
          if (OwnMatches(term, other)) Count(&sums, term.key, *node, sign * term.weight, false);
        }
      };
      add_own(own_.preferred, 1);
      add_own(own_.preferred_anti, -1);
      std::vector<std::string> ignored;
      const Lists its = Parse(other, &ignored);
      const auto add_its = [&](const std::vector<Parsed>& terms, int64_t sign, int64_t fixed) {
        for (const Parsed& term : terms) {
          if (!Matches(term, pod_, namespace_labels_)) continue;
          Count(&sums, term.key, *node, fixed != 0 ? fixed : sign * term.weight, false);
        }
      };
      if (options_.hard_weight > 0) add_its(its.affinity, 1, options_.hard_weight);
      add_its(its.preferred, 1, 0);
      add_its(its.preferred_anti, -1, 0);
    }
  }
  if (sums.empty()) return std::nullopt;
  std::vector<int64_t> scores;
  for (const framework::NodeInfo* node : snapshot_.nodes()) {
    int64_t score = 0;
    for (const auto& [key, value] : node->node()->meta.labels) {
      const auto found = sums.find({key.str(), value.str()});
      if (found != sums.end()) score += found->second;
    }
    scores.push_back(score);
  }
  return scores;
}

std::vector<int64_t> AffinityReference::Normalize(std::vector<int64_t> raw) {
  if (raw.empty()) return raw;
  const int64_t mn = *std::min_element(raw.begin(), raw.end());
  const int64_t mx = *std::max_element(raw.begin(), raw.end());
  for (int64_t& score : raw) {
    const double share =
        mx == mn ? 0 : static_cast<double>(score - mn) / static_cast<double>(mx - mn);
    score = static_cast<int64_t>(100.0 * share);
  }
  return raw;
}

}  // namespace ks::testing
