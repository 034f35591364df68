// SPDX-License-Identifier: Apache-2.0
#pragma once
// A Service under a fake clock, driven in virtual time, with short words for what tests of its
// controllers do.

#include <gtest/gtest.h>

#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "apiserver/body/body.h"
#include "apiserver/service/service.h"
#include "apiserver/store/json_fields.h"
#include "testing/fake_clock.h"

namespace ks::apiserver {

inline const KindInfo& Core(const char* plural) { return *FindResource("", "v1", plural); }
inline const KindInfo& Leases() { return *FindResource("coordination.k8s.io", "v1", "leases"); }
inline const KindInfo& StorageClasses() {
  return *FindResource("storage.k8s.io", "v1", "storageclasses");
}

class ControlledService {
 public:
  explicit ControlledService(ServiceOptions options = {}) : service(clock, options) {}

  // Everything that becomes due within `by`, at its time. Fails when it does not come to rest.
  void Run(Duration by) {
    const TimePoint end = clock.Now() + by;
    service.Step();
    int steps = 0;
    for (auto due = service.NextDue(); due && *due <= end; due = service.NextDue()) {
      if (*due > clock.Now()) clock.Advance(*due - clock.Now());
      service.Step();
      ASSERT_LT(++steps, 1'000'000) << "always something due";
    }
    clock.Advance(end - clock.Now());
  }

  void Create(const KindInfo& kind, const std::string& json) {
    Json object = Json::parse(json);
    const auto unfit =
        FitObject(kind.api_version(), kind.kind, object, FieldValidation::kStrict, nullptr);
    ASSERT_FALSE(unfit.has_value()) << unfit->message << "\n" << json;
    const std::string ns = kind.namespaced ? "default" : "";
    const auto created = service.registry().Create(kind, ns, object);
    ASSERT_TRUE(created.ok()) << created.failure().message << "\n" << json;
  }
  // Null: there is none.
  Json Get(const KindInfo& kind, const std::string& name, const std::string& ns = "default") {
    const ObjectPtr found = service.store().Find(kind, kind.namespaced ? ns : "", name);
    return found == nullptr ? Json() : found->Parse();
  }
  // One value of an object by JSON pointer; null when it is not there.
  Json At(const KindInfo& kind, const std::string& name, const std::string& pointer) {
    const Json object = Get(kind, name);
    const Json::json_pointer at(pointer);
    return object.contains(at) ? object.at(at) : Json();
  }
  void Edit(const KindInfo& kind, const std::string& name, const std::string& merge_patch) {
    const auto written = service.registry().Overwrite(kind, kind.namespaced ? "default" : "", name,
                                                      [&](Json& json) -> std::optional<Failure> {
                                                        json.merge_patch(Json::parse(merge_patch));
                                                        return {};
                                                      });
    ASSERT_TRUE(written.ok()) << written.failure().message;
  }
  void Delete(const KindInfo& kind, const std::string& name, DeleteOptions options = {}) {
    const auto deleted =
        service.registry().Delete(kind, kind.namespaced ? "default" : "", name, options);
    ASSERT_TRUE(deleted.ok()) << deleted.failure().message;
  }
  // "Reason: message" of the events about an object, in the order of their names.
  std::vector<std::string> EventsOf(const std::string& name) {
    std::vector<std::string> events;
    for (const auto& [key, object] : service.store().objects(Core("events"))) {
      const Json event = object->Parse();
      if (event["involvedObject"]["name"] != name) continue;
      events.push_back(event["reason"].get<std::string>() + ": " +
                       event["message"].get<std::string>());
    }
    return events;
  }

  testing::FakeClock clock;
  Service service;
};

}  // namespace ks::apiserver
