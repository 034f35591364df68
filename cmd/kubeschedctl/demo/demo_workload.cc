// SPDX-License-Identifier: Apache-2.0
#include "kubeschedctl/demo/demo_workload.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <utility>

#include "base/random.h"
#include "kubeschedctl/cluster/pod_manifest.h"

namespace ks::ctl {
namespace {

using Json = nlohmann::json;

constexpr const char* kHighPriority = "kubeschedctl-demo-high";
constexpr const char* kLowPriority = "kubeschedctl-demo-low";
constexpr double kFill = 0.65;  // of the nodes, by the placeable pods
constexpr int64_t kGibi = int64_t{1} << 30;

constexpr std::array<PodTemplate, 4> kSizes = {
    PodTemplate{100, 256}, {250, 512}, {500, 2048}, {1000, 1024}};

// A part of the mix. Pods of one part form apps of `app_pods`; the last one may be smaller.
struct Part {
  const char* name;
  size_t percent;
  PodKind kind;
  size_t app_pods;
  bool needs_zones;
  const char* priority_class;
};

// The rest is plain.
constexpr Part kParts[] = {
    {"spread", 15, PodKind::kHardSpread, 30, true, nullptr},
    {"balanced", 5, PodKind::kSoftSpread, 30, true, nullptr},
    {"together", 6, PodKind::kRequiredAffinity, 6, true, nullptr},
    {"near", 4, PodKind::kPreferredAffinity, 8, false, nullptr},
    {"apart", 10, PodKind::kRequiredAntiAffinity, 10, false, nullptr},
    {"zonal", 10, PodKind::kNodeAffinity, 30, true, nullptr},
    {"urgent", 6, PodKind::kPlain, 30, false, kHighPriority},
    {"batch", 10, PodKind::kPlain, 30, false, kLowPriority},
};

PlannedPod Plan(Json pod, const PodTemplate& size, bool placeable) {
  PlannedPod planned;
  planned.name = pod["metadata"]["name"].get<std::string>();
  planned.body = pod.dump();
  planned.placeable = placeable;
  planned.amount = {
      .cpu_milli = size.cpu_milli, .memory_bytes = size.memory_mi * (kGibi / 1024), .pods = 1};
  return planned;
}

Json Manifest(const std::string& name, const std::string& app, const std::string& owner,
              const PodTemplate& size) {
  Json pod = PodManifest(name, owner, size);
  pod["metadata"]["labels"]["app"] = app;
  pod["spec"]["schedulerName"] = "default-scheduler";
  pod["spec"]["terminationGracePeriodSeconds"] = 0;
  return pod;
}

PlannedPod PartPod(const Part& part, size_t index, const MixOptions& options) {
  // Pods that keep apart need a node each; half of the nodes leaves the choice to the scheduler.
  const size_t app_pods = part.kind == PodKind::kRequiredAntiAffinity
                              ? std::clamp<size_t>(options.nodes / 2, 1, part.app_pods)
                              : part.app_pods;
  const std::string app = fmt::format("{}-{}", part.name, index / app_pods);
  const PodTemplate& size = kSizes[index % kSizes.size()];
  Json pod = Manifest(fmt::format("{}-{:05}", part.name, index), app, options.owner, size);
  AddPodKind(part.kind, app, pod["spec"]);
  if (part.priority_class != nullptr) pod["spec"]["priorityClassName"] = part.priority_class;
  return Plan(std::move(pod), size, true);
}

// One that no node takes: too large, a label that no node has, company that does not exist, or held
// back by a gate.
PlannedPod ImpossiblePod(size_t index, const MixOptions& options) {
  constexpr PodTemplate kTooLarge{1'000'000'000, 512};
  const PodTemplate size = index % 4 == 0 ? kTooLarge : kSizes[0];
  const std::string name = fmt::format("impossible-{:05}", index);
  Json pod = Manifest(name, "impossible", options.owner, size);
  Json& spec = pod["spec"];
  if (index % 4 == 1) {
    spec["nodeSelector"] = {{"kubesched.io/disk", "holographic"}};
  } else if (index % 4 == 2) {
    AddPodKind(PodKind::kRequiredAntiAffinity, "impossible", spec);
    AddPodKind(PodKind::kRequiredAffinity, "an-app-that-nobody-runs", spec);
  } else if (index % 4 == 3) {
    spec["schedulingGates"] = Json::array({{{"name", "kubesched.io/demo-hold"}}});
  }
  return Plan(std::move(pod), size, false);
}

}  // namespace

std::vector<PriorityClassBody> DemoPriorityClasses(const std::string& owner) {
  std::vector<PriorityClassBody> classes;
  for (const auto& [name, value] :
       {std::pair<const char*, int>{kHighPriority, 100000}, {kLowPriority, -1000}}) {
    const Json body = {{"apiVersion", "scheduling.k8s.io/v1"},
                       {"kind", "PriorityClass"},
                       {"metadata", {{"name", name}, {"labels", {{kOwnerLabel, owner}}}}},
                       {"value", value}};
    classes.push_back({.name = name, .body = body.dump()});
  }
  return classes;
}

std::vector<PlannedPod> MakeMix(const MixOptions& options) {
  std::vector<PlannedPod> pods;
  pods.reserve(options.pods);
  const size_t impossible = std::min<size_t>(10, options.pods / 25);
  for (size_t i = 0; i < impossible; ++i) pods.push_back(ImpossiblePod(i, options));
  for (const Part& part : kParts) {
    if (part.needs_zones && options.zones == 0) continue;
    const size_t count = options.pods * part.percent / 100;
    for (size_t i = 0; i < count; ++i) pods.push_back(PartPod(part, i, options));
  }
  constexpr Part kPlainPart{"plain", 0, PodKind::kPlain, 50, false, nullptr};
  for (size_t i = 0; pods.size() < options.pods; ++i) {
    pods.push_back(PartPod(kPlainPart, i, options));
  }
  Random random(options.seed);
  for (size_t i = pods.size(); i > 1; --i) {
    std::swap(pods[i - 1], pods[static_cast<size_t>(random.Below(i))]);
  }
  return pods;
}

NodeTemplate FittingNode(const std::vector<PlannedPod>& pods, size_t nodes) {
  Amount sum;
  Amount largest;
  for (const PlannedPod& pod : pods) {
    if (!pod.placeable) continue;
    sum += pod.amount;
    largest.cpu_milli = std::max(largest.cpu_milli, pod.amount.cpu_milli);
    largest.memory_bytes = std::max(largest.memory_bytes, pod.amount.memory_bytes);
  }
  // Whole units, with the wanted fill on average and room for the largest pod.
  const auto size = [nodes](int64_t total, int64_t most, int64_t unit) {
    const double average =
        static_cast<double>(total) / static_cast<double>(std::max<size_t>(nodes, 1)) / kFill;
    return std::max(static_cast<int64_t>(average), most) / unit + 1;
  };
  NodeTemplate node;
  node.cpu = std::max<int64_t>(4, size(sum.cpu_milli, largest.cpu_milli, 1000));
  node.memory_gi = std::max<int64_t>(16, size(sum.memory_bytes, largest.memory_bytes, kGibi));
  node.pods = std::max<int64_t>(110, size(sum.pods, 1, 1));
  return node;
}

}  // namespace ks::ctl
