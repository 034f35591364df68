// SPDX-License-Identifier: Apache-2.0
// The functions of ks_host that belong to a call.

#include <memory>
#include <string>
#include <utility>

#include "framework/handle.h"
#include "modules/objects.h"
#include "modules/plugin_host.h"
#include "modules/texts.h"

namespace ks::modules {
namespace {

using enum CallPoint;

constexpr uint32_t kWritesState = Points({kPreFilter, kPostFilter, kPreScore, kReserve, kPermit});
// The snapshot is there.
constexpr uint32_t kInAttempt =
    Points({kPreFilter, kFilter, kPostFilter, kPreScore, kScore, kNormalize, kReserve, kPermit});
constexpr uint32_t kOffThread = Points({kFilter, kScore, kPreBind});

ks_status Fail(ks_call* handle, ks_status code, ks_str reason) {
  Call* call = CallOf(handle);
  std::string text = TextFrom(reason);
  // An empty one would hide what the host says of a plugin that gives none.
  if (call != nullptr && !text.empty()) call->Said().reasons.push_back(std::move(text));
  return code == KS_SUCCESS ? KS_ERROR : code;
}

ks_result StateSet(ks_call* handle, void* data, void (*destroy)(void*)) {
  auto state = std::make_shared<ForeignState>(data, destroy);
  Call* call = CallOf(handle);
  if (call == nullptr || !call->IsAt(kWritesState) || call->writable == nullptr) return KS_DENIED;
  call->host->state_slot().Write(*call->writable, std::move(state));
  return KS_OK;
}

void* StateGet(ks_call* handle) {
  const Call* call = CallOf(handle);
  if (call == nullptr) return nullptr;
  if (call->state == nullptr) return call->datum;
  const ForeignState* state = call->host->state_slot().Read(*call->state);
  return state == nullptr ? nullptr : state->data().get();
}

// Null outside of an attempt.
const framework::Snapshot* SnapshotOf(const Call* call) {
  if (call == nullptr || !call->IsAt(kInAttempt)) return nullptr;
  return &call->host->handle().snapshot();
}

size_t NodeCount(ks_call* handle) {
  const framework::Snapshot* snapshot = SnapshotOf(CallOf(handle));
  return snapshot == nullptr ? 0 : snapshot->nodes().size();
}

const ks_node* NodeAt(ks_call* handle, size_t index) {
  const framework::Snapshot* snapshot = SnapshotOf(CallOf(handle));
  if (snapshot == nullptr || index >= snapshot->nodes().size()) return nullptr;
  return HandleOf(*snapshot->nodes()[index]);
}

const ks_node* FindNode(ks_call* handle, ks_str name) {
  const framework::Snapshot* snapshot = SnapshotOf(CallOf(handle));
  if (snapshot == nullptr || !IsText(name)) return nullptr;
  const framework::NodeInfo* node = snapshot->Find(ViewOf(name));
  return node == nullptr ? nullptr : HandleOf(*node);
}

const ks_pod* FindPod(ks_call* handle, ks_str pod_namespace, ks_str pod_name) {
  Call* call = CallOf(handle);
  if (call == nullptr || call->IsAt(kOffThread | Points({kCreate}))) return nullptr;
  if (!IsText(pod_namespace) || !IsText(pod_name)) return nullptr;
  std::string key(ViewOf(pod_namespace));
  key.append("/").append(ViewOf(pod_name));
  api::PodPtr pod = call->host->handle().pods().FindPod(key);
  if (pod == nullptr) return nullptr;
  return HandleOf(*call->Said().kept_pods.emplace_back(std::move(pod)));
}

ks_result OnlyNodes(ks_call* handle, const ks_str* names, size_t count) {
  Call* call = CallOf(handle);
  if (call == nullptr || call->point != kPreFilter) return KS_DENIED;
  if (names == nullptr && count != 0) return KS_INVALID;
  for (size_t i = 0; i < count; ++i) {
    if (!IsText(names[i])) return KS_INVALID;
  }
  auto& nodes = call->Said().nodes;
  if (!nodes.has_value()) nodes.emplace();
  for (size_t i = 0; i < count; ++i) nodes->emplace(ViewOf(names[i]));
  return KS_OK;
}

ks_status NodeStatus(ks_call* handle, size_t index) {
  const Call* call = CallOf(handle);
  if (call == nullptr || call->statuses == nullptr) return KS_DENIED;
  if (index >= call->statuses->size()) return KS_NOT_FOUND;
  return static_cast<ks_status>(call->statuses->Get(static_cast<uint32_t>(index)).code());
}

ks_result Nominate(ks_call* handle, ks_str node_name) {
  Call* call = CallOf(handle);
  if (call == nullptr || call->point != kPostFilter) return KS_DENIED;
  if (!IsText(node_name)) return KS_INVALID;
  const framework::Snapshot& snapshot = call->host->handle().snapshot();
  if (node_name.size != 0 && snapshot.Find(ViewOf(node_name)) == nullptr) return KS_NOT_FOUND;
  call->Said().nomination = std::string(ViewOf(node_name));
  return KS_OK;
}

ks_result Sign(ks_call* handle, ks_str key, ks_str json) {
  Call* call = CallOf(handle);
  if (call == nullptr || call->point != kSign) return KS_DENIED;
  if (key.size == 0 || !IsText(key) || json.size == 0 || !IsText(json)) return KS_INVALID;
  call->Said().fragments.push_back({TextFrom(key), TextFrom(json)});
  return KS_OK;
}

}  // namespace

void SetCallFunctions(ks_host* table) {
  table->fail = &Fail;
  table->state_set = &StateSet;
  table->state_get = &StateGet;
  table->node_count = &NodeCount;
  table->node_at = &NodeAt;
  table->find_node = &FindNode;
  table->find_pod = &FindPod;
  table->only_nodes = &OnlyNodes;
  table->node_status = &NodeStatus;
  table->nominate = &Nominate;
  table->sign = &Sign;
}

}  // namespace ks::modules
