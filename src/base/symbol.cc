// SPDX-License-Identifier: Apache-2.0
#include "base/symbol.h"

#include "base/symbol_table.h"

namespace ks {

// Never destroyed: symbols may be read by threads that outlive main.
SymbolTable& ProcessSymbols() {
#ifdef KS_SANITIZED
  static auto* const table = new SymbolTable({.first_counted = Symbol::kFirstCounted});
#else
  static auto* const table =
      new SymbolTable({.first_counted = Symbol::kFirstCounted, .most_unnamed = 4096});
#endif
  return *table;
}

Symbol::Symbol(std::string_view text) : id_(text.empty() ? 0 : ProcessSymbols().Intern(text)) {}

Symbol Symbol::Forever(std::string_view text) {
  Symbol symbol(text);
  ProcessSymbols().KeepForever(symbol.id_);
  return symbol;
}

const std::string& Symbol::str() const { return ProcessSymbols().Text(id_); }
void Symbol::Retain(uint32_t id) noexcept { ProcessSymbols().Retain(id); }
void Symbol::Release(uint32_t id) noexcept { ProcessSymbols().Release(id); }

}  // namespace ks
