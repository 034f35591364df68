// SPDX-License-Identifier: Apache-2.0
// The functions of ks_host that read pods and nodes. Nothing is copied.

#include <string>

#include "framework/pod_requests.h"
#include "modules/objects.h"
#include "modules/plugin_host.h"
#include "modules/texts.h"

namespace ks::modules {
namespace {

using api::ObjectMeta;

ks_str TextOf(const std::shared_ptr<const std::string>& text) {
  return text == nullptr ? ks_str{nullptr, 0} : StrOf(*text);
}

const ObjectMeta& MetaOf(const ks_pod* pod) {
  static const ObjectMeta none;
  return pod == nullptr ? none : PodOf(pod)->meta;
}

const ObjectMeta& MetaOf(const ks_node* node) {
  static const ObjectMeta none;
  return node == nullptr ? none : NodeOf(node)->node()->meta;
}

int32_t Found(const Symbol* value, ks_str* out) {
  if (value == nullptr) return 0;
  if (out != nullptr) *out = StrOf(value->view());
  return 1;
}

int32_t Label(const ObjectMeta& meta, ks_name key, ks_str* value) {
  return Found(meta.labels.Find(BorrowedSymbol(key).symbol()), value);
}

ks_result LabelAt(const ObjectMeta& meta, size_t index, ks_str* key, ks_str* value) {
  if (key == nullptr || value == nullptr) return KS_INVALID;
  if (index >= meta.labels.size()) return KS_NOT_FOUND;
  const auto& entry = *(meta.labels.begin() + static_cast<ptrdiff_t>(index));
  *key = StrOf(entry.first.view());
  *value = StrOf(entry.second.view());
  return KS_OK;
}

int32_t Annotation(const ObjectMeta& meta, ks_name key, ks_str* value) {
  const std::string* found = meta.annotations.Find(BorrowedSymbol(key).symbol());
  if (found == nullptr) return 0;
  if (value != nullptr) *value = StrOf(*found);
  return 1;
}

void SetPodFunctions(ks_host* table) {
  table->pod_namespace = [](const ks_pod* pod) { return StrOf(MetaOf(pod).ns.view()); };
  table->pod_name = [](const ks_pod* pod) { return StrOf(MetaOf(pod).name); };
  table->pod_uid = [](const ks_pod* pod) { return StrOf(MetaOf(pod).uid); };
  table->pod_node_name = [](const ks_pod* pod) {
    return StrOf(pod == nullptr ? std::string_view() : PodOf(pod)->node_name.view());
  };
  table->pod_scheduler_name = [](const ks_pod* pod) {
    return StrOf(pod == nullptr ? std::string_view() : PodOf(pod)->spec->scheduler_name.view());
  };
  table->pod_priority = [](const ks_pod* pod) {
    return pod == nullptr ? 0 : PodOf(pod)->Priority();
  };
  table->pod_label = [](const ks_pod* pod, ks_name key, ks_str* value) {
    return Label(MetaOf(pod), key, value);
  };
  table->pod_label_count = [](const ks_pod* pod) { return MetaOf(pod).labels.size(); };
  table->pod_label_at = [](const ks_pod* pod, size_t index, ks_str* key, ks_str* value) {
    return LabelAt(MetaOf(pod), index, key, value);
  };
  table->pod_annotation = [](const ks_pod* pod, ks_name key, ks_str* value) {
    return Annotation(MetaOf(pod), key, value);
  };
  table->pod_request = [](const ks_pod* pod, ks_name resource) {
    return pod == nullptr
               ? 0
               : framework::PodRequest(*PodOf(pod)).Amount(BorrowedSymbol(resource).symbol());
  };
  table->pod_json = [](const ks_pod* pod) {
    return pod == nullptr ? ks_str{nullptr, 0} : TextOf(PodOf(pod)->raw);
  };
}

ks_result TaintAt(const ks_node* node, size_t index, ks_taint* taint) {
  if (node == nullptr || taint == nullptr) return KS_INVALID;
  const auto& taints = NodeOf(node)->node()->taints;
  if (index >= taints.size()) return KS_NOT_FOUND;
  *taint = {.key = StrOf(taints[index].key.view()),
            .value = StrOf(taints[index].value.view()),
            .effect = StrOf(taints[index].effect.view())};
  return KS_OK;
}

const ks_pod* NodePodAt(const ks_node* node, size_t index) {
  if (node == nullptr || index >= NodeOf(node)->pods().size()) return nullptr;
  return HandleOf(NodeOf(node)->pods()[index]->pod());
}

// The scheduler counts pods apart from what they ask for.
int64_t Requested(const ks_node* node, ks_name resource) {
  if (node == nullptr) return 0;
  const BorrowedSymbol borrowed(resource);
  const Symbol& name = borrowed.symbol();
  if (name == framework::ResourceNames::Get().pods) {
    return static_cast<int64_t>(NodeOf(node)->pods().size());
  }
  return NodeOf(node)->requested().Amount(name);
}

void SetNodeFunctions(ks_host* table) {
  table->node_name = [](const ks_node* node) { return StrOf(MetaOf(node).name); };
  table->node_label = [](const ks_node* node, ks_name key, ks_str* value) {
    return Label(MetaOf(node), key, value);
  };
  table->node_label_count = [](const ks_node* node) { return MetaOf(node).labels.size(); };
  table->node_label_at = [](const ks_node* node, size_t index, ks_str* key, ks_str* value) {
    return LabelAt(MetaOf(node), index, key, value);
  };
  table->node_annotation = [](const ks_node* node, ks_name key, ks_str* value) {
    return Annotation(MetaOf(node), key, value);
  };
  table->node_unschedulable = [](const ks_node* node) {
    return node != nullptr && NodeOf(node)->unschedulable() ? 1 : 0;
  };
  table->node_taint_count = [](const ks_node* node) {
    return node == nullptr ? 0 : NodeOf(node)->node()->taints.size();
  };
  table->node_taint_at = &TaintAt;
  table->node_allocatable = [](const ks_node* node, ks_name resource) {
    return node == nullptr ? 0
                           : NodeOf(node)->allocatable().Amount(BorrowedSymbol(resource).symbol());
  };
  table->node_requested = &Requested;
  table->node_pod_count = [](const ks_node* node) {
    return node == nullptr ? 0 : NodeOf(node)->pods().size();
  };
  table->node_pod_at = &NodePodAt;
  table->node_json = [](const ks_node* node) {
    return node == nullptr ? ks_str{nullptr, 0} : TextOf(NodeOf(node)->node()->raw);
  };
}

}  // namespace

void SetObjectFunctions(ks_host* table) {
  SetPodFunctions(table);
  SetNodeFunctions(table);
}

}  // namespace ks::modules
