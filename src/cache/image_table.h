// SPDX-License-Identifier: Apache-2.0
#pragma once
// ImageTable: which container images the nodes hold, how large they are and on how many nodes.
//
// Upstream: docs/spec/cache.md section 8.

#include <cstdint>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "api/node.h"
#include "framework/node_info.h"

namespace ks::cache {

// The size of an image is that of its first reporter as long as any node has it.
// Threads: the scheduling thread.
class ImageTable {
 public:
  // One node's report changes: as if the old one was withdrawn, then the new one registered.
  // `old_images` is what was given for this node last.
  void Replace(const api::ImageSizes& old_images, const api::ImageSizes& new_images);

  // Sizes and node counts as of now, in the order of `images`. Requires: the images are registered.
  std::vector<framework::ImageState> States(const api::ImageSizes& images) const;

  // Changes whenever a size or a count does.
  uint64_t version() const { return version_; }
  size_t size() const { return records_.size(); }

 private:
  struct Record {
    int64_t size_bytes = 0;
    int32_t num_nodes = 0;
  };
  void Withdraw(const Symbol& name);
  void Register(const Symbol& name, int64_t size_bytes);
  void Keep(const Symbol& name, int64_t size_bytes);

  absl::flat_hash_map<Symbol, Record> records_;
  uint64_t version_ = 1;
};

}  // namespace ks::cache
