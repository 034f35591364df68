// SPDX-License-Identifier: Apache-2.0
// Bodies in both forms. What is wanted: the rows of bodies.jsonl, a JSON text and what upstream's
// serializer makes of it (tools/apischema/bodies).
#include "api/proto/proto_bodies.h"

#include <chrono>
#include <fstream>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include "api/decoding.h"
#include "testing/builders.h"
#include "testing/hex.h"

namespace ks::api {
namespace {

using namespace std::chrono_literals;  // NOLINT(google-build-using-namespace): literals only
using ks::testing::MakePod;

struct Forms {
  std::string json;
  std::string protobuf;
};

std::vector<Forms> WantedForms() {
  std::vector<Forms> rows;
  std::ifstream file(KS_API_BODIES);
  for (std::string line; std::getline(file, line);) {
    const auto row = nlohmann::json::parse(line);
    rows.push_back({row["json"], testing::FromHex(row["hex"].get<std::string>())});
  }
  return rows;
}

Forms BindingForms(const Pod& pod, const std::string& node) {
  return {BindingBody(pod, node), BindingProto(pod, node)};
}
Forms EventForms(const EventRecord& event) { return {EventBody(event), EventProto(event)}; }

EventRecord FailedEvent() {
  const TimePoint day = std::chrono::sys_days(std::chrono::year(2026) / 1 / 2);
  EventRecord event;
  event.ns = Symbol("ns");
  event.name = "p.1886caf223f1ff15";
  event.reporting_controller = "default-scheduler";
  event.reporting_instance = "default-scheduler-host1";
  event.action = "Scheduling";
  event.reason = "FailedScheduling";
  event.note = "0/3 nodes are available: 3 ü.";
  event.warning = true;
  event.regarding = MakePod().Name("p").Namespace("ns").Uid("u1").ResourceVersion("42").Obj();
  event.event_time = day + 3h + 4min + 5s + 123456789ns;
  event.series_last_observed = day + 3h + 5min + 6s;
  return event;
}

TEST(ProtoBodies, AreTheJsonAsUpstreamWritesIt) {
  EventRecord series = FailedEvent();
  series.warning = false;
  series.series_count = 300;
  series.related = MakePod().Name("q").Namespace("ns").Uid("u2").ResourceVersion("7").Obj();
  EventRecord grouped = FailedEvent();
  auto group = std::make_shared<PodGroup>();
  group->meta.ns = Symbol("ns");
  group->meta.name = "g";
  group->meta.uid = "u3";
  grouped.related = PodGroupPtr(group);
  EventRecord empty;  // before 1970
  empty.name = "p.1886caf223f1ff15";
  empty.warning = true;
  empty.event_time = TimePoint(-1ns);
  const Forms made[] = {
      BindingForms(*MakePod().Name("p").Namespace("ns").Uid("u1").Obj(), "node-1"),
      BindingForms(*MakePod().Name("p").Namespace("ns").Uid("").Obj(), ""),
      EventForms(FailedEvent()),
      EventForms(series),
      EventForms(grouped),
      EventForms(empty)};
  const std::vector<Forms> wanted = WantedForms();
  ASSERT_EQ(wanted.size(), std::size(made));
  for (size_t i = 0; i < wanted.size(); ++i) {
    SCOPED_TRACE(wanted[i].json);
    EXPECT_EQ(made[i].json, wanted[i].json);
    EXPECT_EQ(made[i].protobuf, wanted[i].protobuf);
  }
}

}  // namespace
}  // namespace ks::api
