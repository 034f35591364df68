// SPDX-License-Identifier: Apache-2.0
#include "cache/image_table.h"

#include "base/check.h"

namespace ks::cache {

void ImageTable::Replace(const api::ImageSizes& old_images, const api::ImageSizes& new_images) {
  // A merge of the two sorted lists: the report of a node rarely changes, and most node updates
  // then touch nothing here.
  auto before = old_images.begin();
  auto after = new_images.begin();
  while (before != old_images.end() || after != new_images.end()) {
    if (after == new_images.end() || (before != old_images.end() && before->first < after->first)) {
      Withdraw(before++->first);
    } else if (before == old_images.end() || after->first < before->first) {
      Register(after->first, after->second);
      ++after;
    } else {
      Keep(after->first, after->second);
      ++before;
      ++after;
    }
  }
}

std::vector<framework::ImageState> ImageTable::States(const api::ImageSizes& images) const {
  std::vector<framework::ImageState> states;
  states.reserve(images.size());
  for (const auto& image : images) {
    const auto it = records_.find(image.first);
    KS_CHECK(it != records_.end(), "a node holds an image that is not registered");
    states.push_back({.name = image.first,
                      .num_nodes = it->second.num_nodes,
                      .size_bytes = it->second.size_bytes});
  }
  return states;
}

void ImageTable::Withdraw(const Symbol& name) {
  const auto it = records_.find(name);
  KS_CHECK(it != records_.end(), "an image is withdrawn that is not registered");
  if (--it->second.num_nodes == 0) records_.erase(it);
  ++version_;
}

void ImageTable::Register(const Symbol& name, int64_t size_bytes) {
  Record& record = records_[name];
  if (record.num_nodes++ == 0) record.size_bytes = size_bytes;
  ++version_;
}

// Withdrawn and registered again: with no other node in between the record is a new one.
void ImageTable::Keep(const Symbol& name, int64_t size_bytes) {
  Record& record = records_[name];
  if (record.num_nodes > 1 || record.size_bytes == size_bytes) return;
  record.size_bytes = size_bytes;
  ++version_;
}

}  // namespace ks::cache
