// SPDX-License-Identifier: Apache-2.0
// Writing volumes and claims: one merge patch each, valid for one resourceVersion only. Where
// patches are forbidden, the object with the patch applied here is put (docs/decisions/0036).
#include <nlohmann/json.hpp>

#include "api/json/decode.h"
#include "api/json/storage_patches.h"
#include "base/logging.h"
#include "client/write/writer_core.h"

namespace ks::client {
namespace {

constexpr const char* kMergePatch = "application/merge-patch+json";

constexpr int kForbidden = 403;

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

api::ApiError ModifiedSince(const RestRequest& request) {
  api::ApiError error;
  error.code = 409;
  error.reason = "Conflict";
  error.message = "Operation cannot be fulfilled on " + request.resource + " \"" + request.name +
                  "\": the object has been modified; please apply your changes to the latest "
                  "version and try again";
  return error;
}

// The object with the patch applied, everything else as it was; nothing if the object is not the
// one of that version. Both are JSON.
std::optional<std::string> WithPatch(std::string_view object, std::string_view patch,
                                     const std::string& version) {
  using Json = nlohmann::ordered_json;
  Json patched = Json::parse(object, nullptr, /*allow_exceptions=*/false);
  if (!patched.is_object()) return std::nullopt;
  const Json::json_pointer place("/metadata/resourceVersion");
  if (!patched.contains(place) || patched.at(place) != version) return std::nullopt;
  patched.merge_patch(Json::parse(patch));
  return patched.dump();
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

// The read of an object, without method and body of a write.
RestRequest Writer::Core::StorageRequest(const Job& job) {
  return job.volume ? VolumeRequest(*job.volume) : ClaimRequest(*job.claim);
}

std::string Writer::Core::VersionIfAsWanted(const Job& job, const RestReply& reply) {
  return job.volume ? VersionIfWanted(reply, *job.volume) : VersionIfWanted(reply, *job.claim);
}

void Writer::Core::SendStorage(const JobPtr& job) {
  if (job->tries == 1 && !job->forbidden) {
    MutexLock lock(mutex_);
    job->puts = storage_puts_.contains(StorageRequest(*job).resource);
  }
  if (job->puts) {
    return Send(
        job, scheduling_, StorageRequest(*job),
        [self = shared_from_this(), job](RestReply reply) { self->Put(job, std::move(reply)); });
  }
  RestRequest request = StorageRequest(*job);
  request.method = "PATCH";
  request.content_type = kMergePatch;
  request.body =
      job->volume ? api::VolumeBindingPatch(*job->volume) : api::SelectedNodePatch(*job->claim);
  Send(job, scheduling_, std::move(request), [self = shared_from_this(), job](RestReply reply) {
    self->StorageAnswered(job, std::move(reply));
  });
}

// `found`: the answer with the object as it is now, which must be the version that was decided on.
void Writer::Core::Put(const JobPtr& job, RestReply found) {
  found.uncertain = false;  // nothing was written
  if (!found.ok()) return StorageAnswered(job, std::move(found));
  if (job->uncertain) {
    job->resource_version = VersionIfAsWanted(*job, found);
    if (!job->resource_version.empty()) return Finish(job, std::nullopt);
  }
  RestRequest request = StorageRequest(*job);
  std::optional<std::string> body =
      job->volume ? WithPatch(found.body, api::VolumeBindingPatch(*job->volume),
                              job->volume->meta.resource_version)
                  : WithPatch(found.body, api::SelectedNodePatch(*job->claim),
                              job->claim->meta.resource_version);
  if (!body) return Finish(job, ModifiedSince(request));
  request.method = "PUT";
  request.body = std::move(*body);
  Send(job, scheduling_, std::move(request), [self = shared_from_this(), job](RestReply reply) {
    self->StorageAnswered(job, std::move(reply));
  });
}

// A conflict is final: the object is not what the decision was made on. After an uncertain try it
// may be our own.
void Writer::Core::StorageAnswered(const JobPtr& job, RestReply reply) {
  if (reply.ok()) {
    job->resource_version = VersionIfAsWanted(*job, reply);
    if (job->forbidden) RememberWay(*job);
    return Finish(job, std::nullopt);
  }
  job->uncertain = job->uncertain || reply.uncertain;
  if (reply.error->code == kForbidden && !job->forbidden) {
    job->forbidden = std::move(*reply.error);
    job->puts = !job->puts;
    return SendStorage(job);
  }
  if (Retry(job, reply, /*on_conflict=*/false)) return;
  // Of two refusals the first is told, that of the way which is to be granted.
  if (reply.error->code == kForbidden) reply.error = job->forbidden;
  if (job->uncertain) return AskWhatBecame(job, std::move(*reply.error));
  Finish(job, std::move(reply.error));
}

// Only what worked is remembered: a single object may be forbidden both ways (by a webhook).
void Writer::Core::RememberWay(const Job& job) {
  const std::string resource = StorageRequest(job).resource;
  {
    MutexLock lock(mutex_);
    if (job.puts == storage_puts_.contains(resource)) return;
    if (job.puts) {
      storage_puts_.insert(resource);
    } else {
      storage_puts_.erase(resource);
    }
  }
  log::Info(0,
            job.puts ? "Patches are forbidden: whole objects are read and written back instead"
                     : "Updates are forbidden: objects are patched again",
            {{"resource", resource}, {"err", job.forbidden->message}});
}

void Writer::Core::AskWhatBecame(const JobPtr& job, api::ApiError error) {
  auto handler = [self = shared_from_this(), job,
                  error = std::move(error)](const RestReply& reply) {
    job->resource_version = VersionIfAsWanted(*job, reply);
    if (job->resource_version.empty()) return self->Finish(job, error);
    self->Finish(job, std::nullopt);
  };
  Send(job, scheduling_, StorageRequest(*job), std::move(handler));
}

}  // namespace ks::client
