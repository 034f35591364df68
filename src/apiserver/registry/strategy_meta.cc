// SPDX-License-Identifier: Apache-2.0
#include <algorithm>

#include "apiserver/registry/strategy_parts.h"

namespace ks::apiserver {
namespace {

constexpr size_t kMostAnnotationBytes = 262144;

bool IsDnsLabelKind(const KindInfo& kind) {
  return kind.kind == "Namespace" || kind.kind == "Service";
}

// Generated names get random characters behind the prefix: a dash at its end is well.
std::string WithoutDashAtEnd(std::string name) {
  if (name.ends_with('-')) name.back() = 'a';
  return name;
}

void CheckName(const KindInfo& kind, const std::string& field, const std::string& shown,
               const std::string& name, Causes& causes) {
  causes.All(field, shown, IsDnsLabelKind(kind) ? LabelErrors(name) : SubdomainErrors(name));
}

void CheckAnnotations(const Json& annotations, Causes& causes) {
  if (!annotations.is_object()) return;
  size_t bytes = 0;
  for (const auto& [key, value] : annotations.items()) {
    std::string lower = key;
    std::transform(lower.begin(), lower.end(), lower.begin(), [](unsigned char c) {
      return static_cast<char>(c >= 'A' && c <= 'Z' ? c + 32 : c);
    });
    causes.All("metadata.annotations", key, QualifiedNameErrors(lower));
    bytes += key.size() + (value.is_string() ? value.get_ref<const std::string&>().size() : 0);
  }
  if (bytes > kMostAnnotationBytes) causes.TooLong("metadata.annotations", kMostAnnotationBytes);
}

void CheckOwners(const Json& owners, Causes& causes) {
  const std::string field = "metadata.ownerReferences";
  std::string controller;
  const std::vector<Json>& list = ElementsOf(owners);
  for (size_t i = 0; i < list.size(); ++i) {
    for (const char* key : {"apiVersion", "kind", "name", "uid"}) {
      if (TextAt(list[i], key).empty()) {
        causes.Required(Path(Path(field, i), key), "must not be empty");
      }
    }
    if (TextAt(list[i], "kind") == "Event" && TextAt(list[i], "apiVersion") == "v1") {
      causes.Invalid(Path(field, i), list[i], "/v1, Kind=Event is disallowed from being an owner");
    }
    if (At(list[i], "controller") != true) continue;
    const std::string name = TextAt(list[i], "kind") + "/" + TextAt(list[i], "name");
    if (controller.empty()) {
      controller = name;
      continue;
    }
    causes.Invalid(field, owners,
                   "Only one reference can have Controller set to true. Found \"true\" in "
                   "references for " +
                       controller + " and " + name);
    break;
  }
}

void CheckFinalizers(const Json& finalizers, Causes& causes) {
  const std::vector<Json>& list = ElementsOf(finalizers);
  for (size_t i = 0; i < list.size(); ++i) {
    if (!list[i].is_string()) continue;
    const std::string& name = list[i].get_ref<const std::string&>();
    const std::string field = Path("metadata.finalizers", i);
    const std::vector<std::string> errors = QualifiedNameErrors(name);
    causes.All(field, name, errors);
    const bool standard = name == "orphan" || name == "foregroundDeletion" || name == "kubernetes";
    if (errors.empty() && !standard && name.find('/') == std::string::npos) {
      causes.Invalid(field, name,
                     "name is neither a standard finalizer name nor is it fully qualified");
    }
  }
}

}  // namespace

void CheckMetadata(const KindInfo& kind, const Json& metadata, Causes& causes) {
  const std::string prefix = TextAt(metadata, "generateName");
  const std::string name = TextAt(metadata, "name");
  if (!prefix.empty()) {
    CheckName(kind, "metadata.generateName", prefix, WithoutDashAtEnd(prefix), causes);
  }
  if (name.empty()) {
    causes.Required("metadata.name", "name or generateName is required");
  } else {
    CheckName(kind, "metadata.name", name, name, causes);
  }
  CheckLabels("metadata.labels", At(metadata, "labels"), causes);
  CheckAnnotations(At(metadata, "annotations"), causes);
  CheckOwners(At(metadata, "ownerReferences"), causes);
  CheckFinalizers(At(metadata, "finalizers"), causes);
}

}  // namespace ks::apiserver
