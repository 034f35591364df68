// SPDX-License-Identifier: Apache-2.0
#include "base/symbol.h"

#include <absl/container/flat_hash_map.h>

#include <array>
#include <atomic>
#include <memory>

#include "base/check.h"
#include "base/mutex.h"
#include "base/text_hash.h"

namespace ks {
namespace {

// Texts live in blocks that never move: block b holds ids [b*kBlock, (b+1)*kBlock). A reader
// follows two atomics; only interning locks.
class Table {
 public:
  Table() { Intern(""); }

  uint32_t Intern(std::string_view text) KS_EXCLUDES(mutex_) {
    MutexLock lock(mutex_);
    if (const auto it = ids_.find(text); it != ids_.end()) return it->second;
    const uint32_t id = size_.load(std::memory_order_relaxed);
    KS_CHECK(id / kBlock < kBlocks, "symbol table is full");
    auto& slot = blocks_[id / kBlock];
    std::string* block = slot.load(std::memory_order_relaxed);
    if (block == nullptr) {
      block = new std::string[kBlock];
      slot.store(block, std::memory_order_release);
    }
    std::string& kept = block[id % kBlock];
    kept = std::string(text);  // in no more memory than it needs
    ids_.emplace(kept, id);
    size_.store(id + 1, std::memory_order_release);
    return id;
  }

  const std::string& Text(uint32_t id) const {
    return blocks_[id / kBlock].load(std::memory_order_acquire)[id % kBlock];
  }

 private:
  static constexpr size_t kBlock = 4096;
  static constexpr size_t kBlocks = 65536;

  std::array<std::atomic<std::string*>, kBlocks> blocks_{};
  std::atomic<uint32_t> size_{0};
  Mutex mutex_;
  absl::flat_hash_map<std::string_view, uint32_t, TextHash, std::equal_to<>> ids_
      KS_GUARDED_BY(mutex_);
};

// Never destroyed: symbols may be read by threads that outlive main.
Table& TheTable() {
  static Table* const table = new Table;
  return *table;
}

}  // namespace

Symbol::Symbol(std::string_view text) : id_(text.empty() ? 0 : TheTable().Intern(text)) {}
const std::string& Symbol::str() const { return TheTable().Text(id_); }

}  // namespace ks
