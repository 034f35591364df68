// SPDX-License-Identifier: Apache-2.0
// Watch events, list pages, the kinds other than Pod, and failure bodies.
#include "api/decode/decoder.h"

#include <string>

#include <gtest/gtest.h>

#include "api/decoding.h"

namespace ks::api {
namespace {

template <class T = Pod>
WatchEvent<T> Event(std::string_view json) {
  Decoder decoder;
  Result<WatchEvent<T>> event = decoder.Event<T>(Padded(json));
  EXPECT_TRUE(event.ok()) << event.error().message;
  return event.ok() ? *event : WatchEvent<T>();
}

std::string EventError(std::string_view json) {
  Decoder decoder;
  const Result<WatchEvent<Pod>> event = decoder.Event<Pod>(Padded(json));
  return event.ok() ? "no error" : event.error().message;
}

TEST(DecodeEventTest, Objects) {
  struct Case {
    const char* name;
    const char* json;
    WatchEventType type;
  };
  const Case cases[] = {
      {"added",
       R"({"type":"ADDED","object":{"kind":"Pod","metadata":{"name":"p","resourceVersion":"7"}}})",
       WatchEventType::kAdded},
      {"modified",
       R"({"type":"MODIFIED","object":{"metadata":{"name":"p","resourceVersion":"7"}}})",
       WatchEventType::kModified},
      {"deleted", R"({"type":"DELETED","object":{"metadata":{"name":"p","resourceVersion":"7"}}})",
       WatchEventType::kDeleted},
      {"type_last",
       R"({"object":{"metadata":{"name":"p","resourceVersion":"7"}},"more":{},"type":"MODIFIED"})",
       WatchEventType::kModified},
      {"blanks",
       " {\n \"type\" : \"ADDED\" ,\t\"object\" : { \"metadata\" : { "
       "\"name\":\"p\",\"resourceVersion\":\"7\" } } } \n",
       WatchEventType::kAdded},
  };
  for (const Case& c : cases) {
    SCOPED_TRACE(c.name);
    const WatchEvent<Pod> event = Event(c.json);
    EXPECT_EQ(event.type, c.type);
    ASSERT_TRUE(event.object);
    EXPECT_EQ(event.object->meta.name, "p");
    EXPECT_EQ(event.resource_version, "7");
    EXPECT_FALSE(event.initial_events_end);
  }
}

TEST(DecodeEventTest, Bookmark) {
  for (
      const char* const json :
      {R"({"type":"BOOKMARK","object":{"kind":"Pod","apiVersion":"v1","metadata":{"resourceVersion":"120","creationTimestamp":null,"annotations":{"k8s.io/initial-events-end":"true"}},"spec":{"containers":null},"status":{}}})",
       R"({"object":{"metadata":{"annotations":{"k8s.io/initial-events-end":"true"},"resourceVersion":"120"}},"type":"BOOKMARK"})"}) {
    SCOPED_TRACE(json);
    const WatchEvent<Pod> event = Event(json);
    EXPECT_EQ(event.type, WatchEventType::kBookmark);
    EXPECT_EQ(event.resource_version, "120");
    EXPECT_TRUE(event.initial_events_end);
    EXPECT_FALSE(event.object);
  }
  const WatchEvent<Pod> plain =
      Event(R"({"type":"BOOKMARK","object":{"metadata":{"resourceVersion":"9"}}})");
  EXPECT_FALSE(plain.initial_events_end);
  EXPECT_EQ(plain.resource_version, "9");
}

TEST(DecodeEventTest, Errors) {
  const std::string status =
      R"x({"kind":"Status","apiVersion":"v1","metadata":{},"status":"Failure",
      "message":"too old resource version: 5 (90)","reason":"Expired","code":410})x";
  for (const std::string& json : {R"({"type":"ERROR","object":)" + status + "}",
                                  R"({"object":)" + status + R"(,"type":"ERROR"})"}) {
    SCOPED_TRACE(json);
    const WatchEvent<Pod> event = Event(json);
    EXPECT_EQ(event.type, WatchEventType::kError);
    EXPECT_TRUE(event.error.IsGone());
    EXPECT_EQ(event.error.message, "too old resource version: 5 (90)");
    EXPECT_EQ(event.error.code, 410);
  }
}

