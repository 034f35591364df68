// SPDX-License-Identifier: Apache-2.0
// Rows 68 to 74 of docs/spec/plugins-node.md 7.5 (ex68 to ex74), and trap 16. Row 99 is in
// test/cache/snapshot_test.cc: the cache keeps the counts.
#include "plugins/image_locality/image_locality.h"

#include <algorithm>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "plugins/plugin_rig.h"

namespace ks::plugins {
namespace {

using framework::ImageState;
using testing::MakeNode;
using testing::MakePod;
using testing::PodBuilder;

constexpr int64_t kMib = 1024 * 1024;

std::vector<ImageState> Sorted(std::vector<ImageState> images) {
  std::sort(images.begin(), images.end(),
            [](const ImageState& a, const ImageState& b) { return a.name < b.name; });
  return images;
}

PodBuilder Uses(const std::vector<std::string>& images) {
  PodBuilder pod = MakePod();
  for (const std::string& image : images) pod.Req({}, image);
  return pod;
}

PodBuilder WithVolume(PodBuilder pod, api::Volume::Source source, std::string reference) {
  api::Volume volume;
  volume.source = source;
  volume.id = std::move(reference);
  pod.spec().volumes.push_back(std::move(volume));
  return pod;
}
PodBuilder WithImageVolume(PodBuilder pod, std::string reference) {
  return WithVolume(std::move(pod), api::Volume::Source::kImage, std::move(reference));
}

TEST(ImageLocalityTest, FourNodes) {
  struct Case {
    std::string name;
    PodBuilder pod;
    std::vector<int64_t> want;
  };
  const Case cases[] = {
      {"ex68", Uses({"gcr.io/a:v1"}), {23, 0, 23, 0}},
      {"ex69", Uses({"gcr.io/b"}), {0, 50, 50, 0}},
      {"ex70", Uses({"gcr.io/a:v1", "gcr.io/b"}), {11, 24, 37, 0}},
      {"ex71", Uses({"gcr.io/a:v1", "gcr.io/b"}).InitReq({}, "gcr.io/a:v1"), {16, 16, 33, 0}},
      {"ex72", WithImageVolume(Uses({"x:y"}), "gcr.io/b"), {0, 24, 24, 0}},
      {"a claim of that name",
       WithVolume(Uses({"x:y"}), api::Volume::Source::kPersistentVolumeClaim, "gcr.io/b"),
       {0, 0, 0, 0}},
      {"no images", MakePod(), {0, 0, 0, 0}},
  };
  PluginRig rig(NewImageLocality);
  const ImageState a{Symbol("gcr.io/a:v1"), 2, 500 * kMib};
  const ImageState b{Symbol("gcr.io/b:latest"), 2, 1024 * kMib};
  rig.AddNode(MakeNode()).SetImages({a});
  rig.AddNode(MakeNode()).SetImages({b});
  rig.AddNode(MakeNode()).SetImages(Sorted({a, b}));
  rig.AddNode(MakeNode());
  for (const Case& c : cases) {
    SCOPED_TRACE(c.name);
    EXPECT_EQ(rig.ScoreAll(*c.pod.Obj()), c.want);
  }
}

TEST(ImageLocalityTest, OneNode) {
  struct Case {
    std::string name;
    std::string image;
    ImageState state;
    int64_t want;
  };
  const Case cases[] = {
      {"ex73 23 MiB", "i:1", {Symbol("i:1"), 1, 23 * kMib}, 0},
      {"ex73 33 MiB", "i:1", {Symbol("i:1"), 1, 33 * kMib}, 1},
      {"ex74", "reg:5000/a", {Symbol("reg:5000/a:latest"), 1, 2000000000}, 100},
      {"digest stays", "r/a@sha256:12", {Symbol("r/a@sha256:12"), 1, 2000000000}, 100},
  };
  for (const Case& c : cases) {
    SCOPED_TRACE(c.name);
    PluginRig rig(NewImageLocality);
    rig.AddNode(MakeNode()).SetImages({c.state});
    EXPECT_EQ(rig.ScoreAll(*Uses({c.image}).Obj()), std::vector<int64_t>{c.want});
  }
}

// Trap 16.
TEST(ImageLocalityTest, SignatureIsASetWithoutImageVolumes) {
  PluginRig rig(NewImageLocality);
  EXPECT_EQ(rig.Signature(*WithImageVolume(Uses({"b", "a:1", "b:latest"}), "v").Obj()),
            std::vector<std::string>{R"(v1.Pod.Spec.CanonicalImageNames()=["a:1","b:latest"])"});
}

}  // namespace
}  // namespace ks::plugins
