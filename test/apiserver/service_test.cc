// SPDX-License-Identifier: Apache-2.0
#include "apiserver/service.h"

#include <gtest/gtest.h>

#include "apiserver/service_harness.h"

namespace ks::apiserver {
namespace {

using std::string_literals::operator""s;

TEST(Service, APodsLifeThroughHttpVerbs) {
  ServiceHarness server;
  const auto watch = server.Watch(kPods + "?watch=true"s);
  EXPECT_TRUE(ServiceHarness::Frames(*watch).empty());

  const Answered created = server.Ask("POST", kPods, ServiceHarness::Pod("a"));
  ASSERT_EQ(created.status, 201) << created.body;
  const Json& metadata = created.body["metadata"];
  EXPECT_EQ(created.body["kind"], "Pod");
  EXPECT_EQ(created.body["apiVersion"], "v1");
  EXPECT_EQ(metadata["namespace"], "default");
  EXPECT_EQ(metadata["uid"].get<std::string>().size(), 36U);
  EXPECT_EQ(metadata["generation"], 1);
  EXPECT_EQ(metadata["creationTimestamp"], "2026-01-02T03:04:05Z");
  const std::string version = metadata["resourceVersion"];

  const Answered got = server.Ask("GET", kPods + "/a"s);
  EXPECT_EQ(got.status, 200);
  EXPECT_EQ(got.body, created.body);

  const Answered list = server.Ask("GET", kPods);
  EXPECT_EQ(list.body["kind"], "PodList");
  EXPECT_EQ(list.body["metadata"]["resourceVersion"], version);
  ASSERT_EQ(list.body["items"].size(), 1U);
  EXPECT_EQ(list.body["items"][0], created.body);

  Json changed = got.body;
  changed["metadata"]["labels"]["x"] = "y";
  const Answered updated = server.Ask("PUT", kPods + "/a"s, changed);
  ASSERT_EQ(updated.status, 200) << updated.body;
  EXPECT_EQ(updated.body["metadata"]["labels"]["x"], "y");
  EXPECT_NE(updated.body["metadata"]["resourceVersion"], version);

  const Answered deleted = server.Ask("DELETE", kPods + "/a"s);
  EXPECT_EQ(deleted.status, 200) << deleted.body;
  EXPECT_EQ(server.Ask("GET", kPods + "/a"s).status, 404);

  const std::vector<Json> frames = ServiceHarness::Frames(*watch);
  ASSERT_EQ(frames.size(), 3U);
  EXPECT_EQ(frames[0]["type"], "ADDED");
  EXPECT_EQ(frames[0]["object"], created.body);
  EXPECT_EQ(frames[1]["type"], "MODIFIED");
  EXPECT_EQ(frames[1]["object"], updated.body);
  EXPECT_EQ(frames[2]["type"], "DELETED");
}

TEST(Service, ANodesLifeThroughHttpVerbs) {
  ServiceHarness server;
  ASSERT_EQ(server.Ask("POST", kNodes, ServiceHarness::Node("n1")).status, 201);
  ASSERT_EQ(server.Ask("POST", kNodes, ServiceHarness::Node("n1")).status, 409);
  const Answered list = server.Ask("GET", kNodes);
  ASSERT_EQ(list.body["items"].size(), 1U);
  EXPECT_FALSE(list.body["items"][0]["metadata"].contains("namespace"));
  EXPECT_EQ(server.Ask("DELETE", kNodes + "/n1"s).status, 200);
  EXPECT_EQ(server.Ask("GET", kNodes).body["items"].size(), 0U);
}

}  // namespace
}  // namespace ks::apiserver
