// SPDX-License-Identifier: Apache-2.0
#include "cache/affinity_lists.h"

#include <algorithm>

#include "base/check.h"

namespace ks::cache {
namespace {

using framework::NodeInfo;
using List = AffinityLists::List;

List::iterator PlaceOf(List& list, uint32_t index) {
  return std::lower_bound(list.begin(), list.end(), index,
                          [](const NodeInfo* info, uint32_t i) { return info->index() < i; });
}

void ReplaceIn(List& list, const NodeInfo* info) {
  const auto it = PlaceOf(list, info->index());
  if (it != list.end() && (*it)->index() == info->index()) *it = info;
}

// Makes the entry a member of `list` or takes it out.
void SetMember(List& list, const NodeInfo* info, bool member) {
  const auto it = PlaceOf(list, info->index());
  const bool found = it != list.end() && (*it)->index() == info->index();
  KS_CHECK(member != found, "a node with affinities is listed twice, or not at all");
  if (member) {
    list.insert(it, info);
  } else {
    list.erase(it);
  }
}

}  // namespace

void AffinityLists::Update(NodeEntry& entry) {
  const bool has_affinity = !entry.info.pods_with_affinity().empty();
  const bool has_anti_affinity = !entry.info.pods_with_required_anti_affinity().empty();
  if (entry.listed && has_affinity != entry.had_affinity) {
    SetMember(with_affinity_, &entry.info, has_affinity);
  }
  if (entry.listed && has_anti_affinity != entry.had_anti_affinity) {
    SetMember(with_anti_affinity_, &entry.info, has_anti_affinity);
  }
  entry.had_affinity = has_affinity;
  entry.had_anti_affinity = has_anti_affinity;
}

void AffinityLists::Replace(const NodeInfo* info) {
  ReplaceIn(with_affinity_, info);
  ReplaceIn(with_anti_affinity_, info);
}

void AffinityLists::Clear() {
  with_affinity_.clear();
  with_anti_affinity_.clear();
}

void AffinityLists::Append(const NodeEntry& entry) {
  KS_CHECK(entry.listed, "a node that is not listed has a place among those with affinities");
  KS_DCHECK(with_affinity_.empty() || with_affinity_.back()->index() < entry.info.index(),
            "nodes with affinities are out of order");
  if (entry.had_affinity) with_affinity_.push_back(&entry.info);
  if (entry.had_anti_affinity) with_anti_affinity_.push_back(&entry.info);
}

}  // namespace ks::cache
