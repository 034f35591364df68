// SPDX-License-Identifier: Apache-2.0
#pragma once
// The whole state as one v1 List, out and in.

#include <string>
#include <string_view>

#include "apiserver/registry/registry.h"
#include "base/result.h"

namespace ks::apiserver {

// {"apiVersion":"v1","kind":"List","items":[…]}, kinds in dependency order (namespaces first).
std::string SnapshotText(const Store& store);

// A v1 List, lists of kinds, several documents, JSON Lines or YAML: everything a dump may be. uids
// and creation times are kept, versions are new; objects of kinds that are not stored are counted
// and left out; namespaces that are named but missing are made. Returns how many objects were
// loaded and what was left out (a text for people). Errors name place and object; nothing is
// rolled back.
struct Loaded {
  size_t objects = 0;
  std::string left_out{};  // empty: nothing
};
Result<Loaded> LoadSnapshot(Registry& registry, std::string_view text);

}  // namespace ks::apiserver
