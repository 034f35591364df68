// SPDX-License-Identifier: Apache-2.0
#include "apiserver/store/event_forms.h"

#include <gtest/gtest.h>

namespace ks::apiserver {
namespace {

// What the real server gives for one event in both forms (less metadata.managedFields).
const Json& EventsV1() {
  static const Json event = Json::parse(R"({
    "kind":"Event","apiVersion":"events.k8s.io/v1","metadata":{"name":"p.1","namespace":"default"},
    "eventTime":"2026-01-02T03:04:05.123456Z","reportingController":"default-scheduler",
    "reportingInstance":"default-scheduler-host1","action":"Scheduling","reason":"FailedScheduling",
    "regarding":{"kind":"Pod","namespace":"default","name":"p","uid":"u1","apiVersion":"v1"},
    "note":"0/3 nodes are available: 3 x.","type":"Warning","deprecatedSource":{},
    "deprecatedFirstTimestamp":null,"deprecatedLastTimestamp":null})");
  return event;
}
const Json& Core() {
  static const Json event = Json::parse(R"({
    "kind":"Event","apiVersion":"v1","metadata":{"name":"p.1","namespace":"default"},
    "involvedObject":{"kind":"Pod","namespace":"default","name":"p","uid":"u1","apiVersion":"v1"},
    "reason":"FailedScheduling","message":"0/3 nodes are available: 3 x.","source":{},
    "firstTimestamp":null,"lastTimestamp":null,"type":"Warning",
    "eventTime":"2026-01-02T03:04:05.123456Z","action":"Scheduling",
    "reportingComponent":"default-scheduler","reportingInstance":"default-scheduler-host1"})");
  return event;
}

TEST(EventForms, BothWays) {
  Json event = EventsV1();
  ToCoreEvent(event);
  EXPECT_EQ(event, Core());
  ToEventsV1(event);
  EXPECT_EQ(event, EventsV1());
}

TEST(EventForms, WhatTheOtherFormHasIsFilledIn) {
  Json event =
      Json::parse(R"({"eventTime":"2026-01-02T03:04:05.123456Z","note":"n","series":{"count":2}})");
  ToCoreEvent(event);
  EXPECT_EQ(event, Json::parse(R"({
    "kind":"Event","apiVersion":"v1","eventTime":"2026-01-02T03:04:05.123456Z","message":"n",
    "series":{"count":2},"involvedObject":{},"source":{},"firstTimestamp":null,"lastTimestamp":null,
    "reportingComponent":"","reportingInstance":""})"));
}

TEST(EventForms, OldEventsKeepTheirCountAndTimes) {
  Json event = Json::parse(R"({
    "kind":"Event","apiVersion":"v1","metadata":{"name":"p.2"},
    "involvedObject":{"kind":"Pod","name":"p"},"reason":"X","message":"m",
    "source":{"component":"c","host":"h"},"firstTimestamp":"2026-01-02T03:04:05Z",
    "lastTimestamp":"2026-01-02T03:04:06Z","count":3,"type":"Normal","eventTime":null,
    "reportingComponent":"","reportingInstance":""})");
  ToEventsV1(event);
  EXPECT_EQ(event, Json::parse(R"({
    "kind":"Event","apiVersion":"events.k8s.io/v1","metadata":{"name":"p.2"},"eventTime":null,
    "reason":"X","regarding":{"kind":"Pod","name":"p"},"note":"m","type":"Normal",
    "deprecatedSource":{"component":"c","host":"h"},
    "deprecatedFirstTimestamp":"2026-01-02T03:04:05Z",
    "deprecatedLastTimestamp":"2026-01-02T03:04:06Z","deprecatedCount":3})"));
}

TEST(EventForms, PatchesAreRenamedAndNothingElse) {
  Json merge = Json::parse(R"({"series":{"count":2},"note":null,"deprecatedCount":4})");
  ToCoreEventPatch(merge);
  EXPECT_EQ(merge, Json::parse(R"({"series":{"count":2},"message":null,"count":4})"));

  Json operations = Json::parse(R"([{"op":"replace","path":"/note","value":"x"},
    {"op":"move","from":"/regarding/name","path":"/metadata/labels/x"},
    {"op":"remove","path":"/notes"}])");
  ToCoreEventPatch(operations);
  EXPECT_EQ(operations, Json::parse(R"([{"op":"replace","path":"/message","value":"x"},
    {"op":"move","from":"/involvedObject/name","path":"/metadata/labels/x"},
    {"op":"remove","path":"/notes"}])"));
}

TEST(EventForms, WhatIsNoObjectStays) {
  for (Json odd : {Json(), Json("text"), Json(3)}) {
    const Json before = odd;
    ToCoreEvent(odd);
    ToEventsV1(odd);
    ToCoreEventPatch(odd);
    EXPECT_EQ(odd, before);
  }
}

}  // namespace
}  // namespace ks::apiserver
