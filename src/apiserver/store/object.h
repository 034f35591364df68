// SPDX-License-Identifier: Apache-2.0
#pragma once
// An object as the store keeps it: its JSON text, made once, and what lists and watches select by.

#include <cstdint>
#include <memory>
#include <nlohmann/json.hpp>
#include <string>
#include <utility>
#include <vector>

#include "apiserver/store/kinds.h"

namespace ks::apiserver {

using Json = nlohmann::json;

// Threads: immutable.
struct StoredObject {
  const KindInfo* kind = nullptr;
  std::string ns;  // "" for cluster-scoped kinds
  std::string name;
  std::string uid;
  uint64_t resource_version = 0;
  std::vector<std::pair<std::string, std::string>> labels;  // sorted by key
  std::vector<std::string> fields;  // of kind->selectable_fields, same order
  std::string text;                 // one line of JSON with apiVersion and kind, keys sorted
  size_t version_offset = 0;        // where in `text` the digits of metadata.resourceVersion begin

  Json Parse() const { return Json::parse(text); }
};
using ObjectPtr = std::shared_ptr<const StoredObject>;

}  // namespace ks::apiserver
