// SPDX-License-Identifier: Apache-2.0
#pragma once
// Interned strings. Label keys and values, namespaces and resource names repeat across thousands of
// objects; a Symbol is their 32-bit id, so that comparing is comparing integers and storing costs
// four bytes. Not for names that are unique per object (pod names, uids): the table never forgets a
// string.

#include <compare>
#include <cstdint>
#include <functional>
#include <string>
#include <string_view>

namespace ks {

// Equal symbols have equal text and the reverse. The order of ids is the order of first use, not
// that of the texts. Threads: any, interning included; reading a text takes no lock.
class Symbol {
 public:
  // The empty string, id 0.
  constexpr Symbol() = default;
  // Interns `text`.
  explicit Symbol(std::string_view text);

  // Valid for the life of the process.
  const std::string& str() const;
  std::string_view view() const { return str(); }
  bool empty() const { return id_ == 0; }
  uint32_t id() const { return id_; }

  friend bool operator==(Symbol a, Symbol b) { return a.id_ == b.id_; }
  friend auto operator<=>(Symbol a, Symbol b) { return a.id_ <=> b.id_; }
  friend bool operator==(Symbol a, std::string_view text) { return a.view() == text; }

 private:
  uint32_t id_ = 0;
};

template <class H>
H AbslHashValue(H state, Symbol symbol) {
  return H::combine(std::move(state), symbol.id());
}

}  // namespace ks

template <>
struct std::hash<ks::Symbol> {
  size_t operator()(ks::Symbol symbol) const noexcept {
    return symbol.id() * 0x9e3779b97f4a7c15ULL;
  }
};