TEST(DecodeEventTest, OtherKind) {
  const WatchEvent<Node> event = Event<Node>(
      R"({"type":"ADDED","object":{"kind":"Pod","metadata":{"name":"p","resourceVersion":"5"},"spec":{"taints":"odd"},"status":"odd"}})");
  EXPECT_FALSE(event.object);
  EXPECT_EQ(event.resource_version, "5");
  const WatchEvent<Pod> empty = Event(R"({"type":"ADDED","object":null})");
  EXPECT_FALSE(empty.object);
}

TEST(DecodeEventTest, Failures) {
  struct Case {
    const char* name;
    const char* json;
    const char* error;
  };
  const Case cases[] = {
      {"no_type", R"({"object":{}})", "type: is missing"},
      {"empty", "{}", "type: is missing"},
      {"unknown_type", R"({"type":"CHANGED","object":{}})",
       "type: \"CHANGED\" is no type of watch event"},
      {"type_number", R"({"type":1,"object":{}})", "type: must be a string, not a number"},
      {"path", R"({"type":"ADDED","object":{"spec":{"priority":"x"}}})",
       "object.spec.priority: must be an integer, not a string"},
      {"path_type_last", R"({"object":{"spec":{"priority":"x"}},"type":"ADDED"})",
       "object.spec.priority: must be an integer, not a string"},
      {"more", R"({"type":"ADDED","object":{}} {})", "invalid JSON: more text behind the object"},
  };
  for (const Case& c : cases) {
    SCOPED_TRACE(c.name);
    EXPECT_EQ(EventError(c.json), c.error);
  }
}

TEST(DecodeListTest, Page) {
  Decoder decoder;
  const Result<ListPage<Pod>> page = decoder.List<Pod>(Padded(
      R"({"kind":"PodList","apiVersion":"v1","metadata":{"resourceVersion":"50","continue":"T","remainingItemCount":1},
                 "items":[{"metadata":{"name":"a"}},{"metadata":{"name":"b"}}]})"));
  ASSERT_TRUE(page.ok()) << page.error().message;
  EXPECT_EQ(page->resource_version, "50");
  EXPECT_EQ(page->continue_token, "T");
  ASSERT_EQ(page->items.size(), 2u);
  EXPECT_EQ(page->items[1]->meta.name, "b");
  EXPECT_TRUE(page->items[1]->spec);
}

TEST(DecodeListTest, EmptyAndNullItems) {
  Decoder decoder;
  for (const char* const json : {R"({"items":[]})", R"({"items":null})", "{}"}) {
    SCOPED_TRACE(json);
    const Result<ListPage<Pod>> page = decoder.List<Pod>(Padded(json));
    ASSERT_TRUE(page.ok());
    EXPECT_TRUE(page->items.empty());
  }
}

TEST(DecodeListTest, Errors) {
  Decoder decoder;
  EXPECT_EQ(decoder.List<Pod>(Padded(R"({"items":[{},{"spec":{"overhead":{"cpu":"x"}}}]})"))
                .error()
                .message,
            "items[1].spec.overhead.cpu: quantities must match the regular expression "
            "'^([+-]?[0-9.]+)([eEinumkKMGTP]*[-+]?[0-9]*)$'");
  EXPECT_EQ(decoder.List<Pod>(Padded(R"({"kind":"Status","items":[]})")).error().message,
            "kind: must be PodList, not Status");
}

TEST(DecodeNodeTest, AllFields) {
  Decoder decoder;
  const Result<NodePtr> decoded = decoder.Object<Node>(Padded(
      R"({"kind":"Node","metadata":{"name":"n1","labels":{"zone":"a"},"annotations":{"x":"y"}},
    "spec":{"unschedulable":true,"podCIDR":"10.0.0.0/24","taints":[{"key":"k","value":"v","effect":"NoSchedule","timeAdded":"2026-01-02T03:04:05Z"},{"key":"l","effect":"NoExecute"}],
            "podPreemptionPolicy":{"disableResizePreemption":"x"}},
    "status":{"capacity":{"cpu":"bad but not read"},"allocatable":{"cpu":"4","memory":"8Gi","pods":"110"},
              "images":[{"names":["a@sha256:1","a:1"],"sizeBytes":123456789},{"sizeBytes":5},
                        {"names":["a:1","b:1"],"sizeBytes":7}],
              "conditions":[{"type":"Ready","status":"True","lastHeartbeatTime":"odd"}],"declaredFeatures":["A","B"]}})"));
  ASSERT_TRUE(decoded.ok()) << decoded.error().message;
  const Node& node = **decoded;
  EXPECT_EQ(node.meta.name, "n1");
  EXPECT_EQ(node.meta.labels, (LabelMap{{Symbol("zone"), Symbol("a")}}));
  EXPECT_EQ(*node.meta.annotations.Find(Symbol("x")), "y");
  EXPECT_TRUE(node.unschedulable);
  EXPECT_EQ(node.taints, (std::vector<Taint>{{Symbol("k"), Symbol("v"), Symbol("NoSchedule")},
                                             {Symbol("l"), Symbol(), Symbol("NoExecute")}}));
  EXPECT_TRUE(node.pod_preemption_policy_present);
  EXPECT_EQ(node.disable_resize_preemption, "true");
  EXPECT_EQ(node.allocatable.size(), 3u);
  EXPECT_EQ(node.allocatable.Find(Symbol("memory"))->Value(), int64_t{8} << 30);
  EXPECT_EQ(node.images, (ImageSizes{{Symbol("a@sha256:1"), 123456789},
                                     {Symbol("a:1"), 123456789},  // as it was mentioned first
                                     {Symbol("b:1"), 7}}));
  EXPECT_EQ(node.conditions,
            (std::vector<std::pair<Symbol, Symbol>>{{Symbol("Ready"), Symbol("True")}}));
  EXPECT_EQ(node.declared_features, (std::vector<std::string>{"A", "B"}));
}

