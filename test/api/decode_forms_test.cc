// SPDX-License-Identifier: Apache-2.0
// Objects, lists and watch events read alike from JSON and from protobuf.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <fstream>
#include <set>
#include <string>

#include <nlohmann/json.hpp>

#include "api/decoding.h"
#include "api/kinds.h"
#include "api/proto/proto_envelope.h"
#include "api/same_object.h"
#include "testing/hex.h"
#include "testing/protobuf.h"

namespace ks::api {
namespace {

using ks::testing::ProtoBody;
using ks::testing::ProtoEvent;
using ks::testing::ProtoField;
using ks::testing::ProtoMeta;
using ks::testing::ProtoNumber;
using ::testing::HasSubstr;
using Json = nlohmann::json;

template <class T>
void ExpectAlike(const std::string& protobuf, const std::string& json) {
  Decoder decoder;
  const auto from_json = decoder.Object<T>(Padded(json));
  const auto from_protobuf = decoder.Object<T>(protobuf);
  ASSERT_TRUE(from_json.ok()) << from_json.error().message << json;
  ASSERT_TRUE(from_protobuf.ok()) << from_protobuf.error().message << json;
  ASSERT_TRUE(*from_json != nullptr && *from_protobuf != nullptr);
  EXPECT_TRUE(Same(**from_json, **from_protobuf)) << json;
  // Never a crash, and never more than there is.
  for (size_t size = 0; size < protobuf.size(); size += 1 + protobuf.size() / 64) {
    (void)decoder.Object<T>(std::string_view(protobuf).substr(0, size));
  }
}

void ExpectAlike(const std::string& kind, const std::string& protobuf, const std::string& json) {
#define KS_EXPECT_ALIKE(type, name, group, version, plural, scope) \
  if (kind == (name)) return ExpectAlike<type>(protobuf, json);
  KS_ALL_KINDS(KS_EXPECT_ALIKE)
#undef KS_EXPECT_ALIKE
  ADD_FAILURE() << kind << " is no kind";
}

size_t NumberOfKinds() {
  size_t known = 0;
#define KS_COUNT(type, name, group, version, plural, scope) ++known;
  KS_ALL_KINDS(KS_COUNT)
#undef KS_COUNT
  return known;
}

// Random objects as upstream's serializer writes them, with their JSON.
TEST(DecodeForms, RandomObjectsAreAlike) {
  std::ifstream file(KS_API_FORMS);
  std::set<std::string> kinds;
  for (std::string line; std::getline(file, line);) {
    const Json row = Json::parse(line);
    const std::string kind = row["want"]["kind"];
    kinds.insert(kind);
    // The text as it was written: a parser's own would have other escapes.
    const size_t begin = line.find(R"("want":)") + 7;
    ExpectAlike(kind, testing::FromHex(row["hex"].get<std::string>()),
                line.substr(begin, line.rfind('}') - begin));
  }
  EXPECT_EQ(kinds.size(), NumberOfKinds());
}

// What a real kube-apiserver sent (test/fuzz/forms/capture.py).
TEST(DecodeForms, ObjectsOfARealServerAreAlike) {
  std::ifstream file(KS_API_ANSWERS);
  std::set<std::string> kinds;
  for (std::string line; std::getline(file, line);) {
    const Json row = Json::parse(line);
    if (row["is"] != "object") continue;
    const std::string kind = row["kind"];
    kinds.insert(kind);
    ExpectAlike(kind, testing::FromHex(row["hex"].get<std::string>()),
                row["json"].get<std::string>());
  }
  EXPECT_EQ(kinds.size(), NumberOfKinds());
}

// Templates inside of objects keep theirs.
bool IsManaged(const std::string& json) {
  const Json object = Json::parse(json);
  return object.contains("metadata") && object["metadata"].contains("managedFields");
}

template <class T>
void ExpectTextsMakeTheSame(const std::string& protobuf, const std::string& json) {
  for (const std::string& object : {json, protobuf}) {
    const bool in_protobuf = IsProtobuf(object);
    const std::string event =
        in_protobuf ? ProtoEvent("ADDED", object) : R"({"type":"ADDED","object":)" + object + "}";
    Decoder decoder;
    decoder.set_keep_texts(KeepTexts::kAsSent);
    const auto read = decoder.Event<T>(Padded(event));
    ASSERT_TRUE(read.ok()) << read.error().message;
    const std::string text(read->text.text);
    ASSERT_FALSE(text.empty());
    EXPECT_EQ(IsProtobuf(text), in_protobuf);
    const auto again = decoder.Object<T>(Padded(text));
    ASSERT_TRUE(again.ok() && *again != nullptr) << json;
    EXPECT_TRUE(Same(**again, *read->object)) << json;
    if (in_protobuf) {
      EXPECT_EQ(text.size() < object.size(), IsManaged(json)) << json;
      decoder.set_keep_texts(KeepTexts::kJson);
      EXPECT_FALSE(decoder.Event<T>(event).ok());
    } else if (!std::is_same_v<T, Node>) {
      EXPECT_FALSE(IsManaged(text)) << text;
    }
  }
}

void ExpectTextsMakeTheSame(const std::string& kind, const std::string& protobuf,
                            const std::string& json) {
#define KS_EXPECT_TEXTS(type, name, group, version, plural, scope) \
  if (kind == (name)) return ExpectTextsMakeTheSame<type>(protobuf, json);
  KS_ALL_KINDS(KS_EXPECT_TEXTS)
#undef KS_EXPECT_TEXTS
}

TEST(DecodeForms, KeptTextsMakeTheSameObjects) {
  std::ifstream random(KS_API_FORMS);
  for (std::string line; std::getline(random, line);) {
    const Json row = Json::parse(line);
    ExpectTextsMakeTheSame(row["want"]["kind"], testing::FromHex(row["hex"].get<std::string>()),
                           row["want"].dump());
  }
  size_t managed = 0;
  std::ifstream sent(KS_API_ANSWERS);
  for (std::string line; std::getline(sent, line);) {
    const Json row = Json::parse(line);
    if (row["is"] != "object") continue;
    const std::string json = row["json"];
    if (IsManaged(json)) ++managed;
    ExpectTextsMakeTheSame(row["kind"], testing::FromHex(row["hex"].get<std::string>()), json);
  }
  EXPECT_GT(managed, 10U);
}

TEST(DecodeForms, ListsKeepTexts) {
  Decoder decoder;
  decoder.set_keep_texts(KeepTexts::kAsSent);
  const auto page = decoder.List<Namespace>(ProtoBody(
      "NamespaceList", ProtoField(2, ProtoMeta("a", "7")) + ProtoField(2, ProtoMeta("b", "8"))));
  ASSERT_TRUE(page.ok()) << page.error().message;
  ASSERT_EQ(page->texts.size(), 2U);
  EXPECT_EQ((*decoder.Object<Namespace>(page->texts[1].text))->meta.resource_version, "8");
}

// -- made by hand --

TEST(DecodeForms, WatchEvents) {
  Decoder decoder;
  const auto added =
      decoder.Event<Namespace>(ProtoEvent("ADDED", ProtoBody("Namespace", ProtoMeta("a", "7"))));
  ASSERT_TRUE(added.ok()) << added.error().message;
  EXPECT_EQ(added->type, WatchEventType::kAdded);
  EXPECT_EQ(added->object->meta.name, "a");
  EXPECT_EQ(added->resource_version, "7");

  const auto other =
      decoder.Event<Namespace>(ProtoEvent("MODIFIED", ProtoBody("Node", ProtoMeta("a", "7"))));
  ASSERT_TRUE(other.ok());
  EXPECT_EQ(other->object, nullptr);

  const std::string end =
      ProtoField(12, ProtoField(1, "k8s.io/initial-events-end") + ProtoField(2, "true"));
  const auto bookmark = decoder.Event<Namespace>(
      ProtoEvent("BOOKMARK", ProtoBody("Namespace", ProtoField(1, ProtoField(6, "9") + end))));
  ASSERT_TRUE(bookmark.ok());
  EXPECT_EQ(bookmark->resource_version, "9");
  EXPECT_TRUE(bookmark->initial_events_end);

  const auto error = decoder.Event<Namespace>(
      ProtoEvent("ERROR", ProtoBody("Status", ProtoField(3, "too old") + ProtoField(4, "Expired") +
                                                  std::string("\x30\x9a\x03"))));  // code: 410
  ASSERT_TRUE(error.ok());
  EXPECT_EQ(error->type, WatchEventType::kError);
  EXPECT_EQ(error->error.code, 410);
  EXPECT_EQ(error->error.reason, "Expired");
  EXPECT_EQ(error->error.message, "too old");
}

TEST(DecodeForms, Lists) {
  Decoder decoder;
  const auto page = decoder.List<Namespace>(
      ProtoBody("NamespaceList", ProtoField(1, ProtoField(2, "12") + ProtoField(3, "more")) +
                                     ProtoField(2, ProtoMeta("a", "7")) +
                                     ProtoField(2, ProtoMeta("b", "7"))));
  ASSERT_TRUE(page.ok()) << page.error().message;
  EXPECT_EQ(page->resource_version, "12");
  EXPECT_EQ(page->continue_token, "more");
  ASSERT_EQ(page->items.size(), 2);
  EXPECT_EQ(page->items[1]->meta.name, "b");
}

// An empty time is none, zeros that are there are 1970; what is too far away is not refused.
TEST(DecodeForms, TimesAreThoseOfTheJson) {
  struct Case {
    const char* name;
    std::string time;  // a message
    std::string json;
  };
  const Case cases[] = {
      {"None", "", "null"},
      {"Epoch", std::string("\x08\x00\x10\x00", 4), "\"1970-01-01T00:00:00Z\""},
      {"WholeSecondsBeforeEpoch",
       "\x08\xff\xff\xff\xff\xff\xff\xff\xff\xff\x01\x10\x80\xca\xb5\xee\x01",
       "\"1969-12-31T23:59:59Z\""},
      {"Early", "\x08\xfc\x85\xfa\xd1\xdd\xff\xff\xff\xff\x01", "\"1677-09-21T00:12:44Z\""},
      {"Late", "\x08\x80\xe1\x9a\xa7\x3e", "\"2500-01-01T00:00:00Z\""},
      {"Earliest", "\x08\x80\x80\x80\x80\x80\x80\x80\x80\x80\x01", "\"0000-01-01T00:00:00Z\""},
  };
  for (const Case& row : cases) {
    SCOPED_TRACE(row.name);
    ExpectAlike<Namespace>(
        ProtoBody("Namespace", ProtoField(1, ProtoField(8, row.time))),
        R"({"kind":"Namespace","metadata":{"creationTimestamp":)" + row.json + "}}");
  }
}

// In JSON the server writes what it keeps as text without white space and with escapes.
TEST(DecodeForms, ParametersAreThoseOfTheJson) {
  const auto device_class = [](const std::string& parameters) {
    const std::string opaque = ProtoField(1, "d<") + ProtoField(2, parameters);
    return ProtoBody("DeviceClass",
                     ProtoField(2, ProtoField(2, ProtoField(1, ProtoField(1, opaque)))));
  };
  const auto json = [](const std::string& parameters) {
    return R"({"kind":"DeviceClass","spec":{"config":[{"opaque":{"driver":"d\u003c","parameters":)" +
           parameters + "}}]}}";
  };
  ExpectAlike<DeviceClass>(device_class(ProtoField(1, R"({ "a" : "<\" >" })")),
                           json(R"({"a":"\u003c\" \u003e"})"));
  ExpectAlike<DeviceClass>(device_class(""), json("null"));
}

struct BadCase {
  const char* name;
  std::string bytes;
  const char* error;  // part of it
};

TEST(DecodeForms, BadBytesAreRefused) {
  const std::string metadata = ProtoField(1, ProtoField(1, "a"));
  const BadCase cases[] = {
      {"CutEnvelope", ProtoBody("NamespaceList", metadata).substr(0, 12),
       "not an object in the envelope"},
      {"EncodedContent", ProtoBody("NamespaceList", metadata) + ProtoField(3, "gzip"),
       "not an object in the envelope"},
      {"OtherKind", ProtoBody("PodList", ""), "must be NamespaceList, not PodList"},
      {"CutField", ProtoBody("NamespaceList", "\x12\x7f"), "ends too early"},
      {"TooManyNanoseconds",
       ProtoBody("NamespaceList",
                 ProtoField(2, ProtoField(1, ProtoField(8,
                                                        "\x10\xff\xff\xff\xff\xff\xff\xff\xff"
                                                        "\x7f")))),
       "items[0].metadata.creationTimestamp: has a fraction of more than a second"},
      {"NumberForText", ProtoBody("NamespaceList", ProtoField(2, ProtoField(1, ProtoNumber(1, 3)))),
       "items[0].metadata: invalid protobuf: a field has not the type of its number"},
      {"NumberForMessage", ProtoBody("NamespaceList", ProtoNumber(1, 3)),
       "a field has not the type of its number"},
      // Annotations are entries of a map.
      {"EntriesApart",
       ProtoBody("NamespaceList",
                 ProtoField(2, ProtoField(1, ProtoField(12, ProtoField(1, "a")) +
                                                 ProtoField(3, "") + ProtoField(12, "")))),
       "items[0].metadata: invalid protobuf: the elements of a field are not in a row"},
  };
  Decoder decoder;
  for (const BadCase& row : cases) {
    SCOPED_TRACE(row.name);
    const auto page = decoder.List<Namespace>(row.bytes);
    ASSERT_FALSE(page.ok());
    EXPECT_THAT(page.error().message, HasSubstr(row.error));
  }
  const auto event = decoder.Event<Namespace>(ProtoEvent("GONE", ""));
  ASSERT_FALSE(event.ok());
  EXPECT_EQ(event.error().message, "\"GONE\" is no type of watch event");
}

}  // namespace
}  // namespace ks::api
