// SPDX-License-Identifier: Apache-2.0
#pragma once
// What the readers of both forms of objects (json_reader.h, proto_reader.h) share:
// errors that know their path, interned texts, and values that are made of simpler ones. For those
// two and the decoders alone.
//
// Every reader returns false after a failure, and the caller hands that on at once; the path is put
// together on the way out, so that it costs nothing when all goes well.

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "api/labels.h"
#include "api/quantity.h"
#include "base/result.h"

namespace ks::api {

inline constexpr std::string_view kOutOfRange = "must be an integer within the range of its type";

// Threads: one at a time.
class ReaderState {
 public:
  // Forgets the last error.
  void Reset();
  // The last failure as "path: cause". Requires: some reader returned false.
  Error TakeError();
  // Returns false.
  bool Fail(std::string_view cause);

  // The interned text; a small cache saves the lock of the symbol table for what repeats.
  Symbol Intern(std::string_view text);

 protected:
  ReaderState() = default;
  void AddKeyToPath(std::string_view key);
  void AddIndexToPath(size_t index);

 private:
  std::string path_;
  std::string cause_;
  std::array<Symbol, 1024> symbols_{};
};

// A reader of one form. Form has
//   Object(value, on_field(std::string_view key, auto value) -> bool), for each field; the key is
//     valid until the next one;
//   Array(value, on_element(auto element) -> bool);
//   IsNull, Text, ReadQuantity and the other readers of one value, with the value first.
template <class Form>
class ReaderKit : public ReaderState {
 public:
  // One element of `out` per element: read(element, T&) -> bool. Leaves no spare memory.
  template <class T, class Read>
  bool List(auto value, std::vector<T>& out, Read&& read) {
    out.clear();
    const bool ok =
        form().Array(value, [&](auto element) { return read(element, out.emplace_back()); });
    if (out.capacity() != out.size()) out.shrink_to_fit();
    return ok;
  }
  // Absent when null: read(value, T&) -> bool.
  template <class T, class Read>
  bool Optional(auto value, std::optional<T>& out, Read&& read) {
    out.reset();
    bool is_null = false;
    if (!form().IsNull(value, is_null)) return false;
    return is_null || read(value, out.emplace());
  }

  bool String(auto value, std::string& out) {
    std::string_view text;
    if (!form().Text(value, text)) return false;
    out = std::string(text);  // an assignment would reserve more than it needs
    return true;
  }
  bool Sym(auto value, Symbol& out) {
    std::string_view text;
    if (!form().Text(value, text)) return false;
    out = Intern(text);
    return true;
  }
  bool Int32(auto value, int32_t& out) {
    int64_t wide = 0;
    out = 0;
    if (!form().Int64(value, wide)) return false;
    if (!std::in_range<int32_t>(wide)) return Fail(kOutOfRange);
    out = static_cast<int32_t>(wide);
    return true;
  }
  bool Strings(auto value, std::vector<std::string>& out) {
    return List(value, out, [&](auto element, std::string& text) { return String(element, text); });
  }
  bool Syms(auto value, std::vector<Symbol>& out) {
    return List(value, out, [&](auto element, Symbol& symbol) { return Sym(element, symbol); });
  }
  bool SymMap(auto value, LabelMap& out) {
    return Map(value, out, label_scratch_,
               [&](auto item, Symbol& symbol) { return Sym(item, symbol); });
  }
  bool StringMap(auto value, SymbolMap<std::string>& out) {
    return Map(value, out, string_scratch_,
               [&](auto item, std::string& text) { return String(item, text); });
  }
  bool Resources(auto value, ResourceList& out) {
    return Map(value, out, resource_scratch_,
               [&](auto item, Quantity& quantity) { return form().ReadQuantity(item, quantity); });
  }

 private:
  ReaderKit() = default;
  friend Form;

  Form& form() { return static_cast<Form&>(*this); }

  template <class V, class Read>
  bool Map(auto value, SymbolMap<V>& out, std::vector<std::pair<Symbol, V>>& scratch, Read&& read) {
    scratch.clear();
    const bool ok = form().Object(value, [&](std::string_view key, auto item) {
      return read(item, scratch.emplace_back(Intern(key), V()).second);
    });
    out.Assign(scratch);
    return ok;
  }

  std::vector<std::pair<Symbol, Symbol>> label_scratch_;
  std::vector<std::pair<Symbol, std::string>> string_scratch_;
  std::vector<std::pair<Symbol, Quantity>> resource_scratch_;
};

}  // namespace ks::api