TEST(DecodeNodeTest, PreemptionPolicyOfAnyType) {
  struct Case {
    const char* json;
    const char* text;
  };
  for (const Case& c : {Case{"[]", ""}, Case{"[\"a\"]", "true"}, Case{"{}", ""},
                        Case{"true", "true"}, Case{"false", ""}, Case{"null", ""}}) {
    SCOPED_TRACE(c.json);
    Decoder decoder;
    const Result<NodePtr> node = decoder.Object<Node>(
        Padded(std::string(R"({"spec":{"podPreemptionPolicy":{"disableResizePreemption":)") +
               c.json + "}}}"));
    ASSERT_TRUE(node.ok()) << node.error().message;
    EXPECT_EQ((*node)->disable_resize_preemption, c.text);
  }
}

TEST(DecodeNodeTest, Errors) {
  Decoder decoder;
  EXPECT_EQ(decoder.Object<Node>(Padded(R"({"status":{"allocatable":{"memory":"8gi"}}})"))
                .error()
                .message,
            "status.allocatable.memory: quantities must match the regular expression "
            "'^([+-]?[0-9.]+)([eEinumkKMGTP]*[-+]?[0-9]*)$'");
  EXPECT_EQ(decoder.Object<Node>(Padded(R"({"spec":{"taints":[{"key":{}}]}})")).error().message,
            "spec.taints[0].key: must be a string, not an object");
}

TEST(DecodeNamespaceTest, Labels) {
  Decoder decoder;
  const Result<NamespacePtr> ns = decoder.Object<Namespace>(Padded(
      R"({"metadata":{"name":"x","labels":{"a":"b"}},"spec":{"finalizers":["kubernetes"]}})"));
  ASSERT_TRUE(ns.ok());
  EXPECT_EQ((*ns)->meta.labels, (LabelMap{{Symbol("a"), Symbol("b")}}));
}

TEST(DecodeLeaseTest, AllFields) {
  Decoder decoder;
  const auto lease = decoder.Object<Lease>(Padded(
      R"({"kind":"Lease","metadata":{"name":"l","resourceVersion":"5"},"spec":{"holderIdentity":"h","leaseDurationSeconds":15,
          "acquireTime":"2026-01-02T03:04:05.146707Z","renewTime":"2026-01-02T03:04:06.000000Z","leaseTransitions":2}})"));
  ASSERT_TRUE(lease.ok()) << lease.error().message;
  EXPECT_EQ((*lease)->holder_identity, "h");
  EXPECT_EQ((*lease)->lease_duration_seconds, 15);
  EXPECT_EQ(FormatMicroTime(*(*lease)->acquire_time), "2026-01-02T03:04:05.146707Z");
  EXPECT_EQ(FormatMicroTime(*(*lease)->renew_time), "2026-01-02T03:04:06.000000Z");
  EXPECT_EQ((*lease)->lease_transitions, 2);
  EXPECT_EQ((*lease)->meta.resource_version, "5");
}

