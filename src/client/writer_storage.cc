// SPDX-License-Identifier: Apache-2.0
// Writing volumes and claims: one merge patch each, valid for one resourceVersion only.
#include "api/decode.h"
#include "api/storage_patches.h"
#include "client/writer_core.h"

namespace ks::client {
namespace {

constexpr const char* kMergePatch = "application/merge-patch+json";

RestRequest VolumeRequest(const api::PersistentVolume& volume) {
  return {.target = "/api/v1/persistentvolumes/" + volume.meta.name,
          .resource = "persistentvolumes",
          .name = volume.meta.name};
}

RestRequest ClaimRequest(const api::PersistentVolumeClaim& claim) {
  return {.target = "/api/v1/namespaces/" + claim.meta.ns.str() + "/persistentvolumeclaims/" +
                    claim.meta.name,
          .resource = "persistentvolumeclaims",
          .name = claim.meta.name};
}

bool IsAsWanted(const api::PersistentVolume& found, const api::PersistentVolume& wanted) {
  if (found.meta.uid != wanted.meta.uid || !found.claim_ref || !wanted.claim_ref) return false;
  return found.claim_ref->ns == wanted.claim_ref->ns &&
         found.claim_ref->name == wanted.claim_ref->name &&
         found.claim_ref->uid == wanted.claim_ref->uid;
}

bool IsAsWanted(const api::PersistentVolumeClaim& found, const api::PersistentVolumeClaim& wanted) {
  return found.meta.uid == wanted.meta.uid && found.selected_node == wanted.selected_node;
}

// The resourceVersion of the object in the answer if it is as wanted, else nothing.
template <class T>
std::string VersionIfWanted(const RestReply& reply, const T& wanted) {
  if (!reply.ok()) return {};
  api::Decoder decoder;
  const Result<std::shared_ptr<const T>> found = decoder.Object<T>(reply.body);
  if (!found.ok() || !IsAsWanted(**found, wanted)) return {};
  return (*found)->meta.resource_version;
}

}  // namespace

void Writer::Core::WriteVolume(api::PersistentVolumePtr version, WriteDone done) {
  auto job = std::make_shared<Job>();
  job->volume = std::move(version);
  job->written = std::move(done);
  Enqueue(job);
}

void Writer::Core::WriteClaim(api::PersistentVolumeClaimPtr version, WriteDone done) {
  auto job = std::make_shared<Job>();
  job->claim = std::move(version);
  job->written = std::move(done);
  Enqueue(job);
}

void Writer::Core::SendStorage(const JobPtr& job) {
  RestRequest request = job->volume ? VolumeRequest(*job->volume) : ClaimRequest(*job->claim);
  request.method = "PATCH";
  request.content_type = kMergePatch;
  request.body =
      job->volume ? api::VolumeBindingPatch(*job->volume) : api::SelectedNodePatch(*job->claim);
  Send(job, scheduling_, std::move(request), [self = shared_from_this(), job](RestReply reply) {
    self->StorageAnswered(job, std::move(reply));
  });
}

// A conflict is final: the object is not what the decision was made on. After an uncertain try it
// may be our own.
void Writer::Core::StorageAnswered(const JobPtr& job, RestReply reply) {
  if (reply.ok()) {
    job->resource_version =
        job->volume ? VersionIfWanted(reply, *job->volume) : VersionIfWanted(reply, *job->claim);
    return Finish(job, std::nullopt);
  }
  job->uncertain = job->uncertain || reply.uncertain;
  if (Retry(job, reply, /*on_conflict=*/false)) return;
  if (job->uncertain) return AskWhatBecame(job, std::move(*reply.error));
  Finish(job, std::move(reply.error));
}

void Writer::Core::AskWhatBecame(const JobPtr& job, api::ApiError error) {
  auto handler = [self = shared_from_this(), job,
                  error = std::move(error)](const RestReply& reply) {
    job->resource_version =
        job->volume ? VersionIfWanted(reply, *job->volume) : VersionIfWanted(reply, *job->claim);
    if (job->resource_version.empty()) return self->Finish(job, error);
    self->Finish(job, std::nullopt);
  };
  Send(job, scheduling_, job->volume ? VolumeRequest(*job->volume) : ClaimRequest(*job->claim),
       std::move(handler));
}

}  // namespace ks::client
