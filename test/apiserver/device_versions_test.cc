// SPDX-License-Identifier: Apache-2.0
// The kinds of resource.k8s.io in both versions: one object, read and written as asked for.
#include <gtest/gtest.h>

#include <string>

#include "apiserver/service_harness.h"

namespace ks::apiserver {
namespace {

struct DeviceKind {
  const char* name;
  const char* path;  // behind the version
  const char* spec;
};

class DeviceVersions : public ::testing::TestWithParam<DeviceKind> {
 protected:
  static std::string Path(const std::string& version) {
    return "/apis/resource.k8s.io/" + version + "/" + GetParam().path;
  }
  Answered Make(const std::string& version) {
    return harness_.Ask("POST", Path(version),
                        Json{{"apiVersion", "resource.k8s.io/" + version},
                             {"kind", GetParam().name},
                             {"metadata", {{"name", "x"}}},
                             {"spec", Json::parse(GetParam().spec)}});
  }
  ServiceHarness harness_;
};

TEST_P(DeviceVersions, OneObject) {
  const Answered made = Make("v1beta2");
  ASSERT_EQ(made.status, 201) << made.body;
  EXPECT_EQ(made.body["apiVersion"], "resource.k8s.io/v1beta2");
  Json stored = harness_.Ask("GET", Path("v1") + "/x").body;
  EXPECT_EQ(stored["apiVersion"], "resource.k8s.io/v1");
  stored["apiVersion"] = "resource.k8s.io/v1beta2";
  EXPECT_EQ(stored, made.body);
  EXPECT_EQ(Make("v1").status, 409);
  const Answered patched =
      harness_.Ask("PATCH", Path("v1beta2") + "/x",
                   R"({"apiVersion":"resource.k8s.io/v1beta2","metadata":{"labels":{"a":"b"}}})",
                   "application/merge-patch+json");
  ASSERT_EQ(patched.status, 200) << patched.body;
  EXPECT_EQ(patched.body["apiVersion"], "resource.k8s.io/v1beta2");
  EXPECT_EQ(harness_.Ask("GET", Path("v1") + "/x").body["metadata"]["labels"]["a"], "b");
}

TEST_P(DeviceVersions, ListsAndWatchesAreOfTheVersionThatIsAsked) {
  ASSERT_EQ(Make("v1").status, 201);
  const Json list = harness_.Ask("GET", Path("v1beta2")).body;
  EXPECT_EQ(list["apiVersion"], "resource.k8s.io/v1beta2");
  ASSERT_EQ(list["items"].size(), 1u);
  EXPECT_EQ(list["items"][0]["apiVersion"], "resource.k8s.io/v1beta2");
  const auto watch = harness_.Watch(Path("v1beta2") + "?watch=1");
  const std::vector<Json> frames = ServiceHarness::Frames(*watch);
  ASSERT_EQ(frames.size(), 1u);
  EXPECT_EQ(frames[0]["object"]["apiVersion"], "resource.k8s.io/v1beta2");
}

INSTANTIATE_TEST_SUITE_P(
    All, DeviceVersions,
    ::testing::Values(
        DeviceKind{"ResourceClaim", "namespaces/default/resourceclaims",
                   R"({"devices":{"requests":[{"name":"r","exactly":{"deviceClassName":"c"}}]}})"},
        DeviceKind{"ResourceClaimTemplate", "namespaces/default/resourceclaimtemplates",
                   R"({"spec":{"devices":{"requests":[{"name":"r",
                       "exactly":{"deviceClassName":"c"}}]}}})"},
        DeviceKind{"ResourceSlice", "resourceslices",
                   R"({"driver":"d.example.com","nodeName":"n","devices":[{"name":"d0"}],
                       "pool":{"name":"p","generation":1,"resourceSliceCount":1}})"},
        DeviceKind{"DeviceClass", "deviceclasses",
                   R"({"selectors":[{"cel":{"expression":"true"}}],
                       "extendedResourceName":"example.com/gpu"})"}),
    [](const auto& test) { return std::string(test.param.name); });

TEST(DeviceVersionsTest, TaintRulesHaveOneVersion) {
  ServiceHarness harness;
  EXPECT_EQ(harness.Ask("GET", "/apis/resource.k8s.io/v1beta2/devicetaintrules").status, 404);
  EXPECT_EQ(harness.Ask("GET", "/apis/resource.k8s.io/v1/devicetaintrules").status, 200);
}

}  // namespace
}  // namespace ks::apiserver
