// SPDX-License-Identifier: Apache-2.0
#pragma once
// Stands between a scheduler and its writer: sees who is evicted for whom. All else is passed on.

#include <utility>

#include "framework/api_writer.h"
#include "tracing/pod_traces.h"

namespace ks::tracing {

// Threads: as ApiWriter; EvictPod and RecordEvent the scheduling thread. Lifetime: both outlive it.
class TracedWriter final : public framework::ApiWriter {
 public:
  TracedWriter(framework::ApiWriter& inner, PodTraces& traces) : inner_(inner), traces_(traces) {}

  void Bind(api::PodPtr pod, std::string node_name, Done done) override {
    inner_.Bind(std::move(pod), std::move(node_name), std::move(done));
  }
  void PatchPodStatus(api::PodPtr pod, api::PodStatusChange change, Done done) override {
    inner_.PatchPodStatus(std::move(pod), std::move(change), std::move(done));
  }
  void PatchPodGroupStatus(api::PodGroupPtr group, api::Condition condition, Done done) override {
    inner_.PatchPodGroupStatus(std::move(group), std::move(condition), std::move(done));
  }
  void EvictPod(api::PodPtr pod, api::Condition condition, TimePoint decided,
                EvictionDone done) override {
    const CurrentSpanScope scope(traces_.BeginEviction(*pod));
    inner_.EvictPod(std::move(pod), std::move(condition), decided, std::move(done));
  }
  void WriteVolume(api::PersistentVolumePtr version, WriteDone done) override {
    inner_.WriteVolume(std::move(version), std::move(done));
  }
  void WriteClaim(api::PersistentVolumeClaimPtr version, WriteDone done) override {
    inner_.WriteClaim(std::move(version), std::move(done));
  }
  void SendClaimRequest(api::ClaimRequest request, ClaimDone done) override {
    inner_.SendClaimRequest(std::move(request), std::move(done));
  }
  void RecordEvent(framework::PodEvent event) override;

 private:
  framework::ApiWriter& inner_;
  PodTraces& traces_;
};

}  // namespace ks::tracing
