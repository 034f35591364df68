// SPDX-License-Identifier: Apache-2.0
#include "plugins/kit/volume/csi_translation.h"

#include <algorithm>
#include <charconv>
#include <set>
#include <utility>
#include <vector>

#include "base/text.h"
#include "golang/quote.h"
#include "plugins/kit/volume/zone_label.h"

namespace ks::plugins {
namespace {

using api::NodeSelectorSpec;
using api::PersistentVolume;
using Source = api::Volume::Source;

constexpr InTreePlugin kInTreePlugins[] = {
    {Source::kGcePersistentDisk, "kubernetes.io/gce-pd", "pd.csi.storage.gke.io", true,
     "topology.gke.io/zone"},
    {Source::kAwsElasticBlockStore, "kubernetes.io/aws-ebs", "ebs.csi.aws.com", true,
     "topology.ebs.csi.aws.com/zone"},
    {Source::kCinder, "kubernetes.io/cinder", "cinder.csi.openstack.org", true,
     "topology.cinder.csi.openstack.org/zone"},
    {Source::kAzureDisk, "kubernetes.io/azure-disk", "disk.csi.azure.com", true, ""},
    {Source::kPortworx, "kubernetes.io/portworx-volume", "pxd.portworx.com", true, ""},
    {Source::kAzureFile, "kubernetes.io/azure-file", "file.csi.azure.com", false, ""},
    {Source::kVsphere, "kubernetes.io/vsphere-volume", "csi.vsphere.vmware.com", false, ""},
};

std::string_view LabelOf(const PersistentVolume& volume, std::string_view key) {
  const Symbol* value = volume.meta.labels.Find(Symbol(key));
  return value == nullptr ? std::string_view() : value->view();
}

// "%2F" becomes "/". Absent where a percent sign is not followed by two hexadecimal digits; `bad`
// is then set to what follows it, at most two characters.
std::optional<std::string> Unescape(std::string_view text, std::string_view* bad) {
  std::string plain;
  for (size_t i = 0; i < text.size(); ++i) {
    if (text[i] != '%') {
      plain += text[i];
      continue;
    }
    const std::string_view digits = text.substr(i + 1, 2);
    uint8_t byte = 0;
    const auto read = std::from_chars(digits.data(), digits.data() + digits.size(), byte, 16);
    if (digits.size() != 2 || read.ptr != digits.data() + 2) {
      *bad = text.substr(i, 3);
      return std::nullopt;
    }
    plain += static_cast<char>(byte);
    i += 2;
  }
  return plain;
}

// "aws://zone/vol-1" is "vol-1", as "vol-1" is.
Result<std::string> EbsHandle(const std::string& id) {
  constexpr std::string_view kScheme = "aws://";
  if (!id.starts_with(kScheme)) return id;
  const std::string failed = "failed to translate Kubernetes ID to EBS Volume ID ";
  std::string_view url = std::string_view(id).substr(kScheme.size());
  url = url.substr(0, url.find_first_of("?#"));
  const size_t slash = url.find('/');
  url = slash == std::string_view::npos ? std::string_view() : url.substr(slash);
  std::string_view bad;
  const std::optional<std::string> path = Unescape(url, &bad);
  if (!path) {
    return Error{failed + "Invalid disk name (" + id + "): parse " + golang::Quote(id) +
                 ": invalid URL escape " + golang::Quote(bad)};
  }
  const std::string_view handle = Trimmed(*path, "/");
  if (!handle.starts_with("vol-") || handle.find('/') != std::string_view::npos) {
    return Error{failed + "Invalid format for AWS volume (" + id + ")"};
  }
  return std::string(handle);
}

std::string GceHandle(std::string_view place, std::string_view disk) {
  return "projects/UNSPECIFIED/" + std::string(place) + "/disks/" + std::string(disk);
}

constexpr std::string_view kNoGceZone = "zones/UNSPECIFIED";

// "us-east1" of "us-east1-b"; absent unless the zone has three parts.
std::optional<std::string_view> RegionOf(std::string_view zone) {
  if (std::count(zone.begin(), zone.end(), '-') != 2) return std::nullopt;
  return zone.substr(0, zone.rfind('-'));
}

// Error: zones of several regions, or not spelled as zones are. Requires: not empty.
Result<std::string> CommonRegion(const std::vector<std::string_view>& zones) {
  const std::string failed = "failed to get region from zones: ";
  std::set<std::string_view> regions;
  for (const std::string_view zone : zones) {
    const std::optional<std::string_view> region = RegionOf(zone);
    if (!region) {
      return Error{failed + "zone in unexpected format, expected: {locale}-{region}-{zone}, got: " +
                   std::string(zone)};
    }
    regions.insert(*region);
  }
  if (regions.size() == 1) return std::string(*regions.begin());
  std::string list;
  for (const std::string_view region : regions) {
    if (!list.empty()) list += ' ';
    list += std::string(region) + ":{}";
  }
  return Error{failed + "multiple or no regions gotten from zones, got: map[" + list + "]"};
}

Result<std::string> GceHandle(const PersistentVolume& volume) {
  std::string_view label = LabelOf(volume, kBetaZoneLabel);
  if (label.empty()) label = LabelOf(volume, kZoneLabel);
  if (label.empty()) return GceHandle(kNoGceZone, volume.source_id);
  const std::vector<std::string_view> zones = SplitZones(label);
  if (zones.size() == 1) return GceHandle("zones/" + std::string(label), volume.source_id);
  Result<std::string> region = CommonRegion(zones);
  if (!region.ok()) return region;
  return GceHandle("regions/" + region.value(), volume.source_id);
}

// The handle for types whose handle follows from the source alone.
Result<std::string> PlainHandle(Source source, const std::string& id, const std::string& kind) {
  if (source == Source::kAwsElasticBlockStore) return EbsHandle(id);
  if (source == Source::kAzureDisk && !kind.empty() && LowerCase(kind) != "managed") {
    return Error{"kind(" + kind + ") is not supported in csi migration"};
  }
  return id;
}

// The two labels by which volumes and affinities name places: the present ones, or those before.
struct LabelFamily {
  std::string_view zone;
  std::string_view region;
};
constexpr LabelFamily kPresentLabels = {kZoneLabel, kRegionLabel};
constexpr LabelFamily kBetaLabels = {kBetaZoneLabel, kBetaRegionLabel};

// Calls visit(requirement) for each expression with the key until it says true; whether it did.
template <class Selector, class Visit>
bool AnyExpression(Selector& selector, std::string_view key, Visit visit) {
  for (auto& term : selector.terms) {
    for (auto& requirement : term.match_expressions) {
      if (requirement.key == key && visit(requirement)) return true;
    }
  }
  return false;
}

bool Uses(const NodeSelectorSpec& affinity, std::string_view key) {
  return AnyExpression(affinity, key, [](const auto&) { return true; });
}

bool HasValues(const NodeSelectorSpec& affinity, std::string_view key) {
  return AnyExpression(affinity, key, [](const auto& found) { return !found.values.empty(); });
}

void Rename(NodeSelectorSpec& affinity, std::string_view from, std::string_view to) {
  AnyExpression(affinity, from, [to](api::SelectorRequirement& requirement) {
    requirement.key = to;
    return false;
  });
}

LabelFamily FamilyOf(const NodeSelectorSpec& affinity, const PersistentVolume& volume) {
  for (const LabelFamily& family : {kPresentLabels, kBetaLabels}) {
    if (Uses(affinity, family.zone)) return family;
  }
  for (const LabelFamily& family : {kPresentLabels, kBetaLabels}) {
    if (volume.meta.labels.Contains(Symbol(family.zone))) return family;
  }
  return kPresentLabels;
}

// False: the label names no zone, and nothing is added.
bool AddZones(std::string_view key, std::string_view label, NodeSelectorSpec& affinity) {
  std::set<std::string> zones;
  for (const std::string_view part : SplitZones(label)) {
    const std::string_view zone = Trimmed(part, kSpace);
    if (!zone.empty()) zones.emplace(zone);
  }
  if (zones.empty()) return false;
  if (affinity.terms.empty()) affinity.terms.emplace_back();
  for (api::NodeSelectorTerm& term : affinity.terms) {
    term.match_expressions.push_back({std::string(key), "In", {zones.begin(), zones.end()}});
  }
  return true;
}

}  // namespace

const InTreePlugin* FindInTreePlugin(Source source) {
  for (const InTreePlugin& plugin : kInTreePlugins) {
    if (plugin.source == source) return &plugin;
  }
  return nullptr;
}

const InTreePlugin* FindInTreePlugin(std::string_view name) {
  for (const InTreePlugin& plugin : kInTreePlugins) {
    if (plugin.name == name) return &plugin;
  }
  return nullptr;
}

bool IsMigratedOn(const api::CsiNode* csi_node, std::string_view in_tree_name) {
  const InTreePlugin* plugin = FindInTreePlugin(in_tree_name);
  if (csi_node == nullptr || plugin == nullptr || !plugin->migrated) return false;
  std::string_view rest = csi_node->migrated_plugins;
  for (size_t comma = rest.find(','); comma != std::string_view::npos; comma = rest.find(',')) {
    if (rest.substr(0, comma) == in_tree_name) return true;
    rest.remove_prefix(comma + 1);
  }
  return rest == in_tree_name;
}

Result<std::string> TranslatedHandle(const api::Volume& volume) {
  if (volume.source == Source::kGcePersistentDisk) return GceHandle(kNoGceZone, volume.id);
  return PlainHandle(volume.source, volume.id, volume.pool);
}

Result<std::string> TranslatedHandle(const PersistentVolume& volume) {
  if (volume.source == Source::kGcePersistentDisk) return GceHandle(volume);
  return PlainHandle(volume.source, volume.source_id, volume.azure_kind);
}

Result<std::optional<NodeSelectorSpec>> TranslatedNodeAffinity(const PersistentVolume& volume) {
  const Result<std::string> handle = TranslatedHandle(volume);
  if (!handle.ok()) return handle.error();
  const std::string_view zone_key = FindInTreePlugin(volume.source)->zone_key;
  std::optional<NodeSelectorSpec> translated = volume.node_affinity_spec;
  if (zone_key.empty()) return translated;
  NodeSelectorSpec affinity = translated.value_or(NodeSelectorSpec());
  const LabelFamily family = FamilyOf(affinity, volume);
  const Symbol* label = volume.meta.labels.Find(Symbol(family.zone));
  if (HasValues(affinity, family.zone)) {
    Rename(affinity, family.zone, zone_key);
  } else if (label != nullptr && AddZones(zone_key, label->view(), affinity)) {
    translated.emplace();
  }
  if (family.zone == kBetaZoneLabel && HasValues(affinity, kBetaRegionLabel)) {
    Rename(affinity, kBetaRegionLabel, kRegionLabel);
  }
  if (translated) translated = std::move(affinity);
  return translated;
}

}  // namespace ks::plugins
