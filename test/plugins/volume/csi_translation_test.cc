// SPDX-License-Identifier: Apache-2.0
#include "plugins/kit/volume/csi_translation.h"

#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "plugins/kit/volume/zone_label.h"
#include "testing/builders.h"

namespace ks::plugins {
namespace {

using api::NodeSelectorSpec;
using api::PersistentVolume;
using testing::MakeLabels;
using Source = api::Volume::Source;

TEST(CsiTranslationTest, Table) {
  struct Case {
    Source source;
    std::string_view name;
    std::string_view driver;
    bool migrated;
    std::string_view zone_key;
  };
  const Case cases[] = {
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
  for (const Case& c : cases) {
    SCOPED_TRACE(c.name);
    const InTreePlugin* plugin = FindInTreePlugin(c.source);
    ASSERT_NE(plugin, nullptr);
    EXPECT_TRUE(api::IsMigratable(c.source));
    EXPECT_EQ(plugin->name, c.name);
    EXPECT_EQ(plugin->driver, c.driver);
    EXPECT_EQ(plugin->migrated, c.migrated);
    EXPECT_EQ(plugin->zone_key, c.zone_key);
    EXPECT_EQ(FindInTreePlugin(c.name), plugin);
  }
  EXPECT_EQ(FindInTreePlugin(Source::kCsi), nullptr);
  EXPECT_EQ(FindInTreePlugin("kubernetes.io/gce-pd "), nullptr);
}

// Trap 13 among others.
TEST(CsiTranslationTest, MigratedOnTheNode) {
  struct Case {
    std::string_view annotation;
    std::string_view name;
    bool want;
  };
  const Case cases[] = {
      {"", "kubernetes.io/gce-pd", false},
      {"kubernetes.io/gce-pd", "kubernetes.io/gce-pd", true},
      {"a,kubernetes.io/gce-pd", "kubernetes.io/gce-pd", true},
      {"kubernetes.io/gce-pd,a", "kubernetes.io/gce-pd", true},
      {"a, kubernetes.io/gce-pd", "kubernetes.io/gce-pd", false},
      {"kubernetes.io/gce-pd2", "kubernetes.io/gce-pd", false},
      {"kubernetes.io/azure-file", "kubernetes.io/azure-file", false},  // not "on"
      {"", "", false},
  };
  for (const Case& c : cases) {
    SCOPED_TRACE(c.annotation);
    api::CsiNode node;
    node.migrated_plugins = c.annotation;
    EXPECT_EQ(IsMigratedOn(&node, c.name), c.want);
  }
  EXPECT_FALSE(IsMigratedOn(nullptr, "kubernetes.io/gce-pd"));
}

std::string Text(const Result<std::string>& result) {
  return result.ok() ? result.value() : "Error: " + result.error().message;
}

TEST(CsiTranslationTest, HandleOfAnInlineVolume) {
  struct Case {
    Source source;
    std::string id;
    std::string kind;
    std::string want;
  };
  const std::string ebs = "Error: failed to translate Kubernetes ID to EBS Volume ID ";
  const Case cases[] = {
      {Source::kGcePersistentDisk, "d", "", "projects/UNSPECIFIED/zones/UNSPECIFIED/disks/d"},
      {Source::kAwsElasticBlockStore, "anything", "", "anything"},
      {Source::kAwsElasticBlockStore, "aws://z/vol-1", "", "vol-1"},
      {Source::kAwsElasticBlockStore, "aws:///vol-1/", "", "vol-1"},
      {Source::kAwsElasticBlockStore, "aws://z/%76ol-1?x#y", "", "vol-1"},
      {Source::kAwsElasticBlockStore, "aws://z/xx", "",
       ebs + "Invalid format for AWS volume (aws://z/xx)"},
      {Source::kAwsElasticBlockStore, "aws://vol-1", "",
       ebs + "Invalid format for AWS volume (aws://vol-1)"},
      {Source::kAwsElasticBlockStore, "aws://z/a/vol-1", "",
       ebs + "Invalid format for AWS volume (aws://z/a/vol-1)"},
      {Source::kAwsElasticBlockStore, "aws://z/vol-%zz", "",
       ebs + R"(Invalid disk name (aws://z/vol-%zz): parse "aws://z/vol-%zz": )"
             R"(invalid URL escape "%zz")"},
      {Source::kAwsElasticBlockStore, "aws://z/vol-%1", "",
       ebs + R"(Invalid disk name (aws://z/vol-%1): parse "aws://z/vol-%1": )"
             R"(invalid URL escape "%1")"},
      {Source::kCinder, "c", "", "c"},
      {Source::kPortworx, "p", "", "p"},
      {Source::kAzureDisk, "/uri", "", "/uri"},
      {Source::kAzureDisk, "/uri", "mAnaged", "/uri"},
      {Source::kAzureDisk, "/uri", "Shared",
       "Error: kind(Shared) is not supported in csi migration"},
  };
  for (const Case& c : cases) {
    SCOPED_TRACE(c.id + c.kind);
    api::Volume volume;
    volume.source = c.source;
    volume.id = c.id;
    volume.pool = c.kind;
    EXPECT_EQ(Text(TranslatedHandle(volume)), c.want);
    if (c.source == Source::kGcePersistentDisk) continue;
    PersistentVolume persistent;
    persistent.source = c.source;
    persistent.source_id = c.id;
    persistent.azure_kind = c.kind;
    EXPECT_EQ(Text(TranslatedHandle(persistent)), c.want);
  }
}

TEST(CsiTranslationTest, HandleOfAGceVolume) {
  struct Case {
    testing::Texts labels;
    std::string want;
  };
  const std::string region = "Error: failed to get region from zones: ";
  const Case cases[] = {
      {{}, "projects/UNSPECIFIED/zones/UNSPECIFIED/disks/d"},
      {{{std::string(kZoneLabel), ""}}, "projects/UNSPECIFIED/zones/UNSPECIFIED/disks/d"},
      {{{std::string(kZoneLabel), "z"}}, "projects/UNSPECIFIED/zones/z/disks/d"},
      {{{std::string(kZoneLabel), "z"}, {std::string(kBetaZoneLabel), "b"}},
       "projects/UNSPECIFIED/zones/b/disks/d"},
      {{{std::string(kZoneLabel), "z"}, {std::string(kBetaZoneLabel), ""}},
       "projects/UNSPECIFIED/zones/z/disks/d"},
      {{{std::string(kZoneLabel), "us-a-1__us-a-2"}}, "projects/UNSPECIFIED/regions/us-a/disks/d"},
      {{{std::string(kZoneLabel), "us-a-1__us-b-2"}},
       region + "multiple or no regions gotten from zones, got: map[us-a:{} us-b:{}]"},
      {{{std::string(kZoneLabel), "us-a-1__us-a"}},
       region + "zone in unexpected format, expected: {locale}-{region}-{zone}, got: us-a"},
  };
  for (const Case& c : cases) {
    SCOPED_TRACE(c.want);
    PersistentVolume volume;
    volume.source = Source::kGcePersistentDisk;
    volume.source_id = "d";
    volume.meta.labels = MakeLabels(c.labels);
    EXPECT_EQ(Text(TranslatedHandle(volume)), c.want);
  }
}

// "k in (a,b) & l in (c) | …", "matches all" without affinity.
std::string Text(const Result<std::optional<NodeSelectorSpec>>& result) {
  if (!result.ok()) return "Error: " + result.error().message;
  if (!result.value()) return "matches all";
  std::string text;
  for (const api::NodeSelectorTerm& term : result.value()->terms) {
    if (!text.empty()) text += " | ";
    std::string expressions;
    for (const api::SelectorRequirement& requirement : term.match_expressions) {
      if (!expressions.empty()) expressions += " & ";
      expressions += requirement.key + " " + requirement.op + " (";
      for (const std::string& value : requirement.values) expressions += value + ",";
      expressions += ")";
    }
    text += expressions.empty() ? "empty" : expressions;
  }
  return text.empty() ? "no terms" : text;
}

struct AffinityCase {
  std::string name;
  Source source = Source::kGcePersistentDisk;
  testing::Texts labels;
  std::optional<NodeSelectorSpec> affinity;
  std::string want;
};

api::NodeSelectorTerm Term(std::vector<api::SelectorRequirement> expressions) {
  return {std::move(expressions), {}};
}

const std::string kZone(kZoneLabel);
const std::string kBetaZone(kBetaZoneLabel);
const std::string kRegion(kRegionLabel);
const std::string kBetaRegion(kBetaRegionLabel);

class CsiAffinityTest : public ::testing::TestWithParam<AffinityCase> {};

TEST_P(CsiAffinityTest, Translated) {
  PersistentVolume volume;
  volume.source = GetParam().source;
  volume.source_id = "aws://z/vol-1";
  volume.meta.labels = MakeLabels(GetParam().labels);
  volume.node_affinity_spec = GetParam().affinity;
  EXPECT_EQ(Text(TranslatedNodeAffinity(volume)), GetParam().want);
}

INSTANTIATE_TEST_SUITE_P(
    Cases, CsiAffinityTest,
    ::testing::ValuesIn(std::vector<AffinityCase>{
        {.name = "Nothing", .want = "matches all"},
        {.name = "Example28",
         .affinity = {{{Term({{kZone, "In", {"us-a-1"}}})}}},
         .want = "topology.gke.io/zone In (us-a-1,)"},
        {.name = "Example30",
         .labels = {{kBetaZone, "us-a-1__us-a-2"}},
         .want = "topology.gke.io/zone In (us-a-1,us-a-2,)"},
        {.name = "Ebs",
         .source = Source::kAwsElasticBlockStore,
         .labels = {{kZone, "z"}},
         .want = "topology.ebs.csi.aws.com/zone In (z,)"},
        {.name = "Cinder",
         .source = Source::kCinder,
         .labels = {{kZone, "z"}},
         .want = "topology.cinder.csi.openstack.org/zone In (z,)"},
        {.name = "AzureStaysAsItIs",
         .source = Source::kAzureDisk,
         .labels = {{kZone, "z"}},
         .affinity = {{{Term({{kZone, "In", {"a"}}})}}},
         .want = kZone + " In (a,)"},
        {.name = "PortworxWithoutAffinity",
         .source = Source::kPortworx,
         .labels = {{kZone, "z"}},
         .want = "matches all"},
        {.name = "ZonesAreTrimmedSortedUnique",
         .source = Source::kCinder,
         .labels = {{kZone, "b __a__b____"}},
         .want = "topology.cinder.csi.openstack.org/zone In (a,b,)"},
        {.name = "NoZoneInTheLabel",
         .source = Source::kCinder,
         .labels = {{kZone, " __"}},
         .want = "matches all"},
        {.name = "EmptyLabelLeavesTheAffinity",
         .labels = {{kZone, ""}},
         .affinity = {{{Term({{"foo", "Exists", {}}})}}},
         .want = "foo Exists ()"},
        {.name = "EmptyLabelAddsNoTerm",
         .labels = {{kZone, ""}},
         .affinity = {NodeSelectorSpec()},
         .want = "no terms"},
        {.name = "EveryExpressionOfEveryTermIsRenamed",
         .affinity = {{{Term({{kZone, "In", {"a"}}, {"x", "Exists", {}}, {kZone, "NotIn", {"b"}}}),
                        Term({{kZone, "Exists", {}}})}}},
         .want = "topology.gke.io/zone In (a,) & x Exists () & topology.gke.io/zone NotIn (b,)"
                 " | topology.gke.io/zone Exists ()"},
        {.name = "KeyWithoutValuesIsLeftAndTheLabelAdded",
         .labels = {{kZone, "z"}},
         .affinity = {{{Term({{kZone, "Exists", {}}}), Term({})}}},
         .want = kZone + " Exists () & topology.gke.io/zone In (z,)"
                         " | topology.gke.io/zone In (z,)"},
        {.name = "AffinityWithoutTermsGetsOne",
         .labels = {{kZone, "z"}},
         .affinity = {NodeSelectorSpec()},
         .want = "topology.gke.io/zone In (z,)"},
        {.name = "AffinityWithoutTermsStays", .affinity = {NodeSelectorSpec()}, .want = "no terms"},
        {.name = "PresentFamilyOfTheAffinityFirst",
         .labels = {{kBetaZone, "z"}},
         .affinity = {{{Term({{kBetaZone, "In", {"a"}}}), Term({{kZone, "In", {"b"}}})}}},
         .want = kBetaZone + " In (a,) | topology.gke.io/zone In (b,)"},
        {.name = "BetaFamilyOfTheAffinityBeforeLabels",
         .labels = {{kZone, "z"}},
         .affinity = {{{Term({{kBetaZone, "In", {"a"}}, {kBetaRegion, "In", {"r"}}})}}},
         .want = "topology.gke.io/zone In (a,) & " + kRegion + " In (r,)"},
        {.name = "PresentLabelBeforeBetaLabel",
         .labels = {{kZone, "z"}, {kBetaZone, "b"}},
         .affinity = {{{Term({{kBetaRegion, "In", {"r"}}})}}},
         .want = kBetaRegion + " In (r,) & topology.gke.io/zone In (z,)"},
        {.name = "BetaLabelRenamesTheRegion",
         .labels = {{kBetaZone, "b"}},
         .affinity = {{{Term({{kBetaRegion, "In", {"r"}}})}}},
         .want = kRegion + " In (r,) & topology.gke.io/zone In (b,)"},
        {.name = "BetaRegionWithoutValuesStays",
         .labels = {{kBetaZone, "b"}},
         .affinity = {{{Term({{kBetaRegion, "Exists", {}}})}}},
         .want = kBetaRegion + " Exists () & topology.gke.io/zone In (b,)"},
        {.name = "NoFamilyNoChange",
         .affinity = {{{Term({{"x", "In", {"a"}}})}}},
         .want = "x In (a,)"},
        {.name = "HandleFails",
         .labels = {{kZone, "us-a-1__us-b-1"}},
         .want = "Error: failed to get region from zones: multiple or no regions gotten from "
                 "zones, got: map[us-a:{} us-b:{}]"},
    }),
    [](const auto& test) { return test.param.name; });

}  // namespace
}  // namespace ks::plugins
