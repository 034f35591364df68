// SPDX-License-Identifier: Apache-2.0
#pragma once
// Topology: in which domain of one label key each node is. Domains are numbered densely, so that
// what is kept per domain is an array.
//
// Upstream: docs/spec/plugins-crosspod.md section 1.1.

#include <cstdint>
#include <memory>
#include <unordered_map>
#include <vector>

#include "base/serial.h"
#include "base/symbol.h"
#include "framework/change_reader.h"

namespace ks::plugins {

using framework::ChangeReader;

inline constexpr int32_t kNoDomain = -1;

// Threads: Refresh by the scheduling thread; the rest also by workers while a cycle runs.
class Topology {
 public:
  struct Options {
    // Nodes without the key are in the domain of the empty value, together with nodes whose value
    // is empty.
    bool missing_is_empty = false;
  };
  Topology(const Symbol& key, const Options& options)
      : key_(key), missing_is_empty_(options.missing_is_empty) {}
  explicit Topology(const Symbol& key) : Topology(key, Options()) {}

  void Refresh(const framework::Snapshot& snapshot);

  const Symbol& key() const { return key_; }
  // Numbers of domains are valid as long as this stays the same. It does between two calls of
  // Refresh for one snapshot.
  uint64_t epoch() const { return epoch_; }
  // Domains that have, or had, a node. The numbers are below it.
  size_t domains() const { return values_.size(); }
  // Whether no domain has two nodes.
  bool IsNodeEach() const { return crowded_ == 0; }
  uint64_t serial() const { return serial_.value(); }
  const Symbol& value(int32_t domain) const { return values_[static_cast<size_t>(domain)]; }
  // kNoDomain when no node has, or had, the value.
  int32_t Find(const Symbol& value) const;
  // kNoDomain when the node lacks the key or no node is listed there.
  int32_t DomainOf(uint32_t slot) const {
    return slot < by_slot_.size() ? by_slot_[slot] : kNoDomain;
  }

 private:
  friend ChangeReader;
  void Restart(size_t slots);
  void OnNode(uint32_t slot, const framework::NodeInfo* node);
  void OnPod(uint32_t, const framework::PodInfo&, int) {}
  void Leave(uint32_t slot);

  const Symbol key_;
  const bool missing_is_empty_;
  const Serial serial_;
  uint64_t epoch_ = 0;
  ChangeReader reader_;
  std::vector<int32_t> by_slot_;
  std::vector<Symbol> values_;
  std::vector<uint32_t> nodes_;  // in each domain
  size_t crowded_ = 0;           // domains with more than one
  std::unordered_map<Symbol, int32_t> numbers_;
};

using TopologyPtr = std::shared_ptr<const Topology>;

// One Topology a key and kind, as long as somebody has it; afterwards it is dropped some time.
// Threads: the scheduling thread.
class Topologies {
 public:
  // Up to date with the snapshot.
  TopologyPtr Get(const Symbol& key, const framework::Snapshot& snapshot,
                  const Topology::Options& options = {});

 private:
  using ByKey = std::unordered_map<Symbol, std::shared_ptr<Topology>>;
  ByKey plain_;
  ByKey missing_is_empty_;
  size_t sweep_at_ = 0;  // keys of both
};

}  // namespace ks::plugins
