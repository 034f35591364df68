// SPDX-License-Identifier: Apache-2.0
#include "client/write/writer.h"

#include <optional>
#include <utility>

#include "api/json/encode.h"
#include "client/write/bind_job.h"
#include "client/write/claim_job.h"
#include "client/write/event_recorder.h"
#include "client/write/eviction_job.h"
#include "client/write/group_patch_job.h"
#include "client/write/patch_job.h"
#include "client/write/pod_writes.h"
#include "client/write/storage_job.h"
#include "client/write/storage_verbs.h"
#include "client/write/write_dispatcher.h"

namespace ks::client {

Writer::Writer(RestClient& scheduling, RestClient& events, const WriterOptions& options)
    : scheduling_(scheduling),
      dispatcher_(std::make_shared<WriteDispatcher>(scheduling.timers(), options)),
      pods_(std::make_shared<PodWrites>()),
      storage_verbs_(std::make_shared<StorageVerbs>()),
      recorder_(std::make_shared<EventRecorder>(dispatcher_, events, options)) {
  dispatcher_->SetEventBacklog(recorder_);
  recorder_->StartTicks();
}

Writer::~Writer() { dispatcher_->Drain(Duration::zero()); }

void Writer::Bind(api::PodPtr pod, std::string node_name, Done done) {
  // What a patch that nobody has sent yet would say of the pod is no longer true.
  if (pods_->AddBinding(pod->meta.uid)) dispatcher_->Count(&WriterStats::patches_superseded);
  dispatcher_->Add(std::make_shared<BindJob>(dispatcher_, scheduling_, pods_, std::move(pod),
                                             std::move(node_name), std::move(done)));
}

void Writer::PatchPodStatus(api::PodPtr pod, api::PodStatusChange change, Done done) {
  // Most attempts fail as the one before did, and the pod says so.
  if (!dispatcher_->IsClosed() && pods_->IsIdle(pod->meta.uid) &&
      api::PodStatusPatch(*pod, change).empty()) {
    dispatcher_->Count(&WriterStats::patches);
    return ReportDone(std::move(done));
  }
  const auto patch = std::make_shared<PatchJob>(dispatcher_, scheduling_, pods_, std::move(pod),
                                                std::move(change), std::move(done));
  // At the writer's end nothing queued takes on more.
  if (dispatcher_->IsClosed()) return dispatcher_->Add(patch);
  std::optional<Done> superseded = pods_->AddPatch(*patch);
  if (!superseded) return dispatcher_->Add(patch);
  dispatcher_->Count(&WriterStats::patches_superseded);
  ReportDone(*std::move(superseded));
}

void Writer::ReportDone(Done done) {
  dispatcher_->ReportSoon(LaneName::kPatch, [done = std::move(done)] {
    if (done) done(std::nullopt);
  });
}

void Writer::PatchPodGroupStatus(api::PodGroupPtr group, api::Condition condition, Done done) {
  dispatcher_->Add(std::make_shared<GroupPatchJob>(dispatcher_, scheduling_, std::move(group),
                                                   std::move(condition), std::move(done)));
}

void Writer::EvictPod(api::PodPtr pod, api::Condition condition, TimePoint decided,
                      EvictionDone done) {
  dispatcher_->Add(std::make_shared<EvictionJob>(dispatcher_, scheduling_, std::move(pod),
                                                 std::move(condition), decided, std::move(done)));
}

void Writer::WriteVolume(api::PersistentVolumePtr version, WriteDone done) {
  dispatcher_->Add(
      NewVolumeJob(dispatcher_, scheduling_, storage_verbs_, std::move(version), std::move(done)));
}

void Writer::WriteClaim(api::PersistentVolumeClaimPtr version, WriteDone done) {
  dispatcher_->Add(
      NewClaimJob(dispatcher_, scheduling_, storage_verbs_, std::move(version), std::move(done)));
}

void Writer::SendClaimRequest(api::ClaimRequest request, ClaimDone done) {
  const Duration after = request.after;
  const auto job =
      std::make_shared<ClaimJob>(dispatcher_, scheduling_, std::move(request), std::move(done));
  dispatcher_->Add(job);
  if (after > Duration::zero()) dispatcher_->PumpAfter(after, job->lane());
}

void Writer::RecordEvent(framework::PodEvent event) { recorder_->Record(std::move(event)); }

bool Writer::Drain(Duration deadline) { return dispatcher_->Drain(deadline); }

WriterStats Writer::Stats() const { return dispatcher_->Stats(); }

std::function<WriterStats()> Writer::StatsSource() const {
  return [dispatcher = dispatcher_] { return dispatcher->Stats(); };
}

bool DetectEventsApi(RestClient& client) { return client.Get("/apis/events.k8s.io/v1").ok(); }

}  // namespace ks::client
