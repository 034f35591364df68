// SPDX-License-Identifier: Apache-2.0
#pragma once
// Hashes of texts that users of the cluster write (names, keys and values of labels, selectors).
// SipHash-1-3 (Aumasson and Bernstein, 2012) under a key that each process draws for itself, so
// that nobody can choose texts that meet in one place of a table (docs/decisions/0062). Order in
// tables of them differs from run to run: nothing that decides or sends may depend on it.

#include <cstddef>
#include <functional>
#include <string>
#include <string_view>
#include <type_traits>

namespace ks {

// Threads: any. Usable while static objects are built.
size_t HashText(std::string_view text);

// For tables keyed by std::string or std::string_view, which can be asked with either.
struct TextHash {
  using is_transparent = void;
  size_t operator()(std::string_view text) const { return HashText(text); }
};

// What a table keyed by `Key` hashes with if nobody says otherwise.
template <class Key>
using HashFor =
    std::conditional_t<std::is_convertible_v<Key, std::string_view>, TextHash, std::hash<Key>>;

}  // namespace ks
