// SPDX-License-Identifier: Apache-2.0
#include "ksdev/perf/pod_objects.h"

#include <fmt/format.h>

#include <functional>
#include <set>
#include <string>
#include <utility>

namespace ks::ctl::dev::perf {
namespace {

using Json = nlohmann::json;

std::string ClaimName(size_t index) { return fmt::format("pvc-{}", index); }

Json DefaultPod() {
  const Json resources = {{"cpu", "100m"}, {"memory", "500Mi"}};
  return {{"apiVersion", "v1"},
          {"kind", "Pod"},
          {"metadata", {{"generateName", "pod-"}}},
          {"spec",
           {{"containers",
             {{{"name", "pause"},
               {"image", "registry.k8s.io/pause:3.10.2"},
               {"ports", {{{"containerPort", 80}}}},
               {"resources", {{"limits", resources}, {"requests", resources}}}}}}}}};
}

// Upstream reads a template of pods into a structure, and Go finds a field whatever the case of its
// letters; one of the files has fields that begin with a capital. Keys that are no fields stay.
void LowerFields(Json& value) {
  static const auto* maps = new std::set<std::string, std::less<>>{
      "annotations", "labels", "limits", "matchLabels", "nodeSelector", "overhead", "requests"};
  if (value.is_array()) {
    for (Json& item : value) LowerFields(item);
  }
  if (!value.is_object()) return;
  Json lowered = Json::object();
  for (auto& [key, item] : value.items()) {
    std::string field = key;
    if (field.front() >= 'A' && field.front() <= 'Z') field.front() += 'a' - 'A';
    if (!maps->contains(field)) LowerFields(item);
    lowered[field] = std::move(item);
  }
  value = std::move(lowered);
}

}  // namespace

Result<PodObjects> PodObjects::Make(const CreatePods& pods, const std::string& pod_template,
                                    const std::string& ns) {
  PodObjects made(pods);
  made.ns_ = ns;
  if (const std::string& path = pods.template_path.empty() ? pod_template : pods.template_path;
      !path.empty()) {
    Result<ObjectTemplate> loaded = ObjectTemplate::Load(path);
    if (!loaded.ok()) return loaded.error();
    made.template_ = std::move(loaded).value();
  }
  if (!pods.claim_path.empty()) {
    Result<ObjectTemplate> claim = ObjectTemplate::LoadPlain(pods.claim_path);
    if (!claim.ok()) return claim.error();
    made.claim_ = std::move(claim).value();
    Result<ObjectTemplate> volume = ObjectTemplate::LoadPlain(pods.volume_path);
    if (!volume.ok()) return volume.error();
    made.volume_ = std::move(volume).value();
  }
  return made;
}

Result<Json> PodObjects::Pod(size_t index, size_t count) const {
  Result<Json> pod =
      template_ ? template_->Make(index, count, pods_.template_params) : DefaultPod();
  if (!pod.ok()) return pod;
  if (template_) {
    LowerFields(*pod);
    (*pod)["metadata"]["labels"]["signature"] =
        fmt::format("signature-label-{}", index / pods_.signature_batch);
  }
  if (claim_) {
    (*pod)["spec"]["volumes"] = {
        {{"name", "vol"}, {"persistentVolumeClaim", {{"claimName", ClaimName(index)}}}}};
  }
  return pod;
}

Result<VolumePair> PodObjects::Volumes(size_t index, size_t count) const {
  Result<Json> claim = claim_->Make(index, count, {});
  if (!claim.ok()) return claim.error();
  Result<Json> volume = volume_->Make(index, count, {});
  if (!volume.ok()) return volume.error();
  const std::string name = fmt::format("{}-vol-{}", ns_, index);
  (*claim)["metadata"]["name"] = ClaimName(index);
  (*claim)["spec"]["volumeName"] = name;
  (*claim)["status"]["phase"] = "Bound";
  Json& spec = (*volume)["spec"];
  (*volume)["metadata"]["name"] = name;
  spec["claimRef"] = {{"kind", "PersistentVolumeClaim"},
                      {"apiVersion", "v1"},
                      {"namespace", ns_},
                      {"name", ClaimName(index)}};
  if (spec.contains("csi")) spec["csi"]["volumeHandle"] = name;
  if (spec.contains("awsElasticBlockStore")) {
    spec["awsElasticBlockStore"]["volumeID"] = fmt::format("vol-{}", index);
  }
  (*volume)["status"]["phase"] = "Bound";
  return VolumePair{.claim = std::move(claim).value(), .volume = std::move(volume).value()};
}

}  // namespace ks::ctl::dev::perf