TEST(DecodeLeaseTest, Candidate) {
  Decoder decoder;
  const auto candidate = decoder.Object<LeaseCandidate>(Padded(
      R"({"kind":"LeaseCandidate","metadata":{"name":"h_u","resourceVersion":"5"},"spec":{"leaseName":"l",
          "pingTime":"2026-01-02T03:04:05.146707Z","renewTime":"2026-01-02T03:04:06.000000Z","strategy":"OldestEmulationVersion"}})"));
  ASSERT_TRUE(candidate.ok()) << candidate.error().message;
  EXPECT_EQ((*candidate)->meta.name, "h_u");
  EXPECT_EQ((*candidate)->meta.resource_version, "5");
  EXPECT_EQ((*candidate)->lease_name, "l");
  EXPECT_EQ(FormatMicroTime(*(*candidate)->ping_time), "2026-01-02T03:04:05.146707Z");
  EXPECT_EQ(FormatMicroTime(*(*candidate)->renew_time), "2026-01-02T03:04:06.000000Z");
}

TEST(DecodeLeaseTest, W29) {
  Decoder decoder;
  EXPECT_EQ(decoder.Object<Lease>(Padded(R"({"spec":{"renewTime":"2026-01-02T03:04:05Z"}})"))
                .error()
                .message,
            "spec.renewTime: \"2026-01-02T03:04:05Z\" is no time: RFC 3339 is wanted, as in "
            "2026-01-02T03:04:05.000000Z");
}

TEST(DecodeObjectTest, OtherKindIsNull) {
  Decoder decoder;
  const Result<PodPtr> pod =
      decoder.Object<Pod>(Padded(R"({"kind":"Status","status":"Failure","code":404})"));
  ASSERT_TRUE(pod.ok()) << pod.error().message;
  EXPECT_FALSE(*pod);
}

// docs/spec/api.md 7.5.
TEST(DecodeStatusTest, StatusBody) {
  const ApiError error = Decoder::DecodeStatus(
      404,
      R"({"kind":"Status","apiVersion":"v1","metadata":{},"status":"Failure","message":"pods \"p\" not found","reason":"NotFound","details":{"name":"p","kind":"pods","causes":[{"reason":"r","message":"m","field":"f"}],"retryAfterSeconds":3},"code":404})",
      "GET", "pods", "p");
  EXPECT_TRUE(error.IsNotFound());
  EXPECT_EQ(error.message, "pods \"p\" not found");
  EXPECT_EQ(error.code, 404);
  EXPECT_EQ(error.retry_after_seconds, 3);
  ASSERT_EQ(error.causes.size(), 1u);
  EXPECT_EQ(error.causes[0].field, "f");
  EXPECT_EQ(error.causes[0].reason, "r");
  EXPECT_EQ(error.causes[0].message, "m");
}

TEST(DecodeStatusTest, WithoutStatusBody) {
  struct Case {
    int code;
    const char* verb;
    const char* body;
    const char* reason;
    const char* message;
  };
  const Case cases[] = {
      {409, "POST", "", "AlreadyExists", "the server reported a conflict (post pods p)"},
      {409, "PATCH", "", "Conflict", "the server reported a conflict (patch pods p)"},
      {404, "GET", "404 page not found\n", "NotFound",
       "the server could not find the requested resource (get pods p)"},
      {400, "GET", "", "BadRequest",
       "the server rejected our request for an unknown reason (get pods p)"},
      {401, "GET", "", "Unauthorized",
       "the server has asked for the client to provide credentials (get pods p)"},
      {403, "GET", "no way", "Forbidden", "no way (get pods p)"},
      {405, "GET", "", "MethodNotAllowed",
       "the server does not allow this method on the requested resource (get pods p)"},
      {429, "GET", "", "TooManyRequests",
       "the server has received too many requests and has asked us to try again later (get pods "
       "p)"},
      {503, "GET", "<html>", "ServiceUnavailable",
       "the server is currently unable to handle the request (get pods p)"},
      {504, "GET", "", "Timeout",
       "the server was unable to return a response in the time allotted, but may still be "
       "processing the request (get pods p)"},
      {500, "GET", "boom\n", "InternalError",
       "an error on the server (\"boom\") has prevented the request from succeeding (get pods p)"},
      {502, "GET", "", "InternalError",
       "an error on the server (\"unknown\") has prevented the request from succeeding (get pods "
       "p)"},
      {418, "GET", "", "",
       "the server responded with the status code 418 but did not return more information (get "
       "pods p)"},
      {404, "GET", R"({"kind":"Pod"})", "NotFound",
       "the server could not find the requested resource (get pods p)"},
      {404, "GET", R"({"kind":"Status","code":"x"})", "NotFound",
       "the server could not find the requested resource (get pods p)"},
      {404, "GET", R"([{"kind":"Status"}])", "NotFound",
       "the server could not find the requested resource (get pods p)"},
  };
  for (const Case& c : cases) {
    SCOPED_TRACE(c.message);
    const ApiError error = Decoder::DecodeStatus(c.code, c.body, c.verb, "pods", "p");
    EXPECT_EQ(error.code, c.code);
    EXPECT_EQ(error.reason, c.reason);
    EXPECT_EQ(error.message, c.message);
    EXPECT_EQ(error.retry_after_seconds, -1);
  }
  EXPECT_EQ(Decoder::DecodeStatus(404, "", "LIST", "pods", "").message,
            "the server could not find the requested resource (list pods)");
}

