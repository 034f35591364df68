// SPDX-License-Identifier: Apache-2.0
#pragma once
// A snapshot over nodes that the test gives. Threads: read by any once filled.

#include <atomic>
#include <cstdint>
#include <memory>
#include <string_view>
#include <utility>
#include <vector>

#include "framework/snapshot.h"

namespace ks::testing {

class FakeSnapshot final : public framework::Snapshot {
 public:
  FakeSnapshot() = default;
  explicit FakeSnapshot(const std::vector<api::NodePtr>& nodes) {
    for (const api::NodePtr& node : nodes) Add(node);
  }

  // Appends a node; `pods` are accounted to it. The info may be changed further by the test.
  framework::NodeInfo& Add(const api::NodePtr& node, const std::vector<api::PodPtr>& pods = {}) {
    auto info = std::make_unique<framework::NodeInfo>(node);
    for (const api::PodPtr& pod : pods) {
      info->AddPod(std::make_shared<framework::PodInfo>(pod));
    }
    const auto place = static_cast<uint32_t>(nodes_.size());
    info->SetPlace(place, place);
    slots_.push_back(info->slot());
    log_.Forget();
    log_.NoteNewList();
    if (!info->pods_with_affinity().empty()) with_affinity_.push_back(info.get());
    if (!info->pods_with_required_anti_affinity().empty()) {
      with_required_anti_affinity_.push_back(info.get());
    }
    nodes_.push_back(info.get());
    owned_.push_back(std::move(info));
    return *owned_.back();
  }

  std::span<const framework::NodeInfo* const> nodes() const override { return nodes_; }
  std::span<const framework::NodeInfo* const> nodes_with_affinity() const override {
    return with_affinity_;
  }
  std::span<const framework::NodeInfo* const> nodes_with_required_anti_affinity() const override {
    return with_required_anti_affinity_;
  }
  const framework::NodeInfo* Find(std::string_view name) const override {
    for (const framework::NodeInfo* node : nodes_) {
      if (node->name() == name) return node;
    }
    return nullptr;
  }
  size_t slots() const override { return nodes_.size(); }
  std::span<const uint32_t> node_slots() const override { return slots_; }
  const framework::NodeInfo* AtSlot(uint32_t slot) const override { return nodes_[slot]; }
  // Says nothing: whoever reads it counts the nodes anew after each Add.
  const framework::ChangeLog& changes() const override { return log_; }
  // For a test that changes an info by hand.
  framework::ChangeLog& log() { return log_; }

 private:
  // Positions of different snapshots never meet.
  static uint64_t NextStart() {
    static std::atomic<uint64_t> next{1};
    return next.fetch_add(uint64_t{1} << 32);
  }

  std::vector<std::unique_ptr<framework::NodeInfo>> owned_;
  std::vector<const framework::NodeInfo*> nodes_;
  std::vector<uint32_t> slots_;
  std::vector<const framework::NodeInfo*> with_affinity_;
  std::vector<const framework::NodeInfo*> with_required_anti_affinity_;
  framework::ChangeLog log_{64, NextStart()};
};

}  // namespace ks::testing
