// SPDX-License-Identifier: Apache-2.0
#include "apiserver/registry/snapshot.h"

namespace ks::apiserver {
namespace {

constexpr std::string_view kHead = R"({"apiVersion":"v1","kind":"List","metadata":{},"items":[)";

}  // namespace

std::string SnapshotText(const Store& store) {
  size_t bytes = kHead.size() + 4;
  for (const KindInfo& kind : AllKinds()) {
    if (&StorageKind(kind) != &kind) continue;
    for (const auto& [key, object] : store.objects(kind)) bytes += object->text.size() + 2;
  }
  std::string text;
  text.reserve(bytes);
  text += kHead;
  bool first = true;
  for (const KindInfo& kind : AllKinds()) {
    if (&StorageKind(kind) != &kind) continue;
    for (const auto& [key, object] : store.objects(kind)) {
      text += first ? "\n" : ",\n";
      text += object->text;
      first = false;
    }
  }
  text += "\n]}\n";
  return text;
}

}  // namespace ks::apiserver