TEST(DecodeStatusTest, ReasonlessStatusIsClassifiedByCode) {
  const ApiError error =
      Decoder::DecodeStatus(500, R"({"kind":"Status","message":"m"})", "POST", "pods", "p");
  EXPECT_EQ(error.code, 500);
  EXPECT_TRUE(error.IsInternal());
  EXPECT_EQ(error.message, "m");
}

// What extenders are sent: see docs/spec/cycle.md 19.4.
TEST(KeepRaw, PodsAndNodesInTheFormOfEmbeddedObjects) {
  struct Case {
    const char* name;
    KeepRaw keep;
    const char* object;
    const char* raw;  // null: not kept
  };
  const Case pods[] = {
      {"off", KeepRaw::kNone, R"({"metadata":{"name":"p"}})", nullptr},
      {"pending", KeepRaw::kPendingPods,
       R"({"metadata":{"name":"p"},"spec":{"x":[1,{"y":"\"}"}]}})",
       R"({"metadata":{"name":"p"},"spec":{"x":[1,{"y":"\"}"}]}})"},
      {"assigned is not pending", KeepRaw::kPendingPods,
       R"({"metadata":{"name":"p"},"spec":{"nodeName":"n"}})", nullptr},
      {"assigned", KeepRaw::kAll, R"({"metadata":{"name":"p"},"spec":{"nodeName":"n"}})",
       R"({"metadata":{"name":"p"},"spec":{"nodeName":"n"}})"},
      {"without what embedded objects lack", KeepRaw::kAll,
       R"({"kind":"Pod","apiVersion":"v1","metadata":{"managedFields":[{"a":{}}],"name":"p"},"spec":{}})",
       R"({"metadata":{"name":"p"},"spec":{}})"},
      {"kind further down stays", KeepRaw::kAll,
       R"({"metadata":{"name":"p","ownerReferences":[{"kind":"R"}],"managedFields":[]},"kind":"Pod"})",
       R"({"metadata":{"name":"p","ownerReferences":[{"kind":"R"}]}})"},
      {"null metadata", KeepRaw::kAll, R"({"metadata":null,"extra":1})",
       R"({"metadata":null,"extra":1})"},
  };
  for (const Case& row : pods) {
    SCOPED_TRACE(row.name);
    Decoder decoder;
    decoder.set_keep_raw(row.keep);
    const auto check = [&](const PodPtr& pod) {
      ASSERT_NE(pod, nullptr);
      ASSERT_EQ(pod->raw == nullptr, row.raw == nullptr);
      if (row.raw != nullptr) {
        EXPECT_EQ(*pod->raw, row.raw);
      }
    };
    const std::string object = row.object;
    check(*decoder.Object<Pod>(Padded(object)));
    check(decoder.Event<Pod>(Padded(R"({"type":"ADDED","object":)" + object + "}"))->object);
    check(decoder.Event<Pod>(Padded(R"({"object":)" + object + R"(,"type":"MODIFIED"})"))->object);
    const auto page = decoder.List<Pod>(Padded(R"({"items":[)" + object + "," + object + "]}"));
    ASSERT_TRUE(page.ok());
    ASSERT_EQ(page->items.size(), 2u);
    check(page->items[0]);
    check(page->items[1]);
  }
}

TEST(KeepRaw, NodesKeepTheirManagedFields) {
  const std::string node =
      R"({"kind":"Node","metadata":{"name":"n","managedFields":[{}]},"status":{"images":[]}})";
  Decoder decoder;
  decoder.set_keep_raw(KeepRaw::kPendingPods);
  EXPECT_EQ((*decoder.Object<Node>(Padded(node)))->raw, nullptr);
  decoder.set_keep_raw(KeepRaw::kAll);
  EXPECT_EQ(*(*decoder.Object<Node>(Padded(node)))->raw,
            R"({"metadata":{"name":"n","managedFields":[{}]},"status":{"images":[]}})");
}

}  // namespace
}  // namespace ks::api
