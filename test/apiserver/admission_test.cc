// SPDX-License-Identifier: Apache-2.0
// Good and bad objects with what the real kube-apiserver v1.37.1 made of them: defaults, checks,
// what may not change, admission. The cases: data/admission.jsonl.
#include <gtest/gtest.h>

#include <fstream>
#include <string>

#include "apiserver/service/service.h"
#include "testing/fake_clock.h"

namespace ks::apiserver {
namespace {

ApiResponse Send(Service& service, const std::string& method, const std::string& target,
                 const Json& body, const std::string& type) {
  return service.Handle({.method = method,
                         .target = target,
                         .accept = "application/json",
                         .content_type = type,
                         .body = body.dump(),
                         .user = {.name = "admin", .groups = {"system:masters"}}});
}

// Without what differs from server to server. This one does not protect volumes from deletion
// while they are used: there is no controller to take the finalizer off.
Json Comparable(Json object) {
  Json& metadata = object["metadata"];
  for (const char* key :
       {"uid", "creationTimestamp", "managedFields", "resourceVersion", "generation"}) {
    metadata.erase(key);
  }
  if (metadata.contains("finalizers") &&
      (object["kind"] == "PersistentVolume" || object["kind"] == "PersistentVolumeClaim")) {
    metadata.erase("finalizers");
  }
  if (object.contains("status")) {
    object["status"].erase("lastPhaseTransitionTime");
    if (object["status"].contains("conditions")) {
      for (Json& condition : object["status"]["conditions"]) {
        condition.erase("lastTransitionTime");
      }
    }
  }
  return object;
}

// Upstream shows a difference of Go structs behind the first line.
std::string WithoutDiff(const std::string& message) {
  return message.substr(0, message.find('\n'));
}

TEST(Admission, IsUpstreams) {
  std::ifstream file(KS_TEST_DATA "/admission.jsonl");
  int cases = 0;
  for (std::string line; std::getline(file, line); ++cases) {
    const Json row = Json::parse(line);
    SCOPED_TRACE(row["name"].get<std::string>());
    testing::FakeClock clock;
    Service service(clock);
    if (row.contains("setup")) {
      const ApiResponse made = Send(service, "POST", row["setup"]["path"].get<std::string>(),
                                    row["setup"]["body"], "application/json");
      ASSERT_EQ(made.status, 201) << made.body;
    }
    const ApiResponse answer = Send(service, row["method"].get<std::string>(),
                                    row["path"].get<std::string>() + "?dryRun=All", row["body"],
                                    row.value("type", "application/json"));
    const Json got = Json::parse(answer.body);
    EXPECT_EQ(answer.status, row["code"].get<int>()) << answer.body;
    if (answer.status != row["code"].get<int>()) continue;
    if (row.contains("want")) {
      EXPECT_EQ(Comparable(got), Comparable(row["want"]));
      continue;
    }
    EXPECT_EQ(WithoutDiff(got["message"].get<std::string>()),
              WithoutDiff(row["status"]["message"].get<std::string>()));
    EXPECT_EQ(got["reason"], row["status"]["reason"]);
    if (got["message"] != row["status"]["message"]) continue;
    EXPECT_EQ(got.value("details", Json()), row["status"]["details"]);
  }
  EXPECT_EQ(cases, 365);
}

}  // namespace
}  // namespace ks::apiserver
