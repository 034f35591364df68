// SPDX-License-Identifier: Apache-2.0
#pragma once
// SymbolTable: the texts behind symbols, and how many symbols name each.

#include <absl/container/flat_hash_map.h>

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "base/mutex.h"
#include "base/text_hash.h"

namespace ks {

// Threads: any. Id 0 is the empty text.
class SymbolTable {
 public:
  struct Limits {
    // Ids below it are never counted and never forgotten. At least 1.
    uint32_t first_counted = 1;
    // So many texts that nothing names are kept all the same: the next object often has them again.
    size_t most_unnamed = 0;
  };

  explicit SymbolTable(Limits limits);
  SymbolTable(const SymbolTable&) = delete;
  SymbolTable& operator=(const SymbolTable&) = delete;

  // One more name for the text, where its id is counted. The id of a text that was forgotten is
  // given to another one.
  uint32_t Intern(std::string_view text) KS_EXCLUDES(mutex_);
  // The text of a named id is never forgotten.
  void KeepForever(uint32_t id);

  // Of a counted id that is named at least once.
  void Retain(uint32_t id) noexcept;
  void Release(uint32_t id) noexcept KS_EXCLUDES(mutex_);

  // Takes no lock. Valid as long as the id is named.
  const std::string& Text(uint32_t id) const;

  // Texts that are known, the unnamed ones included.
  size_t size() const KS_EXCLUDES(mutex_);

 private:
  static constexpr size_t kBlock = 4096;
  static constexpr size_t kBlocks = 65536;
  static constexpr uint32_t kForever = uint32_t{1} << 31;  // in `names`

  struct Entry {
    std::string text;
    std::atomic<uint32_t> names{0};
    bool used = false;     // under mutex_
    bool unnamed = false;  // stands in unnamed_; under mutex_
  };

  Entry& At(uint32_t id) const;
  uint32_t NewId() KS_REQUIRES(mutex_);
  void Forget(uint32_t id) KS_REQUIRES(mutex_);

  const Limits limits_;
  // Entries never move: block b holds ids [b*kBlock, (b+1)*kBlock).
  std::array<std::atomic<Entry*>, kBlocks> blocks_{};
  std::vector<std::unique_ptr<std::array<Entry, kBlock>>> owned_ KS_GUARDED_BY(mutex_);
  mutable Mutex mutex_;
  absl::flat_hash_map<std::string_view, uint32_t, TextHash, std::equal_to<>> ids_
      KS_GUARDED_BY(mutex_);
  uint32_t next_ KS_GUARDED_BY(mutex_) = 0;
  std::vector<uint32_t> free_ KS_GUARDED_BY(mutex_);
  std::deque<uint32_t> unnamed_
      KS_GUARDED_BY(mutex_);  // since when, ascending; some are named again
};

// The table of all symbols of this process.
SymbolTable& ProcessSymbols();

}  // namespace ks
