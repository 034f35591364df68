// SPDX-License-Identifier: Apache-2.0
#include "inspect/explain_volumes.h"

#include <algorithm>
#include <map>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "inspect/explain_claims.h"
#include "plugins/node_volume_limits/attached_volumes.h"
#include "plugins/node_volume_limits/node_volume_limits.h"
#include "plugins/node_volume_limits/volume_identity.h"
#include "plugins/volume_binding/volume_binding.h"

namespace ks::inspect {
namespace {

using framework::NodeInfo;
using plugins::AttachableVolume;

constexpr std::string_view kTooManyVolumes = "node(s) exceed max volume count";
constexpr std::string_view kNotInstalled = " CSI driver is not installed on the node";

const api::CsiNode::Driver* FindDriver(const api::CsiNode* csi_node, std::string_view name) {
  if (csi_node == nullptr) return nullptr;
  for (const api::CsiNode::Driver& driver : csi_node->drivers) {
    if (driver.name == name) return &driver;
  }
  return nullptr;
}

// Drivers and limits on nodes for the volumes of a pod.
class DriverExplainer {
 public:
  DriverExplainer(const api::Pod& pod, const framework::StorageState& storage) : storage_(storage) {
    std::vector<AttachableVolume> volumes;
    if (!plugins::IdentifyVolumes(pod, plugins::CsiNodePresence::kPresent, storage, &volumes)
             .ok()) {
      return;
    }
    for (AttachableVolume& volume : volumes) wanted_[volume.driver].insert(std::move(volume.name));
  }

  // The detail of a node that exceeds a limit: the one that lacks the fewest places.
  std::optional<RowDetail> WhyTooMany(NodeSpan nodes) const {
    std::optional<RowDetail> best;
    int64_t least_lacking = 0;
    for (const NodeInfo* node : nodes) {
      plugins::VolumeCounts attached;
      if (!plugins::CountAttached(node->pods(), storage_, &attached).ok()) continue;
      for (const auto& [driver, names] : wanted_) {
        const int64_t lacking = Lacking(*node, driver, names, attached);
        if (lacking <= 0 || (best && lacking >= least_lacking)) continue;
        least_lacking = lacking;
        best = RowDetail{node->name(), LimitText(*node, driver, names, attached)};
      }
    }
    return best;
  }

  static std::string WhereMissing(const std::vector<std::string>& nodes) {
    return "not in the CSINode of " + SomeNames(nodes);
  }

  // One about each driver of the pod that some nodes lack, unless `told` has it. A provisioner that
  // no CSINode and no CSIDriver names is no CSI driver.
  std::vector<std::string> NotesOnMissing(NodeSpan nodes, const std::set<std::string>& told) const {
    std::vector<std::string> notes;
    // A dump without them, or nodes without kubelets.
    const bool no_csi_nodes = std::none_of(nodes.begin(), nodes.end(), [&](const NodeInfo* node) {
      return storage_.FindCsiNode(node->name()) != nullptr;
    });
    if (no_csi_nodes) return notes;
    for (const auto& [driver, names] : wanted_) {
      if (told.contains(driver.str())) continue;
      std::vector<std::string> lacking;
      for (const NodeInfo* node : nodes) {
        const api::CsiNodePtr csi_node = storage_.FindCsiNode(node->name());
        if (FindDriver(csi_node.get(), driver.view()) == nullptr) lacking.push_back(node->name());
      }
      const bool somewhere = lacking.size() < nodes.size();
      if (lacking.empty() || (!somewhere && storage_.FindCsiDriver(driver.view()) == nullptr)) {
        continue;
      }
      std::sort(lacking.begin(), lacking.end());
      notes.push_back("CSI driver " + driver.str() + " is " + WhereMissing(lacking) +
                      ": volumes of the pod cannot be attached there");
    }
    return notes;
  }

 private:
  static int64_t New(const std::set<std::string>& names, const plugins::VolumeCounts& attached) {
    return std::count_if(names.begin(), names.end(),
                         [&](const std::string& name) { return !attached.Contains(name); });
  }

  // Volumes that are attached to the node although none of its pods uses them.
  int64_t Unused(const NodeInfo& node, const Symbol& driver,
                 const plugins::VolumeCounts& attached) const {
    std::set<std::string> unused;
    for (const api::VolumeAttachmentPtr& attachment : storage_.AttachmentsOf(node.name())) {
      if (attachment->attacher != driver.view() || !attachment->persistent_volume_name) continue;
      const auto volume = storage_.FindVolume(*attachment->persistent_volume_name);
      if (volume == nullptr || volume->source != api::Volume::Source::kCsi) continue;
      const auto identity = plugins::MakeAttachable(driver.view(), volume->volume_handle);
      if (identity && !attached.Contains(identity->name)) unused.insert(identity->name);
    }
    return static_cast<int64_t>(unused.size());
  }

