// SPDX-License-Identifier: Apache-2.0
#pragma once
// Made-up pods: manifests of the demo and the measurements, and what they ask for besides
// resources.

#include <cstdint>
#include <map>
#include <nlohmann/json.hpp>
#include <string>

namespace ks::ctl {

// Everything that the tool creates carries this label, by which it is found and removed again.
inline constexpr const char* kOwnerLabel = "kubesched.io/created-by";

inline constexpr const char* kZoneLabel = "topology.kubernetes.io/zone";

struct PodTemplate {
  int64_t cpu_milli = 100;
  int64_t memory_mi = 200;
};

// What the pods ask for besides resources; pods of one kind carry the label that their terms and
// constraints select. kMixed: all kinds in turn, no two pods alike one after the other.
enum class PodKind : uint8_t {
  kPlain,
  kHardSpread,
  kSoftSpread,
  kRequiredAffinity,
  kRequiredAntiAffinity,
  kPreferredAffinity,
  kNodeAffinity,
  kMixed,
};
// Names for the command line, with their kinds.
std::map<std::string, PodKind> PodKinds();

// A pod with one container that asks for `size`; its kOwnerLabel is `owner`.
nlohmann::json PodManifest(const std::string& name, const std::string& owner,
                           const PodTemplate& size);

// Makes a pod's spec one of that kind, about pods that carry the label app=<app>. Nothing for
// kPlain and kMixed.
void AddPodKind(PodKind kind, const std::string& app, nlohmann::json& spec);

}  // namespace ks::ctl
