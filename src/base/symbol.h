// SPDX-License-Identifier: Apache-2.0
#pragma once
// Interned strings. Label keys and values, namespaces, names of resources and nodes repeat across
// thousands of objects; a Symbol is their 32-bit id, so that comparing is comparing integers and
// storing costs four bytes. A text is forgotten when nothing names it any more
// (docs/decisions/0064).

#include <compare>
#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <utility>

namespace ks {

// Equal symbols have equal text and the reverse. The order of ids is the order of first use, not
// that of the texts. An id means its text as long as a symbol of it lives, then perhaps another:
// keep the symbol, not the id, and no view of its text beyond it. Threads: any, interning included;
// reading a text takes no lock, one object is like a value.
class Symbol {
 public:
  // Texts below this id are never forgotten, and copies of their symbols not counted: what a
  // cluster's objects have in common comes early and stays. With sanitizers nearly all are counted,
  // so that a view kept too long is found.
#ifdef KS_SANITIZED
  static constexpr uint32_t kFirstCounted = 64;
#else
  static constexpr uint32_t kFirstCounted = 65536;
#endif

  // The empty string, id 0.
  constexpr Symbol() = default;
  // Interns `text`.
  explicit Symbol(std::string_view text);
  // The same, and the text is never forgotten: for the few that stay valid without a symbol.
  static Symbol Forever(std::string_view text);

  Symbol(const Symbol& other) noexcept : id_(other.id_) {
    if (IsCounted()) Retain(id_);
  }
  Symbol(Symbol&& other) noexcept : id_(std::exchange(other.id_, 0)) {}
  Symbol& operator=(const Symbol& other) noexcept {
    Symbol copy(other);
    std::swap(id_, copy.id_);
    return *this;
  }
  Symbol& operator=(Symbol&& other) noexcept {
    Symbol taken(std::move(other));
    std::swap(id_, taken.id_);
    return *this;
  }
  constexpr ~Symbol() {
    if (IsCounted()) Release(id_);
  }

  // Valid as long as a symbol of this text lives.
  const std::string& str() const;
  std::string_view view() const { return str(); }
  bool empty() const { return id_ == 0; }
  uint32_t id() const { return id_; }

  friend bool operator==(const Symbol& a, const Symbol& b) { return a.id_ == b.id_; }
  friend auto operator<=>(const Symbol& a, const Symbol& b) { return a.id_ <=> b.id_; }
  friend bool operator==(const Symbol& a, std::string_view text) { return a.view() == text; }

 private:
  static void Retain(uint32_t id) noexcept;
  static void Release(uint32_t id) noexcept;
  friend class BorrowedSymbol;
  struct Borrowed {};
  Symbol(uint32_t id, Borrowed) : id_(id) {}
  constexpr bool IsCounted() const { return id_ >= kFirstCounted; }

  uint32_t id_ = 0;
};

// To look something up by an id that went through other hands: it equals the symbol of that id, or
// none. Not to be copied or read, for it need not name a text.
class BorrowedSymbol {
 public:
  explicit BorrowedSymbol(uint32_t id) : symbol_(id, Symbol::Borrowed()) {}
  BorrowedSymbol(const BorrowedSymbol&) = delete;
  BorrowedSymbol& operator=(const BorrowedSymbol&) = delete;
  ~BorrowedSymbol() {}  // NOLINT: the symbol's does not run

  const Symbol& symbol() const { return symbol_; }

 private:
  union {
    Symbol symbol_;  // NOLINT(readability-identifier-naming)
  };
};

template <class H>
H AbslHashValue(H state, const Symbol& symbol) {
  return H::combine(std::move(state), symbol.id());
}

}  // namespace ks

template <>
struct std::hash<ks::Symbol> {
  size_t operator()(const ks::Symbol& symbol) const noexcept {
    return symbol.id() * 0x9e3779b97f4a7c15ULL;
  }
};
