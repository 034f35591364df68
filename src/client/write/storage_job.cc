// SPDX-License-Identifier: Apache-2.0
#include "client/write/storage_job.h"

#include <nlohmann/json.hpp>

#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include "api/decode/decoder.h"
#include "api/json/storage_patches.h"
#include "base/logging.h"

namespace ks::client {
namespace {

using framework::ApiWriter;

constexpr int kForbidden = 403;

// ---- what differs between volumes and claims ----

// The read of the object, without method and body of a write.
RestRequest ReadRequest(const api::PersistentVolume& volume) {
  return {.target = "/api/v1/persistentvolumes/" + volume.meta.name,
          .resource = "persistentvolumes",
          .name = volume.meta.name};
}

RestRequest ReadRequest(const api::PersistentVolumeClaim& claim) {
  return {.target = "/api/v1/namespaces/" + claim.meta.ns.str() + "/persistentvolumeclaims/" +
                    claim.meta.name,
          .resource = "persistentvolumeclaims",
          .name = claim.meta.name};
}

std::string MergePatch(const api::PersistentVolume& volume) {
  return api::VolumeBindingPatch(volume);
}

std::string MergePatch(const api::PersistentVolumeClaim& claim) {
  return api::SelectedNodePatch(claim);
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

// ---- texts ----

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

// ---- the job ----

// `Object`: PersistentVolume or PersistentVolumeClaim.
template <class Object>
class StorageJob final : public WriteJob {
 public:
  using ObjectPtr = std::shared_ptr<const Object>;

  StorageJob(std::shared_ptr<WriteDispatcher> dispatcher, RestClient& client,
             std::shared_ptr<StorageVerbs> verbs, ObjectPtr wanted, ApiWriter::WriteDone done)
      : WriteJob(std::move(dispatcher), client, LaneName::kBind),
        verbs_(std::move(verbs)),
        wanted_(std::move(wanted)),
        done_(std::move(done)) {}

  Counter CountedAs(bool ok) const override {
    return ok ? &WriterStats::volume_writes : &WriterStats::volume_write_failures;
  }

  void Report(std::optional<api::ApiError> error) override {
    const ApiWriter::WriteDone done = std::move(done_);
    if (done) done(std::move(error), std::move(written_version_));
  }

 private:
  void Try() override {
    if (tries() == 1) puts_ = verbs_->Puts(ReadRequest(*wanted_).resource);
    SendWrite();
  }

  void SendWrite() {
    RestRequest request = ReadRequest(*wanted_);
    if (puts_) return Send(std::move(request), &StorageJob::OnRead);
    request.method = "PATCH";
    request.content_type = "application/merge-patch+json";
    request.body = MergePatch(*wanted_);
    Send(std::move(request), &StorageJob::OnAnswer);
  }

  // `found`: the answer with the object as it is now, which must be the version that was decided
  // on.
  void OnRead(RestReply found) {
    if (!found.ok()) return OnAnswer(std::move(found));
    if (uncertain()) {
      written_version_ = VersionIfAsWanted(found);
      if (!written_version_.empty()) return End(std::nullopt);
    }
    RestRequest request = ReadRequest(*wanted_);
    std::optional<std::string> body =
        WithPatch(found.body, MergePatch(*wanted_), wanted_->meta.resource_version);
    if (!body) return End(ModifiedSince(request));
    request.method = "PUT";
    request.body = std::move(*body);
    Send(std::move(request), &StorageJob::OnAnswer);
  }

  // A conflict is final: the object is not what the decision was made on. After an uncertain try it
  // may be our own.
  void OnAnswer(RestReply reply) {
    if (reply.ok()) {
      written_version_ = VersionIfAsWanted(reply);
      if (forbidden_) RememberVerb();
      return End(std::nullopt);
    }
    if (reply.error->code == kForbidden && !forbidden_) {
      forbidden_ = std::move(*reply.error);
      puts_ = !puts_;
      return SendWrite();
    }
    if (RetryIfTemporary(*reply.error, /*on_conflict=*/false)) return;
    // The caller gets the first of two refusals, that of the way which is to be granted.
    if (reply.error->code == kForbidden) reply.error = forbidden_;
    if (!uncertain()) return End(std::move(reply.error));
    failure_ = std::move(reply.error);
    Send(ReadRequest(*wanted_), &StorageJob::OnFinalRead);
  }

  void OnFinalRead(const RestReply& reply) {
    written_version_ = VersionIfAsWanted(reply);
    End(written_version_.empty() ? std::move(failure_) : std::nullopt);
  }

  // Only what worked is remembered: a single object may be forbidden both ways (by a webhook).
  void RememberVerb() {
    const std::string resource = ReadRequest(*wanted_).resource;
    if (!verbs_->Remember(resource, puts_)) return;
    log::Info(0,
              puts_ ? "Patches are forbidden: whole objects are read and written back instead"
                    : "Updates are forbidden: objects are patched again",
              {{"resource", resource}, {"err", forbidden_->message}});
  }

  // The resourceVersion of the object in the answer if it is as wanted, else nothing.
  std::string VersionIfAsWanted(const RestReply& reply) const {
    if (!reply.ok()) return {};
    api::Decoder decoder;
    const Result<ObjectPtr> found = decoder.Object<Object>(reply.body);
    if (!found.ok() || !IsAsWanted(**found, *wanted_)) return {};
    return (*found)->meta.resource_version;
  }

  const std::shared_ptr<StorageVerbs> verbs_;
  const ObjectPtr wanted_;
  ApiWriter::WriteDone done_;
  std::string written_version_;             // the object's, once it is written
  bool puts_ = false;                       // the object is read and put, not patched
  std::optional<api::ApiError> forbidden_;  // the answer to the way tried first
  std::optional<api::ApiError> failure_;    // of the last try, while the object is read
};

}  // namespace

JobPtr NewVolumeJob(std::shared_ptr<WriteDispatcher> dispatcher, RestClient& client,
                    std::shared_ptr<StorageVerbs> verbs, api::PersistentVolumePtr version,
                    framework::ApiWriter::WriteDone done) {
  return std::make_shared<StorageJob<api::PersistentVolume>>(
      std::move(dispatcher), client, std::move(verbs), std::move(version), std::move(done));
}

JobPtr NewClaimJob(std::shared_ptr<WriteDispatcher> dispatcher, RestClient& client,
                   std::shared_ptr<StorageVerbs> verbs, api::PersistentVolumeClaimPtr version,
                   framework::ApiWriter::WriteDone done) {
  return std::make_shared<StorageJob<api::PersistentVolumeClaim>>(
      std::move(dispatcher), client, std::move(verbs), std::move(version), std::move(done));
}

}  // namespace ks::client
