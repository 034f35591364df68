// SPDX-License-Identifier: Apache-2.0
#include "framework/resource.h"

#include <string>

#include <gtest/gtest.h>

#include "testing/builders.h"

namespace ks::framework {
namespace {

using testing::MakeResources;
using testing::Resources;

TEST(ResourceNameTest, Classes) {
  struct Case {
    std::string name;
    bool want_native, want_extended, want_scalar;
  };
  const Case cases[] = {
      {"cpu", true, false, false},
      {"pods", true, false, false},
      {"storage", true, false, false},
      {"foo", true, false, false},
      {"hugepages-2Mi", true, false, true},
      {"attachable-volumes-csi-x", true, false, true},
      {"example.com/gpu", false, true, true},
      {"kubernetes.io/something", true, false, true},
      {"deviceclass.resource.kubernetes.io/gpu", true, false, true},
      {"sub.kubernetes.io/x", true, false, true},
      {"requests.example.com/z", false, false, false},
      {"bad domain/x", false, false, false},
      {"example.com/", false, false, false},
      {"example.com/a/b", false, false, false},
      {"Example.com/gpu", false, false, false},
      {"example.com/" + std::string(63, 'a'), false, true, true},
      {"example.com/" + std::string(64, 'a'), false, false, false},
      {"", true, false, false},
  };
  for (const Case& c : cases) {
    SCOPED_TRACE(c.name);
    EXPECT_EQ(IsNativeResource(c.name), c.want_native);
    EXPECT_EQ(IsExtendedResource(c.name), c.want_extended);
    EXPECT_EQ(IsScalarResource(c.name), c.want_scalar);
    EXPECT_EQ(IsScalarResource(Symbol(c.name)), c.want_scalar);
    EXPECT_EQ(IsExtendedResource(Symbol(c.name)), c.want_extended);
  }
}

struct ListCase {
  std::string name;
  Resources list;
  Resource want;
};

class FromListTest : public ::testing::TestWithParam<ListCase> {};

TEST_P(FromListTest, Converts) {
  EXPECT_EQ(Resource::FromList(MakeResources(GetParam().list)), GetParam().want);
}

INSTANTIATE_TEST_SUITE_P(
    Cache, FromListTest,
    ::testing::Values(
        ListCase{
            .name = "ex13",
            .list = {{"cpu", "100u"},
                     {"memory", "1500m"},
                     {"example.com/x", "1500m"},
                     {"kubernetes.io/y", "2"},
                     {"storage", "5"},
                     {"requests.example.com/z", "3"}},
            .want = {.milli_cpu = 1,
                     .memory = 2,
                     .scalars = {{Symbol("example.com/x"), 2}, {Symbol("kubernetes.io/y"), 2}}}},
        ListCase{.name = "ex14",
                 .list = {{"cpu", "1500m"},
                          {"memory", "1Gi"},
                          {"pods", "110"},
                          {"ephemeral-storage", "10Gi"},
                          {"example.com/gpu", "4"},
                          {"attachable-volumes-csi-x", "5"},
                          {"foo", "2"}},
                 .want = {.milli_cpu = 1500,
                          .memory = 1073741824,
                          .ephemeral_storage = 10737418240,
                          .allowed_pod_number = 110,
                          .scalars = {{Symbol("example.com/gpu"), 4},
                                      {Symbol("attachable-volumes-csi-x"), 5}}}},
        ListCase{.name = "empty", .list = {}, .want = {}},
        // docs/spec/plugins-node.md 2.1: no saturation.
        ListCase{.name = "overflow", .list = {{"cpu", "1E"}, {"memory", "10E"}}, .want = {}}),
    [](const auto& test) { return test.param.name; });

TEST(ResourceTest, SumsKeepScalarsAndLeaveThePodNumber) {
  const Symbol gpu("example.com/gpu");
  const Symbol pages("hugepages-2Mi");
  Resource sum{.milli_cpu = 1, .memory = 2, .ephemeral_storage = 3, .allowed_pod_number = 4};
  const Resource more{.milli_cpu = 10,
                      .memory = 20,
                      .ephemeral_storage = 30,
                      .allowed_pod_number = 40,
                      .scalars = {{gpu, 2}, {pages, 7}}};
  sum.Add(more);
  EXPECT_EQ(sum, (Resource{.milli_cpu = 11,
                           .memory = 22,
                           .ephemeral_storage = 33,
                           .allowed_pod_number = 4,
                           .scalars = {{gpu, 2}, {pages, 7}}}));
  sum.Sub(more);
  EXPECT_EQ(sum, (Resource{.milli_cpu = 1,
                           .memory = 2,
                           .ephemeral_storage = 3,
                           .allowed_pod_number = 4,
                           .scalars = {{gpu, 0}, {pages, 0}}}));
}

TEST(ResourceTest, AmountByName) {
  const Resource r{.milli_cpu = 1,
                   .memory = 2,
                   .ephemeral_storage = 3,
                   .allowed_pod_number = 4,
                   .scalars = {{Symbol("example.com/gpu"), 5}}};
  EXPECT_EQ(r.Amount(Symbol("cpu")), 1);
  EXPECT_EQ(r.Amount(Symbol("memory")), 2);
  EXPECT_EQ(r.Amount(Symbol("ephemeral-storage")), 3);
  EXPECT_EQ(r.Amount(Symbol("pods")), 4);
  EXPECT_EQ(r.Amount(Symbol("example.com/gpu")), 5);
  EXPECT_EQ(r.Amount(Symbol("example.com/other")), 0);
}

}  // namespace
}  // namespace ks::framework
