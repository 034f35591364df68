// SPDX-License-Identifier: Apache-2.0
#include "base/symbol_table.h"

#include "base/check.h"

namespace ks {

SymbolTable::SymbolTable(Limits limits) : limits_(limits) {
  KS_CHECK(limits.first_counted > 0, "the empty text is never counted");
  Intern("");
}

SymbolTable::Entry& SymbolTable::At(uint32_t id) const {
  return blocks_[id / kBlock].load(std::memory_order_acquire)[id % kBlock];
}

const std::string& SymbolTable::Text(uint32_t id) const { return At(id).text; }

uint32_t SymbolTable::Intern(std::string_view text) {
  MutexLock lock(mutex_);
  auto it = ids_.find(text);
  if (it == ids_.end()) {
    const uint32_t id = NewId();
    Entry& entry = At(id);
    entry.text = std::string(text);  // in no more memory than it needs
    entry.used = true;
    it = ids_.emplace(entry.text, id).first;
  }
  const uint32_t id = it->second;
  if (id >= limits_.first_counted) At(id).names.fetch_add(1, std::memory_order_relaxed);
  return id;
}

uint32_t SymbolTable::NewId() {
  if (!free_.empty()) {
    const uint32_t id = free_.back();
    free_.pop_back();
    return id;
  }
  const uint32_t id = next_++;
  KS_CHECK(id / kBlock < kBlocks, "symbol table is full");
  if (id % kBlock == 0) {
    owned_.push_back(std::make_unique<std::array<Entry, kBlock>>());
    blocks_[id / kBlock].store(owned_.back()->data(), std::memory_order_release);
  }
  return id;
}

void SymbolTable::KeepForever(uint32_t id) {
  if (id >= limits_.first_counted) At(id).names.fetch_or(kForever, std::memory_order_relaxed);
}

void SymbolTable::Retain(uint32_t id) noexcept {
  At(id).names.fetch_add(1, std::memory_order_relaxed);
}

// Between the last name's end and the lock the text can get a name again, and even lose it: what
// counts is what the lock shows.
void SymbolTable::Release(uint32_t id) noexcept {
  Entry& entry = At(id);
  if (entry.names.fetch_sub(1, std::memory_order_acq_rel) != 1) return;
  MutexLock lock(mutex_);
  if (!entry.used || entry.unnamed || entry.names.load(std::memory_order_acquire) != 0) return;
  entry.unnamed = true;
  unnamed_.push_back(id);
  while (unnamed_.size() > limits_.most_unnamed) {
    const uint32_t longest = unnamed_.front();
    unnamed_.pop_front();
    At(longest).unnamed = false;
    if (At(longest).names.load(std::memory_order_acquire) == 0) Forget(longest);
  }
}

void SymbolTable::Forget(uint32_t id) {
  Entry& entry = At(id);
  ids_.erase(entry.text);
  entry.used = false;
#ifdef KS_SANITIZED
  entry.text = "(forgotten)";  // for short texts, whose memory no sanitizer watches
  entry.text.shrink_to_fit();
#else
  entry.text = std::string();
#endif
  free_.push_back(id);
}

size_t SymbolTable::size() const {
  MutexLock lock(mutex_);
  return ids_.size();
}

}  // namespace ks
