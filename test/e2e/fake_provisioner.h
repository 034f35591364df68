// SPDX-License-Identifier: Apache-2.0
#pragma once
// The part of a CSI driver that makes volumes, as external-provisioner does it: for a claim with a
// selected node that the PV controller has handed to the driver, it creates a volume for the zone
// of the node, or gives the claim back to the scheduler, as the test decides. No volume exists.

#include <gtest/gtest.h>

#include <functional>
#include <map>
#include <set>
#include <string>
#include <thread>
#include <utility>

#include "api/storage.h"
#include "base/mutex.h"
#include "client/rest/rest_client.h"
#include "client/watch/reflector.h"
#include "e2e/volume_objects.h"

namespace ks::e2e {

// Threads: any; the decisions are asked for on a thread of its own, one after the other. Lifetime:
// `client` and what `decide` uses outlive it.
class FakeProvisioner {
 public:
  enum class Decision {
    kMake,
    kGiveBack,  // removes the selected node
    kIgnore,    // asked again when the claim changes or DecideAgain is called
  };
  using Decide = std::function<Decision(const std::string& claim, const std::string& node)>;

  FakeProvisioner(client::RestClient& client, std::string driver, Decide decide)
      : client_(client),
        driver_(std::move(driver)),
        decide_(std::move(decide)),
        reflector_(client,
                   {.path = kClaimsPath,
                    .field_selector = "",
                    .type_name = "*v1.PersistentVolumeClaim",
                    .resource = "persistentvolumeclaims",
                    .seed = 1},
                   [this](auto deltas) { Apply(std::move(deltas)); }) {
    thread_ = std::thread([this] { Work(); });
    reflector_.Start();
  }
  ~FakeProvisioner() {
    reflector_.Stop();
    {
      MutexLock lock(mutex_);
      ended_ = true;
    }
    changed_.NotifyAll();
    thread_.join();
  }
  FakeProvisioner(const FakeProvisioner&) = delete;
  FakeProvisioner& operator=(const FakeProvisioner&) = delete;

  void DecideAgain() {
    {
      MutexLock lock(mutex_);
      for (const auto& [name, claim] : claims_) dirty_.insert(name);
    }
    changed_.NotifyAll();
  }

  // The resourceVersion of the claim's first version that was bound; empty: none was.
  std::string BoundAt(const std::string& claim) {
    MutexLock lock(mutex_);
    const auto it = bound_at_.find(claim);
    return it == bound_at_.end() ? std::string() : it->second;
  }

 private:
  void Apply(std::vector<api::Delta<api::PersistentVolumeClaim>> deltas) {
    using Type = api::Delta<api::PersistentVolumeClaim>::Type;
    {
      MutexLock lock(mutex_);
      for (const auto& delta : deltas) {
        if (delta.type == Type::kReplace) {
          for (const auto& claim : delta.items) Upsert(claim);
        } else if (delta.type == Type::kUpsert) {
          Upsert(delta.object);
        } else {
          claims_.erase(delta.object->meta.name);
        }
      }
    }
    changed_.NotifyAll();
  }
  void Upsert(const api::PersistentVolumeClaimPtr& claim) KS_REQUIRES(mutex_) {
    const std::string& name = claim->meta.name;
    if (claim->FullyBound()) bound_at_.emplace(name, claim->meta.resource_version);
    claims_[name] = claim;
    dirty_.insert(name);
  }

  void Work() {
    for (;;) {
      api::PersistentVolumeClaimPtr claim;
      {
        MutexLock lock(mutex_);
        while (!ended_ && dirty_.empty()) changed_.Wait(mutex_);
        if (ended_) return;
        const auto it = claims_.find(dirty_.extract(dirty_.begin()).value());
        if (it != claims_.end()) claim = it->second;
      }
      if (claim && claim->selected_node && claim->volume_name.empty()) Serve(*claim);
    }
  }

  // The answer of the server decides what the claim is now; a conflict means that it has changed,
  // which the watch tells.
  void Serve(const api::PersistentVolumeClaim& seen) {
    const std::string path = kClaimsPath + ("/" + seen.meta.name);
    const client::RestReply found = client_.Get(path);
    if (!found.ok()) return;
    json claim = json::parse(found.body);
    json& annotations = claim["metadata"]["annotations"];
    const std::string node = annotations.value(std::string(api::kSelectedNodeAnnotation), "");
    if (node.empty() ||
        annotations.value("volume.kubernetes.io/storage-provisioner", "") != driver_) {
      return;
    }
    switch (decide_(seen.meta.name, node)) {
      case Decision::kIgnore:
        return;
      case Decision::kGiveBack:
        annotations.erase(std::string(api::kSelectedNodeAnnotation));
        client_.Put(path, claim.dump());
        return;
      case Decision::kMake:
        Make(claim, node);
    }
  }

  void Make(const json& claim, const std::string& node_name) {
    const client::RestReply found = client_.Get("/api/v1/nodes/" + node_name);
    if (!found.ok()) return;
    const json node = json::parse(found.body);
    const json& metadata = claim["metadata"];
    json volume =
        CsiVolume("pvc-" + metadata["uid"].get<std::string>(), claim["spec"]["storageClassName"],
                  claim["spec"]["resources"]["requests"]["storage"], driver_);
    volume["metadata"]["annotations"]["pv.kubernetes.io/provisioned-by"] = driver_;
    volume["spec"]["accessModes"] = claim["spec"]["accessModes"];
    volume["spec"]["persistentVolumeReclaimPolicy"] = "Delete";
    volume["spec"]["claimRef"] = {{"apiVersion", "v1"},
                                  {"kind", "PersistentVolumeClaim"},
                                  {"namespace", metadata["namespace"]},
                                  {"name", metadata["name"]},
                                  {"uid", metadata["uid"]},
                                  {"resourceVersion", metadata["resourceVersion"]}};
    volume["spec"]["nodeAffinity"] =
        VolumeAffinity(kZoneLabel, {node["metadata"]["labels"].value(kZoneLabel, "")});
    const client::RestReply made = client_.Post(kVolumesPath, volume.dump());
    EXPECT_TRUE(made.ok() || made.error->reason == "AlreadyExists") << made.error->message;
  }

  client::RestClient& client_;
  const std::string driver_;
  const Decide decide_;

  Mutex mutex_;
  CondVar changed_;
  bool ended_ KS_GUARDED_BY(mutex_) = false;
  std::map<std::string, api::PersistentVolumeClaimPtr> claims_ KS_GUARDED_BY(mutex_);
  std::set<std::string> dirty_ KS_GUARDED_BY(mutex_);
  std::map<std::string, std::string> bound_at_ KS_GUARDED_BY(mutex_);
  client::Reflector<api::PersistentVolumeClaim> reflector_;
  std::thread thread_;
};

}  // namespace ks::e2e
