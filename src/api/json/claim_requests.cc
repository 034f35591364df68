// SPDX-License-Identifier: Apache-2.0
#include "api/json/claim_requests.h"

#include <algorithm>
#include <utility>
#include <vector>

#include "api/json/encode_claim.h"
#include "api/json/object_writer.h"
#include "base/canary.h"
#include "golang/json_text.h"

namespace ks::api {
namespace {

using Verb = ClaimRequest::Verb;

ClaimRequest RequestFor(const ResourceClaim& claim, Verb verb, std::string body) {
  return {.verb = verb,
          .ns = claim.meta.ns.str(),
          .name = verb == Verb::kCreate ? std::string() : claim.meta.name,
          .body = std::move(body)};
}

// The fields of metadata by which a patch is refused if the claim is not the known one any more.
ObjectWriter Known(const ResourceClaim& claim) {
  ObjectWriter metadata;
  metadata.Text("uid", claim.meta.uid).Text("resourceVersion", claim.meta.resource_version);
  return metadata;
}

ClaimRequest FinalizersRequest(const ResourceClaim& claim,
                               const std::vector<std::string>& finalizers) {
  const std::string metadata = Known(claim).Raw("finalizers", StringsJson(finalizers)).Done();
  return RequestFor(claim, Verb::kPatch, ObjectWriter().Raw("metadata", metadata).Done());
}

ClaimRequest StatusRequest(const ResourceClaim& claim, const ObjectWriter& status) {
  ObjectWriter known;
  if (KS_CANARY(ClaimPatchUnguarded)) {
    known.Text("uid", claim.meta.uid);
  } else {
    known = Known(claim);
  }
  return RequestFor(
      claim, Verb::kPatchStatus,
      ObjectWriter().Raw("metadata", known.Done()).Raw("status", status.Done()).Done());
}

}  // namespace

ClaimRequest GetClaimRequest(const ResourceClaim& claim) {
  return RequestFor(claim, Verb::kGet, "");
}

ClaimRequest AddFinalizerRequest(const ResourceClaim& claim) {
  std::vector<std::string> finalizers = claim.finalizers;
  if (std::ranges::find(finalizers, kClaimDeleteProtection) == finalizers.end()) {
    finalizers.emplace_back(kClaimDeleteProtection);
  }
  return FinalizersRequest(claim, finalizers);
}

ClaimRequest RemoveFinalizerRequest(const ResourceClaim& claim) {
  std::vector<std::string> finalizers = claim.finalizers;
  std::erase(finalizers, kClaimDeleteProtection);
  return FinalizersRequest(claim, finalizers);
}

ClaimRequest BindClaimRequest(const ResourceClaim& claim, const ClaimBinding& binding) {
  ObjectWriter status;
  const std::string allocation = AllocationJson(binding.allocation.get(), binding.allocated_at);
  if (!allocation.empty()) status.Raw("allocation", allocation);
  std::vector<ClaimConsumer> consumers = claim.reserved_for;
  consumers.push_back(binding.consumer);
  status.Raw("reservedFor", ConsumersJson(consumers));
  return StatusRequest(claim, status);
}

ClaimRequest DeallocateRequest(const ResourceClaim& claim) {
  ObjectWriter status;
  status.Raw("allocation", "null").Raw("reservedFor", "null").Raw("devices", "null");
  return StatusRequest(claim, status);
}

ClaimRequest RemoveConsumerRequest(const ResourceClaim& claim, std::string_view consumer_uid) {
  ClaimRequest request =
      RequestFor(claim, Verb::kPatchStatus,
                 R"({"metadata": {"uid": )" + golang::JsonString(claim.meta.uid) +
                     R"(}, "status": { "reservedFor": [ {"$patch": "delete", "uid": )" +
                     golang::JsonString(consumer_uid) + "} ] }}");
  request.strategic = true;
  return request;
}

ClaimRequest CreateExtendedClaimRequest(const ResourceClaim& claim,
                                        std::string_view generate_name) {
  const std::string annotations =
      ObjectWriter().Text(kExtendedResourceClaimAnnotation, "true").Done();
  const std::string metadata = ObjectWriter()
                                   .Text("name", claim.meta.name)
                                   .Text("generateName", generate_name)
                                   .Text("namespace", claim.meta.ns.view())
                                   .Raw("annotations", annotations)
                                   .Raw("ownerReferences", OwnersJson(*claim.meta.owner_references))
                                   .Done();
  const std::string devices =
      ObjectWriter().Raw("requests", ListJson(claim.requests, RequestJson)).Done();
  return RequestFor(claim, Verb::kCreate,
                    ObjectWriter()
                        .Text("kind", "ResourceClaim")
                        .Text("apiVersion", "resource.k8s.io/v1")
                        .Raw("metadata", metadata)
                        .Raw("spec", ObjectWriter().Raw("devices", devices).Done())
                        .Done());
}

ClaimRequest DeleteClaimRequest(const ResourceClaim& claim) {
  return RequestFor(claim, Verb::kDelete,
                    ObjectWriter().Text("kind", "DeleteOptions").Text("apiVersion", "v1").Done());
}

}  // namespace ks::api
