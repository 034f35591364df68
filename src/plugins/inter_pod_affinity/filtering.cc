// SPDX-License-Identifier: Apache-2.0
#include "plugins/inter_pod_affinity/filtering.h"

#include <algorithm>
#include <optional>

namespace ks::plugins {
namespace {

using framework::NodeInfo;

// Absent when the node lacks the key.
std::optional<TablePlace> PlaceOf(const Symbol& key, bool per_node, const NodeInfo& node) {
  const Symbol* value = node.node()->meta.labels.Find(key);
  if (value == nullptr) return std::nullopt;
  if (per_node) return TablePlace{key, Symbol(), node.slot()};
  return TablePlace{key, *value, 0};
}

int64_t DifferenceAt(const TableDifferences& differences, const OwnTable& table,
                     const NodeInfo& node) {
  if (differences.empty()) return 0;
  const std::optional<TablePlace> place = PlaceOf(table.key, table.per_node, node);
  return place ? differences.At(*place) : 0;
}

}  // namespace

void TableDifferences::Add(const TablePlace& place, int64_t difference) {
  const auto found = std::find_if(entries_.begin(), entries_.end(),
                                  [&](const Entry& entry) { return entry.place == place; });
  if (found == entries_.end()) {
    entries_.push_back({place, difference});
    return;
  }
  found->difference += difference;
  if (found->difference == 0) entries_.erase(found);
}

int64_t TableDifferences::At(const TablePlace& place) const {
  const auto found = std::find_if(entries_.begin(), entries_.end(),
                                  [&](const Entry& entry) { return entry.place == place; });
  return found == entries_.end() ? 0 : found->difference;
}

int64_t OwnTable::At(const NodeInfo& node) const {
  int64_t sum = fixed;
  for (const TermCountsPtr& count : counts) {
    sum += per_node ? count->CountOn(node.slot()) : count->Count(topology->DomainOf(node.slot()));
  }
  return sum;
}

bool OwnTable::FindPlaces(std::vector<uint64_t>* basis) const {
  const auto add_serials = [this](auto* to) {
    for (const TermCountsPtr& count : counts) to->push_back(count->serial());
  };
  return fixed == 0 && AppendBasis(*topology, per_node, add_serials, basis);
}

void OwnTable::AppendPlace(const NodeInfo& node, std::vector<int64_t>* place) const {
  plugins::AppendPlace(
      *topology, per_node, node, [&](int32_t) { return At(node); }, place);
}

// Whether nobody matches the affinity is a question about all domains, so that its counters are
// copied; of the others one number counts.
FilterTables FilterTables::Fixed(const NodeInfo& node) const {
  FilterTables fixed = *this;
  for (TallySum& sum : fixed.existing) sum = sum.Fixed(node);
  const bool asks_all = matches_itself && !affinity_per_node;
  const auto fix = [&](OwnTable& table, bool copy) {
    if (copy) {
      for (TermCountsPtr& count : table.counts) count = std::make_shared<TermCounts>(*count);
      return;
    }
    table.fixed = table.topology->DomainOf(node.slot()) == kNoDomain ? 0 : table.At(node);
    table.counts.clear();
  };
  for (OwnTable& table : fixed.affinity) fix(table, asks_all);
  for (OwnTable& table : fixed.anti_affinity) fix(table, false);
  return fixed;
}

FilterVerdict FilterState::Filter(const NodeInfo& node) const {
  if (!SatisfiesAffinity(node)) return FilterVerdict::kAffinity;
  if (!SatisfiesAntiAffinity(node)) return FilterVerdict::kAntiAffinity;
  if (!SatisfiesExisting(node)) return FilterVerdict::kExistingAntiAffinity;
  return FilterVerdict::kPasses;
}

bool FilterState::SatisfiesAffinity(const NodeInfo& node) const {
  bool all_match = true;
  for (const OwnTable& table : tables_->affinity) {
    if (table.topology->DomainOf(node.slot()) == kNoDomain) return false;
    if (table.At(node) + DifferenceAt(affinity_, table, node) <= 0) all_match = false;
  }
  return all_match || (tables_->matches_itself && NobodyMatchesAffinity());
}

// The first pod of a group whose pods want to be near each other must be let in somewhere.
bool FilterState::NobodyMatchesAffinity() const {
  if (tables_->affinity_per_node) return tables_->matching_pods + matching_pods_ <= 0;
  auto entries = int64_t{0};
  for (const OwnTable& table : tables_->affinity) {
    entries += static_cast<int64_t>(table.counts.front()->nonzero());
  }
  for (const TableDifferences::Entry& entry : affinity_.entries()) {
    const TablePlace& place = entry.place;
    const auto table =
        std::find_if(tables_->affinity.begin(), tables_->affinity.end(),
                     [&place](const OwnTable& candidate) { return candidate.key == place.key; });
    const int64_t before = table->counts.front()->Count(table->topology->Find(place.value));
    if (before == 0) ++entries;
    if (before != 0 && before + entry.difference == 0) --entries;
  }
  return entries == 0;
}

bool FilterState::SatisfiesAntiAffinity(const NodeInfo& node) const {
  for (const OwnTable& table : tables_->anti_affinity) {
    if (table.topology->DomainOf(node.slot()) == kNoDomain) continue;
    if (table.At(node) + DifferenceAt(anti_affinity_, table, node) > 0) return false;
  }
  return true;
}

bool FilterState::SatisfiesExisting(const NodeInfo& node) const {
  if (existing_.empty()) {
    return std::none_of(tables_->existing.begin(), tables_->existing.end(),
                        [&node](const TallySum& sum) { return sum.At(node) > 0; });
  }
  const auto place_of = [&](const Symbol& key) {
    return PlaceOf(key, tables_->existing_terms->IsPerNode(key), node);
  };
  for (const TallySum& sum : tables_->existing) {
    const std::optional<TablePlace> place = place_of(sum.topology().key());
    if (place && sum.At(node) + existing_.At(*place) > 0) return false;
  }
  for (const auto& [place, difference] : existing_.entries()) {
    const bool is_known =
        std::any_of(tables_->existing.begin(), tables_->existing.end(),
                    [key = place.key](const TallySum& sum) { return sum.topology().key() == key; });
    if (!is_known && difference > 0 && place_of(place.key) == place) return false;
  }
  return true;
}

void FilterState::Simulate(const api::Pod& pod, const api::Pod& other, const NodeInfo& node,
                           int sign) {
  static const api::LabelMap no_labels;  // namespace selectors are expanded
  const FilterTables& tables = *tables_;
  const auto add = [&](TableDifferences* differences, const Symbol& key, bool per_node) {
    const std::optional<TablePlace> place = PlaceOf(key, per_node, node);
    if (place) differences->Add(*place, sign);
  };
  tables.existing_terms->ForEachRepellingTerm(other, [&](const AffinityTerm& term) {
    if (!term.Matches(pod, *tables.namespace_labels)) return;
    add(&existing_, term.key, tables.existing_terms->IsPerNode(term.key));
  });
  if (MatchesAll(tables.own->terms.required_affinity, other, no_labels)) {
    matching_pods_ += sign;
    for (const OwnTable& table : tables.affinity) add(&affinity_, table.key, table.per_node);
  }
  for (const AffinityTerm& term : tables.own->terms.required_anti_affinity) {
    if (!term.Matches(other, no_labels)) continue;
    add(&anti_affinity_, term.key, tables.existing_terms->IsPerNode(term.key));
  }
}

bool FilterState::FindPlaces(std::vector<uint64_t>* basis) const {
  if (!existing_.empty() || !affinity_.empty() || !anti_affinity_.empty()) return false;
  const auto find = [basis](const auto& table) { return table.FindPlaces(basis); };
  return std::all_of(tables_->existing.begin(), tables_->existing.end(), find) &&
         std::all_of(tables_->affinity.begin(), tables_->affinity.end(), find) &&
         std::all_of(tables_->anti_affinity.begin(), tables_->anti_affinity.end(), find);
}

void FilterState::AppendPlace(const NodeInfo& node, std::vector<int64_t>* place) const {
  for (const TallySum& sum : tables_->existing) sum.AppendPlace(node, place);
  for (const OwnTable& table : tables_->affinity) table.AppendPlace(node, place);
  for (const OwnTable& table : tables_->anti_affinity) table.AppendPlace(node, place);
}

}  // namespace ks::plugins
