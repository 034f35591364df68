// SPDX-License-Identifier: Apache-2.0
#include "plugins/volume_binding/node_index.h"

#include <algorithm>

namespace ks::plugins {
namespace {

constexpr size_t kMaxKeys = 8;     // each is looked up for each node
constexpr size_t kMaxValues = 16;  // each is an entry

}  // namespace

void NodeIndex::Add(uint32_t position, const api::Requirement* common) {
  if (common == nullptr || common->values.size() > kMaxValues) {
    anywhere_.push_back(position);
    return;
  }
  auto by_key = std::find_if(keys_.begin(), keys_.end(),
                             [common](const ByKey& known) { return known.key == common->key; });
  if (by_key == keys_.end()) {
    if (keys_.size() == kMaxKeys) {
      anywhere_.push_back(position);
      return;
    }
    by_key = keys_.insert(keys_.end(), ByKey{common->key, {}});
  }
  for (const Symbol value : common->values) by_key->entries.push_back({value, position});
}

void NodeIndex::Finish() {
  for (ByKey& by_key : keys_) std::sort(by_key.entries.begin(), by_key.entries.end());
}

std::pair<std::vector<NodeIndex::Entry>::const_iterator,
          std::vector<NodeIndex::Entry>::const_iterator>
NodeIndex::ByKey::With(Symbol value) const {
  const auto begin =
      std::lower_bound(entries.begin(), entries.end(), value,
                       [](const Entry& entry, Symbol wanted) { return entry.value < wanted; });
  const auto end =
      std::upper_bound(begin, entries.end(), value,
                       [](Symbol wanted, const Entry& entry) { return wanted < entry.value; });
  return {begin, end};
}

}  // namespace ks::plugins