  // Places for volumes that the node has too few; at most 0: it has enough.
  int64_t Lacking(const NodeInfo& node, const Symbol& driver, const std::set<std::string>& names,
                  const plugins::VolumeCounts& attached) const {
    const api::CsiNodePtr csi_node = storage_.FindCsiNode(node.name());
    const api::CsiNode::Driver* found = FindDriver(csi_node.get(), driver.view());
    if (found == nullptr || !found->allocatable_count) return 0;
    const int64_t added = New(names, attached);
    if (added == 0) return 0;
    return attached.Count(driver) + Unused(node, driver, attached) + added -
           *found->allocatable_count;
  }

  // Requires: a limit.
  std::string LimitText(const NodeInfo& node, const Symbol& driver,
                        const std::set<std::string>& names,
                        const plugins::VolumeCounts& attached) const {
    const api::CsiNodePtr csi_node = storage_.FindCsiNode(node.name());
    const int64_t limit = *FindDriver(csi_node.get(), driver.view())->allocatable_count;
    const int64_t unused = Unused(node, driver, attached);
    return "the pod adds " + std::to_string(New(names, attached)) + " of driver " + driver.str() +
           "; " + node.name() + " takes " + std::to_string(limit) + " and has " +
           std::to_string(attached.Count(driver)) +
           (unused > 0 ? " in use and " + std::to_string(unused) + " attached without use" : "");
  }

  const framework::StorageState& storage_;
  std::map<Symbol, std::set<std::string>> wanted_;  // names of volumes by driver
};

// The nodes by plugin and reason.
using Rows = std::map<std::pair<std::string, std::string>, std::vector<const NodeInfo*>>;

Rows RowsOf(const Explanation& explanation, const framework::Snapshot& snapshot,
            std::string_view only_node) {
  Rows rows;
  for (const NodeVerdict& verdict : explanation.nodes) {
    if (!only_node.empty() && verdict.name != only_node) continue;
    const NodeInfo* node = snapshot.Find(verdict.name);
    if (node == nullptr) continue;
    for (const std::string& reason : verdict.reasons) {
      rows[{verdict.plugin, reason}].push_back(node);
    }
  }
  return rows;
}

std::vector<std::string> NamesOf(NodeSpan nodes) {
  std::vector<std::string> names;
  for (const NodeInfo* node : nodes) names.push_back(node->name());
  return names;
}

}  // namespace

void ExplainVolumes(const api::Pod& pod, const framework::Snapshot& snapshot,
                    const framework::StorageState& storage, std::string_view only_node,
                    Explanation* explanation) {
  if (!plugins::MayAttach(pod)) return;
  ClaimExplainer claims(pod, snapshot, storage);
  const DriverExplainer drivers(pod, storage);
  std::set<std::string> told;
  for (const auto& [row, nodes] : RowsOf(*explanation, snapshot, only_node)) {
    const auto& [plugin, reason] = row;
    std::optional<RowDetail> detail;
    if (plugin == plugins::kVolumeBindingName) {
      detail = claims.Why(reason, nodes);
    } else if (plugin == plugins::kNodeVolumeLimitsName && reason == kTooManyVolumes) {
      detail = drivers.WhyTooMany(nodes);
    } else if (plugin == plugins::kNodeVolumeLimitsName && reason.ends_with(kNotInstalled)) {
      told.insert(reason.substr(0, reason.size() - kNotInstalled.size()));
      detail = {nodes.front()->name(), DriverExplainer::WhereMissing(NamesOf(nodes))};
    }
    if (!detail) continue;
    explanation->details.push_back({.plugin = plugin,
                                    .reason = reason,
                                    .node = std::move(detail->node),
                                    .text = std::move(detail->text)});
  }
  std::vector<const NodeInfo*> all;
  for (const NodeVerdict& verdict : explanation->nodes) {
    const NodeInfo* node = snapshot.Find(verdict.name);
    if (node != nullptr && (only_node.empty() || verdict.name == only_node)) all.push_back(node);
  }
  for (std::string& note : drivers.NotesOnMissing(all, told)) {
    explanation->notes.push_back(std::move(note));
  }
}

}  // namespace ks::inspect
