// SPDX-License-Identifier: Apache-2.0
#include "cache/image_table.h"

#include <algorithm>

#include "base/check.h"

namespace ks::cache {

std::vector<ReportedImage> ReportedImages(const api::Node& node) {
  std::vector<ReportedImage> images;
  for (const api::ContainerImage& image : node.images) {
    for (const Symbol name : image.names) images.push_back({name, image.size_bytes});
  }
  std::stable_sort(images.begin(), images.end(),
                   [](const ReportedImage& a, const ReportedImage& b) { return a.name < b.name; });
  images.erase(
      std::unique(images.begin(), images.end(),
                  [](const ReportedImage& a, const ReportedImage& b) { return a.name == b.name; }),
      images.end());
  return images;
}

void ImageTable::Replace(std::span<const ReportedImage> old_images,
                         std::span<const ReportedImage> new_images) {
  // A merge of the two sorted lists: the report of a node rarely changes, and most node updates
  // then touch nothing here.
  size_t i = 0;
  size_t j = 0;
  while (i < old_images.size() || j < new_images.size()) {
    if (j == new_images.size() ||
        (i < old_images.size() && old_images[i].name < new_images[j].name)) {
      Withdraw(old_images[i++].name);
    } else if (i == old_images.size() || new_images[j].name < old_images[i].name) {
      Register(new_images[j++]);
    } else {
      Keep(new_images[j++]);
      ++i;
    }
  }
}

std::vector<framework::ImageState> ImageTable::States(std::span<const ReportedImage> images) const {
  std::vector<framework::ImageState> states;
  states.reserve(images.size());
  for (const ReportedImage& image : images) {
    const auto it = records_.find(image.name);
    KS_CHECK(it != records_.end(), "a node holds an image that is not registered");
    states.push_back({.name = image.name,
                      .size_bytes = it->second.size_bytes,
                      .num_nodes = it->second.num_nodes});
  }
  return states;
}

void ImageTable::Withdraw(Symbol name) {
  const auto it = records_.find(name);
  KS_CHECK(it != records_.end(), "an image is withdrawn that is not registered");
  if (--it->second.num_nodes == 0) records_.erase(it);
  ++version_;
}

void ImageTable::Register(const ReportedImage& image) {
  Record& record = records_[image.name];
  if (record.num_nodes++ == 0) record.size_bytes = image.size_bytes;
  ++version_;
}

// Withdrawn and registered again: with no other node in between the record is a new one.
void ImageTable::Keep(const ReportedImage& image) {
  Record& record = records_[image.name];
  if (record.num_nodes > 1 || record.size_bytes == image.size_bytes) return;
  record.size_bytes = image.size_bytes;
  ++version_;
}

}  // namespace ks::cache
